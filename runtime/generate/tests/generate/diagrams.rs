//! Diagrams: each state, each transition and its cause.

use std::collections::BTreeSet;

use lifecycle_generate::{Format, diagram};
use lifecycle_runtime::machine::ir::StateId;
use lifecycle_tests::lifecycles::canary;

use crate::ALL;

/// Each line of the form `a -> b` of a diagram for Graphviz.
fn arrows(dot: &str) -> Vec<(&str, &str)> {
    let lines = dot
        .lines()
        .filter_map(|line| line.trim().split_once(" -> "));
    let end = |to: &'_ str| to.find([';', ' ']).unwrap_or(to.len());
    lines.map(|(from, to)| (from, &to[..end(to)])).collect()
}

/// An arrow names the cause of its transition.
#[test]
fn arrows_are_labelled_with_effects_and_promises() {
    let mermaid = diagram::render(canary::IR, Format::Mermaid).unwrap();
    let dot = diagram::render(canary::IR, Format::Dot).unwrap();
    for line in [
        "    Weighing --> Stopped : back\n",
        "    Settling --> Ready : settles\n",
        "    Draining --> Settling : trial gone\n",
    ] {
        assert!(mermaid.contains(line), "{line}{mermaid}");
    }
    let arrows = arrows(&dot);
    let by = |from: &str, label: &str| {
        let start = arrows.iter().filter(|(start, _)| *start == from);
        let is_labelled = |by: &&str| dot.contains(&format!("    {by} [label=\"{label}\""));
        start.map(|(_, by)| *by).find(is_labelled).unwrap()
    };
    let (ours, theirs) = (by("Weighing", "back"), by("Measuring", "measures"));
    assert!(dot.contains(&format!("    {ours} -> Stopped;\n")));
    assert!(dot.contains(&format!("    {theirs} -> Stopped [style=dashed];\n")));
}

#[test]
fn every_state_and_every_edge_is_in_each_format() {
    let mut edges = 0;
    for lifecycle in ALL {
        let mermaid = diagram::render(lifecycle, Format::Mermaid).unwrap();
        let dot = diagram::render(lifecycle, Format::Dot).unwrap();
        let svg = diagram::render(lifecycle, Format::Svg).unwrap();
        for state in lifecycle.states {
            let name = state.name;
            assert!(mermaid.contains(&format!("    {name}\n")), "{mermaid}");
            assert!(dot.contains(&format!("label=\"{name}\"")), "{dot}");
            assert!(svg.contains(&format!(">{name}<")), "{svg}");
        }
        let arrows = arrows(&dot);
        let mut drawn = BTreeSet::new();
        for (from, by) in arrows.iter().filter(|(_, by)| by.starts_with("by")) {
            let on = arrows.iter().filter(|(start, _)| start == by);
            drawn.extend(on.map(|(_, to)| (*from, *to)));
        }
        let name = |state: StateId| lifecycle.states[state].name;
        let declared = lifecycle.edges.iter();
        let declared = declared.map(|edge| (name(edge.from), name(edge.to)));
        assert_eq!(drawn, declared.collect(), "{}", lifecycle.name);
        for (from, to) in &drawn {
            assert!(mermaid.contains(&format!("    {from} --> {to} : ")));
        }
        // An arrow that leads back up is drawn from its end, with the head at its start.
        let heads = svg.matches("url(#endarrow)").count() + svg.matches("url(#startarrow)").count();
        assert_eq!(heads, arrows.len(), "{}", lifecycle.name);
        edges += drawn.len();
    }
    assert!(edges > 50, "{edges}");
}

#[test]
fn a_picture_is_the_same_each_time() {
    for lifecycle in ALL {
        let once = diagram::render(lifecycle, Format::Svg).unwrap();
        for _ in 0..10 {
            assert_eq!(diagram::render(lifecycle, Format::Svg).unwrap(), once);
        }
    }
}
