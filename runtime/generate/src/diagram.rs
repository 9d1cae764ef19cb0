//! The states of a lifecycle and what leads from one to another, as a picture.
//! Of a volume: its calls, and the states that they lead to.

mod dot;
mod mermaid;
mod svg;

use lifecycle_runtime::machine::ir::{Lifecycle, Phase, Target};
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

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum Error {
    /// The layout refuses what we wrote.
    #[error("drawing {lifecycle} failed: {reason}; take another format")]
    Draw {
        /// Which lifecycle.
        lifecycle: &'static str,
        /// What the layout says.
        reason: String,
    },
}

/// A lifecycle as a picture, with a newline at the end.
///
/// # Errors
/// Only of an SVG, if it cannot be laid out.
pub fn of(lifecycle: &Lifecycle, format: Format) -> Result<String, Error> {
    let graph = Graph::of(lifecycle);
    Ok(match format {
        Format::Mermaid => mermaid::write(&graph),
        Format::Dot => dot::write(&graph),
        Format::Svg => svg::draw(&graph)?,
    })
}

/// What is drawn.
struct Graph {
    name: &'static str,
    nodes: Vec<Node>,
    edges: Vec<(usize, usize)>,
}

struct Node {
    name: String,
    look: Look,
}

/// What a node is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Moving,
    Waiting,
    Goal,
    Failed,
    Aside,
    Call,
}

impl Graph {
    fn of(lifecycle: &Lifecycle) -> Self {
        let mut nodes: Vec<Node> = lifecycle
            .states
            .iter()
            .map(|state| Node {
                name: state.name.to_owned(),
                look: match state.phase {
                    Phase::Ready => Look::Goal,
                    Phase::Error => Look::Failed,
                    Phase::Suspended | Phase::Ignored => Look::Aside,
                    Phase::Pending if state.wakes.is_some() => Look::Waiting,
                    Phase::Pending => Look::Moving,
                },
            })
            .collect();
        let mut edges = lifecycle.edges.to_vec();
        for call in lifecycle.calls {
            let from = nodes.len();
            nodes.push(Node {
                name: format!("{:?}", call.rpc),
                look: Look::Call,
            });
            if let Target::State(state) = call.target {
                edges.push((from, state));
            }
        }
        Self {
            name: lifecycle.name,
            nodes,
            edges,
        }
    }

    /// The looks that occur, each once.
    fn looks(&self) -> Vec<Look> {
        let mut looks: Vec<Look> = self.nodes.iter().map(|node| node.look).collect();
        looks.sort_unstable();
        looks.dedup();
        looks
    }
}

impl Look {
    /// A word for it that a style may be named by.
    const fn word(self) -> &'static str {
        match self {
            Self::Moving => "moving",
            Self::Waiting => "waiting",
            Self::Goal => "ready",
            Self::Failed => "error",
            Self::Aside => "aside",
            Self::Call => "call",
        }
    }

    /// What it is filled with: pale, so that black text can be read on it.
    const fn fill(self) -> &'static str {
        match self {
            Self::Moving => "#dbe9ff",
            Self::Waiting => "#fff3c4",
            Self::Goal => "#d5f5dc",
            Self::Failed => "#ffdcdc",
            Self::Aside => "#e8e8e8",
            Self::Call => "#ffffff",
        }
    }
}
