//! Generates `gen8` from the EU's part of the specification.

fn main() {
    genxml_codegen::parts::build_script(genxml_codegen::parts::Part::Eu, "../../spec-xml/gen8");
}
