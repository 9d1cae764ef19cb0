//! A lifecycle as the oracle reads it: the declarations that the core parsed, merged with those of
//! fragments, as plain trees of strings. Takes nothing that the core computed from them, and adds
//! by itself everything that the language implies.

use std::thread;

use lifecycle_macros_core::{ast, check_fragment, find_in, written};
use proc_macro2::Ident;
use quote::ToTokens;

use crate::findings::{Finding, Findings};
use crate::minted::makings_are_needed;
use crate::once;
use crate::ownership::owners_are_needed;
use crate::strays::mentioned;
use crate::syntax::{
    Assign, Call, Clause, Condition, Effect, Fact, Input, Let, Life, Mint, Pred, Promise, Property,
    Span, State, Step,
};
use crate::written_out::write_out;

/// Reads the one lifecycle of a text. If the core refuses it before its first stage ends, the
/// result is the findings of the core.
pub(crate) fn read(text: &str) -> Result<Life, Findings> {
    // The parser keeps the places in each text as long as its thread lives.
    thread::scope(|scope| {
        let reading = scope.spawn(|| resolved(text));
        reading.join().expect("no text makes the core panic")
    })
}

fn resolved(text: &str) -> Result<Life, Findings> {
    let refused = |code: &str, item: &str| {
        let mut found = Findings::default();
        found.report(code, item);
        found
    };
    let Ok(mut bodies) = find_in(text) else {
        return Err(refused("LC000", "brackets"));
    };
    let Some(body) = bodies.lifecycles.pop() else {
        return Err(refused("LC000", "lifecycle"));
    };
    match written(body, &bodies.fragments) {
        Ok(ast) => Ok(life(&ast)),
        Err(mut found) => {
            let fragments = bodies.fragments.into_iter();
            found.extend(fragments.flat_map(|one| check_fragment(one).diagnostics));
            let found = found.into_iter().map(|one| Finding {
                code: one.code.to_owned(),
                item: one.item,
            });
            Err(Findings {
                all: found.collect(),
                ..Findings::default()
            })
        }
    }
}

fn life(ast: &ast::Lifecycle) -> Life {
    let mut life = declared(ast);
    once::add_notes(&mut life);
    if !life.volume {
        owners_are_needed(&mut life);
    }
    life.mentioned = mentioned(&life);
    makings_are_needed(&mut life);
    write_out(&mut life);
    life
}

fn declared(ast: &ast::Lifecycle) -> Life {
    let rpc = ast.rpc.as_ref();
    let teardown = ast.teardown.as_ref();
    // Leftovers of older versions are in no world.
    let inputs = ast.inputs.iter().filter(|one| one.retired.is_none());
    let effects = ast.effects.iter();
    // The oracle adds the notes of created objects by itself.
    let effects = effects.filter(|one| one.verb != ast::Verb::Note);
    let parts = ast.fragments.iter().map(|fragment| &fragment.part);
    let offered = parts.flat_map(|part| {
        let facts = part.facts.iter().map(|fact| &fact.name);
        facts.chain(part.derived.iter().map(|derived| &derived.name))
    });
    Life {
        name: text(&ast.name),
        volume: ast.kind == ast::Kind::Volume,
        preconditions: rpc.map(preconditions).unwrap_or_default(),
        calls: rpc.map_or_else(Vec::new, |rpc| rpc.calls.iter().map(call).collect()),
        inputs: inputs.map(|one| input(ast, one)).collect(),
        facts: ast.facts.iter().map(fact).collect(),
        derived: ast
            .derived
            .iter()
            .map(|one| (text(&one.name), pred(&one.pred)))
            .collect(),
        lets: ast.values.iter().map(value).collect(),
        nevers: ast.nevers.iter().map(|never| pred(&never.pred)).collect(),
        states: ast.states.iter().map(state).collect(),
        effects: effects.map(effect).collect(),
        promises: ast.promises.iter().map(promise).collect(),
        teardown: teardown.is_some(),
        steps: teardown.map_or_else(Vec::new, |one| one.steps.iter().map(step).collect()),
        abandoned: teardown.map_or_else(Vec::new, |one| {
            one.abandoned.iter().map(|one| pred(&one.when)).collect()
        }),
        edges: ast.transitions.as_ref().map(edges),
        properties: ast.properties.iter().map(property).collect(),
        conditions: ast.conditions.iter().map(condition).collect(),
        ready: ast.ready.as_ref().map(|ready| texts(&ready.from)),
        reasons: reasons(ast),
        columns: ast
            .columns
            .iter()
            .filter_map(|one| Some((text(&one.name), one.json_path.clone()?)))
            .collect(),
        offered: offered.map(text).collect(),
        mentioned: Vec::new(),
        kstatus: ast.kstatus.is_some(),
        fields: ast.fields.iter().map(field).collect(),
        allows: ast
            .allows
            .iter()
            .map(|allow| (text(&allow.code), text(&allow.item)))
            .collect(),
    }
}

fn text(name: &Ident) -> String {
    name.to_string()
}

fn texts(names: &[Ident]) -> Vec<String> {
    names.iter().map(text).collect()
}

fn paths(paths: &[ast::Path]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn pred(written: &ast::Pred) -> Pred {
    let joined = |parts: &[ast::Pred], join: fn(Box<Pred>, Box<Pred>) -> Pred| {
        let all = parts.iter().map(pred);
        all.reduce(|all, one| join(Box::new(all), Box::new(one)))
            .expect("a predicate has a part")
    };
    match &written.kind {
        ast::PredKind::There(fact) => Pred::Is(text(fact), None),
        ast::PredKind::Is { fact, values } => Pred::Is(text(fact), Some(texts(values))),
        ast::PredKind::Refused(effect) => Pred::Is(format!("?{effect}"), None),
        ast::PredKind::All(parts) => joined(parts, Pred::And),
        ast::PredKind::Any(parts) => joined(parts, Pred::Or),
        ast::PredKind::Not(part) => Pred::Not(Box::new(pred(part))),
    }
}

fn maybe(written: Option<&ast::Pred>) -> Option<Pred> {
    written.map(pred)
}

fn span(written: &ast::Length) -> Span {
    Span {
        path: written.path.as_ref().map(ToString::to_string),
        usual: written.otherwise,
        min: written.least,
    }
}

fn input(ast: &ast::Lifecycle, written: &ast::Input) -> Input {
    let is_note = written.mode == ast::Mode::Noted;
    let own = if is_note {
        "noted"
    } else if written.mode == ast::Mode::Group {
        "group"
    } else {
        written.mode.keyword()
    };
    let has_type = !["clock", "noted", "group"].contains(&own);
    let of = written.of.as_ref().map(text);
    // A member is observed wherever its group is.
    let group = written.member.as_ref().map(|member| &member.of);
    let judged = ast.inputs.iter().find(|other| Some(&other.name) == group);
    let retain = written.retain.as_ref();
    let mut input = Input {
        name: text(&written.name),
        own: own.to_owned(),
        many: written.many,
        kind: match has_type {
            true => written.ty.to_token_stream().to_string(),
            false => String::new(),
        },
        every: written.every.as_ref().map(|(_, every)| span(every)),
        of: of.clone().filter(|_| !is_note),
        tells: of.filter(|_| is_note),
        retained: retain.is_some(),
        retain: retain.and_then(|retain| maybe(retain.when.as_ref())),
        given: maybe(judged.unwrap_or(written).given.as_ref()),
        wanted_by: written.only_if.as_ref().map(|(_, path)| path.to_string()),
        group: group.map(text),
        may_lack: written
            .member
            .as_ref()
            .is_some_and(|member| member.optional.is_some()),
        ..Input::default()
    };
    if let Some((_, lookup)) = &written.lookup {
        look_up(&mut input, lookup);
    }
    input
}

fn look_up(input: &mut Input, lookup: &ast::Lookup) {
    let by = match lookup {
        ast::Lookup::Name { path, optional } => {
            input.paths = vec![path.to_string()];
            input.optional = *optional;
            "name"
        }
        ast::Lookup::Names { of } => {
            input.from = texts(of);
            "names"
        }
        ast::Lookup::Refs { of } => {
            input.from = texts(of);
            "refs"
        }
        ast::Lookup::Ref { from } => {
            input.from = texts(from);
            "ref"
        }
        ast::Lookup::Labels { pairs } => {
            let mut by = "labels".to_owned();
            for (key, value) in pairs {
                by += &format!(" {key}={value}");
                input.paths.push(value.to_string());
            }
            input.by = by;
            return;
        }
        ast::Lookup::Owner => "owner",
        ast::Lookup::Namespace => "namespace",
        ast::Lookup::Equal { ours, .. } => {
            input.paths = vec![ours.to_string()];
            "="
        }
        ast::Lookup::Keys { paths: keys } => {
            input.paths = paths(keys);
            "keys"
        }
    };
    by.clone_into(&mut input.by);
}

fn fact(written: &ast::Fact) -> Fact {
    let (domain, free) = match &written.domain {
        ast::Domain::Bool => (vec!["false".to_owned(), "true".to_owned()], None),
        ast::Domain::Values { left, right } => {
            let all = left.iter().chain(right.iter().flatten());
            let free = right.is_some().then(|| texts(left));
            (all.map(text).collect(), free)
        }
    };
    let mut from = paths(&written.of_request);
    from.extend(texts(&written.from));
    let given = written.given.iter();
    Fact {
        name: text(&written.name),
        domain,
        from,
        chain: given
            .map(|given| (pred(&given.pred), given.otherwise.as_ref().map(text)))
            .collect(),
        held: written.held.is_some(),
        free,
    }
}

fn value(written: &ast::Value) -> Let {
    let mint = written.mint.as_ref().map(|mint| Mint {
        keeper: text(&mint.keeper),
        until: maybe(mint.until.as_ref()),
    });
    let keeper = mint.iter().map(|mint| mint.keeper.clone());
    Let {
        name: text(&written.name),
        from: keeper.chain(texts(&written.from)).collect(),
        given: maybe(written.given.as_ref()),
        mint,
    }
}

fn state(written: &ast::State) -> State {
    State {
        name: text(&written.name),
        goal: written.goal,
        when: pred(&written.when),
        phase: written.phase.as_ref().map(text),
        even: written.even_deleting.is_some(),
        wakes: written.wakes.as_deref().map(texts),
        overdue: written.overdue.as_ref().map(span),
    }
}

fn sets(written: &[Vec<ast::Assign>]) -> Vec<Assign> {
    let pair = |one: &ast::Assign| (text(&one.fact), text(&one.value));
    let alternatives = written.iter();
    alternatives
        .map(|all| all.iter().map(pair).collect())
        .collect()
}

fn effect(written: &ast::Effect) -> Effect {
    Effect {
        name: text(&written.name()),
        verb: written.verb.keyword().to_owned(),
        each: written.each.is_some(),
        on: text(&written.target),
        lets_go: written.without_retain.is_some(),
        from: texts(&written.from),
        when: maybe(written.when.as_ref()),
        sets: written.sets.as_deref().map(sets).unwrap_or_default(),
        undo: written.undo.as_ref().map(text),
        key: written.key.as_ref().map(ToString::to_string),
    }
}

fn promise(written: &ast::Promise) -> Promise {
    let claim = written.claim.as_ref();
    Promise {
        name: text(&written.name),
        claimed: claim.map_or_else(Vec::new, |claim| texts(&claim.states)),
        when: pred(&written.when),
        sets: sets(&written.sets),
    }
}

fn step(written: &ast::Step) -> Step {
    Step {
        effect: text(&written.effect),
        when: maybe(written.when.as_ref()),
        until: pred(&written.until),
    }
}

/// Each source with each target.
fn edges(written: &ast::Transitions) -> Vec<(String, String)> {
    let each = |edge: &ast::Edge| {
        let from = match &edge.from {
            ast::From::States(from) => texts(from),
            ast::From::Anywhere => vec!["_".to_owned()],
        };
        let to = texts(&edge.to);
        let pairs = from.into_iter().flat_map(move |from| {
            let to = to.clone().into_iter();
            to.map(move |to| (from.clone(), to))
        });
        pairs.collect::<Vec<_>>()
    };
    written.edges.iter().flat_map(each).collect()
}

fn property(written: &ast::Property) -> Property {
    match &written.what {
        ast::PropertyOf::Always {
            pred: always,
            states,
            at_rest,
        } => Property::Always {
            pred: pred(always),
            states: texts(states),
            rest: at_rest.is_some(),
        },
        ast::PropertyOf::Never {
            effect,
            pred: never,
        } => Property::Never {
            effect: text(effect),
            pred: pred(never),
        },
        ast::PropertyOf::Before { first, then } => Property::Before(text(first), text(then)),
        ast::PropertyOf::Reaches { to, from, .. } => Property::Reaches {
            to: texts(to),
            from: texts(from),
        },
    }
}

fn condition(written: &ast::Condition) -> Condition {
    let clause = |written: &ast::Clause| {
        let value = match written.status {
            ast::ConditionStatus::True => "True",
            ast::ConditionStatus::False => "False",
            ast::ConditionStatus::Unknown => "Unknown",
            ast::ConditionStatus::Absent => "Absent",
            ast::ConditionStatus::Omit => "Omit",
        };
        Clause {
            value: value.to_owned(),
            reason: written.reason.clone(),
            event: written.event.clone(),
            when: maybe(written.when.as_ref()),
        }
    };
    Condition {
        name: text(&written.name),
        clauses: written.clauses.iter().map(clause).collect(),
    }
}

fn reasons(ast: &ast::Lifecycle) -> Vec<(&'static str, String)> {
    let ready = ast.ready.as_ref().and_then(|ready| ready.reason.clone());
    let implicit = ast.implicit.as_ref().map(|one| one.reason.clone());
    let ready = ready.map(|reason| ("ready", reason));
    let implicit = implicit.map(|reason| ("implicit", reason));
    ready.into_iter().chain(implicit).collect()
}

fn field(written: &ast::Field) -> (String, Vec<String>) {
    let from = match &written.what {
        ast::FieldOf::Method { from, .. } => texts(from),
        ast::FieldOf::Phase | ast::FieldOf::Reason | ast::FieldOf::Message => Vec::new(),
    };
    (text(&written.name), from)
}

fn preconditions(rpc: &ast::Rpc) -> Vec<(String, Option<Pred>)> {
    let meaning = |written: &ast::Meaning| match written {
        ast::Meaning::When(when) => Some(pred(when)),
        ast::Meaning::Never(_) => None,
    };
    let all = rpc.preconditions.iter();
    all.map(|one| (text(&one.name), meaning(&one.meaning)))
        .collect()
}

fn call(written: &ast::Call) -> Call {
    let refusals = written.refusals.iter();
    Call {
        name: text(&written.name),
        to: maybe(written.target.as_ref()),
        by: texts(&written.by),
        within: written.within.as_ref().map(|within| text(&within.code)),
        refusals: refusals
            .map(|one| (pred(&one.when), text(&one.code)))
            .collect(),
    }
}
