//! Says what an operator would write into a live cluster, object by object and field by field, before it runs there. The operator itself runs, against a
//! copy of what it looks at; the live cluster is asked by get and list alone, unless its own opinion is wanted (`--dry-run=server`).
//!
//! A program that offers it flattens [`Plan`] into its command line and calls [`run`] with what starts its operator.

#![deny(missing_docs)]

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

pub use args::{Output, Plan, Verdict, run};
pub use dry_run::DryRun;
pub use error::Error;
pub use missing::{Missing, Taken};
pub use planned::{Action, Change, Field, Planned, Restart, Server, Standing};
pub use still::Still;
pub use text::{text, whole_text};
pub use watched::{Operator, plan};
