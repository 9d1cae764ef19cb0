//! Time window of `docs/time.md`, copied verbatim, in a lifecycle that acts while the window is
//! open.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::CustomResource;
use lifecycle_runtime::cron::Cron;
use lifecycle_runtime::lifecycle::Timed;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "Upgrade", namespaced)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpgradeSpec {
    pub(crate) time_zone: Option<String>,
}

lifecycle! {
    /// Something that is only changed on working days.
    resource Upgrade;

    observe {
        now:     clock;
        desired: owned ConfigMap by name meta.name given window == Open;
    }
    facts {
        window: { Closed, Open } from now;
    }
    states {
        Waiting   when window == Closed         => Pending wakes now;
        Taken     when desired == Foreign       => Error wakes desired, self, now;
        Draining  when desired == Terminating   => Pending;
        Changing  when desired in { Absent, Stale } => Pending;
        goal Done when desired == Current       => Ready;
    }
    effects {
        apply desired;
    }
}

pub(crate) struct WorkingDays;

impl UpgradeLogic for WorkingDays {
    fn apply_desired(&self, at: ApplyDesired<'_>) -> Desired<ConfigMap> {
        Desired::from_object(&ConfigMap {
            metadata: ObjectMeta {
                name: at.this.meta.name.clone(),
                namespace: at.this.meta.namespace.clone(),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        })
    }

    // Copied from the document, whose lines are longer than ours.
    #[rustfmt::skip]
    /// Returns the window from eight to six on working days, in the time zone of the object.
    fn window(&self, this: This<'_, Upgrade>, now: &Timestamp) -> Timed<Window> {
        let zone = this.spec.time_zone.as_deref();
        let lines = Cron::parse("0 8 * * MON-FRI", zone).and_then(|opens| Ok((opens, Cron::parse("0 18 * * MON-FRI", zone)?)));
        let (opens, closes) = match lines {
            Ok(lines) => lines,
            Err(wrong) => return Because::new(Window::Closed, wrong.to_string()).for_good(),
        };
        let window = if opens.last(*now) > closes.last(*now) { Window::Open } else { Window::Closed };
        match [opens.next(*now), closes.next(*now)].into_iter().flatten().min() {
            Some(next) => Because::plain(window).until(next),
            None => Because::plain(window).for_good(),
        }
    }
}
