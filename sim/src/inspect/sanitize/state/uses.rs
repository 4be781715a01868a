//! The state that a draw uses: packets, with the reason; pointers, with their bases; structures in
//! memory. State that the draw does not use, such as the samplers of a stage that is off, is not
//! listed.

use super::kernels::{Kernels, Messages};
use super::rules::Id;
use super::setters::{Base, Key};
use super::targets;
use crate::machine::latched::Latched;
use crate::machine::state::State;
use crate::machine::view::View;
use crate::render::clip::ClipMode;
use crate::render::constant_buffers::{self, BUFFERS};
use crate::render::depth;
use crate::render::ps;
use crate::render::raster_state::{Lists, clip_mode};
use crate::render::sol::Rendered;
use crate::render::topology::{Shape, Topology};
use crate::render::vf::Range;
use crate::render::wm;
use crate::unit::resource_streamer::pool::Pool;
use crate::unit::resource_streamer::tables::Table;
use genxml::core::latch::Latch;
use genxml::core::reflect::Container;
use genxml::core::{Fixed, Packed};
use genxml::gen8::enums::{
    ThreeDColorBufferBlendFactor as BlendFactor, ThreeDVertexComponentControl as Component,
};
use genxml::gen8::media::{MediaCurbeLoad, MediaInterfaceDescriptorLoad, MediaVfeState};
use genxml::gen8::mi::PipelineSelect;
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersDs, ThreeDStateBindingTablePointersGs,
    ThreeDStateBindingTablePointersHs, ThreeDStateBindingTablePointersPs,
    ThreeDStateBindingTablePointersVs, ThreeDStateSamplerStatePointersDs,
    ThreeDStateSamplerStatePointersGs, ThreeDStateSamplerStatePointersHs,
    ThreeDStateSamplerStatePointersPs, ThreeDStateSamplerStatePointersVs,
};
use genxml::gen8::render3d_constants::{
    ThreeDStateConstantBody, ThreeDStateConstantDs, ThreeDStateConstantGs, ThreeDStateConstantHs,
    ThreeDStateConstantPs, ThreeDStateConstantVs, ThreeDStatePushConstantAllocDs,
    ThreeDStatePushConstantAllocGs, ThreeDStatePushConstantAllocHs, ThreeDStatePushConstantAllocPs,
    ThreeDStatePushConstantAllocVs,
};
use genxml::gen8::render3d_depth::{
    ThreeDStateClearParams, ThreeDStateDepthBuffer, ThreeDStateHierDepthBuffer,
    ThreeDStateStencilBuffer, ThreeDStateWmDepthStencil, ThreeDStateWmHzOp,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateVertexBuffers, ThreeDStateVertexElements, ThreeDStateVf, ThreeDStateVfInstancing,
    ThreeDStateVfSgvs, ThreeDStateVfStatistics, ThreeDStateVfTopology, VertexBufferState,
};
use genxml::gen8::render3d_pixel::{
    BlendState, BlendStateEntry, ColorCalcState, ThreeDStateBlendStatePointers,
    ThreeDStateCcStatePointers, ThreeDStatePs, ThreeDStatePsBlend, ThreeDStatePsExtra,
    ThreeDStateWm, ThreeDStateWmChromakey,
};
use genxml::gen8::render3d_raster::{
    CcViewport, ScissorRect, SfClipViewport, ThreeDStateAaLineParameters, ThreeDStateClip,
    ThreeDStateDrawingRectangle, ThreeDStateLineStipple, ThreeDStateMultisample,
    ThreeDStatePolyStippleOffset, ThreeDStatePolyStipplePattern, ThreeDStateRaster,
    ThreeDStateSampleMask, ThreeDStateSamplePattern, ThreeDStateSbe, ThreeDStateSbeSwiz,
    ThreeDStateScissorStatePointers, ThreeDStateSf, ThreeDStateViewportStatePointersCc,
    ThreeDStateViewportStatePointersSfClip,
};
use genxml::gen8::render3d_stages::{
    ThreeDStateDs, ThreeDStateGs, ThreeDStateHs, ThreeDStateSoBuffer, ThreeDStateSoDeclList,
    ThreeDStateStreamout, ThreeDStateTe, ThreeDStateUrbDs, ThreeDStateUrbGs, ThreeDStateUrbHs,
    ThreeDStateUrbVs, ThreeDStateVs,
};
use genxml::gen8::state::{
    InterfaceDescriptorData, NumberOfMultisamples, RenderSurfaceState, SamplerState,
    StateBaseAddress,
};
use std::collections::BTreeSet;

/// A packet whose state a draw uses.
#[derive(Clone, Debug)]
pub struct Use {
    /// What the packet sets.
    pub key: Key,
    /// The packet's name.
    pub packet: &'static str,
    /// Volume and page of the packet.
    pub source: &'static str,
    /// The entry, if the packet sets one of several.
    pub entry: Option<usize>,
    /// True if the state of the context shows that a packet has set it.
    pub set: bool,
    /// Why the draw uses it.
    pub why: &'static str,
    /// The packet has a valid bit, and it is not set.
    pub invalid: bool,
    /// A pointer of the packet: its base and the offset.
    pub pointer: Option<(Base, u64)>,
    /// The buffers that the packet points to and that the draw reads.
    pub buffers: Option<Buffers>,
}

/// Graphics addresses of buffers that a draw reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffers {
    /// The rule that they break if their memory is not what it was.
    pub rule: Id,
    /// The addresses, each at the number of the buffer in its packet.
    pub addresses: [Option<u64>; BUFFERS],
}

/// A structure in memory that a draw reads.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The structure.
    pub container: &'static Container,
    /// Graphics address.
    pub address: u64,
    /// The dwords.
    pub dwords: Vec<u32>,
    /// What the packet with the pointer sets.
    pub key: Key,
}

/// All state that a draw uses.
#[derive(Debug)]
pub struct Uses<'v> {
    view: &'v dyn View,
    latched: &'v Latched,
    /// The draw has vertices. A draw without vertices reads no buffer.
    draws: bool,
    /// The packets.
    pub packets: Vec<Use>,
    /// The structures.
    pub structures: Vec<Structure>,
}

/// Adds what a stage that is on uses: kernels, constants, binding table and samplers.
macro_rules! stage {
    (
        $uses:ident, $kernels:ident, $stage:ty, $addresses:expr, $constants:expr;
        $table:ty: $table_field:ident, $samplers:ty: $samplers_field:ident,
        $constant:ty, $alloc:ty
    ) => {{
        let addresses: Vec<u64> = $addresses;
        for offset in &addresses {
            $uses.pointer::<$stage>("its kernel runs", (Base::Instruction, *offset));
        }
        if $constants {
            let why = "the stage is on and reads push constants";
            let body: ThreeDStateConstantBody = $uses.latched.read::<$constant>(0).constant_body;
            let addresses = targets::constants($uses.state(), &body);
            let relative = addresses[0].is_some() && !constant_buffers::is_absolute($uses.state());
            if relative && $uses.draws {
                let offset = body.pointer_to_constant_buffer_0.va48();
                $uses.pointer::<$constant>(why, (Base::Dynamic, offset));
            } else {
                $uses.needs::<$constant>(why);
            }
            $uses.reads(slot::<$constant>(0), Id::StaleConstants, addresses);
            if addresses.iter().any(Option::is_some) {
                $uses.needs::<$alloc>("the stage has push constants");
            }
        }
        let table = $uses.latched.read::<$table>(0).$table_field.get();
        let samplers = $uses.latched.read::<$samplers>(0).$samplers_field.get();
        let keys = [slot::<$table>(0), slot::<$samplers>(0)];
        for offset in addresses {
            let messages = $uses.messages($kernels, offset);
            if messages.table {
                let why = "a message of the kernel uses the binding table";
                match $uses.pool() {
                    Some(_) => $uses.needs::<$table>(why),
                    None => $uses.pointer::<$table>(why, (Base::Surface, table)),
                };
            }
            if messages.sampled {
                let why = "a message of the kernel uses a sampler";
                $uses.pointer::<$samplers>(why, (Base::Dynamic, samplers));
            }
            $uses.tables(&messages, table, samplers, keys);
        }
    }};
}

fn slot<T: Latch>(entry: usize) -> Key {
    Key::Slot(usize::from(T::SLOTS.first) + entry)
}

impl<'v> Uses<'v> {
    fn new(view: &'v dyn View) -> Uses<'v> {
        let latched = &view.state().latched;
        Uses { view, latched, draws: false, packets: Vec::new(), structures: Vec::new() }
    }

    fn state(&self) -> &'v State {
        self.view.state()
    }

    /// The draw uses a packet that sets one piece of state, not one of several entries.
    fn needs<T: Latch>(&mut self, why: &'static str) {
        self.entry::<T>(0, why);
    }

    fn entry<T: Latch>(&mut self, entry: usize, why: &'static str) {
        self.packets.push(Use {
            key: slot::<T>(entry),
            packet: T::NAME,
            source: T::INFO.source,
            entry: (T::SLOTS.entries > 1).then_some(entry),
            set: self.latched.get::<T>(entry).is_some(),
            why,
            invalid: false,
            pointer: None,
            buffers: None,
        });
    }

    fn last(&mut self, change: impl FnOnce(&mut Use)) {
        if let Some(last) = self.packets.last_mut() {
            change(last);
        }
    }

    /// The draw uses a pointer of a packet, so it uses the base, too.
    fn pointer<T: Latch>(&mut self, why: &'static str, pointer: (Base, u64)) {
        self.needs::<T>(why);
        self.last(|used| used.pointer = Some(pointer));
        self.base(pointer.0);
    }

    /// The draw reads the buffers of the newest packet with this key.
    fn reads(&mut self, key: Key, rule: Id, addresses: [Option<u64>; BUFFERS]) {
        let used = self.packets.iter_mut().rev().find(|used| used.key == key);
        if self.draws
            && let Some(used) = used
        {
            used.buffers = Some(Buffers { rule, addresses });
        }
    }

    fn base(&mut self, base: Base) {
        self.other::<StateBaseAddress>(Key::Base(base), base.name());
        // A base of 0 does not show whether STATE_BASE_ADDRESS has set it.
        let set = base.of(&self.state().base) != 0;
        self.last(|used| used.set = set);
    }

    fn other<T: Packed>(&mut self, key: Key, why: &'static str) {
        self.packets.push(Use {
            key,
            packet: T::NAME,
            source: T::INFO.source,
            entry: None,
            set: false,
            why,
            invalid: false,
            pointer: None,
            buffers: None,
        });
    }

    /// The draw reads a structure at a graphics address. Returns its dwords if they can be read.
    fn structure<T: Fixed>(&mut self, address: u64, key: Key) -> Option<T> {
        let mut dwords = vec![0u32; T::DWORDS];
        if !self.view.read(address, bytemuck::cast_slice_mut(&mut dwords)) {
            return None;
        }
        let value = T::read_lossy(&dwords);
        self.structures.push(Structure { container: T::INFO, address, dwords, key });
        Some(value)
    }

    fn pool(&self) -> Option<Pool> {
        Pool::of_tables(&self.latched.read(0))
    }

    fn messages(&self, kernels: &mut Kernels, offset: u64) -> Messages {
        let address = self.state().base.instruction.wrapping_add(offset);
        kernels.messages(self.view, address).clone()
    }

    /// The surface and sampler states that messages use. `keys` are those of the packets with the
    /// pointers.
    fn tables(&mut self, messages: &Messages, table: u64, samplers: u64, keys: [Key; 2]) {
        let base = self.state().base;
        let table = Table::new(base.surface, table, self.pool());
        let view = self.view;
        for index in &messages.surfaces {
            let read = |at, out: &mut [u8]| view.read(at, out).then_some(()).ok_or(());
            if let Ok(pointer) = table.entry(*index, read) {
                self.structure::<RenderSurfaceState>(base.surface.wrapping_add(pointer), keys[0]);
            }
        }
        for index in &messages.samplers {
            let offset = samplers + 4 * SamplerState::DWORDS as u64 * u64::from(*index);
            self.structure::<SamplerState>(base.dynamic.wrapping_add(offset), keys[1]);
        }
    }
}

/// The state that a 3DPRIMITIVE uses.
pub fn of_draw<'v>(
    view: &'v dyn View,
    packet: &ThreeDPrimitive,
    kernels: &mut Kernels,
) -> Uses<'v> {
    let mut uses = Uses::new(view);
    let range = Range::of(packet, uses.state());
    uses.draws = range.vertices != 0 && range.instances != 0;
    uses.other::<PipelineSelect>(Key::Pipeline, "the draw needs the 3D pipeline");
    fetch(&mut uses, packet);
    let stream: ThreeDStateStreamout = uses.latched.read(0);
    geometry(&mut uses, kernels, &stream);
    if Rendered::of(&stream) == Rendered::None {
        return uses;
    }
    uses.needs::<ThreeDStateClip>("primitives go to the clipper");
    if clip_mode(&uses.latched.read(0)) != ClipMode::RejectAll {
        raster(&mut uses);
        pixels(&mut uses, kernels);
    }
    uses
}

fn fetch(uses: &mut Uses<'_>, packet: &ThreeDPrimitive) {
    uses.needs::<ThreeDStateVfTopology>("it has the topology");
    uses.needs::<ThreeDStateVertexElements>("it has the elements of a vertex");
    uses.needs::<ThreeDStateVfSgvs>("it selects where the vertex ID and instance ID are stored");
    uses.needs::<ThreeDStateVfStatistics>("it enables the counters of the vertex fetch");
    let elements = uses.latched.get::<ThreeDStateVertexElements>(0).unwrap_or_default();
    let elements = ThreeDStateVertexElements::unpack_lossy(elements).element;
    for (number, element) in elements.iter().enumerate().filter(|(_, element)| element.valid) {
        uses.entry::<ThreeDStateVfInstancing>(number, "the vertex element is valid");
        let stored = [
            element.component_0_control,
            element.component_1_control,
            element.component_2_control,
            element.component_3_control,
        ];
        if stored.contains(&Component::VFCOMP_STORE_SRC) {
            let index = element.vertex_buffer_index.get() as usize;
            uses.entry::<VertexBufferState>(index, "a vertex element reads it");
            uses.last(|used| {
                used.packet = ThreeDStateVertexBuffers::NAME;
                used.source = ThreeDStateVertexBuffers::INFO.source;
            });
            let buffer: VertexBufferState = uses.latched.read(index);
            if !buffer.null_vertex_buffer && buffer.buffer_size.get() != 0 {
                let address = buffer.buffer_starting_address.va48();
                let key = slot::<VertexBufferState>(index);
                uses.reads(key, Id::StaleVertices, [Some(address), None, None, None]);
            }
        }
    }
    if packet.vertex_access_type == Access::RANDOM {
        uses.needs::<ThreeDStateIndexBuffer>("the draw has indices");
        let buffer: ThreeDStateIndexBuffer = uses.latched.read(0);
        if buffer.buffer_size.get() != 0 {
            let address = buffer.buffer_starting_address.va48();
            let key = slot::<ThreeDStateIndexBuffer>(0);
            uses.reads(key, Id::StaleIndices, [Some(address), None, None, None]);
        }
        uses.needs::<ThreeDStateVf>("the draw has indices: it has the cut index");
    }
}

fn geometry(uses: &mut Uses<'_>, kernels: &mut Kernels, stream: &ThreeDStateStreamout) {
    let latched = uses.latched;
    let urb = "the URB packets of the stages take effect only together";
    uses.needs::<ThreeDStateUrbVs>(urb);
    uses.needs::<ThreeDStateUrbHs>(urb);
    uses.needs::<ThreeDStateUrbDs>(urb);
    uses.needs::<ThreeDStateUrbGs>(urb);
    let enables = "it enables the stage";
    uses.needs::<ThreeDStateVs>(enables);
    let vs: ThreeDStateVs = latched.read(0);
    if vs.function_enable {
        stage!(
            uses, kernels, ThreeDStateVs, vec![vs.kernel_start_pointer.get()], true;
            ThreeDStateBindingTablePointersVs: pointer_to_vs_binding_table,
            ThreeDStateSamplerStatePointersVs: pointer_to_vs_sampler_state,
            ThreeDStateConstantVs, ThreeDStatePushConstantAllocVs
        );
    }
    uses.needs::<ThreeDStateHs>(enables);
    let hs: ThreeDStateHs = latched.read(0);
    if hs.enable {
        stage!(
            uses, kernels, ThreeDStateHs, vec![hs.kernel_start_pointer.get()], true;
            ThreeDStateBindingTablePointersHs: pointer_to_hs_binding_table,
            ThreeDStateSamplerStatePointersHs: pointer_to_hs_sampler_state,
            ThreeDStateConstantHs, ThreeDStatePushConstantAllocHs
        );
    }
    uses.needs::<ThreeDStateTe>(enables);
    uses.needs::<ThreeDStateDs>(enables);
    let ds: ThreeDStateDs = latched.read(0);
    if ds.function_enable {
        stage!(
            uses, kernels, ThreeDStateDs, vec![ds.kernel_start_pointer.get()], true;
            ThreeDStateBindingTablePointersDs: pointer_to_ds_binding_table,
            ThreeDStateSamplerStatePointersDs: pointer_to_ds_sampler_state,
            ThreeDStateConstantDs, ThreeDStatePushConstantAllocDs
        );
    }
    uses.needs::<ThreeDStateGs>(enables);
    let gs: ThreeDStateGs = latched.read(0);
    if gs.enable {
        stage!(
            uses, kernels, ThreeDStateGs, vec![gs.kernel_start_pointer.get()], true;
            ThreeDStateBindingTablePointersGs: pointer_to_gs_binding_table,
            ThreeDStateSamplerStatePointersGs: pointer_to_gs_sampler_state,
            ThreeDStateConstantGs, ThreeDStatePushConstantAllocGs
        );
    }
    uses.needs::<ThreeDStateStreamout>("it enables stream output and rendering");
    if stream.so_function_enable {
        uses.needs::<ThreeDStateSoDeclList>("stream output is on");
        let list = latched.get::<ThreeDStateSoDeclList>(0).unwrap_or_default();
        let list = ThreeDStateSoDeclList::unpack_lossy(list);
        let selected = list.stream_to_buffer_selects_0.get()
            | list.stream_to_buffer_selects_1.get()
            | list.stream_to_buffer_selects_2.get()
            | list.stream_to_buffer_selects_3.get();
        for index in (0..4).filter(|index| selected >> index & 1 == 1) {
            uses.entry::<ThreeDStateSoBuffer>(index, "stream output writes to it");
        }
    }
}

/// Setup, rasteriser and tests.
fn raster(uses: &mut Uses<'_>) {
    let latched = uses.latched;
    let drawn = "primitives are rasterised";
    uses.needs::<ThreeDStateSf>(drawn);
    uses.needs::<ThreeDStateRaster>(drawn);
    uses.needs::<ThreeDStateWm>(drawn);
    uses.needs::<ThreeDStateMultisample>(drawn);
    uses.needs::<ThreeDStateSampleMask>(drawn);
    uses.needs::<ThreeDStateDrawingRectangle>(drawn);
    let raster: ThreeDStateRaster = latched.read(0);
    let wm: ThreeDStateWm = latched.read(0);
    let multisample: ThreeDStateMultisample = latched.read(0);
    if multisample.number_of_multisamples != NumberOfMultisamples::_1 {
        uses.needs::<ThreeDStateSamplePattern>("pixels have several samples");
    }
    let topology = latched.read::<ThreeDStateVfTopology>(0).primitive_topology_type;
    let lines = Topology::of(topology).is_some_and(|topology| topology.shape() == Shape::Line);
    if lines && raster.antialiasing_enable {
        uses.needs::<ThreeDStateAaLineParameters>("lines are antialiased");
    }
    if lines && wm.line_stipple_enable {
        uses.needs::<ThreeDStateLineStipple>("lines are stippled");
    }
    if wm.polygon_stipple_enable {
        uses.needs::<ThreeDStatePolyStipplePattern>("polygons are stippled");
        uses.needs::<ThreeDStatePolyStippleOffset>("polygons are stippled");
    }
    let (lists, dynamic) = (Lists::of(uses.state()), uses.state().base.dynamic);
    if let Some(offset) = lists.viewports {
        type Packet = ThreeDStateViewportStatePointersSfClip;
        uses.pointer::<Packet>("positions are transformed or clipped", (Base::Dynamic, offset));
        uses.structure::<SfClipViewport>(dynamic.wrapping_add(offset), slot::<Packet>(0));
    }
    if let Some(offset) = lists.depth_ranges {
        type Packet = ThreeDStateViewportStatePointersCc;
        uses.pointer::<Packet>("depths are limited to the viewport", (Base::Dynamic, offset));
        uses.structure::<CcViewport>(dynamic.wrapping_add(offset), slot::<Packet>(0));
    }
    if let Some(offset) = lists.scissors {
        type Packet = ThreeDStateScissorStatePointers;
        uses.pointer::<Packet>("the scissor test is on", (Base::Dynamic, offset));
        uses.structure::<ScissorRect>(dynamic.wrapping_add(offset), slot::<Packet>(0));
    }
    uses.needs::<ThreeDStateDepthBuffer>("it says whether there is a depth buffer");
    uses.needs::<ThreeDStateWmDepthStencil>("it enables the depth and stencil tests");
    uses.needs::<ThreeDStateWmHzOp>("it says whether the draw is a clear or resolve");
    let buffer: ThreeDStateDepthBuffer = latched.read(0);
    let tests: ThreeDStateWmDepthStencil = latched.read(0);
    if tests.stencil_test_enable {
        uses.needs::<ThreeDStateStencilBuffer>("the stencil test is on");
    }
    if buffer.hierarchical_depth_buffer_enable && depth::is_used(&buffer, &tests) {
        let why = "the depth buffer has a hierarchical one";
        uses.needs::<ThreeDStateHierDepthBuffer>(why);
        uses.needs::<ThreeDStateClearParams>(why);
    }
}

/// The pixel shader and what comes after it.
fn pixels(uses: &mut Uses<'_>, kernels: &mut Kernels) {
    let latched = uses.latched;
    uses.needs::<ThreeDStatePsExtra>("it enables the pixel shader");
    let extra: ThreeDStatePsExtra = latched.read(0);
    let mut constants = false;
    if extra.pixel_shader_valid {
        uses.needs::<ThreeDStatePsBlend>("the pixel shader is on");
        uses.needs::<ThreeDStateWmChromakey>("the pixel shader is on");
    }
    if wm::shades(uses.state()) {
        uses.needs::<ThreeDStatePs>("the pixel shader is on");
        uses.needs::<ThreeDStateSbe>("the pixel shader is on: it has the attributes");
        if latched.read::<ThreeDStateSbe>(0).attribute_swizzle_enable {
            uses.needs::<ThreeDStateSbeSwiz>("attributes are swizzled");
        }
        let ps: ThreeDStatePs = latched.read(0);
        let widths = ps::kernels(&ps).into_iter().flatten().map(|kernel| kernel.pointer).collect();
        stage!(
            uses, kernels, ThreeDStatePs, widths, ps.push_constant_enable;
            ThreeDStateBindingTablePointersPs: pointer_to_ps_binding_table,
            ThreeDStateSamplerStatePointersPs: pointer_to_ps_sampler_state,
            ThreeDStateConstantPs, ThreeDStatePushConstantAllocPs
        );
        let mut targets = BTreeSet::new();
        for kernel in ps::kernels(&ps).into_iter().flatten() {
            targets.extend(uses.messages(kernels, kernel.pointer).targets);
        }
        constants = blend(uses, &extra, targets.len());
    }
    let tests: ThreeDStateWmDepthStencil = latched.read(0);
    let stencil: ThreeDStateStencilBuffer = latched.read(0);
    let tested = tests.stencil_test_enable && stencil.stencil_buffer_enable;
    if tested || constants {
        let pointer: ThreeDStateCcStatePointers = latched.read(0);
        let offset = pointer.color_calc_state_pointer.get();
        let why = match tested {
            true => "the stencil test needs its reference",
            false => "blending or the alpha test needs a constant",
        };
        uses.pointer::<ThreeDStateCcStatePointers>(why, (Base::Dynamic, offset));
        let invalid = !pointer.color_calc_state_pointer_valid;
        mark_invalid(uses, slot::<ThreeDStateCcStatePointers>(0), invalid);
        if pointer.color_calc_state_pointer_valid {
            let address = uses.state().base.dynamic.wrapping_add(offset);
            uses.structure::<ColorCalcState>(address, slot::<ThreeDStateCcStatePointers>(0));
        }
    }
}

/// Sets `invalid` in the newest use of a packet.
fn mark_invalid(uses: &mut Uses<'_>, key: Key, invalid: bool) {
    if let Some(used) = uses.packets.iter_mut().rev().find(|used| used.key == key) {
        used.invalid = invalid;
    }
}

/// BLEND_STATE, if the pixel shader writes to targets. Returns true if blending or the alpha test
/// needs COLOR_CALC_STATE.
fn blend(uses: &mut Uses<'_>, extra: &ThreeDStatePsExtra, targets: usize) -> bool {
    let latched = uses.latched;
    let packet: ThreeDStatePsBlend = latched.read(0);
    if !packet.has_writeable_rt || extra.pixel_shader_does_not_write_to_rt {
        return false;
    }
    type Packet = ThreeDStateBlendStatePointers;
    let pointer: Packet = latched.read(0);
    let offset = pointer.blend_state_pointer.get();
    uses.pointer::<Packet>("the pixel shader writes to render targets", (Base::Dynamic, offset));
    mark_invalid(uses, slot::<Packet>(0), !pointer.blend_state_pointer_valid);
    let Some(address) = wm::blend_address(uses.state()) else { return false };
    let view = uses.view;
    let read = |at, out: &mut [u8]| view.read(at, out).then_some(()).ok_or(());
    let Ok(state) = wm::blend_state(address, read) else { return false };
    // Drivers write only as many entries as there are targets.
    let mut dwords = vec![0; 1 + BlendStateEntry::DWORDS * targets.clamp(1, state.entry.len())];
    if view.read(address, bytemuck::cast_slice_mut(&mut dwords)) {
        let (container, key) = (BlendState::INFO, slot::<Packet>(0));
        uses.structures.push(Structure { container, address, dwords, key });
    }
    let is_constant = |factor: BlendFactor| {
        matches!(
            factor,
            BlendFactor::BLENDFACTOR_CONST_COLOR
                | BlendFactor::BLENDFACTOR_CONST_ALPHA
                | BlendFactor::BLENDFACTOR_INV_CONST_COLOR
                | BlendFactor::BLENDFACTOR_INV_CONST_ALPHA
        )
    };
    let first = &state.entry[0];
    let factors = [
        first.source_blend_factor,
        first.destination_blend_factor,
        first.source_alpha_blend_factor,
        first.destination_alpha_blend_factor,
    ];
    packet.alpha_test_enable
        || first.color_buffer_blend_enable && factors.into_iter().any(is_constant)
}

/// The state that a GPGPU_WALKER or a media object uses. `index` is the number of its descriptor.
pub fn of_media<'v>(
    view: &'v dyn View,
    index: u64,
    own_constants: bool,
    kernels: &mut Kernels,
) -> Uses<'v> {
    let mut uses = Uses::new(view);
    let state = uses.state();
    uses.other::<PipelineSelect>(Key::Pipeline, "the threads need their pipeline");
    uses.other::<MediaVfeState>(Key::FrontEnd, "it sets up the threads");
    uses.last(|used| used.set = state.vfe.is_some());
    uses.other::<MediaInterfaceDescriptorLoad>(Key::Descriptors, "it has the kernel");
    let descriptors = &state.interface_descriptors;
    uses.last(|used| used.set = !descriptors.entries.is_empty());
    let Some(descriptor) = descriptors.entries.get(index as usize) else { return uses };
    let size = 4 * InterfaceDescriptorData::DWORDS as u64;
    let address = descriptors.address.wrapping_add(size * index);
    // The descriptor as it was loaded. If memory has not changed, it is used instead: it also has
    // bits that the unpacked descriptor does not keep.
    let mut dwords = [0; InterfaceDescriptorData::DWORDS];
    if !view.read(address, bytemuck::must_cast_slice_mut(&mut dwords))
        || InterfaceDescriptorData::unpack_lossy(&dwords) != *descriptor
    {
        dwords = descriptor.pack();
    }
    uses.structures.push(Structure {
        container: InterfaceDescriptorData::INFO,
        address,
        dwords: dwords.to_vec(),
        key: Key::Descriptors,
    });
    let constants = descriptor.constant_indirect_urb_entry_read_length.get() != 0
        || descriptor.cross_thread_constant_data_read_length.get() != 0;
    if constants && !own_constants {
        uses.other::<MediaCurbeLoad>(Key::Constants, "threads get constants");
        uses.last(|used| used.set = !state.curbe.is_empty());
    }
    let mut pointer = |base: Base, offset: u64, why| {
        uses.other::<MediaInterfaceDescriptorLoad>(Key::Descriptors, why);
        uses.last(|used| (used.set, used.pointer) = (true, Some((base, offset))));
        uses.base(base);
    };
    let kernel = descriptor.kernel_start_pointer.get();
    pointer(Base::Instruction, kernel, "it has the kernel");
    let table = descriptor.binding_table_pointer.get();
    let samplers = descriptor.sampler_state_pointer.get();
    let address = state.base.instruction.wrapping_add(kernel);
    let messages = kernels.messages(view, address).clone();
    if messages.table {
        pointer(Base::Surface, table, "a message of the kernel uses the binding table");
    }
    if messages.sampled {
        pointer(Base::Dynamic, samplers, "a message of the kernel uses a sampler");
    }
    uses.tables(&messages, table, samplers, [Key::Descriptors; 2]);
    uses
}
