//! A rule: its code and name, its group and severity, the time at which it runs, and its subject.
//! Knows no rule; their list is `check.rs`.

mod group;

use proc_macro2::Span;

pub use self::group::Group;
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
    /// Name of the violation that it forbids. Also the name of its file.
    pub name: &'static str,
    /// The page on which users find it.
    pub group: Group,
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
    /// While tokens are parsed and names are resolved. Its checks cover one declaration at a time,
    /// because others may have been left out.
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
    /// By a function that checks all worlds.
    Worlds(fn(&Space<'_>, &mut Sink)),
    /// By a function that checks the trajectories of a resource.
    Drives(fn(&Explored<'_>, &mut Sink)),
    /// By a function that checks the calls of a volume.
    Calls(fn(&Called<'_>, &mut Sink)),
    /// By two functions, for the trajectories of a resource and for the calls of a volume.
    Both(fn(&Explored<'_>, &mut Sink), fn(&Called<'_>, &mut Sink)),
}

/// Input of a rule.
pub struct Context<'a> {
    pub lifecycle: &'a Lifecycle,
    pub frames: Frames,
}

impl<'a> Context<'a> {
    /// Returns the context of a lifecycle, with its frames.
    pub fn new(lifecycle: &'a Lifecycle) -> Self {
        Self {
            lifecycle,
            frames: Frames::new(lifecycle),
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
