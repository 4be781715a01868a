//! Oracle: munmap(2): all pages that contain a part of the range are unmapped.

use super::*;
use crate::edge::host::PROCESS;
use std::sync::Arc;

/// Parts of a mapping keep the memory until the last of them is unmapped.
#[test]
fn parts() {
    // Addresses that the process cannot have, because other tests map objects at the same time.
    const START: u64 = 1 << 60;
    let pages = PROCESS.new_arena().unwrap().allocate(8 * PAGE).unwrap();
    let memory = Arc::downgrade(&pages);
    add(START, 8 * PAGE, Keeper::of_pages(pages));
    let ranges = |taken: &[Mapping]| {
        taken.iter().map(|part| [part.start - START, part.end - START]).collect::<Vec<_>>()
    };
    // A range that is not aligned is refused by the kernel.
    assert!(take(START + 8, PAGE).is_empty());
    let middle = take(START + 2 * PAGE, PAGE + 1);
    assert_eq!(ranges(&middle), [[2 * PAGE, 4 * PAGE]]);
    drop(middle);
    assert!(take(START + 2 * PAGE, 2 * PAGE).is_empty());
    let ends = take(START + PAGE, 4 * PAGE);
    assert_eq!(ranges(&ends), [[4 * PAGE, 5 * PAGE], [PAGE, 2 * PAGE]]);
    restore(ends);
    let rest = take(START, u64::MAX - START);
    let all = [[5, 8], [4, 5], [1, 2], [0, 1]].map(|part| part.map(|page| page * PAGE));
    assert_eq!(ranges(&rest), all);
    assert!(memory.upgrade().is_some());
    drop(rest);
    assert!(memory.upgrade().is_none());
}

/// A new mapping replaces what its addresses had.
#[test]
fn replaced() {
    const START: u64 = 1 << 61;
    let arena = PROCESS.new_arena().unwrap();
    let [old, new] = [(); 2].map(|()| arena.allocate(2 * PAGE).unwrap());
    let memory = [&old, &new].map(Arc::downgrade);
    add(START, 2 * PAGE, Keeper::of_pages(old));
    add(START, 2 * PAGE, Keeper::of_pages(new));
    assert_eq!(memory.each_ref().map(|memory| memory.upgrade().is_some()), [false, true]);
    assert_eq!(take(START, 2 * PAGE).len(), 1);
    assert!(memory[1].upgrade().is_none());
}

/// A thread that has the list locked does not wait for itself.
#[test]
fn own_lock() {
    let held = hold().unwrap();
    assert!(hold().is_none());
    assert!(take(0, PAGE).is_empty());
    drop(held);
    assert!(hold().is_some());
}
