//! Single fields: ranges, bits that must be zero or one, reserved bits, values without a name.

use super::draws::{kernel, sampler};
use super::{findings, packet};
use genxml::check::{self, Finding, Level, Rules};
use genxml::core::bits;
use genxml::core::rule::Severity;
use genxml::engine::EngineId;

/// The findings about single fields: rule, severity, container, field with value.
fn told(found: &[Finding]) -> Vec<(&'static str, Severity, &'static str, String)> {
    found
        .iter()
        .filter(|finding| finding.issue.is_some())
        .map(|finding| {
            let [operand] = &finding.operands[..] else { panic!("{finding:?}") };
            (finding.rule.id, finding.severity, finding.container.name, operand.to_string())
        })
        .collect()
}

fn of(name: &str, fields: &[(&str, u64)]) -> Vec<(&'static str, Severity, &'static str, String)> {
    told(&findings(EngineId::Render, &[packet(name, fields)]))
}

/// Oracle: ranges, MBZ and values as the manual prints them (pages in the packets' descriptions).
#[test]
fn every_kind_of_issue_is_a_finding() {
    use Severity::{Error, Warning};
    // The range of Per Thread Scratch Space is 0 to 11 (2a p.512).
    let vfe = |fields: &[(&str, u64)]| {
        let plain = [("Number of URB Entries", 1), ("URB Entry Allocation Size", 1)];
        of("MEDIA_VFE_STATE", &[&plain, fields].concat())
    };
    assert_eq!(vfe(&[]), []);
    let wrong = vfe(&[("Per Thread Scratch Space", 12)]);
    assert_eq!(
        wrong,
        [("FIELD-RANGE", Error, "MEDIA_VFE_STATE", "[Per Thread Scratch Space] = 12 (0xc)".into())]
    );

    // Bits 5:1 of dword 1 are MBZ (2a p.30).
    let mut pointers = packet("3DSTATE_BLEND_STATE_POINTERS", &[]);
    pointers[1] |= 1 << 3;
    let wrong = told(&findings(EngineId::Render, &[pointers]));
    let field = "[Reserved dw1 5:1] = 4".to_owned();
    assert_eq!(wrong, [("FIELD-MBZ", Error, "3DSTATE_BLEND_STATE_POINTERS", field)]);

    // Reserved bits of MI_BATCH_BUFFER_END.
    let mut end = packet("MI_BATCH_BUFFER_END", &[]);
    end[0] |= 1;
    let wrong = told(&findings(EngineId::Render, &[end]));
    assert_eq!((wrong[0].0, wrong[0].1), ("FIELD-RESERVED", Warning), "{wrong:?}");

    // 3 is a constant source, but 31 is not a topology (2b p.5).
    let swizzle = of("3DSTATE_SBE_SWIZ", &[("Attribute/2/Attribute/Constant Source", 3)]);
    assert!(swizzle.is_empty(), "{swizzle:?}");
    let topology = of("3DSTATE_VF_TOPOLOGY", &[("Primitive Topology Type", 0x1f)]);
    let field = "[Primitive Topology Type] = 31 (0x1f)".to_owned();
    assert_eq!(topology, [("FIELD-VALUE", Warning, "3DSTATE_VF_TOPOLOGY", field)]);
}

#[test]
fn they_count_and_are_left_out_like_other_rules() {
    let mut pointers = packet("3DSTATE_BLEND_STATE_POINTERS", &[]);
    pointers[1] |= 1 << 3;
    let run = |set: &dyn Fn(&mut Rules)| {
        let mut rules = Rules::gen8();
        set(&mut rules);
        let summary = check::raw(EngineId::Render, 0, &pointers, &rules, &mut |_| ());
        (summary.errors, summary.warnings)
    };
    assert_eq!(run(&|_| ()), (1, 0));
    assert_eq!(run(&|rules| rules.set("FIELD-MBZ", Level::Warn).unwrap()), (0, 1));
    assert_eq!(run(&|rules| rules.set("FIELD-*", Level::Allow).unwrap()), (0, 0));
    assert!(Rules::gen8().set("FIELD-NONSENSE", Level::Allow).is_err());
    let found = findings(EngineId::Render, &[pointers.clone()]);
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.required(), "[Reserved dw1 5:1] == 0");
    assert_eq!(finding.source(), "2a p.30-31");
    assert!(finding.to_string().ends_with(": [Reserved dw1 5:1] = 4"), "{finding}");
}

/// The sampler returns 16 registers at most, and bits 30:29 of its descriptor are MBZ (2d p.257).
#[test]
fn messages_of_kernels_are_looked_at() {
    let found = |(function, descriptor): (u32, u32)| {
        let words = kernel(&[(function, descriptor)]);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut found = Vec::new();
        check::kernel(0x4000, &bytes, &Rules::gen8(), &mut |finding| found.push(finding.clone()));
        found
    };
    assert!(found(sampler(0, 0, 1)).is_empty());
    let (function, mut descriptor) = sampler(0, 0, 1);
    bits::put(std::slice::from_mut(&mut descriptor), 29, 30, 1);
    let wrong = found((function, descriptor));
    let field = "[Sampler Message.Reserved dw3 30:29] = 1".to_owned();
    let name = "Message Descriptor - Sampling Engine";
    assert_eq!(told(&wrong), [("FIELD-MBZ", Severity::Error, name, field)]);
    assert_eq!(wrong[0].instruction.as_ref().unwrap().kernel, 0x4000);
    // If a rule reports the same field, the field check does not report it again.
    let (function, mut descriptor) = sampler(0, 0, 1);
    bits::put(std::slice::from_mut(&mut descriptor), 20, 24, 31);
    let wrong = found((function, descriptor));
    let ids: Vec<&str> = wrong.iter().map(|finding| finding.rule.id).collect();
    // EU-SEND-REPLY is found too, because the send has a reply but its destination is null.
    assert_eq!(ids, ["MSG-RESPONSE", "EU-SEND-REPLY"]);
}
