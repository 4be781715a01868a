//! Damaged batches: with any damage, a submission ends soon, with a result or a fault, and does not
//! touch memory that is not mapped.
//!
//! The batches are those of the corpus (folder `images`, less than 256 KiB of objects), if there is
//! one, and one batch that this file makes.

use genxml::capture::{Capture, Event, Playback};
use genxml::engine::EngineId;
use genxml_sim::{ContextId, Gpu};
use genxml_testkit::corpus;
use proptest::prelude::*;
use std::sync::LazyLock;

/// A submission: its objects (address, bytes), its engine and the address of its batch.
struct Submission {
    objects: Vec<(u64, Vec<u8>)>,
    engine: EngineId,
    batch: u64,
}

static SUBMISSIONS: LazyLock<Vec<Submission>> = LazyLock::new(|| {
    let mut submissions = vec![own()];
    let captures = corpus::captures();
    let images = captures
        .into_iter()
        .filter(|path| path.parent().is_some_and(|folder| folder.ends_with("images")));
    for path in images {
        let capture = Capture::open(path).unwrap();
        let mut playback = Playback::new(&capture);
        while let Some(event) = playback.step() {
            let Event::Exec(exec) = event else { continue };
            if exec.objects.iter().map(|object| object.size).sum::<u64>() < 1 << 18 {
                let objects = exec.objects.iter();
                submissions.push(Submission {
                    objects: objects
                        .map(|o| (o.address, playback.bytes(o.object).to_vec()))
                        .collect(),
                    engine: exec.engine,
                    batch: exec.batch_address,
                });
            }
        }
    }
    submissions
});

/// MI_STORE_DATA_IMM, XY_COLOR_BLT, MI_BATCH_BUFFER_END as dwords.
fn own() -> Submission {
    let dwords: [u32; 12] = [
        0x1000_0002,
        0x20_0000,
        0,
        1,
        0x5430_0005,
        0x03f0_0100,
        0,
        0x0010_0010,
        0x20_0000,
        0,
        0x1234_5678,
        0x0500_0000,
    ];
    let mut batch = vec![0; 4096];
    batch[..48].copy_from_slice(bytemuck::must_cast_slice(&dwords));
    Submission {
        objects: vec![(0x10_0000, batch), (0x20_0000, vec![0; 8192])],
        engine: EngineId::Blitter,
        batch: 0x10_0000,
    }
}

fn load(submission: &Submission, flips: &[(usize, u32)]) -> (Gpu, ContextId) {
    let mut gpu = Gpu::new();
    gpu.set_work_limit(1 << 18);
    let context = gpu.create_context().unwrap();
    for (address, bytes) in &submission.objects {
        let mut bytes = bytes.clone();
        if (*address..*address + bytes.len() as u64).contains(&submission.batch) {
            let start = (submission.batch - address) as usize;
            let length = (bytes.len() - start).min(4096);
            // Commands are at the start of the object, before state and kernels. So half of the
            // damage is in the first 192 bytes.
            for &(position, value) in flips {
                let near = if position & 1 == 0 { length.min(192) } else { length };
                let at = start + position / 2 % (near / 4) * 4;
                let bits = if value & 0x300 == 0 { value } else { 1 << (value % 32) };
                for (byte, flip) in bytes[at..at + 4].iter_mut().zip(bits.to_le_bytes()) {
                    *byte ^= flip;
                }
            }
        }
        gpu.load(context, *address, &bytes).unwrap();
    }
    (gpu, context)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_batches_end(
        which in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<usize>(), any::<u32>()), 1..6),
    ) {
        let submission = which.get(&SUBMISSIONS);
        let (mut gpu, context) = load(submission, &flips);
        // Memory of another owner: in use, and not mapped in this context.
        let other = gpu.alloc(4096 * 4).unwrap();
        gpu.memory.bytes_mut(other).fill(0xa5);
        let started = std::time::Instant::now();
        let result = gpu.submit(context, submission.engine, submission.batch, 0);
        prop_assert!(started.elapsed().as_secs() < 5, "took {:?}", started.elapsed());
        if let Err(fault) = result {
            prop_assert!(!fault.to_string().is_empty());
        }
        prop_assert!(gpu.memory.bytes(other).iter().all(|&byte| byte == 0xa5));
    }
}
