//! A page that is put up within opening hours, and taken down when its time is over.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::Timed;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Preview.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "preview.tests",
    version = "v1",
    kind = "Preview",
    namespaced,
    status = "PreviewStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct PreviewSpec {
    /// Text of the page.
    pub text: String,
    /// From this hour on it may be written, UTC.
    pub opens: i8,
    /// Until this hour.
    pub closes: i8,
    /// Hours for which the preview is available.
    pub hours: u16,
}

/// Observed state of a Preview.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PreviewStatus {
    /// Shown, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

include!("../../../macros/core/tests/lifecycles/preview.txt");

/// The logic of a Preview.
pub struct Pages;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

impl PreviewLogic for Pages {
    fn window(&self, this: This<'_, Preview>, now: &Timestamp) -> Timed<Window> {
        let second = now.as_second().rem_euclid(DAY);
        let midnight = now.as_second() - second;
        let (opens, closes) = (i64::from(this.spec.opens), i64::from(this.spec.closes));
        let (opens, closes) = (opens * HOUR, closes * HOUR);
        let at = |second: i64| Timestamp::from_second(midnight + second).unwrap_or(Timestamp::MAX);
        if opens == 0 && closes >= DAY {
            return Because::plain(Window::Open).for_good();
        }
        if opens >= closes {
            let said = "it opens when it is closed already: set `opens` before `closes`";
            return Because::new(Window::Closed, said).for_good();
        }
        if second < opens || second >= closes {
            let next = if second < opens { opens } else { opens + DAY };
            let said = format!("pages are written from {} on", at(next));
            return Because::new(Window::Closed, said).until(at(next));
        }
        Because::plain(Window::Open).until(at(closes))
    }

    fn over(&self, this: This<'_, Preview>, now: &Timestamp) -> Timed<bool> {
        let Some(created) = &this.meta.creation_timestamp else {
            return Because::plain(false).for_good();
        };
        let lasts = SignedDuration::from_hours(this.spec.hours.into());
        let end = created.0.checked_add(lasts).unwrap_or(Timestamp::MAX);
        if *now < end {
            return Because::plain(false).until(end);
        }
        Because::new(true, format!("its time was over at {end}")).for_good()
    }

    fn apply_page(&self, at: ApplyPage<'_>) -> Desired<ConfigMap> {
        let text = ("text".to_owned(), at.this.spec.text.clone());
        Desired::from_object(&ConfigMap {
            data: Some([text].into()),
            ..ConfigMap::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    fn preview(opens: i8, closes: i8) -> Preview {
        let text = "hello".to_owned();
        let mut preview = Preview::new(
            "page",
            PreviewSpec {
                text,
                opens,
                closes,
                hours: 36,
            },
        );
        preview.metadata.creation_timestamp = Some(Time(time("2026-01-01T00:00:00Z")));
        preview
    }

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn pages_are_written_within_opening_hours() {
        let check = |opens, closes, now: &str, open: Window, until: Option<&str>| {
            let preview = preview(opens, closes);
            let answer = Pages.window(This::new(&preview), &time(now));
            assert_eq!(answer.because.value, open, "{now}");
            assert_eq!(answer.until, until.map(time), "{now}");
        };
        let (eight, six) = ("2026-01-03T08:00:00Z", "2026-01-03T18:00:00Z");
        check(8, 18, "2026-01-03T07:59:59Z", Window::Closed, Some(eight));
        check(8, 18, eight, Window::Open, Some(six));
        check(8, 18, "2026-01-03T17:59:59.9Z", Window::Open, Some(six));
        let tomorrow = "2026-01-04T08:00:00Z";
        check(8, 18, six, Window::Closed, Some(tomorrow));
        check(0, 24, six, Window::Open, None);
        check(18, 8, six, Window::Closed, None);
    }

    #[test]
    fn a_preview_ends_after_its_hours() {
        let preview = preview(8, 18);
        let over = |now: &str| Pages.over(This::new(&preview), &time(now));
        let end = "2026-01-02T12:00:00Z";
        assert_eq!(over("2026-01-02T11:59:59Z").until, Some(time(end)));
        assert!(!over("2026-01-02T11:59:59Z").because.value);
        assert!(over(end).because.value);
        assert_eq!(over(end).until, None);
    }
}
