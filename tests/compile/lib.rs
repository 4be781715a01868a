//! Mistakes that the compiler finds: sources in `compile-fail`, each with the expected messages. A
//! separate crate, because its dependencies are built a second time for them.
