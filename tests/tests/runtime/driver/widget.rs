//! A small resource of the tests: a Widget makes a ConfigMap out of a palette, which is a ConfigMap too.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Widget",
    namespaced,
    status = "WidgetStatus",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WidgetSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) palette: Option<String>,
    #[serde(default)]
    pub(crate) size: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WidgetStatus {
    pub(crate) phase: Option<String>,
    pub(crate) made: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

lifecycle! {
    /// Paints a ConfigMap with the colour of a palette.
    resource Widget;

    observe {
        palette: ConfigMap       by name spec.palette?;
        made:    owned ConfigMap by name meta.name;
    }
    facts {
        validity: { Fine, TooBig } from palette given palette;
    }
    states {
        NoName     when palette == Unnamed         => Error   wakes self;
        NoPalette  when palette == Absent          => Error   wakes palette, self;
        Invalid    when validity == TooBig         => Error   wakes self, palette;
        Conflict   when made == Foreign            => Error   wakes made, self;
        Draining   when made == Terminating        => Pending overdue 1min;
        Making     when made in { Absent, Stale }  => Pending;
        goal Ready when made == Current            => Ready;
    }
    effects {
        apply made from palette when validity == Fine;
    }
    transitions {
        Draining -> Making;
        Making -> Ready;
    }
    status {
        condition Accepted {
            True when palette && validity == Fine;
            False "NoName"    when palette == Unnamed;
            False "NoPalette" event "GetPalette" when palette == Absent;
            False "TooBig"    otherwise;
        }
        condition Made {
            True when made == Current;
            False "ForeignConfigMap" event "RefuseToOverwrite" when made == Foreign;
            Unknown "Making" otherwise;
        }
        ready from Accepted, Made;
        field phase = phase;
        field made: String from made last_reported;
    }
}

pub(crate) struct Painter;

impl WidgetLogic for Painter {
    fn validity(&self, this: This<'_, Widget>, _: &ConfigMap) -> Because<Validity> {
        if this.spec.size > 9 {
            return Because::new(Validity::TooBig, "`spec.size` is above 9: make it smaller");
        }
        Because::plain(Validity::Fine)
    }

    fn apply_made(&self, at: ApplyMade<'_>) -> Desired<ConfigMap> {
        let none = BTreeMap::new();
        let colours = at.palette.data.as_ref().unwrap_or(&none);
        Desired::from_json(json!({
            "metadata": { "name": at.this.meta.name, "labels": { "colour": colours.get("colour") }, "annotations": {} },
            "data": { "colour": colours.get("colour"), "size": at.this.spec.size.to_string() },
        }))
    }

    fn made(&self, _: This<'_, Widget>, made: &ConfigMap) -> String {
        made.metadata.name.clone().unwrap_or_default()
    }
}
