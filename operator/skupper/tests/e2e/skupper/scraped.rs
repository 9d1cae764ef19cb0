//! Metrics of the controller, as Prometheus reads them at the port of its probes.

use std::process::Command;

use anyhow::{Context, Result};
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::scraped::{free_address, with_lines};

use crate::PROGRAM;
use crate::place::{TestEnv, manifest};

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "the_controller_is_scraped_at_the_port_of_its_probes",
        &[Need::Binaries],
        scraped,
    )]
}

async fn scraped() -> Result<()> {
    let printed = Command::new(PROGRAM).arg("crd").output()?;
    let objects = [String::from_utf8(printed.stdout)?, manifest()?];
    let env = TestEnv::bare(Options::default(), &objects).await?;
    let at = free_address()?;
    let address = at.to_string();
    env.run_controller_with(&[], &[("HEALTH_PROBE_BIND_ADDRESS", &address)])?;
    let scraped = with_lines(
        at,
        &[
            "lifecycle_ready 1",
            "lifecycle_watch_age_seconds{kind=\"Site\"} ",
        ],
    );
    scraped.await.map(drop).with_context(|| env.log())
}
