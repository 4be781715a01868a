//! Busy time of the engines, for each open file: what the kernel prints in `/proc/PID/fdinfo`.
//!
//! Time is real time, in which the model worked for the file.

use super::context::CLASSES;
use super::fence::now;
use genxml_sim::EngineId;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names of the engine classes in fdinfo, by number of the class. (Linux
/// Documentation/gpu/drm-usage-stats.rst and i915_drm_client.c)
const NAMES: [&str; CLASSES.len()] = ["render", "copy", "video", "video-enhance"];

/// Busy time of one engine.
#[derive(Debug, Default)]
struct Engine {
    /// Nanoseconds of complete periods.
    total: AtomicU64,
    /// Start of the present period on the monotonic clock; 0 if the engine is idle.
    since: AtomicU64,
}

/// Busy times of an open file. The worker thread changes them while ioctls run.
#[derive(Debug, Default)]
pub struct Busy {
    engines: [Engine; CLASSES.len()],
}

impl Busy {
    /// The engine begins to work for the file.
    pub fn begin(&self, engine: EngineId) {
        self.engines[class(engine)].since.store(now(), Ordering::Relaxed);
    }

    /// The engine stops to work for the file.
    pub fn end(&self, engine: EngineId) {
        let Engine { total, since } = &self.engines[class(engine)];
        let spent = now().saturating_sub(since.swap(0, Ordering::Relaxed));
        total.fetch_add(spent, Ordering::Relaxed);
    }

    /// Busy time of a class of engines in nanoseconds, with the period that has not ended.
    fn nanoseconds(&self, class: usize) -> u64 {
        let Engine { total, since } = &self.engines[class];
        let since = match since.load(Ordering::Relaxed) {
            0 => 0,
            since => now().saturating_sub(since),
        };
        total.load(Ordering::Relaxed) + since
    }

    /// The lines of fdinfo for the file with the number `client`, for the classes that have
    /// `engines`. `videos` is the number of video engines. (Linux 6.1, i915_drm_client_fdinfo)
    pub fn fdinfo(&self, client: u64, engines: &[Option<EngineId>], videos: u32) -> String {
        let mut text =
            format!("drm-driver:\ti915\ndrm-client-id:\t{client}\ndrm-pdev:\t0000:00:02.0\n");
        for (class, name) in NAMES.iter().enumerate() {
            if engines.get(class).copied().flatten().is_none() {
                continue;
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "drm-engine-{name}:\t{} ns", self.nanoseconds(class));
            if videos > 1 && CLASSES[class] == EngineId::Video {
                let _ = writeln!(text, "drm-engine-capacity-{name}:\t{videos}");
            }
        }
        text
    }
}

/// The class of an engine.
fn class(engine: EngineId) -> usize {
    CLASSES.iter().position(|known| *known == engine).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Times add up, include the present period, and count only for the engine that works.
    #[test]
    fn periods() {
        let busy = Busy::default();
        let start = Instant::now();
        busy.begin(EngineId::Blitter);
        std::thread::sleep(Duration::from_millis(2));
        assert!(busy.nanoseconds(1) >= 2_000_000);
        busy.end(EngineId::Blitter);
        let first = busy.nanoseconds(1);
        assert!(first >= 2_000_000 && u128::from(first) <= start.elapsed().as_nanos());
        assert_eq!(busy.nanoseconds(1), first, "an idle engine");
        busy.begin(EngineId::Blitter);
        busy.end(EngineId::Blitter);
        assert!(busy.nanoseconds(1) >= first);
        assert_eq!(busy.nanoseconds(0), 0);
        let text = busy.fdinfo(7, &CLASSES.map(Some), 2);
        assert!(
            text.contains("drm-client-id:\t7\n") && text.contains("drm-engine-render:\t0 ns\n")
        );
        assert!(text.contains("drm-engine-capacity-video:\t2\n"));
    }
}
