//! Shared functions: what the messages of threads reach.
