//! Oracle: the manual's tables of payloads (2d p.268-492), by the names and bits of their fields.

use super::*;
use crate::eu::regions::GRF_BYTES;
use genxml::core::reflect::Container;
use genxml::core::{Packed, U};
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::message_headers::{MhcRtC0, MhcRtRti};
use genxml_eu::gen8::message_payloads as payload;

fn message(descriptor: MsdRtw, payload: usize, mask: u32) -> Message {
    Message {
        function: SharedFunction::DataPortRender,
        eot: false,
        descriptor: descriptor.pack()[0],
        mask,
        channels: 16,
        first: 0,
        payload,
        response: None,
        ip: 0,
    }
}

fn descriptor() -> MsdRtw {
    MsdRtw { message_type: MtDpRt::MT_RTW, ..MsdRtw::new() }
}

/// Registers in which each dword from byte `at` on has its own number in both halves.
fn numbered(at: usize) -> Registers {
    let mut registers = Registers::default();
    for n in 0..(GRF_BYTES - at) / 4 {
        registers.set_u32(at + 4 * n, n as u32 | (n as u32) << 16);
    }
    registers
}

/// The value of dword `n` in [`numbered`].
fn dword(n: u32) -> u32 {
    n | n << 16
}

/// Dwords at which the values of slots 7:0 and of slots 15:8 start, for the field with one of these
/// names. If one field holds all slots, the second value is eight dwords after the first.
fn find(table: &Container, names: &[&str]) -> Option<[u32; 2]> {
    let start = |suffix: &str| {
        let named = |field: &&genxml::core::reflect::Field| {
            names.iter().any(|name| field.name == format!("{name}{suffix}"))
        };
        table.fields.iter().find(named).map(|field| field.start / 32)
    };
    match (start(""), start("[7:0]"), start("[15:8]")) {
        (Some(first), ..) => Some([first, first + 8]),
        (_, Some(low), Some(high)) => Some([low, high]),
        _ => None,
    }
}

#[test]
fn payloads_of_the_manual() {
    use RenderTargetWriteSubtype as Subtype;
    let both = [Subtype::SIMD8_DUALSRC_LO, Subtype::SIMD8_DUALSRC_HI];
    let single = [Subtype::SIMD8_LO; 2];
    let wide = [Subtype::SIMD16; 2];
    let replicated = [Subtype::SIMD16_REPDATA; 2];
    let tables: [(&Container, [Subtype; 2]); 20] = [
        (payload::MdpRtw16rep::INFO, replicated),
        (payload::MdpRtwM16rep::INFO, replicated),
        (payload::MdpRtw8::INFO, single),
        (payload::MdpRtwA8::INFO, single),
        (payload::MdpRtwM8::INFO, single),
        (payload::MdpRtwMa8::INFO, single),
        (payload::MdpRtwZ8::INFO, single),
        (payload::MdpRtwZa8::INFO, single),
        (payload::MdpRtwZm8::INFO, single),
        (payload::MdpRtwZma8::INFO, single),
        (payload::MdpRtw16::INFO, wide),
        (payload::MdpRtwA16::INFO, wide),
        (payload::MdpRtwM16::INFO, wide),
        (payload::MdpRtwMa16::INFO, wide),
        (payload::MdpRtwZ16::INFO, wide),
        (payload::MdpRtwZa16::INFO, wide),
        (payload::MdpRtwZm16::INFO, wide),
        (payload::MdpRtw8ds::INFO, both),
        (payload::MdpRtwM8ds::INFO, both),
        (payload::MdpRtwZ8ds::INFO, both),
    ];
    for (table, subtypes) in tables {
        for subtype in subtypes {
            let omask = find(table, &["oMask"]);
            let alpha = find(table, &["Source 0 Alpha"]);
            let depth = find(table, &["Source Depth"]);
            let mut header = MhRt::new();
            header.render_target_controls_0 = MhcRtC0 {
                o_mask_to_render_target: omask.is_some(),
                source0_alpha_present_to_render_target: alpha.is_some(),
                source_depth_present_to_render_target: depth.is_some(),
                ..MhcRtC0::new()
            };
            header.pixel_sample_enables.pixel_sample_enables = U::new(0xf0f3).unwrap();
            let at = 4 * REGISTER;
            let mut registers = numbered(at + 2 * REGISTER);
            registers.set_dwords(at, header.pack());
            let mut descriptor = descriptor();
            descriptor.message_subtype = subtype;
            descriptor.header_present = true;
            descriptor.message_length = U::new(2 + u64::from(table.bits / 256)).unwrap_or(U::ZERO);
            if descriptor.message_length == U::ZERO {
                // More than 15 registers do not fit the message length, so no message has this
                // payload.
                continue;
            }
            let write = parse(&registers, &message(descriptor, at, 0xffff), &Dispatched::default())
                .unwrap();
            let (first, slots) = match subtype {
                Subtype::SIMD8_DUALSRC_HI => (8, 8..16),
                Subtype::SIMD8_DUALSRC_LO | Subtype::SIMD8_LO => (0, 0..8),
                _ => (0, 0..16),
            };
            let expected = |[low, high]: [u32; 2], slot: usize| {
                let n = (slot - first) as u32;
                dword(if n < 8 { low + n } else { high + n - 8 })
            };
            for slot in slots.clone() {
                for (channel, name) in ["Red", "Green", "Blue", "Alpha"].into_iter().enumerate() {
                    let source = format!("Src0 {name}");
                    if let Some(rgba) = find(table, &["RGBA"]) {
                        assert_eq!(
                            write.color[channel][slot],
                            dword(rgba[0] + channel as u32),
                            "{}",
                            table.name
                        );
                        continue;
                    }
                    let place = find(table, &[name, &source]).unwrap();
                    assert_eq!(
                        write.color[channel][slot],
                        expected(place, slot),
                        "{} {name}",
                        table.name
                    );
                    let second = find(table, &[&format!("Src1 {name}")]);
                    let found = write.second.map(|second| second[channel][slot]);
                    assert_eq!(
                        found,
                        second.map(|place| expected(place, slot)),
                        "{} {name}",
                        table.name
                    );
                }
                let found = write.alpha.map(|alpha| alpha[slot]);
                assert_eq!(found, alpha.map(|place| expected(place, slot)), "{}", table.name);
                let found = write.depth.map(|depth| depth[slot].to_bits());
                assert_eq!(found, depth.map(|place| expected(place, slot)), "{}", table.name);
                let found = write.omask.map(|omask| omask[slot]);
                assert_eq!(
                    found,
                    omask.map(|[first, _]| (first + slot as u32 / 2) as u16),
                    "{}",
                    table.name
                );
            }
            let of_slots = slots.fold(0, |mask, slot| mask | 1 << slot);
            assert_eq!(write.mask, 0xf0f3 & of_slots);
            // One register too few.
            descriptor.message_length = U::new(descriptor.message_length.get() - 1).unwrap();
            let short = parse(&registers, &message(descriptor, at, 0xffff), &Dispatched::default());
            assert!(matches!(short, Err(Refusal::Illegal { .. })), "{}", table.name);
        }
    }
}

/// A message with a header uses the values of the header. A message without one uses the dispatched
/// values.
#[test]
fn headers_and_dispatch() {
    let dispatched = Dispatched {
        slice: 3,
        viewport: 1,
        back: true,
        subspans: std::array::from_fn(|n| [2 * n as u32, 100 + n as u32]),
        mask: 0x1234_5678,
        per_sample: false,
        omask: false,
        depth: false,
    };
    let mut descriptor = descriptor();
    descriptor.message_subtype = RenderTargetWriteSubtype::SIMD16;
    descriptor.message_length = U::new(8).unwrap();
    descriptor.last_render_target_select = true;
    descriptor.binding_table_index = U::new(17).unwrap();
    let registers = numbered(0);
    let write = parse(&registers, &message(descriptor, 0, 0xff0f), &dispatched).unwrap();
    assert_eq!((write.binding, write.entry, write.last), (17, 0, true));
    assert_eq!((write.slice, write.viewport, write.back), (3, 1, true));
    assert_eq!(write.mask, 0x5678 & 0xff0f);
    assert_eq!(write.subspans, [[0, 100], [2, 101], [4, 102], [6, 103]]);
    descriptor.slot_group_select = MsdRtwSlotGroupSelect::SLOTGRP_HI;
    let write = parse(&registers, &message(descriptor, 0, 0xffff), &dispatched).unwrap();
    assert_eq!((write.upper, write.mask), (true, 0x1234));
    assert_eq!(write.subspans[3], [14, 107]);

    let mut header = MhRt::new();
    header.render_target_controls_0.render_target_array_index = U::new(5).unwrap();
    header.render_target_index = MhcRtRti { render_target_index: U::new(6).unwrap() };
    header.subspan_2 = MhcRtSubspan { x: U::new(1000).unwrap(), y: U::new(2000).unwrap() };
    header.pixel_sample_enables.pixel_sample_enables = U::new(0x00ff).unwrap();
    let mut registers = numbered(64);
    registers.set_dwords(0, header.pack());
    descriptor.header_present = true;
    descriptor.message_length = U::new(10).unwrap();
    let write = parse(&registers, &message(descriptor, 0, 0xfff0), &dispatched).unwrap();
    assert_eq!((write.entry, write.slice, write.viewport, write.back), (6, 5, 0, false));
    assert_eq!((write.subspans[2], write.mask), ([1000, 2000], 0x00f0));
    // A `send` of eight channels for sixteen slots. The header's mask has slots 7:0 only, so only
    // the four enabled channels are written.
    let narrow = Message { channels: 8, ..message(descriptor, 0, 0x0f) };
    assert_eq!(parse(&registers, &narrow, &dispatched).unwrap().mask, 0x000f);
}

#[test]
fn invalid_messages_are_refused() {
    let registers = Registers::default();
    let dispatched = Dispatched::default();
    let run = |descriptor: u32| {
        let message = Message { descriptor, ..message(MsdRtw::new(), 0, 0xffff) };
        parse(&registers, &message, &dispatched)
    };
    let of = |edit: fn(&mut MsdRtw)| {
        let mut descriptor = descriptor();
        edit(&mut descriptor);
        run(descriptor.pack()[0])
    };
    assert!(matches!(of(|d| d.message_type = MtDpRt::MT_RTR), Err(Refusal::Missing { .. })));
    assert!(matches!(of(|d| d.message_type = MtDpRt::from_bits(3)), Err(Refusal::Illegal { .. })));
    assert!(matches!(of(|d| d.precision = MsdRtwPrecision::HALF), Err(Refusal::Missing { .. })));
    let reserved = of(|d| d.message_subtype = RenderTargetWriteSubtype::from_bits(6));
    assert!(matches!(reserved, Err(Refusal::Illegal { .. })));
    assert!(matches!(of(|d| d.header_present = true), Err(Refusal::Illegal { .. })));
    // No value of bits 12:0 of a render target write causes a panic. The message length depends on
    // the low bits.
    for bits in 0..1 << 13 {
        let _ = run(bits | 12 << 14 | (bits & 31) << 25);
    }
}
