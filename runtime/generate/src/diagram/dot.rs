//! Graphviz's language. The cause of transitions is a node between the states, drawn once for all
//! states that it leads to from one state. In a dense picture, labels on arrows could not be
//! matched to their arrows. Each region is a frame around its states.

use std::collections::BTreeMap;

use super::{Arrow, Graph};

/// How the region of a state is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Regions {
    Frames,
    /// The label of the state, for layouts without frames.
    Labels,
}

pub(super) fn write(graph: &Graph, regions: Regions) -> String {
    let mut text = format!("digraph {} {{\n", graph.name);
    for part in graph.parts() {
        match part.filter(|_| regions == Regions::Frames) {
            None => text += &nodes(graph, (part, regions)),
            Some(region) => {
                text += &format!("    subgraph cluster_{region} {{\n    label=\"{region}\";\n");
                text += &nodes(graph, (part, regions));
                text += "    }\n";
            }
        }
    }
    let name = |at: usize| &graph.nodes[at].name;
    let mut fans: BTreeMap<(usize, &[String]), Vec<&Arrow>> = BTreeMap::new();
    for arrow in &graph.arrows {
        let fan = (arrow.from, arrow.causes.as_slice());
        fans.entry(fan).or_default().push(arrow);
    }
    for (at, ((from, causes), arrows)) in fans.into_iter().enumerate() {
        let start = if causes.is_empty() {
            name(from).clone()
        } else {
            let (label, between) = (causes.join("\\n"), format!("by{at}"));
            let style = style(arrows[0]);
            text += &format!("    {between} [label=\"{label}\", shape=box, color=\"#bbbbbb\"];\n");
            text += &format!("    {} -> {between}{style};\n", name(from));
            between
        };
        for arrow in arrows {
            text += &format!("    {start} -> {}{};\n", name(arrow.to), style(arrow));
        }
    }
    text + "}\n"
}

/// The states of one part.
fn nodes(graph: &Graph, (part, regions): (Option<&'static str>, Regions)) -> String {
    let mut text = String::new();
    for node in graph.nodes_of(part) {
        let (name, fill) = (&node.name, node.look.fill());
        let label = match part.filter(|_| regions == Regions::Labels) {
            Some(region) => format!("{name}\\n({region})"),
            None => name.clone(),
        };
        text += &format!(
            "    {name} [label=\"{label}\", shape=box, style=filled, fillcolor=\"{fill}\"];\n"
        );
    }
    text
}

/// Returns the style of an arrow. An arrow that only the environment causes is dashed.
fn style(arrow: &Arrow) -> &'static str {
    if arrow.awaited { " [style=dashed]" } else { "" }
}
