//! Kernels that use registers and shared local memory that nothing wrote. Each has a twin that
//! writes them first. Oracle: the text of the kernels.

use super::kernels::{END, kernel, only};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize as Size,
};
use genxml_cases::{Compute, Model, raw_buffer};
use genxml_sim::inspect::sanitize::{Finding, Sanitizers};

/// The buffer of binding table entry 0.
const DATA: u64 = 0x40_0000;

fn run(text: &str) -> Vec<Finding> {
    let (kernel, _) = kernel(text);
    let mut model = Model::new();
    model.map(DATA, 4096);
    let compute = Compute {
        surfaces: vec![raw_buffer(DATA, 4096)],
        curbe: (0..8u32).flat_map(u32::to_le_bytes).collect(),
        descriptor: InterfaceDescriptorData {
            shared_local_memory_size: Size::from_bits(1),
            ..InterfaceDescriptorData::new()
        },
        ..Compute::new(&kernel)
    };
    let batch = compute.batch(&mut model);
    let mut sanitizers = Sanitizers::new(["uninit"], Generation::Gen8).unwrap();
    model.submit_observed(EngineId::Render, &batch, &mut sanitizers).unwrap();
    sanitizers.findings().map(|(_, finding)| finding.clone()).collect()
}

/// Checks that the only finding has this rule, is about the label `use`, and names the register.
#[track_caller]
fn found(text: &str, rule: &str, register: &str) {
    let finding = only(&run(text), text, rule, "use");
    let action = format!("{register} was not written");
    assert_eq!(finding.first.action, action, "{finding}\n{text}");
}

#[track_caller]
fn quiet(text: &str) {
    let findings = run(text);
    assert!(findings.is_empty(), "{}\n{text}", findings[0]);
}

/// Instructions that pass r20 on to r40: each result depends on the source.
const PATHS: [&str; 9] = [
    "mov (8|M0) r40.0<1>:ud r20.0<8;8,1>:ud",
    "add (8|M0) r40.0<1>:ud r20.0<8;8,1>:ud 4:ud",
    "add (8|M0) r40.0<1>:ud r1.0<8;8,1>:ud r20.0<8;8,1>:ud",
    "mul (8|M0) r40.0<1>:d r20.0<8;8,1>:d 4:w",
    "shl (8|M0) r40.0<1>:ud r20.0<8;8,1>:ud 2:ud",
    "or (8|M0) r40.0<1>:ud r20.0<8;8,1>:ud r1.0<8;8,1>:ud",
    "mov (8|M0) r30.0<1>:ud r20.0<8;8,1>:ud\n mov (8|M0) r40.0<1>:ud r30.0<8;8,1>:ud",
    "mov (8|M0) r40.0<1>:ud r20.0<0;1,0>:ud",
    "mad (8|M0) r40.0<1>:f r1.0<2;1>:f r20.0<2;1>:f r1.0<1>:f",
];

/// What uses r40, with the rule.
const USES: [(&str, &str); 5] = [
    (
        "mov (8|M0) r41.0<1>:ud 0:ud
         use: send (8|M0) null r40 0xC 0x04026e00",
        "UNINIT-ADDRESS",
    ),
    ("use: send (8|M0) r50 r40 0xC 0x02106e00", "UNINIT-ADDRESS"),
    (
        "mov (8|M0) r38.0<1>:ud 0:ud
         mov (8|M0) r39.0<1>:ud r40.0<8;8,1>:ud
         use: send (8|M0) null r38 0xC 0x04026e00",
        "UNINIT-OUTPUT",
    ),
    (
        "cmp (8|M0) (ne)f0.0 null<1>:ud r40.0<8;8,1>:ud 0:ud
         use: (f0.0) mov (8|M0) r42.0<1>:ud 0:ud",
        "UNINIT-CONTROL",
    ),
    (
        "(W) mov (1|M0) a0.0<1>:uw r40.0<0;1,0>:uw
         (W) and (1|M0) a0.0<1>:uw a0.0<0;1,0>:uw 32:uw
         use: (W) mov (1|M0) r42.0<1>:ud r[a0.0]<0;1,0>:ud",
        "UNINIT-ADDRESS",
    ),
];

/// 9 ways of a value and 5 uses: 45 uninitialised reads. A copy alone is not reported.
#[test]
fn registers() {
    let mut count = 0;
    for path in PATHS {
        for (consumer, rule) in USES {
            found(&format!("{path}\n{consumer}\n{END}"), rule, "r20.0");
            count += 1;
            let init = "mov (8|M0) r20.0<1>:ud 0:ud";
            quiet(&format!("{init}\n{path}\n{consumer}\n{END}"));
        }
        quiet(&format!("{path}\n{END}"));
    }
    assert_eq!(count, 45);
}

/// A register of which only a part is written.
#[test]
fn parts() {
    let address = "mov (8|M0) r41.0<1>:ud 0:ud
         use: send (8|M0) null r40 0xC 0x04026e00";
    for (init, register) in [
        ("(W) mov (4|M0) r40.0<1>:ud 0:ud", "r40.4"),
        ("(W) mov (8|M0) r40.0<2>:uw 0:uw", "r40.0"),
        ("(W) mov (1|M0) r40.0<1>:ud 0:ud", "r40.1"),
    ] {
        found(&format!("{init}\n{address}\n{END}"), "UNINIT-ADDRESS", register);
    }
    // Channels 0 to 3 are written under a predicate, and only they are used.
    let text = |channels: u32| {
        format!(
            "cmp (8|M0) (lt)f0.0 null<1>:ud r1.0<8;8,1>:ud 4:ud
            (f0.0) mov (8|M0) r40.0<1>:ud 0:ud
            mov (8|M0) r41.0<1>:ud 0:ud
            cmp (8|M0) (lt)f0.1 null<1>:ud r1.0<8;8,1>:ud {channels}:ud
            use: (f0.1) send (8|M0) null r40 0xC 0x04026e00
            {END}"
        )
    };
    quiet(&text(4));
    found(&text(5), "UNINIT-ADDRESS", "r40.4");
}

/// Flags, accumulators and address registers.
#[test]
fn other_registers() {
    found(&format!("use: (W&f1.0) jmpi done\n done:{END}"), "UNINIT-CONTROL", "bit 0 of f1.0");
    quiet(&format!(
        "(W) mov (1|M0) f1.0<1>:ud 0:ud
        (W&f1.0) jmpi done
        done:{END}"
    ));
    let store = "mov (8|M0) r38.0<1>:ud 0:ud
        use: send (8|M0) null r38 0xC 0x04026e00";
    found(
        &format!("mov (8|M0) r39.0<1>:ud acc0.0<8;8,1>:ud\n{store}\n{END}"),
        "UNINIT-OUTPUT",
        "acc0.0",
    );
    quiet(&format!(
        "mov (8|M0) acc0.0<1>:ud 0:ud\nmov (8|M0) r39.0<1>:ud acc0.0<8;8,1>:ud\n{store}\n{END}"
    ));
    found(
        &format!("use: (W) mov (1|M0) r42.0<1>:ud r[a0.2]<0;1,0>:ud\n{END}"),
        "UNINIT-ADDRESS",
        "a0.1",
    );
    // `sel` with a flag that was not written.
    found(
        &format!("(f0.0) sel (8|M0) r39.0<1>:ud r1.0<8;8,1>:ud 0:ud\n{store}\n{END}"),
        "UNINIT-OUTPUT",
        "bit 0 of f0.0",
    );
}

/// Control flow: the branch that is not taken too.
#[test]
fn branches() {
    let text = |init: &str| {
        format!(
            "{init}
            cmp (8|M0) (ne)f0.0 null<1>:ud r20.0<8;8,1>:ud 0:ud
        use: (f0.0) if (8|M0) over over
            mov (8|M0) r42.0<1>:ud 0:ud
        over: endif (8|M0) done
        done:{END}"
        )
    };
    found(&text(""), "UNINIT-CONTROL", "r20.0");
    quiet(&text("mov (8|M0) r20.0<1>:ud 0:ud"));
    quiet(&text("mov (8|M0) r20.0<1>:ud 1:ud"));
}

/// Shared local memory, read at offsets that were and were not written.
#[test]
fn local_memory() {
    for message in ["send (8|M0) r50 r42 0xC 0x02106efe", "send (8|M0) null r42 0xC 0x020095fe"] {
        for (offset, written) in [(0, true), (4, false), (32, false), (1024, false)] {
            let text = format!(
                "shl (8|M0) r40.0<1>:ud r1.0<8;8,1>:ud 2:ud
                mov (8|M0) r41.0<1>:ud 0:ud
                send (8|M0) null r40 0xC 0x04026efe
                add (8|M0) r42.0<1>:ud r40.0<8;8,1>:ud {offset}:ud
            use: {message}
                {END}"
            );
            match written {
                true => quiet(&text),
                false => {
                    let findings = run(&text);
                    let found: Vec<_> = findings
                        .iter()
                        .map(|f| (f.rule.id, f.second.at.thread.unwrap().ip))
                        .collect();
                    assert_eq!(found, [("UNINIT-LOCAL", kernel(&text).1["use"])], "{text}");
                }
            }
        }
    }
}
