//! Cycles between lifecycles, found at compile time. Each one waits in a state for a promise that
//! another keeps in a state that it never reaches. Knows states and claims, but no worlds. The IR
//! contains the states that only claimed promises leave.

use super::claims::{Text, same};
use super::ir::{Claim, Lifecycle};

/// Upper bound on the lifecycles that run together.
const MOST: usize = 16;
/// The lifecycle may be anywhere.
const ANYWHERE: usize = usize::MAX;

/// A joint state of the lifecycles, with the wait that keeps each of them there.
#[derive(Clone, Copy)]
struct JointState {
    states: [usize; MOST],
    waits: [usize; MOST],
}

/// Compiles if the keepers of all promises of these lifecycles are among them. No cycle of their
/// states may wait for itself.
///
/// # Panics
/// Panics otherwise; the message names every lifecycle and state of the circle.
pub const fn together(members: &[&Lifecycle]) {
    assert!(
        members.len() <= MOST,
        "at most 16 lifecycles are run together"
    );
    let mut n = 0;
    while n < members.len() {
        everybody_is_there(members, members[n]);
        n += 1;
    }
    if let Some(found) = circle(members) {
        panic!("{}", describe_circle(members, found).as_str());
    }
}

/// Asserts that the keeper of each claimed promise is one of the members, because otherwise no
/// lifecycle keeps it.
const fn everybody_is_there(members: &[&Lifecycle], of: &Lifecycle) {
    let mut n = 0;
    while n < of.promises.len() {
        let promise = &of.promises[n];
        if let Some(claim) = &promise.claim
            && position(members, claim).is_none()
        {
            let text = Text::new().and("promise `").and(promise.name).and("` of ");
            let text = text.and(of.name).and(" is claimed by ").and(claim.keeper);
            let text = text.and(", which is not run with it: name it here, too");
            panic!("{}", text.as_str());
        }
        n += 1;
    }
}

/// Returns the position of the member that keeps a promise.
const fn position(members: &[&Lifecycle], claim: &Claim) -> Option<usize> {
    let mut n = 0;
    while n < members.len() {
        if same(members[n].path, claim.keeper) {
            return Some(n);
        }
        n += 1;
    }
    None
}

/// Returns states in which some of the members may wait for each other forever, if there are any.
const fn circle(members: &[&Lifecycle]) -> Option<JointState> {
    let mut member = 0;
    while member < members.len() {
        let mut wait = 0;
        while wait < members[member].waits.len() {
            let mut at = JointState {
                states: [ANYWHERE; MOST],
                waits: [ANYWHERE; MOST],
            };
            at.states[member] = members[member].waits[wait].state.0;
            let found = find_deadlock(members, at);
            if found.is_some() {
                return found;
            }
            wait += 1;
        }
        member += 1;
    }
    None
}

/// Returns a standing in which other placed lifecycles may hold each placed lifecycle, if there is
/// one.
const fn find_deadlock(members: &[&Lifecycle], at: JointState) -> Option<JointState> {
    let mut member = 0;
    while member < members.len() && (at.states[member] == ANYWHERE || at.waits[member] != ANYWHERE)
    {
        member += 1;
    }
    if member == members.len() {
        return Some(at);
    }
    let waits = members[member].waits;
    let mut wait = 0;
    while wait < waits.len() {
        if waits[wait].state.0 == at.states[member] {
            let mut next = at;
            next.waits[member] = wait;
            let found = open(members, next, (member, wait), 0);
            if found.is_some() {
                return found;
            }
        }
        wait += 1;
    }
    None
}

/// Returns a standing in which the promises of a wait, from the n-th on, may all stay open, if
/// there is one.
const fn open(
    members: &[&Lifecycle],
    at: JointState,
    (member, wait): (usize, usize),
    n: usize,
) -> Option<JointState> {
    let promises = members[member].waits[wait].promises;
    if n == promises.len() {
        return find_deadlock(members, at);
    }
    let Some(claim) = &members[member].promises[promises[n]].claim else {
        return None;
    };
    let Some(keeper) = position(members, claim) else {
        return None;
    };
    // Objects of one lifecycle may be in different states, so no state implies that all of them
    // wait.
    if keeper == member {
        return None;
    }
    if at.states[keeper] != ANYWHERE {
        let name = members[keeper].states.as_slice()[at.states[keeper]].name;
        return if claim.has(name) {
            None
        } else {
            open(members, at, (member, wait), n + 1)
        };
    }
    let waits = members[keeper].waits;
    let mut other = 0;
    while other < waits.len() {
        let state = waits[other].state.0;
        if !claim.has(members[keeper].states.as_slice()[state].name) {
            let mut next = at;
            next.states[keeper] = state;
            let found = open(members, next, (member, wait), n + 1);
            if found.is_some() {
                return found;
            }
        }
        other += 1;
    }
    None
}

/// The circle in words.
const fn describe_circle(members: &[&Lifecycle], at: JointState) -> Text {
    let mut text = Text::new().and("these wait for each other for ever: ");
    let (mut member, mut first) = (0, true);
    while member < members.len() {
        if at.states[member] != ANYWHERE {
            text = text.and(if first { "" } else { "; " });
            text = describe_wait(members, at, member, text);
            first = false;
        }
        member += 1;
    }
    text.and(". Claim one of these promises in a state that its keeper comes to first, or give one of these states another way out")
}

/// `Listener in `Claiming` waits for Site in `Ready` (promise `allocated`)`.
const fn describe_wait(members: &[&Lifecycle], at: JointState, member: usize, text: Text) -> Text {
    let of = members[member];
    let mut text = text
        .and(of.name)
        .and(" in `")
        .and(of.states.as_slice()[at.states[member]].name);
    text = text.and("` waits for ");
    let promises = of.waits[at.waits[member]].promises;
    let mut n = 0;
    while n < promises.len() {
        let promise = &of.promises[promises[n]];
        if let Some(claim) = &promise.claim
            && let Some(keeper) = position(members, claim)
        {
            text = text.and(if n == 0 { "" } else { " and " });
            text = text
                .and(members[keeper].name)
                .and(" in `")
                .either(claim.states);
            text = text.and("` (promise `").and(promise.name).and("`)");
        }
        n += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::ir::{Length, Phase, Pred, Promise, RollUp, State, StateId, Table, Wait};
    use super::*;

    const fn state(name: &'static str) -> State {
        State {
            name,
            doc: "",
            goal: false,
            when: Pred::All(&[]),
            phase: Phase::Pending,
            even_deleting: false,
            wakes: None,
            overdue: Length {
                said: None,
                otherwise: 1,
                least: 1,
            },
            region: None,
        }
    }

    const STATES: &[State] = &[state("First"), state("Then")];
    const BOTH: &[&str] = &["First", "Then"];

    fn promise(
        name: &'static str,
        keeper: &'static str,
        states: &'static [&'static str],
    ) -> Promise {
        Promise {
            name,
            claim: Some(Claim { keeper, states }),
            when: Pred::All(&[]),
            sets: &[],
        }
    }

    /// Returns a lifecycle with two states. The first state waits for all of these promises at
    /// once.
    fn waiting(name: &'static str, promises: Vec<Promise>) -> Lifecycle {
        let due: &[usize] = Vec::leak((0..promises.len()).collect());
        let waits = Vec::from_iter((!due.is_empty()).then_some(Wait {
            state: StateId(0),
            promises: due,
        }));
        Lifecycle {
            name,
            path: name,
            states: Table::new(STATES),
            regions: Table::new(&[]),
            promises: Vec::leak(promises),
            waits: Vec::leak(waits),
            ready: RollUp {
                from: &[],
                reason: "Ready",
                message: &[],
            },
            doc: "",
            inputs: &[],
            values: &[],
            vars: &[],
            order: &[],
            nevers: &[],
            effects: &[],
            steps: &[],
            abandoned: &[],
            edges: &[],
            conditions: &[],
            implicit: None,
            kstatus: false,
            texts: &[],
            times: &[],
            fields: &[],
            columns: &[],
            volume: false,
            calls: &[],
            retired: &[],
        }
    }

    fn found(members: &[&Lifecycle]) -> Option<String> {
        circle(members).map(|at| describe_circle(members, at).as_str().to_owned())
    }

    #[test]
    fn three_that_wait_for_each_other_are_a_circle_and_each_is_named() {
        let a = waiting("A", vec![promise("p", "B", &["Then"])]);
        let b = waiting("B", vec![promise("q", "C", &["Then"])]);
        let c = waiting("C", vec![promise("r", "A", &["Then"])]);
        let text = found(&[&a, &b, &c]).unwrap();
        for part in [
            "A in `First` waits for B in `Then` (promise `p`)",
            "B in `First` waits for C in `Then` (promise `q`)",
            "C in `First` waits for A in `Then` (promise `r`)",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let open = waiting("C", vec![promise("r", "A", BOTH)]);
        assert_eq!(found(&[&a, &b, &open]), None);
    }

    #[test]
    fn whoever_waits_for_two_is_held_only_if_both_are() {
        let b = waiting("B", vec![promise("q", "A", &["Then"])]);
        let free = waiting("C", Vec::new());
        let held = waiting("C", vec![promise("r", "A", &["Then"])]);
        let a = || vec![promise("p", "B", &["Then"]), promise("s", "C", &["Then"])];
        assert_eq!(found(&[&waiting("A", a()), &b, &free]), None);
        let text = found(&[&waiting("A", a()), &b, &held]).unwrap();
        assert!(
            text.contains("B in `Then` (promise `p`) and C in `Then` (promise `s`)"),
            "{text}"
        );
    }

    #[test]
    fn objects_of_one_lifecycle_are_not_held_against_each_other() {
        assert_eq!(
            found(&[&waiting("A", vec![promise("p", "A", &["Then"])])]),
            None
        );
    }

    #[test]
    #[should_panic(expected = "promise `p` of A is claimed by B, which is not run with it")]
    fn whoever_keeps_a_promise_is_run_as_well() {
        together(&[&waiting("A", vec![promise("p", "B", &["Then"])])]);
    }
}
