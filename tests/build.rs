//! Generates the code of the toy specification and of one in Mesa's schema. Writes lists of every
//! generated container for the property tests and a benchmark.

use genxml_codegen::parts::Part;
use genxml_codegen::{Report, build, emit, load_files};
use std::path::{Path, PathBuf};

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(report) = run(&out) {
        eprintln!("{report}");
        std::process::exit(1);
    }
}

fn run(out: &Path) -> Result<(), Report> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let toy = [here.join("toy/toy.xml")];
    build(&toy, &|_| true, &out.join("toy"))?;
    // A specification in Mesa's schema, with an import: shows that its code compiles.
    build(&[here.join("../codegen/tests/foreign/new/gen80.xml")], &|_| true, &out.join("foreign"))?;
    let spec = here.join("../spec-xml/gen8");
    println!("cargo:rerun-if-changed={}", spec.display());
    let (runtime, eu) = (Part::Runtime.files(&spec), Part::Eu.files(&spec));
    runtime
        .iter()
        .chain(&eu)
        .for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
    let list = |name: &str, files: &[PathBuf], module: &str| -> Result<(), Report> {
        let text = emit::round_trips(&load_files(files)?, module);
        genxml_codegen::write(&[(format!("round_trips_{name}.rs"), text)], out)
    };
    list("runtime", &runtime, "genxml::gen8")?;
    list("eu", &eu, "genxml_eu::gen8")?;
    list("toy", &toy, "crate::toy")?;
    let spec = here.join("../spec-xml/gen45");
    println!("cargo:rerun-if-changed={}", spec.display());
    let gen45 = Part::Whole.files(&spec);
    gen45.iter().for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
    list("gen45", &gen45, "genxml::gen45")?;
    let text = emit::one_of_each(&load_files(&runtime)?, "genxml::gen8");
    genxml_codegen::write(&[("one_of_each.rs".to_owned(), text)], out)
}
