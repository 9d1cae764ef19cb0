//! Mistakes of thought: every name is right, but the worlds, the moves or the conditions do not fit.

use super::places::{change, domains, guards, remove, some};
use crate::random::dice::Dice;
use crate::random::sketch::{Effect, Promise, Sketch, State, alternatives, to_strings};

pub(super) fn drop_state(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let Some(gone) = remove(&mut sketch.states, dice, |state| !state.goal) else {
        return false;
    };
    let edges = sketch.edges.iter_mut();
    edges.for_each(|edges| edges.retain(|(from, to)| *from != gone.name && *to != gone.name));
    true
}

pub(super) fn drop_goal(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(
        some(&mut sketch.states, dice, |state| state.goal),
        |state| state.goal = false,
    )
}

pub(super) fn drop_state_atom(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let state = some(&mut sketch.states, dice, |state| state.when.len() > 1);
    change(state, |state| {
        state.when.pop();
    })
}

pub(super) fn shadowed_state(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let at = dice.random_below(sketch.states.len());
    let mut copy = sketch.states[at].clone();
    copy.name = "Shadowed".to_owned();
    let contradictory = dice.one_in(3);
    if contradictory && let Some(fact) = domains(sketch).first() {
        copy.when.extend(fact.1.iter().take(2).map(|value| {
            format!("{} == {value}", fact.0)
                .replace("== true", "")
                .replace("== false", "!= true")
        }));
        copy.when.retain(|atom| !atom.contains("true"));
    }
    sketch.states.insert(at + 1, copy);
    true
}

pub(super) fn swap_states(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let count = sketch.states.len();
    let (one, other) = (dice.random_below(count), dice.random_below(count));
    sketch.states.swap(one, other);
    one != other
}

pub(super) fn swap_effects(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let count = sketch.effects.len();
    let (one, other) = (dice.random_below(count), dice.random_below(count));
    if one != other {
        sketch.effects.swap(one, other);
    }
    one != other
}

/// Two facts of one input, so that only worlds are taken away and no independence is denied.
pub(super) fn forbid(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    if facts.is_empty() {
        return false;
    }
    let (name, values) = dice.pick(&facts).clone();
    let value = dice.pick(&values).clone();
    sketch.nevers.push(match value.as_str() {
        "true" => vec![name],
        "false" => vec![format!("!{name}")],
        _ => vec![format!("{name} == {value}")],
    });
    true
}

/// A world that a call brings about must not be.
pub(super) fn forbid_call(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let calls: Vec<&Effect> = sketch
        .effects
        .iter()
        .filter(|effect| effect.head.starts_with("call") && !effect.sets.is_empty())
        .collect();
    if calls.is_empty() {
        return false;
    }
    let call = *dice.pick(&calls);
    let (fact, value) = call.sets[dice.random_below(call.sets.len())][0].clone();
    let from = sketch
        .facts
        .iter()
        .find(|other| other.name == fact)
        .map(|fact| fact.from.clone())
        .unwrap_or_default();
    // The fact may be misspelt by an earlier mistake: nothing is read from then.
    let Some(input) = from.first().cloned() else {
        return false;
    };
    let mut never = vec![format!("{fact} == {value}")];
    if dice.one_in(2) {
        sketch.facts.push(crate::random::sketch::Fact {
            name: "mood".to_owned(),
            domain: "{ Calm, Wild }".to_owned(),
            from: vec![input],
            ..Default::default()
        });
        never.push("mood == Wild".to_owned());
    }
    sketch.nevers.push(never);
    true
}

pub(super) fn never_chosen(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let Some(at) = (!sketch.effects.is_empty()).then(|| dice.random_below(sketch.effects.len()))
    else {
        return false;
    };
    let mut copy = sketch.effects[at].clone();
    copy.name = Some("again".to_owned());
    if dice.one_in(2) {
        sketch.effects.insert(at + 1, copy);
    } else {
        sketch.effects.push(copy);
    }
    true
}

pub(super) fn drop_wakes(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(
        some(&mut sketch.states, dice, |state| !state.wakes.is_empty()),
        |state| state.wakes.clear(),
    )
}

pub(super) fn drop_promise(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    remove(&mut sketch.promises, dice, |_| true).is_some()
}

pub(super) fn drop_effect(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let undoes: Vec<String> = sketch
        .effects
        .iter()
        .filter_map(|effect| effect.undo.clone())
        .collect();
    let mentioned = sketch
        .states
        .iter()
        .flat_map(|state| &state.when)
        .cloned()
        .collect::<String>();
    let free = |effect: &Effect| {
        !undoes.contains(&effect.known_as()) && !mentioned.contains(&effect.known_as())
    };
    remove(&mut sketch.effects, dice, free).is_some()
}

pub(super) fn drop_guard(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let mut all = guards(sketch);
    all.retain(|guard| guard.len() > 1);
    let at = dice.random_below(all.len());
    let atom = dice.random_below(8);
    change(all.get_mut(at), |guard| {
        guard.remove(atom % guard.len());
    })
}

/// Seeds two promises between which the environment can alternate.
pub(super) fn flip(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let promises: Vec<Promise> = sketch.promises.clone();
    let Some(promise) = (!promises.is_empty()).then(|| dice.pick(&promises)) else {
        return false;
    };
    let fact = promise.sets[0][0].0.clone();
    let Some(at) = sketch.facts.iter().position(|other| other.name == fact) else {
        return false;
    };
    if !sketch.facts[at].domain.starts_with('{') || sketch.facts[at].domain.contains("Syncing") {
        return false;
    }
    sketch.facts[at].domain = sketch.facts[at].domain.replacen(" }", ", Syncing }", 1);
    let syncing = vec![format!("{fact} == Syncing")];
    let phase = Some("Pending".to_owned());
    let is_aside = |state: &&State| {
        let phase = state.phase.as_deref();
        matches!(phase, Some("Ignored" | "Suspended"))
    };
    let place = sketch.states.iter().take_while(is_aside).count();
    sketch.states.insert(
        place,
        State {
            name: "Syncing".to_owned(),
            when: syncing.clone(),
            phase,
            ..State::default()
        },
    );
    let first = domains(sketch)
        .into_iter()
        .find(|(name, _)| *name == fact)
        .map(|(_, values)| values[0].clone());
    let waiting = first.unwrap_or_default();
    let back: Vec<&str> = if dice.one_in(3) {
        vec![&waiting]
    } else {
        vec![&waiting, "Syncing"]
    };
    sketch.promises.push(Promise {
        name: "slips".to_owned(),
        when: syncing,
        sets: alternatives(&fact, &back),
    });
    let promise = sketch
        .promises
        .iter_mut()
        .find(|other| other.name == promise.name)
        .expect("it is one of them");
    promise.sets.extend(alternatives(&fact, &["Syncing"]));
    true
}

/// Seeds two calls with opposite requirements, or a write and a deletion.
pub(super) fn undo_each_other(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let polls: Vec<String> = sketch
        .inputs
        .iter()
        .filter(|input| input.head.starts_with("poll"))
        .map(|input| input.name.clone())
        .collect();
    let reads = |poll: &String| {
        let fits = |fact: &&crate::random::sketch::Fact| {
            fact.from.contains(poll) && fact.domain.starts_with('{') && !fact.held
        };
        sketch.facts.iter().find(fits).map(|fact| fact.name.clone())
    };
    let found = polls
        .iter()
        .find_map(|poll| reads(poll).map(|fact| (poll.clone(), fact)));
    let key = Some("meta.uid".to_owned());
    if let Some((poll, fact)) = found {
        let values = domains(sketch)
            .into_iter()
            .find(|(name, _)| *name == fact)
            .map(|(_, values)| values)
            .unwrap_or_default();
        for (number, (when, then)) in [(0, 1), (1, 0)].into_iter().enumerate() {
            let (when, then) = (format!("{fact} == {}", values[when]), values[then].clone());
            sketch.effects.push(Effect {
                name: Some(format!("sway{number}")),
                head: format!("call {poll}"),
                when: vec![when],
                sets: alternatives(&fact, &[&then]),
                key: key.clone(),
                ..Effect::default()
            });
        }
        return true;
    }
    let single =
        |effect: &Effect| effect.head.starts_with("apply ") && !effect.head.contains("each");
    let applied: Vec<String> = sketch
        .effects
        .iter()
        .filter(|effect| single(effect))
        .map(Effect::target)
        .collect();
    let Some(target) = (!applied.is_empty()).then(|| dice.pick(&applied).clone()) else {
        return false;
    };
    let given = format!(
        "{target} == {}",
        if dice.one_in(2) { "Current" } else { "Stale" }
    );
    sketch.effects.insert(
        0,
        Effect {
            head: format!("delete {target}"),
            when: vec![given],
            ..Effect::default()
        },
    );
    true
}

/// A write that may leave its target as it was.
pub(super) fn keep_stale(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let plain = |effect: &Effect| effect.head.starts_with("apply ");
    change(some(&mut sketch.effects, dice, plain), |effect| {
        let (same, done) = if effect.head.contains("each") {
            ("Behind", "Current")
        } else {
            ("Stale", "Current")
        };
        effect.sets = alternatives(&effect.target(), &[done, same]);
    })
}

pub(super) fn eager_goal(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let Some(goal) = sketch.states.iter().position(|state| state.goal) else {
        return false;
    };
    if dice.one_in(2) {
        let pending = |state: &State| state.phase.as_deref() == Some("Pending") && !state.goal;
        return change(some(&mut sketch.states, dice, pending), |state| {
            state.goal = true
        });
    }
    let state = sketch.states.remove(goal);
    let at = dice.random_below(goal + 1);
    sketch.states.insert(at, state);
    at != goal
}

pub(super) fn drop_edge(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    sketch
        .edges
        .as_mut()
        .is_some_and(|edges| remove(edges, dice, |_| true).is_some())
}

pub(super) fn add_edge(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let names: Vec<String> = sketch
        .states
        .iter()
        .map(|state| state.name.clone())
        .collect();
    let edge = (dice.pick(&names).clone(), dice.pick(&names).clone());
    let edges = sketch.edges.get_or_insert_default();
    let fresh = edge.0 != edge.1 && !edges.contains(&edge);
    if fresh {
        edges.push(edge);
    }
    fresh
}

/// Lets the undo release nothing.
pub(super) fn keep_held(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let undoes: Vec<String> = sketch
        .effects
        .iter()
        .filter_map(|effect| effect.undo.clone())
        .collect();
    let undo = some(&mut sketch.effects, dice, |effect| {
        undoes.contains(&effect.known_as())
    });
    let weak = dice.one_in(2);
    change(undo, |effect| {
        for (_, value) in effect.sets.iter_mut().flatten() {
            *value = "Stale".to_owned();
        }
        let own = effect.known_as();
        effect.undo = (!weak).then_some(own);
    })
}

/// One of several undos may have to be repeated for ever.
pub(super) fn half_undone(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let undoes: Vec<String> = sketch
        .effects
        .iter()
        .filter_map(|effect| effect.undo.clone())
        .collect();
    let undo = some(&mut sketch.effects, dice, |effect| {
        undoes.contains(&effect.known_as())
    });
    undoes.len() > 1
        && change(undo, |effect| {
            let fact = effect
                .sets
                .iter()
                .flatten()
                .next()
                .map(|(fact, _)| fact.clone());
            effect
                .sets
                .extend(fact.map(|fact| vec![(fact, "Stale".to_owned())]));
            // A fact that may still be ours afterwards counts as acquired, so the effect needs an
            // undo as well.
            effect.undo = Some(effect.known_as());
        })
}

/// The key is not recorded yet when something is made under it.
pub(super) fn acquire_early(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let recorded = |effect: &Effect| {
        effect.undo.is_some() && effect.when.iter().any(|atom| atom.starts_with("handle"))
    };
    let instead = dice.one_in(2);
    let calls_first = dice.one_in(2);
    let found = change(some(&mut sketch.effects, dice, recorded), |effect| {
        let atom = effect
            .when
            .iter_mut()
            .find(|atom| atom.starts_with("handle"))
            .expect("it asks the record");
        let name = atom.split(' ').next().unwrap_or_default().to_owned();
        *atom = if instead {
            format!("{name} != Absent")
        } else {
            format!("{name} in {{ Stale, Current }}")
        };
    });
    if found && calls_first {
        sketch.effects.sort_by_key(|effect| effect.undo.is_none());
    }
    found
}

/// Lets the record be overwritten while something may be held under its old value.
pub(super) fn overwrite(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let record = |effect: &Effect| effect.head.starts_with("apply handle");
    let found = change(some(&mut sketch.effects, dice, record), |effect| {
        effect.when.clear()
    });
    if found {
        sketch.effects.sort_by_key(|effect| !record(effect));
    }
    found
}

pub(super) fn other_phase(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let phase = dice.pick_word(&["Pending", "Ready", "Error"]);
    change(some(&mut sketch.states, dice, |_| true), |state| {
        state.phase = Some(phase)
    })
}

pub(super) fn no_otherwise(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.conditions, dice, |_| true), |condition| {
        condition.clauses.pop();
    })
}

pub(super) fn no_reason(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let clauses = sketch
        .conditions
        .iter_mut()
        .flat_map(|condition| &mut condition.clauses);
    change(
        some(clauses, dice, |clause| {
            clause.value == "False" && clause.event.is_none()
        }),
        |clause| clause.reason = None,
    )
}

pub(super) fn unknown_reason(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let value = dice.pick_word(&["Unknown", "True"]);
    let clauses = sketch
        .conditions
        .iter_mut()
        .flat_map(|condition| &mut condition.clauses);
    change(
        some(clauses, dice, |clause| clause.value == "False"),
        |clause| clause.value = value,
    )
}

pub(super) fn wrong_wakes(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let names: Vec<String> = sketch
        .inputs
        .iter()
        .map(|input| input.name.clone())
        .collect();
    let name = dice.pick(&names).clone();
    change(
        some(&mut sketch.states, dice, |state| !state.wakes.is_empty()),
        |state| state.wakes = to_strings(&[&name]),
    )
}

pub(super) fn drop_alternative(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let sets = sketch.effects.iter_mut().map(|effect| &mut effect.sets);
    let sets = sets.chain(sketch.promises.iter_mut().map(|promise| &mut promise.sets));
    change(some(sets, dice, |sets| sets.len() > 1), |sets| {
        sets.pop();
    })
}

pub(super) fn add_alternative(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    let sets = sketch.effects.iter_mut().map(|effect| &mut effect.sets);
    let sets = sets.chain(sketch.promises.iter_mut().map(|promise| &mut promise.sets));
    let Some(sets) = some(sets, dice, |sets| !sets.is_empty()) else {
        return false;
    };
    let fact = sets[0][0].0.clone();
    let Some((_, values)) = facts.into_iter().find(|(name, _)| *name == fact) else {
        return false;
    };
    sets.push(vec![(fact, dice.pick(&values).clone())]);
    true
}
