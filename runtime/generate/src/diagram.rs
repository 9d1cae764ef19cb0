//! States of a lifecycle and their transitions, as a picture. For a volume, its calls and the
//! states that they lead to.

mod dot;
mod mermaid;
mod svg;

use lifecycle_runtime::machine::ir::{Cause, Edge, Lifecycle, Phase, Target};
use thiserror::Error;

/// How a diagram is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
pub enum Format {
    /// As Markdown shows it: `stateDiagram-v2`.
    #[default]
    Mermaid,
    /// For Graphviz.
    Dot,
    /// A picture.
    Svg,
}

/// Reason why no picture can be drawn.
#[derive(Debug, Error)]
pub enum Error {
    /// The layout refuses the generated text.
    #[error("drawing {lifecycle} failed: {reason}; take another format")]
    Draw {
        /// Name of the lifecycle.
        lifecycle: &'static str,
        /// Message of the layout.
        reason: String,
    },
}

/// A lifecycle as a picture, with a newline at the end.
///
/// # Errors
/// Only of an SVG, if it cannot be laid out.
pub fn render(lifecycle: &Lifecycle, format: Format) -> Result<String, Error> {
    let graph = Graph::from_lifecycle(lifecycle);
    Ok(match format {
        Format::Mermaid => mermaid::write(&graph),
        Format::Dot => dot::write(&graph, dot::Regions::Frames),
        Format::Svg => svg::draw(&graph)?,
    })
}

/// Upper bound on named causes of a transition. Of more causes, the first ones and the number of
/// the others are shown.
const NAMED: usize = 3;

/// Graph to draw.
struct Graph {
    name: &'static str,
    nodes: Vec<Node>,
    arrows: Vec<Arrow>,
}

struct Arrow {
    from: usize,
    to: usize,
    /// Effects and promises that bring it about, by name; none of a call.
    causes: Vec<String>,
    /// True if only the environment causes the transition.
    awaited: bool,
}

struct Node {
    name: String,
    look: NodeStyle,
    /// Region that has the state.
    region: Option<&'static str>,
}

/// Category of a node, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NodeStyle {
    Moving,
    Waiting,
    Goal,
    Failed,
    Aside,
    Call,
}

impl Graph {
    fn from_lifecycle(lifecycle: &Lifecycle) -> Self {
        let mut nodes: Vec<Node> = lifecycle
            .states
            .iter()
            .map(|state| Node {
                name: state.name.to_owned(),
                look: match state.phase {
                    Phase::Ready => NodeStyle::Goal,
                    Phase::Error => NodeStyle::Failed,
                    Phase::Suspended | Phase::Ignored => NodeStyle::Aside,
                    Phase::Pending if state.wakes.is_some() => NodeStyle::Waiting,
                    Phase::Pending => NodeStyle::Moving,
                },
                region: state.region.map(|region| lifecycle.regions[region].name),
            })
            .collect();
        let edges = lifecycle.edges.iter();
        let mut arrows: Vec<Arrow> = edges
            .map(|edge| Arrow::from_edge(lifecycle, edge))
            .collect();
        for call in lifecycle.calls {
            let from = nodes.len();
            nodes.push(Node {
                name: format!("{:?}", call.rpc),
                look: NodeStyle::Call,
                region: None,
            });
            if let Target::State(to) = call.target {
                arrows.push(Arrow {
                    from,
                    to: to.0,
                    causes: Vec::new(),
                    awaited: false,
                });
            }
        }
        Self {
            name: lifecycle.name,
            nodes,
            arrows,
        }
    }

    /// Returns the parts of the lifecycle, each once: the root, and the regions by name.
    fn parts(&self) -> Vec<Option<&'static str>> {
        let mut parts = vec![None];
        for node in &self.nodes {
            if !parts.contains(&node.region) {
                parts.push(node.region);
            }
        }
        parts
    }

    /// Returns the nodes of a part.
    fn nodes_of(&self, part: Option<&'static str>) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.region == part)
    }

    /// The looks that occur, each once.
    fn styles(&self) -> Vec<NodeStyle> {
        let mut looks: Vec<NodeStyle> = self.nodes.iter().map(|node| node.look).collect();
        looks.sort_unstable();
        looks.dedup();
        looks
    }
}

impl Arrow {
    fn from_edge(lifecycle: &Lifecycle, edge: &Edge) -> Self {
        let causes = edge.causes.iter();
        let mut names: Vec<String> = causes.map(|one| name(lifecycle, *one)).collect();
        if names.len() > NAMED {
            let others = names.split_off(NAMED - 1).len();
            names.push(format!("{others} more"));
        }
        let is_ours = |cause: &Cause| matches!(cause, Cause::Effect(_) | Cause::Claim);
        Self {
            from: edge.from.0,
            to: edge.to.0,
            causes: names,
            awaited: !edge.causes.iter().any(is_ours),
        }
    }
}

/// A cause in a word or two.
fn name(lifecycle: &Lifecycle, cause: Cause) -> String {
    let input = |input: usize| lifecycle.inputs[input].name;
    match cause {
        Cause::Effect(effect) => lifecycle.effects[effect].name.to_owned(),
        Cause::Promise(promise) => lifecycle.promises[promise].name.to_owned(),
        Cause::Gone(gone) => format!("{} gone", input(gone)),
        Cause::Again(next) => format!("next of {}", input(next)),
        Cause::Answer(poll) => format!("{} answers", input(poll)),
        Cause::Claim => "finalizer".to_owned(),
    }
}

impl NodeStyle {
    /// A word for it that a style may be named by.
    const fn class_name(self) -> &'static str {
        match self {
            Self::Moving => "moving",
            Self::Waiting => "waiting",
            Self::Goal => "ready",
            Self::Failed => "error",
            Self::Aside => "aside",
            Self::Call => "call",
        }
    }

    /// Returns the fill colour of the node: pale, so that black text is readable on it.
    const fn fill(self) -> &'static str {
        match self {
            Self::Moving => "#dbe9ff",
            Self::Waiting => "#fff3c4",
            Self::Goal => "#d5f5dc",
            Self::Failed => "#ffdcdc",
            Self::Aside => "#e8e8e8",
            Self::Call => "#eadcff",
        }
    }
}
