//! Tests of the sampler.
//!
//! A kernel sends the message that its constants describe and stores the response. [`texture`]
//! computes the offsets of a surface's texels by hand; [`reference`] samples the surface with plain
//! scalar code in doubles, written from the manual's text.

mod filters;
mod formats;
mod gathers;
mod loads;
mod lods;
mod media;
mod messages;
mod quality;
mod queries;
mod reference;
mod texture;

use genxml::eu;
use genxml::eu::gen8::eu_payloads::SamplerMessageHeader;
use genxml::gen8::media::GpgpuWalkerSimdSize;
use genxml::gen8::messages::{
    MdcDbOw, MessageDescriptorSamplingEngine, MessageDescriptorSamplingEngineMessageType as Type,
    MessageDescriptorSamplingEngineSimdMode10 as Mode, MhBtsGo, Msd0wOwb,
};
use genxml::gen8::render3d_binding::SamplerIndirectState;
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSamplerCount, RenderSurfaceState, SamplerState,
    ShaderChannelSelect,
};
use genxml_cases::{Compute, DYNAMIC_STATE, Model, SURFACE_STATE, at, raw_buffer, u};
use genxml_sim::Fault;

/// Address of the stored responses.
const ANSWERS: u64 = 0x500_0000;
/// Address of surfaces.
const SURFACE: u64 = 0x600_0000;
/// Offset of the sampler states in the dynamic state.
const SAMPLERS: u64 = 0x2000;
/// Offset of the border colour in the dynamic state.
const BORDER: u64 = 0x3000;
/// Largest number of response registers.
const ANSWER: usize = 16;

/// r1: descriptor, channels, descriptor of the stores. r2 to r13: the message. r20 to r35: the
/// response, which is stored in four parts with the headers r19 and r14 to r16.
const KERNEL: &[u32] = &eu! {
    (W) mov (1|M0)    a0.0<1>:ud  r1.0<0;1,0>:ud
    (W) mov (1|M0)    f0.0<1>:uw  r1.2<0;1,0>:uw
    (f0.0) send (16|M0)  r20  r2  0x2  a0.0
    (W) mov (1|M0)    a0.0<1>:ud  r1.2<0;1,0>:ud
    (W) send (8|M0)   null   r19    0xA  a0.0
    (W) mov (8|M0)    r23.0<1>:ud  r14.0<8;8,1>:ud
    (W) send (8|M0)   null   r23    0xA  a0.0
    (W) mov (8|M0)    r27.0<1>:ud  r15.0<8;8,1>:ud
    (W) send (8|M0)   null   r27    0xA  a0.0
    (W) mov (8|M0)    r31.0<1>:ud  r16.0<8;8,1>:ud
    (W) send (8|M0)   null   r31    0xA  a0.0
    (W) mov (8|M0)    r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)   null   r127   0x27  0x02000010  {EOT}
};

/// Sends a message from the lanes of the mask `channels`, for the surface whose state has the
/// dwords `surface`. Sets the message length of the descriptor. Returns the response registers.
fn exchange(
    model: &mut Model,
    descriptor: MessageDescriptorSamplingEngine,
    channels: u16,
    message: &[[u32; 8]],
    surface: &[u32],
    samplers: &[u32],
) -> Result<[[u32; 8]; ANSWER], Fault> {
    assert!(message.len() <= 12);
    let descriptor =
        MessageDescriptorSamplingEngine { message_length: u(message.len() as u64), ..descriptor };
    let store = Msd0wOwb {
        binding_table_index: u(1),
        data_blocks: MdcDbOw::OW8,
        header_present: true,
        message_length: u(5),
        ..Msd0wOwb::new()
    };
    let mut registers = [[0; 8]; 36];
    registers[1][..3].copy_from_slice(&[descriptor.pack()[0], channels.into(), store.pack()[0]]);
    registers[2..2 + message.len()].copy_from_slice(message);
    for (n, register) in [19, 14, 15, 16].into_iter().enumerate() {
        registers[register] = MhBtsGo { global_offset: u(8 * n as u64) }.pack();
    }
    (0..ANSWER).for_each(|n| registers[20 + n] = before(n));
    model.put(DYNAMIC_STATE + SAMPLERS, samplers);
    let compute = Compute {
        surfaces: vec![RenderSurfaceState::new(), raw_buffer(ANSWERS, 32 * ANSWER as u64)],
        curbe: bytemuck::cast_slice(registers[1..].as_flattened()).to_vec(),
        shared: 35,
        simd: GpgpuWalkerSimdSize::SIMD16,
        descriptor: InterfaceDescriptorData {
            sampler_state_pointer: at(SAMPLERS),
            // Hints; decoders use them, because the kernel computes its descriptors.
            sampler_count: InterfaceDescriptorDataSamplerCount::BETWEEN_1_AND_4_SAMPLERS_USED,
            binding_table_entry_count: u(2),
            ..InterfaceDescriptorData::new()
        },
        ..Compute::new(KERNEL)
    };
    let batch = compute.batch(model);
    model.put(SURFACE_STATE, surface);
    model.render(&batch)?;
    let answers = model.get(ANSWERS, 8 * ANSWER);
    Ok(std::array::from_fn(|n| answers[8 * n..8 * n + 8].try_into().unwrap()))
}

/// A message for the sampler.
#[derive(Clone, Debug)]
struct Send {
    kind: Type,
    simd: Mode,
    header: Option<SamplerMessageHeader>,
    /// Index of the sampler.
    sampler: u64,
    /// Enabled channels of the send.
    channels: u16,
    /// Parameters in order, with a value for each lane. For SIMD4x2: the registers, of which only
    /// the first 8 values are used.
    parameters: Vec<[u32; 16]>,
    /// Number of response registers.
    back: usize,
}

/// Contents of a response register before the message.
fn before(register: usize) -> [u32; 8] {
    std::array::from_fn(|n| 0xbbbb_0000 | (8 * register + n) as u32)
}

impl Send {
    /// A message without a header, with all lanes enabled and a response of all channels.
    fn new(kind: Type, simd: Mode, parameters: Vec<[u32; 16]>) -> Send {
        let back = match simd {
            Mode::SIMD4X2 => 1,
            Mode::SIMD8 => 4,
            _ => 8,
        };
        Send { kind, simd, header: None, sampler: 0, channels: 0xffff, parameters, back }
    }

    /// The registers of the message.
    fn registers(&self) -> Vec<[u32; 8]> {
        let mut registers: Vec<[u32; 8]> =
            self.header.iter().map(SamplerMessageHeader::pack).collect();
        for lanes in &self.parameters {
            let (low, high) = lanes.split_at(8);
            registers.push(low.try_into().unwrap());
            if self.simd == Mode::SIMD16 {
                registers.push(high.try_into().unwrap());
            }
        }
        registers
    }

    /// Sends the message for a surface and returns the response registers.
    fn run(
        &self,
        model: &mut Model,
        surface: &RenderSurfaceState,
        samplers: &[SamplerState],
    ) -> Result<[[u32; 8]; ANSWER], Fault> {
        let descriptor = MessageDescriptorSamplingEngine {
            binding_table_index: u(0),
            sampler_index: u(self.sampler),
            message_type: self.kind,
            simd_mode_1_0: self.simd,
            header_present: self.header.is_some(),
            response_length: u(self.back as u64),
            ..MessageDescriptorSamplingEngine::new()
        };
        let states: Vec<u32> = samplers.iter().flat_map(SamplerState::pack).collect();
        let message = self.registers();
        exchange(model, descriptor, self.channels, &message, &surface.pack(), &states)
    }

    /// The colours of all lanes, for a response with all channels.
    fn colors(
        &self,
        model: &mut Model,
        surface: &RenderSurfaceState,
        sampler: &SamplerState,
    ) -> Vec<[u32; 4]> {
        let answer = self.run(model, surface, &[*sampler]).unwrap();
        let lane = |lane: usize| match self.simd {
            Mode::SIMD4X2 => answer[0][4 * lane..4 * lane + 4].try_into().unwrap(),
            Mode::SIMD8 => std::array::from_fn(|n| answer[n][lane]),
            _ => std::array::from_fn(|n| answer[2 * n + lane / 8][lane % 8]),
        };
        (0..lanes(self.simd)).map(lane).collect()
    }
}

/// Number of lanes of a mode.
fn lanes(simd: Mode) -> usize {
    match simd {
        Mode::SIMD4X2 => 2,
        Mode::SIMD8 => 8,
        _ => 16,
    }
}

/// The two modes with one value per lane.
const MODES: [Mode; 2] = [Mode::SIMD8, Mode::SIMD16];

/// A model with memory for responses and surfaces.
fn model() -> Model {
    let mut model = Model::new();
    model.map(ANSWERS, 4096);
    model.map(SURFACE, texture::BYTES);
    model
}

/// A surface state that maps each channel to itself.
fn identity(state: RenderSurfaceState) -> RenderSurfaceState {
    RenderSurfaceState {
        shader_channel_select_red: ShaderChannelSelect::RED,
        shader_channel_select_green: ShaderChannelSelect::GREEN,
        shader_channel_select_blue: ShaderChannelSelect::BLUE,
        shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
        ..state
    }
}

/// Writes the border colour.
fn put_border(model: &mut Model, color: [u32; 4]) {
    let [red, green, blue, alpha] = color.map(|channel| u(channel.into()));
    let state = SamplerIndirectState {
        border_color_red: red,
        border_color_green: green,
        border_color_blue: blue,
        border_color_alpha: alpha,
        ..SamplerIndirectState::new()
    };
    model.put(DYNAMIC_STATE + BORDER, &state.pack());
}
