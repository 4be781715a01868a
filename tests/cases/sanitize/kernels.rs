//! Kernels that tests of sanitizers put together from text.

use genxml::eu::asm::{Options, assemble};
use genxml::eu::syntax::Syntax;
use std::collections::BTreeMap;

/// The end of a compute thread.
pub const END: &str = "
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
";

/// The kernel of a text, and the offsets of its labels.
#[track_caller]
pub fn kernel(text: &str) -> (Vec<u32>, BTreeMap<String, u32>) {
    let assembly = assemble(text, Syntax::Iga, &Options::default())
        .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let labels = assembly.labels.iter().map(|(name, at)| (name.clone(), *at as u32)).collect();
    (assembly.dwords(), labels)
}
