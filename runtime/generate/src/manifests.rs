//! The manifests that an administrator applies before the program runs: its definitions, and the
//! rights of each of its parts.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::program::{Part, Purpose};
use crate::rights::{Account, Holder};

/// Definitions as YAML documents, each of them once.
///
/// # Errors
/// If one of them cannot be written as YAML.
pub fn definitions(parts: &[&Part]) -> Result<String, serde_saphyr::SerializeError> {
    let mut known: Vec<&CustomResourceDefinition> = Vec::new();
    for definition in parts.iter().flat_map(|part| part.definitions()) {
        if !known
            .iter()
            .any(|one| one.metadata.name == definition.metadata.name)
        {
            known.push(definition);
        }
    }
    let mut text = String::new();
    for definition in known {
        text += "---\n";
        text += &serde_saphyr::to_string(definition)?;
    }
    Ok(text)
}

/// Returns the roles of each part and their bindings, as YAML documents.
pub fn rights(parts: &[&Part]) -> String {
    rights_for(parts, Purpose::Run, None, &[])
}

/// Returns the roles for a purpose, bound to a user. Without a user, the roles to run a part are
/// bound to its ServiceAccount, and other roles are unbound. They apply in these namespaces, or in
/// all if none is given.
pub fn rights_for(
    parts: &[&Part],
    purpose: Purpose,
    user: Option<&str>,
    namespaces: &[String],
) -> String {
    let mut text = String::new();
    for part in parts {
        let account = Account {
            role: format!("{}{}", part.account.role, suffix(purpose)),
            ..part.account.clone()
        };
        let holder = match (user, purpose) {
            (Some(user), _) => Holder::User(user.to_owned()),
            (None, Purpose::Run) => Holder::ServiceAccount(account.name.clone()),
            (None, Purpose::Plan | Purpose::DryRun | Purpose::Explain) => Holder::Nobody,
        };
        let rights = match namespaces {
            [] => part.rights_for(purpose),
            _ => part.rights_in_watched(purpose),
        };
        let manifests = rights.manifests_within(&account, &holder, namespaces);
        if !manifests.is_empty() {
            text += &format!("---\n{}\n{manifests}", heading(&part.name, purpose));
        }
    }
    text
}

fn suffix(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Run => "",
        Purpose::Plan => "-plan",
        Purpose::DryRun => "-dry-run",
        Purpose::Explain => "-explain",
    }
}

fn heading(part: &str, purpose: Purpose) -> String {
    match purpose {
        Purpose::Run => format!("# What `{part}` may do."),
        Purpose::Plan => format!("# What `plan` reads for `{part}`."),
        Purpose::DryRun => {
            format!(
                "# What `plan --dry-run=server` needs for `{part}`. These rights also allow writes."
            )
        }
        Purpose::Explain => format!("# What `explain` reads for `{part}`."),
    }
}
