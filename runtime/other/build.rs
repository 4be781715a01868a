//! Generates the tables from `spec-xml/other`.

fn main() {
    genxml_codegen::parts::build_script(
        genxml_codegen::parts::Part::Runtime,
        "../../spec-xml/other",
    );
}
