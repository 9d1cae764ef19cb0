//! Reports the writes that an operator would make in a live cluster, object by object and field by
//! field, before it runs there. The operator itself runs against a copy of the objects that it
//! reads. The live cluster only receives get and list requests, unless its own verdict is requested
//! (`--dry-run=server`).
//!
//! A program that offers it flattens [`Plan`] into its command line. It then calls [`run`] with a
//! function that starts its operator.

mod args;
mod changes;
mod differences;
mod dry_run;
mod error;
mod missing;
mod observer;
mod planned;
mod restarts;
mod still;
mod text;
mod watched;

pub use args::{Plan, Verdict, run};
pub use dry_run::DryRun;
pub use error::Error;
pub use missing::{Missing, Taken};
pub use planned::{Action, Change, Field, ObjectState, Planned, Restart, Server};
pub use still::Still;
pub use text::{text, whole_text};
pub use watched::{Operator, plan};
