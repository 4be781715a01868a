//! The contract of `genx eu`.

mod common;

use common::{finish, genx};

/// Oracle: the page of add (2a): syntax, modifiers and the rows of its type table.
#[test]
fn ops_show_a_page() {
    let (code, out, _) = finish(genx(["eu", "ops", "add"]));
    assert_eq!(code, 0);
    for line in [
        "add (0x40): addition",
        "syntax        [(pred)] add[.cmod][.sat] (exec_size) dst src0 src1",
        "modifiers     predicate, condition, saturate, source",
        "df <- df",
    ] {
        assert!(out.contains(line), "{line} not in {out}");
    }
    let (code, all, _) = finish(genx(["eu", "ops"]));
    assert_eq!(code, 0);
    assert!(all.lines().count() > 60, "{all}");
    let (code, json, _) = finish(genx(["eu", "ops", "math", "--json"]));
    assert_eq!(code, 0);
    let math: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(math["code"], 0x38);
    let functions = math["functions"].as_array().unwrap();
    assert!(functions.iter().any(|function| function["name"] == "pow"), "{json}");
}

#[test]
fn ops_hint_at_slips() {
    let (code, _, err) = finish(genx(["eu", "ops", "mull"]));
    assert_eq!(code, 2);
    assert!(err.contains("did you mean `mul`?"), "{err}");
}
