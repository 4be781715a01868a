//! Mistakes that the compiler finds: sources in `compile-fail`, each with the messages that it
//! gives. A crate of its own, because its dependencies are built a second time for them.
