//! Waits for objects of a namespace, in core time. A timeout is reported with the ends of both
//! logs.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::NamespaceResourceScope;
use lifecycle_tests::harness::eventually;
use lifecycle_tests::process::Process;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{SOON, TestNamespace};

impl TestNamespace {
    /// Waits until an object is as it should be, and returns it.
    ///
    /// # Errors
    /// It does not come to that; the error shows the object and the controller's log.
    pub(crate) async fn until<K>(
        &self,
        name: &str,
        what: &str,
        is: impl Fn(&K) -> bool,
    ) -> Result<K>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Serialize + DeserializeOwned + Clone + Debug,
    {
        self.until_within(SOON, name, what, is).await
    }

    /// Waits as `until` does, but within this core time: for promises with a time limit.
    ///
    /// # Errors
    /// As of `until`.
    pub(crate) async fn until_within<K>(
        &self,
        limit: Duration,
        name: &str,
        what: &str,
        is: impl Fn(&K) -> bool,
    ) -> Result<K>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Serialize + DeserializeOwned + Clone + Debug,
    {
        let api = self.api::<K>();
        let found = eventually(what, limit, async || {
            Ok(api.get_opt(name).await?.filter(|object| is(object)))
        });
        match found.await {
            Ok(found) => Ok(found),
            Err(error) => {
                let now = api.get_opt(name).await?;
                let now = now.map(|object| serde_json::to_string_pretty(&object));
                bail!("{error:#}; {name} is now {now:?}; {}", self.recent_logs())
            }
        }
    }

    /// Waits until the object does not exist any more.
    ///
    /// # Errors
    /// It stays.
    pub(crate) async fn gone<K>(&self, name: &str) -> Result<()>
    where
        K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: DeserializeOwned + Clone + Debug,
    {
        let api = self.api::<K>();
        let what = format!("{} {name} is gone", K::kind(&()));
        let gone = eventually(&what, SOON, async || {
            Ok(api.get_opt(name).await?.is_none().then_some(()))
        });
        gone.await.with_context(|| self.recent_logs())
    }

    /// The log of the router.
    pub(crate) fn router_log(&self) -> String {
        self.router.as_ref().map(Process::log).unwrap_or_default()
    }

    pub(super) fn recent_logs(&self) -> String {
        let last = |text: String| {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(60)..].join("\n")
        };
        format!(
            "the controller says at the end:\n{}\nthe router says:\n{}",
            last(self.env.log()),
            last(self.router_log())
        )
    }
}
