//! Mistakes that the compiler finds: sources in `compile-fail`, each with the expected messages.
//! They are in a separate crate, because trybuild builds the dependencies of the crate a second
//! time.
