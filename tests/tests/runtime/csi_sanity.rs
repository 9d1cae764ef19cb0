//! Test that the directory driver passes csi-sanity.

use anyhow::Result;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::volumes::client::Running;
use lifecycle_tests::volumes::sanity::passes;

/// Identity, create and delete, validate, staging, publishing and statistics.
const SPECS: usize = 37;

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "a_directory_driver_passes_every_spec_that_it_enables",
        &[Need::CsiSanity],
        directory,
    )]
}

/// The driver itself, in this process.
async fn directory() -> Result<()> {
    let driver = Running::start().await?;
    let folder = driver.path("");
    let places = (&*driver.places.controller, &*driver.places.node);
    passes(places, &folder, SPECS).await?;
    driver.stop().await?;
    Ok(())
}
