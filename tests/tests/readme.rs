//! Texts of the README that repeat something of the workspace.

use genx::new::{Source, manifest};

/// Oracle: the project that `genx new` writes; `starter.rs` builds it.
#[test]
fn lines_for_a_project_are_those_that_the_command_writes() {
    let readme = std::fs::read_to_string("../README.md").unwrap();
    let section = readme.split("## Use it in a project").nth(1).unwrap();
    let lines =
        section.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let written = manifest("first", &Source::Path("../genxml".into()));
    assert!(lines.starts_with("[dependencies]"), "{lines}");
    assert!(written.contains(lines), "{lines}\nis not in\n{written}");
}
