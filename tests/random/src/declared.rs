//! Declarations of a lifecycle beside its description: the arguments of each method, and the
//! lookups of inputs.

use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::model::{self, Lookup as Written, Origin, Use};
use lifecycle_oracle::findings::FREQUENT_WARNINGS;
use lifecycle_runtime::machine::ir::Source;
use proc_macro2::{TokenStream, TokenTree};

/// Name of a `from` and its source.
pub type From = Vec<(String, Source)>;

/// How an input is found.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// By the name at a path.
    Name(Path),
    /// By labels: keys as constants, values at paths.
    Labels(Vec<(String, Path)>),
    /// By names that a method lists.
    Names(From),
    /// By references that a method lists.
    Refs(From),
    /// By a reference that a method makes.
    Ref(From),
    /// By a path in the other objects that equals ours.
    Equal(Vec<String>, Path),
    /// A poll, by the recorded value of an input, or by all objects of one.
    Of(usize),
    /// A poll, by a path.
    At(Path),
    /// A poll, by several keys, each as one alone.
    Several(Vec<Lookup>),
    /// By an owner reference to the object.
    Owner,
    /// All in the namespace, or nothing that must be found.
    All,
}

impl Lookup {
    /// The keys of a poll one by one; any other lookup is one.
    pub(crate) fn each(&self) -> &[Self] {
        match self {
            Self::Several(keys) => keys,
            alone => std::slice::from_ref(alone),
        }
    }
}

/// A path of the object, or of an input.
#[derive(Clone, Debug)]
pub struct Path {
    /// `None`: the object itself.
    pub input: Option<usize>,
    /// As documents spell it.
    pub parts: Vec<String>,
}

/// Arguments of the macro's methods, by position.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Names of inputs.
    pub inputs: Vec<String>,
    /// Of each input.
    pub lookups: Vec<Lookup>,
    /// Of each shared value.
    pub values: Vec<From>,
    /// Of each variable that is a declared fact.
    pub facts: Vec<Option<From>>,
    /// Of each effect.
    pub effects: Vec<From>,
    /// The key of each effect that is a call.
    pub keys: Vec<Option<(Option<usize>, Path)>>,
    /// Of each field of the status.
    pub fields: Vec<From>,
}

impl Declared {
    /// Of a model.
    ///
    /// # Panics
    /// Panics if the lifecycle uses features that random lifecycles do not have yet.
    pub fn from_model(model: &model::Lifecycle) -> Self {
        let key = |effect: &model::Effect| {
            let key = effect.key.as_ref()?;
            Some((key.input.map(|input| input.0), path(model, &key.path)))
        };
        let fact = |var: &model::Var| match &var.origin {
            Origin::Fact { from: names, .. } => Some(from(names)),
            Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => None,
        };
        let field = |field: &model::Field| match &field.what {
            model::FieldOf::Method { from: names, .. } => from(names),
            model::FieldOf::Phase | model::FieldOf::Reason | model::FieldOf::Message => From::new(),
        };
        Self {
            inputs: model
                .inputs
                .iter()
                .map(|input| input.name.to_string())
                .collect(),
            lookups: model
                .inputs
                .iter()
                .map(|input| lookup(model, &input.lookup))
                .collect(),
            values: model.values.iter().map(|value| from(&value.from)).collect(),
            facts: model.vars.iter().map(fact).collect(),
            effects: model
                .effects
                .iter()
                .map(|effect| from(&effect.from))
                .collect(),
            keys: model.effects.iter().map(key).collect(),
            fields: model.fields.iter().map(field).collect(),
        }
    }
}

fn from(uses: &[Use]) -> From {
    let source = |used: &Use| match used.source {
        model::Source::This => Source::This,
        model::Source::Request | model::Source::Field(_) => Source::Request,
        model::Source::Input(at) => Source::Input(at.0),
        model::Source::Value(at) => Source::Value(at.0),
        model::Source::Fact(at) => Source::Fact(at.0),
    };
    uses.iter()
        .map(|used| (used.name.to_string(), source(used)))
        .collect()
}

fn path(model: &model::Lifecycle, path: &model::Path) -> Path {
    let parts = path
        .parts
        .iter()
        .map(|part| match part.to_string().as_str() {
            "meta" => "metadata".to_owned(),
            part => part.to_owned(),
        });
    let mut parts: Vec<String> = parts.collect();
    let input = model
        .inputs
        .iter()
        .position(|input| input.name == *path.root());
    if input.is_some() {
        parts.remove(0);
        if parts.first().is_some_and(|part| part == "meta") {
            "metadata".clone_into(&mut parts[0]);
        }
    }
    Path { input, parts }
}

fn lookup(model: &model::Lifecycle, written: &Written) -> Lookup {
    match written {
        Written::Name { path: at, .. } => Lookup::Name(path(model, at)),
        Written::Labels { pairs } => {
            let pair = |(key, at): &(model::Path, model::Path)| {
                let key = key
                    .parts
                    .last()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                (key.to_lowercase(), path(model, at))
            };
            Lookup::Labels(pairs.iter().map(pair).collect())
        }
        Written::Names { of } => Lookup::Names(from(of)),
        Written::Ref { from: of } => Lookup::Ref(from(of)),
        Written::Equal { theirs, ours } => {
            Lookup::Equal(path(model, theirs).parts, path(model, ours))
        }
        Written::Keys(keys) => match keys.as_slice() {
            [key] => build_lookup(model, key),
            several => {
                Lookup::Several(several.iter().map(|key| build_lookup(model, key)).collect())
            }
        },
        Written::Owner => Lookup::Owner,
        Written::Namespace | Written::None => Lookup::All,
        Written::Refs { of } => Lookup::Refs(from(of)),
    }
}

/// One key of a poll.
fn build_lookup(model: &model::Lifecycle, key: &model::PollKey) -> Lookup {
    match key.as_input().map(|key| key.source) {
        Some(model::Source::Input(at)) => Lookup::Of(at.0),
        Some(_) => panic!("a poll is asked about an input or a path"),
        None => Lookup::At(path(model, &key.path)),
    }
}

/// Returns true if the checker finds only warnings in a lifecycle that change no meaning. These
/// concern results of unevaluated facts, for which the driver takes the first value as well. They
/// also concern promises that no state waits for, and an `allow` without effect.
pub(crate) fn is_clean(found: &[Diagnostic]) -> bool {
    found
        .iter()
        .all(|one| FREQUENT_WARNINGS.contains(&one.code))
}

/// Returns the tokens between the braces of a `lifecycle! { .. }`.
///
/// # Panics
/// If the text is none.
pub(crate) fn body(text: &str) -> TokenStream {
    let tokens: TokenStream = text.parse().expect("it is Rust's tokens");
    let body = tokens.into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => Some(group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    });
    body.expect("it is `lifecycle! { .. }`")
}
