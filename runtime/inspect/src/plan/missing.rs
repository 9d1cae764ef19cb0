//! Kinds that an operator reads and the cluster lacks: its own, whose definitions are known, and
//! those of other projects.

use std::sync::{Mutex, PoisonError};

use kube::Client;
use lifecycle_runtime::crds::Kinds;
use lifecycle_simulator::Mirror;
use lifecycle_simulator::mirror::Unserved;
use serde::Serialize;

/// The group and the plural of definitions.
pub(crate) const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

/// A kind that the cluster does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// The name of its definition: `websites.web.example.org`.
    pub definition: String,
    /// The command that installs it; nothing of a kind of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// Way in which the plan treats the kind.
    pub taken: Taken,
}

/// Treatment of a missing kind in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Taken {
    /// The operator installs it: that is one of the changes.
    Installed,
    /// The operator waits until a user installs it. The plan continues as if it were installed.
    Assumed,
    /// The operator waits for it. Changes that need it are not shown.
    Missing,
    /// The kind is served by another API server, which is not copied. Changes that need it are not
    /// shown.
    Elsewhere,
}

impl Missing {
    /// Returns true if the changes do not include the consequences of this kind.
    pub(crate) fn is_open(&self) -> bool {
        match self.taken {
            Taken::Missing | Taken::Elsewhere => true,
            Taken::Installed | Taken::Assumed => false,
        }
    }

    /// Returns one line about the kind, without details that the plan shows elsewhere.
    pub(crate) fn line(&self) -> String {
        let (name, install) = (&self.definition, self.install());
        match self.taken {
            Taken::Installed => {
                format!("{name} is not installed: the operator installs it; {install} does so, too")
            }
            Taken::Assumed => format!(
                "{name} is not installed, and the operator would wait for it: {install} installs it. What follows is as if it were"
            ),
            Taken::Missing => format!(
                "{name} is not installed, and the operator waits for it: install what defines it. What needs it is not shown"
            ),
            Taken::Elsewhere => format!(
                "{name} is of an API server beside that of the cluster, which is not copied. What needs it is not shown"
            ),
        }
    }

    /// Returns the command that installs it, phrased for use in a sentence.
    pub(crate) fn install(&self) -> String {
        let install = self.install.as_deref();
        install.map_or_else(|| "its provider".to_owned(), |it| format!("`{it}`"))
    }
}

/// Kinds of the operator itself that the cluster does not have.
#[derive(Default)]
pub(crate) struct Own(Mutex<Vec<Missing>>);

impl Own {
    /// Notes the definitions that the cluster does not have. If the operator does not install them
    /// itself, the copy has them from now on.
    pub(crate) fn record_missing(
        &self,
        mirror: &Mirror,
        kinds: &[Kinds],
        (install, maintained): (&str, bool),
    ) {
        for definition in kinds.iter().flat_map(|one| (one.definitions)()) {
            let name = definition.metadata.name.clone().unwrap_or_default();
            if mirror.has(DEFINITIONS, ("", &name)) {
                continue;
            }
            let taken = match maintained {
                true => Taken::Installed,
                false => Taken::Assumed,
            };
            if !maintained {
                let definition = serde_json::to_value(definition);
                let definition = definition.expect("a definition has string keys and serialises");
                mirror.assume(DEFINITIONS, definition);
            }
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Missing {
                    definition: name,
                    install: Some(install.to_owned()),
                    taken,
                });
        }
    }

    /// Returns the noted kinds.
    pub(crate) fn missing(&self) -> Vec<Missing> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Returns the kinds that the operator requested and the copy does not serve.
pub(crate) async fn of_others(live: &Client, unserved: Vec<Unserved>) -> Vec<Missing> {
    let mut all = Vec::new();
    for one in unserved {
        let group = format!("{}/{}", one.group, one.version);
        // If the group cannot be listed, a kind without a definition is assumed to be missing.
        let listed = live.list_api_group_resources(&group).await;
        let is_served =
            listed.is_ok_and(|list| list.resources.iter().any(|of| of.name == one.plural));
        all.push(Missing {
            definition: format!("{}.{}", one.plural, one.group),
            install: None,
            taken: match is_served {
                true => Taken::Elsewhere,
                false => Taken::Missing,
            },
        });
    }
    all
}
