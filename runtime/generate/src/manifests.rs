//! What an administrator applies before the program runs: its definitions, and the rights of each of its parts.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::program::Part;

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

/// The roles of each part and what binds them, as YAML documents.
pub fn rights(parts: &[&Part]) -> String {
    let mut text = String::new();
    for part in parts {
        let manifests = part.rights().manifests(&part.account);
        if !manifests.is_empty() {
            text += &format!("---\n# What `{}` may do.\n{manifests}", part.name);
        }
    }
    text
}
