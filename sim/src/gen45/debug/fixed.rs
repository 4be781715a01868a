//! What the fixed functions do for debugging with each command, vertex, object, primitive, thread
//! and subspan (003:1313-1811). Called only if Global Debug Enable is set.

use super::dispatch::Mark;
use super::snapshot::{complete_fetch, decide};
use super::state::{Debug, Primitive, Tag, Unit};
use super::value;
use crate::assumptions::{
    G45_CLIPPER_CAPTURES_OBJECTS_THAT_PASS, G45_DEBUG_CLIP_RECTANGLE_INCLUDES_ITS_MAXIMUM,
};
use crate::gen45::state::State;
use crate::machine::exec::Exec;
use crate::machine::registers::Registers;
use genxml::gen45::commands_3d::{ThreeDPrimitive, ThreeDStateDrawingRectangle};
use genxml::gen45::commands_common::StateSip;
use genxml::gen45::debug_fixed::{
    ClCtl, ClRdata, ClStrgVal, DebugIdVs, DebugIdWm, GsCtl, GsRdata, GsStrgVal, SfClipRmax,
    SfClipRmin, SfCtl, SfMaxPrInd, SfMinPrInd, SfRdata, SfStrgVal, SvgRdata, VertexIdentifier,
    VfCtl, VfCtlSnapshotType, VfMaxPrim, VfRdata, VfStrPskip, VfStrVlOvr, VfStrgVal, VfVcOvr,
    VsCtl, VsRdata, VsStrgVal, WizCtl, WizRdata, WizStrgVal,
};
use genxml_core::U;

/// The word of a tag: unit and number.
fn word(tag: Tag) -> u32 {
    let identifier = VertexIdentifier {
        fixed_function_unit_id: U::from_bits(tag.unit as u64),
        number: U::from_bits(tag.number.into()),
    };
    identifier.pack()[0]
}

/// Captures the words of the state variable unit after base addresses have changed.
pub fn bases(exec: &mut Exec<'_>) {
    let (base, sip) = exec.state.slots.with(|state: &State| {
        let sip: StateSip = state.latched.read(0);
        (state.base, sip.system_instruction_pointer.get())
    });
    let words =
        [base.general, base.surface, base.indirect, base.general_bound, base.indirect_bound, sip];
    let words = (0..).zip(words.map(|word| word as u32));
    exec.state.slots.get_mut::<Debug>().capture(SvgRdata::OFFSET, words);
}

/// A 3DPRIMITIVE: counts it. Returns the packet that is drawn; `None` if vertex fetch skips it.
pub fn topology(exec: &mut Exec<'_>, packet: &ThreeDPrimitive) -> Option<ThreeDPrimitive> {
    let number = exec.state.slots.get_mut::<Debug>().counters.topologies.count();
    let registers = &exec.state.registers;
    let control = value!(registers, VfCtl);
    let skipped = value!(registers, VfStrPskip).starting_primitives_skipped.get();
    let limit = value!(registers, VfMaxPrim);
    if limit.cull_all
        || control.skip_initial_primitives && u64::from(number) < skipped
        || control.max_primitives_limit_enable && u64::from(number) >= limit.max_primitives.get()
    {
        return None;
    }
    let mut packet = *packet;
    if control.vertex_range_limit_enable {
        packet.start_vertex_location = value!(registers, VfStrVlOvr).start_vertex_location_override;
        packet.vertex_count_per_instance =
            value!(registers, VfVcOvr).vertex_count_per_instance_override;
    }
    Some(packet)
}

/// A vertex of vertex fetch: counts it. Returns its sequence number, and true if a snapshot needs
/// the ID of the thread that shades it.
pub fn vertex(exec: &mut Exec<'_>, index: u32) -> (u32, bool) {
    let number = exec.state.slots.get_mut::<Debug>().counters.vertices.count();
    let registers = &mut exec.state.registers;
    let control = value!(registers, VfCtl);
    if !control.snapshot_enable || control.snapshot_complete {
        return (number, false);
    }
    let trigger = value!(registers, VfStrgVal).vertex_sequence_number_or_vertex_index.get();
    let by_index = control.snapshot_type == VfCtlSnapshotType::VERTEX_INDEX;
    let matches = u64::from(if by_index { index } else { number }) == trigger;
    if matches {
        complete_fetch(registers);
    }
    (number, matches && !by_index)
}

/// Captures the ID of the thread that shades the vertex of a snapshot.
pub fn shading_thread(exec: &mut Exec<'_>, thread: u32) {
    exec.state.slots.get_mut::<Debug>().capture(VfRdata::OFFSET, [(0, thread)]);
}

/// The ID of the next thread of the vertex shader.
pub fn next_vertex_thread(exec: &mut Exec<'_>) -> u32 {
    exec.state.slots.get_mut::<Debug>().counters.vertex.get()
}

/// Records the tags of the vertices of the object that goes to the next unit.
pub fn corners(exec: &mut Exec<'_>, tags: [Tag; 4]) {
    exec.state.slots.get_mut::<Debug>().corners = tags;
}

/// Records the tags of the vertices of an object that thread `number` of `unit` made.
pub fn produced(exec: &mut Exec<'_>, unit: Unit, number: u32, vertices: [u32; 4]) {
    corners(exec, vertices.map(|relative| Tag { unit, number, relative }));
}

/// The debug ID of a thread: its number and its snapshot flag.
fn mark(unit: Unit, thread: u32, flag: bool) -> Mark {
    let id =
        DebugIdVs { thread_id: U::from_bits(thread.into()), ss_flag: flag, ..DebugIdVs::new() };
    Mark { unit, id: id.pack(), flag }
}

/// Counts a thread of the vertex shader, and captures its words if it has the compare value.
pub fn vertex_thread(exec: &mut Exec<'_>, kernel: u64) -> Mark {
    let number = exec.state.slots.get_mut::<Debug>().counters.vertex.count();
    let registers = &mut exec.state.registers;
    let trigger = value!(registers, VsStrgVal).thread_id_compare_value.get();
    let decision = decide::<VsCtl>(registers, u64::from(number) == trigger, true);
    if decision.captures {
        // The names of the words are those of the windower (assumptions::G45_VS_WORDS).
        exec.state.slots.get_mut::<Debug>().capture(VsRdata::OFFSET, [(0, kernel as u32)]);
    }
    mark(Unit::Vertex, number, decision.to_thread)
}

/// Words about the vertices of an object, two for each.
fn vertices(debug: &Debug, count: usize, relative: bool) -> Vec<(u8, u32)> {
    let each = |(n, tag): (usize, &Tag)| {
        let n = 2 * n as u8;
        [(n, word(*tag)), (n + 1, if relative { tag.relative } else { 0 })]
    };
    debug.corners[..count.min(4)].iter().enumerate().flat_map(each).collect()
}

/// Counts a thread of the geometry shader for an object of `count` vertices, and decides about its
/// snapshot. Returns the number of the thread, too.
pub fn geometry_thread(exec: &mut Exec<'_>, kernel: u64, count: usize) -> (u32, Mark) {
    let number = exec.state.slots.get_mut::<Debug>().counters.geometry.count();
    let registers = &mut exec.state.registers;
    let trigger = value!(registers, GsStrgVal).snapshot_id.get();
    let decision = decide::<GsCtl>(registers, u64::from(number) == trigger, true);
    if decision.captures {
        let debug = exec.state.slots.get_mut::<Debug>();
        let words = vertices(debug, count, false);
        debug.capture(GsRdata::OFFSET, words);
        debug.capture_one(GsRdata::OFFSET, 12, count as u32);
        debug.capture_one(GsRdata::OFFSET, 13, kernel as u32);
    }
    (number, mark(Unit::Geometry, number, decision.to_thread))
}

/// True if the clipper drops all objects.
pub fn clipper_drops(registers: &Registers) -> bool {
    value!(registers, ClCtl).cull_all
}

/// An object of `count` vertices that the clipper passes without a thread.
pub fn clipper_passes(exec: &mut Exec<'_>, kernel: u64, count: usize) {
    if G45_CLIPPER_CAPTURES_OBJECTS_THAT_PASS {
        let number = exec.state.slots.get_mut::<Debug>().counters.clipper.get();
        clipper(exec, number, kernel, count);
    }
}

/// Counts a thread of the clipper for an object of `count` vertices, and decides about its
/// snapshot. Returns the number of the thread, too.
pub fn clipper_thread(exec: &mut Exec<'_>, kernel: u64, count: usize) -> (u32, Mark) {
    let number = exec.state.slots.get_mut::<Debug>().counters.clipper.count();
    let flag = clipper(exec, number, kernel, count);
    (number, mark(Unit::Clipper, number, flag))
}

fn clipper(exec: &mut Exec<'_>, number: u32, kernel: u64, count: usize) -> bool {
    let registers = &mut exec.state.registers;
    let trigger = value!(registers, ClStrgVal).snapshot_id.get();
    let decision = decide::<ClCtl>(registers, u64::from(number) == trigger, true);
    if decision.captures {
        let debug = exec.state.slots.get_mut::<Debug>();
        let words = vertices(debug, count, true);
        debug.capture(ClRdata::OFFSET, words);
        debug.capture_one(ClRdata::OFFSET, 6, count as u32);
        debug.capture_one(ClRdata::OFFSET, 7, kernel as u32);
    }
    decision.to_thread
}

/// The drawing rectangle: the debug clip rectangle if it is enabled, otherwise `drawing`.
pub fn drawing(
    registers: &Registers,
    mut drawing: ThreeDStateDrawingRectangle,
) -> ThreeDStateDrawingRectangle {
    if !value!(registers, SfCtl).debug_clip_rectangle_enable {
        return drawing;
    }
    let least = value!(registers, SfClipRmin);
    let most = value!(registers, SfClipRmax);
    let last = |value: U<16>| match G45_DEBUG_CLIP_RECTANGLE_INCLUDES_ITS_MAXIMUM {
        true => value,
        false => U::from_bits(value.get().saturating_sub(1)),
    };
    drawing.clipped_drawing_rectangle_x_min = least.debug_clip_rectangle_minimum_x;
    drawing.clipped_drawing_rectangle_y_min = least.debug_clip_rectangle_minimum_y;
    drawing.clipped_drawing_rectangle_x_max = last(most.debug_clip_rectangle_maximum_x);
    drawing.clipped_drawing_rectangle_y_max = last(most.debug_clip_rectangle_maximum_y);
    drawing
}

/// Counts a primitive of `count` vertices that arrives at strips and fans, and decides about its
/// snapshot. Returns false if the primitive is dropped.
pub fn primitive(exec: &mut Exec<'_>, kernel: u64, count: usize) -> bool {
    let number = exec.state.slots.get_mut::<Debug>().counters.primitives.count();
    let registers = &mut exec.state.registers;
    let trigger = value!(registers, SfStrgVal).snapshot_id.get();
    let decision = decide::<SfCtl>(registers, u64::from(number) == trigger, true);
    let control = value!(registers, SfCtl);
    let least = value!(registers, SfMinPrInd).minimum_primitive_index.get();
    let most = value!(registers, SfMaxPrInd).maximum_primitive_index.get();
    let outside = !(least..=most).contains(&u64::from(number));
    let debug = exec.state.slots.get_mut::<Debug>();
    if decision.captures {
        let words = vertices(debug, count, true);
        debug.capture(SfRdata::OFFSET, words);
        debug.capture_one(SfRdata::OFFSET, 6, count as u32);
        debug.capture_one(SfRdata::OFFSET, 7, kernel as u32);
    }
    debug.primitive = Primitive { number, flag: decision.flag, to_thread: decision.to_thread };
    // The windower counts the threads of each primitive.
    debug.counters.pixel = Default::default();
    !(control.cull_all || control.min_max_primitive_range_enable && outside)
}

/// The setup thread of the primitive.
pub fn setup_thread(exec: &mut Exec<'_>) -> Mark {
    let Primitive { number, to_thread, .. } = exec.state.slots.get_mut::<Debug>().primitive;
    mark(Unit::Setup, number, to_thread)
}

/// True if the windower drops all primitives.
pub fn windower_drops(registers: &Registers) -> bool {
    value!(registers, WizCtl).kill_polygon
}

/// True if the windower starts no threads.
pub fn kills_threads(registers: &Registers) -> bool {
    value!(registers, WizCtl).kill_thread_dispatch
}

/// True if threads get one subspan each, unless depth is tested before them.
pub fn single_subspans(registers: &Registers) -> bool {
    value!(registers, WizCtl).single_subspan_dispatch
}

/// Counts a pixel shader thread with subspans at these positions, and decides about its snapshot.
pub fn pixel_thread(
    exec: &mut Exec<'_>,
    kernel: u64,
    subspans: impl IntoIterator<Item = [u32; 2]>,
) -> Mark {
    let debug = exec.state.slots.get_mut::<Debug>();
    let number = debug.counters.pixel.count();
    let Primitive { number: primitive, flag: upstream, .. } = debug.primitive;
    let registers = &mut exec.state.registers;
    let control = value!(registers, WizCtl);
    let place = value!(registers, WizStrgVal);
    let wanted = [place.pixel_x_compare_value.get(), place.pixel_y_compare_value.get()];
    let allowed = upstream || !control.use_upstream_snapshot_flag;
    let mut matches = false;
    let mut count = debug.counters.subspans;
    for subspan in subspans {
        // The lowest bits are not compared.
        if subspan.map(|at| u64::from(at) & !1) == wanted.map(|at| at & !1) {
            count = count.wrapping_add(1);
            matches |= !control.enable_subspan_instance_compare
                || u64::from(count) == control.subspan_instance_number.get();
        }
    }
    debug.counters.subspans = count;
    let decision = decide::<WizCtl>(registers, matches, allowed);
    if decision.captures {
        debug.capture(WizRdata::OFFSET, [(0, kernel as u32), (1, count), (2, primitive)]);
    }
    let id = DebugIdWm {
        thread_id: U::from_bits(number.into()),
        ss_flag: decision.to_thread,
        primitive_sequence_number: U::from_bits(primitive.into()),
        ..DebugIdWm::new()
    };
    Mark { unit: Unit::Windower, id: id.pack(), flag: decision.to_thread }
}
