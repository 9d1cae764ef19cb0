//! AccessTokens of manifests that have only the code of a grant. Only the status of the grant
//! contains the URL that redeems it, and the certificate authority that verifies that URL. The
//! sandbox copies both from there once the grant is Ready.

use std::time::Duration;

use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::print_line;
use lifecycle_specs_skupper::access_grant::AccessGrant;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::followed::is_of_site;

const LOOK: Duration = Duration::from_millis(50);

/// Tokens that are being applied; it ends when it is dropped.
pub(super) type Applying = JoinSet<Result<(), manifests::Error>>;

/// Fields of a grant that a token needs.
struct Granted {
    /// The grant, by its namespace and name.
    by: String,
    url: String,
    ca: String,
}

/// The tokens that have a code and nothing else, and the other manifests.
pub(super) fn apart(manifests: &[Manifest]) -> (Vec<Manifest>, Vec<Manifest>) {
    manifests.iter().cloned().partition(has_code_alone)
}

/// Applies tokens, each once the grant of its code is Ready.
///
/// # Errors
/// The cluster refuses one.
pub(super) async fn apply(client: Client, tokens: Vec<Manifest>) -> Result<(), manifests::Error> {
    for token in &tokens {
        let granted = granted(&client, token).await;
        let mut spec = token.spec().clone();
        spec["url"] = json!(granted.url);
        spec["ca"] = json!(granted.ca);
        manifests::apply_one(&client, &token.clone().with_spec(spec)).await?;
        print_line(&format!(
            "accesstoken {} applied, with url and ca of the status of accessgrant {}, which has its code",
            token.name(),
            granted.by
        ));
    }
    Ok(())
}

/// Why a token was refused. Does not end while none is.
pub(super) async fn refused(applying: &mut Applying) -> manifests::Error {
    loop {
        match applying.join_next().await {
            Some(Ok(Err(error))) => return error,
            Some(_) => {}
            None => std::future::pending().await,
        }
    }
}

fn has_code_alone(manifest: &Manifest) -> bool {
    let spec = manifest.spec();
    let says = |field: &str| {
        let text = spec.get(field).and_then(Value::as_str);
        text.is_some_and(|text| !text.is_empty())
    };
    is_of_site(manifest, "AccessToken") && says("code") && !says("url") && !says("ca")
}

/// Returns the fields from the grant with the code of a token, once the grant is Ready.
async fn granted(client: &Client, token: &Manifest) -> Granted {
    let grants: Api<AccessGrant> = Api::all(client.clone());
    loop {
        let found = grants.list(&ListParams::default()).await;
        let found = found.map(|grants| grants.items).unwrap_or_default();
        let mut fits = found.iter().filter_map(|grant| read(grant, token));
        if let Some(granted) = fits.next() {
            return granted;
        }
        sleep(LOOK).await;
    }
}

fn read(grant: &AccessGrant, token: &Manifest) -> Option<Granted> {
    let status = grant.status.as_ref()?;
    let is_ready = status.common.status.as_deref() == Some("Ready");
    let is_its = status.code.as_deref() == token.spec()["code"].as_str();
    let by = format!("{}/{}", grant.namespace()?, grant.name_any());
    (is_ready && is_its).then_some(Granted {
        by,
        url: status.url.clone()?,
        ca: status.ca.clone()?,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_a_token_with_nothing_but_its_code_waits_for_a_grant() {
        let token = |spec: &str| {
            let text = format!(
                "apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {{name: a}}\nspec: {spec}\n"
            );
            let manifests = Manifest::parse(Path::new("a.yaml"), &text).unwrap();
            has_code_alone(&manifests[0])
        };
        assert!(token("{code: c}") && token("{code: c, url: '', linkCost: 2}"));
        assert!(!token("{code: c, url: u, ca: a}") && !token("{code: c, url: u}"));
        assert!(!token("{}") && !token("{code: 1}"));
    }
}
