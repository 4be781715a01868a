//! Debug registers of the fixed functions (003:1191-1811): what they drop, and snapshots.

use crate::debug_support::*;
use crate::scene::{KERNELS, SIDE, Scene, kernel, less, rectangle, u};
use genxml::core::Address;
use genxml::gen45::commands_3d::ThreeDPrimitive;
use genxml::gen45::commands_mi::MiFlush;
use genxml::gen45::debug_fixed::*;
use genxml::gen45::enums::ThreeDPrimTopoType as Topology;
use genxml::gen45::registers::Instpm;
use genxml::gen45::state_units::VsState;

/// 003:1632-1674: strips and fans drop primitives outside of the range, whose ends belong to it.
/// Nothing happens without the enables (003:1225).
#[test]
fn range_of_primitives() {
    let range = SfCtl { min_max_primitive_range_enable: true, ..SfCtl::new() }.pack()[0];
    let ends = |least, most| [(SfMinPrInd::OFFSET, least), (SfMaxPrInd::OFFSET, most)];
    let on = (SfCtl::OFFSET, range);
    let with = |first: &[(u32, u32)], least, most| draw(&[first, &ends(least, most)].concat());
    assert_eq!(drawn(&with(&[ENABLE, on], 2, 5)), [false, true, true, false]);
    assert_eq!(drawn(&with(&[ENABLE, on], 0, 1)), [true, false, false, false]);
    assert_eq!(drawn(&with(&[ENABLE, on], 8, 99)), [false; 4]);
    assert_eq!(drawn(&with(&[ENABLE], 2, 5)), [true; 4]);
    assert_eq!(drawn(&with(&[on], 2, 5)), [true; 4]);
}

/// 003:1393, 1560, 1631: Cull All of vertex fetch, clipper and strips and fans. 003:1775: Kill
/// Polygon and Kill Thread Dispatch of the windower.
#[test]
fn everything_is_dropped() {
    for (register, value) in [
        (VfMaxPrim::OFFSET, VfMaxPrim { cull_all: true, ..VfMaxPrim::new() }.pack()[0]),
        (ClCtl::OFFSET, ClCtl { cull_all: true, ..ClCtl::new() }.pack()[0]),
        (SfCtl::OFFSET, SfCtl { cull_all: true, ..SfCtl::new() }.pack()[0]),
        (WizCtl::OFFSET, WizCtl { kill_polygon: true, ..WizCtl::new() }.pack()[0]),
        (WizCtl::OFFSET, WizCtl { kill_thread_dispatch: true, ..WizCtl::new() }.pack()[0]),
    ] {
        assert_eq!(drawn(&draw(&[ENABLE, (register, value)])), [false; 4], "{register:#x}");
        assert_eq!(drawn(&draw(&[(register, value)])), [true; 4], "{register:#x}");
    }
}

/// 003:1634, 1678-1698: the debug clip rectangle replaces the drawing rectangle.
#[test]
fn debug_clip_rectangle() {
    let control = SfCtl { debug_clip_rectangle_enable: true, ..SfCtl::new() }.pack()[0];
    let mut scene = Scene::new();
    scene.drawing.clipped_drawing_rectangle_x_max = u(3);
    scene.more = load(&[
        ENABLE,
        (SfCtl::OFFSET, control),
        (SfClipRmin::OFFSET, 2 << 16 | 5),
        (SfClipRmax::OFFSET, 6 << 16 | 20),
    ]);
    scene.draw(&four(), 24).unwrap();
    for (x, y) in (0..SIDE).flat_map(|x| (0..8).map(move |y| (x, y))) {
        let inside = (5..=20).contains(&x) && (2..=6).contains(&y);
        assert_eq!(scene.pixel(x, y) != EMPTY, inside, "({x}, {y})");
    }
}

/// 003:1333-1395: vertex fetch skips the first commands and those after a number of commands, which
/// includes the skipped ones; it replaces the vertices of a command.
#[test]
fn commands_and_vertices() {
    let run = |control: VfCtl, more: &[(u32, u32)]| {
        let mut scene = Scene::new();
        let command = |n: u64| {
            ThreeDPrimitive {
                primitive_topology_type: Topology::_3DPRIM_TRILIST,
                vertex_count_per_instance: u(6),
                start_vertex_location: u(6 * n),
                instance_count: u(1),
                ..ThreeDPrimitive::new()
            }
            .pack()
        };
        let control = [ENABLE, (VfCtl::OFFSET, control.pack()[0])];
        scene.more = load(&[&control[..], more].concat());
        // The commands draw the rectangles 2, 1 and 0 in this order.
        scene.more.extend([command(2), command(1)].concat());
        scene.draw(&four(), 6).unwrap();
        drawn(&scene)
    };
    let skip = VfCtl { skip_initial_primitives: true, ..VfCtl::new() };
    let most = VfCtl { max_primitives_limit_enable: true, ..VfCtl::new() };
    let numbers = [(VfStrPskip::OFFSET, 1), (VfMaxPrim::OFFSET, 2)];
    assert_eq!(run(VfCtl::new(), &numbers), [true, true, true, false]);
    assert_eq!(run(skip, &numbers), [true, true, false, false]);
    assert_eq!(run(most, &numbers), [false, true, true, false]);
    let both = VfCtl { skip_initial_primitives: true, ..most };
    assert_eq!(run(both, &numbers), [false, true, false, false]);
    let range = VfCtl { vertex_range_limit_enable: true, ..VfCtl::new() };
    let all = run(range, &[(VfStrVlOvr::OFFSET, 18), (VfVcOvr::OFFSET, 6)]);
    assert_eq!(all, [false, false, false, true]);
}

/// A vertex shader that leaves vertices as they are.
fn shaded() -> Scene {
    let mut scene = Scene::new();
    scene.vs = VsState {
        kernel_start_pointer: Address::from_bits(KERNELS + 0x3000),
        enable: true,
        number_of_urb_entries: u(8),
        urb_entry_allocation_size: less(2),
        vertex_urb_entry_read_length: u(1),
        dispatch_grf_start_register_for_urb_data: u(1),
        ..VsState::new()
    };
    let text = "send(8) 0 null<1>F g0<8,8,1>F 0x8610c000
        urb MsgDesc: 0 urb_write used complete mlen 1 rlen 0 { align1 EOT };";
    scene.put(KERNELS + 0x3000, &kernel(text));
    scene
}

/// 003:1191-1206, 1594-1652: the snapshot of a primitive has the identifiers of its vertices, their
/// number and the kernel; the complete flag is set. Vertices of vertex fetch and of the vertex
/// shader have their sequence number.
#[test]
fn snapshot_of_a_primitive() {
    for (mut scene, unit) in [(Scene::new(), 1), (shaded(), 2)] {
        let control = SfCtl { snapshot_enable: true, ..SfCtl::new() }.pack()[0];
        scene.more = load(&[ENABLE, (SfCtl::OFFSET, control), (SfStrgVal::OFFSET, 5)]);
        scene.after = store(8, SfCtl::OFFSET);
        scene.after.extend(words(
            SfCtl::OFFSET,
            control,
            SfRdata::OFFSET,
            &[0, 1, 2, 3, 4, 5, 6, 7],
        ));
        scene.draw(&four(), 24).unwrap();
        let id = |number: u32| unit << 28 | number;
        let kernel = KERNELS as u32;
        assert_eq!(
            results(&scene),
            [id(15), 0, id(16), 0, id(17), 0, 3, kernel, control | 1 << 31]
        );
        assert_eq!(scene.gpu.mmio_read(SfRdata::OFFSET), kernel);
    }
}

/// 003:1267-1269, 1409-1470: the snapshot of a vertex has the thread that shades it, two vertices
/// each; the thread's snapshot has the kernel.
#[test]
fn snapshot_of_a_vertex() {
    let mut scene = shaded();
    let fetch = VfCtl { snapshot_enable: true, ..VfCtl::new() }.pack()[0];
    let shader = VsCtl { snapshot_enable: true, ..VsCtl::new() }.pack()[0];
    scene.more = load(&[
        ENABLE,
        (VfCtl::OFFSET, fetch),
        (VfStrgVal::OFFSET, 13),
        (VsCtl::OFFSET, shader),
        (VsStrgVal::OFFSET, 6),
    ]);
    scene.after = [VfRdata::OFFSET, VfCtl::OFFSET, VsRdata::OFFSET, VsCtl::OFFSET]
        .into_iter()
        .enumerate()
        .flat_map(|(n, register)| store(n, register))
        .collect();
    scene.draw(&four(), 24).unwrap();
    let complete = 1 << 31;
    let kernel = KERNELS as u32 + 0x3000;
    assert_eq!(results(&scene), [6, fetch | complete, kernel, shader | complete]);
}

/// 003:1223: counters go on over draws until MI_FLUSH resets them; they do not count without the
/// enable.
#[test]
fn counters() {
    let primitive = |batches: &[(bool, bool)]| {
        let mut scene = Scene::new();
        let all = SfCtl { snapshot_all_threads: true, ..SfCtl::new() }.pack()[0];
        for (enable, reset) in batches {
            let flush =
                MiFlush { global_snapshot_count_reset: *reset, ..MiFlush::new() }.pack().to_vec();
            let value = if *enable { 0x0010_0010 } else { 0x0010_0000 };
            scene.more = [flush, load(&[(Instpm::OFFSET, value), (SfCtl::OFFSET, all)])].concat();
            scene.after = store(0, SfRdata::OFFSET);
            scene.draw(&four(), 24).unwrap();
        }
        // With Snapshot All Threads the last primitive is captured: its first vertex.
        results::<1>(&scene)[0] & 0xff_ffff
    };
    assert_eq!(primitive(&[(true, false)]), 21);
    assert_eq!(primitive(&[(true, false), (true, false)]), 45);
    assert_eq!(primitive(&[(true, false), (true, true)]), 21);
    assert_eq!(primitive(&[(true, false), (false, false), (true, false)]), 45);
}

/// 003:1728-1811: the windower traps a subspan at a position, without its lowest bits, and an
/// occurrence of it. It has the number of the primitive.
#[test]
fn snapshot_of_a_subspan() {
    let run = |control: WizCtl, place: u32, sf: &[(u32, u32)]| {
        let mut scene = Scene::new();
        let value = control.pack()[0];
        let first = [ENABLE, (WizCtl::OFFSET, value), (WizStrgVal::OFFSET, place)];
        scene.more = load(&[&first[..], sf].concat());
        scene.after = store(3, WizCtl::OFFSET);
        scene.after.extend(words(WizCtl::OFFSET, value, WizRdata::OFFSET, &[0, 1, 2]));
        // Three rectangles over each other.
        let vertices = [(); 3].map(|()| rectangle([0.0, 0.0], [8.0, 8.0], 0.5, RED)).concat();
        scene.draw(&vertices, 18).unwrap();
        let [kernel, count, primitive, control] = results(&scene);
        (kernel, count, primitive, control >> 31 == 1)
    };
    let kernel = KERNELS as u32 + 0x1000;
    let on = WizCtl { snapshot_enable: true, ..WizCtl::new() };
    // The first triangle of a rectangle has the upper left half.
    for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        assert_eq!(run(on, y << 16 | x, &[]), (kernel, 1, 0, true));
    }
    assert_eq!(run(on, 6 << 16 | 6, &[]), (kernel, 1, 1, true));
    assert_eq!(run(on, 9, &[]), (0, 0, 0, false));
    let third =
        WizCtl { enable_subspan_instance_compare: true, subspan_instance_number: u(3), ..on };
    assert_eq!(run(third, 0, &[]), (kernel, 3, 4, true));
    let fourth = WizCtl { subspan_instance_number: u(4), ..third };
    assert_eq!(run(fourth, 0, &[]), (0, 0, 0, false));
    // Only the primitive of the snapshot of strips and fans.
    let upstream = WizCtl { use_upstream_snapshot_flag: true, ..on };
    assert_eq!(run(upstream, 0, &[]), (0, 0, 0, false));
    let control = SfCtl { snapshot_enable: true, ..SfCtl::new() }.pack()[0];
    let sf = [(SfCtl::OFFSET, control), (SfStrgVal::OFFSET, 2)];
    assert_eq!(run(upstream, 0, &sf), (kernel, 2, 2, true));
}
