//! The operator of Shops: their definition, their lifecycle, and the decisions that only their
//! author can make. A library, so that tests run the same code.

pub mod lifecycle;
pub mod logic;
