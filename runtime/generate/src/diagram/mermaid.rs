//! Mermaid, as Markdown of code hosts shows it. Regions are states with states in them.

use super::Graph;

pub(super) fn write(graph: &Graph) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    for look in graph.styles() {
        text += &format!("    classDef {} fill:{}\n", look.class_name(), look.fill());
    }
    for part in graph.parts() {
        match part {
            None => text += &states(graph, part, "    "),
            Some(region) => {
                text += &format!("    state \"{region}\" as region_{region} {{\n");
                text += &states(graph, part, "        ");
                text += "    }\n";
            }
        }
    }
    text
}

/// The states of one part, behind the transitions between them.
fn states(graph: &Graph, part: Option<&'static str>, indent: &str) -> String {
    let mut text = String::new();
    let name = |at: usize| &graph.nodes[at].name;
    let arrows = graph.arrows.iter();
    for arrow in arrows.filter(|arrow| graph.nodes[arrow.from].region == part) {
        text += &format!("{indent}{} --> {}", name(arrow.from), name(arrow.to));
        text += &match arrow.causes.as_slice() {
            [] => "\n".to_owned(),
            causes => format!(" : {}\n", causes.join(", ")),
        };
    }
    for node in graph.nodes_of(part) {
        let (name, look) = (&node.name, node.look.class_name());
        // A line `class` does not reach the states in a state.
        text += &match part {
            None => format!("{indent}{name}\n{indent}class {name} {look}\n"),
            Some(_) => format!("{indent}{name}:::{look}\n"),
        };
    }
    text
}
