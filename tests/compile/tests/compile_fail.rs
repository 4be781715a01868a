//! Mistakes that the compiler finds, with its messages. `TRYBUILD=overwrite` updates them.

#[test]
fn compile_fail() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile-fail/*.rs");
    cases.pass("compile-pass/*.rs");
}
