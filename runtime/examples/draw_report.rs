//! Reports on a dump in one pass: each draw with its kernels and targets, and the rules that the
//! packets break. One rule is this program's own.
//!
//! `cargo run -p genxml --example draw_report -- DUMP [RULES.xml]`

use genxml::check::{Checker, Finding, NewRule, Rules};
use genxml::decode::{Decoder, Options, Sink, Tables, Tee};
use genxml::dump::{Dump, How};
use genxml::query::{Draw, Draws};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

#[allow(dead_code)] // the example's own program
#[path = "triangle.rs"]
mod triangle;

/// The rules of the manual and one more.
///
/// # Errors
/// If the rule is wrong.
pub fn rules() -> Result<Rules, Box<dyn Error>> {
    let mut rules = Rules::gen8();
    rules.add(&NewRule::new(
        "3DPRIMITIVE",
        "OURS-CULL",
        "[3DSTATE_RASTER.Cull Mode] != CULLMODE_NONE",
        "our driver culls back faces in every draw",
    ))?;
    Ok(rules)
}

/// Returns the report on a dump as text.
///
/// # Errors
/// If the dump cannot be decoded.
pub fn report(dump: &mut Dump, rules: &Rules) -> Result<String, Box<dyn Error>> {
    let (mut draws, mut findings) = (String::new(), String::new());
    let mut each_draw = |draw: &Draw| {
        _ = writeln!(draws, "draw {}: {} at {:#x}", draw.number, draw.name, draw.address);
        for kernel in &draw.kernels {
            let length = kernel.length.map_or("?".to_owned(), |length| length.to_string());
            _ = writeln!(draws, "  {} at {:#x}, {length} bytes", kernel.stage, kernel.address);
        }
        for target in draw.targets.iter().chain(&draw.depth).chain(&draw.stencil) {
            let format = target.format.unwrap_or("stencil");
            _ = writeln!(draws, "  {format} at {:#x}", target.address);
        }
        Ok(())
    };
    let mut each_finding = |finding: &Finding| _ = writeln!(findings, "{finding}");
    let mut list = Draws::new(&mut each_draw);
    let mut checker = Checker::new(rules, &mut each_finding);
    let mut both = Tee::new([&mut list, &mut checker]);
    // The decoder emits all state of each draw again.
    let options = Options { every_draw: true, data: false, ..Options::default() };
    Decoder::new(Tables::gen8(), options).submissions(dump, &mut both)?;
    both.finish()?;
    Ok(draws + &findings)
}

/// Reports on the dump of the first argument, or on the batch of the example `triangle`.
///
/// # Errors
/// If a file cannot be read, or if its rules or packets cannot be used.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let mut dump = match paths.next() {
        Some(path) => Dump::open(Path::new(&path), &How::default())?,
        None => Dump::from(triangle::submission()?),
    };
    let mut rules = rules()?;
    if let Some(path) = paths.next() {
        rules.read(&std::fs::read_to_string(path)?)?;
    }
    print!("{}", report(&mut dump, &rules)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the batch, whose draw does not cull. It breaks no rule of the manual.
    #[test]
    fn draws_and_findings_are_listed() {
        let mut dump = Dump::from(triangle::submission().unwrap());
        let text = report(&mut dump, &rules().unwrap()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let [draw, kernel, target, finding] = lines[..] else { panic!("{text}") };
        assert!(draw.starts_with("draw 1: 3DPRIMITIVE at 0x"), "{text}");
        assert!(kernel.starts_with("  PS at 0x") && kernel.ends_with(" bytes"), "{text}");
        assert!(target.starts_with("  R8G8B8A8_UNORM at 0x"), "{text}");
        assert!(finding.starts_with("error OURS-CULL: 3DPRIMITIVE at 0x"), "{text}");
    }
}
