//! The section `transitions` in its shortest form: edges with equal sources or equal targets share
//! one line. Knows only edges and names.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Lifecycle, StateId};

/// An edge between two states.
pub(super) type Edge = (StateId, StateId);

/// Several states with all edges from one of them to one of those.
type Line = (BTreeSet<StateId>, BTreeSet<StateId>);

/// Returns the block with these edges, states in order of declaration. A state that is declared to
/// be entered from every state stays so if anything enters it.
pub(super) fn written(lifecycle: &Lifecycle, edges: &BTreeSet<Edge>) -> String {
    format!("transitions {{\n{}}}", lines_of(lifecycle, edges))
}

/// Its lines alone.
pub(super) fn lines_of(lifecycle: &Lifecycle, edges: &BTreeSet<Edge>) -> String {
    let anywhere = |state: StateId| {
        let mut declared = lifecycle.transitions.iter();
        declared.any(|all| all.is_entered_anywhere(state))
    };
    let (whole, single): (BTreeSet<Edge>, BTreeSet<Edge>) =
        edges.iter().partition(|(_, to)| anywhere(*to));
    let names = |states: &BTreeSet<StateId>| {
        let names = states.iter().map(|state| &lifecycle.states[state.0].name);
        let names: Vec<String> = names.map(ToString::to_string).collect();
        names.join(" | ")
    };
    let mut block = String::new();
    for (from, to) in lines(&single) {
        block += &format!("    {} -> {};\n", names(&from), names(&to));
    }
    if !whole.is_empty() {
        let to = whole.iter().map(|(_, to)| *to).collect();
        block += &format!("    _ -> {};\n", names(&to));
    }
    block
}

/// Returns a line for the sources of each set of targets, or, if that is shorter, a line for the
/// targets of each set of sources.
fn lines(edges: &BTreeSet<Edge>) -> Vec<Line> {
    let mut by_target = BTreeSet::new();
    let mut best = split(edges, &by_target);
    let mut entered: BTreeMap<StateId, usize> = BTreeMap::new();
    for (_, to) in edges {
        *entered.entry(*to).or_default() += 1;
    }
    let mut targets: Vec<StateId> = entered.keys().copied().collect();
    targets.sort_by_key(|to| std::cmp::Reverse(entered[to]));
    // A block with more states is not readable.
    for to in targets.into_iter().take(64) {
        by_target.insert(to);
        let tried = split(edges, &by_target);
        if count_words(&tried) < count_words(&best) {
            best = tried;
        } else {
            by_target.remove(&to);
        }
    }
    best.sort();
    best
}

/// The lines if these targets stand with their sources, and all others with those of their source.
fn split(edges: &BTreeSet<Edge>, by_target: &BTreeSet<StateId>) -> Vec<Line> {
    let (columns, rows): (BTreeSet<Edge>, BTreeSet<Edge>) =
        edges.iter().partition(|(_, to)| by_target.contains(to));
    let rows = grouped(rows.into_iter());
    let columns = grouped(columns.into_iter().map(|(from, to)| (to, from)));
    let rows = rows.into_iter().map(|(to, from)| (from, to));
    rows.chain(columns).collect()
}

/// The second halves of all pairs with the same first one, with all first halves that have them.
fn grouped(
    pairs: impl Iterator<Item = (StateId, StateId)>,
) -> BTreeMap<BTreeSet<StateId>, BTreeSet<StateId>> {
    let mut seconds: BTreeMap<StateId, BTreeSet<StateId>> = BTreeMap::new();
    for (first, second) in pairs {
        seconds.entry(first).or_default().insert(second);
    }
    let mut grouped: BTreeMap<BTreeSet<StateId>, BTreeSet<StateId>> = BTreeMap::new();
    for (first, seconds) in seconds {
        grouped.entry(seconds).or_default().insert(first);
    }
    grouped
}

/// Returns the reading effort: the names, and the arrow and the `;` of each line.
fn count_words(lines: &[Line]) -> usize {
    let line = |(from, to): &Line| from.len() + to.len() + 2;
    lines.iter().map(line).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(edges: &[(usize, usize)], lines_of: &[(&[usize], &[usize])]) {
        let state = |at: &usize| StateId(*at);
        let all = |states: &[usize]| states.iter().map(state).collect::<BTreeSet<_>>();
        let edges = edges
            .iter()
            .map(|(from, to)| (StateId(*from), StateId(*to)));
        let expected = lines_of.iter().map(|(from, to)| (all(from), all(to)));
        assert_eq!(lines(&edges.collect()), expected.collect::<Vec<_>>());
    }

    #[test]
    fn the_same_targets_stand_in_one_line() {
        expect(&[(0, 2), (1, 2)], &[(&[0, 1], &[2])]);
        expect(&[(0, 2), (0, 3), (1, 2), (1, 3)], &[(&[0, 1], &[2, 3])]);
        expect(&[(0, 1), (0, 2), (1, 2)], &[(&[0], &[1, 2]), (&[1], &[2])]);
    }

    #[test]
    fn a_target_stands_with_its_sources_where_that_is_shorter() {
        expect(
            &[(0, 5), (0, 6), (0, 9), (1, 5), (1, 6), (2, 9)],
            &[(&[0, 1], &[5, 6]), (&[0, 2], &[9])],
        );
    }

    #[test]
    fn where_both_are_as_long_each_source_stands_with_its_targets() {
        expect(
            &[(0, 1), (0, 9), (1, 2), (1, 9), (2, 9)],
            &[(&[0], &[1, 9]), (&[1], &[2, 9]), (&[2], &[9])],
        );
    }
}
