//! Builders of messages. Oracles: the messages of real kernels, the counts of registers of the
//! manual, and the validator.

use genxml_core::lit;
use genxml_eu::asm::{Options, assemble};
use genxml_eu::gen8::descriptors::{MdcSm2, MdcSm2r, MdcSm3};
use genxml_eu::gen8::eu_messages as msd;
use genxml_eu::gen8::messages as md;
use genxml_eu::instruction::*;
use genxml_eu::message::describe;
use genxml_eu::payload::MessageDescriptorSamplingEngineMessageType as Type;
use genxml_eu::payload::*;
use genxml_eu::syntax::Syntax;
use genxml_eu::{instructions, validate};
use genxml_testkit::corpus;
use std::collections::BTreeMap;

const COORDINATES: [Coordinates; 4] =
    [Coordinates::One, Coordinates::Two, Coordinates::Three, Coordinates::All];
const BOTH: [bool; 2] = [false, true];

fn simd(bit: MdcSm2) -> Simd {
    if bit == MdcSm2::SIMD16 { Simd::Sixteen } else { Simd::Eight }
}

/// The messages that the builders can make with these fields of the descriptor. The lengths are not
/// used, except for a number that the message leaves open. Empty if there is no builder.
fn candidates(function: SharedFunction, bits: u32) -> Vec<Message> {
    match function {
        SharedFunction::DataPort0 => data_port_0(bits),
        SharedFunction::DataPort1 => data_port_1(bits),
        SharedFunction::DataPortRender => render_target(bits),
        SharedFunction::Sampler => sampler(bits),
        SharedFunction::Urb => urb(bits),
        SharedFunction::ThreadSpawner => vec![end_of_thread()],
        _ => Vec::new(),
    }
}

fn data_port_0(bits: u32) -> Vec<Message> {
    let message = md::DataPort0MessageDescriptor::unpack_lossy(&[bits]);
    if message.legacy_dap_dc_message.bits() == 1 {
        return Vec::new();
    }
    let surface = message.binding_table_index.get() as u8;
    let base = message.header_present.then_some(Value::Constant(0));
    let blocks = md::Msd0rOwb::unpack_lossy(&[bits]).data_blocks;
    let slots = msd::Msd0Bs::unpack_lossy(&[bits]);
    let (channels, size) = (simd(slots.simd_mode), slots.data_elements);
    vec![match message.message_type {
        md::MtDp0::MT0R_OWB => oword_block_read(surface, blocks, 0.into()).unwrap(),
        md::MtDp0::MT0W_OWB => oword_block_write(surface, blocks, 0.into()).unwrap(),
        md::MtDp0::MT0R_DWS => dword_scattered_read(surface, channels, base),
        md::MtDp0::MT0W_DWS => dword_scattered_write(surface, channels, base),
        md::MtDp0::MT0R_BS => byte_scattered_read(surface, channels, size, base).unwrap(),
        md::MtDp0::MT0W_BS => byte_scattered_write(surface, channels, size, base).unwrap(),
        _ => return Vec::new(),
    }]
}

fn data_port_1(bits: u32) -> Vec<Message> {
    let message = md::DataPort1MessageDescriptor::unpack_lossy(&[bits]);
    let surface = message.binding_table_index.get() as u8;
    let mask = message.header_present.then_some(Value::Constant(0xffff));
    let untyped = msd::Msd1Us::unpack_lossy(&[bits]);
    let channels = untyped.channel_mask;
    let wide = |mode: MdcSm3| match mode {
        MdcSm3::SIMD8 => Some(Simd::Eight),
        MdcSm3::SIMD16 => Some(Simd::Sixteen),
        _ => None,
    };
    match message.message_type {
        md::MtDp1::MT1R_US => wide(untyped.simd_mode)
            .map(|simd| untyped_read(surface, simd, channels, mask).unwrap())
            .into_iter()
            .collect(),
        md::MtDp1::MT1W_US => wide(untyped.simd_mode)
            .map(|simd| untyped_write(surface, simd, channels, mask).unwrap())
            .into_iter()
            .collect(),
        md::MtDp1::MT1A_UI => {
            let atomic = msd::Msd1Uai::unpack_lossy(&[bits]);
            let simd =
                if atomic.simd_mode == MdcSm2r::SIMD16 { Simd::Sixteen } else { Simd::Eight };
            let operation = atomic.atomic_integer_operation_type;
            let returns = atomic.return_data_control;
            vec![untyped_atomic(surface, simd, operation, returns, mask).unwrap()]
        }
        md::MtDp1::MT1R_TS | md::MtDp1::MT1W_TS => {
            let slots = msd::Msd1Ts::unpack_lossy(&[bits]).slot_group;
            let build =
                if message.message_type == md::MtDp1::MT1R_TS { typed_read } else { typed_write };
            COORDINATES
                .iter()
                .filter_map(|n| build(surface, slots, *n, channels, mask).ok())
                .collect()
        }
        md::MtDp1::MT1A_TA => {
            let atomic = msd::Msd1Tai::unpack_lossy(&[bits]);
            let (slots, returns) = (atomic.slot_group, atomic.return_data_control);
            let operation = atomic.atomic_integer_operation_type;
            let build = |n: &_| typed_atomic(surface, slots, *n, operation, returns, mask).unwrap();
            COORDINATES.iter().map(build).collect()
        }
        _ => Vec::new(),
    }
}

fn render_target(bits: u32) -> Vec<Message> {
    let message = msd::MsdRtw::unpack_lossy(&[bits]);
    let simd = match message.message_subtype {
        msd::RenderTargetWriteSubtype::SIMD8_LO => Simd::Eight,
        msd::RenderTargetWriteSubtype::SIMD16 => Simd::Sixteen,
        _ => return Vec::new(),
    };
    if message.message_type != msd::MtDpRt::MT_RTW {
        return Vec::new();
    }
    let mut all = Vec::new();
    for depth in BOTH {
        for sample_mask in BOTH {
            for source_0_alpha in BOTH {
                all.push(render_target_write(&RenderTarget {
                    surface: message.binding_table_index.get() as u8,
                    last: message.last_render_target_select,
                    header: message.header_present,
                    depth,
                    sample_mask,
                    source_0_alpha,
                    ..RenderTarget::new(simd)
                }));
            }
        }
    }
    all
}

fn sampler(bits: u32) -> Vec<Message> {
    use md::MessageDescriptorSamplingEngineSimdMode10 as Mode;
    let message = md::MessageDescriptorSamplingEngine::unpack_lossy(&[bits]);
    let simd = match message.simd_mode_1_0 {
        Mode::SIMD8 => Simd::Eight,
        Mode::SIMD16 => Simd::Sixteen,
        _ => return Vec::new(),
    };
    let components = (message.response_length.get() as u8).div_ceil(simd.registers());
    let build = |coordinates| {
        sample(&Sample {
            surface: message.binding_table_index.get() as u8,
            sampler: message.sampler_index,
            components,
            header: message.header_present.then_some(SamplerMessageHeader::new()),
            ..Sample::new(message.message_type, simd, coordinates)
        })
    };
    COORDINATES.into_iter().filter_map(|coordinates| build(coordinates).ok()).collect()
}

fn urb(bits: u32) -> Vec<Message> {
    use md::UrbMessageDescriptorUrbOpcode as Opcode;
    let message = md::UrbMessageDescriptor::unpack_lossy(&[bits]);
    let masks = message.swizzle_control.bits() == 1;
    let extra = 1 + u8::from(message.per_slot_offset) + u8::from(masks);
    let urb = |registers| Urb {
        offset: message.global_offset,
        slot_offsets: message.per_slot_offset,
        masks,
        ..Urb::new(1, registers)
    };
    match message.urb_opcode {
        Opcode::SIMD8_READ => {
            vec![urb_read(&urb(message.response_length.get() as u8)).unwrap()]
        }
        Opcode::SIMD8_WRITE => {
            vec![urb_write(&urb(message.message_length.get() as u8 - extra))]
        }
        _ => Vec::new(),
    }
}

/// Oracle: the compilers of drivers. The descriptors of their messages, with the numbers of
/// registers, come out of the builders again.
#[test]
fn messages_of_kernels_are_built_again() {
    let Some(corpus) = corpus::folder() else { return };
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong: BTreeMap<String, usize> = BTreeMap::new();
    for (_, bytes) in corpus::kernels(&corpus) {
        for line in instructions(&bytes) {
            let Some(send) = line.unwrap().instruction.send else { continue };
            let Descriptor::Immediate(descriptor) = send.descriptor else { continue };
            let candidates = candidates(send.function, descriptor);
            if candidates.is_empty() {
                continue;
            }
            let same = candidates.into_iter().any(|message| {
                let message = if send.end_of_thread { message.ends_thread() } else { message };
                let reply = (message.returned() > 0).then_some(10);
                let placed = message.place(112, reply);
                placed.is_ok_and(|placed| placed.send().send == Some(send))
            });
            let message = describe(send.function, descriptor);
            if same {
                *kinds.entry(message.container.unwrap().name).or_default() += 1;
            } else {
                *wrong.entry(message.to_string()).or_default() += 1;
            }
        }
    }
    println!("{kinds:#?}");
    // This kernel leaves out the mip level, which is then 0.
    wrong.retain(|message, _| !(message.contains("ld,") && message.contains("sent 2,")));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(kinds.values().sum::<usize>() > 1_000 && kinds.len() >= 10);
}

/// The message and its first registers.
fn shape(message: Result<Message, PayloadError>) -> (u32, u32) {
    let message = message.unwrap();
    (message.sent(), message.returned())
}

/// Oracle: descriptors that the compilers of drivers write, as in `asm_messages`.
#[test]
fn descriptors_of_drivers() {
    let color = RenderTarget::new(Simd::Eight);
    let texture =
        Sample { surface: 1, ..Sample::new(Type::SAMPLE, Simd::Sixteen, Coordinates::Two) };
    for (message, expected) in [
        (end_of_thread(), 0x0200_0010),
        (oword_block_read(0, MdcDbOw::OW2, 0.into()).unwrap(), 0x0218_0200),
        (oword_block_write(2, MdcDbOw::OW2, 0.into()).unwrap(), 0x040a_0202),
        (render_target_write(&color), 0x0803_1400),
        (urb_write(&Urb::new(1, 8)), 0x1208_0007),
        (sample(&texture).unwrap(), 0x0884_0001),
    ] {
        let reply = (message.returned() > 0).then_some(20);
        let send = message.place(112, reply).unwrap().send().send.unwrap();
        let Descriptor::Immediate(descriptor) = send.descriptor else { panic!() };
        assert_eq!(format!("{descriptor:#010x}"), format!("{expected:#010x}"));
    }
}

/// All messages of the builders, with and without headers.
fn all() -> Vec<Message> {
    let mut all = vec![end_of_thread()];
    let value = |present: bool| present.then_some(Value::Register(Register::grf(5)));
    for blocks in [MdcDbOw::OW1L, MdcDbOw::OW1U, MdcDbOw::OW2, MdcDbOw::OW4, MdcDbOw::OW8] {
        all.push(oword_block_read(3, blocks, 7.into()).unwrap());
        all.push(oword_block_write(3, blocks, Register::grf(5).into()).unwrap());
    }
    for simd in [Simd::Eight, Simd::Sixteen] {
        for header in BOTH.map(value) {
            all.push(dword_scattered_read(3, simd, header));
            all.push(dword_scattered_write(3, simd, header));
            for size in [MdcDs::B, MdcDs::W, MdcDs::DW] {
                all.push(byte_scattered_read(3, simd, size, header).unwrap());
                all.push(byte_scattered_write(3, simd, size, header).unwrap());
            }
            for channels in (0..15).map(|bits| MdcCmask::new(bits).unwrap()) {
                all.push(untyped_read(3, simd, channels, header).unwrap());
                all.push(untyped_write(3, simd, channels, header).unwrap());
                for coordinates in COORDINATES {
                    let slots = if simd == Simd::Eight { MdcSg3::SG8L } else { MdcSg3::SG8U };
                    all.push(typed_read(3, slots, coordinates, channels, header).unwrap());
                    all.push(typed_write(3, slots, coordinates, channels, header).unwrap());
                }
            }
            for operation in (1..16).map(|bits| MdcAop::new(bits).unwrap()) {
                for returns in BOTH {
                    all.push(untyped_atomic(3, simd, operation, returns, header).unwrap());
                    let slots = if simd == Simd::Eight { MdcSg2::SG8L } else { MdcSg2::SG8U };
                    for n in COORDINATES {
                        let message = typed_atomic(3, slots, n, operation, returns, header);
                        all.push(message.unwrap());
                    }
                }
            }
        }
        for kind in (0..32).map(|bits| Type::new(bits).unwrap()) {
            for coordinates in COORDINATES {
                for header in [None, Some(SamplerMessageHeader::new())] {
                    let message = Sample { header, ..Sample::new(kind, simd, coordinates) };
                    all.extend(sample(&message).ok());
                }
            }
        }
        for bits in 0..32u8 {
            let set = |n: u8| bits >> n & 1 == 1;
            all.push(render_target_write(&RenderTarget {
                source_0_alpha: set(0),
                sample_mask: set(1),
                depth: set(2),
                header: set(3),
                pixels: value(set(4)),
                index: if set(4) { lit!(2) } else { lit!(0) },
                ..RenderTarget::new(simd)
            }));
        }
    }
    for (slot_offsets, registers) in BOTH.into_iter().flat_map(|set| [(set, 1), (set, 8)]) {
        let urb = Urb { slot_offsets, offset: lit!(5), ..Urb::new(1, registers) };
        all.push(urb_read(&urb).unwrap());
        all.push(urb_write(&urb));
        all.push(urb_write(&Urb { masks: true, ..urb }));
    }
    all
}

/// Oracles: the counts of registers of the manual (`message::lengths`), the validator, and the
/// assembler, which reads the printed messages as the same instructions.
#[test]
fn messages_are_valid() {
    let mut placed = 0;
    for message in all() {
        let reply = (message.returned() > 0).then_some(20);
        let message = match message.place(112, reply) {
            Ok(message) => message,
            Err(PayloadError::TooLong { sent }) => {
                assert!(sent > 15);
                continue;
            }
            Err(error) => panic!("{error}: {message:?}"),
        };
        placed += 1;
        let send = message.send().send.unwrap();
        let Descriptor::Immediate(descriptor) = send.descriptor else { panic!() };
        let description = describe(send.function, descriptor);
        assert!(!description.contradicts_lengths(), "{description}");
        assert!(description.lengths().is_some(), "{description}");
        assert_eq!((description.sent, description.returned), (message.sent(), message.returned()));
        let instructions = message.instructions();
        for instruction in &instructions {
            let findings = validate::instruction(instruction);
            assert!(findings.is_empty(), "{instruction}: {findings:?}");
        }
        let text = message.to_string();
        let kernel = assemble(&text, Syntax::Iga, &Options::default()).unwrap();
        let lines: Vec<Instruction> =
            kernel.lines.iter().map(|line| line.located.instruction).collect();
        assert_eq!(lines, instructions, "{text}");
    }
    assert!(placed > 800);
}

/// Oracle: the orders of 2d p.115-434 and of Mesa's lower_sampler_logical_send_gfx7.
#[test]
fn parts_follow_each_other() {
    let atomic = untyped_atomic(0, Simd::Sixteen, MdcAop::AOP_CMPWR, true, Some(1.into()));
    let atomic = atomic.unwrap().place(10, Some(30)).unwrap();
    let parts = [Part::Header, Part::Offset, Part::Operand0, Part::Operand1, Part::Data];
    assert_eq!(
        parts.map(|part| atomic.register(part)),
        [Some(10), Some(11), Some(13), Some(15), None]
    );
    assert_eq!([Part::Data, Part::Red].map(|part| atomic.reply(part)), [Some(30), None]);

    let typed = typed_write(0, MdcSg3::SG8L, Coordinates::Three, MdcCmask::GA, None).unwrap();
    let typed = typed.place(40, None).unwrap();
    let parts = [
        Part::CoordinateU,
        Part::CoordinateV,
        Part::CoordinateR,
        Part::Lod,
        Part::Red,
        Part::Green,
        Part::Blue,
        Part::Alpha,
    ];
    let expected = [Some(40), Some(41), Some(42), None, None, Some(43), None, Some(44)];
    assert_eq!(parts.map(|part| typed.register(part)), expected);

    let load = Sample { components: 3, ..Sample::new(Type::LD, Simd::Sixteen, Coordinates::Three) };
    let load = sample(&load).unwrap().place(50, Some(60)).unwrap();
    let parts = [Part::CoordinateU, Part::Lod, Part::CoordinateV, Part::CoordinateR]
        .map(|part| load.register(part));
    assert_eq!(parts, [Some(50), Some(52), Some(54), Some(56)]);
    let parts = [Part::Red, Part::Green, Part::Blue, Part::Alpha].map(|part| load.reply(part));
    assert_eq!(parts, [Some(60), Some(62), Some(64), None]);

    let write = RenderTarget {
        source_0_alpha: true,
        sample_mask: true,
        depth: true,
        ..RenderTarget::new(Simd::Eight)
    };
    let write = render_target_write(&write).ends_thread().place(112, None).unwrap();
    let parts = [Part::Source0Alpha, Part::SampleMask, Part::Red, Part::Alpha, Part::Depth];
    let expected = [114, 115, 116, 119, 120].map(Some);
    assert_eq!(parts.map(|part| write.register(part)), expected);

    let urb = Urb { slot_offsets: true, masks: true, ..Urb::new(2, 4) };
    let urb = urb_write(&urb).place(20, None).unwrap();
    let parts = [Part::Header, Part::Offset, Part::Mask, Part::Data].map(|part| urb.register(part));
    assert_eq!(parts, [20, 21, 22, 23].map(Some));

    // Components that the header masks are not returned.
    let header =
        SamplerMessageHeader { green_write_channel_mask: true, ..SamplerMessageHeader::new() };
    let masked =
        Sample { header: Some(header), ..Sample::new(Type::SAMPLE, Simd::Eight, Coordinates::Two) };
    assert_eq!(shape(sample(&masked)), (3, 3));
}

/// Oracle: Mesa's code for the same headers (brw_fs_generator.cpp, brw_fs.cpp).
#[test]
fn headers_are_copies_of_r0() {
    let text = |message: Message, reply| {
        let placed = message.place(112, reply).unwrap();
        let words =
            |line: &Instruction| line.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        placed.header().iter().map(words).collect::<Vec<_>>()
    };
    let copy = "(W) mov (8|M0) r112.0<1>:ud r0.0<8;8,1>:ud";
    assert_eq!(
        text(oword_block_read(0, MdcDbOw::OW2, 3.into()).unwrap(), Some(20)),
        [copy, "(W) mov (1|M0) r112.2<1>:ud 0x3:ud"]
    );
    let offset = Register::Grf { number: 6, byte: 20 };
    assert_eq!(
        text(dword_scattered_read(0, Simd::Eight, Some(offset.into())), Some(20)),
        [copy, "(W) mov (1|M0) r112.2<1>:ud r6.5<0;1,0>:ud"]
    );
    let write = RenderTarget {
        source_0_alpha: true,
        index: lit!(3),
        pixels: Some(Register::Grf { number: 6, byte: 20 }.into()),
        ..RenderTarget::new(Simd::Eight)
    };
    assert_eq!(
        text(render_target_write(&write), None),
        [
            "(W) mov (16|M0) r112.0<1>:ud r0.0<8;8,1>:ud",
            "(W) or (1|M0) r112.0<1>:ud r112.0<0;1,0>:ud 0x800:ud",
            "(W) mov (1|M0) r112.2<1>:ud 0x3:ud",
            "(W) mov (1|M0) r113.14<1>:uw r6.10<0;1,0>:uw",
        ]
    );
    let header = SamplerMessageHeader {
        u_offset: lit!(-1),
        v_offset: lit!(2),
        ..SamplerMessageHeader::new()
    };
    let texel =
        Sample { header: Some(header), ..Sample::new(Type::LD, Simd::Eight, Coordinates::Two) };
    assert_eq!(
        text(sample(&texel).unwrap(), Some(20)),
        [copy, "(W) mov (1|M0) r112.2<1>:ud 0xF20:ud"]
    );
    assert_eq!(
        text(urb_write(&Urb::new(1, 4)), None),
        ["(W) mov (8|M0) r112.0<1>:ud r1.0<8;8,1>:ud"]
    );
    // A header that is already there is not copied.
    let urb = urb_write(&Urb::new(1, 4)).place(1, None).unwrap();
    assert_eq!(urb.header(), []);
}

#[test]
fn errors_say_what_does_not_fit() {
    let read = untyped_read(0, Simd::Sixteen, MdcCmask::RGBA, None).unwrap();
    let write = untyped_write(0, Simd::Sixteen, MdcCmask::RGBA, None).unwrap();
    let in_place = RenderTarget { header: true, ..RenderTarget::new(Simd::Eight) };
    assert!(render_target_write(&in_place).place(0, None).is_ok());
    assert!(read.place(126, Some(118)).is_ok() && write.place(118, None).is_ok());
    let derivatives =
        |coordinates| sample(&Sample::new(Type::SAMPLE_D, Simd::Sixteen, coordinates));
    assert!(derivatives(Coordinates::Two).unwrap().place(10, Some(30)).is_ok());
    let pixels = RenderTarget { pixels: Some(0x1_0000.into()), ..RenderTarget::new(Simd::Eight) };
    for (result, expected) in [
        (read.place(127, Some(10)), PayloadError::Beyond { first: 127, count: 2 }),
        (write.place(119, None), PayloadError::Beyond { first: 119, count: 10 }),
        (write.place(255, None), PayloadError::Beyond { first: 255, count: 10 }),
        (read.place(10, Some(121)), PayloadError::ReplyBeyond { first: 121, count: 8 }),
        (read.place(125, Some(120)), PayloadError::Overlap { payload: 125, reply: 120 }),
        (read.place(10, None), PayloadError::NoReplyRegister { returned: 8 }),
        (write.place(10, Some(20)), PayloadError::NoReply),
        (
            derivatives(Coordinates::Three).unwrap().place(10, Some(30)),
            PayloadError::TooLong { sent: 18 },
        ),
        (urb_write(&Urb::new(1, 255)).place(10, None), PayloadError::TooLong { sent: 256 }),
        (
            urb_read(&Urb::new(1, 17)).unwrap().place(10, Some(20)),
            PayloadError::ReplyTooLong { returned: 17 },
        ),
        (end_of_thread().place(111, None), PayloadError::EndOfThread { first: 111 }),
        (
            read.clone().ends_thread().place(112, Some(20)),
            PayloadError::EndWithReply { returned: 8 },
        ),
        (
            oword_block_write(0, MdcDbOw::OW2, Register::grf(10).into()).unwrap().place(10, None),
            PayloadError::Overwritten { first: 10, register: 10 },
        ),
        (
            render_target_write(&RenderTarget { header: true, pixels: None, ..pixels })
                .place(1, None),
            PayloadError::Overwritten { first: 1, register: 1 },
        ),
        (
            render_target_write(&pixels).place(112, None),
            PayloadError::Constant { value: 0x1_0000, bits: 16 },
        ),
    ] {
        assert_eq!(result, Err(expected), "{expected}");
    }
    assert_eq!(
        PayloadError::Beyond { first: 119, count: 10 }.to_string(),
        "10 registers of payload do not fit from r119 on: the last register is r127, so start at \
         r118 or below"
    );
}

#[test]
fn reserved_values_have_no_builder() {
    let blocks = MdcDbOw::new(5).unwrap();
    let components =
        |n| Sample { components: n, ..Sample::new(Type::LD, Simd::Eight, Coordinates::One) };
    for result in [
        oword_block_read(0, blocks, 0.into()),
        oword_block_write(0, blocks, 0.into()),
        byte_scattered_read(0, Simd::Eight, MdcDs::new(3).unwrap(), None),
        untyped_read(0, Simd::Eight, MdcCmask::new(15).unwrap(), None),
        untyped_atomic(0, Simd::Eight, MdcAop::AOP_CMPWR_2W, false, None),
        typed_atomic(0, MdcSg2::SG8L, Coordinates::One, MdcAop::AOP_CMPWR_2W, false, None),
        typed_read(0, MdcSg3::SG4X2, Coordinates::One, MdcCmask::RGBA, None),
        typed_write(0, MdcSg3::SG8L, Coordinates::One, MdcCmask::new(15).unwrap(), None),
        urb_read(&Urb { masks: true, ..Urb::new(1, 1) }),
        sample(&Sample::new(Type::SAMPLEINFO, Simd::Eight, Coordinates::One)),
        sample(&components(0)),
        sample(&components(5)),
    ] {
        assert!(matches!(result, Err(PayloadError::Unsupported { .. })), "{result:?}");
    }
}
