//! Mermaid, as Markdown of code hosts shows it.

use super::Graph;

pub(super) fn write(graph: &Graph) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    for look in graph.styles() {
        text += &format!("    classDef {} fill:{}\n", look.class_name(), look.fill());
    }
    let name = |at: usize| &graph.nodes[at].name;
    for arrow in &graph.arrows {
        text += &format!("    {} --> {}", name(arrow.from), name(arrow.to));
        text += &match arrow.causes.as_slice() {
            [] => "\n".to_owned(),
            causes => format!(" : {}\n", causes.join(", ")),
        };
    }
    for node in &graph.nodes {
        text += &format!("    {}\n", node.name);
        text += &format!("    class {} {}\n", node.name, node.look.class_name());
    }
    text
}
