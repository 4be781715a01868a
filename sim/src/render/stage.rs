//! The packets of the stages with kernels, and their URB allocations: the fields that every stage
//! has, under one name each.

use super::state;
use super::vue::Entries;
use crate::machine::exec::Exec;
use crate::unit::stage::Stage;
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersDs, ThreeDStateBindingTablePointersGs,
    ThreeDStateBindingTablePointersHs, ThreeDStateBindingTablePointersPs,
    ThreeDStateBindingTablePointersVs, ThreeDStateSamplerStatePointersDs,
    ThreeDStateSamplerStatePointersGs, ThreeDStateSamplerStatePointersHs,
    ThreeDStateSamplerStatePointersPs, ThreeDStateSamplerStatePointersVs,
};
use genxml::gen8::render3d_constants::{
    ThreeDStateConstantBody, ThreeDStateConstantDs, ThreeDStateConstantGs, ThreeDStateConstantHs,
    ThreeDStateConstantPs, ThreeDStateConstantVs,
};
use genxml::gen8::render3d_pixel::{
    ThreeDStatePs, ThreeDStatePsSinglePrecisionDenormalMode as Denormal,
    ThreeDStatePsSingleProgramFlow as PsFlow,
};
use genxml::gen8::render3d_stages::{
    FloatingPointMode, ThreeDStateDs, ThreeDStateDsSingleDomainPointDispatch as SinglePoint,
    ThreeDStateGs, ThreeDStateGsSingleProgramFlow as GsFlow, ThreeDStateHs, ThreeDStateUrbDs,
    ThreeDStateUrbGs, ThreeDStateUrbHs, ThreeDStateUrbVs, ThreeDStateVs,
    ThreeDStateVsSingleVertexDispatch as SingleVertex, VectorMaskEnable,
};
use genxml_core::latch::Latch;
use genxml_core::packet::Fixed;

/// The state of the threads of a stage, and the offsets of its kernel, binding table and samplers.
#[derive(Clone, Copy, Debug)]
pub struct StageState {
    /// The stage. `sr0.0` has its identifier (assumptions::FIXED_FUNCTION_IDS).
    pub stage: Stage,
    /// Offset of the kernel from Instruction Base Address.
    pub kernel: u64,
    /// The packet's pointer to the binding table: the offset from Surface State Base Address, or
    /// half of the offset in the pool of the resource streamer.
    pub binding_table: u64,
    /// Offset of the sampler states from Dynamic State Base Address.
    pub samplers: u64,
    /// Floating Point Mode is ALTERNATE.
    pub alternative: bool,
    /// Single Program Flow.
    pub single_flow: bool,
    /// The vector mask selects the channels that run.
    pub vector_mask: bool,
    /// Subnormal single floats are retained.
    pub keep_subnormal: bool,
    /// Rounding Mode, encoded as in `cr0.0`.
    pub rounding: u64,
    /// Illegal Opcode Exception Enable.
    pub illegal_opcode: bool,
    /// Software Exception Enable.
    pub software: bool,
    /// Mask Stack Exception Enable, which only geometry and pixel shaders have.
    pub mask_stack: bool,
    /// Per-Thread Scratch Space: 0 is 1 KiB, and each step doubles it.
    pub scratch_code: u64,
    /// Offset of the scratch space of all threads from General State Base Address.
    pub scratch: u64,
    /// Number of threads that can run at once.
    pub threads: u64,
    /// First register of the constants. The data of vertices, patches or attributes come after the
    /// constants.
    pub start: u64,
}

/// How vertex and domain shaders run: the layout of the payload and the vertices of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// Threads have the payload of SIMD8; otherwise that of SIMD4x2.
    pub simd8: bool,
    /// Vertices or domain points of a thread.
    pub width: usize,
}

impl Dispatch {
    /// The dispatch of a vertex shader. Single Vertex Dispatch applies in both modes.
    pub fn of_vs(vs: &ThreeDStateVs) -> Dispatch {
        let single = vs.single_vertex_dispatch == SingleVertex::SINGLE;
        let simd8 = vs.simd8_dispatch_enable;
        Dispatch {
            simd8,
            width: match (simd8, single) {
                (_, true) => 1,
                (true, false) => 8,
                (false, false) => 2,
            },
        }
    }

    /// The dispatch of a domain shader. Single Domain Point Dispatch applies in SIMD4x2 mode only.
    pub fn of_ds(ds: &ThreeDStateDs) -> Dispatch {
        let single = ds.single_domain_point_dispatch == SinglePoint::SINGLE;
        let simd8 = ds.simd8_dispatch_enable;
        Dispatch {
            simd8,
            width: match (simd8, single) {
                (true, _) => 8,
                (false, true) => 1,
                (false, false) => 2,
            },
        }
    }
}

/// 3DSTATE_VS, HS, DS, GS or PS.
pub trait StagePacket: Fixed {
    /// The packet's fields, with those of the stage's binding table and sampler pointers.
    fn state(&self, exec: &Exec<'_>) -> StageState;
    /// Body of the stage's latched 3DSTATE_CONSTANT packet.
    fn constants(exec: &Exec<'_>) -> ThreeDStateConstantBody;
}

/// Implements [`StagePacket`] for a packet. The macro reads the fields that have the same name in
/// all packets; each use of the macro adds the other fields.
macro_rules! stage_packet {
    (
        $packet:ident: $stage:ident,
        $table:ident . $table_pointer:ident,
        $samplers:ident . $samplers_pointer:ident,
        $constants:ident,
        |$p:ident| { $($field:ident: $value:expr),* }
    ) => {
        impl StagePacket for $packet {
            fn state(&self, exec: &Exec<'_>) -> StageState {
                let $p = self;
                let common = StageState {
                    stage: Stage::$stage,
                    kernel: 0,
                    binding_table: state::packet::<$table>(exec).$table_pointer.get(),
                    samplers: state::packet::<$samplers>(exec).$samplers_pointer.get(),
                    alternative: $p.floating_point_mode == FloatingPointMode::ALTERNATE,
                    single_flow: false,
                    vector_mask: $p.vector_mask_enable == VectorMaskEnable::VMASK,
                    keep_subnormal: false,
                    rounding: 0,
                    illegal_opcode: $p.illegal_opcode_exception_enable,
                    software: $p.software_exception_enable,
                    mask_stack: false,
                    scratch_code: $p.per_thread_scratch_space.get(),
                    scratch: $p.scratch_space_base_pointer.get(),
                    threads: 1,
                    start: 0,
                };
                StageState { $($field: $value,)* ..common }
            }

            fn constants(exec: &Exec<'_>) -> ThreeDStateConstantBody {
                state::packet::<$constants>(exec).constant_body
            }
        }
    };
}

stage_packet!(
    ThreeDStateVs: Vertex,
    ThreeDStateBindingTablePointersVs.pointer_to_vs_binding_table,
    ThreeDStateSamplerStatePointersVs.pointer_to_vs_sampler_state,
    ThreeDStateConstantVs,
    |vs| {
        kernel: vs.kernel_start_pointer.get(),
        threads: vs.maximum_number_of_threads.get(),
        start: vs.dispatch_grf_start_register_for_urb_data.get()
    }
);
stage_packet!(
    ThreeDStateHs: Hull,
    ThreeDStateBindingTablePointersHs.pointer_to_hs_binding_table,
    ThreeDStateSamplerStatePointersHs.pointer_to_hs_sampler_state,
    ThreeDStateConstantHs,
    |hs| {
        kernel: hs.kernel_start_pointer.get(),
        single_flow: hs.single_program_flow,
        threads: hs.maximum_number_of_threads.get(),
        start: hs.dispatch_grf_start_register_for_urb_data.get()
    }
);
stage_packet!(
    ThreeDStateDs: Domain,
    ThreeDStateBindingTablePointersDs.pointer_to_ds_binding_table,
    ThreeDStateSamplerStatePointersDs.pointer_to_ds_sampler_state,
    ThreeDStateConstantDs,
    |ds| {
        kernel: ds.kernel_start_pointer.get(),
        threads: ds.maximum_number_of_threads.get(),
        start: ds.dispatch_grf_start_register_for_urb_data.get()
    }
);
stage_packet!(
    ThreeDStateGs: Geometry,
    ThreeDStateBindingTablePointersGs.pointer_to_gs_binding_table,
    ThreeDStateSamplerStatePointersGs.pointer_to_gs_sampler_state,
    ThreeDStateConstantGs,
    |gs| {
        kernel: gs.kernel_start_pointer.get(),
        single_flow: gs.single_program_flow == GsFlow::ENABLE,
        mask_stack: gs.mask_stack_exception_enable,
        threads: 2 * (gs.maximum_number_of_threads.get() + 1),
        start: gs.dispatch_grf_start_register_for_urb_data.get()
    }
);
// A pixel shader has up to three kernels, each with its own first register of constants. The caller
// sets `kernel` and `start`.
stage_packet!(
    ThreeDStatePs: Pixel,
    ThreeDStateBindingTablePointersPs.pointer_to_ps_binding_table,
    ThreeDStateSamplerStatePointersPs.pointer_to_ps_sampler_state,
    ThreeDStateConstantPs,
    |ps| {
        single_flow: ps.single_program_flow == PsFlow::SINGLE,
        mask_stack: ps.mask_stack_exception_enable,
        keep_subnormal: ps.single_precision_denormal_mode == Denormal::RETAINED,
        rounding: ps.rounding_mode.bits(),
        threads: ps.maximum_number_of_threads_per_psd.get().max(1)
    }
);

/// 3DSTATE_URB_VS, HS, DS or GS.
pub trait UrbPacket: Latch + Fixed {
    /// The URB entries of the stage.
    fn entries(&self) -> Entries;
}

/// The URB entries of the stage of the latched packet `P`.
pub fn entries<P: UrbPacket>(exec: &Exec<'_>) -> Entries {
    state::packet::<P>(exec).entries()
}

macro_rules! urb_packet {
    ($packet:ident, $start:ident, $size:ident, $count:ident) => {
        impl UrbPacket for $packet {
            fn entries(&self) -> Entries {
                Entries::new(self.$start.get(), self.$size.get(), self.$count.get())
            }
        }
    };
}

urb_packet!(
    ThreeDStateUrbVs,
    vs_urb_starting_address,
    vs_urb_entry_allocation_size,
    vs_number_of_urb_entries
);
urb_packet!(
    ThreeDStateUrbHs,
    hs_urb_starting_address,
    hs_urb_entry_allocation_size,
    hs_number_of_urb_entries
);
urb_packet!(
    ThreeDStateUrbDs,
    ds_urb_starting_address,
    ds_urb_entry_allocation_size,
    ds_number_of_urb_entries
);
urb_packet!(
    ThreeDStateUrbGs,
    gs_urb_starting_address,
    gs_urb_entry_allocation_size,
    gs_number_of_urb_entries
);
