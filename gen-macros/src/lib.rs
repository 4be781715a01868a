//! Procedural macros of genxml.
