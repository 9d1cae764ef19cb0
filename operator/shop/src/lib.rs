//! The operator of Shops: what one is, its lifecycle, and what only its author can know. A library, so that tests run the same code.

pub mod lifecycle;
pub mod logic;
