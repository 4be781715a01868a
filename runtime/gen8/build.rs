//! Generates `gen8` from all of the specification but the EU's part, which genxml-eu has.

fn main() {
    genxml_codegen::parts::build_script(
        genxml_codegen::parts::Part::Runtime,
        "../../spec-xml/gen8",
    );
}
