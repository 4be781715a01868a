//! Generates `gen45` from the specification.

fn main() {
    genxml_codegen::parts::build_script(genxml_codegen::parts::Part::Whole, "../../spec-xml/gen45");
}
