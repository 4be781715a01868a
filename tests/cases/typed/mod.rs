//! Tests of typed surface messages.
//!
//! A kernel sends the message that its constants describe and stores the response. Memory and
//! responses are compared with those of plain scalar code: [`picture`] computes the offset of an
//! element, [`element`] its bits.

mod atomics;
mod element;
mod messages;
mod picture;

use genxml::eu;
use genxml::eu::gen8::eu_messages::Msd1Ts;
use genxml::gen8::descriptors::{MdcCmask, MdcSg2, MdcSg3};
use genxml::gen8::message_headers::{Mh1BtsPsm, MhcPsm};
use genxml::gen8::messages::{MdcDbOw, MhBtsGo, Msd0wOwb, MtDp1};
use genxml::gen8::state::{InterfaceDescriptorData, RenderSurfaceState};
use genxml_cases::{Compute, Model, raw_buffer, u};
use genxml_sim::Fault;

/// Address of the stored responses.
const ANSWERS: u64 = 0x500_0000;
/// Address of surfaces.
const SURFACE: u64 = 0x600_0000;

/// r1: descriptor, channels, descriptor of the store. r2 to r11: the message. r20 to r23: the
/// response, which is stored with the header in r19.
const KERNEL: &[u32] = &eu! {
    (W) mov (1|M0)    a0.0<1>:ud  r1.0<0;1,0>:ud
    (W) mov (1|M0)    f0.0<1>:uw  r1.2<0;1,0>:uw
    (f0.0) send (8|M0)  r20  r2  0xC  a0.0
    (W) mov (1|M0)    a0.0<1>:ud  r1.2<0;1,0>:ud
    (W) send (8|M0)   null   r19    0xA  a0.0
    (W) mov (8|M0)    r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)   null   r127   0x27  0x02000010  {EOT}
};

/// The slots of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Two slots (SIMD4x2); the mask in the header is ignored.
    Pair,
    /// Eight slots. Bits 7:0 of the header's mask enable them.
    Low,
    /// Eight slots. Bits 15:8 of the header's mask enable them.
    High,
}

impl Mode {
    const ALL: [Mode; 3] = [Mode::Pair, Mode::Low, Mode::High];

    /// Enabled slots: "ANDed with the execution mask to determine which slots are accessed" (2d
    /// p.449); "ignored for SIMD4x2" (2d p.299), whose slots have four channels each.
    fn active(self, channels: u8, header: Option<u16>) -> u8 {
        let header = header.unwrap_or(0xffff);
        match self {
            Mode::Pair => u8::from(channels & 0x0f != 0) | u8::from(channels & 0xf0 != 0) << 1,
            Mode::Low => channels & header as u8,
            Mode::High => channels & (header >> 8) as u8,
        }
    }

    /// The coordinates of `place` that a message with `coordinates` coordinates contains; the
    /// others are 0. SIMD4x2 messages contain all four.
    fn sent(self, place: [u32; 4], coordinates: usize) -> [u32; 4] {
        let all = self == Mode::Pair;
        std::array::from_fn(|n| if all || n < coordinates { place[n] } else { 0 })
    }

    fn slots(self) -> usize {
        if self == Mode::Pair { 2 } else { 8 }
    }

    fn three(self) -> MdcSg3 {
        [MdcSg3::SG4X2, MdcSg3::SG8L, MdcSg3::SG8U][self as usize]
    }

    fn two(self) -> MdcSg2 {
        if self == Mode::High { MdcSg2::SG8U } else { MdcSg2::SG8L }
    }
}

/// A typed message.
struct Send {
    /// Its descriptor without the lengths.
    descriptor: u32,
    mode: Mode,
    /// Enabled channels of the send.
    channels: u8,
    /// The header's mask, if there is a header.
    header: Option<u16>,
    /// U, V, R and LOD of each slot. The message contains the first `coordinates` of them, or all
    /// in SIMD4x2.
    places: [[u32; 4]; 8],
    coordinates: usize,
    /// Registers of data: a value for each slot; for SIMD4x2 four values for each of two slots.
    data: Vec<[u32; 8]>,
    /// Number of response registers.
    back: usize,
}

/// Contents of a response register before the message.
fn before(register: usize) -> [u32; 8] {
    std::array::from_fn(|n| 0xbbbb_0000 | (8 * register + n) as u32)
}

impl Send {
    /// The registers of the message.
    fn registers(&self) -> Vec<[u32; 8]> {
        let mut registers = Vec::new();
        if let Some(mask) = self.header {
            let header =
                Mh1BtsPsm { pixel_sample_mask: MhcPsm { pixel_sample_mask: u(mask.into()) } };
            registers.push(header.pack());
        }
        match self.mode {
            Mode::Pair => {
                registers.push([self.places[0], self.places[1]].concat().try_into().unwrap())
            }
            _ => (0..self.coordinates)
                .for_each(|n| registers.push(self.places.map(|place| place[n]))),
        }
        registers.extend(&self.data);
        registers
    }

    /// Sends the message for a surface and returns the four response registers.
    fn run(&self, model: &mut Model, surface: &RenderSurfaceState) -> Result<[[u32; 8]; 4], Fault> {
        let message = self.registers();
        assert!(message.len() <= 10);
        let descriptor = self.descriptor
            | (message.len() as u32) << 25
            | (self.back as u32) << 20
            | u32::from(self.header.is_some()) << 19;
        let store = Msd0wOwb {
            binding_table_index: u(1),
            data_blocks: MdcDbOw::OW8,
            header_present: true,
            message_length: u(5),
            ..Msd0wOwb::new()
        };
        let mut registers = [[0; 8]; 24];
        registers[1][..3].copy_from_slice(&[descriptor, self.channels.into(), store.pack()[0]]);
        registers[2..2 + message.len()].copy_from_slice(&message);
        registers[19] = MhBtsGo { global_offset: u(0) }.pack();
        (0..4).for_each(|n| registers[20 + n] = before(n));
        let compute = Compute {
            surfaces: vec![*surface, raw_buffer(ANSWERS, 128)],
            curbe: bytemuck::cast_slice(registers[1..].as_flattened()).to_vec(),
            shared: 23,
            // A hint; decoders use it, because the kernel computes its descriptors.
            descriptor: InterfaceDescriptorData {
                binding_table_entry_count: u(2),
                ..InterfaceDescriptorData::new()
            },
            ..Compute::new(KERNEL)
        };
        compute.run(model)?;
        let answers = model.get(ANSWERS, 32);
        Ok(std::array::from_fn(|n| answers[8 * n..8 * n + 8].try_into().unwrap()))
    }
}

/// A model with memory for responses and surfaces.
fn model() -> Model {
    let mut model = Model::new();
    model.map(ANSWERS, 4096);
    model.map(SURFACE, picture::BYTES);
    model
}

/// A typed read or write of the channels `present`. (A set bit of the descriptor disables a
/// channel.)
fn transfer(write: bool, mode: Mode, present: u8) -> u32 {
    Msd1Ts {
        channel_mask: MdcCmask::from_bits(u64::from(!present & 0xf)),
        slot_group: mode.three(),
        message_type: if write { MtDp1::MT1W_TS } else { MtDp1::MT1R_TS },
        ..Msd1Ts::new()
    }
    .pack()[0]
}

/// Random surface states, descriptors and coordinates: each message ends with a fault or a result,
/// without a panic.
#[test]
fn any_bits() {
    let (mut model, mut random) = (model(), genxml_cases::Random::new(7));
    let mut ends = 0;
    for _ in 0..12000 {
        let mode = Mode::ALL[random.below(3) as usize];
        let kind = [0x05, 0x06, 0x07, 0x0d][random.below(4) as usize];
        let mut dwords: [u32; RenderSurfaceState::DWORDS] =
            std::array::from_fn(|_| random.bits() as u32);
        // R32_UINT in half of the cases, and always an address in mapped memory.
        if random.below(2) == 0 {
            dwords[0] = dwords[0] & !(0x1ff << 18) | 0xd7 << 18;
        }
        dwords[8] = SURFACE as u32 + (random.below(64) as u32) * 4096;
        dwords[9] = 0;
        let message = Send {
            descriptor: random.bits() as u32 & 0x3f00 | kind << 14,
            mode,
            channels: random.bits() as u8,
            header: Some(random.bits() as u16),
            places: [0; 8].map(|_| [0; 4].map(|_| random.bits() as u32 >> random.below(32))),
            coordinates: 1 + random.below(4) as usize,
            data: vec![[0x55; 8]; random.below(5) as usize],
            back: random.below(5) as usize,
        };
        ends +=
            u32::from(message.run(&mut model, &RenderSurfaceState::unpack_lossy(&dwords)).is_ok());
    }
    assert!(ends > 100, "{ends}");
}
