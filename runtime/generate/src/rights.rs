//! The minimal rights that lifecycles need: each verb with the input or the effect that needs it. A
//! program adds the rights for its other work (a Lease, its definitions) itself, with a reason of
//! its own. The module `needs` contains the rights that follow from a description.

mod asking;
mod needs;
mod places;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lifecycle_runtime::lifecycle::{Kind, Machine};

pub use yaml::{Account, Holder};

/// Permitted operations, and the reason for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    rules: BTreeMap<Object, BTreeMap<Verb, BTreeSet<String>>>,
}

/// Resource that a rule applies to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// Scope of the rule.
    pub scope: Scope,
    /// The group; empty: the core group.
    pub group: String,
    /// The resource, or one of its subresources: `services`, `listeners/status`.
    pub resource: String,
    /// Only these, by name; empty: all.
    pub names: Vec<String>,
}

/// Scope of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Scope of every namespace, and of cluster-scoped objects. The rights of a lifecycle have this
    /// scope: its watches span all namespaces, and its objects may be in any.
    #[default]
    Cluster,
    /// In each of the namespaces that are watched, where only some are.
    Watched,
    /// Only in the namespace of the program itself.
    Own,
}

/// Permitted operation. The order is the order within rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Read one by its name.
    Get,
    /// Read all.
    List,
    /// Hear of changes.
    Watch,
    /// Make one.
    Create,
    /// Replace one.
    Update,
    /// Change one.
    Patch,
    /// Remove one.
    Delete,
}

impl Verb {
    /// As a role spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

impl Object {
    /// All of a resource, everywhere.
    pub fn all(group: &str, resource: &str) -> Self {
        Self {
            scope: Scope::Cluster,
            group: group.to_owned(),
            resource: resource.to_owned(),
            names: Vec::new(),
        }
    }

    /// Only in the namespace of the program itself.
    #[must_use]
    pub fn own(self) -> Self {
        let scope = Scope::Own;
        Self { scope, ..self }
    }

    /// Restricts the rights to objects with these names. The name of a created object is in the
    /// body, which no rule reads, so `create` is never restricted.
    #[must_use]
    pub fn named<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().map(str::to_owned).collect();
        Self { names, ..self }
    }

    pub(crate) fn from_kind(kind: &Kind) -> Self {
        Self::all(&kind.group, &kind.plural)
    }

    fn sub(kind: &Kind, name: &str) -> Self {
        Self::all(&kind.group, &format!("{}/{name}", kind.plural))
    }

    /// Returns true if a right to this object includes the right to another one.
    pub fn covers(&self, other: &Self) -> bool {
        let is_same = self.group == other.group && self.resource == other.resource;
        let has = |name| self.names.contains(name);
        let has_names =
            self.names.is_empty() || !other.names.is_empty() && other.names.iter().all(has);
        is_same && has_names && (self.scope == Scope::Cluster || self.scope == other.scope)
    }
}

/// `services`, `listeners.listeners.stackable.tech/status`, and the names where it is about some only.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plural, sub) = match self.resource.split_once('/') {
            Some((plural, sub)) => (plural, format!("/{sub}")),
            None => (self.resource.as_str(), String::new()),
        };
        match self.group.as_str() {
            "" => write!(f, "{plural}{sub}")?,
            group => write!(f, "{plural}.{group}{sub}")?,
        }
        self.names
            .iter()
            .try_for_each(|name| write!(f, " `{name}`"))
    }
}

impl Rights {
    /// Returns the combined rights that lifecycles need.
    pub fn for_lifecycles<'a>(lifecycles: impl IntoIterator<Item = &'a dyn Machine>) -> Self {
        let mut rights = Self::default();
        for machine in lifecycles {
            needs::take(&mut rights, machine);
        }
        rights
    }

    /// Returns the rights that a person needs to have objects of these lifecycles explained.
    pub fn to_explain<'a>(lifecycles: impl IntoIterator<Item = &'a dyn Machine>) -> Self {
        let mut rights = Self::default();
        for machine in lifecycles {
            asking::explained(&mut rights, machine);
        }
        rights
    }

    /// Returns the rights that a person needs to plan the writes of these lifecycles and of their
    /// author's own code, given by `own`. Volumes have no plan, so the rights are empty without
    /// another lifecycle.
    pub fn to_plan(lifecycles: &[&dyn Machine], own: &Self) -> Self {
        let mut rights = Self::default();
        if lifecycles.iter().all(|one| one.subject().is_none()) {
            return rights;
        }
        asking::begun(&mut rights);
        for machine in lifecycles {
            asking::planned(&mut rights, *machine);
        }
        asking::planned_besides(&mut rights, own);
        rights
    }

    /// Adds the rights that a person needs to request a dry run from the API server for the writes
    /// with these rights.
    #[must_use]
    pub fn asking_of(mut self, writes: &Self) -> Self {
        asking::judged(&mut self, writes);
        self
    }

    /// As well, for a reason that is no lifecycle.
    #[must_use]
    pub fn and(mut self, object: Object, verbs: &[Verb], why: &str) -> Self {
        self.allow(object, verbs, why.to_owned());
        self
    }

    /// Adds the rights that others need.
    #[must_use]
    pub fn merge(mut self, others: &Self) -> Self {
        for (object, verbs) in &others.rules {
            for (verb, whys) in verbs {
                for why in whys {
                    self.allow(object.clone(), &[*verb], why.clone());
                }
            }
        }
        self
    }

    /// As well the kinds that a process always watches.
    #[must_use]
    pub fn watching<'a>(mut self, kinds: impl IntoIterator<Item = &'a Kind>) -> Self {
        for kind in kinds {
            let why = "always watched by the process".to_owned();
            self.allow(Object::from_kind(kind), &[Verb::List, Verb::Watch], why);
        }
        self
    }

    /// Adds the rights of a program that installs and updates these definitions.
    #[must_use]
    pub fn maintaining<'a>(self, definitions: impl IntoIterator<Item = &'a str>) -> Self {
        let all = Object::all("apiextensions.k8s.io", "customresourcedefinitions");
        let why =
            "its own definitions are installed and updated; not needed where that is switched off";
        let named = all.clone().named(definitions);
        self.and(all, &[Verb::Create], why)
            .and(named, &[Verb::List, Verb::Patch], why)
    }

    /// Adds the rights of a program with several replicas and a single writer.
    #[must_use]
    pub fn leading(self, lease: &str) -> Self {
        let all = Object::all("coordination.k8s.io", "leases").own();
        let why = "of several replicas one writes";
        let named = all.clone().named([lease]);
        self.and(all, &[Verb::Create], why)
            .and(named, &[Verb::Get, Verb::Update], why)
    }

    /// Restricts the rights for a program that watches only some namespaces. Rights to namespaced
    /// objects then apply in those namespaces alone. `known` reports whether objects of a kind are
    /// namespaced, if known.
    #[must_use]
    pub fn in_watched(self, known: impl Fn(&Object) -> Option<bool>) -> Self {
        let is_in_one = |object: &Object| {
            let said = known(object);
            said.unwrap_or_else(|| places::is_in_namespace(object))
        };
        let rules = self.rules.into_iter().map(|(object, verbs)| {
            let scope = match object.scope {
                Scope::Cluster if is_in_one(&object) => Scope::Watched,
                Scope::Cluster | Scope::Watched | Scope::Own => object.scope,
            };
            (Object { scope, ..object }, verbs)
        });
        Self {
            rules: rules.collect(),
        }
    }

    /// Each right by itself, in order, without those that another one covers.
    pub fn each(&self) -> impl Iterator<Item = (&Object, Verb)> {
        self.rules.iter().flat_map(move |(object, verbs)| {
            let verbs = verbs.keys().copied();
            let verbs = verbs.filter(|verb| !self.is_covered(object, *verb));
            verbs.map(move |verb| (object, verb))
        })
    }

    /// Returns the rights of [`Rights::each`] that requests need by themselves. A plug-in that not
    /// every API server has requires the others.
    pub fn of_requests(&self) -> impl Iterator<Item = (&Object, Verb)> {
        self.each().filter(|(object, verb)| {
            let whys = self.reasons(object, *verb);
            !whys.iter().all(|why| why.ends_with(needs::INSISTS))
        })
    }

    /// Returns the reasons for a right, and for the rights that it covers.
    pub fn reasons(&self, object: &Object, verb: Verb) -> BTreeSet<&str> {
        let rules = self.rules.iter();
        let covered = rules.filter(|(narrower, _)| object.covers(narrower));
        let whys = covered.filter_map(|(_, verbs)| verbs.get(&verb));
        whys.flatten().map(String::as_str).collect()
    }

    /// Returns true if a wider rule already grants a right.
    fn is_covered(&self, object: &Object, verb: Verb) -> bool {
        self.rules.iter().any(|(wider, verbs)| {
            wider != object && wider.covers(object) && verbs.contains_key(&verb)
        })
    }

    /// Returns true if nothing is permitted.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns manifests of the roles and their bindings. A comment on each rule names its purpose.
    pub fn manifests(&self, account: &Account) -> String {
        let holder = Holder::ServiceAccount(account.name.clone());
        self.manifests_of(account, &holder)
    }

    /// Returns the roles of an account, bound to another holder.
    pub fn manifests_of(&self, account: &Account, holder: &Holder) -> String {
        self.manifests_within(account, holder, &[])
    }

    /// Returns the roles and bindings, with a role in each of these namespaces for
    /// [`Scope::Watched`].
    pub fn manifests_within(
        &self,
        account: &Account,
        holder: &Holder,
        namespaces: &[String],
    ) -> String {
        yaml::manifests(self, account, holder, namespaces)
    }

    pub(crate) fn allow(&mut self, object: Object, verbs: &[Verb], why: String) {
        let rule = self.rules.entry(object).or_default();
        for verb in verbs {
            rule.entry(*verb).or_default().insert(why.clone());
        }
    }
}
