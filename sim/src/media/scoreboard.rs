//! The scoreboard of media threads: a thread depends on the threads at given distances from its
//! position (2a p.513-516).
//!
//! Only threads that are running count. A thread does not wait for a position where no thread was
//! dispatched before. Therefore threads at the edges of a picture can start although all threads
//! have the same mask.

use genxml::gen8::media::{
    MediaVfeState, MediaVfeStateScoreboardEnable as Enable, MediaVfeStateScoreboardType as Type,
};

/// The position of a thread on the scoreboard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Position {
    /// Column.
    pub x: i32,
    /// Row.
    pub y: i32,
    /// Threads of different colours do not depend on each other.
    pub color: u8,
}

/// The distances at which a thread depends on others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scoreboard {
    /// True if threads start regardless of their dependencies and wait for them at `sendc`.
    /// False if a thread starts only after its dependencies have ended.
    pub non_stalling: bool,
    mask: u8,
    deltas: [(i32, i32); 8],
}

impl Scoreboard {
    /// The scoreboard of MEDIA_VFE_STATE; `None` if the packet does not enable it.
    pub fn new(vfe: &MediaVfeState) -> Option<Scoreboard> {
        if vfe.scoreboard_enable != Enable::SCOREBOARD_ENABLED {
            return None;
        }
        let deltas = [
            (vfe.scoreboard_0_delta_x, vfe.scoreboard_0_delta_y),
            (vfe.scoreboard_1_delta_x, vfe.scoreboard_1_delta_y),
            (vfe.scoreboard_2_delta_x, vfe.scoreboard_2_delta_y),
            (vfe.scoreboard_3_delta_x, vfe.scoreboard_3_delta_y),
            (vfe.scoreboard_4_delta_x, vfe.scoreboard_4_delta_y),
            (vfe.scoreboard_5_delta_x, vfe.scoreboard_5_delta_y),
            (vfe.scoreboard_6_delta_x, vfe.scoreboard_6_delta_y),
            (vfe.scoreboard_7_delta_x, vfe.scoreboard_7_delta_y),
        ];
        Some(Scoreboard {
            non_stalling: vfe.scoreboard_type == Type::NON_STALLING_SCOREBOARD,
            mask: vfe.scoreboard_mask.get() as u8,
            deltas: deltas.map(|(x, y)| (x.get() as i32, y.get() as i32)),
        })
    }

    /// The positions that a thread at `position` depends on, each after the number (0 to 7) of its
    /// distance in MEDIA_VFE_STATE. `mask` comes from the thread's packet.
    pub fn dependencies(
        self,
        position: Position,
        mask: u8,
    ) -> impl Iterator<Item = (usize, Position)> {
        let enabled = self.mask & mask;
        (0..8).filter(move |n| enabled >> n & 1 == 1).map(move |n| {
            let (x, y) = self.deltas[n];
            (n, Position { x: position.x + x, y: position.y + y, color: position.color })
        })
    }
}
