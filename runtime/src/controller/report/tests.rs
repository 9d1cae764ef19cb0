//! Statuses of one pass.
