//! Small pictures.
