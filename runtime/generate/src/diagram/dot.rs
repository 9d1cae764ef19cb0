//! Graphviz's language.

use super::Graph;

pub(super) fn write(graph: &Graph) -> String {
    let mut text = format!("digraph {} {{\n", graph.name);
    for node in &graph.nodes {
        let (name, fill) = (&node.name, node.look.fill());
        text += &format!(
            "    {name} [label=\"{name}\", shape=box, style=filled, fillcolor=\"{fill}\"];\n"
        );
    }
    for (from, to) in &graph.edges {
        let name = |at: &usize| &graph.nodes[*at].name;
        text += &format!("    {} -> {};\n", name(from), name(to));
    }
    text + "}\n"
}
