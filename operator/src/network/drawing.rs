//! A network as text, in Graphviz's language, and as a picture. Pure.

use std::fmt::Write as _;

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};

use super::map::{Edge, Ends, Map, Node, READY};

/// As many routing keys of a site are drawn in a picture; text has all.
const MOST_KEYS: usize = 8;
const FINE: &str = "#d5f5dc";
const BAD: &str = "#ffdcdc";
const FOREIGN: &str = "#e8e8e8";

/// For people: each site with its links and its routing keys.
pub(super) fn text(map: &Map) -> String {
    let (sites, links) = (map.sites.len(), map.links.len());
    let down = map.links.values().filter(|link| !link.up).count();
    let mut text = format!(
        "{}, {}{}\n",
        counted(sites, "site"),
        counted(links, "link"),
        match down {
            0 => String::new(),
            down => format!(", {down} of them down"),
        }
    );
    for (id, node) in by_name(map) {
        let status = node
            .status
            .as_deref()
            .unwrap_or("its own status was not read");
        let place = match node.place.is_empty() {
            true => String::new(),
            false => format!(" ({})", node.place.join(", ")),
        };
        line(&mut text, &format!("\n{}{place}: {status}", node.name));
        for ((_, name), link) in map.links.iter().filter(|((from, _), _)| from == id) {
            line(&mut text, &format!("  link {name} -> {}", described(link)));
        }
        for (key, ends) in &node.keys {
            let mut ends = served(ends);
            if !map.is_served(key) {
                ends += "; no connector in the network";
            }
            line(&mut text, &format!("  key {key}: {ends}"));
        }
    }
    text
}

fn by_name(map: &Map) -> Vec<(&String, &Node)> {
    let mut sites: Vec<_> = map.sites.iter().collect();
    sites.sort_by_key(|(id, node)| (&node.name, *id));
    sites
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

fn described(link: &Edge) -> String {
    let mut text = link.target.clone();
    if let Some(cost) = link.cost {
        let _whole = write!(text, ", cost {cost}");
    }
    text += if link.up { ", up" } else { ", down" };
    if let Some(message) = &link.message {
        let _whole = write!(text, ": {message}");
    }
    text
}

fn served(ends: &Ends) -> String {
    let part = |names: &[String], word: &str| match names {
        [] => None,
        names => Some(format!("{word} {}", names.join(", "))),
    };
    let parts = [
        part(&ends.connectors, "connectors to"),
        part(&ends.listeners, "listeners"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "nothing".to_owned(),
        false => parts.join("; "),
    }
}

/// In Graphviz's language.
pub(super) fn dot(map: &Map) -> String {
    let mut text = "digraph network {\n    rankdir=LR;\n".to_owned();
    let sites = by_name(map);
    let number = |id: &String| sites.iter().position(|(site, _)| *site == id);
    for (at, (_, node)) in sites.iter().enumerate() {
        let fill = match node.status.as_deref() {
            Some(READY) => FINE,
            Some(_) => BAD,
            None => FOREIGN,
        };
        let label = label(node).join("\\n");
        let _whole = writeln!(
            text,
            "    site{at} [label=\"{label}\", shape=box, style=filled, fillcolor=\"{fill}\"];"
        );
    }
    for (at, ((from, name), link)) in map.links.iter().enumerate() {
        let Some(from) = number(from) else {
            continue;
        };
        let to = match link.to.as_ref().and_then(number) {
            Some(to) => format!("site{to}"),
            None => {
                let target = quoted(&link.target);
                let _whole = writeln!(
                    text,
                    "    other{at} [label=\"{target}\", shape=box, style=filled, fillcolor=\"{FOREIGN}\"];"
                );
                format!("other{at}")
            }
        };
        let cost = link.cost.map(|cost| format!(", cost {cost}"));
        let label = format!("{}{}", quoted(name), cost.unwrap_or_default());
        let look = match link.up {
            true => String::new(),
            false => ", style=dashed, color=\"red\"".to_owned(),
        };
        let label = match link.up {
            true => label,
            false => label + ", down",
        };
        let _whole = writeln!(text, "    site{from} -> {to} [label=\"{label}\"{look}];");
    }
    text + "}\n"
}

/// The lines in the box of a site.
fn label(node: &Node) -> Vec<String> {
    let mut lines = vec![quoted(&node.name)];
    if !node.place.is_empty() {
        lines.push(quoted(&node.place.join(", ")));
    }
    for (key, ends) in node.keys.iter().take(MOST_KEYS) {
        let count = |number: usize, what: &str| (number > 0).then(|| counted(number, what));
        let counts = [
            count(ends.connectors.len(), "connector"),
            count(ends.listeners.len(), "listener"),
        ];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        lines.push(format!("{}: {}", quoted(key), counts.join(", ")));
    }
    if let Some(more) = node.keys.len().checked_sub(MOST_KEYS).filter(|n| *n > 0) {
        lines.push(format!("and {}", counted(more, "more key")));
    }
    lines
}

/// A text between the quotes of Graphviz's language.
fn quoted(text: &str) -> String {
    text.replace('\\', "/").replace('"', "'")
}

/// A picture.
///
/// # Errors
/// The layout refuses it, and why.
pub(super) fn svg(map: &Map) -> Result<String, String> {
    let written = dot(map);
    let mut parser = DotParser::new(&written);
    let refused = |why| format!("the network cannot be drawn: {why}; take another --output");
    let read = parser.process().map_err(refused)?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&read);
    let mut drawn = SVGWriter::new();
    builder.get().do_it(false, false, false, &mut drawn);
    Ok(drawn.finalize().trim_end().to_owned() + "\n")
}

#[cfg(test)]
mod tests {
    use super::super::map::tests::example;
    use super::*;

    #[test]
    fn text_has_all_that_is_known() {
        let expected = "2 sites, 2 links, 1 of them down\n\
            \neast (default, linux): Ready\n\
            \x20 link to-nobody -> 10.9.9.9:55671, cost 1, down: Error: Not operational: no answer\n\
            \x20 link to-west -> west, cost 7, up\n\
            \x20 key shop: listeners shop\n\
            \nwest (west, kubernetes): its own status was not read\n\
            \x20 key shop: connectors to 10.0.0.1\n";
        assert_eq!(text(&example()), expected);
        let mut alone = example();
        alone.sites.retain(|_, node| node.name == "east");
        let said = "  key shop: listeners shop; no connector in the network\n";
        assert!(text(&alone).ends_with(said), "{}", text(&alone));
    }

    #[test]
    fn a_picture_has_each_site_and_each_link() {
        let drawn = svg(&example()).expect("it can be drawn");
        for part in [
            "<svg",
            "east",
            "west",
            "to-west, cost 7",
            "down",
            "10.9.9.9",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
    }

    #[test]
    fn no_name_breaks_a_picture() {
        let mut map = example();
        let evil = "a\"];} <script>&\\n\\";
        for node in map.sites.values_mut() {
            node.name = evil.to_owned();
            node.keys = (0..20)
                .map(|n| (format!("{evil}{n}"), Ends::default()))
                .collect();
        }
        let drawn = svg(&map).expect("it can be drawn");
        assert!(!drawn.contains("<script>"), "{drawn}");
        assert!(drawn.contains("and 12 more keys"), "{drawn}");
    }
}
