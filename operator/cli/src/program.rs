//! Program that a user writes in one expression: its name, its kinds, and the operator that it
//! runs. The work of its commands is not in here.

use clap::{ArgMatches, Args, Command};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use lifecycle_generate::rights::{Object, Verb};
use lifecycle_runtime::Operator;

/// A program around an operator: `run`, `crds`, `sandbox`, `plan`, `explain`, `replay`, and the
/// commands derived from its lifecycles: `lifecycles`, `diagram`, `docs`, `manifests`.
///
/// ```text
/// fn main() -> ExitCode {
///     Program::new("website-operator", env!("CARGO_PKG_VERSION"))
///         .definitions(website_operator::definitions)
///         .rights(RIGHTS)
///         .operator(|_| Operator::new("web.example.org").run(website::machine(Websites)))
///         .main()
/// }
/// ```
pub struct Program {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) about: &'static str,
    pub(crate) definitions: Vec<fn() -> Vec<CustomResourceDefinition>>,
    pub(crate) rights: Option<&'static str>,
    pub(crate) besides: Vec<(Object, Vec<Verb>, &'static str)>,
    pub(crate) options: fn(Command) -> Command,
    operator: Option<Make>,
}

type Make = Box<dyn FnOnce(Surroundings, &ArgMatches) -> anyhow::Result<Operator>>;

/// Surroundings that an operator may be made from.
#[derive(Clone)]
#[non_exhaustive]
pub struct Surroundings {
    /// The cluster, with the rights of the operator.
    pub client: Client,
    /// The domain below which cluster DNS names Services.
    pub cluster_domain: String,
    /// The namespace of the operator itself.
    pub namespace: String,
}

impl Program {
    /// Creates a program with its name, which is also the name of its Lease and the field manager
    /// of its definitions.
    pub fn new(name: &'static str, version: &'static str) -> Self {
        Self {
            name,
            version,
            about: "Runs an operator, and shows what it does in a simulated cluster.",
            definitions: Vec::new(),
            rights: None,
            besides: Vec::new(),
            options: |command| command,
            operator: None,
        }
    }

    /// Sets the purpose of the program, in one sentence.
    #[must_use]
    pub fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// The kinds of a group. `crds` prints them, and `run` installs them before the operator starts. Of several groups: once for each.
    #[must_use]
    pub fn definitions(mut self, definitions: fn() -> Vec<CustomResourceDefinition>) -> Self {
        self.definitions.push(definitions);
        self
    }

    /// The manifest that gives the operator its rights. In the sandbox it works as the first ServiceAccount of it; without a manifest, as an administrator.
    #[must_use]
    pub fn rights(mut self, manifest: &'static str) -> Self {
        self.rights = Some(manifest);
        self
    }

    /// Adds a permission beyond those of the lifecycles, with its reason: requests that the own
    /// code of the author sends to the API server. `manifests rbac` prints it with the rest.
    #[must_use]
    pub fn also(mut self, object: Object, verbs: &[Verb], why: &'static str) -> Self {
        self.besides.push((object, verbs.to_vec(), why));
        self
    }

    /// The operator. Leadership, health and metrics are added to it.
    #[must_use]
    pub fn operator(mut self, make: impl FnOnce(Surroundings) -> Operator + 'static) -> Self {
        self.operator = Some(Box::new(|surroundings, _| Ok(make(surroundings))));
        self
    }

    /// Sets the operator, made from options of its own. Every command that makes the operator takes
    /// these options: all but `crds`. No option may have the name of an option of a command itself:
    /// `--namespace`, `--context`, `--watch`.
    #[must_use]
    pub fn operator_with<A: Args>(
        mut self,
        make: impl FnOnce(Surroundings, A) -> anyhow::Result<Operator> + 'static,
    ) -> Self {
        self.options = A::augment_args;
        self.operator = Some(Box::new(|surroundings, matches| {
            make(surroundings, A::from_arg_matches(matches)?)
        }));
        self
    }

    /// Makes the operator from its surroundings and its options.
    pub(crate) fn build_operator(
        self,
        surroundings: Surroundings,
        told: &ArgMatches,
    ) -> anyhow::Result<Operator> {
        let Some(make) = self.operator else {
            anyhow::bail!(
                "`{}` runs nothing: give the program an operator with `Program::operator`",
                self.name
            );
        };
        make(surroundings, told)
    }
}
