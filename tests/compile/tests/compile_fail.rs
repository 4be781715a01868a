//! Mistakes that the compiler finds, with the messages that it gives. `TRYBUILD=overwrite` renews
//! them.

#[test]
fn compile_fail() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile-fail/*.rs");
    cases.pass("compile-pass/*.rs");
}
