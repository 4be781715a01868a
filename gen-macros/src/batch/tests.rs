//! Tests of `batch`.

use super::*;

fn error(input: &str) -> String {
    let tokens = input.parse().expect("tokens");
    expand(tokens).map_or_else(|error| error.to_string(), |tokens| format!("expands to {tokens}"))
}

#[test]
fn errors() {
    for (input, message) in [
        ("", "expected a batch and packets: `batch! { batch => Type { field: value, .. }; }`"),
        ("A { .. }", "expected `=>` after the batch: `batch! { batch => Type { .. }; }`"),
        ("batch =>", "expected at least one packet"),
        ("batch => let x = 3;", "expected at least one packet"),
        ("batch => A { .. } B { .. }", "expected `;` after the packet"),
        ("batch => while x { }", "expected a packet, `let`, `if`, `for`, or plain Rust in braces"),
    ] {
        assert_eq!(error(input), message, "{input}");
    }
}

/// An expression with side effects appears once in the expansion.
#[test]
fn batches() {
    for (batch, count) in [
        ("frame", 2),
        ("self.frame", 2),
        ("frame[i]", 2),
        ("(frame)", 2),
        ("*frame", 2),
        ("&mut frame", 2),
        ("frame()", 1),
        ("self.frame().b", 1),
        ("frame[f()]", 1),
        ("*frame()", 1),
        ("{ frame }", 1),
    ] {
        let text = error(&format!("{batch} => A {{ x: 1 }}; C {{ x: 1 }};"));
        let batch: TokenStream = batch.parse().expect("tokens");
        assert_eq!(text.matches(&batch.to_string()).count(), count, "{text}");
    }
}

/// Statements that are not packets stay as they are.
#[test]
fn statements() {
    let input = "b => let n = f(); if a { A { .. } } else if let Some(x) = y { x; } else { { z += 1; } } for i in &v { &i; }";
    let text = error(input);
    for part in [
        "let n = f () ;",
        "if a {",
        "else if let Some (x) = y {",
        "b . emit (& x)",
        "else { { z += 1 ; } }",
        "for i in & v {",
        "b . emit (& i)",
        "b . emit (& A { .. {",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
