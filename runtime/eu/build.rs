//! Generates `gen8` from the EU's part of the specification, and `gen45` from the compaction of
//! G45.

use genxml_codegen::parts::{Part, build_module, build_script};

fn main() {
    build_script(Part::Eu, "../../spec-xml/gen8");
    build_module(Part::Files(&["eu_compaction"]), "../../spec-xml/gen45", "gen45", true);
}
