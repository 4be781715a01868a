//! Memory that decoding takes beside its input, measured by the allocator.
//!
//! A test binary of its own, with one test: what other threads allocate would count too.

use genxml::check::{self, Rules};
use genxml::decode::{self, Format, Options, Tables};
use genxml::engine::EngineId;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "support/draws.rs"]
mod draws;

/// What is allocated, and the most that was since it was last set.
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
struct Counted;

fn more(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it is.
#[expect(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may be there at the same time.
        more(size);
        let new = unsafe { System.realloc(at, layout, size) };
        NOW.fetch_sub(if new.is_null() { size } else { layout.size() }, Ordering::Relaxed);
        new
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// The most that was allocated during `run` beside what was there before.
fn peak(run: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    run();
    PEAK.load(Ordering::Relaxed).saturating_sub(before)
}

/// 16 MiB of batch with what it points to followed, though nothing is there, and with the rules. The limit is less than the
/// input, so that a copy of it would not pass; it does not depend on the input's size.
#[test]
fn a_long_batch_takes_little_memory() {
    const INPUT: usize = 16 << 20;
    const LIMIT: usize = 12_000_000;
    let part = draws::batch(INPUT / 16);
    let mut dwords = Vec::new();
    let copy = peak(|| dwords = part.repeat(16));
    assert!(copy >= INPUT, "the allocator counts");

    // The tables stay, and count as well.
    let tables = peak(|| _ = Tables::gen8());
    let decoded = |options: Options| {
        let options = Options { max_dwords: u64::MAX, ..options };
        peak(|| {
            let out = std::io::sink();
            let summary =
                decode::raw(EngineId::Render, draws::ADDRESS, &dwords, &options, out).expect("a sink");
            assert!(!summary.limited && summary.packets > 750_000, "{summary:?}");
        })
    };
    let checked = peak(|| {
        let rules = Rules::gen8();
        check::raw(EngineId::Render, draws::ADDRESS, &dwords, &rules, &mut |finding| panic!("{finding}"));
    });
    for (what, peak) in [
        ("text", decoded(Options::default())),
        ("JSON", decoded(Options { format: Format::Json, ..Options::default() })),
        ("headers", decoded(Options { headers: true, ..Options::default() })),
        ("rules", checked),
    ] {
        println!("{what}: {peak} bytes");
        assert!(tables + peak < LIMIT, "{what}: {peak} bytes beside the input, {tables} of tables");
    }
}
