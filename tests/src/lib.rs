//! The test API server and what the test suites share.
