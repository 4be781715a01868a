//! A reference model of the Broadwell GPU.
