//! What several lifecycles share, and where it stands in each of them.

use proc_macro2::{Ident, TokenStream};

use super::{Domain, Lifecycle};

/// One `fragment!` block.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// As the lifecycle calls it that uses it; as it calls itself where it stands alone.
    pub used: Ident,
    /// What it declares, under its own name.
    pub part: Lifecycle,
    /// What the lifecycle has to declare.
    pub needs: Vec<Need>,
    /// Where it was written.
    pub tokens: TokenStream,
}

/// `name: { A, B };`: a fact of the lifecycle that the fragment asks.
#[derive(Clone, Debug)]
pub struct Need {
    pub name: Ident,
    pub domain: Domain,
}

/// `use fragment;` or `use fragment::{A, B};` in a list where order counts.
#[derive(Clone, Debug)]
pub struct Mark {
    pub list: List,
    /// How many items of the lifecycle itself stand above.
    pub at: usize,
    pub fragment: Ident,
    /// The items that stand there; without them all.
    pub names: Option<Vec<Ident>>,
}

/// A list where order counts.
#[derive(Clone, Debug)]
pub enum List {
    States,
    /// The clauses of the condition at this position.
    Condition(usize),
}
