//! Generates the tables from `spec-xml/other`, and those of the commands of the streamer of Gen4.

use genxml_codegen::parts::{Part, build_module, build_script};

fn main() {
    build_script(Part::Runtime, "../../spec-xml/other");
    build_module(Part::Files(&["commands_mi"]), "../../spec-xml/gen45", "gen4", false);
}
