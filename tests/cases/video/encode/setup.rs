//! Memory and packets that all encoded pictures have, and FFmpeg's decoder.

use crate::video::capture::Picture;
use genxml::engine::EngineId;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mi::MiStoreRegisterMem;
use genxml_cases::{Model, Random, at, minus_one, push, u};
use genxml_core::U;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};

pub const SOURCE: u64 = 0x40_0000;
/// The reconstructed pictures.
pub const PICTURES: [u64; 3] = [0x41_0000, 0x42_0000, 0x43_0000];
pub const CODED: u64 = 0x44_0000;
pub const VECTORS: u64 = 0x45_0000;
pub const SECOND: u64 = 0x46_0000;
pub const REGISTERS: u64 = 0x47_0000;
/// Records of macroblocks.
pub const RECORDS: u64 = REGISTERS + 0x1000;
/// The pictures that the decoder writes.
pub const DECODED: [u64; 3] = [0x48_0000, 0x49_0000, 0x4a_0000];
pub const PITCH: usize = 128;
/// Size in macroblocks.
pub const WIDTH: usize = 3;
pub const HEIGHT: usize = 2;
/// Bytes of the coded data before the first header.
pub const HEAD: u64 = 0x40;
/// The delimiter that intel-vaapi-driver looks for after the coded data.
pub const TAIL: [u8; 5] = [0; 5];

pub fn model(random: &mut Random) -> Model {
    let mut model = Model::new();
    for address in [SOURCE, CODED, VECTORS, SECOND, REGISTERS].into_iter().chain(PICTURES) {
        model.map(address, 0x1_0000);
    }
    // A slope with some noise.
    let source: Vec<u8> =
        (0..0x4000).map(|at| (at / 37 % 200) as u8 + random.below(20) as u8).collect();
    model.write(SOURCE, &source);
    model.write(CODED, &[0xee; 0x8000]);
    model
}

pub fn surface(id: MfxSurfaceStateSurfaceId) -> MfxSurfaceState {
    MfxSurfaceState {
        surface_id: id,
        width: minus_one(16 * WIDTH as u64),
        height: minus_one(16 * HEIGHT as u64),
        tile_walk: MfxSurfaceStateTileWalk::YMAJOR,
        tiled_surface: true,
        surface_pitch: minus_one(PITCH as u64),
        interleave_chroma: true,
        surface_format: MfxSurfaceStateSurfaceFormat::PLANAR_420_8,
        y_offset_for_u_cb: u(32),
        ..MfxSurfaceState::new()
    }
}

/// The packet that inserts bits.
pub fn insert(bits: &str, protect: bool, dwords: &mut Vec<u32>) {
    let last = (bits.len() + 31) % 32 + 1;
    let padded = format!("{bits}{}", "0".repeat(32 - last));
    let payload: Vec<U<32>> = padded
        .as_bytes()
        .chunks(32)
        .map(|bits| {
            let word = bits.iter().fold(0u32, |word, bit| word << 1 | u32::from(bit - b'0'));
            u(word.swap_bytes().into())
        })
        .collect();
    push(
        dwords,
        &MfxPakInsertObject {
            data_bits_in_last_dw: u(last as u64),
            skip_emulation_byte_count: u(if protect { 5 } else { 0 }),
            emulation_byte_bits_insert_enable: protect,
            insert_data_pay_load: (&payload[..]).into(),
            ..MfxPakInsertObject::new()
        },
    );
}

/// MI_STORE_REGISTER_MEM of registers.
pub fn store(offsets: &[u32], batch: &mut Vec<u32>) {
    for (index, &offset) in offsets.iter().enumerate() {
        push(
            batch,
            &MiStoreRegisterMem {
                register_address: at(offset.into()),
                memory_address: at(REGISTERS + 4 * index as u64),
                ..MiStoreRegisterMem::new()
            },
        );
    }
}

/// The frames that FFmpeg's software decoder shows, and its log. `input` are options before the
/// input. `None` if it is not installed.
pub fn ffmpeg(stream: &[u8], input: &[&str]) -> Option<(Vec<u8>, String)> {
    let child = Command::new("ffmpeg")
        .args(["-v", "error"])
        .args(input)
        .args(["-i", "-", "-fps_mode", "passthrough", "-pix_fmt", "nv12", "-f", "rawvideo", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: FFmpeg is not installed");
        return None;
    };
    child.stdin.take().unwrap().write_all(stream).unwrap();
    let output = child.wait_with_output().unwrap();
    Some((output.stdout, String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Checks that FFmpeg's software decoder shows the first `count` pictures as the model has
/// reconstructed them, without complaints. False if it is not installed.
pub fn decodes(stream: &[u8], count: usize, model: &mut Model, what: &str) -> bool {
    let input = ["-err_detect", "explode", "-cpuflags", "0", "-f", "h264"];
    let Some((frames, log)) = ffmpeg(stream, &input) else { return false };
    assert!(!log.contains("[h264"), "{what}: {log}");
    let size = 16 * WIDTH * 16 * HEIGHT * 3 / 2;
    assert_eq!(frames.len(), count * size, "{what}");
    // In output order the B picture is between the others.
    let order = [0, 2, 1].into_iter().filter(|index| *index < count);
    for (shown, index) in order.enumerate() {
        let got = reconstructed(index, model);
        assert_eq!(got, frames[shown * size..][..size], "{what}: picture {index}");
    }
    true
}

/// The samples of picture `index` as the model has reconstructed it.
pub fn reconstructed(index: usize, model: &mut Model) -> Vec<u8> {
    samples(PICTURES[index], model)
}

/// The samples of the picture at an address.
pub fn samples(address: u64, model: &mut Model) -> Vec<u8> {
    let planes = vec![(0, 16 * WIDTH, 16 * HEIGHT), (32, 16 * WIDTH, 8 * HEIGHT)];
    Picture { address, pitch: PITCH, planes }.read(model)
}

/// Submits batches with random changes: each ends with a result or a fault. `GENXML_MUTATIONS` sets
/// their number. `make` makes a valid batch, and writes what it needs to the model; it returns the
/// batch and the position after the last packet that has addresses. Changes of later packets leave
/// the source and the vectors as they are.
pub fn changed_batches_end(
    count: u64,
    make: impl Fn(&mut Random, &mut Model) -> (Vec<u32>, usize),
) {
    let count = std::env::var("GENXML_MUTATIONS").map_or(count, |count| count.parse().unwrap());
    let (mut faults, mut guarded) = (0, 0);
    for number in 0..count {
        let mut random = Random::new(number);
        let mut model = model(&mut random);
        let (mut batch, addresses) = make(&mut random, &mut model);
        let headers = headers(&batch);
        let mut guard = true;
        for _ in 0..=random.index(4) {
            let at = random.index(batch.len());
            guard &= at >= addresses && !headers.contains(&at);
            batch[at] = match random.below(3) {
                0 => random.below(1 << 32) as u32,
                1 => batch[at] ^ 1 << random.below(32),
                _ => batch[at] ^ 0xff << (8 * random.below(4)),
            };
        }
        let inputs = |model: &mut Model| [SOURCE, VECTORS].map(|at| model.read(at, 0x1_0000));
        let before = guard.then(|| inputs(&mut model));
        let ended =
            catch_unwind(AssertUnwindSafe(|| model.submit(EngineId::Video, &batch).is_err()));
        faults += u64::from(ended.unwrap_or_else(|_| panic!("change {number} panics")));
        if let Some(before) = before {
            guarded += 1;
            assert!(before == inputs(&mut model), "change {number} writes to an input");
        }
    }
    assert!(faults > count / 20 && faults < count * 19 / 20, "{faults} of {count} have faults");
    assert!(guarded > count / 20, "{guarded} of {count}");
}

/// Positions of the headers of the packets of a batch. All packets are those of the video engine,
/// whose headers have the number of the dwords after the first two.
fn headers(batch: &[u32]) -> Vec<usize> {
    let mut positions = vec![0];
    while let Some(header) = positions.last().and_then(|at| batch.get(*at)) {
        positions.push(positions[positions.len() - 1] + 2 + (header & 0xfff) as usize);
    }
    positions
}
