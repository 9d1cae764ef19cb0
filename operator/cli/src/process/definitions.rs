//! Printing CustomResourceDefinitions. Needs no cluster.

use std::io::Write;

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

/// Writes definitions as YAML documents.
///
/// # Errors
/// If they cannot be written to `out`.
pub fn print(
    definitions: Vec<CustomResourceDefinition>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for definition in definitions {
        let json = serde_json::to_value(&definition)?;
        let yaml = serde_saphyr::to_string(&json)?;
        write!(out, "---\n{yaml}").context("the definitions cannot be written")?;
    }
    Ok(())
}

/// Prints a line for users.
///
/// # Errors
/// If it cannot be written to `out`.
pub fn print_line(out: &mut impl Write, line: &str) -> anyhow::Result<()> {
    writeln!(out, "{line}").context("standard output cannot be written to")
}
