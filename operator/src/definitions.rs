//! Printing the CustomResourceDefinitions. Needs no cluster.

use std::io::Write;

use anyhow::Context;
use lifecycle_specs::crds;

/// Writes all definitions as YAML documents.
///
/// # Errors
/// If they cannot be written to `out`.
pub fn print(out: &mut impl Write) -> anyhow::Result<()> {
    for definition in crds::listeners() {
        let json = serde_json::to_value(&definition)?;
        let yaml = serde_saphyr::to_string(&json)?;
        write!(out, "---\n{yaml}").context("the definitions cannot be written")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn three_documents_read_back_as_what_is_installed() {
        let mut printed = Vec::new();
        print(&mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&printed).unwrap();
        let installed = serde_json::to_value(crds::listeners()).unwrap();
        assert_eq!(&Value::Array(documents), &installed);
        assert_eq!(printed.matches("---\n").count(), 3);
    }
}
