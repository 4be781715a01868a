//! Intensity compensation of VC-1 references.
//!
//! Oracle: a picture is the same if the driver's packet compensates the references, or if their
//! samples in memory are replaced as SMPTE 421M 8.3.8 says.

use super::capture::{Capture, Step, y_tiled};
use genxml::engine::EngineId;
use genxml::gen8::mfx_common::{MfxPipeBufAddrState, MfxSurfaceState};
use genxml::gen8::mfx_vc1::MfxVc1PredPipeState;
use genxml_cases::{Model, Random, u};

/// LUMSCALE and LUMSHIFT.
type Intensity = (i32, i32);

/// The compensated samples: luma, chroma.
fn tables((scale, shift): Intensity) -> [Vec<u8>; 2] {
    let signed = if shift > 31 { shift - 64 } else { shift };
    let (factor, offset) = match scale {
        0 => (-64, (255 - 2 * signed) * 64),
        _ => (scale + 32, signed * 64),
    };
    let table = |value: fn(i32, i32, i32) -> i32| {
        (0..256).map(|sample| value(sample, factor, offset).clamp(0, 255) as u8).collect()
    };
    [
        table(|sample, factor, offset| (factor * sample + offset + 32) >> 6),
        table(|sample, factor, _| (factor * (sample - 128) + 128 * 64 + 32) >> 6),
    ]
}

/// Replaces the samples of the top and bottom field of a picture.
fn compensate(model: &mut Model, address: u64, surface: &MfxSurfaceState, fields: [Intensity; 2]) {
    let pitch = surface.surface_pitch.get() as usize;
    let chroma = surface.y_offset_for_u_cb.get() as usize;
    let mut bytes = model.read(address, chroma.next_multiple_of(32) * pitch * 2);
    for row in 0..chroma + chroma / 2 {
        let [luma, both] = tables(fields[row % 2]);
        let table = if row < chroma { luma } else { both };
        for column in 0..pitch {
            let byte = &mut bytes[y_tiled(column, row, pitch)];
            *byte = table[usize::from(*byte)];
        }
    }
    model.write(address, &bytes);
}

/// A model before batch `number` of a capture, the address of this batch, and its dwords.
fn before(capture: &Capture, number: usize) -> (Model, u64, Vec<u32>) {
    let mut model = capture.model();
    let mut runs = 0;
    for step in &capture.steps {
        match step {
            Step::Put(address, bytes) => model.write(*address, bytes),
            Step::Run(address) if runs == number => {
                let batch = model.get(*address, 0x400);
                return (model, *address, batch);
            }
            Step::Run(address) => {
                model.gpu.submit(model.context, EngineId::Video, *address, 0).unwrap();
                runs += 1;
            }
            _ => {}
        }
    }
    panic!("{runs} batches");
}

/// The position of a packet in a batch.
fn find(batch: &[u32], header: u32) -> usize {
    batch.iter().position(|dword| *dword == header).expect("the packet")
}

/// The packet with compensations of the top and bottom field: forward and backward, single and
/// double. Those that are `None` are off.
fn packet(old: MfxVc1PredPipeState, changes: [[Option<[Intensity; 2]>; 2]; 2]) -> [u32; 6] {
    let enable = |change: Option<_>| u(if change.is_some() { 3 } else { 0 });
    let scale = |change: Option<[Intensity; 2]>, field: usize| {
        u(change.map_or(0, |change| change[field].0 as u64))
    };
    let shift = |change: Option<[Intensity; 2]>, field: usize| {
        u(change.map_or(0, |change| change[field].1 as u64))
    };
    let [[single_fwd, double_fwd], [single_bwd, double_bwd]] = changes;
    MfxVc1PredPipeState {
        vin_intensitycomp_single_fwden: enable(single_fwd),
        vin_intensitycomp_double_fwden: enable(double_fwd),
        vin_intensitycomp_single_bwden: enable(single_bwd),
        vin_intensitycomp_double_bwden: enable(double_bwd),
        lum_scale1_single_fwd: scale(single_fwd, 0),
        lum_scale2_single_fwd: scale(single_fwd, 1),
        lum_shift1_single_fwd: shift(single_fwd, 0),
        lum_shift2_single_fwd: shift(single_fwd, 1),
        lum_scale1_double_fwd: scale(double_fwd, 0),
        lum_scale2_double_fwd: scale(double_fwd, 1),
        lum_shift1_double_fwd: shift(double_fwd, 0),
        lum_shift2_double_fwd: shift(double_fwd, 1),
        lum_scale1_single_bwd: scale(single_bwd, 0),
        lum_scale2_single_bwd: scale(single_bwd, 1),
        lum_shift1_single_bwd: shift(single_bwd, 0),
        lum_shift2_single_bwd: shift(single_bwd, 1),
        lum_scale1_double_bwd: scale(double_bwd, 0),
        lum_scale2_double_bwd: scale(double_bwd, 1),
        lum_shift1_double_bwd: shift(double_bwd, 0),
        lum_shift2_double_bwd: shift(double_bwd, 1),
        ..old
    }
    .pack()
}

/// Compares both ways for batch `number`, a B picture or the first field of one.
fn compare(name: &str, number: usize, fields: bool) {
    let capture = Capture::open(name);
    let mut random = Random::new(421);
    for which in (1..16).rev() {
        let mut change = |bit: usize| {
            let mut one = || (random.below(64) as i32, random.below(64) as i32);
            let top = one();
            let both = [top, if fields { one() } else { top }];
            (which >> bit & 1 != 0).then_some(both)
        };
        let changes = [[change(0), change(1)], [change(2), change(3)]];
        let run = |in_memory: bool| {
            let (mut model, address, mut batch) = before(&capture, number);
            let at = find(&batch, 0x7001_0004);
            let surface = MfxSurfaceState::unpack_lossy(batch[at..][..6].try_into().unwrap());
            let at = find(&batch, 0x7002_003b);
            let buffers = MfxPipeBufAddrState::unpack_lossy(batch[at..][..61].try_into().unwrap());
            let target = buffers.pre_deblocking_destination_address.get()
                | buffers.post_deblocking_destination_address.get();
            let mut used = [[None; 2]; 2];
            if in_memory {
                for (direction, changes) in changes.iter().enumerate() {
                    let reference = buffers.reference_picture[direction].get();
                    assert!(
                        reference != target && reference != 0,
                        "{:x?} {target:x}",
                        buffers.reference_picture[..4].iter().map(|r| r.get()).collect::<Vec<_>>()
                    );
                    for change in changes.iter().flatten() {
                        compensate(&mut model, reference, &surface, *change);
                    }
                }
            } else {
                used = changes;
            }
            let at = find(&batch, 0x7201_0004);
            let old = MfxVc1PredPipeState::unpack_lossy(batch[at..][..6].try_into().unwrap());
            batch[at..][..6].copy_from_slice(&packet(old, used));
            model.put(address, &batch);
            model.submit_at(EngineId::Video, address).unwrap();
            model.read(target, 32 * surface.surface_pitch.get() as usize * 2)
        };
        assert!(run(false) == run(true), "{name}: {which:04b}");
    }
}

#[test]
fn compensation_of_fields() {
    compare("vc1_fields", 4, true);
}

#[test]
fn compensation_of_frames() {
    compare("vc1_advanced_b", 2, false);
}
