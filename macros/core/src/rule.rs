//! A rule: its code and name, whether it stops the build, when it runs, and what it looks at. Knows no rule; their list is `check.rs`.

use proc_macro2::Span;

pub use crate::errors::Severity;
use crate::errors::{Diagnostic, Sink};
use crate::model::Lifecycle;
use crate::model::frames::Frames;
use crate::space::Space;
use crate::space::calls::Called;
use crate::space::explored::Explored;

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Stable: users search for it.
    pub code: &'static str,
    /// What it forbids; also the name of its file.
    pub name: &'static str,
    /// An error stops the build; `allow` silences a warning.
    pub severity: Severity,
    /// When it runs.
    pub stage: Stage,
    /// How it is found to be broken.
    pub run: Run,
}

/// When a rule runs: a stage runs only if the stages before it found no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// While tokens are parsed and names are resolved. Its checks look at one declaration at a time, for others may have been left out.
    Names,
    /// On declarations that all resolved.
    Declaration,
    /// On all worlds.
    World,
    /// On the moves between worlds.
    Graph,
}

/// How a rule is found to be broken.
#[derive(Clone, Copy)]
pub enum Run {
    /// By the parser or the resolver themselves.
    Built,
    /// By a function that reports all violations.
    Check(fn(&Context<'_>, &mut Sink)),
    /// By a function that looks at all worlds.
    Worlds(fn(&Space<'_>, &mut Sink)),
    /// By a function that looks at the drives of a resource.
    Drives(fn(&Explored<'_>, &mut Sink)),
    /// By a function that looks at the calls of a volume.
    Calls(fn(&Called<'_>, &mut Sink)),
    /// By two functions, for the drives of a resource and for the calls of a volume.
    Both(fn(&Explored<'_>, &mut Sink), fn(&Called<'_>, &mut Sink)),
}

/// What a rule may look at.
pub struct Context<'a> {
    pub lifecycle: &'a Lifecycle,
    pub frames: Frames,
}

impl<'a> Context<'a> {
    /// A lifecycle with what reads what.
    pub fn of(lifecycle: &'a Lifecycle) -> Self {
        Self {
            lifecycle,
            frames: Frames::of(lifecycle),
        }
    }
}

impl Rule {
    /// A violation; `item` is the named thing that is guilty.
    pub fn finding(
        &self,
        span: Span,
        item: impl Into<String>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new((self.code, self.severity), span, item, message)
    }
}
