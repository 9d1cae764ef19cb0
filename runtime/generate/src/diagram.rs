//! The states of a lifecycle and what leads from one to another, as a picture.
//! Of a volume: its calls, and the states that they lead to.

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

/// So many causes of a transition are named; of more the first ones, and how many there are besides.
const NAMED: usize = 3;

/// What is drawn.
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
    /// Only the world outside brings it about.
    awaited: bool,
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
        let edges = lifecycle.edges.iter();
        let mut arrows: Vec<Arrow> = edges.map(|edge| Arrow::of(lifecycle, edge)).collect();
        for call in lifecycle.calls {
            let from = nodes.len();
            nodes.push(Node {
                name: format!("{:?}", call.rpc),
                look: Look::Call,
            });
            if let Target::State(to) = call.target {
                arrows.push(Arrow {
                    from,
                    to,
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

    /// The looks that occur, each once.
    fn looks(&self) -> Vec<Look> {
        let mut looks: Vec<Look> = self.nodes.iter().map(|node| node.look).collect();
        looks.sort_unstable();
        looks.dedup();
        looks
    }
}

impl Arrow {
    fn of(lifecycle: &Lifecycle, edge: &Edge) -> Self {
        let causes = edge.causes.iter();
        let mut names: Vec<String> = causes.map(|one| name(lifecycle, *one)).collect();
        if names.len() > NAMED {
            let others = names.split_off(NAMED - 1).len();
            names.push(format!("{others} more"));
        }
        let is_ours = |cause: &Cause| matches!(cause, Cause::Effect(_) | Cause::Claim);
        Self {
            from: edge.from,
            to: edge.to,
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
            Self::Call => "#eadcff",
        }
    }
}
