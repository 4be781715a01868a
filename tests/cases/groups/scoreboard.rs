//! Dependencies between media threads. Oracle: 2a p.513-516, for the threads that must have ended
//! before others start.

use genxml::core::S;
use genxml::eu;
use genxml::gen8::media::{
    MediaObject, MediaObjectGrpid, MediaObjectGrpidUseScoreboard, MediaObjectUseScoreboard,
    MediaObjectWalker, MediaObjectWalkerUseScoreboard, MediaVfeState,
    MediaVfeStateScoreboardEnable, MediaVfeStateScoreboardType,
};
use genxml_cases::media::Told;
use genxml_cases::{Media, Model, packets, push, u};
use genxml_core::MinusOne;

/// Runs longer than one turn of the scheduler.
const LONG: &[u32] = &eu! {
    (W) mov (1|M0)   r10.0<1>:d  10000:d
  loop:
    (W) add (1|M0) (ne)f0.0  r10.0<1>:d  r10.0<0;1,0>:d  -1:d
    (W&f0.0) jmpi    loop
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// Runs longer than the front end waits for a thread before it executes the next packet.
const LONGER: &[u32] = &eu! {
    (W) mov (1|M0)   r10.0<1>:d  600000:d
  loop:
    (W) add (1|M0) (ne)f0.0  r10.0<1>:d  r10.0<0;1,0>:d  -1:d
    (W&f0.0) jmpi    loop
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// The thread at X = 0 runs long. Each thread ends with a message that waits for its dependencies.
const SENDC: &[u32] = &eu! {
    (W) and (1|M0) (ne)f0.0  null<1>:ud  r0.1<0;1,0>:ud  0x1ff:ud
    (W&f0.0) jmpi    end
    (W) mov (1|M0)   r10.0<1>:d  10000:d
  loop:
    (W) add (1|M0) (ne)f0.0  r10.0<1>:d  r10.0<0;1,0>:d  -1:d
    (W&f0.0) jmpi    loop
  end:
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) sendc (8|M0) null  r127  0x27  0x02000010  {EOT}
};

fn s<const N: u32>(value: i64) -> S<N> {
    S::new(value).expect("a number that fits")
}

/// Starts and ends of the threads in a row of three positions. Each position has `colors` threads.
fn row(
    kernel: &[u32],
    vfe: impl Fn(MediaVfeState) -> MediaVfeState,
    mask: u64,
    colors: u64,
) -> Vec<Told> {
    picture([3, 1], kernel, vfe, mask, colors)
}

/// Starts and ends of the threads in a column of three positions.
fn column(
    kernel: &[u32],
    vfe: impl Fn(MediaVfeState) -> MediaVfeState,
    mask: u64,
    colors: u64,
) -> Vec<Told> {
    picture([1, 3], kernel, vfe, mask, colors)
}

/// Starts and ends of the threads in an area of `columns` x `rows` positions.
fn picture(
    [columns, rows]: [u64; 2],
    kernel: &[u32],
    vfe: impl Fn(MediaVfeState) -> MediaVfeState,
    mask: u64,
    colors: u64,
) -> Vec<Told> {
    let mut model = Model::new();
    let media = Media::new(kernel);
    let media = Media { vfe: vfe(media.vfe), ..media };
    let mut batch = media.state(&mut model);
    let walker = MediaObjectWalker {
        use_scoreboard: MediaObjectWalkerUseScoreboard::USING_SCOREBOARD,
        scoreboard_mask: u(mask),
        color_count_minus_one: u(colors - 1),
        local_outer_loop_stride_y: s(1),
        local_inner_loop_unit_x: s(1),
        block_resolution_x: u(columns),
        block_resolution_y: u(rows),
        global_resolution_x: u(columns),
        global_resolution_y: u(rows),
        local_loop_exec_count: u(rows - 1),
        global_outer_loop_stride_x: s(columns as i64),
        global_inner_loop_unit_y: s(rows as i64),
        ..MediaObjectWalker::new()
    };
    push(&mut batch, &walker);
    let (result, told) = model.listen(&batch);
    result.unwrap();
    told
}

/// Returns a function that enables the scoreboard, with a dependency on the thread to the left.
fn left(kind: MediaVfeStateScoreboardType) -> impl Fn(MediaVfeState) -> MediaVfeState {
    move |vfe| MediaVfeState {
        scoreboard_enable: MediaVfeStateScoreboardEnable::SCOREBOARD_ENABLED,
        scoreboard_type: kind,
        scoreboard_mask: u(0b100),
        scoreboard_2_delta_x: s(-1),
        ..vfe
    }
}

/// Largest number of threads that run at the same time.
fn most(told: &[Told]) -> u64 {
    let running = told.iter().scan(0, |running, told| {
        *running += if matches!(told, Told::Start(_)) { 1 } else { -1 };
        Some(*running)
    });
    running.max().unwrap_or(0) as u64
}

#[test]
fn stalling() {
    let stalling = left(MediaVfeStateScoreboardType::STALLING_SCOREBOARD);
    assert_eq!(most(&row(LONG, |vfe| vfe, 0b100, 1)), 3);
    assert_eq!(most(&row(LONG, &stalling, 0b100, 1)), 1);
    // With no dependency in the packet or in MEDIA_VFE_STATE, all three run at the same time.
    assert_eq!(most(&row(LONG, &stalling, 0b011, 1)), 3);
    // Each of the two colours at a position depends only on the same colour, so two threads run at
    // the same time, never three.
    let told = row(LONG, &stalling, 0b100, 2);
    assert_eq!((told.len(), most(&told)), (12, 2), "{told:?}");
}

/// Each of the eight distances has its own bit in both masks, and its own X and Y.
#[test]
fn each_distance() {
    for (n, down) in (0..8_u64).flat_map(|n| [(n, false), (n, true)]) {
        let (x, y) = if down { (s(0), s(-1)) } else { (s(-1), s(0)) };
        let stalling = |vfe| {
            let mut vfe = MediaVfeState {
                scoreboard_enable: MediaVfeStateScoreboardEnable::SCOREBOARD_ENABLED,
                scoreboard_type: MediaVfeStateScoreboardType::STALLING_SCOREBOARD,
                scoreboard_mask: u(1 << n),
                ..vfe
            };
            let [to_x, to_y] = match n {
                0 => [&mut vfe.scoreboard_0_delta_x, &mut vfe.scoreboard_0_delta_y],
                1 => [&mut vfe.scoreboard_1_delta_x, &mut vfe.scoreboard_1_delta_y],
                2 => [&mut vfe.scoreboard_2_delta_x, &mut vfe.scoreboard_2_delta_y],
                3 => [&mut vfe.scoreboard_3_delta_x, &mut vfe.scoreboard_3_delta_y],
                4 => [&mut vfe.scoreboard_4_delta_x, &mut vfe.scoreboard_4_delta_y],
                5 => [&mut vfe.scoreboard_5_delta_x, &mut vfe.scoreboard_5_delta_y],
                6 => [&mut vfe.scoreboard_6_delta_x, &mut vfe.scoreboard_6_delta_y],
                _ => [&mut vfe.scoreboard_7_delta_x, &mut vfe.scoreboard_7_delta_y],
            };
            (*to_x, *to_y) = (x, y);
            vfe
        };
        for (kernel, mask, want) in [(LONG, 1 << n, 1), (LONG, 0xff & !(1 << n), 3)] {
            let told = if down {
                column(kernel, stalling, mask, 1)
            } else {
                row(kernel, stalling, mask, 1)
            };
            assert_eq!(most(&told), want, "distance {n} {down} {mask:#x}");
        }
    }
}

/// MEDIA_OBJECT and MEDIA_OBJECT_GRPID wait for the thread to the left if they use the scoreboard.
#[test]
fn objects() {
    for (used, mask, want) in [(false, 0b100, 2), (true, 0b100, 1), (true, 0b010, 2)] {
        let mut model = Model::new();
        let media = Media::new(LONGER);
        let stalling = left(MediaVfeStateScoreboardType::STALLING_SCOREBOARD);
        let media = Media { vfe: stalling(media.vfe), ..media };
        let state = media.state(&mut model);
        let object = |x: u64| MediaObject {
            use_scoreboard: MediaObjectUseScoreboard::from_bits(used.into()),
            scoreboard_x: u(x),
            scoreboard_mask: u(mask),
            ..MediaObject::new()
        };
        let grouped = |x: u64| MediaObjectGrpid {
            use_scoreboard: MediaObjectGrpidUseScoreboard::from_bits(used.into()),
            scoreboard_x: u(x),
            scoreboard_mask: u(mask),
            end_of_thread_group: true,
            ..MediaObjectGrpid::new()
        };
        for objects in [packets![object(0), object(1)], packets![grouped(0), grouped(1)]] {
            let (result, told) = model.listen(&[&state[..], &objects].concat());
            result.unwrap();
            assert_eq!(most(&told), want, "{used} {mask}");
        }
    }
}

/// Non-stalling: threads start at once, and `sendc` waits (004:3711-3760, thread dependency
/// register).
#[test]
fn non_stalling() {
    let non_stalling = left(MediaVfeStateScoreboardType::NON_STALLING_SCOREBOARD);
    // The thread at X = 0 executes more than 10,000 instructions, the others very few. For each
    // end: whether it was the long thread.
    let ends = |told: &[Told]| -> Vec<bool> {
        let long = |told: &Told| match told {
            Told::Start(_) => None,
            Told::End(instructions) => Some(*instructions > 10_000),
        };
        told.iter().filter_map(long).collect()
    };
    assert_eq!(ends(&row(SENDC, |vfe| vfe, 0b100, 1)), [false, false, true]);
    let told = row(SENDC, &non_stalling, 0b100, 1);
    assert_eq!((ends(&told), most(&told)), (vec![true, false, false], 3));
    // Threads that do not use `sendc` are not delayed.
    assert_eq!(most(&row(LONG, &non_stalling, 0b100, 1)), 3);
}

/// Maximum Number of Threads limits how many threads run at the same time (2a p.510).
#[test]
fn thread_limit() {
    for limit in [1, 2, 3] {
        let limited =
            |vfe| MediaVfeState { maximum_number_of_threads: MinusOne::new(limit).unwrap(), ..vfe };
        assert_eq!(most(&row(LONG, limited, 0, 1)), limit);
    }
}
