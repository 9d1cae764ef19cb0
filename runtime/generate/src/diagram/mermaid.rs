//! Mermaid, as Markdown of code hosts shows it.

use super::Graph;

pub(super) fn write(graph: &Graph) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    for look in graph.looks() {
        text += &format!("    classDef {} fill:{}\n", look.word(), look.fill());
    }
    let name = |at: usize| &graph.nodes[at].name;
    for (from, to) in &graph.edges {
        text += &format!("    {} --> {}\n", name(*from), name(*to));
    }
    for node in &graph.nodes {
        text += &format!("    {}\n", node.name);
        text += &format!("    class {} {}\n", node.name, node.look.word());
    }
    text
}
