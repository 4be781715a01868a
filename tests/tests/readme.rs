//! Texts of the README that repeat something of the workspace.

/// The blocks that set the profile of a package, in order.
fn profiles(text: &str) -> Vec<&str> {
    let starts = text.match_indices("[profile.dev.package.").map(|(start, _)| start);
    starts.map(|start| text[start..].split("\n\n").next().unwrap_or_default()).collect()
}

/// Oracle: Cargo.toml. A user's crate needs the profiles of all packages that it builds.
#[test]
fn profiles_of_a_users_crate_are_those_of_the_workspace() {
    let workspace = std::fs::read_to_string("../Cargo.toml").unwrap();
    let readme = std::fs::read_to_string("../README.md").unwrap();
    let section = readme.split("## Use it in a project").nth(1).unwrap();
    let section = section.split("```").nth(1).unwrap().trim_end();
    let mut own = profiles(&workspace);
    own.iter_mut().for_each(|block| *block = block.split("\n#").next().unwrap_or(block).trim_end());
    assert!(own.len() > 5, "{own:?}");
    assert_eq!(profiles(section), own);
}
