//! Host threads that wait for parallel work. Starting a thread takes about 100 microseconds, so the
//! threads stay until the GPU is dropped.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::fmt;

/// The threads. They start with the first parallel work. A clone has no threads.
#[derive(Default)]
pub struct HostThreads {
    pool: Option<Pool>,
}

struct Pool {
    /// `None` only while the pool is dropped.
    threads: Option<ThreadPool>,
    /// The process that started the threads. A forked child has this value but not the threads.
    process: u32,
}

impl Pool {
    fn count(&self) -> usize {
        self.threads.as_ref().map_or(0, ThreadPool::current_num_threads)
    }
}

/// Ends the threads, except in a forked child: there, a lock of the pool can be locked forever.
impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.threads.take());
        }
    }
}

impl Clone for HostThreads {
    fn clone(&self) -> HostThreads {
        HostThreads::default()
    }
}

impl fmt::Debug for HostThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.pool.as_ref().map_or(0, Pool::count);
        write!(f, "{threads} threads")
    }
}

impl HostThreads {
    /// Calls `work` with 0 on this thread, and with 1 to `count - 1` on other threads, at the same
    /// time. Returns when all calls have returned. If the host cannot start threads, only the call
    /// with 0 is made. A panic of `work` continues on this thread. This thread must not be one of
    /// another pool of rayon-core: it would run work of that pool while it waits.
    pub fn run(&mut self, count: usize, work: impl Fn(usize) + Sync) {
        if count < 2 {
            return work(0);
        }
        let Some(others) = self.others(count - 1) else { return work(0) };
        let work = &work;
        others.in_place_scope(|scope| {
            for number in 1..count {
                scope.spawn(move |_| work(number));
            }
            work(0);
        });
    }

    /// At least `count` other threads; `None` if they cannot be started.
    fn others(&mut self, count: usize) -> Option<&ThreadPool> {
        let process = std::process::id();
        self.pool.take_if(|pool| pool.process != process || pool.count() < count);
        if self.pool.is_none() {
            let builder = ThreadPoolBuilder::new().num_threads(count);
            let threads = builder.thread_name(|_| "genx".to_owned()).build().ok()?;
            self.pool = Some(Pool { threads: Some(threads), process });
        }
        self.pool.as_ref()?.threads.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::HostThreads;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// All calls run at the same time: each waits for the others. The threads are kept.
    #[test]
    fn calls_run_at_the_same_time() {
        let mut threads = HostThreads::default();
        for count in [1, 2, 4, 3, 1, 6] {
            let (barrier, numbers) = (Barrier::new(count), AtomicU32::new(0));
            threads.run(count, |number| {
                barrier.wait();
                numbers.fetch_or(1 << number, Ordering::Relaxed);
            });
            assert_eq!(numbers.into_inner(), (1 << count) - 1);
        }
        assert_eq!(format!("{threads:?} {:?}", threads.clone()), "5 threads 0 threads");
    }

    /// The threads can be used again after a panic on another thread.
    #[test]
    fn panics_continue_here() {
        let mut threads = HostThreads::default();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            threads.run(2, |number| assert!(number == 0, "the other thread"));
        }));
        let text = result.unwrap_err();
        assert_eq!(text.downcast_ref::<&str>(), Some(&"the other thread"));
        let calls = AtomicU32::new(0);
        threads.run(2, |_| _ = calls.fetch_add(1, Ordering::Relaxed));
        assert_eq!(calls.into_inner(), 2);
    }
}
