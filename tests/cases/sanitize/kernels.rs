//! Kernels that tests of sanitizers put together from text.

use genxml::eu::asm::{Options, assemble};
use genxml::eu::syntax::Syntax;
use genxml_cases::KERNELS;
use genxml_sim::inspect::sanitize::Finding;
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

/// Checks that there is one finding, that it has this rule, and that its later side is the
/// instruction of the text with this label.
#[track_caller]
pub fn only(findings: &[Finding], text: &str, rule: &str, label: &str) -> Finding {
    let (_, labels) = kernel(text);
    let [finding] = findings else { panic!("{findings:?}\n{text}") };
    let thread = finding.second.at.thread.expect("an instruction");
    assert_eq!(
        (finding.rule.id, thread.kernel, thread.ip),
        (rule, KERNELS, labels[label]),
        "{finding}\n{text}"
    );
    finding.clone()
}
