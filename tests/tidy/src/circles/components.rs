//! Strongly connected components of a graph, by Tarjan. Knows nothing of files.

use std::collections::{BTreeMap, BTreeSet};

type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The components, each in order, in the order of their first nodes.
pub(super) fn find_components<'a>(graph: &Graph<'a>) -> Vec<Vec<&'a str>> {
    let mut search = Search {
        graph,
        reached: BTreeMap::new(),
        path: Vec::new(),
        components: Vec::new(),
    };
    for node in graph.keys() {
        if !search.reached.contains_key(node) {
            search.visit(node);
        }
    }
    search.components.sort();
    search.components
}

struct Search<'a, 'g> {
    graph: &'g Graph<'a>,
    /// When each node was reached.
    reached: BTreeMap<&'a str, usize>,
    /// Nodes that no component has yet.
    path: Vec<&'a str>,
    components: Vec<Vec<&'a str>>,
}

impl<'a> Search<'a, '_> {
    /// The earliest node of the path that this one leads to.
    fn visit(&mut self, node: &'a str) -> usize {
        let own = self.reached.len();
        let place = self.path.len();
        self.reached.insert(node, own);
        self.path.push(node);
        let mut earliest = own;
        for next in self.graph.get(node).into_iter().flatten() {
            match self.reached.get(next) {
                None => earliest = earliest.min(self.visit(next)),
                Some(then) if self.path.contains(next) => earliest = earliest.min(*then),
                Some(_) => {}
            }
        }
        if earliest == own {
            let mut component = self.path.split_off(place);
            component.sort_unstable();
            self.components.push(component);
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(edges: &[(&'static str, &'static str)]) -> Vec<String> {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry(from).or_default().insert(to);
        }
        find_components(&graph)
            .iter()
            .map(|nodes| nodes.concat())
            .collect()
    }

    #[test]
    fn what_leads_back_to_itself_is_one_component() {
        let edges = [
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("c", "d"),
            ("d", "e"),
            ("e", "d"),
        ];
        assert_eq!(components(&edges), ["abc", "de"]);
    }

    #[test]
    fn two_ways_to_one_place_are_no_circle() {
        let edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")];
        assert_eq!(components(&edges), ["a", "b", "c", "d"]);
    }

    #[test]
    fn circles_that_share_a_node_are_one() {
        let edges = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("z", "a")];
        assert_eq!(components(&edges), ["abc", "z"]);
    }
}
