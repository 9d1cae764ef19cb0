//! What is managed: one file per resource, types and lifecycle.
