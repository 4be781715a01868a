//! Execution units: threads, decoded kernels, operations.
