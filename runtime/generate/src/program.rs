//! Description of a program for the generated texts: its processes, each with its lifecycles and
//! its rights, and the definitions that it installs.

use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use lifecycle_runtime::lifecycle::{Kind, Machine};
use lifecycle_runtime::machine::ir::Lifecycle;

use crate::rights::{Account, Object, Rights, Verb};

/// A program, or several that are used together.
#[derive(Clone, Default)]
pub struct Program {
    parts: Vec<Part>,
}

/// Purpose of rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
pub enum Purpose {
    /// To run it.
    #[default]
    Run,
    /// A person plans.
    Plan,
    /// A person plans with `--dry-run=server`, for which the API server requires the rights to
    /// write.
    DryRun,
    /// A person has objects explained.
    Explain,
}

/// Processes that run as one ServiceAccount: the controller, or the process on each node.
#[derive(Clone)]
pub struct Part {
    /// How it is called on the command line: `controller`.
    pub name: String,
    /// ServiceAccount of the part in the cluster.
    pub account: Account,
    machines: Vec<Arc<dyn Machine>>,
    /// Rights that the author's own code needs.
    own: Rights,
    besides: Rights,
    definitions: Vec<CustomResourceDefinition>,
    /// Its rights count in all namespaces, also where the program watches only some.
    everywhere: bool,
}

impl Program {
    /// Without a part yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more part.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns the parts, in the order of their addition.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns every lifecycle once, in the order of addition.
    pub fn machines(&self) -> Vec<&dyn Machine> {
        let mut all: Vec<&dyn Machine> = Vec::new();
        for machine in self.parts.iter().flat_map(|part| &part.machines) {
            if !all.iter().any(|known| known.ir().path == machine.ir().path) {
                all.push(&**machine);
            }
        }
        all
    }

    /// Every description once.
    pub fn lifecycles(&self) -> Vec<&'static Lifecycle> {
        self.machines().iter().map(|machine| machine.ir()).collect()
    }
}

impl Part {
    /// A process, the ServiceAccount as which it runs, and the namespace of that.
    pub fn new(name: &str, account: &str, namespace: &str) -> Self {
        Self {
            name: name.to_owned(),
            account: Account {
                name: account.to_owned(),
                namespace: namespace.to_owned(),
                role: account.to_owned(),
            },
            machines: Vec::new(),
            own: Rights::default(),
            besides: Rights::default(),
            definitions: Vec::new(),
            everywhere: false,
        }
    }

    /// Others that watch all namespaces work as its account: its rights count there, also where the program watches only some.
    #[must_use]
    pub fn everywhere(self) -> Self {
        Self {
            everywhere: true,
            ..self
        }
    }

    /// Its roles have another name than its ServiceAccount.
    #[must_use]
    pub fn role(mut self, name: &str) -> Self {
        name.clone_into(&mut self.account.role);
        self
    }

    /// It runs or serves a lifecycle.
    #[must_use]
    pub fn runs(self, machine: impl Machine) -> Self {
        self.runs_shared(Arc::new(machine))
    }

    /// It runs or serves a lifecycle that others hold as well.
    #[must_use]
    pub fn runs_shared(mut self, machine: Arc<dyn Machine>) -> Self {
        self.machines.push(machine);
        self
    }

    /// Adds kinds that the program always watches, even without a call. This is the set that a
    /// volume driver must cache.
    #[must_use]
    pub fn watches<'a>(mut self, kinds: impl IntoIterator<Item = &'a Kind>) -> Self {
        self.besides = self.besides.watching(kinds);
        self
    }

    /// It installs and updates these definitions.
    #[must_use]
    pub fn installs(mut self, definitions: Vec<CustomResourceDefinition>) -> Self {
        if definitions.is_empty() {
            return self;
        }
        let names: Vec<String> = definitions.iter().map(ResourceExt::name_any).collect();
        let names = names.iter().map(String::as_str);
        self.besides = self.besides.maintaining(names);
        self.definitions.extend(definitions);
        self
    }

    /// Of several replicas one writes: that which holds this Lease.
    #[must_use]
    pub fn leads_by(mut self, lease: &str) -> Self {
        self.besides = self.besides.leading(lease);
        self
    }

    /// It does something besides, for a reason that is no lifecycle.
    #[must_use]
    pub fn also(mut self, object: Object, verbs: &[Verb], why: &str) -> Self {
        self.own = self.own.and(object, verbs, why);
        self
    }

    /// Adds a right that the program's account has but the program itself never uses. The program
    /// grants the right to others, or others work with the same account.
    #[must_use]
    pub fn also_for_others(mut self, object: Object, verbs: &[Verb], why: &str) -> Self {
        self.besides = self.besides.and(object, verbs, why);
        self
    }

    /// All that it may do.
    pub fn rights(&self) -> Rights {
        Rights::for_lifecycles(self.machines())
            .merge(&self.own)
            .merge(&self.besides)
    }

    /// Rights that a purpose needs where the program watches only some namespaces.
    pub fn rights_in_watched(&self, purpose: Purpose) -> Rights {
        let rights = self.rights_for(purpose);
        match self.everywhere {
            true => rights,
            false => rights.in_watched(|object| self.is_in_namespace(object)),
        }
    }

    /// Returns true if objects of a resource are namespaced, as far as lifecycles and definitions
    /// tell.
    fn is_in_namespace(&self, object: &Object) -> Option<bool> {
        let plural = object.resource.split('/').next()?;
        let of_inputs = self.machines().flat_map(|machine| {
            let inputs = 0..machine.ir().inputs.len();
            let kinds = inputs.filter_map(|input| machine.kind(input));
            kinds.chain(machine.subject()).collect::<Vec<_>>()
        });
        let mut known =
            of_inputs.filter(|kind| kind.group == object.group && kind.plural == plural);
        let defined = self
            .definitions
            .iter()
            .find(|one| one.spec.group == object.group && one.spec.names.plural == plural);
        let defined = defined.map(|one| one.spec.scope == "Namespaced");
        known.next().map(|kind| kind.namespaced).or(defined)
    }

    /// Returns the minimal rights for this purpose in a cluster.
    pub fn rights_for(&self, purpose: Purpose) -> Rights {
        let machines: Vec<&dyn Machine> = self.machines().collect();
        let planned = || Rights::to_plan(&machines, &self.own);
        match purpose {
            Purpose::Run => self.rights(),
            Purpose::Explain => Rights::to_explain(machines),
            Purpose::Plan => planned(),
            Purpose::DryRun => {
                let planned = planned();
                let of_resources = machines
                    .iter()
                    .copied()
                    .filter(|one| one.subject().is_some());
                let names: Vec<String> =
                    self.definitions.iter().map(ResourceExt::name_any).collect();
                let names = names.iter().map(String::as_str);
                let mut writes = Rights::for_lifecycles(of_resources).merge(&self.own);
                if !self.definitions.is_empty() {
                    writes = writes.maintaining(names);
                }
                match planned.is_empty() {
                    true => planned,
                    false => planned.asking_of(&writes),
                }
            }
        }
    }

    fn machines(&self) -> impl Iterator<Item = &dyn Machine> {
        self.machines.iter().map(|machine| &**machine)
    }

    /// The definitions that it installs.
    pub fn definitions(&self) -> &[CustomResourceDefinition] {
        &self.definitions
    }
}

/// Returns the file name for the texts of a lifecycle. It is the name of its resource,
/// `listeners.skupper.io`, or of its volume: `listener-mount`.
pub fn file_name(machine: &dyn Machine) -> String {
    match machine.subject() {
        Some(kind) if kind.group.is_empty() => kind.plural,
        Some(kind) => format!("{}.{}", kind.plural, kind.group),
        None => dashed(machine.ir().name),
    }
}

/// `ListenerMount` as `listener-mount`.
fn dashed(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}
