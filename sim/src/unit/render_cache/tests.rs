//! Oracle: the manual's tables of payloads (2d p.268-492), by the names and bits of their fields.

use super::RenderTargetWriteSubtype as Subtype;
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
        no_mask: false,
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

/// The manual's tables of payloads, each with the subtypes of its messages.
const PAYLOADS: [(&Container, &[Subtype]); 20] = {
    const REPLICATED: &[Subtype] = &[Subtype::SIMD16_REPDATA];
    const SINGLE: &[Subtype] = &[Subtype::SIMD8_LO];
    const WIDE: &[Subtype] = &[Subtype::SIMD16];
    const DUAL: &[Subtype] = &[Subtype::SIMD8_DUALSRC_LO, Subtype::SIMD8_DUALSRC_HI];
    [
        (payload::MdpRtw16rep::INFO, REPLICATED),
        (payload::MdpRtwM16rep::INFO, REPLICATED),
        (payload::MdpRtw8::INFO, SINGLE),
        (payload::MdpRtwA8::INFO, SINGLE),
        (payload::MdpRtwM8::INFO, SINGLE),
        (payload::MdpRtwMa8::INFO, SINGLE),
        (payload::MdpRtwZ8::INFO, SINGLE),
        (payload::MdpRtwZa8::INFO, SINGLE),
        (payload::MdpRtwZm8::INFO, SINGLE),
        (payload::MdpRtwZma8::INFO, SINGLE),
        (payload::MdpRtw16::INFO, WIDE),
        (payload::MdpRtwA16::INFO, WIDE),
        (payload::MdpRtwM16::INFO, WIDE),
        (payload::MdpRtwMa16::INFO, WIDE),
        (payload::MdpRtwZ16::INFO, WIDE),
        (payload::MdpRtwZa16::INFO, WIDE),
        (payload::MdpRtwZm16::INFO, WIDE),
        (payload::MdpRtw8ds::INFO, DUAL),
        (payload::MdpRtwM8ds::INFO, DUAL),
        (payload::MdpRtwZ8ds::INFO, DUAL),
    ]
};

/// The write of a message.
fn parsed(
    registers: &Registers,
    message: &Message,
    dispatched: &Dispatched,
) -> Result<Write, Refusal> {
    let mut write = Write { alpha: Some([7; SLOTS]), mask: 0x55, ..Write::default() };
    parse(registers, message, dispatched, &mut write).map(|()| write)
}

#[test]
fn payloads_of_the_manual() {
    for (table, subtypes) in PAYLOADS {
        for subtype in subtypes {
            check_payload(table, *subtype);
        }
    }
}

/// Parses a message with a header and the payload of `table`, and checks all its values. Then sends
/// one register too few.
fn check_payload(table: &Container, subtype: Subtype) {
    let mut header = MhRt::new();
    header.render_target_controls_0 = MhcRtC0 {
        o_mask_to_render_target: find(table, &["oMask"]).is_some(),
        source0_alpha_present_to_render_target: find(table, &["Source 0 Alpha"]).is_some(),
        source_depth_present_to_render_target: find(table, &["Source Depth"]).is_some(),
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
        // More than 15 registers do not fit the message length, so no message has this payload.
        return;
    }
    let write =
        parsed(&registers, &message(descriptor, at, 0xffff), &Dispatched::default()).unwrap();
    let slots = match subtype {
        Subtype::SIMD8_DUALSRC_HI => 8..16,
        Subtype::SIMD8_DUALSRC_LO | Subtype::SIMD8_LO => 0..8,
        _ => 0..16,
    };
    for slot in slots.clone() {
        check_slot(table, &write, slot, slot - slots.start);
    }
    let of_slots = slots.fold(0, |mask, slot| mask | 1 << slot);
    assert_eq!(write.mask, 0xf0f3 & of_slots);
    descriptor.message_length = U::new(descriptor.message_length.get() - 1).unwrap();
    let short = parsed(&registers, &message(descriptor, at, 0xffff), &Dispatched::default());
    assert!(matches!(short, Err(Refusal::Illegal { .. })), "{}", table.name);
}

/// Checks the values of a slot, which is slot `n` of the message.
fn check_slot(table: &Container, write: &Write, slot: usize, n: usize) {
    let name = table.name;
    let expected = |[low, high]: [u32; 2]| {
        let n = n as u32;
        dword(if n < 8 { low + n } else { high + n - 8 })
    };
    for (channel, color) in ["Red", "Green", "Blue", "Alpha"].into_iter().enumerate() {
        let found = write.color[channel][slot];
        if let Some(rgba) = find(table, &["RGBA"]) {
            assert_eq!(found, dword(rgba[0] + channel as u32), "{name}");
            continue;
        }
        let place = find(table, &[color, &format!("Src0 {color}")]).unwrap();
        assert_eq!(found, expected(place), "{name} {color}");
        let found = write.second.map(|second| second[channel][slot]);
        let second = find(table, &[&format!("Src1 {color}")]);
        assert_eq!(found, second.map(expected), "{name} {color}");
    }
    let found = write.alpha.map(|alpha| alpha[slot]);
    assert_eq!(found, find(table, &["Source 0 Alpha"]).map(expected), "{name}");
    let found = write.depth.map(|depth| depth[slot].to_bits());
    assert_eq!(found, find(table, &["Source Depth"]).map(expected), "{name}");
    let found = write.omask.map(|omask| omask[slot]);
    let omask = find(table, &["oMask"]);
    assert_eq!(found, omask.map(|[first, _]| (first + slot as u32 / 2) as u16), "{name}");
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
        omask: false,
        depth: false,
    };
    let mut descriptor = descriptor();
    descriptor.message_subtype = RenderTargetWriteSubtype::SIMD16;
    descriptor.message_length = U::new(8).unwrap();
    descriptor.last_render_target_select = true;
    descriptor.binding_table_index = U::new(17).unwrap();
    let registers = numbered(0);
    let write = parsed(&registers, &message(descriptor, 0, 0xff0f), &dispatched).unwrap();
    assert_eq!((write.binding, write.entry, write.last), (17, 0, true));
    assert_eq!((write.slice, write.viewport, write.back), (3, 1, true));
    assert_eq!(write.mask, 0x5678 & 0xff0f);
    assert_eq!(write.subspans, [[0, 100], [2, 101], [4, 102], [6, 103]]);
    descriptor.slot_group_select = MsdRtwSlotGroupSelect::SLOTGRP_HI;
    let write = parsed(&registers, &message(descriptor, 0, 0xffff), &dispatched).unwrap();
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
    let write = parsed(&registers, &message(descriptor, 0, 0xfff0), &dispatched).unwrap();
    assert_eq!((write.entry, write.slice, write.viewport, write.back), (6, 5, 0, false));
    assert_eq!((write.subspans[2], write.mask), ([1000, 2000], 0x00f0));
}

/// Tests a `send` of eight channels for sixteen slots. Slots 15:8 have no channel and count as
/// enabled. Only the mask of the header can disable them.
#[test]
fn slots_without_a_channel_are_enabled() {
    let mut descriptor = descriptor();
    descriptor.message_subtype = RenderTargetWriteSubtype::SIMD16;
    descriptor.header_present = true;
    descriptor.message_length = U::new(10).unwrap();
    let narrow = Message { channels: 8, ..message(descriptor, 0, 0x0f) };
    for (pixels, expected) in [(0xffff, 0xff0f), (0x00ff, 0x000f), (0xa5a5, 0xa505)] {
        let mut header = MhRt::new();
        header.pixel_sample_enables.pixel_sample_enables = U::new(pixels).unwrap();
        let mut registers = numbered(64);
        registers.set_dwords(0, header.pack());
        let write = parsed(&registers, &narrow, &Dispatched::default()).unwrap();
        assert_eq!(write.mask, expected, "{pixels:#x}");
    }
}

#[test]
fn invalid_messages_are_refused() {
    let registers = Registers::default();
    let dispatched = Dispatched::default();
    let run = |descriptor: u32| {
        let message = Message { descriptor, ..message(MsdRtw::new(), 0, 0xffff) };
        parsed(&registers, &message, &dispatched)
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
}

/// All descriptors of render target writes, with two binding table entries. A message is accepted
/// only if its length is the length of the subtype's payload, plus two registers if there is a
/// header. The other fields do not matter.
#[test]
fn all_descriptors() {
    let registers = Registers::default();
    let dispatched = Dispatched::default();
    // The payloads without optional parts: the other tables have parts that the header announces.
    let plain: [(&Container, &[Subtype]); 4] =
        [PAYLOADS[0], PAYLOADS[2], PAYLOADS[10], PAYLOADS[17]];
    let length = |subtype: Subtype| {
        let table = plain.iter().find(|(_, subtypes)| subtypes.contains(&subtype));
        table.map(|(table, _)| u64::from(table.bits / 256))
    };
    let mut accepted = 0;
    for bits in 0..1u64 << 11 {
        let field = |low: u32, count: u32| bits >> low & ((1 << count) - 1);
        let descriptor = MsdRtw {
            message_subtype: Subtype::from_bits(field(0, 3)),
            slot_group_select: MsdRtwSlotGroupSelect::from_bits(field(3, 1)),
            last_render_target_select: field(4, 1) == 1,
            per_sample: field(5, 1) == 1,
            header_present: field(6, 1) == 1,
            message_length: U::new(field(7, 4)).unwrap(),
            ..descriptor()
        };
        for binding in [0, 254] {
            let descriptor = MsdRtw { binding_table_index: U::new(binding).unwrap(), ..descriptor };
            let header = if descriptor.header_present { 2 } else { 0 };
            let exists = length(descriptor.message_subtype)
                .is_some_and(|length| length + header == descriptor.message_length.get());
            let result = parsed(&registers, &message(descriptor, 0, 0xffff), &dispatched);
            match &result {
                Ok(write) => {
                    accepted += 1;
                    assert!(exists, "{descriptor:?}");
                    assert_eq!(u64::from(write.binding), binding);
                    assert_eq!(write.last, descriptor.last_render_target_select);
                    let high = descriptor.slot_group_select == MsdRtwSlotGroupSelect::SLOTGRP_HI;
                    assert_eq!(write.upper, high);
                }
                Err(refusal) => {
                    assert!(
                        !exists && matches!(refusal, Refusal::Illegal { .. }),
                        "{descriptor:?}"
                    );
                }
            }
        }
    }
    // Five subtypes are accepted: with and without a header, with all 8 values of the other fields
    // and 2 binding table entries.
    assert_eq!(accepted, 5 * 2 * 8 * 2);
}
