//! A value that is made once by chance, and kept: a password in a Secret. Lose the Secret, and another one is made; edit the object, and it stays.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::Random;
use lifecycle_runtime::{Desired, Operator, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an Account: the user that has the password.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Account",
    namespaced,
    status = "AccountStatus"
)]
pub(crate) struct AccountSpec {
    pub(crate) user: String,
}

/// Observed state of an Account.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct AccountStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

/// Separate type, so that no code prints the password by accident.
pub(crate) struct Password(Vec<u8>);

lifecycle! {
    /// A user with a password.
    resource Account;

    observe {
        secret: owned Secret by name meta.name;
    }
    facts {
        /// Read back from the Secret, and made where nothing is kept.
        mint password: Password in secret;
    }
    states {
        Taken     when secret == Foreign             => Error wakes secret, self;
        Draining  when secret == Terminating         => Pending;
        Making    when secret in { Absent, Stale }   => Pending;
        goal Made when secret == Current             => Ready;
    }
    effects     { apply secret from password; }
    transitions { Draining -> Making; Making -> Made; }
    status {
        condition Kept {
            True              when secret == Current;
            False "NameTaken" when secret == Foreign;
            Unknown "Making"  otherwise;
        }
        ready from Kept;
    }
}

/// How passwords are made, and how they are kept.
pub(crate) struct Passwords;

const KEY: &str = "password";
const LETTERS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

impl AccountLogic for Passwords {
    fn read_password(&self, _: This<'_, Account>, secret: &Secret) -> Option<Password> {
        let kept = secret.data.as_ref()?.get(KEY)?;
        (!kept.0.is_empty()).then(|| Password(kept.0.clone()))
    }

    fn make_password(&self, _: This<'_, Account>, random: &mut Random) -> Password {
        Password(random.text(24, LETTERS).into_bytes())
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let user = at.this.spec.user.clone().into_bytes();
        let data = [("user", user), (KEY, at.password.0.clone())];
        let data = data.map(|(key, value)| (key.to_owned(), ByteString(value)));
        Desired::from_object(&Secret {
            data: Some(BTreeMap::from(data)),
            ..Secret::default()
        })
    }
}

/// All of the operator.
pub(crate) fn operator() -> Operator {
    Operator::new("examples.test").run(machine(Passwords))
}

/// An Account.
pub(crate) const OBJECTS: &str = "
apiVersion: examples.test/v1
kind: Account
metadata: {name: alice, namespace: default}
spec: {user: alice}
";
