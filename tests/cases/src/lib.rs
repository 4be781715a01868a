//! Helpers for tests of the model: a GPU with memory, batches of typed packets, kernels started by
//! a walker.
//!
//! A test writes memory, builds a batch with the typed API (kernels with `eu!`), submits it, and
//! compares memory with the result of plain scalar Rust, written from the manual's text. The
//! helpers contain no expected results.

use genxml::engine::EngineId;
use genxml::gen8::media::{
    GpgpuWalker, GpgpuWalkerSimdSize, MediaCurbeLoad, MediaInterfaceDescriptorLoad, MediaVfeState,
};
use genxml::gen8::mi::{
    MiBatchBufferEnd, MiReportPerfCount, PipelineSelect, PipelineSelectPipelineSelection,
};
use genxml::gen8::registers::{Oacontrol, OacontrolCounterSelect};
use genxml::gen8::state::{
    BindingTableState, InterfaceDescriptorData, RenderSurfaceState, RenderSurfaceStateExtent,
    StateBaseAddress, SurfaceFormat, SurfaceType,
};
use genxml_core::MinusOne;
use genxml_sim::mem::Frames;
use genxml_sim::{ContextId, Fault, Gpu, Observer, Stats};

pub mod draw;
pub mod fields;
pub mod media;
pub mod paper;

pub use genxml_testkit::packet::{at, minus_one, push, u};
pub use genxml_testkit::{Random, packets};
pub use media::Media;

/// Address of the batch of [`Model::submit`]; 64 KiB.
pub const BATCH: u64 = 0x10_0000;
/// Surface state base of [`Compute`]. Surface, dynamic and instruction state have 64 KiB each.
pub const SURFACE_STATE: u64 = 0x20_0000;
/// Dynamic state base.
pub const DYNAMIC_STATE: u64 = 0x21_0000;
/// Instruction base.
pub const KERNELS: u64 = 0x22_0000;
/// Scratch space, 1 MiB, at General State Base 0.
pub const SCRATCH: u64 = 0x30_0000;

/// A GPU and a context with mapped memory.
pub struct Model {
    /// The GPU.
    pub gpu: Gpu,
    /// The context.
    pub context: ContextId,
    /// The buffers that [`map`](Self::map) has made, with their addresses.
    mapped: Vec<(u64, Frames)>,
    /// Counts of the last submission that [`submit`](Self::submit) has run to its end.
    pub last: Stats,
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl Model {
    /// Maps the regions of this module, all zeros. A batch that needs more than 2^26 units of work
    /// ends with `Fault::Hang`.
    pub fn new() -> Self {
        let mut gpu = Gpu::new();
        gpu.set_work_limit(1 << 26);
        let context = gpu.create_context().expect("page tables");
        let mut model = Model::over(gpu, context);
        for (address, bytes) in [
            (BATCH, 64 << 10),
            (SURFACE_STATE, 64 << 10),
            (DYNAMIC_STATE, 64 << 10),
            (KERNELS, 64 << 10),
            (SCRATCH, 1 << 20),
        ] {
            model.map(address, bytes);
        }
        model
    }

    /// A GPU and a context to which [`map`](Self::map) adds memory.
    pub fn over(gpu: Gpu, context: ContextId) -> Self {
        Model { gpu, context, mapped: Vec::new(), last: Stats::default() }
    }

    /// Maps a zeroed buffer.
    pub fn map(&mut self, address: u64, bytes: u64) {
        let buffer = self.gpu.alloc(bytes).expect("memory");
        self.gpu.map(self.context, address, buffer).expect("page tables");
        self.mapped.push((address, buffer));
    }

    /// Address and size in bytes of each buffer that [`map`](Self::map) has made.
    pub fn buffers(&self) -> Vec<(u64, u64)> {
        self.mapped.iter().map(|(address, frames)| (*address, frames.bytes())).collect()
    }

    /// Writes bytes.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        self.gpu.vm(self.context).write(address, bytes).expect("mapped");
    }

    /// Writes dwords.
    pub fn put(&mut self, address: u64, dwords: &[u32]) {
        self.write(address, bytemuck::cast_slice(dwords));
    }

    /// Reads bytes.
    pub fn read(&mut self, address: u64, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        self.gpu.vm(self.context).read(address, &mut out).expect("mapped");
        out
    }

    /// Reads dwords.
    pub fn get(&mut self, address: u64, dwords: usize) -> Vec<u32> {
        let mut out = vec![0; dwords];
        self.gpu
            .vm(self.context)
            .read(address, bytemuck::cast_slice_mut(&mut out))
            .expect("mapped");
        out
    }

    /// Runs a batch at [`BATCH`]. MI_BATCH_BUFFER_END is appended.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn submit(&mut self, engine: EngineId, batch: &[u32]) -> Result<Stats, Fault> {
        let mut batch = batch.to_vec();
        push(&mut batch, &MiBatchBufferEnd::new());
        self.put(BATCH, &batch);
        self.submit_at(engine, BATCH)
    }

    /// Runs the batch at an address, which is in memory already.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn submit_at(&mut self, engine: EngineId, address: u64) -> Result<Stats, Fault> {
        fields::visit::visit(&self.gpu, self.context, &self.mapped, engine, address);
        self.last = self.gpu.submit(self.context, engine, address, 0)?;
        Ok(self.last)
    }

    /// Like [`submit`](Self::submit), and passes events to `observer`.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn submit_observed(
        &mut self,
        engine: EngineId,
        batch: &[u32],
        observer: &mut dyn Observer,
    ) -> Result<Stats, Fault> {
        let mut batch = batch.to_vec();
        push(&mut batch, &MiBatchBufferEnd::new());
        self.put(BATCH, &batch);
        fields::visit::visit(&self.gpu, self.context, &self.mapped, engine, BATCH);
        self.gpu.submit_observed(self.context, engine, BATCH, 0, observer)
    }

    /// Runs a batch on the render engine.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn render(&mut self, batch: &[u32]) -> Result<Stats, Fault> {
        self.submit(EngineId::Render, batch)
    }

    /// The aggregating counters A0 to A35, from a report with all counters. Positions are those of
    /// gen8_facts 2.7: low dwords from dword 4 on, high bytes of A0 to A31 from byte 160 on.
    pub fn counters(&mut self) -> [u64; 36] {
        self.select_report(5);
        let to = SCRATCH + 0xf_f000;
        let report = MiReportPerfCount { memory_address: at(to), ..MiReportPerfCount::new() };
        self.render(&packets![report]).expect("a report");
        let (dwords, bytes) = (self.get(to, 64), self.read(to, 256));
        std::array::from_fn(|n| {
            let high = if n < 32 { bytes[160 + n] } else { 0 };
            u64::from(dwords[4 + n]) | u64::from(high) << 32
        })
    }

    /// Sets Counter Select of OACONTROL, which selects the layout of performance reports, and
    /// enables the counters.
    pub fn select_report(&mut self, layout: u64) {
        let control = Oacontrol {
            counter_select: OacontrolCounterSelect::from_bits(layout),
            counter_enable: true,
            ..Oacontrol::new()
        };
        self.gpu.mmio_write(Oacontrol::OFFSET, control.pack()[0]).expect("a register");
    }

    /// Runs a batch on the blitter.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn blit(&mut self, batch: &[u32]) -> Result<Stats, Fault> {
        self.submit(EngineId::Blitter, batch)
    }
}

/// A kernel with its surfaces and constants, started by a GPGPU_WALKER.
#[derive(Clone, Debug)]
pub struct Compute<'a> {
    /// The kernel.
    pub kernel: &'a [u32],
    /// Instruction base, where the kernel is written: [`KERNELS`], or other mapped memory.
    pub base: u64,
    /// Surface states, by binding table index.
    pub surfaces: Vec<RenderSurfaceState>,
    /// Constants that all threads share, then those of each thread; 32 bytes per register.
    pub curbe: Vec<u8>,
    /// The interface descriptor. [`batch`](Self::batch) sets its kernel, binding table, lengths of
    /// constants and number of threads.
    pub descriptor: InterfaceDescriptorData,
    /// Number of registers of [`curbe`](Self::curbe) that all threads share. The others are divided
    /// among the threads of a group.
    pub shared: u64,
    /// The state of the front end.
    pub vfe: MediaVfeState,
    /// SIMD width of a thread.
    pub simd: GpgpuWalkerSimdSize,
    /// Number of threads of a group, all in X.
    pub threads: u64,
    /// Number of groups in X, Y and Z.
    pub groups: [u64; 3],
    /// Execution mask of the last thread in X.
    pub right: u64,
}

impl<'a> Compute<'a> {
    /// One group with one thread of 8 channels, without surfaces and constants. 64 threads can run
    /// at the same time.
    pub fn new(kernel: &'a [u32]) -> Self {
        Compute {
            kernel,
            base: KERNELS,
            surfaces: Vec::new(),
            curbe: Vec::new(),
            descriptor: InterfaceDescriptorData::new(),
            shared: 0,
            vfe: MediaVfeState {
                maximum_number_of_threads: MinusOne::new(64).expect("fits"),
                ..MediaVfeState::new()
            },
            simd: GpgpuWalkerSimdSize::SIMD8,
            threads: 1,
            groups: [1; 3],
            right: u32::MAX.into(),
        }
    }

    /// Writes the state to memory and returns the batch.
    pub fn batch(&self, model: &mut Model) -> Vec<u32> {
        model.put(self.base, self.kernel);
        let table = put_surfaces(model, &self.surfaces);
        let registers = self.curbe.len().div_ceil(32) as u64;
        let own = (registers - self.shared) / self.threads;
        let descriptor = InterfaceDescriptorData {
            kernel_start_pointer: at(0),
            binding_table_pointer: at(table),
            cross_thread_constant_data_read_length: u(self.shared),
            constant_indirect_urb_entry_read_length: u(own),
            number_of_threads_in_gpgpu_thread_group: u(self.threads),
            ..self.descriptor
        };
        model.put(DYNAMIC_STATE, &descriptor.pack());
        let bases =
            StateBaseAddress { instruction_base_address: at(self.base), ..StateBaseAddress::new() };
        let pipeline = PipelineSelectPipelineSelection::GPGPU;
        let mut batch = put_state(model, pipeline, bases, self.vfe, &self.curbe, 1);
        push(&mut batch, &self.walker());
        batch
    }

    /// The GPGPU_WALKER of the batch.
    pub fn walker(&self) -> GpgpuWalker {
        GpgpuWalker {
            simd_size: self.simd,
            thread_width_counter_maximum: MinusOne::new(self.threads).expect("1 to 64"),
            thread_group_id_x_dimension: u(self.groups[0]),
            thread_group_id_y_dimension: u(self.groups[1]),
            thread_group_id_z_dimension: u(self.groups[2]),
            right_execution_mask: u(self.right),
            bottom_execution_mask: u(u32::MAX.into()),
            ..GpgpuWalker::new()
        }
    }

    /// Writes the state and runs the batch.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn run(&self, model: &mut Model) -> Result<Stats, Fault> {
        let batch = self.batch(model);
        model.render(&batch)
    }
}

/// Writes surface states at the surface state base and the binding table after them. Returns the
/// offset of the table.
pub fn put_surfaces(model: &mut Model, surfaces: &[RenderSurfaceState]) -> u64 {
    let table = 64 * surfaces.len() as u64;
    for (index, surface) in surfaces.iter().enumerate() {
        model.put(SURFACE_STATE + 64 * index as u64, &surface.pack());
        let entry = BindingTableState { surface_state_pointer: at(64 * index as u64) };
        model.put(SURFACE_STATE + table + 4 * index as u64, &entry.pack());
    }
    table
}

/// Packets that select a pipeline and the bases of this module. The general state base is 0;
/// `bases` has those of indirect objects and instructions.
pub fn select(
    pipeline_selection: PipelineSelectPipelineSelection,
    bases: StateBaseAddress,
) -> Vec<u32> {
    packets![
        PipelineSelect { pipeline_selection },
        StateBaseAddress {
            general_state_base_address_modify_enable: true,
            surface_state_base_address_modify_enable: true,
            surface_state_base_address: at(SURFACE_STATE),
            dynamic_state_base_address_modify_enable: true,
            dynamic_state_base_address: at(DYNAMIC_STATE),
            indirect_object_base_address_modify_enable: true,
            instruction_base_address_modify_enable: true,
            ..bases
        },
    ]
}

/// Writes constants to the dynamic state. Returns the packets that select the pipeline and the
/// bases ([`select`]), and that set the front end, the constants, and `descriptors` interface
/// descriptors from the dynamic state base on.
fn put_state(
    model: &mut Model,
    pipeline: PipelineSelectPipelineSelection,
    bases: StateBaseAddress,
    vfe: MediaVfeState,
    curbe: &[u8],
    descriptors: u64,
) -> Vec<u32> {
    const CURBE: u64 = 0x1000;
    model.write(DYNAMIC_STATE + CURBE, curbe);
    let mut batch = select(pipeline, bases);
    push(&mut batch, &vfe);
    if !curbe.is_empty() {
        push(
            &mut batch,
            &MediaCurbeLoad {
                curbe_total_data_length: u(curbe.len().next_multiple_of(64) as u64),
                curbe_data_start_address: at(CURBE),
            },
        );
    }
    push(
        &mut batch,
        &MediaInterfaceDescriptorLoad {
            interface_descriptor_total_length: u(32 * descriptors),
            interface_descriptor_data_start_address: at(0),
        },
    );
    batch
}

/// A RAW buffer of `bytes` bytes.
pub fn raw_buffer(address: u64, bytes: u64) -> RenderSurfaceState {
    let last = bytes - 1;
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_BUFFER,
        surface_format: SurfaceFormat::RAW,
        surface_base_address: at(address),
        // The number of entries minus one, split into three fields (2d RENDER_SURFACE_STATE Width,
        // Height, Depth).
        extent: RenderSurfaceStateExtent::Buffer {
            width: u(last & 0x7f),
            height: u(last >> 7 & 0x3fff),
            depth: u(last >> 21),
        },
        ..RenderSurfaceState::new()
    }
}
