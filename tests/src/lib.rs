//! End-to-end tests of the workspace.
