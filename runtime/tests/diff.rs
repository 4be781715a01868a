//! Differences of packets and batches. Oracle: the changes that the tests make.

use genxml::core::packet::{Entries, Fixed, Instruction};
use genxml::core::reflect::Kind;
use genxml::core::{Address, bits, lit};
use genxml::diff::{Diff, Step, batches, packets};
use genxml::engine::EngineId;
use genxml::gen8::CONTAINERS;
use genxml::gen8::mi::{
    MiBatchBufferEnd, MiLoadRegisterImm, MiLoadRegisterImmRegister, MiNoop, PipeControl,
};
use genxml::gen8::render3d_pixel::BlendState;
use genxml::gen8::state::{RenderSurfaceState, RenderSurfaceStateExtent, SurfaceType};

#[test]
fn fields_with_their_places_and_values() {
    let before =
        RenderSurfaceState { surface_type: SurfaceType::SURFTYPE_2D, ..Default::default() };
    let after = RenderSurfaceState {
        extent: RenderSurfaceStateExtent::Image {
            width: lit!(64),
            height: lit!(1),
            depth: lit!(1),
        },
        surface_base_address: Address::new(0x10_0000).expect("aligned"),
        ..before
    };
    let diff = before.diff(&after);
    assert_eq!(
        diff.to_string(),
        "RENDER_SURFACE_STATE\n  Width: 1 -> 64 (dw2 13:0)\n  \
         Surface Base Address: 0x0 -> 0x100000 (dw8 0 to dw9 31)\n"
    );
    assert!(before.diff(&before).is_empty());
    // Another type: names of both, and fields that one of them does not have.
    let null = RenderSurfaceState { surface_type: SurfaceType::SURFTYPE_STRBUF, ..before };
    let text = before.diff(&null).to_string();
    assert!(
        text.contains("Surface Type: SURFTYPE_2D (1) -> SURFTYPE_STRBUF (5) (dw0 31:29)"),
        "{text}"
    );
    assert!(text.contains("-> absent"), "{text}");
}

#[test]
fn elements_and_tails() {
    let before = BlendState::default();
    let mut after = before;
    after.entry[3].write_disable_red = true;
    assert_eq!(
        before.diff(&after).to_string(),
        "BLEND_STATE\n  Entry[3].Write Disable Red: false -> true (dw7 2)\n"
    );
    let pair = |value: u64| MiLoadRegisterImmRegister {
        register_offset: Address::new(0x2358).expect("aligned"),
        data_dword: value.try_into().expect("fits"),
    };
    let (one, two) = ([pair(1)], [pair(1), pair(2)]);
    let one = MiLoadRegisterImm { register: Entries::from(&one), ..Default::default() };
    let two = MiLoadRegisterImm { register: Entries::from(&two), ..Default::default() };
    let diff = one.diff(&two);
    let text = diff.to_string();
    assert!(text.contains("Register[1].Data DWord: absent -> 2 (dw4 31:0)"), "{text}");
    assert!(text.contains("DWord Length: 0x1 -> 0x3 (dw0 7:0)"), "{text}");
}

/// For every container, a single flipped bit is reported, and the reported bits contain it.
#[test]
fn no_bit_is_overlooked() {
    for info in CONTAINERS {
        let length = info.dwords().max(1) + 2;
        let mut before = vec![0u32; length];
        if let Kind::Instruction { bias, length_field: Some((start, end)), .. } = info.kind {
            bits::put(&mut before, start, end, (length as u64).saturating_sub(bias.into()));
        }
        // Of a long container only some bits are flipped, at each of the 32 positions in a dword.
        let step = if length > 64 { length | 1 } else { 1 };
        for bit in (0..32 * length as u32).step_by(step) {
            let mut after = before.clone();
            after[(bit / 32) as usize] ^= 1 << (bit % 32);
            let diff = packets(info, &before, &after);
            let holds =
                diff.changes.iter().any(|change| change.bits.0 <= bit && bit <= change.bits.1);
            assert!(holds, "{} bit {bit}: {diff}", info.name);
        }
        assert!(packets(info, &before, &before).is_empty());
    }
}

#[test]
fn batches_are_aligned() {
    let flush = |value: u64| {
        let immediate_data = value.try_into().expect("fits");
        PipeControl { immediate_data, ..Default::default() }.pack().to_vec()
    };
    let noop = || MiNoop::default().pack().to_vec();
    let end = || MiBatchBufferEnd::default().pack().to_vec();
    let unknown = || vec![0x7fff_0000, 1];
    let a = [flush(1), flush(2), noop(), unknown(), flush(3), end()].concat();
    let b = [flush(2), noop(), noop(), flush(4), end()].concat();
    let diff = batches(EngineId::Render, &a, &b);
    let text: Vec<String> = diff
        .steps
        .iter()
        .map(|step| match step {
            Step::Same(old, new) => format!("= {} {} {}", old.at, new.at, old.name()),
            Step::Changed(old, new, diff) => {
                format!("~ {} {} {}", old.at, new.at, diff.changes.len())
            }
            Step::Removed(old) => format!("- {} {}", old.at, old.name()),
            Step::Added(new) => format!("+ {} {}", new.at, new.name()),
        })
        .collect();
    assert_eq!(
        text,
        [
            "- 0 PIPE_CONTROL",
            "= 6 0 PIPE_CONTROL",
            "= 12 6 MI_NOOP",
            "- 13 (no packet)",
            "+ 7 MI_NOOP",
            "~ 15 8 1",
            "= 21 14 MI_BATCH_BUFFER_END",
        ]
    );
    assert!(batches(EngineId::Render, &a, &a).is_empty());
    assert!(batches(EngineId::Render, &[], &[]).steps.is_empty());
    assert_eq!(BlendState::DWORDS, BlendState::default().to_dwords().len());
    assert_eq!(MiNoop::default().dwords(), 1);
}
