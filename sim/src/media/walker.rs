//! MEDIA_OBJECT_WALKER: threads along a walk.
//!
//! A walk is six nested loops. The global outer and the global inner loop go over blocks. The local
//! outer, middle and inner loop go over positions in a block. The last loop goes over colours at a
//! position. The available Broadwell manual describes only the fields. The begin and end of the
//! loops come from Intel's emulation of walks on CPUs (intel/cm-cpu-emulation, the walker of
//! CmQueueEmu), with the parameters that its driver sets.

use crate::assumptions::LOOPS_OF_ONE_POSITION_NEED_NO_WAY;
use genxml::gen8::media::MediaObjectWalker;

/// A position or a distance, in units of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Vector {
    /// Columns, to the right.
    pub x: i32,
    /// Rows, downwards.
    pub y: i32,
}

impl Vector {
    /// Makes a vector from signed numbers of a packet.
    pub fn new(x: i64, y: i64) -> Vector {
        Vector { x: x as i32, y: y as i32 }
    }

    fn plus(self, other: Vector) -> Vector {
        Vector { x: self.x + other.x, y: self.y + other.y }
    }

    /// True if this position lies in a rectangle of `size` at the origin.
    fn within(self, size: Vector) -> bool {
        (0..size.x).contains(&self.x) && (0..size.y).contains(&self.y)
    }
}

/// The loops of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// Size of the whole walk.
    pub resolution: Vector,
    /// Size of a block.
    pub block: Vector,
    /// Position of the first block.
    pub global_start: Vector,
    /// Distance from one start of the global inner loop to the next.
    pub global_outer: Vector,
    /// Distance from block to block.
    pub global_inner: Vector,
    /// Maximum number of iterations of the global outer loop, minus one.
    pub global_count: u32,
    /// First position in a block.
    pub local_start: Vector,
    /// Distance from one start of the middle loop to the next.
    pub local_outer: Vector,
    /// Maximum number of iterations of the local outer loop, minus one.
    pub local_count: u32,
    /// Distance from one start of the local inner loop to the next.
    pub middle: Vector,
    /// Maximum number of iterations of the middle loop, minus one.
    pub extra_steps: u32,
    /// Distance from position to position.
    pub local_inner: Vector,
    /// Threads at each position, minus one.
    pub extra_colors: u32,
}

/// A thread of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The position of the thread.
    pub at: Vector,
    /// Number of the thread among the threads at that position.
    pub color: u32,
    /// Iterations that each loop has completed: global outer, global inner, local outer, middle,
    /// local inner.
    pub counts: [u32; 5],
}

impl Walk {
    /// The walk of a packet.
    pub fn new(packet: &MediaObjectWalker<'_>) -> Walk {
        let size = |x: u64, y: u64| Vector { x: x as i32, y: y as i32 };
        Walk {
            resolution: size(packet.global_resolution_x.get(), packet.global_resolution_y.get()),
            block: size(packet.block_resolution_x.get(), packet.block_resolution_y.get()),
            global_start: Vector::new(packet.global_start_x.get(), packet.global_start_y.get()),
            global_outer: Vector::new(
                packet.global_outer_loop_stride_x.get(),
                packet.global_outer_loop_stride_y.get(),
            ),
            global_inner: Vector::new(
                packet.global_inner_loop_unit_x.get(),
                packet.global_inner_loop_unit_y.get(),
            ),
            global_count: packet.global_loop_exec_count.get() as u32,
            local_start: size(packet.local_start_x.get(), packet.local_start_y.get()),
            local_outer: Vector::new(
                packet.local_outer_loop_stride_x.get(),
                packet.local_outer_loop_stride_y.get(),
            ),
            local_count: packet.local_loop_exec_count.get() as u32,
            middle: Vector::new(packet.mid_loop_unit_x.get(), packet.local_mid_loop_unit_y.get()),
            extra_steps: packet.middle_loop_extra_steps.get() as u32,
            local_inner: Vector::new(
                packet.local_inner_loop_unit_x.get(),
                packet.local_inner_loop_unit_y.get(),
            ),
            extra_colors: packet.color_count_minus_one.get() as u32,
        }
    }

    /// Calls `visit` with each thread in the order of dispatch. Also calls `visit` with `None` once
    /// for each block and each position, so that the caller can count the work.
    ///
    /// # Errors
    /// The first error that `visit` returns.
    pub fn each<E>(&self, mut visit: impl FnMut(Option<Step>) -> Result<(), E>) -> Result<(), E> {
        let mut counts = [0; 5];
        let mut outer = self.block_in_reach(self.global_start);
        while self.reaches(outer) && counts[0] <= self.global_count {
            let mut corner = outer;
            counts[1] = 0;
            while self.reaches(corner) {
                visit(None)?;
                self.each_of_block(corner, &mut counts, &mut visit)?;
                counts[1] += 1;
                if self.global_inner == Vector::default() {
                    break;
                }
                corner = corner.plus(self.global_inner);
            }
            counts[0] += 1;
            outer = self.block_in_reach(outer.plus(self.global_outer));
        }
        Ok(())
    }

    fn each_of_block<E>(
        &self,
        corner: Vector,
        counts: &mut [u32; 5],
        visit: &mut impl FnMut(Option<Step>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Size of the block's part inside the walk. A block that starts before the walk is not
        // clipped at the far edge.
        let origin = Vector { x: corner.x.max(0), y: corner.y.max(0) };
        let part = |corner: i32, block: i32, whole: i32| {
            if corner < 0 { block + corner } else { block.min(whole - corner) }
        };
        let size = Vector {
            x: part(corner.x, self.block.x, self.resolution.x),
            y: part(corner.y, self.block.y, self.resolution.y),
        };
        let mut outer = self.position_in_reach(self.local_start, size);
        counts[2] = 0;
        while outer.within(size) && counts[2] <= self.local_count {
            let mut middle = outer;
            counts[3] = 0;
            while counts[3] <= self.extra_steps && middle.within(size) {
                let mut position = middle;
                counts[4] = 0;
                while position.within(size) {
                    visit(None)?;
                    for color in 0..=self.extra_colors {
                        visit(Some(Step { at: position.plus(origin), color, counts: *counts }))?;
                    }
                    counts[4] += 1;
                    if self.local_inner == Vector::default() {
                        break;
                    }
                    position = position.plus(self.local_inner);
                }
                counts[3] += 1;
                middle = middle.plus(self.middle);
            }
            counts[2] += 1;
            outer = self.position_in_reach(outer.plus(self.local_outer), size);
        }
        Ok(())
    }

    /// True if a part of the block at `corner` lies within the whole walk.
    fn reaches(&self, corner: Vector) -> bool {
        corner.x < self.resolution.x
            && corner.y < self.resolution.y
            && corner.x + self.block.x > 0
            && corner.y + self.block.y > 0
    }

    /// The first block of a global inner loop that starts at `corner`. Skips a block while, in X or
    /// in Y, it lies outside the whole walk and the loop's step leads towards the walk. A block
    /// that ends exactly at the start of the walk is not skipped.
    fn block_in_reach(&self, mut corner: Vector) -> Vector {
        let step = self.global_inner;
        while (corner.x >= self.resolution.x && step.x < 0)
            || (corner.x + self.block.x < 0 && step.x > 0)
            || (corner.y >= self.resolution.y && step.y < 0)
            || (corner.y + self.block.y < 0 && step.y > 0)
        {
            corner = corner.plus(step);
        }
        corner
    }

    /// The first position of a local inner loop that starts at `position` in a block of `size`.
    /// Skips a position while, in X or in Y, it lies outside the block and the loop's step leads
    /// towards the block.
    fn position_in_reach(&self, mut position: Vector, size: Vector) -> Vector {
        let step = self.local_inner;
        while (position.x >= size.x && step.x < 0)
            || (position.x < 0 && step.x > 0)
            || (position.y >= size.y && step.y < 0)
            || (position.y < 0 && step.y > 0)
        {
            position = position.plus(step);
        }
        position
    }

    /// Name of the field that makes a loop endless; `None` if all loops end. A local inner loop
    /// ends when it leaves the block, a global inner loop when it leaves the whole walk. A loop
    /// with a step of zero never leaves. Such a loop is allowed only if it has just one position or
    /// block ([`LOOPS_OF_ONE_POSITION_NEED_NO_WAY`]).
    pub fn endless(&self) -> Option<&'static str> {
        let still = Vector::default();
        let part = Vector {
            x: self.block.x.min(self.resolution.x),
            y: self.block.y.min(self.resolution.y),
        };
        // `one_position`: each block has at most one position. `one_block`: the walk has one block.
        let one_position = LOOPS_OF_ONE_POSITION_NEED_NO_WAY && part.x <= 1 && part.y <= 1;
        let one_block = LOOPS_OF_ONE_POSITION_NEED_NO_WAY && part == self.resolution;
        match () {
            () if self.local_inner == still && !one_position => Some("Local Inner Loop Unit"),
            () if self.global_inner == still && !one_block => Some("Global Inner Loop Unit"),
            () => None,
        }
    }
}
