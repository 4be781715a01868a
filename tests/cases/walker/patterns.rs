//! MEDIA_OBJECT_WALKER: orders of dispatch.
//!
//! The patterns are those of Intel's media runtime (CM_WALK_* of intel/media-driver,
//! cm_command_buffer.cpp). The parameters are taken from it. The expected order follows from the
//! meaning of the pattern: the positions sorted by a key.

use genxml::core::S;
use genxml::eu;
use genxml::gen8::media::{MediaObjectWalker, MediaObjectWalkerGroupIdLoopSelect as GroupLoop};
use genxml::gen8::state::InterfaceDescriptorData;
use genxml::gen8::thread_payloads::MediaThreadPayloadHeader;
use genxml_cases::media::INDIRECT;
use genxml_cases::{Media, Model, at, push, u};
use genxml_sim::Fault;

/// A kernel that ends at once.
const END: &[u32] = &eu! {
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

fn s<const N: u32>(value: i64) -> S<N> {
    S::new(value).expect("a number that fits")
}

/// Position and colour of each thread of a walk, in order.
fn walk(walker: &MediaObjectWalker<'_>) -> Result<Vec<(u32, u32, u32)>, Fault> {
    let mut model = Model::new();
    let mut batch = Media::new(END).state(&mut model);
    push(&mut batch, walker);
    let payloads = model.payloads(&batch)?;
    Ok(payloads
        .iter()
        .map(|payload| {
            let header = MediaThreadPayloadHeader::unpack_lossy(&payload[..8].try_into().unwrap());
            let [x, y] = [header.scoreboard_x, header.scoreboard_y].map(|n| n.get() as u32);
            (x, y, header.scoreboard_color.get() as u32)
        })
        .collect())
}

/// A walker with one block that covers the whole area.
fn whole(width: u32, height: u32) -> MediaObjectWalker<'static> {
    let (width, height) = (u64::from(width), u64::from(height));
    MediaObjectWalker {
        global_loop_exec_count: u(1),
        block_resolution_x: u(width),
        block_resolution_y: u(height),
        global_resolution_x: u(width),
        global_resolution_y: u(height),
        global_outer_loop_stride_x: s(width as i64),
        global_inner_loop_unit_y: s(height as i64),
        ..MediaObjectWalker::new()
    }
}

/// All positions, sorted by a key.
fn sorted<K: Ord>(width: u32, height: u32, key: impl Fn(u32, u32) -> K) -> Vec<(u32, u32, u32)> {
    let mut all: Vec<_> = (0..height).flat_map(|y| (0..width).map(move |x| (x, y, 0))).collect();
    all.sort_by_key(|(x, y, _)| key(*x, *y));
    all
}

const SIZES: [(u32, u32); 6] = [(1, 1), (5, 3), (3, 5), (8, 8), (7, 1), (2, 9)];

/// Rows from left to right, and columns from top to bottom.
#[test]
fn horizontal_and_vertical() {
    for (width, height) in SIZES {
        let horizontal = MediaObjectWalker {
            local_loop_exec_count: u(u64::from(height) - 1),
            local_outer_loop_stride_y: s(1),
            local_inner_loop_unit_x: s(1),
            ..whole(width, height)
        };
        assert_eq!(walk(&horizontal).unwrap(), sorted(width, height, |x, y| (y, x)));
        let vertical = MediaObjectWalker {
            local_loop_exec_count: u(u64::from(width) - 1),
            local_outer_loop_stride_x: s(1),
            local_inner_loop_unit_y: s(1),
            ..whole(width, height)
        };
        assert_eq!(walk(&vertical).unwrap(), sorted(width, height, |x, y| (x, y)));
    }
}

/// Diagonals of 45 and of 26.5 degrees, from the upper right to the lower left.
#[test]
fn wavefronts() {
    for (width, height) in SIZES {
        for slope in [1, 2] {
            let wavefront = MediaObjectWalker {
                local_loop_exec_count: u(u64::from(width + (height - 1) * slope - 1)),
                local_outer_loop_stride_x: s(1),
                local_inner_loop_unit_x: s(-i64::from(slope)),
                local_inner_loop_unit_y: s(1),
                ..whole(width, height)
            };
            let expected = sorted(width, height, |x, y| (x + slope * y, y));
            assert_eq!(walk(&wavefront).unwrap(), expected, "{width} x {height}, slope {slope}");
        }
    }
}

/// Diagonals of 26.5 degrees in pairs of rows: for each diagonal first the upper rows of all pairs,
/// then the lower rows (middle loop).
#[test]
fn wavefronts_in_pairs_of_rows() {
    for (width, height) in SIZES.into_iter().filter(|(width, _)| *width > 1) {
        let wavefront = MediaObjectWalker {
            local_loop_exec_count: u(0x3ff),
            global_loop_exec_count: u(0),
            middle_loop_extra_steps: u(1),
            local_mid_loop_unit_y: s(1),
            local_outer_loop_stride_x: s(1),
            local_inner_loop_unit_x: s(-2),
            local_inner_loop_unit_y: s(2),
            ..whole(width, height)
        };
        let expected = sorted(width, height, |x, y| (x + (y & !1), y & 1, y));
        assert_eq!(walk(&wavefront).unwrap(), expected, "{width} x {height}");
    }
}

/// Blocks of 2 x 2 along diagonals (global loops), each by rows. At odd edges blocks are cut.
#[test]
fn wavefronts_of_blocks() {
    for (width, height) in SIZES.into_iter().filter(|(width, _)| *width > 2) {
        let (across, down) = (u64::from(width.div_ceil(2)), u64::from(height.div_ceil(2)));
        let walker = MediaObjectWalker {
            local_loop_exec_count: u(1),
            global_loop_exec_count: u((down - 1) * 2 + across - 1),
            local_outer_loop_stride_y: s(1),
            local_inner_loop_unit_x: s(1),
            block_resolution_x: u(2),
            block_resolution_y: u(2),
            global_resolution_x: u(width.into()),
            global_resolution_y: u(height.into()),
            global_outer_loop_stride_x: s(2),
            global_inner_loop_unit_x: s(-4),
            global_inner_loop_unit_y: s(2),
            ..MediaObjectWalker::new()
        };
        let expected = sorted(width, height, |x, y| (x / 2 + 2 * (y / 2), y / 2, y, x));
        assert_eq!(walk(&walker).unwrap(), expected, "{width} x {height}");
    }
}

/// Colours are the innermost loop. Loops also end by their counts. A block that begins outside is
/// cut.
#[test]
fn colors_counts_and_cut_blocks() {
    let colored = MediaObjectWalker {
        color_count_minus_one: u(2),
        local_loop_exec_count: u(1),
        local_outer_loop_stride_y: s(1),
        local_inner_loop_unit_x: s(1),
        ..whole(2, 5)
    };
    let expected: Vec<_> = (0..2)
        .flat_map(|y| (0..2).flat_map(move |x| (0..3).map(move |color| (x, y, color))))
        .collect();
    assert_eq!(walk(&colored).unwrap(), expected);

    // Blocks of 3 x 3 from (-1, -2) on. In the first block, 2 x 1 positions remain. In the other
    // blocks, the positions before (6, 4) remain.
    let cut = MediaObjectWalker {
        local_loop_exec_count: u(0x3ff),
        global_loop_exec_count: u(0x3ff),
        local_outer_loop_stride_y: s(1),
        local_inner_loop_unit_x: s(1),
        block_resolution_x: u(3),
        block_resolution_y: u(3),
        global_resolution_x: u(6),
        global_resolution_y: u(4),
        global_start_x: s(-1),
        global_start_y: s(-2),
        global_outer_loop_stride_y: s(3),
        global_inner_loop_unit_x: s(3),
        ..MediaObjectWalker::new()
    };
    let rows = [0..1, 1..4];
    let columns = [0..2, 2..5, 5..6];
    let mut expected = Vec::new();
    for rows in rows {
        for columns in columns.clone() {
            for y in rows.clone() {
                expected.extend(columns.clone().map(|x| (x, y, 0)));
            }
        }
    }
    assert_eq!(walk(&cut).unwrap(), expected);

    // A loop with step 0 never ends, unless there is only one position or one block.
    let still = |width, height| MediaObjectWalker {
        local_outer_loop_stride_y: s(1),
        ..whole(width, height)
    };
    for (width, height) in [(2, 2), (2, 1), (1, 2)] {
        let fault = walk(&still(width, height)).unwrap_err();
        assert!(
            matches!(&fault, Fault::BadPacket { field: "Local Inner Loop Unit", .. }),
            "{fault}"
        );
    }
    let units = MediaObjectWalker { global_inner_loop_unit_y: s(0), ..still(1, 1) };
    let units = MediaObjectWalker {
        global_outer_loop_stride_x: s(0),
        global_loop_exec_count: u(0),
        ..units
    };
    let units =
        MediaObjectWalker { color_count_minus_one: u(2), local_outer_loop_stride_y: s(0), ..units };
    assert_eq!(walk(&units).unwrap(), [(0, 0, 0), (0, 0, 1), (0, 0, 2)]);
    let one_block = MediaObjectWalker {
        local_inner_loop_unit_x: s(1),
        global_inner_loop_unit_y: s(0),
        ..whole(2, 2)
    };
    assert_eq!(walk(&one_block).unwrap(), [(0, 0, 0), (1, 0, 0)]);
    // Blocks of one position need no step within a block, but one to the next block.
    let ones = MediaObjectWalker {
        block_resolution_x: u(1),
        block_resolution_y: u(1),
        global_inner_loop_unit_x: s(1),
        global_inner_loop_unit_y: s(0),
        global_outer_loop_stride_x: s(0),
        global_outer_loop_stride_y: s(1),
        ..whole(3, 2)
    };
    assert_eq!(walk(&ones).unwrap(), sorted(3, 2, |x, y| (y, x)));
    let stays = MediaObjectWalker { global_inner_loop_unit_x: s(0), ..ones };
    let fault = walk(&stays).unwrap_err();
    assert!(matches!(&fault, Fault::BadPacket { field: "Global Inner Loop Unit", .. }), "{fault}");
}

/// Each thread of a walk gets the inline data, then the indirect data, which starts at a new
/// register. A walker has at most 63 registers of both (2a p.501).
#[test]
fn data_of_walkers() {
    let inline: Vec<_> = (0..504).map(|n| u(0x1000 + n)).collect();
    let run = |dwords: usize, indirect: u64| {
        let walker = MediaObjectWalker {
            local_inner_loop_unit_x: s(1),
            local_outer_loop_stride_y: s(1),
            inline_data: inline[..dwords].into(),
            indirect_data_length: u(indirect),
            indirect_data_start_address: at(64),
            ..whole(2, 1)
        };
        let mut model = Model::new();
        model.put(INDIRECT + 64, &(0..504).map(|n| 0x2000 + n).collect::<Vec<u32>>());
        let mut batch = Media::new(END).state(&mut model);
        push(&mut batch, &walker);
        model.payloads(&batch)
    };
    for (dwords, indirect) in [(504usize, 0), (496, 32), (11, 96), (0, 32 * 62)] {
        let mut expected: Vec<u32> = (0..dwords as u32).map(|n| 0x1000 + n).collect();
        expected.resize(dwords.next_multiple_of(8), 0);
        expected.extend((0..indirect as u32 / 4).map(|n| 0x2000 + n));
        let payloads = run(dwords, indirect).unwrap();
        assert_eq!(payloads.len(), 2);
        for payload in payloads {
            assert_eq!(payload[8..], expected, "{dwords} dwords, {indirect} bytes");
        }
    }
    for (dwords, indirect) in [(504, 32), (497, 32), (16, 32 * 62)] {
        let fault = run(dwords, indirect).unwrap_err();
        assert!(
            matches!(&fault, Fault::BadPacket { field: "Indirect Data Length", .. }),
            "{fault}"
        );
    }
}

/// Threads of a group wait at its barrier: each loop that can form groups, with the number of
/// threads in each group.
#[test]
fn groups_by_loops() {
    const MEET: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud   0:ud
        (W) and (1|M0)   r10.2<1>:ud   r0.2<0;1,0>:ud  0x0f000000:ud
        (W) send (1|M0)  null  r10   0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    // 2 x 1 blocks of 3 x 2 positions, with 2 colours at each position.
    let walker = MediaObjectWalker {
        color_count_minus_one: u(1),
        local_loop_exec_count: u(0x3ff),
        global_loop_exec_count: u(0x3ff),
        local_outer_loop_stride_y: s(1),
        local_inner_loop_unit_x: s(1),
        block_resolution_x: u(3),
        block_resolution_y: u(2),
        global_resolution_x: u(6),
        global_resolution_y: u(2),
        global_outer_loop_stride_y: s(2),
        global_inner_loop_unit_x: s(3),
        ..MediaObjectWalker::new()
    };
    for (select, threads) in [
        (GroupLoop::COLOR_LOOP_GROUPS, 2),
        (GroupLoop::INNER_LOCAL_GROUPS, 6),
        (GroupLoop::MID_LOCAL_GROUPS, 6),
        (GroupLoop::OUTER_LOCAL_GROUPS, 12),
        (GroupLoop::INNER_GLOBAL_GROUPS, 24),
    ] {
        let run = |threads: u64| {
            let descriptor = InterfaceDescriptorData {
                barrier_enable: true,
                number_of_threads_in_gpgpu_thread_group: u(threads),
                ..InterfaceDescriptorData::new()
            };
            let mut model = Model::new();
            let media = Media { descriptors: vec![descriptor], ..Media::new(MEET) };
            let mut batch = media.state(&mut model);
            push(&mut batch, &MediaObjectWalker { group_id_loop_select: select, ..walker });
            model.render(&batch)
        };
        assert_eq!(run(threads).unwrap().threads, 24, "{select:?}");
        // One more thread would be needed, but it never comes.
        let fault = run(threads + 1).unwrap_err();
        assert!(matches!(fault, Fault::Stuck { .. }), "{select:?}: {fault}");
    }
}
