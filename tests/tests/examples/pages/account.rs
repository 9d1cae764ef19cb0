//! The lifecycle of `docs/recipes.md`: facts that need each other.

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, Operator, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Owner of an account.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Account",
    namespaced,
    status = "AccountStatus"
)]
pub(crate) struct AccountSpec {
    pub(crate) token: String,
}

/// Observed state of an Account.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct AccountStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

/// Answer of the provider about a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    known: bool,
    paid: bool,
    free: u16,
}

lifecycle! {
    /// An account at a provider, opened by a token.
    resource Account;

    observe {
        token: Secret       by name spec.token;
        cloud: poll Answer  by meta.uid, token every 1min given token;
    }
    facts {
        login: { Denied, Fine }         from cloud given cloud else Unseen;
        plan:  { None, Expired, Paid }  from cloud given login == Fine else None;
        room:  bool                     from cloud given plan == Paid else false;
    }
    states {
        NoToken when !token          => Error wakes token, self;
        Asking  when login == Unseen => Pending overdue 5min;
        Denied  when login == Denied => Error wakes cloud, token, self;
        Unpaid  when plan != Paid    => Error wakes cloud, self;
        Full    when !room           => Error wakes cloud, self;
        goal Open when room          => Ready;
    }
    status {
        condition Open {
            False "NoToken"   when !token;
            Unknown "Asking"  when login == Unseen;
            False "Denied"    when login == Denied;
            False "Unpaid"    when plan != Paid;
            False "Full"      when !room;
            True              otherwise;
        }
        ready from Open;
    }
}

/// Logic with a provider that identifies tokens by their content.
pub(crate) struct AtProvider;

impl AccountLogic for AtProvider {
    async fn poll_cloud(&self, _: This<'_, Account>, token: &Secret) -> Result<Answer, CallError> {
        let words = token.data.iter().flatten();
        let words: Vec<&str> = words.map(|(name, _)| name.as_str()).collect();
        Ok(Answer {
            known: words.contains(&"known"),
            paid: words.contains(&"paid"),
            free: u16::from(words.contains(&"free")),
        })
    }

    fn login(&self, _: This<'_, Account>, cloud: &Answer) -> Because<Login> {
        match cloud.known {
            true => Because::plain(Login::Fine),
            false => Because::new(Login::Denied, "the provider does not know the token"),
        }
    }

    fn plan(&self, _: This<'_, Account>, cloud: &Answer) -> Because<Plan> {
        match cloud.paid {
            true => Because::plain(Plan::Paid),
            false => Because::new(Plan::Expired, "the plan has expired"),
        }
    }

    fn room(&self, _: This<'_, Account>, cloud: &Answer) -> Because<bool> {
        Because::plain(cloud.free > 0)
    }
}

/// All of the operator.
pub(crate) fn operator() -> Operator {
    Operator::new("examples.test").run(machine(AtProvider))
}

/// An Account, and the token that it names.
pub(crate) const OBJECTS: &str = "
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: default}
data: {known: MQ==, paid: MQ==}
---
apiVersion: examples.test/v1
kind: Account
metadata: {name: ours, namespace: default}
spec: {token: token}
";
