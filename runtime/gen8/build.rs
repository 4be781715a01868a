//! Generates `gen8` from the specification, except for the execution units, which are in genxml-eu.

fn main() {
    genxml_codegen::parts::build_script(
        genxml_codegen::parts::Part::Runtime,
        "../../spec-xml/gen8",
    );
}
