//! The only path that generated code may use. Nothing here is for people; it may change in any release.

pub use crate::lifecycle::board::{Board, Look};
pub use crate::lifecycle::builtin::{Named, Owned, OwnedSet, Part, Polled, Shared, Watched};
pub use crate::lifecycle::call::{
    CallError, Called, Calling, Once, Outcome, Polling, calling, polling,
};
pub use crate::lifecycle::object::{Kind, Stored};
pub use crate::lifecycle::text::Text;
pub use crate::lifecycle::{Answer, Because, Built, Desired, Machine, ObjectRef, This};
pub use crate::machine::ir;
pub use crate::machine::world::World;
pub use serde_json::Value as Json;
