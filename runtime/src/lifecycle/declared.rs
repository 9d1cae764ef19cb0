//! Which lifecycle a type has, known to rustc: by this a promise of one lifecycle names another that keeps it.

use crate::machine::ir::Lifecycle;

/// A type whose lifecycle is declared. `By` is a type of the module where it is, so that types of other packages have one as well; where a type has
/// several, none of them is *the* one, and rustc asks which is meant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no lifecycle, so it keeps no promise",
    label = "no `lifecycle!` says `resource` and this type",
    note = "a promise is claimed by the type of an object: `follows claimed by Site in Ready: ..`"
)]
pub trait Declared<By> {
    /// What tells its lifecycle from all others.
    const PATH: &'static str;
    /// What its lifecycle declares.
    const IR: &'static Lifecycle;
}
