//! `lifecycle-operator takeover --check`: reports the obstacles to replacing the Stackable Listener
//! operator in a cluster, or with `skupper` the existing controller of Skupper sites, and the
//! writes of this operator afterwards. Reads the cluster, judges the objects, and prints the
//! findings; writes nothing.

mod controllers;
mod definitions;
mod driver;
mod finding;
mod found;
mod judge;
mod nodes;
mod objects;
mod read;
mod skupper;
#[cfg(test)]
mod tests;
mod text;
mod workload;

use std::collections::BTreeSet;
use std::io::{Write, stdout};
use std::process::ExitCode;

use anyhow::Context;
use jiff::Timestamp;
use kube::Client;
use lifecycle_cli::process::{compared, logging};
use lifecycle_inspect::plan::{DryRun, Plan, Verdict};
use lifecycle_inspect::{Connection, Output};
use lifecycle_runtime::cause;
use lifecycle_runtime::operator::MAX_OBJECT_SIZE;

use crate::args::{OfListeners, Takeover, TakeoverProduct};
use crate::plan::{self, Listeners, Sites};
use finding::{Chosen, Finding, Severity};
use found::ClusterObjects;
use read::Scope;

/// Seconds that the operator may take in the copy, as `plan` has it.
const LIMIT: u64 = 60;
/// Exit codes: something blocks, and the result cannot be determined.
const BLOCKED: u8 = 1;
const UNKNOWN: u8 = 2;

/// Prints the findings, and returns the exit code.
pub(crate) async fn run(options: Takeover) -> ExitCode {
    compared(checked(options).await)
}

async fn checked(options: Takeover) -> anyhow::Result<u8> {
    logging::begin_quietly()?;
    let plan = plan_of(&options);
    let (live, _) = plan.connection.connect().await?;
    let maintain_crds = !options.disable_crd_maintenance;
    let (namespace, watched) = (options.namespace, options.watch_namespaces);
    let watched = watched.unwrap_or_default();
    let (findings, planned) = match options.product {
        None => {
            let namespace = namespace.unwrap_or_else(|| "listener-operator".to_owned());
            let told = (namespace, watched, maintain_crds);
            listeners(&live, &plan, told, options.listeners).await?
        }
        Some(TakeoverProduct::Skupper(chosen)) => {
            let namespace = namespace.unwrap_or_else(|| "skupper".to_owned());
            let scope = Scope::new(&watched, &namespace);
            let told = Sites {
                namespace,
                maintain_crds,
                max_object_size: MAX_OBJECT_SIZE,
                watched: chosen.skupper.all_watched(watched)?,
                chosen: &chosen.skupper,
            };
            sites(&live, &plan, told, &scope).await?
        }
    };
    if let Err(error) = &planned {
        print(&text::unplanned(&cause::in_one_line(error.as_ref())))?;
    }
    Ok(code(&findings, planned.ok()))
}

/// The findings, and the result of the plan.
type Checked = (Vec<Finding>, anyhow::Result<Verdict>);

async fn listeners(
    live: &Client,
    plan: &Plan,
    (namespace, watched, maintain_crds): (String, BTreeSet<String>, bool),
    OfListeners(options): OfListeners,
) -> anyhow::Result<Checked> {
    let chosen = Chosen {
        namespace,
        preset: options.controller.listener_class_preset,
        maintain_crds,
        kubelet: options.kubelet_dir,
        now: Timestamp::now(),
    };
    let scope = Scope::new(&watched, &chosen.namespace);
    let found = ClusterObjects::read(live, &chosen.namespace, &scope).await?;
    let mut findings = judge::judge(&found, &chosen);
    findings.extend(scope.note());
    print(&text::text(&findings, "controller"))?;
    let told = Listeners {
        cluster_domain: options.kubernetes_cluster_domain,
        maintain_crds: chosen.maintain_crds,
        max_object_size: MAX_OBJECT_SIZE,
        watched,
        preset: chosen.preset,
    };
    Ok((findings, plan::listeners(live, plan, told).await))
}

async fn sites(
    live: &Client,
    plan: &Plan,
    told: Sites<'_>,
    scope: &Scope,
) -> anyhow::Result<Checked> {
    let findings = skupper::findings(live, &told, scope).await?;
    print(&text::text(&findings, "skupper"))?;
    Ok((findings, plan::sites(live, plan, told).await))
}

/// The plan of this operator, as `plan` makes it without further options.
fn plan_of(options: &Takeover) -> Plan {
    Plan {
        connection: Connection {
            context: options.context.clone(),
            impersonated: options.impersonated.clone(),
        },
        namespace: None,
        dry_run: DryRun::default(),
        limit: LIMIT,
        full: false,
        output: Output::Text,
    }
}

/// An object that could not be read may block, so it outweighs one that does.
fn code(findings: &[Finding], planned: Option<Verdict>) -> u8 {
    let any = |severity| findings.iter().any(|one| one.severity == severity);
    if any(Severity::Unread) || planned.is_none() {
        UNKNOWN
    } else if any(Severity::Blocks) {
        BLOCKED
    } else if planned == Some(Verdict::Unknown) {
        UNKNOWN
    } else {
        0
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot print what was found")
}
