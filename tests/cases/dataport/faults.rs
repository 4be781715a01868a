//! Messages that the manual does not allow, and unmapped memory. Each fault says what is wrong and
//! where.

use crate::dataport::probe::{DATA, Message, Probe, Register, Unit, World, null};
use genxml::eu::gen8::descriptors::{MdcA64Ds, MdcCmask, MdcSm2r, MdcSm3};
use genxml::eu::gen8::eu_messages::{
    A64BlockSubtype, A64ScatteredSubtype, MdcAop, Msd0Bs, Msd0Dws, Msd0Scratch, Msd1A64Ai,
    Msd1A64AiDataWidth, Msd1A64B, Msd1A64S, Msd1Tac, Msd1Uai, Msd1Us,
};
use genxml::gen8::messages::{
    DataPort0MessageDescriptor, DataPort1MessageDescriptor, MdcDbOw, MhMb, MhcMbControl, Msd0rOwb,
    Msd1rMb, Msd1rTt, Msd1wMb, MtDp0, MtDp1,
};
use genxml::gen8::state::{
    NumberOfMultisamples, RenderSurfaceState, RenderSurfaceStateExtent, RenderSurfaceStateView,
    SurfaceFormat, SurfaceType, TileMode,
};
use genxml_cases::{Random, at, raw_buffer, u};
use genxml_core::{MinusOne, S, Shifted};
use genxml_sim::Fault;

fn tiled() -> RenderSurfaceState {
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8_UINT,
        tile_mode: TileMode::YMAJOR,
        surface_pitch: MinusOne::new(128).expect("a pitch"),
        surface_base_address: at(DATA),
        extent: RenderSurfaceStateExtent::Image {
            height: MinusOne::new(32).expect("rows"),
            width: MinusOne::new(32).expect("columns"),
            depth: MinusOne::ONE,
        },
        ..RenderSurfaceState::new()
    }
}

/// A message of `registers` registers, all zeros.
fn message(unit: Unit, descriptor: [u32; 1], registers: usize) -> Message {
    Message {
        unit,
        channels: 8,
        mask: 255,
        descriptor: descriptor[0],
        payload: vec![[0; 8]; registers],
    }
}

fn fault(message: &Message) -> Fault {
    let mut random = Random::new(51);
    let world = World::random(&mut random);
    let mut probe = Probe::new(vec![raw_buffer(DATA, 256), tiled(), null()], vec![]);
    match probe.send(message, &world, false) {
        Err(fault) => fault,
        Ok(_) => panic!("{message:x?} should fault"),
    }
}

/// Checks that the fault is an illegal instruction of the kernel and contains the text `says`.
fn illegal(message: &Message, says: &str) {
    let fault = fault(message);
    assert!(matches!(fault, Fault::IllegalInstruction { .. }), "{fault}");
    let text = fault.to_string();
    assert!(
        text.contains(says) && text.contains("kernel at") && text.contains("GPGPU_WALKER"),
        "{text}"
    );
}

const READ: Msd1Us = Msd1Us {
    channel_mask: MdcCmask::R,
    simd_mode: MdcSm3::SIMD8,
    message_type: MtDp1::MT1R_US,
    ..Msd1Us::new()
};

/// The lengths in the descriptor must be exact, except that the response length may be 0. Too long
/// is an error, as too short is (G45 vol 4, 2.6.11).
#[test]
fn lengths() {
    let good = Msd1Us { response_length: u(1), message_length: u(1), ..READ };
    for (sent, back) in [(2, 1), (1, 2), (3, 1), (1, 8)] {
        let wrong = Msd1Us { response_length: u(back), message_length: u(sent), ..good };
        illegal(&message(Unit::Port1, wrong.pack(), 3), "needs 1 registers (message length)");
    }
    let wrong = Msd1Us { header_present: true, ..good };
    illegal(&message(Unit::Port1, wrong.pack(), 1), "needs 2 registers (message length)");
    // With response length 0, nothing is returned.
    let dropped = Msd1Us { response_length: u(0), ..good };
    let mut random = Random::new(52);
    let world = World::random(&mut random);
    let mut probe = Probe::new(vec![raw_buffer(DATA, 256)], vec![]);
    assert_eq!(probe.send(&message(Unit::Port1, dropped.pack(), 1), &world, false).unwrap(), world);
}

#[test]
fn headers() {
    let long = Msd1Us {
        binding_table_index: u(255),
        message_type: MtDp1::MT1R_A64_US,
        header_present: true,
        response_length: u(1),
        message_length: u(3),
        ..READ
    };
    illegal(&message(Unit::Port1, long.pack(), 3), "with a header, which it must not have");
    let scattered = Msd1A64S {
        binding_table_index: u(255),
        subtype: A64ScatteredSubtype::DWORD,
        message_type: MtDp1::MT1R_A64_SB,
        header_present: true,
        response_length: u(1),
        message_length: u(3),
        ..Msd1A64S::new()
    };
    illegal(&message(Unit::Port1, scattered.pack(), 3), "with a header");
    let atomic = Msd1A64Ai {
        binding_table_index: u(255),
        atomic_integer_operation_type: MdcAop::AOP_INC,
        message_type: MtDp1::MT1A_A64_UI,
        header_present: true,
        message_length: u(3),
        ..Msd1A64Ai::new()
    };
    illegal(&message(Unit::Port1, atomic.pack(), 3), "with a header");
    let block = Msd0rOwb {
        header_present: false,
        response_length: u(1),
        message_length: u(1),
        ..Msd0rOwb::new()
    };
    illegal(&message(Unit::Port0, block.pack(), 1), "without a header");
    let scratch = Msd0Scratch { response_length: u(1), message_length: u(1), ..Msd0Scratch::new() };
    illegal(&message(Unit::Port0, scratch.pack(), 1), "without a header");
    let counter = Msd1Tac {
        atomic_integer_operation_type: MdcAop::AOP_INC,
        simd_mode: MdcSm2r::SIMD8,
        message_type: MtDp1::MT1A_TC,
        message_length: u(1),
        ..Msd1Tac::new()
    };
    illegal(&message(Unit::Port1, counter.pack(), 1), "without a header");
    let media = Msd1rMb {
        header_present: false,
        response_length: u(1),
        message_length: u(1),
        ..Msd1rMb::new()
    };
    illegal(&message(Unit::Port1, media.pack(), 1), "without a header");
}

/// Reserved SIMD modes, channel masks and binding table indexes of untyped surface reads.
#[test]
fn reserved_values_of_surface_messages() {
    let port_1 = |descriptor: [u32; 1], registers| message(Unit::Port1, descriptor, registers);
    let read = Msd1Us { response_length: u(1), message_length: u(1), ..READ };
    illegal(&port_1(Msd1Us { simd_mode: MdcSm3::from_bits(3), ..read }.pack(), 1), "SIMD Mode = 3");
    illegal(
        &port_1(Msd1Us { channel_mask: MdcCmask::from_bits(15), ..read }.pack(), 1),
        "Channel Mask = 15",
    );
    for index in [240, 252] {
        let read = Msd1Us { binding_table_index: u(index), ..read };
        illegal(&port_1(read.pack(), 1), &format!("Binding Table Index = {index}"));
    }
}

/// Reserved binding table indexes, sizes and subtypes of oword blocks.
#[test]
fn reserved_values_of_blocks() {
    let port_1 = |descriptor: [u32; 1], registers| message(Unit::Port1, descriptor, registers);
    // Blocks cannot access shared local memory (MDC_BTS_A32).
    let block = Msd0rOwb {
        binding_table_index: u(254),
        header_present: true,
        response_length: u(1),
        message_length: u(1),
        ..Msd0rOwb::new()
    };
    illegal(&message(Unit::Port0, block.pack(), 1), "Binding Table Index = 254");
    let block = Msd0rOwb { binding_table_index: u(0), data_blocks: MdcDbOw::from_bits(5), ..block };
    illegal(&message(Unit::Port0, block.pack(), 1), "Data Blocks = 5");
    // The constant cache has no stateless reads.
    let block = Msd0rOwb { binding_table_index: u(255), data_blocks: MdcDbOw::OW2, ..block };
    illegal(&message(Unit::Constant, block.pack(), 1), "Binding Table Index = 255");
    // Unaligned owords can only be read.
    let block = Msd1A64B {
        binding_table_index: u(255),
        data_blocks: u(2),
        subtype: A64BlockSubtype::UNALIGNED_OWORD,
        message_type: MtDp1::MT1W_A64_B,
        header_present: true,
        message_length: u(2),
        ..Msd1A64B::new()
    };
    illegal(&port_1(block.pack(), 2), "A64 Block Message Subtype = 1");
}

/// Reserved binding table indexes, sizes and subtypes of scattered messages.
#[test]
fn reserved_values_of_scattered_messages() {
    let port_1 = |descriptor: [u32; 1], registers| message(Unit::Port1, descriptor, registers);
    // Scattered dwords cannot access shared local memory (MDC_BTS_A32).
    let dwords = Msd0Dws {
        binding_table_index: u(254),
        message_type: MtDp0::MT0R_DWS,
        response_length: u(1),
        message_length: u(1),
        ..Msd0Dws::new()
    };
    illegal(&message(Unit::Port0, dwords.pack(), 1), "Binding Table Index = 254");
    let bytes = Msd0Bs {
        data_elements: genxml::eu::gen8::descriptors::MdcDs::from_bits(3),
        message_type: MtDp0::MT0R_BS,
        response_length: u(1),
        message_length: u(1),
        ..Msd0Bs::new()
    };
    illegal(&message(Unit::Port0, bytes.pack(), 1), "Data Elements = 3");
    let scattered = Msd1A64S {
        binding_table_index: u(255),
        subtype: A64ScatteredSubtype::QWORD,
        data_size: MdcA64Ds::DE8,
        message_type: MtDp1::MT1R_A64_SB,
        response_length: u(16),
        message_length: u(2),
        ..Msd1A64S::new()
    };
    illegal(&port_1(scattered.pack(), 2), "Data Elements = 3");
    let scattered = Msd1A64S { subtype: A64ScatteredSubtype::from_bits(3), ..scattered };
    illegal(&port_1(scattered.pack(), 2), "A64 Scattered Message Subtype = 3");
}

/// Reserved operations and SIMD modes of atomics and append counters.
#[test]
fn reserved_values_of_atomics() {
    let port_1 = |descriptor: [u32; 1], registers| message(Unit::Port1, descriptor, registers);
    let atomic = Msd1A64Ai {
        binding_table_index: u(255),
        atomic_integer_operation_type: MdcAop::AOP_CMPWR_2W,
        message_type: MtDp1::MT1A_A64_UI4X2,
        message_length: u(2),
        ..Msd1A64Ai::new()
    };
    illegal(&port_1(atomic.pack(), 2), "Atomic Integer Operation Type = 0");
    let counter = Msd1Tac {
        atomic_integer_operation_type: MdcAop::AOP_CMPWR,
        simd_mode: MdcSm2r::SIMD8,
        message_type: MtDp1::MT1A_TC,
        header_present: true,
        message_length: u(3),
        ..Msd1Tac::new()
    };
    illegal(&port_1(counter.pack(), 3), "Atomic Integer Operation Type = 14");
    let counter = Msd1Tac {
        simd_mode: MdcSm2r::SIMD16,
        atomic_integer_operation_type: MdcAop::AOP_INC,
        ..counter
    };
    illegal(&port_1(counter.pack(), 3), "SIMD Mode = 0");
    let counter = Msd1Tac { simd_mode: MdcSm2r::SIMD8, message_length: u(1), ..counter };
    illegal(&port_1(counter.pack(), 1), "without an append counter");
}

/// Message types that the manual does not describe.
#[test]
fn reserved_message_types() {
    let port_1 = |descriptor: [u32; 1], registers| message(Unit::Port1, descriptor, registers);
    let unknown = DataPort1MessageDescriptor {
        message_type: MtDp1::from_bits(0x1f),
        message_length: u(1),
        ..DataPort1MessageDescriptor::new()
    };
    illegal(&port_1(unknown.pack(), 1), "data port 1 message 0x1f: the type is reserved");
    let unknown = DataPort0MessageDescriptor {
        message_type: MtDp0::from_bits(0xf),
        message_length: u(1),
        ..DataPort0MessageDescriptor::new()
    };
    illegal(
        &message(Unit::Port0, unknown.pack(), 1),
        "data port 0 message 0xf: the type is reserved",
    );
}

/// There are three float atomics (IGC, Mesa). None works on qwords.
#[test]
fn float_atomics_that_are_reserved() {
    let why = "Atomic Float Operation Type";
    let message_length = u(2);
    let port_1 = |descriptor: [u32; 1]| message(Unit::Port1, descriptor, 2);
    for operation in [0, 4, 15] {
        let atomic_integer_operation_type = MdcAop::from_bits(operation);
        for message_type in [MtDp1::MT1A_UF, MtDp1::MT1A_UF4X2] {
            let descriptor = Msd1Uai {
                message_type,
                atomic_integer_operation_type,
                message_length,
                ..Msd1Uai::new()
            };
            illegal(&port_1(descriptor.pack()), why);
        }
        for message_type in [MtDp1::MT1A_A64_UF, MtDp1::MT1A_A64_UF4X2] {
            let descriptor = Msd1A64Ai {
                message_type,
                atomic_integer_operation_type,
                message_length,
                ..Msd1A64Ai::new()
            };
            illegal(&port_1(descriptor.pack()), why);
        }
    }
    let descriptor = Msd1A64Ai {
        message_type: MtDp1::MT1A_A64_UF,
        atomic_integer_operation_type: MdcAop::from_bits(1),
        data_width: Msd1A64AiDataWidth::QWORD,
        message_length,
        ..Msd1A64Ai::new()
    };
    illegal(&port_1(descriptor.pack()), "Data Width");
}

#[test]
fn surfaces_of_the_wrong_kind() {
    let read =
        Msd1Us { binding_table_index: u(1), response_length: u(1), message_length: u(1), ..READ };
    illegal(&message(Unit::Port1, read.pack(), 1), "of a tiled surface");
    let media = Msd1rMb {
        header_present: true,
        response_length: u(1),
        message_length: u(1),
        ..Msd1rMb::new()
    };
    illegal(&message(Unit::Port1, media.pack(), 1), "a media block read of a buffer");
}

/// Media blocks access only two-dimensional surfaces, not arrays or multisampled ones (G45 vol 4,
/// 5.10.4; 2d RENDER_SURFACE_STATE, Media Boundary Pixel Mode).
#[test]
fn media_blocks_of_other_images() {
    let of = |surface_type, array, slices: u64| RenderSurfaceState {
        surface_type,
        surface_array: array,
        surface_qpitch: Shifted::new(32).expect("a multiple of 4"),
        extent: RenderSurfaceStateExtent::Image {
            height: MinusOne::new(32).expect("rows"),
            width: MinusOne::new(32).expect("columns"),
            depth: MinusOne::new(slices).expect("slices"),
        },
        ..tiled()
    };
    let mut samples = RenderSurfaceState {
        surface_qpitch: Shifted::new(32).expect("a multiple of 4"),
        ..tiled()
    };
    if let RenderSurfaceStateView::Image { number_of_multisamples, .. } = &mut samples.view {
        *number_of_multisamples = NumberOfMultisamples::from_bits(2);
    }
    let read = Msd1rMb {
        header_present: true,
        response_length: u(1),
        message_length: u(1),
        ..Msd1rMb::new()
    };
    let write = Msd1wMb { header_present: true, message_length: u(2), ..Msd1wMb::new() };
    let transpose = Msd1rTt {
        header_present: true,
        response_length: u(1),
        message_length: u(1),
        ..Msd1rTt::new()
    };
    let control =
        MhcMbControl { block_width: MinusOne::new(4).expect("1 to 64"), ..MhcMbControl::new() };
    let header = MhMb { normal_media_block_message_control: control, ..MhMb::new() }.pack();
    let mut random = Random::new(54);
    let world = World::random(&mut random);
    for (state, says) in [
        (of(SurfaceType::SURFTYPE_1D, false, 1), Some("a one-dimensional surface")),
        (of(SurfaceType::SURFTYPE_3D, false, 2), Some("a volume")),
        (of(SurfaceType::SURFTYPE_CUBE, false, 1), Some("a cube map")),
        (of(SurfaceType::SURFTYPE_2D, true, 2), Some("an array")),
        (samples, Some("a surface with several samples")),
        // An array with one slice is like a plain surface.
        (of(SurfaceType::SURFTYPE_2D, true, 1), None),
        (of(SurfaceType::SURFTYPE_2D, false, 1), None),
    ] {
        let mut probe = Probe::new(vec![state], vec![]);
        for (descriptor, registers) in [(read.pack(), 1), (write.pack(), 2), (transpose.pack(), 1)]
        {
            let mut message = message(Unit::Port1, descriptor, registers);
            message.payload[0] = header;
            match (probe.send(&message, &world, false), says) {
                (Ok(_), None) => {}
                (Err(fault), Some(says)) => {
                    assert!(fault.to_string().contains(&format!(" of {says}")), "{fault}")
                }
                (found, _) => panic!("{says:?}: {:?}", found.map(|_| ())),
            }
        }
    }
}

#[test]
fn media_blocks_out_of_shape() {
    let header = |x: i64, width: u64, height: u64| -> Register {
        MhMb {
            x_offset: S::new(x).expect("32 bits"),
            normal_media_block_message_control: MhcMbControl {
                block_width: MinusOne::new(width).expect("1 to 64"),
                block_height: MinusOne::new(height).expect("1 to 64"),
                ..MhcMbControl::new()
            },
            ..MhMb::new()
        }
        .pack()
    };
    let write = Msd1wMb {
        binding_table_index: u(1),
        header_present: true,
        message_length: u(2),
        ..Msd1wMb::new()
    };
    let send = |first: Register, says: &str| {
        let mut message = message(Unit::Port1, write.pack(), 2);
        message.payload[0] = first;
        illegal(&message, says);
    };
    send(header(2, 4, 1), "must be multiples of 4");
    send(header(0, 6, 1), "must be multiples of 4");
    send(header(0, 32, 9), "the maximum is 64 dwords");
    send(header(0, 32, 2), "needs 3 registers");
}

/// Unmapped memory: the fault names the address, the access and the unit.
#[test]
fn unmapped_memory() {
    let far = 0x7700_0000_0000u64;
    let mut random = Random::new(53);
    let world = World::random(&mut random);
    let mut probe = Probe::new(vec![], vec![]);
    for write in [false, true] {
        let descriptor = Msd1Us {
            binding_table_index: u(255),
            message_type: if write { MtDp1::MT1W_A64_US } else { MtDp1::MT1R_A64_US },
            response_length: u((!write).into()),
            message_length: u(if write { 3 } else { 2 }),
            ..READ
        };
        let mut message = message(Unit::Port1, descriptor.pack(), if write { 3 } else { 2 });
        // Only slot 2 is enabled.
        message.mask = 4;
        message.payload[0][4] = far as u32;
        message.payload[0][5] = (far >> 32) as u32;
        let found = probe.send(&message, &world, false).expect_err("nothing is there");
        let Fault::Page { fault, .. } = &found else { panic!("{found}") };
        assert_eq!((fault.address, fault.write), (far, write));
        let text = found.to_string();
        for part in ["untyped surface", "GPGPU_WALKER", "kernel at"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
