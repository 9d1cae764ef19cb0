//! Printing the CustomResourceDefinitions. Needs no cluster.

use std::io::Write;

use anyhow::Context;
use lifecycle_specs::crds;

use crate::args::Product;

/// Writes the definitions of a product as YAML documents.
///
/// # Errors
/// If they cannot be written to `out`.
pub fn print(product: Product, out: &mut impl Write) -> anyhow::Result<()> {
    let definitions = match product {
        Product::Listeners => crds::listeners(),
        Product::Skupper => crds::skupper(),
    };
    for definition in definitions {
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
    fn what_is_printed_reads_back_as_what_is_installed() {
        let check = |product, installed: Vec<_>| {
            let mut printed = Vec::new();
            print(product, &mut printed).unwrap();
            let printed = String::from_utf8(printed).unwrap();
            let documents: Vec<Value> = serde_saphyr::from_multiple(&printed).unwrap();
            assert_eq!(printed.matches("---\n").count(), installed.len());
            assert_eq!(
                Value::Array(documents),
                serde_json::to_value(installed).unwrap()
            );
        };
        check(Product::Listeners, crds::listeners());
        check(Product::Skupper, crds::skupper());
    }
}
