//! Ends submissions that would never end. Each submission has a budget of work, and a clock counts
//! the work.
//!
//! One unit is about a nanosecond of the model's own time, so the default limit is a few seconds.
//! The same count drives the TIMESTAMP register: the model's clock depends only on the work done.
//!
//! The default limit depends on how the model was compiled, never on time, so that an endless
//! kernel ends within seconds in every build and two runs of a program have the same result.

/// Units per packet.
pub const PACKET: u64 = 32;
/// Units per EU instruction.
pub const INSTRUCTION: u64 = 16;
/// Units per object for clipping and setup.
pub const OBJECT: u64 = 64;
/// Units per pixel or dword moved by a fixed function.
pub const PIXEL: u64 = 1;
/// Units per shaded pixel: payload, tests, blending.
pub const SHADED_PIXEL: u64 = 64;
/// Units per block of 8x8 pixels that the rasteriser tests against an object.
pub const BLOCK: u64 = 8;
/// The budget of a submission, unless [`Gpu::set_work_limit`](crate::Gpu::set_work_limit) changes
/// it. It is 2^32 in an optimised build (`opt-level` 2 or 3), which allows 268 million EU
/// instructions. Without the feature `fast` it is a quarter of it. In any other build it is 2^26,
/// which allows 4 million: there an instruction takes up to a microsecond.
pub const DEFAULT_LIMIT: u64 = if cfg!(unoptimised) {
    1 << 26
} else if cfg!(feature = "fast") {
    1 << 32
} else {
    1 << 30
};
/// Units per tick of TIMESTAMP, which counts 80 ns (Broadwell's 12.5 MHz).
const UNITS_PER_TICK: u64 = 80;

/// Bits of TIMESTAMP.
pub const TIMESTAMP_BITS: u32 = 36;

/// The value of TIMESTAMP when the clock is at `clock` units: 36 bits, 80 ns a tick.
pub fn ticks(clock: u64) -> u64 {
    (clock / UNITS_PER_TICK) & ((1 << TIMESTAMP_BITS) - 1)
}

/// The turn of a thread, or the budget, is used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exhausted;

/// Work done and work allowed.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    /// Units left after the current turn of a thread; `left` holds those of the turn.
    beyond: u64,
    limit: u64,
    /// The value of the clock when the budget is used up.
    end: u64,
}

impl Budget {
    /// A budget of `limit` units for a submission that starts when the clock is at `started` units.
    pub fn new(limit: u64, started: u64) -> Self {
        Budget { left: limit, beyond: 0, limit, end: started.wrapping_add(limit) }
    }

    /// Continues the submission with the clock at `clock` units: other engines have run meanwhile.
    pub fn resume(&mut self, clock: u64) {
        self.end = clock.wrapping_add(self.left + self.beyond);
    }

    /// Subtracts `units`.
    ///
    /// # Errors
    /// [`Exhausted`] if fewer are left. The budget is then empty.
    #[inline(always)]
    pub fn spend(&mut self, units: u64) -> Result<(), Exhausted> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.more(units),
        }
    }

    /// Spends units that the turn does not have: ends the turn, and takes the units from the rest
    /// of the budget. Fails if there is no turn.
    #[cold]
    fn more(&mut self, units: u64) -> Result<(), Exhausted> {
        if self.beyond == 0 {
            self.left = 0;
            return Err(Exhausted);
        }
        self.end_turn();
        self.spend(units)
    }

    /// Subtracts the units of one instruction, unless the turn or the budget is over.
    ///
    /// # Errors
    /// [`Exhausted`] if the turn or the budget is over; [`end_turn`](Self::end_turn) says which.
    #[inline(always)]
    pub fn instruction(&mut self) -> Result<(), Exhausted> {
        match self.left.checked_sub(INSTRUCTION) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Exhausted),
        }
    }

    /// Counts `count` instructions. Returns false, and counts none, if not all of them fit.
    #[inline(always)]
    pub fn instructions(&mut self, count: u32) -> bool {
        match self.left.checked_sub(INSTRUCTION * u64::from(count)) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Takes back the last `count` instructions that were counted.
    #[inline(always)]
    pub fn take_back(&mut self, count: u32) {
        self.left += INSTRUCTION * u64::from(count);
    }

    /// Starts a turn of `units` units. The first instruction that does not fit ends it.
    pub fn turn(&mut self, units: u64) {
        self.end_turn();
        self.beyond = self.left.saturating_sub(units);
        self.left -= self.beyond;
    }

    /// Ends the turn, if there is one. Returns true if budget is left beyond the turn.
    pub fn end_turn(&mut self) -> bool {
        let beyond = std::mem::take(&mut self.beyond);
        self.left += beyond;
        beyond > 0
    }

    /// Units left, including those beyond the turn.
    pub fn left(&self) -> u64 {
        self.left + self.beyond
    }

    /// The whole budget.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The clock: units spent since the model was created.
    pub fn clock(&self) -> u64 {
        self.end.wrapping_sub(self.left + self.beyond)
    }

    /// The value of the TIMESTAMP register now.
    pub fn timestamp(&self) -> u64 {
        ticks(self.clock())
    }
}
