//! The compiler and the built crates of the caller, for tests that compile small programs.
//!
//! Such a test calls `rustc` with the crates that cargo built for the test itself. If the test
//! called cargo, cargo would build them a second time, with other features.

use proc_macro::{Literal, TokenStream};

/// The command line that compiles a program against the crates of the caller, as an array of
/// strings `&[&str]`: the path of `rustc`, then `-L dependency=FOLDER` and `--extern NAME=FILE` for
/// each dependency. Macros run in the compiler, so these are the arguments that cargo gave to it.
///
/// Ignores its tokens. Under `cargo check` the files contain only metadata, so programs can be
/// compiled only in tests, for which cargo builds the dependencies.
#[proc_macro]
pub fn compiler(_: TokenStream) -> TokenStream {
    let mut arguments = std::env::args();
    let mut kept = vec![arguments.next().unwrap_or_else(|| "rustc".to_owned())];
    while let Some(argument) = arguments.next() {
        if argument == "-L" || argument == "--extern" {
            kept.push(argument);
            kept.extend(arguments.next());
        }
    }
    let strings: String =
        kept.iter().map(|argument| format!("{},", Literal::string(argument))).collect();
    format!("&[{strings}]").parse().unwrap_or_default()
}
