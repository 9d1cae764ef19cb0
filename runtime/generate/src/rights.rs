//! The rights that lifecycles need, as few as there can be: each verb with the input or the effect that needs it.
//! What a program does besides (a Lease, its definitions) it adds itself, with a reason of its own. What follows from a description stands in `needs`.

mod asking;
mod needs;
mod places;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lifecycle_runtime::lifecycle::{Kind, Machine};

pub use yaml::{Account, Holder};

/// What somebody may do, and what for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    rules: BTreeMap<Object, BTreeMap<Verb, BTreeSet<String>>>,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// Where.
    pub scope: Scope,
    /// The group; empty: the core group.
    pub group: String,
    /// The resource, or one of its subresources: `services`, `listeners/status`.
    pub resource: String,
    /// Only these, by name; empty: all.
    pub names: Vec<String>,
}

/// Where a rule counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In every namespace, and for what is in none. What a lifecycle does is here: its watches are of all namespaces, and its objects may be in any.
    #[default]
    Cluster,
    /// In each of the namespaces that are watched, where only some are.
    Watched,
    /// Only in the namespace of the program itself.
    Own,
}

/// What may be done, in the order in which rules name it.
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
    pub const fn word(self) -> &'static str {
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

    /// Only those of these names. Whoever makes an object says its name in its body, which no rule reads: `create` is never narrowed.
    #[must_use]
    pub fn named<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().map(str::to_owned).collect();
        Self { names, ..self }
    }

    pub(crate) fn of(kind: &Kind) -> Self {
        Self::all(&kind.group, &kind.plural)
    }

    fn sub(kind: &Kind, name: &str) -> Self {
        Self::all(&kind.group, &format!("{}/{name}", kind.plural))
    }

    /// Whether whoever has a right to this one has it to another one, too.
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
    /// What lifecycles need together.
    pub fn of<'a>(lifecycles: impl IntoIterator<Item = &'a dyn Machine>) -> Self {
        let mut rights = Self::default();
        for machine in lifecycles {
            needs::take(&mut rights, machine);
        }
        rights
    }

    /// What somebody needs who has objects of these lifecycles explained.
    pub fn to_explain<'a>(lifecycles: impl IntoIterator<Item = &'a dyn Machine>) -> Self {
        let mut rights = Self::default();
        for machine in lifecycles {
            asking::explained(&mut rights, machine);
        }
        rights
    }

    /// What somebody needs who plans what these lifecycles write, and `own`, what their author's own code asks for. Of volumes there is no plan: without
    /// another lifecycle it is nothing.
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

    /// What somebody needs who besides asks the API server for its opinion of what is written with these rights.
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

    /// As well what others need.
    #[must_use]
    pub fn with(mut self, others: &Self) -> Self {
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
            self.allow(Object::of(kind), &[Verb::List, Verb::Watch], why);
        }
        self
    }

    /// As well what a program needs that installs and updates these definitions.
    #[must_use]
    pub fn maintaining<'a>(self, definitions: impl IntoIterator<Item = &'a str>) -> Self {
        let all = Object::all("apiextensions.k8s.io", "customresourcedefinitions");
        let why =
            "its own definitions are installed and updated; not needed where that is switched off";
        let named = all.clone().named(definitions);
        self.and(all, &[Verb::Create], why)
            .and(named, &[Verb::List, Verb::Patch], why)
    }

    /// As well what a program needs of whose replicas one writes.
    #[must_use]
    pub fn leading(self, lease: &str) -> Self {
        let all = Object::all("coordination.k8s.io", "leases").own();
        let why = "of several replicas one writes";
        let named = all.clone().named([lease]);
        self.and(all, &[Verb::Create], why)
            .and(named, &[Verb::Get, Verb::Update], why)
    }

    /// The same where only some namespaces are watched: rights to what is in a namespace count in those alone. `known` says of a kind whether its objects
    /// are in one, where that is known.
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

    /// Those of [`Rights::each`] that requests need by themselves. The others are asked for by a plug-in of the API server, which not every one has.
    pub fn of_requests(&self) -> impl Iterator<Item = (&Object, Verb)> {
        self.each().filter(|(object, verb)| {
            let whys = self.why(object, *verb);
            !whys.iter().all(|why| why.ends_with(needs::INSISTS))
        })
    }

    /// What needs a right, and what needs one that it covers.
    pub fn why(&self, object: &Object, verb: Verb) -> BTreeSet<&str> {
        let rules = self.rules.iter();
        let covered = rules.filter(|(narrower, _)| object.covers(narrower));
        let whys = covered.filter_map(|(_, verbs)| verbs.get(&verb));
        whys.flatten().map(String::as_str).collect()
    }

    /// Whether a wider rule gives a right already.
    fn is_covered(&self, object: &Object, verb: Verb) -> bool {
        self.rules.iter().any(|(wider, verbs)| {
            wider != object && wider.covers(object) && verbs.contains_key(&verb)
        })
    }

    /// Whether nothing may be done.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The roles that give it to somebody, and what binds them, as manifests: each rule with what needs it as a comment.
    pub fn manifests(&self, account: &Account) -> String {
        let holder = Holder::ServiceAccount(account.name.clone());
        self.manifests_of(account, &holder)
    }

    /// The roles of an account, and what binds them to somebody else.
    pub fn manifests_of(&self, account: &Account, holder: &Holder) -> String {
        self.manifests_within(account, holder, &[])
    }

    /// The same, with a role in each of these namespaces for what is [`Scope::Watched`].
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
