//! Account and namespace of an operator, as the manifest of its rights names them.

use anyhow::{Context, bail};
use lifecycle_runtime::yaml;
use serde_json::Value;

/// Name of the rights manifest in errors.
pub(crate) const RIGHTS: &str = "the manifest of the rights";
/// Namespace of objects that name none.
const USUAL: &str = "default";

/// A ServiceAccount.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// The first ServiceAccount of a manifest.
///
/// # Errors
/// It is not YAML, or has none.
pub(crate) fn parse_account(rights: &str) -> anyhow::Result<Account> {
    let documents: Vec<Value> =
        yaml::all(rights).with_context(|| format!("{RIGHTS} is not YAML"))?;
    let all = documents
        .iter()
        .flat_map(|one| match one["items"].as_array() {
            Some(items) if one["kind"] == "List" => items.iter().collect(),
            Some(_) | None => vec![one],
        });
    let mut accounts = all.filter(|one| one["kind"] == "ServiceAccount");
    let metadata = accounts.next().map(|one| &one["metadata"]);
    let text = |field: &str| metadata?[field].as_str().map(str::to_owned);
    let Some(name) = text("name") else {
        bail!("{RIGHTS} has no ServiceAccount with a name: the operator works as the first one");
    };
    let namespace = text("namespace").unwrap_or_else(|| USUAL.to_owned());
    Ok(Account { namespace, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_service_account_counts_wherever_it_stands() {
        let account = |name: &str, more: &str| {
            format!("{{kind: ServiceAccount, metadata: {{name: {name}{more}}}}}")
        };
        let (near, far) = (account("a", ""), account("b", ", namespace: far"));
        let check = |rights: &str, expected: (&str, &str)| {
            let found = parse_account(rights).unwrap();
            assert_eq!((&*found.namespace, &*found.name), expected, "{rights}");
        };
        check(&format!("{near}\n---\n{far}\n"), ("default", "a"));
        check(&format!("kind: Role\n---\n{far}\n"), ("far", "b"));
        let list = format!("kind: List\nitems: [{{kind: Role}}, {far}, {near}]\n");
        check(&list, ("far", "b"));
    }

    #[test]
    fn a_manifest_of_nobody_is_refused() {
        let said = |rights: &str| parse_account(rights).unwrap_err().to_string();
        assert!(said("kind: Role\n").contains("no ServiceAccount"));
        assert!(said("").contains("no ServiceAccount"));
        assert_eq!(said("a: ["), "the manifest of the rights is not YAML");
    }
}
