//! Runs lifecycles against a Kubernetes API server.
