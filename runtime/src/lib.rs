//! Typed packets of Intel Broadwell graphics: build batches, decode dumps.
