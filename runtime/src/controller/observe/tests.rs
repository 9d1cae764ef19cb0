//! Evaluation of one pass on a small lifecycle.
