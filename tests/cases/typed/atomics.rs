//! Typed atomic operations. Oracle: the table of 2d p.14-16 in plain code, slot by slot.

use crate::typed::picture::{BYTES, Kind, Picture};
use crate::typed::{Mode, SURFACE, Send, before, model};
use genxml::eu::gen8::eu_messages::{MdcAop, Msd1Tai};
use genxml::gen8::messages::MtDp1;
use genxml::gen8::state::{ShaderChannelSelect as Select, SurfaceFormat};
use genxml_cases::Random;

/// Operation, number of operands, and a function from old memory and operands to new memory.
type Operation = (MdcAop, usize, fn(u32, u32, u32) -> u32);

const OPERATIONS: [Operation; 15] = [
    (MdcAop::AOP_AND, 1, |old, a, _| old & a),
    (MdcAop::AOP_OR, 1, |old, a, _| old | a),
    (MdcAop::AOP_XOR, 1, |old, a, _| old ^ a),
    (MdcAop::AOP_MOV, 1, |_, a, _| a),
    (MdcAop::AOP_INC, 0, |old, _, _| old.wrapping_add(1)),
    (MdcAop::AOP_DEC, 0, |old, _, _| old.wrapping_sub(1)),
    (MdcAop::AOP_ADD, 1, |old, a, _| old.wrapping_add(a)),
    (MdcAop::AOP_SUB, 1, |old, a, _| old.wrapping_sub(a)),
    (MdcAop::AOP_REVSUB, 1, |old, a, _| a.wrapping_sub(old)),
    (MdcAop::AOP_IMAX, 1, |old, a, _| (old as i32).max(a as i32) as u32),
    (MdcAop::AOP_IMIN, 1, |old, a, _| (old as i32).min(a as i32) as u32),
    (MdcAop::AOP_UMAX, 1, |old, a, _| old.max(a)),
    (MdcAop::AOP_UMIN, 1, |old, a, _| old.min(a)),
    // Operand 0 is compared, operand 1 written (gen8_facts 4.6).
    (MdcAop::AOP_CMPWR, 2, |old, a, b| if old == a { b } else { old }),
    (MdcAop::AOP_PREDEC, 0, |old, _, _| old.wrapping_sub(1)),
];

#[test]
fn every_operation() {
    let (mut model, mut random) = (model(), Random::new(1));
    let mut memory = random.bytes(BYTES as usize);
    model.write(SURFACE, &memory);
    for round in 0..4 {
        for (operation, operands, apply) in OPERATIONS {
            for mode in Mode::ALL {
                for answered in [false, true] {
                    let kind = Kind::ALL[random.below(7) as usize];
                    let picture = Picture::random(&mut random, kind, 4);
                    let format = [SurfaceFormat::R32_UINT, SurfaceFormat::R32_SINT][round % 2];
                    let state = picture
                        .state(format, [Select::RED, Select::GREEN, Select::BLUE, Select::ALPHA]);
                    let coordinates = picture.coordinates();
                    let mut places =
                        [0; 8].map(|_| mode.sent(picture.place(&mut random), coordinates));
                    // Two slots use the same element: the later one finds the value of the earlier
                    // one.
                    places[1] = places[0];
                    let mut values = [0; 8].map(|_| [random.bits() as u32, random.bits() as u32]);
                    if let Some(offset) = picture.find(places[0]) {
                        let offset = offset as usize;
                        let old =
                            u32::from_le_bytes(memory[offset..offset + 4].try_into().unwrap());
                        values[0][0] = if random.below(2) == 0 { old } else { values[0][0] };
                        values[1][0] =
                            if random.below(2) == 0 { values[0][1] } else { values[1][0] };
                    }
                    let pair = mode == Mode::Pair;
                    let data = match (mode, operands) {
                        (_, 0) => Vec::new(),
                        // MDP_AOP4X2_DW2: both operands of a slot side by side.
                        (Mode::Pair, _) => {
                            vec![[
                                values[0][0],
                                values[0][1],
                                0,
                                0,
                                values[1][0],
                                values[1][1],
                                0,
                                0,
                            ]]
                        }
                        _ => (0..operands).map(|n| values.map(|value| value[n])).collect(),
                    };
                    let message = Send {
                        descriptor: Msd1Tai {
                            atomic_integer_operation_type: operation,
                            slot_group: mode.two(),
                            return_data_control: answered,
                            message_type: if pair { MtDp1::MT1A_TA4X2 } else { MtDp1::MT1A_TA },
                            ..Msd1Tai::new()
                        }
                        .pack()[0],
                        mode,
                        channels: random.bits() as u8 | 0x11,
                        header: if random.below(2) == 0 {
                            None
                        } else {
                            Some(random.bits() as u16 | 1)
                        },
                        places,
                        coordinates,
                        data,
                        back: usize::from(answered),
                    };
                    let answers = message.run(&mut model, &state).unwrap();
                    let active = mode.active(message.channels, message.header);
                    let mut expected: [[u32; 8]; 4] = std::array::from_fn(before);
                    for slot in (0..mode.slots()).filter(|slot| active >> slot & 1 == 1) {
                        let mut answer = 0;
                        if let Some(offset) = picture.find(places[slot]) {
                            let bytes = &mut memory[offset as usize..offset as usize + 4];
                            let old = u32::from_le_bytes((&*bytes).try_into().unwrap());
                            let new = apply(old, values[slot][0], values[slot][1]);
                            bytes.copy_from_slice(&new.to_le_bytes());
                            // "PREDEC returns the decremented value" (gen8_facts 4.6).
                            answer = if operation == MdcAop::AOP_PREDEC { new } else { old };
                        }
                        if answered {
                            expected[0][if pair { 4 * slot } else { slot }] = answer;
                        }
                    }
                    assert_eq!(answers, expected, "{operation:?} {mode:?} {picture:?}");
                    let found = model.read(SURFACE, BYTES as usize);
                    assert!(found == memory, "{operation:?} {mode:?} {picture:?}");
                }
            }
        }
    }
}

/// Only elements of 32-bit integers are allowed.
#[test]
fn other_formats_are_refused() {
    let (mut model, mut random) = (model(), Random::new(2));
    let picture = Picture::random(&mut random, Kind::Two, 4);
    for format in
        [SurfaceFormat::R32_FLOAT, SurfaceFormat::R8G8B8A8_UINT, SurfaceFormat::R32G32_UINT]
    {
        let message = Send {
            descriptor: Msd1Tai {
                atomic_integer_operation_type: MdcAop::AOP_INC,
                message_type: MtDp1::MT1A_TA,
                ..Msd1Tai::new()
            }
            .pack()[0],
            mode: Mode::Low,
            channels: 0xff,
            header: None,
            places: [[0; 4]; 8],
            coordinates: 4,
            data: Vec::new(),
            back: 0,
        };
        let state = picture.state(format, [Select::RED; 4]);
        let fault = message.run(&mut model, &state).unwrap_err().to_string();
        assert!(fault.contains(format.name().unwrap()), "{fault}");
    }
}
