//! Processes that share the device by fork.

use crate::client::{compute, ioctl, object, open, stores, submit, wait};
use crate::process::{fork, preloaded};
use genxml_drm_uapi::{Request, drm, i915};
use std::fs::File;
use std::sync::atomic::Ordering;

/// A forked child creates its own objects, and the parent continues.
#[test]
fn children() {
    preloaded("forks::children", || {
        let file = open();
        let (_, numbers) = object(&file, 4096);
        numbers[0].store(1, Ordering::Relaxed);
        fork(|| {
            compute(&file, 5);
            let (_, own) = object(&file, 4096);
            own[0].store(99, Ordering::Relaxed);
            numbers[1].store(2, Ordering::Relaxed);
        })
        .join();
        // Both processes see the memory of an object that existed before the fork. Objects that the
        // child created are its own.
        assert_eq!([0, 1].map(|index: usize| numbers[index].load(Ordering::Relaxed)), [1, 2]);
        compute(&file, 6);
        let (_, fresh) = object(&file, 4096);
        assert_eq!(fresh[0].load(Ordering::Relaxed), 0);
    });
}

/// A child that is forked while the GPU works can use the objects and submit work.
#[test]
fn forks_with_work() {
    const LAST: u64 = 100_000;
    preloaded("forks::forks_with_work", || {
        let file = open();
        let (data, numbers) = object(&file, 4096);
        let (batch, commands) = object(&file, 1 << 21);
        stores(commands, LAST);
        submit(&file, data, batch).unwrap();
        submit(&file, data, batch).unwrap();
        fork(|| {
            wait(&file, data);
            compute(&file, 5);
        })
        .join();
        wait(&file, data);
        assert_eq!(u64::from(numbers[2].load(Ordering::Relaxed)), LAST);
        compute(&file, 6);
    });
}

/// Processes that share a file by fork never use the same handle for different objects: with a
/// kernel, they have one table of handles. Oracle: Linux drm_gem.c and i915_gem_context.c.
#[test]
fn handles_of_children() {
    preloaded("forks::handles_of_children", || {
        let file = open();
        let (shared, numbers) = object(&file, 16 * 4096);
        let create = |file: &File| {
            let mut create = i915::ContextCreate::default();
            let request = Request::i915::<i915::ContextCreate>(i915::nr::GEM_CONTEXT_CREATE);
            ioctl(file, request, &mut create).unwrap();
            create.ctx_id
        };
        let close = |file: &File, handle: u32| {
            let mut close = drm::GemClose { handle, pad: 0 };
            ioctl(file, Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE), &mut close)
        };
        // Each process stores its handles in a part of the shared object.
        let work = |part: usize, file: &File| {
            let part = &numbers[part * 1024..][..1024];
            for (index, number) in part[..8].iter().enumerate() {
                // A handle that is free again.
                if index == 4 {
                    close(file, part[2].load(Ordering::Relaxed)).unwrap();
                }
                number.store(object(file, 4096).0, Ordering::Relaxed);
            }
            part[8].store(create(file), Ordering::Relaxed);
            compute(file, 5);
        };
        for part in 1..4 {
            let child = fork(|| {
                let work = |part| {
                    work(part, &file);
                    // A closed handle of the parent is not given to another object.
                    close(&file, shared).unwrap();
                    assert_ne!(object(&file, 4096).0, shared);
                };
                let grandchild = fork(|| work(part));
                work(part + 4);
                grandchild.join();
            });
            work(8 + part, &file);
            child.join();
        }
        for range in [0..8, 8..9] {
            let mut all: Vec<(u32, usize)> = (0..16)
                .flat_map(|part| range.clone().map(move |index| (part, index)))
                .map(|(part, index)| (numbers[part * 1024 + index].load(Ordering::Relaxed), part))
                .filter(|(handle, _)| *handle != 0)
                .collect();
            // Of one process, a handle may be there twice: it was closed in between.
            all.sort_unstable();
            all.dedup();
            assert!(all.windows(2).all(|pair| pair[0].0 != pair[1].0), "{all:?}");
            assert!(all.len() >= 9 * range.len().min(7), "{all:?}");
        }
        // A file that the child opens has handles of its own.
        fork(|| assert_eq!(object(&open(), 4096).0, 1)).join();
    });
}
