//! Signer of certificates in a cluster. It consists of a cluster-scoped object, a key that is
//! minted into a Secret beside the operator, and an account at an external authority. The
//! authority's root goes into a definition owned by another controller or user, so that the API
//! server trusts the conversion webhook.
//!
//! An account is identified by its key, so an account whose key is lost remains. No cleanup is
//! possible, and nothing here claims otherwise.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once, Random};
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::provider::{Provider, ProviderState};

/// Desired state of a ClusterIssuer.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "issuers.tests",
    version = "v1",
    kind = "ClusterIssuer",
    status = "ClusterIssuerStatus"
)]
pub struct ClusterIssuerSpec {
    /// Contact address that the authority uses.
    pub email: String,
    /// Name of the CustomResourceDefinition whose webhook converts its objects, and has a
    /// certificate of this issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
}

/// Observed state of a ClusterIssuer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ClusterIssuerStatus {
    /// Registered, Injected, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// How many Certificates name it.
    #[serde(default)]
    pub users: Option<i32>,
}

/// A certificate that has to be signed.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "issuers.tests",
    version = "v1",
    kind = "Certificate",
    namespaced
)]
pub struct CertificateSpec {
    /// The name of the ClusterIssuer.
    pub issuer: String,
}

/// Key of an account. It is never printed.
pub struct AccountKey(Vec<u8>);

/// Answer of the authority to the holder of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The account, if it has one.
    pub account: Option<Client>,
    /// The certificate of the authority itself.
    pub root: String,
}

/// An account of an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The Secret that its key was in, by uid.
    secret: String,
    /// Contact address that the authority uses.
    contact: String,
    /// True if the account may be used. A closed account stays closed.
    is_open: bool,
}

/// All accounts of an authority, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    all: BTreeMap<Vec<u8>, Client>,
    has_new_root: bool,
}

/// An authority outside the cluster.
pub type Authority = Provider<Accounts>;

include!("../../../macros/core/tests/lifecycles/issuer.txt");

/// Entry of a Secret that holds the key.
const KEY: &str = "tls.key";

impl Accounts {
    /// Registers a key from a Secret. A different key from the same Secret replaces the previous
    /// one.
    fn come(&mut self, secret: &str, key: &[u8]) {
        self.all
            .retain(|known, client| client.secret != secret || known == key);
    }

    fn root(&self) -> String {
        let name = if self.has_new_root { "second" } else { "first" };
        format!("the {name} root")
    }
}

impl ProviderState for Accounts {
    fn leftovers(&self) -> Vec<String> {
        let open = self.all.values().filter(|client| client.is_open);
        open.map(|client| format!("the account of Secret {}", client.secret))
            .collect()
    }

    const MEDDLINGS: &[&str] = &["close all", "forget all", "write to another", "a new root"];

    fn perturb(&mut self, what: &str) {
        let all = self.all.values_mut();
        match what {
            "close all" => all.for_each(|client| client.is_open = false),
            "forget all" => self.all.clear(),
            "write to another" => {
                all.for_each(|client| "another@example.org".clone_into(&mut client.contact));
            }
            _ => self.has_new_root = true,
        }
    }

    /// Removes a key together with its Secret. The account is unusable afterwards.
    fn follow(&mut self, deleted: &Value) {
        if let Some(uid) = deleted["metadata"]["uid"].as_str() {
            self.all.retain(|_, client| client.secret != uid);
        }
    }
}

/// The logic of a ClusterIssuer: where its authority is.
pub struct AtAuthority(pub Authority);

/// Namespace that holds the keys of all ClusterIssuers.
const NAMESPACE: &str = "default";

fn key(secret: &Secret) -> Option<Vec<u8>> {
    let key = secret.data.as_ref()?.get(KEY)?;
    (!key.0.is_empty()).then(|| key.0.clone())
}

/// Returns the uid of the Secret that identifies the client, and its key.
fn account_identity(secret: &Secret) -> (String, Vec<u8>) {
    let uid = secret.metadata.uid.clone().unwrap_or_default();
    (uid, key(secret).unwrap_or_default())
}

impl ClusterIssuerLogic for AtAuthority {
    fn account(&self, this: This<'_, ClusterIssuer>) -> Option<ObjectRef> {
        let name = this.meta.name.as_deref().unwrap_or_default();
        Some(ObjectRef::new::<Secret>(
            Some(NAMESPACE),
            &format!("{name}-account"),
        ))
    }

    fn webhook(&self, this: This<'_, ClusterIssuer>) -> Option<ObjectRef> {
        let name = this.spec.webhook.as_deref()?;
        Some(ObjectRef::new::<CustomResourceDefinition>(None, name))
    }

    async fn poll_acme(
        &self,
        _: This<'_, ClusterIssuer>,
        account: &Secret,
    ) -> Result<Registration, CallError> {
        let (secret, key) = account_identity(account);
        let what = format!("look at the account of {secret}");
        let look = |all: &mut Accounts| {
            all.come(&secret, &key);
            Ok(Registration {
                account: all.all.get(&key).cloned(),
                root: all.root(),
            })
        };
        self.0.query(&what, look).await
    }

    fn wants(&self, this: This<'_, ClusterIssuer>) -> Because<bool> {
        Because::plain(this.spec.webhook.is_some())
    }

    fn read_key(&self, _: This<'_, ClusterIssuer>, account: &Secret) -> Option<AccountKey> {
        key(account).map(AccountKey)
    }

    fn make_key(&self, _: This<'_, ClusterIssuer>, random: &mut Random) -> AccountKey {
        AccountKey(random.bytes::<32>().to_vec())
    }

    fn registered(
        &self,
        this: This<'_, ClusterIssuer>,
        acme: &Registration,
    ) -> Because<Registered> {
        match &acme.account {
            None => Because::new(Registered::No, "the authority does not know the key"),
            Some(client) if !client.is_open => Because::new(
                Registered::Closed,
                "the authority has closed the account: delete its Secret to get another one",
            ),
            Some(client) if client.contact != this.spec.email => {
                let contact = &client.contact;
                Because::new(
                    Registered::Old,
                    format!("the authority writes to {contact}"),
                )
            }
            Some(_) => Because::plain(Registered::Yes),
        }
    }

    fn apply_account(&self, at: ApplyAccount<'_>) -> Desired<Secret> {
        let data = BTreeMap::from([(KEY.to_owned(), ByteString(at.key.0.clone()))]);
        Desired::from_object(&Secret {
            data: Some(data),
            ..Secret::default()
        })
    }

    async fn register(&self, at: Register<'_>, once: Once<'_>) -> Outcome<RegisterResult> {
        let (secret, key) = account_identity(at.account);
        let contact = at.this.spec.email.clone();
        let what = format!("register {secret} with {contact}");
        let operation = move |all: &mut Accounts| {
            all.come(&secret, &key);
            if !contact.ends_with(".org") {
                let said = format!("nobody is reached at {contact}: correct spec.email");
                return Err(CallError::Refused(said));
            }
            if let Some(known) = all.all.get_mut(&key)
                && !known.is_open
            {
                return Err(CallError::Failed("the account was closed".to_owned()));
            }
            let client = Client {
                secret,
                contact,
                is_open: true,
            };
            all.all.insert(key, client);
            Ok(RegisterResult::Yes)
        };
        once.spend(self.0.mutate(&what, operation)).await
    }

    async fn deactivate(&self, at: Deactivate<'_>, once: Once<'_>) -> Outcome<DeactivateResult> {
        let (secret, key) = account_identity(at.account);
        let what = format!("close the account of {secret}");
        let operation = move |all: &mut Accounts| {
            if let Some(client) = all.all.get_mut(&key) {
                client.is_open = false;
            }
            Ok(DeactivateResult::Closed)
        };
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn apply_webhook(&self, at: ApplyWebhook<'_>) -> Desired<CustomResourceDefinition> {
        let bundle = ByteString(at.acme.root.clone().into_bytes());
        let client = json!({ "clientConfig": { "caBundle": bundle } });
        Desired::from_json(json!({ "spec": { "conversion": { "webhook": client } } }))
    }

    fn users(&self, _: This<'_, ClusterIssuer>, used: &[&Certificate]) -> i32 {
        i32::try_from(used.len()).unwrap_or(i32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_closed_for_good_and_its_contact_can_change() {
        let check = |account: Option<(&str, bool)>, expected: Registered| {
            let spec = ClusterIssuerSpec {
                email: "us@example.org".to_owned(),
                webhook: None,
            };
            let issuer = ClusterIssuer::new("i", spec);
            let account = account.map(|(contact, is_open)| Client {
                secret: "s".to_owned(),
                contact: contact.to_owned(),
                is_open,
            });
            let said = Registration {
                account,
                root: String::new(),
            };
            let logic = AtAuthority(Authority::default());
            let said = logic.registered(This::new(&issuer), &said);
            assert_eq!(said.value, expected);
        };
        check(None, Registered::No);
        check(Some(("us@example.org", false)), Registered::Closed);
        check(Some(("them@example.org", true)), Registered::Old);
        check(Some(("us@example.org", true)), Registered::Yes);
    }
}
