//! `IR`: the const description of the lifecycle, by position.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use super::calls;
use super::claims;
use super::literals::{option, pred};
use super::paths::Paths;
use super::retired;
use super::texts;
use super::times;
use crate::hygiene::{json_name, private};
use crate::model::frames::{Dependency, Frames};
use crate::model::{
    Assign, Clause, Condition, ConditionStatus, Effect, EffectId, Field, FieldOf, Input, InputId,
    Kind, Lifecycle, Lookup, Mode, Node, Origin, Path, Phase, Promise, Ready, Region, RegionId,
    Source, State, StateId, Step, Use, Var, VarId, Verb,
};
use crate::space::cause::Actor;
use crate::space::promised::Mover;
use crate::space::summary::WorldReport;

/// ```text
/// pub const IR: &ir::Lifecycle = &ir::Lifecycle { name: "Listener", inputs: &[..], .. };
/// ```
pub(crate) fn expand(model: &Lifecycle, shown: &WorldReport) -> TokenStream {
    let (private, name, doc) = (private(), model.name.to_string(), &model.doc);
    let times = times::paths(model);
    let inputs = model.inputs.iter().map(|i| input(i, &times));
    let values = model.values.iter().map(|v| {
        let (name, given) = (v.name.to_string(), option(v.given.as_ref().map(pred)));
        let mint = option(v.mint.as_ref().map(|mint| {
            let (keeper, until) = (mint.keeper.0, option(mint.until.as_ref().map(pred)));
            quote!(ir::Mint { keeper: #keeper, until: #until })
        }));
        quote!(ir::Value { name: #name, given: #given, mint: #mint })
    });
    let nodes = model.nodes.iter().copied().map(node);
    let nevers = model.nevers.iter().map(|n| pred(&n.pred));
    let states = model.states.iter().map(|s| state(s, &times));
    let regions = model.regions.iter().map(declared_region);
    let frames = Frames::new(model);
    let vars = model.vars.iter().enumerate();
    let vars = vars.map(|(n, v)| var(model, v, frames.reads(VarId(n))));
    let effects = model.effects.iter().enumerate();
    let effects = effects.map(|(n, e)| effect(e, frames.affected(EffectId(n))));
    let promises = model.promises.iter().map(promise);
    let (steps, abandoned) = (model.steps.iter().map(step), model.abandoned.iter());
    let abandoned = abandoned.map(|one| {
        let (when, why) = (pred(&one.when), &one.why);
        quote!(ir::Abandoned { when: #when, why: #why })
    });
    let (path, waits) = (claims::path(model), claims::waits(&shown.waits));
    // In one order, however they are written.
    let edges = shown.edges.iter().map(edge);
    let paths = texts::paths(model);
    let conditions = model.conditions.iter().map(|c| condition(c, &paths));
    let ready = ready(model.ready.as_ref(), &paths);
    let texts = paths.each().map(spelled);
    let said = times.each().map(spelled);
    let implicit = option(model.implicit.as_ref().map(|i| {
        let (condition, reason) = (i.condition.0, &i.reason);
        quote!(ir::Implicit { condition: #condition, reason: #reason })
    }));
    let kstatus = model.kstatus;
    let fields = model.fields.iter().map(field);
    let columns = model.columns.iter().map(|c| {
        let (name, path) = (c.name.to_string(), option(c.json_path.as_ref()));
        quote!(ir::Column { name: #name, json_path: #path })
    });
    let retired = model.retired.iter().filter_map(retired::gone);
    let (volume, calls) = (model.kind == Kind::Volume, calls::expand(model, &frames));
    quote! {
        /// Declaration of the lifecycle, as data.
        pub const IR: &#private::ir::Lifecycle = {
            use #private::ir;
            &ir::Lifecycle {
                name: #name,
                path: #path,
                doc: #doc,
                inputs: &[#(#inputs),*],
                values: &[#(#values),*],
                vars: &[#(#vars),*],
                order: &[#(#nodes),*],
                nevers: &[#(#nevers),*],
                states: ir::Table::new(&[#(#states),*]),
                regions: ir::Table::new(&[#(#regions),*]),
                effects: &[#(#effects),*],
                promises: &[#(#promises),*],
                steps: &[#(#steps),*],
                abandoned: &[#(#abandoned),*],
                retired: &[#(#retired),*],
                edges: &[#(#edges),*],
                waits: &[#(#waits),*],
                conditions: &[#(#conditions),*],
                ready: #ready,
                implicit: #implicit,
                kstatus: #kstatus,
                texts: &[#(#texts),*],
                times: &[#(#said),*],
                fields: &[#(#fields),*],
                columns: &[#(#columns),*],
                volume: #volume,
                calls: &[#(#calls),*],
            }
        };
    }
}

/// `ir::Edge { from: 6, to: 7, causes: &[ir::Cause::Effect(0)] }`
fn edge(((from, to), causes): (&(StateId, StateId), &BTreeSet<Actor>)) -> TokenStream {
    let causes = causes.iter().map(|one| match *one {
        Actor::Effect(EffectId(effect)) => quote!(ir::Cause::Effect(#effect)),
        Actor::Other(Mover::Promise(promise)) => quote!(ir::Cause::Promise(#promise)),
        Actor::Other(Mover::Gone(InputId(input))) => quote!(ir::Cause::Gone(#input)),
        Actor::Other(Mover::Again(InputId(input))) => quote!(ir::Cause::Again(#input)),
        Actor::Other(Mover::Answer(InputId(input))) => quote!(ir::Cause::Answer(#input)),
        Actor::Other(Mover::Claim | Mover::Effect) => quote!(ir::Cause::Claim),
    });
    quote!(ir::Edge { from: #from, to: #to, causes: &[#(#causes),*] })
}

fn node(node: Node) -> TokenStream {
    match node {
        Node::Input(id) => {
            let id = id.0;
            quote!(ir::Node::Input(#id))
        }
        Node::Value(id) => {
            let id = id.0;
            quote!(ir::Node::Value(#id))
        }
        Node::Var(id) => {
            let id = id.0;
            quote!(ir::Node::Var(#id))
        }
    }
}

fn input(input: &Input, times: &Paths<'_>) -> TokenStream {
    let (name, doc, many) = (input.name.to_string(), &input.doc, input.many);
    let kind = match input.mode {
        Mode::Clock => "clock".to_owned(),
        Mode::Noted => "Noted".to_owned(),
        Mode::Group => "group".to_owned(),
        Mode::Watched
        | Mode::Owned
        | Mode::Shared
        | Mode::Part
        | Mode::Record
        | Mode::Poll
        | Mode::Probe => input.ty.to_token_stream().to_string().replace(' ', ""),
    };
    let mode = format_ident!(
        "{}",
        match input.mode {
            Mode::Watched => "Watched",
            Mode::Owned => "Owned",
            Mode::Shared => "Shared",
            Mode::Part => "Part",
            Mode::Record => "Record",
            Mode::Noted => "Noted",
            Mode::Poll => "Poll",
            Mode::Probe => "Probe",
            Mode::Clock => "Clock",
            Mode::Group => "Group",
        }
    );
    let lookup = lookup(&input.lookup);
    let only_if = option(input.only_if.as_ref().map(spelled));
    let every = input.every.as_ref().map(|e| times::length(e, times));
    let (every, given) = (option(every), option(input.given.as_ref().map(pred)));
    let (var, owner) = (
        option(input.var.map(|v| v.0)),
        option(input.of.map(|i| i.0)),
    );
    let controller = input.controller;
    let provider = option(input.provider.as_ref().map(ToString::to_string));
    let exclusive = input.exclusive.iter().map(spelled);
    let retain = option(input.retain.as_ref().map(pred));
    let noted = option(input.noted.map(|i| i.0));
    let retired = option(input.retired.map(retired::leaves));
    let (group, optional) = (option(input.group.map(|i| i.0)), input.optional);
    quote!(ir::Input {
        name: #name, doc: #doc, mode: ir::Mode::#mode, many: #many, kind: #kind, lookup: #lookup, only_if: #only_if,
        every: #every, provider: #provider, given: #given, var: #var, owner: #owner, controller: #controller,
        exclusive: &[#(#exclusive),*], retain: #retain, retired: #retired,
        noted: #noted, group: #group, optional: #optional,
    })
}

fn lookup(lookup: &Lookup) -> TokenStream {
    match lookup {
        Lookup::Name { path, .. } => {
            let path = spelled(path);
            quote!(ir::Lookup::Name(#path))
        }
        Lookup::Names { .. } => quote!(ir::Lookup::Names),
        Lookup::Refs { .. } => quote!(ir::Lookup::Refs),
        Lookup::Labels { pairs } => {
            let keys = pairs.iter().map(|(key, _)| {
                let parts = &key.parts;
                quote!(#(#parts)::*)
            });
            quote!(ir::Lookup::Labels(&[#(#keys),*]))
        }
        Lookup::Owner => quote!(ir::Lookup::Owner),
        Lookup::Namespace => quote!(ir::Lookup::Namespace),
        Lookup::Ref { .. } => quote!(ir::Lookup::Ref),
        Lookup::Equal { .. } => quote!(ir::Lookup::Equal),
        Lookup::Keys(_) | Lookup::None => quote!(ir::Lookup::Key),
    }
}

/// A path as users of the resource know it: `spec.className`.
fn spelled(path: &Path) -> String {
    let parts = path
        .parts
        .iter()
        .map(|part| match part.to_string().as_str() {
            "meta" => "metadata".to_owned(),
            part => json_name(part),
        });
    parts.collect::<Vec<_>>().join(".")
}

fn var(model: &Lifecycle, var: &Var, reads: &BTreeSet<Dependency>) -> TokenStream {
    let (name, doc, values) = (var.name.to_string(), &var.doc, &var.values);
    let answers = u8::try_from(var.answers).unwrap_or(u8::MAX);
    let origin = match &var.origin {
        Origin::Input(id) => {
            let id = id.0;
            quote!(ir::Origin::Input(#id))
        }
        Origin::Fact { .. } => quote!(ir::Origin::Fact),
        Origin::Refused(id) => {
            let id = id.0;
            quote!(ir::Origin::Refused(#id))
        }
        Origin::Deleting => quote!(ir::Origin::Deleting),
        Origin::Claimed => quote!(ir::Origin::Claimed),
    };
    let given = var.given.iter().map(|g| {
        let (pred, otherwise) = (pred(&g.pred), small(g.otherwise));
        quote!(ir::Guard { pred: #pred, otherwise: #otherwise })
    });
    let (free, timed) = (option(var.held.map(|h| h.free.0)), model.is_timed(var));
    let reads = reads.iter().filter_map(|one| match one {
        Dependency::Input(input) => Some(input.0),
        Dependency::This
        | Dependency::Request
        | Dependency::Field(_)
        | Dependency::Value(_)
        | Dependency::Path(_) => None,
    });
    quote!(ir::Var {
        name: #name, doc: #doc, origin: #origin, values: &[#(#values),*], answers: #answers, given: &[#(#given),*], free: #free,
        timed: #timed, reads: &[#(#reads),*],
    })
}

fn small(value: usize) -> u8 {
    u8::try_from(value).expect("a domain has at most 64 values")
}

fn state(state: &State, times: &Paths<'_>) -> TokenStream {
    let (name, doc, goal, overdue, when) = (
        state.name.to_string(),
        &state.doc,
        state.goal,
        times::length(&state.overdue, times),
        pred(&state.when),
    );
    let phase = match state.phase {
        Some(Phase::Ready) => quote!(ir::Phase::Ready),
        Some(Phase::Error) => quote!(ir::Phase::Error),
        Some(Phase::Suspended) => quote!(ir::Phase::Suspended),
        Some(Phase::Ignored) => quote!(ir::Phase::Ignored),
        Some(Phase::Pending) | None => quote!(ir::Phase::Pending),
    };
    let wakes = option(state.wakes.as_ref().map(|w| sources(w)));
    let even_deleting = state.even_deleting;
    let region = region(state.region);
    quote!(ir::State {
        name: #name, doc: #doc, goal: #goal, when: #when, phase: #phase, even_deleting: #even_deleting, wakes: #wakes, overdue: #overdue, region: #region
    })
}

fn declared_region(region: &Region) -> TokenStream {
    let (name, doc, counts) = (region.name.to_string(), &region.doc, region.counts);
    quote!(ir::Region { name: #name, doc: #doc, counts: #counts })
}

fn region(region: Option<RegionId>) -> TokenStream {
    let region = region.map(|RegionId(region)| quote!(ir::RegionId(#region)));
    option(region)
}

fn sources(uses: &[Use]) -> TokenStream {
    let each = uses.iter().map(|u| match u.source {
        Source::This => quote!(ir::Source::This),
        Source::Request | Source::Field(_) => quote!(ir::Source::Request),
        Source::Fact(id) => {
            let id = id.0;
            quote!(ir::Source::Fact(#id))
        }
        Source::Input(id) => {
            let id = id.0;
            quote!(ir::Source::Input(#id))
        }
        Source::Value(id) => {
            let id = id.0;
            quote!(ir::Source::Value(#id))
        }
    });
    quote!(&[#(#each),*])
}

fn sets(alternatives: &[Vec<Assign>]) -> TokenStream {
    let each = alternatives.iter().map(|alternative| {
        let pairs = alternative.iter().map(|a| {
            let (var, value) = (a.var.0, small(a.value));
            quote!((#var, #value))
        });
        quote!(&[#(#pairs),*])
    });
    quote!(&[#(#each),*])
}

fn effect(effect: &Effect, affected: &BTreeSet<VarId>) -> TokenStream {
    let (name, doc, each, target) = (
        effect.name.to_string(),
        &effect.doc,
        effect.each,
        effect.target.0,
    );
    let verb = match effect.verb {
        Verb::Apply => quote!(ir::Verb::Apply),
        Verb::Delete => quote!(ir::Verb::Delete),
        Verb::Call => quote!(ir::Verb::Call),
        Verb::Adopt => quote!(ir::Verb::Adopt),
        Verb::Create => quote!(ir::Verb::Create),
        Verb::Note => quote!(ir::Verb::Note),
    };
    let (from, when, sets) = (
        sources(&effect.from),
        option(effect.when.as_ref().map(pred)),
        sets(&effect.sets),
    );
    let (undo, is_undo, is_step, refused, keeps) = (
        option(effect.undo.map(|(e, _)| e.0)),
        effect.is_undo,
        effect.is_step,
        effect.refused.0,
        effect.keeps,
    );
    let affects = affected.iter().map(|var| var.0);
    let region = region(effect.region);
    quote!(ir::Effect {
        name: #name, doc: #doc, verb: #verb, each: #each, target: #target, from: #from, when: #when, sets: #sets,
        affects: &[#(#affects),*], undo: #undo, is_undo: #is_undo, is_step: #is_step, refused: #refused, keeps: #keeps, region: #region,
    })
}

fn promise(promise: &Promise) -> TokenStream {
    let (name, when, sets) = (
        promise.name.to_string(),
        pred(&promise.when),
        sets(&promise.sets),
    );
    let claim = option(
        promise
            .claim
            .as_ref()
            .map(|claim| claims::claim(promise, claim)),
    );
    quote!(ir::Promise { name: #name, claim: #claim, when: #when, sets: #sets })
}

fn step(step: &Step) -> TokenStream {
    let (effect, until) = (step.effect.0, pred(&step.until));
    let when = option(step.when.as_ref().map(pred));
    quote!(ir::Step { effect: #effect, when: #when, until: #until })
}

fn ready(ready: Option<&Ready>, paths: &Paths<'_>) -> TokenStream {
    let from = ready.into_iter().flat_map(|r| &r.from).map(|c| c.0);
    let reason = ready.and_then(|r| r.reason.as_deref()).unwrap_or("Ready");
    let message = ready.and_then(|r| r.message.as_ref());
    let message = message.map_or_else(|| quote!(&[]), |m| texts::parts(m, paths));
    quote!(ir::RollUp { from: &[#(#from),*], reason: #reason, message: #message })
}

fn condition(condition: &Condition, paths: &Paths<'_>) -> TokenStream {
    let (name, doc) = (condition.name.to_string(), &condition.doc);
    let clauses = condition.clauses.iter();
    let clauses = clauses.map(|c| clause(condition, c, paths));
    quote!(ir::Condition { name: #name, doc: #doc, clauses: &[#(#clauses),*] })
}

fn clause(condition: &Condition, clause: &Clause, paths: &Paths<'_>) -> TokenStream {
    let status = match clause.status {
        ConditionStatus::True => quote!(ir::Says::True),
        ConditionStatus::False => quote!(ir::Says::False),
        ConditionStatus::Unknown => quote!(ir::Says::Unknown),
        ConditionStatus::Absent => quote!(ir::Says::Absent),
        ConditionStatus::Omit => quote!(ir::Says::Omit),
    };
    let reason = clause
        .reason
        .clone()
        .unwrap_or_else(|| match clause.status {
            ConditionStatus::Absent => "Pending".to_owned(),
            ConditionStatus::Omit => String::new(),
            ConditionStatus::True | ConditionStatus::False | ConditionStatus::Unknown => {
                condition.name.to_string()
            }
        });
    let message = option(clause.message.as_ref().map(|m| texts::parts(m, paths)));
    let (event, when) = (
        option(clause.event.as_ref()),
        option(clause.when.as_ref().map(pred)),
    );
    quote!(ir::Clause { says: #status, reason: #reason, message: #message, event: #event, when: #when })
}

fn field(field: &Field) -> TokenStream {
    let name = json_name(&field.name.to_string());
    let what = match field.what {
        FieldOf::Method { last_reported, .. } => {
            quote!(ir::FieldOf::Method { last_reported: #last_reported })
        }
        FieldOf::Phase => quote!(ir::FieldOf::Phase),
        FieldOf::Reason => quote!(ir::FieldOf::Reason),
        FieldOf::Message => quote!(ir::FieldOf::Message),
    };
    quote!(ir::Field { name: #name, what: #what })
}
