//! Walkers for the benches. When a walker is made, it runs once, and its result is compared with
//! scalar Rust.

use genxml::core::{Address, Instruction, MinusOne, U};
use genxml::engine::EngineId;
use genxml::gen8::media::{
    GpgpuWalker, GpgpuWalkerSimdSize, MediaCurbeLoad, MediaInterfaceDescriptorLoad, MediaVfeState,
};
use genxml::gen8::mi::{MiBatchBufferEnd, PipelineSelect, PipelineSelectPipelineSelection};
use genxml::gen8::state::{
    BindingTableState, InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize,
    RenderSurfaceState, RenderSurfaceStateExtent, RenderSurfaceStateSurfaceHorizontalAlignment,
    RenderSurfaceStateSurfaceVerticalAlignment, SamplerState, SamplerStateMagModeFilter,
    SamplerStateMinModeFilter, ShaderChannelSelect, StateBaseAddress, SurfaceFormat, SurfaceType,
    TileMode,
};
use genxml_eu::asm::{Options, assemble};
use genxml_eu::syntax::Syntax;
use genxml_sim::{ContextId, Gpu};

const BATCH: u64 = 0x10_0000;
const STATE: u64 = 0x20_0000;
const CURBE: u64 = 0x1000;
const KERNEL: u64 = 0x21_0000;
const BUFFERS: [u64; 3] = [0x1000_0000, 0x2000_0000, 0x3000_0000];
/// Offset of the binding table and the surface states from [`STATE`].
const SURFACES: u64 = 0x4000;
/// Offset of the sampler state from [`STATE`].
const SAMPLERS: u64 = 0x6000;
/// Address of the texture.
const TEXTURE: u64 = 0x4000_0000;

/// End of a kernel.
const END: &str = "
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    (W) send (8|M0) null r127 0x27 0x02000010 {EOT}
";

/// y = a x + y. r1.0 is a, r2.0 the thread's first element in its group.
const SAXPY: &str = "
    (W) shl (1|M0) r3.0<1>:ud r0.1<0;1,0>:ud 8:ud
    (W) add (1|M0) r3.0<1>:ud r3.0<0;1,0>:ud r2.0<0;1,0>:ud
    (W) mov (8|M0) r4.0<1>:uw 0x76543210:uv
    (W) add (8|M0) r4.8<1>:uw r4.0<8;8,1>:uw 8:uw
    add (16|M0) r10.0<1>:ud r4.0<8;8,1>:uw r3.0<0;1,0>:ud
    shl (16|M0) r10.0<1>:ud r10.0<8;8,1>:ud 2:ud
    send (16|M0) r20 r10 0xC 0x04205e00     // x
    send (16|M0) r22 r10 0xC 0x04205e01     // y
    mul (16|M0) r24.0<1>:f r20.0<8;8,1>:f r1.0<0;1,0>:f
    add (16|M0) r12.0<1>:f r24.0<8;8,1>:f r22.0<8;8,1>:f
    send (16|M0) null r10 0xC 0x08025e01    // y
";

/// Product of the matrices A and B. r2.0 is the thread's row in its tile. The tile of A is at byte
/// 0 of local memory, the tile of B at byte 1024.
const MATRIX: &str = "
    (W) mov (8|M0) r4.0<1>:uw 0x76543210:uv
    (W) add (8|M0) r4.8<1>:uw r4.0<8;8,1>:uw 8:uw
    (W) mov (8|M0) r50.0<1>:ud 0:ud
    (W) and (1|M0) r50.2<1>:ud r0.2<0;1,0>:ud 0x0f000000:ud
    mov (16|M0) r40.0<1>:ud r4.0<8;8,1>:uw
    shl (16|M0) r42.0<1>:ud r40.0<8;8,1>:ud 2:ud      // the channel in bytes
    // A: row of the group and thread, 1024 bytes each; B: row of the thread, columns of the group
    (W) shl (1|M0) r5.0<1>:ud r0.6<0;1,0>:ud 4:ud
    (W) add (1|M0) r5.0<1>:ud r5.0<0;1,0>:ud r2.0<0;1,0>:ud
    (W) shl (1|M0) r5.0<1>:ud r5.0<0;1,0>:ud 10:ud
    (W) shl (1|M0) r5.1<1>:ud r2.0<0;1,0>:ud 10:ud
    (W) shl (1|M0) r5.2<1>:ud r0.1<0;1,0>:ud 6:ud
    (W) add (1|M0) r5.1<1>:ud r5.1<0;1,0>:ud r5.2<0;1,0>:ud
    (W) add (1|M0) r5.2<1>:ud r5.2<0;1,0>:ud r5.0<0;1,0>:ud
    add (16|M0) r10.0<1>:ud r42.0<8;8,1>:ud r5.0<0;1,0>:ud
    add (16|M0) r12.0<1>:ud r42.0<8;8,1>:ud r5.1<0;1,0>:ud
    add (16|M0) r14.0<1>:ud r42.0<8;8,1>:ud r5.2<0;1,0>:ud
    // places in local memory
    (W) shl (1|M0) r6.0<1>:ud r2.0<0;1,0>:ud 6:ud
    add (16|M0) r16.0<1>:ud r42.0<8;8,1>:ud r6.0<0;1,0>:ud
    add (16|M0) r20.0<1>:ud r16.0<8;8,1>:ud 1024:ud
    mov (16|M0) r30.0<1>:f 0x0:f
    (W) mov (1|M0) r7.0<1>:d 16:d
tile:
    send (16|M0) r18 r10 0xC 0x04205e00
    send (16|M0) r22 r12 0xC 0x04205e01
    send (16|M0) null r16 0xC 0x08025efe
    send (16|M0) null r20 0xC 0x08025efe
    (W) send (1|M0) null r50 0x3 0x02000004
    (W) wait n0.0<0;1,0>:ud
    mov (16|M0) r24.0<1>:ud r6.0<0;1,0>:ud
    add (16|M0) r26.0<1>:ud r42.0<8;8,1>:ud 1024:ud
    (W) mov (1|M0) r7.1<1>:d 16:d
product:
    send (16|M0) r32 r24 0xC 0x04205efe
    send (16|M0) r34 r26 0xC 0x04205efe
    mul (16|M0) r36.0<1>:f r32.0<8;8,1>:f r34.0<8;8,1>:f
    add (16|M0) r30.0<1>:f r30.0<8;8,1>:f r36.0<8;8,1>:f
    add (16|M0) r24.0<1>:ud r24.0<8;8,1>:ud 4:ud
    add (16|M0) r26.0<1>:ud r26.0<8;8,1>:ud 64:ud
    (W) add (1|M0) (ne)f0.0 r7.1<1>:d r7.1<0;1,0>:d -1:d
    (W&f0.0) jmpi product
    (W) send (1|M0) null r50 0x3 0x02000004
    (W) wait n0.0<0;1,0>:ud
    add (16|M0) r10.0<1>:ud r10.0<8;8,1>:ud 64:ud
    add (16|M0) r12.0<1>:ud r12.0<8;8,1>:ud 16384:ud
    (W) add (1|M0) (ne)f0.0 r7.0<1>:d r7.0<0;1,0>:d -1:d
    (W&f0.0) jmpi tile
    mov (16|M0) r44.0<1>:ud r14.0<8;8,1>:ud
    mov (16|M0) r46.0<1>:ud r30.0<8;8,1>:ud
    send (16|M0) null r44 0xC 0x08025e02
";

/// r1.0 is the step of the texture coordinates from pixel to pixel, r2.0 the thread's first pixel
/// in its row of subspans. Takes eight samples, each a quarter of a texel after the one before.
const TEXTURED: &str = "
    (W) shl (1|M0) r3.0<1>:ud r0.1<0;1,0>:ud 7:ud
    (W) add (1|M0) r3.0<1>:ud r3.0<0;1,0>:ud r2.0<0;1,0>:ud
    (W) shl (1|M0) r3.1<1>:ud r0.6<0;1,0>:ud 1:ud
    // columns and rows of four subspans
    (W) mov (8|M0) r4.0<1>:uw 0x32321010:uv
    (W) add (8|M0) r4.8<1>:uw r4.0<8;8,1>:uw 4:uw
    (W) mov (8|M0) r5.0<1>:uw 0x11001100:uv
    (W) mov (8|M0) r5.8<1>:uw 0x11001100:uv
    add (16|M0) r10.0<1>:ud r4.0<8;8,1>:uw r3.0<0;1,0>:ud
    add (16|M0) r12.0<1>:ud r5.0<8;8,1>:uw r3.1<0;1,0>:ud
    mov (16|M0) r14.0<1>:f r10.0<8;8,1>:ud
    mov (16|M0) r16.0<1>:f r12.0<8;8,1>:ud
    mul (16|M0) r20.0<1>:f r14.0<8;8,1>:f r1.0<0;1,0>:f
    mul (16|M0) r22.0<1>:f r16.0<8;8,1>:f r1.0<0;1,0>:f
    (W) mov (1|M0) r7.0<1>:d 8:d
again:
    send (16|M0) r30 r20 0x2 0x08840001
    add (16|M0) r20.0<1>:f r20.0<8;8,1>:f 0x3a800000:f       // 1 / 1024
    (W) add (1|M0) (ne)f0.0 r7.0<1>:d r7.0<0;1,0>:d -1:d
    (W&f0.0) jmpi again
    // green of the last sample, by pixel
    shl (16|M0) r12.0<1>:ud r12.0<8;8,1>:ud 10:ud
    add (16|M0) r10.0<1>:ud r10.0<8;8,1>:ud r12.0<8;8,1>:ud
    shl (16|M0) r10.0<1>:ud r10.0<8;8,1>:ud 2:ud
    mov (16|M0) r12.0<1>:ud r32.0<8;8,1>:ud
    send (16|M0) null r10 0xC 0x08025e00
";

/// Spends some time in a loop, then reads a dword of x, adds 1 and writes it back.
const SERIAL: &str = "
    mov (16|M0) r10.0<1>:ud 0:ud
    (W) mov (1|M0) r7.0<1>:d 64:d
work:
    (W) add (1|M0) (ne)f0.0 r7.0<1>:d r7.0<0;1,0>:d -1:d
    (W&f0.0) jmpi work
    send (16|M0) r20 r10 0xC 0x04205e00
    add (16|M0) r12.0<1>:ud r20.0<8;8,1>:ud 1:ud
    send (16|M0) null r10 0xC 0x08025e00
";

fn u<const N: u32>(value: u64) -> U<N> {
    U::new(value).unwrap()
}

/// A walker in groups of 16 threads of 16 channels, ready to be submitted.
pub struct Walker {
    pub gpu: Gpu,
    context: ContextId,
}

impl Walker {
    /// `buffers` are bound from binding table entry 0 on. The kernel finds `shared` in r1.0 and the
    /// thread's number times `step` in r2.0.
    fn new(kernel: &str, buffers: &[Vec<f32>], groups: [u64; 2], step: u32, shared: u32) -> Walker {
        Walker::with_texture(kernel, buffers, None, groups, step, shared)
    }

    /// As [`new`](Self::new), with a surface bound after the buffers, and a sampler.
    fn with_texture(
        kernel: &str,
        buffers: &[Vec<f32>],
        texture: Option<(RenderSurfaceState, SamplerState)>,
        groups: [u64; 2],
        step: u32,
        shared: u32,
    ) -> Walker {
        let mut gpu = Gpu::new();
        let context = gpu.create_context().unwrap();
        let code = assemble(&format!("{kernel}{END}"), Syntax::Iga, &Options::default()).unwrap();
        gpu.load(context, KERNEL, &code.bytes).unwrap();
        let mut state = vec![0u8; 0x8000];
        let mut put = |at: u64, dwords: &[u32]| {
            let bytes = bytemuck::cast_slice::<u32, u8>(dwords);
            state[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        };
        for (index, (buffer, address)) in buffers.iter().zip(BUFFERS).enumerate() {
            gpu.load(context, address, bytemuck::cast_slice(buffer)).unwrap();
            let last = 4 * buffer.len() as u64 - 1;
            let surface = RenderSurfaceState {
                surface_type: SurfaceType::SURFTYPE_BUFFER,
                surface_format: SurfaceFormat::RAW,
                surface_base_address: Address::new(address).unwrap(),
                extent: RenderSurfaceStateExtent::Buffer {
                    width: u(last & 0x7f),
                    height: u(last >> 7 & 0x3fff),
                    depth: u(last >> 21),
                },
                ..RenderSurfaceState::new()
            };
            let place = SURFACES + 0x100 + 64 * index as u64;
            put(place, &surface.pack());
            let entry = BindingTableState { surface_state_pointer: Address::new(place).unwrap() };
            put(SURFACES + 4 * index as u64, &entry.pack());
        }
        if let Some((surface, sampler)) = texture {
            let place = SURFACES + 0x100 + 64 * buffers.len() as u64;
            put(place, &surface.pack());
            let entry = BindingTableState { surface_state_pointer: Address::new(place).unwrap() };
            put(SURFACES + 4 * buffers.len() as u64, &entry.pack());
            put(SAMPLERS, &sampler.pack());
        }
        let mut constants = vec![[0u32; 8]; 18];
        constants[0][0] = shared;
        (0..16).for_each(|thread| constants[1 + thread][0] = thread as u32 * step);
        put(CURBE, constants.as_flattened());
        let descriptor = InterfaceDescriptorData {
            binding_table_pointer: Address::new(SURFACES).unwrap(),
            sampler_state_pointer: Address::new(SAMPLERS).unwrap(),
            cross_thread_constant_data_read_length: u(1),
            constant_indirect_urb_entry_read_length: u(1),
            number_of_threads_in_gpgpu_thread_group: u(16),
            barrier_enable: true,
            shared_local_memory_size: InterfaceDescriptorDataSharedLocalMemorySize::ENCODES_4K,
            ..InterfaceDescriptorData::new()
        };
        put(0, &descriptor.pack());
        gpu.load(context, STATE, &state).unwrap();
        let base = |address| Address::new(address).unwrap();
        let mut batch = vec![0u32; 256];
        let mut end = 0;
        macro_rules! push {
            ($($packet:expr),* $(,)?) => { $(end += $packet.pack_into(&mut batch[end..]).unwrap();)* };
        }
        push![
            PipelineSelect { pipeline_selection: PipelineSelectPipelineSelection::GPGPU },
            StateBaseAddress {
                general_state_base_address_modify_enable: true,
                surface_state_base_address_modify_enable: true,
                surface_state_base_address: base(STATE),
                dynamic_state_base_address_modify_enable: true,
                dynamic_state_base_address: base(STATE),
                instruction_base_address_modify_enable: true,
                instruction_base_address: base(KERNEL),
                ..StateBaseAddress::new()
            },
            MediaVfeState {
                maximum_number_of_threads: MinusOne::new(224).unwrap(),
                ..MediaVfeState::new()
            },
            MediaCurbeLoad {
                curbe_total_data_length: u(18 * 32),
                curbe_data_start_address: Address::new(CURBE).unwrap(),
            },
            MediaInterfaceDescriptorLoad {
                interface_descriptor_total_length: u(32),
                interface_descriptor_data_start_address: Address::new(0).unwrap(),
            },
            GpgpuWalker {
                simd_size: GpgpuWalkerSimdSize::SIMD16,
                thread_width_counter_maximum: MinusOne::new(16).unwrap(),
                thread_group_id_x_dimension: u(groups[0]),
                thread_group_id_y_dimension: u(groups[1]),
                thread_group_id_z_dimension: u(1),
                right_execution_mask: u(u32::MAX.into()),
                bottom_execution_mask: u(u32::MAX.into()),
                ..GpgpuWalker::new()
            },
            MiBatchBufferEnd::new(),
        ];
        gpu.load(context, BATCH, bytemuck::cast_slice(&batch)).unwrap();
        Walker { gpu, context }
    }

    /// Runs the walker on `threads` host threads. Returns the number of EU instructions.
    pub fn run(&mut self, threads: usize) -> u64 {
        self.gpu.set_threads(threads);
        match self.gpu.submit(self.context, EngineId::Render, BATCH, 0) {
            Ok(stats) => stats.instructions,
            Err(fault) => panic!("{fault}"),
        }
    }

    fn floats(&mut self, buffer: usize, count: usize) -> Vec<f32> {
        let mut floats = vec![0f32; count];
        let vm = self.gpu.vm(self.context);
        vm.read(BUFFERS[buffer], bytemuck::cast_slice_mut(&mut floats)).unwrap();
        floats
    }
}

/// Numbers whose sums and products are exact.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|n| ((n * 31 + n / 256 * 7 + seed) % 17) as f32 - 8.0).collect()
}

/// y = a x + y on 1024 x 1024 floats, with groups of 16 threads of 16 channels and untyped surface
/// messages.
pub fn saxpy() -> Walker {
    const COUNT: usize = 1 << 20;
    let (x, y) = (numbers(COUNT, 1), numbers(COUNT, 5));
    let groups = [COUNT as u64 / 256, 1];
    let mut walker = Walker::new(SAXPY, &[x.clone(), y.clone()], groups, 16, 1.5f32.to_bits());
    walker.run(2);
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 1.5 * x + y).collect();
    assert!(walker.floats(1, COUNT) == expected);
    walker
}

/// A product of matrices of 256 x 256 floats, with tiles of 16 x 16 in shared local memory and two
/// barriers for each tile.
pub fn matrix_product() -> Walker {
    const SIDE: usize = 256;
    let (a, b) = (numbers(SIDE * SIDE, 1), numbers(SIDE * SIDE, 9));
    let buffers = [a.clone(), b.clone(), vec![0.0; SIDE * SIDE]];
    let mut walker = Walker::new(MATRIX, &buffers, [16, 16], 1, 0);
    walker.run(2);
    let product =
        |n: usize| (0..SIDE).map(|k| a[n / SIDE * SIDE + k] * b[k * SIDE + n % SIDE]).sum::<f32>();
    let expected: Vec<f32> = (0..SIDE * SIDE).map(product).collect();
    assert!(walker.floats(2, SIDE * SIDE) == expected);
    walker
}

/// Groups that all increment one dword, so that they have to run in order.
pub fn serial() -> Walker {
    let mut walker = Walker::new(SERIAL, &[vec![0.0; 64]], [1024, 1], 0, 0);
    walker.run(2);
    assert_eq!(walker.floats(0, 1)[0].to_bits(), 16 * 1024);
    walker
}

/// A picture of 1024 x 1024 pixels with 8 samples for each pixel, from a repeated texture of 256 x
/// 256 texels in Y tiles.
pub fn textured(format: SurfaceFormat, linear: bool) -> Walker {
    const SIDE: usize = 256;
    let texel = |x: usize, y: usize| [x as u8, (x * 7 + y * 3) as u8, y as u8, 255];
    let mut memory = vec![0u8; SIDE * SIDE * 4];
    for y in 0..SIDE {
        for x in 0..SIDE {
            // Tiles of 32 x 32 texels, columns of 4 (gen8_facts 10.1).
            let tile = y / 32 * 8 + x / 32;
            let at = 4096 * tile + 512 * (x % 32 / 4) + 16 * (y % 32) + 4 * (x % 4);
            memory[at..at + 4].copy_from_slice(&texel(x, y));
        }
    }
    let surface = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: format,
        tile_mode: TileMode::YMAJOR,
        surface_base_address: Address::new(TEXTURE).unwrap(),
        surface_pitch: MinusOne::new(1024).unwrap(),
        extent: RenderSurfaceStateExtent::Image {
            width: MinusOne::new(SIDE as u64).unwrap(),
            height: MinusOne::new(SIDE as u64).unwrap(),
            depth: MinusOne::new(1).unwrap(),
        },
        surface_horizontal_alignment: RenderSurfaceStateSurfaceHorizontalAlignment::HALIGN_4,
        surface_vertical_alignment: RenderSurfaceStateSurfaceVerticalAlignment::VALIGN_4,
        shader_channel_select_red: ShaderChannelSelect::RED,
        shader_channel_select_green: ShaderChannelSelect::GREEN,
        shader_channel_select_blue: ShaderChannelSelect::BLUE,
        shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
        ..RenderSurfaceState::new()
    };
    let sampler = SamplerState {
        mag_mode_filter: SamplerStateMagModeFilter::from_bits(linear.into()),
        min_mode_filter: SamplerStateMinModeFilter::from_bits(linear.into()),
        ..SamplerState::new()
    };
    let pixels = vec![0.0; 1 << 20];
    // The distance from pixel to pixel is three eighths of a texel.
    let step = 1.5f32 / 1024.0;
    let mut walker = Walker::with_texture(
        TEXTURED,
        &[pixels],
        Some((surface, sampler)),
        [8, 512],
        8,
        step.to_bits(),
    );
    walker.gpu.load(walker.context, TEXTURE, &memory).unwrap();
    walker.run(2);
    if !linear && format == SurfaceFormat::R8G8B8A8_UNORM {
        let found = walker.floats(0, 1 << 20);
        for n in (0..1 << 20).step_by(997) {
            let place = |pixel: usize, steps: f64| {
                ((pixel as f64 * f64::from(step) + steps / 1024.0) * SIDE as f64) as usize % SIDE
            };
            let expected = f32::from(texel(place(n % 1024, 7.0), place(n / 1024, 0.0))[1]) / 255.0;
            assert!(found[n] == expected, "{n}: {} {expected}", found[n]);
        }
    }
    walker
}
