//! Rules of instructions and of the messages that they send.

use super::search::{distance, own, replace};
use super::{make, packet};
use genxml::check::{self, Finding, Level, Rules, Summary};
use genxml::core::bits;
use genxml::core::reflect::{Container, Type};
use genxml::core::rule::{Cond, Frame, Rule, Severity};
use genxml::decode::Tables;
use genxml::engine::EngineId;
use genxml::eu::asm::assemble;
use genxml::eu::ops::{Format, OPS};
use genxml::eu::syntax::Syntax;
use genxml::eu::{gen8, native};
use genxml_testkit::{Random, corpus};
use std::collections::{BTreeMap, BTreeSet};

/// The container with this name, from the tables of instructions and messages.
fn container(name: &str) -> &'static Container {
    gen8::CONTAINERS
        .iter()
        .find(|container| container.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// Sets a field, by its path through structures and views.
fn set(words: &mut [u32], root: &'static Container, path: &str, value: u64) {
    let (start, end) =
        place(root, 0, path).unwrap_or_else(|| panic!("{} has no {path}", root.name));
    replace(words, start, end, value);
}

fn place(container: &'static Container, base: u32, path: &str) -> Option<(u32, u32)> {
    let fields =
        container.fields.iter().map(|field| (field.name, field.start, field.end, field.ty));
    let views = container.views.iter().map(|view| (view.name, view.start, view.end, view.ty));
    fields.chain(views).find_map(|(name, start, end, ty)| match (path.strip_prefix(name)?, ty) {
        ("", _) => Some((base + start, base + end)),
        (rest, Type::Struct(inner)) => place(inner, base + start, rest.strip_prefix('/')?),
        _ => None,
    })
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn findings(words: &[u32], rules: &Rules) -> Vec<Finding> {
    let mut found = Vec::new();
    check::kernel(0x4000, &bytes(words), rules, &mut |finding| found.push(finding.clone()));
    found
}

/// The rules of the specification only. The rules of the instruction validator are left out.
fn specified() -> Rules {
    Rules::new(Tables::gen8(), genxml::gen8::CONTAINERS, genxml::gen8::LASTS, gen8::CONTAINERS)
}

/// A plain instruction for each opcode: operands are general registers or null, and messages have
/// one register and request nothing.
fn plain() -> Vec<(&'static Container, [u32; 4])> {
    let mut all = Vec::new();
    for op in OPS {
        let root = native::container(op.opcode);
        let mut words = [0; 4];
        replace(&mut words, 0, 6, op.code.into());
        let controls = match op.format {
            Format::Math | Format::Send => "Operand Control",
            _ => "Operand Controls",
        };
        if !matches!(op.format, Format::Bare | Format::ThreeSource) {
            set(&mut words, root, &format!("{controls}/Destination Register File"), 1);
            set(&mut words, root, &format!("{controls}/Src0.RegFile"), 1);
        }
        match op.format {
            Format::Send => {
                set(&mut words, root, "Src1.RegFile", 3);
                set(&mut words, root, "Descriptor/Message Length", 1);
            }
            Format::Basic if op.sources == 2 => {
                set(&mut words, root, "Register Sources/Src1.RegFile", 1)
            }
            Format::JumpIndexed => {
                set(&mut words, root, "Src1.SrcType", 1);
                set(&mut words, root, "Operand Controls/MaskCtrl", 1);
            }
            _ => {}
        }
        match op.name {
            // 255 means no surface, as for 64-bit addresses. In `send` the index is 0.
            "sendc" => set(&mut words, root, "Data Port 1 Message/Binding Table Index", 255),
            "cmp" | "cmpn" => set(&mut words, root, "Header/Control/CondModifier", 5),
            "addc" | "subb" => set(&mut words, root, "Header/Control/Controls B/AccWrCtrl", 1),
            "line" => set(&mut words, root, "Header/Control/Controls A/ExecSize", 3),
            "dp2" | "dp3" | "dp4" | "dph" => {
                set(&mut words, root, "Header/Control/Controls A/ExecSize", 3);
                set(&mut words, root, "Header/Control/Controls A/AccessMode", 1);
                set(&mut words, root, "Destination/Destination Horizontal Stride", 1);
            }
            _ => {}
        }
        all.push((root, words));
    }
    all
}

/// A rule that applies to instruction `root`, for its structure at bit `base`. `needs` are the
/// conditions of the views that lead to this structure, each with the first bit of the view's
/// container.
struct Applied {
    root: &'static Container,
    needs: Vec<(&'static Cond, u32)>,
    rule: &'static Rule,
    base: u32,
}

fn collect(
    root: &'static Container,
    at: &'static Container,
    base: u32,
    needs: &[(&'static Cond, u32)],
    all: &mut Vec<Applied>,
) {
    all.extend(at.rules.iter().map(|rule| Applied { root, needs: needs.to_vec(), rule, base }));
    for field in at.fields {
        if let Type::Struct(inner) = field.ty {
            collect(root, inner, base + field.start, needs, all);
        }
    }
    for view in at.views {
        if let Type::Struct(inner) = view.ty {
            let needs: Vec<_> = needs
                .iter()
                .copied()
                .chain(view.exists_if.map(|condition| (condition, base)))
                .collect();
            collect(root, inner, base + view.start, &needs, all);
        }
    }
}

/// Every rule of every instruction, once for each position of the structure that has the rule.
fn applied() -> Vec<Applied> {
    let roots: BTreeMap<&str, &'static Container> =
        OPS.iter().map(|op| native::container(op.opcode)).map(|root| (root.name, root)).collect();
    let mut all = Vec::new();
    for root in roots.into_values() {
        collect(root, root, 0, &[], &mut all);
    }
    all
}

/// Searches for an instruction to which the rule applies. If `allowed`, it must have no finding;
/// otherwise this must be its only finding. The search starts at `from` and changes only fields
/// that the rule or its conditions read.
fn search(one: &Applied, from: &[u32; 4], allowed: bool, rules: &Rules) -> Option<[u32; 4]> {
    let (mut ranges, mut numbers) = (Vec::new(), vec![0, 1, 2, 3, u64::MAX]);
    for (condition, base) in one.needs.iter().copied().chain([(&one.rule.require, one.base)]) {
        assert!(own(condition, base, &mut ranges, &mut numbers), "{}: names state", one.rule.id);
    }
    ranges.sort_unstable();
    ranges.dedup();
    numbers.sort_unstable();
    numbers.dedup();
    let missing = |words: &[u32]| -> u64 {
        let needs = one
            .needs
            .iter()
            .map(|(cond, base)| distance(cond, true, &Frame::inside(words, *base), &()));
        needs.sum::<u64>()
            + distance(&one.rule.require, allowed, &Frame::inside(words, one.base), &())
    };
    let mut random = Random::new(11);
    let (mut words, mut best) = (*from, missing(from));
    for step in 0..6_000 {
        if step % 1024 == 1023 {
            words = *from;
            best = missing(from);
        }
        if best == 0 {
            let found = findings(&words, rules);
            let exact = match allowed {
                true => found.is_empty(),
                false => matches!(&found[..], [one_finding] if one_finding.rule == one.rule),
            };
            if exact {
                return Some(words);
            }
        }
        let before = words;
        for _ in 0..=random.below(2) {
            let (start, end) = ranges[random.index(ranges.len())];
            let value = match random.below(3) {
                0 => random.bits(),
                _ => numbers[random.index(numbers.len())],
            };
            replace(&mut words, start, end, value & bits::ones(end - start + 1));
        }
        match missing(&words) {
            now if now > best => words = before,
            now => best = now,
        }
    }
    None
}

/// True for a structure that messages carry in registers. Its rules cannot be checked in an
/// instruction.
fn in_registers(container: &Container) -> bool {
    ["MH_", "MHC_", "MACD_"].iter().any(|start| container.name.starts_with(start))
}

/// For every rule of instructions and descriptors there is an instruction that violates only this
/// rule, and a legal instruction that differs from it only in fields that the rule or its
/// conditions read.
#[test]
fn every_rule_of_an_instruction_finds_what_breaks_it_and_nothing_else() {
    let rules = specified();
    let plain = plain();
    for (root, words) in &plain {
        let found = findings(words, &rules);
        assert!(found.is_empty(), "{} {words:08x?}: {found:?}", root.name);
    }
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for one in applied() {
        if shown.contains(one.rule.id) {
            continue;
        }
        let start = plain.iter().filter(|(root, _)| *root == one.root);
        let pair = start.clone().find_map(|(_, words)| {
            let kept = search(&one, words, true, &rules)?;
            Some((kept, search(&one, &kept, false, &rules)?))
        });
        if let Some((kept, broken)) = pair {
            assert!(findings(&kept, &rules).is_empty());
            let found = findings(&broken, &rules);
            assert_eq!(found.len(), 1);
            assert!(!found[0].operands.is_empty(), "{}", one.rule.id);
            shown.insert(one.rule.id);
        }
    }
    let all = gen8::CONTAINERS.iter().filter(|container| !in_registers(container));
    let all: BTreeSet<&str> =
        all.flat_map(|container| container.rules).map(|rule| rule.id).collect();
    let never: Vec<_> = all.difference(&shown).collect();
    println!("{} rules of instructions and messages", all.len());
    assert!(never.is_empty(), "no instruction breaks {never:?}");
    assert!(all.len() > 80, "{}", all.len());
}

/// Oracle: kernels that ran on hardware do nothing that is undefined.
#[test]
fn real_kernels_break_no_rule_of_severity_error() {
    let Some(corpus) = corpus::folder() else { return };
    let rules = Rules::gen8();
    let mut total = Summary::default();
    let mut wrong = Vec::new();
    for folder in std::fs::read_dir(corpus.join("eu/kernels")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "bin") {
                continue;
            }
            let summary =
                check::kernel(0, &std::fs::read(&path).unwrap(), &rules, &mut |finding| {
                    if finding.severity == Severity::Error {
                        wrong.push(format!(
                            "{}: {finding}: {:?}",
                            path.display(),
                            finding.operands
                        ));
                    }
                });
            total.instructions += summary.instructions;
            total.kernels += summary.kernels;
            total.warnings += summary.warnings;
            total.workarounds += summary.workarounds;
        }
    }
    println!("{total:?}");
    assert!(total.instructions > 50_000, "{total:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `mov`, `cmp` without a condition, and the end of the thread.
fn broken_kernel() -> Vec<u32> {
    let all = plain();
    let instruction = |name: &str| {
        let at = OPS.iter().position(|op| op.name == name).unwrap();
        all[at].1
    };
    let mut compare = instruction("cmp");
    set(&mut compare, container("EU_INSTRUCTION_BASIC_TWO_SRC"), "Header/Control/CondModifier", 0);
    let mut end = instruction("send");
    let send = container("EU_INSTRUCTION_SEND");
    set(&mut end, send, "Shared Function ID (SFID)", 7);
    set(&mut end, send, "Message/EOT", 1);
    [instruction("mov"), compare, end].concat()
}

#[test]
fn packets_lead_to_kernels_which_are_checked_once() {
    const KERNEL: usize = 0x100;
    let stage = packet(
        "3DSTATE_VS",
        &[("Function Enable", 1), ("Kernel Start Pointer", KERNEL as u64 >> 6)],
    );
    let bases = packet(
        "STATE_BASE_ADDRESS",
        &[("Instruction Base Address Modify Enable", 1), ("Instruction Base Address", 0x10)],
    );
    let mut dwords = [bases, stage.clone(), stage, make("MI_BATCH_BUFFER_END", 1, &[])].concat();
    assert!(dwords.len() <= KERNEL / 4);
    dwords.resize(KERNEL / 4, 0);
    dwords.extend(broken_kernel());
    let mut found = Vec::new();
    let summary = check::raw(EngineId::Render, 0x10000, &dwords, &specified(), &mut |finding| {
        if finding.instruction.is_some() {
            found.push(finding.clone());
        }
    });
    assert_eq!((summary.kernels, summary.instructions, summary.unfinished), (1, 3, 0));
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((finding.rule.id, finding.address), ("EU-CMP-MODIFIER", 0x10110));
    assert_eq!(finding.packet.0, "3DSTATE_VS");
    let instruction = finding.instruction.as_ref().unwrap();
    assert_eq!((instruction.kernel, instruction.offset), (0x10100, 16));
    assert!(instruction.text.starts_with("cmp (1|M0)"), "{}", instruction.text);
    let operands: Vec<String> =
        finding.operands.iter().map(|operand| operand.to_string()).collect();
    assert_eq!(
        operands,
        ["[Header.Opcode] = 16 (cmp)", "[Header.Control.CondModifier] = 0 (None)"]
    );

    // Without an end of the thread, the data need not be a kernel: it counts as unfinished.
    dwords.truncate(dwords.len() - 4);
    let summary = check::raw(EngineId::Render, 0x10000, &dwords, &Rules::gen8(), &mut |_| ());
    assert_eq!((summary.kernels, summary.unfinished), (0, 1));
}

/// A compact instruction is checked in its 16-byte form.
#[test]
fn compact_instructions_are_checked_expanded() {
    let compact = container("EU_INSTRUCTION_COMPACT_TWO_SRC");
    let mut words = [0; 2];
    set(&mut words, compact, "Opcode", 0x10);
    set(&mut words, compact, "Compaction Control", 1);
    // Data types r:ud | r:ud | r:ud.
    set(&mut words, compact, "Data Type Index", 9);
    let rules = specified();
    let found = findings(&words, &rules);
    let ids: Vec<&str> = found.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(ids, ["EU-CMP-MODIFIER"]);
    set(&mut words, compact, "Conditional Modifier", 5);
    assert!(findings(&words, &rules).is_empty());
}

/// The search covers all rules except those of structures in registers.
#[test]
fn rules_that_no_instruction_can_break_are_those_of_registers() {
    let shown: BTreeSet<&str> = applied().iter().map(|one| one.rule.id).collect();
    for container in gen8::CONTAINERS {
        for rule in container.rules {
            assert_eq!(shown.contains(rule.id), !in_registers(container), "{}", rule.id);
        }
    }
}

/// A restriction of both the specification and the validator is reported once, with the
/// specification's values. A restriction of the validator alone is reported with the validator's
/// values. Levels apply to both.
#[test]
fn the_validator_looks_at_kernels_too() {
    let source = "cmp (8|M0) (lt)f0.0 null:d r5.0<8;8,1>:d r6.0<8;8,1>:d
        mov (8|M0) r4.0<1>:w r5.0<8;8,2>:w
        send (8|M0) null r127:f 0x27 0x02000010 {EOT}";
    let mut words = assemble(source, Syntax::Iga, &Default::default()).unwrap().dwords();
    set(&mut words, container("EU_INSTRUCTION_BASIC_TWO_SRC"), "Header/Control/CondModifier", 0);
    let mut rules = Rules::gen8();
    let found = findings(&words, &rules);
    let told: Vec<_> = found.iter().map(|finding| (finding.rule.id, finding.address)).collect();
    assert_eq!(told, [("EU-CMP-MODIFIER", 0x4000), ("EU-REGION-VSTRIDE", 0x4010)]);
    assert!(!found[0].operands.is_empty() && found[0].validated.is_none());
    let validated = found[1].validated.as_ref().unwrap();
    assert_eq!(
        (&*validated.values, validated.hint),
        ("src0: <8;8,2>, 8 channels", "write the region as <w*h;w,h>")
    );
    assert_eq!(found[1].container.name, "EU_INSTRUCTION_BASIC_ONE_SRC");
    rules.set("EU-REGION-VSTRIDE", Level::Warn).unwrap();
    assert_eq!(findings(&words, &rules)[1].severity, Severity::Warning);
    rules.set("EU-CMP-MODIFIER", Level::Allow).unwrap();
    rules.set("EU-REGION-*", Level::Allow).unwrap();
    assert!(findings(&words, &rules).is_empty());
}

/// An instruction that cannot be decoded gives one finding: of the rule that forbids an immediate
/// as the first of two sources, or of EU-DECODE if no other rule names the defect.
#[test]
fn what_cannot_be_decoded_is_told_once() {
    let source = "add (8|M0) r4.0<1>:d r5.0<8;8,1>:d r6.0<8;8,1>:d
        send (8|M0) null r127:f 0x27 0x02000010 {EOT}";
    let mut words = assemble(source, Syntax::Iga, &Default::default()).unwrap().dwords();
    let two = container("EU_INSTRUCTION_BASIC_TWO_SRC");
    set(&mut words, two, "Operand Controls/Src0.RegFile", 3);
    let rules = Rules::gen8();
    let told = |words: &[u32]| -> Vec<&str> {
        findings(words, &rules).iter().map(|finding| finding.rule.id).collect()
    };
    assert_eq!(told(&words), ["EU-IMM-LAST"]);
    set(&mut words, two, "Operand Controls/Src0.RegFile", 2);
    assert_eq!(told(&words), ["EU-DECODE"]);
}

/// A restriction that both the specification and the validator check has the same id, severity and
/// text in both.
#[test]
fn ids_of_the_validator_are_those_of_the_specification() {
    let rules = Rules::gen8();
    let mut both = 0;
    for rule in genxml::eu::validate::rules() {
        let (_, known) = rules.find(rule.id).unwrap();
        assert_eq!((known.severity, known.message), (rule.severity, rule.text), "{}", rule.id);
        both += usize::from(specified().find(rule.id).is_some());
    }
    println!("{both} restrictions are in the specification and in the validator");
    let ids: Vec<&str> = rules.all().map(|(_, rule)| rule.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    let specified =
        gen8::CONTAINERS.iter().flat_map(|container| container.rules).map(|rule| rule.id);
    let alone: Vec<&str> = specified
        .filter(|id| id.starts_with("EU-") && genxml::eu::validate::rule(id).is_none())
        .collect();
    // The validator lacks three of these rules: for an immediate as the destination, for source 1
    // of a math function that has one source, and for Last Render Target Select of a message.
    assert_eq!(alone, ["EU-DST-FILE", "EU-MATH-ONE-SOURCE", "EU-LAST-RENDER-TARGET"]);
}
