//! Lifecycle of a type, known to rustc. A promise of one lifecycle names another lifecycle that
//! keeps it through this trait.

use crate::machine::ir::Lifecycle;

/// Type with a declared lifecycle. `By` is a type of its module, so that types of other packages
/// can have one as well. If a type has several, none is the default, and rustc requires a choice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no lifecycle, so it keeps no promise",
    label = "no `lifecycle!` declares `resource` with this type",
    note = "a promise is claimed by the type of an object: `follows claimed by Site in Ready: ..`"
)]
pub trait Declared<By> {
    /// Path that distinguishes its lifecycle from all others.
    const PATH: &'static str;
    /// IR of the lifecycle.
    const IR: &'static Lifecycle;
}
