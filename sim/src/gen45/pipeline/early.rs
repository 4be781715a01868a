//! When depth and stencil are tested, and what the payload of a pixel shader contains because of it
//! (gen45_facts 10.5).

use genxml::gen45::state_units::{ColorCalcState, WmState};

/// When the tests run, and what the payload and the messages of the thread have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Early {
    /// Depth and stencil are tested and written before the shader. Otherwise when the last render
    /// target write of a pixel is executed.
    pub promoted: bool,
    /// The payload contains the depth of the pixels.
    pub source_depth: bool,
    /// The kernel sends the depth of the pixels in its render target writes.
    pub source_depth_sent: bool,
    /// The payload and the messages have the depth in the depth buffer.
    pub destination_depth: bool,
    /// The payload and the messages have the stencil values in the buffer.
    pub destination_stencil: bool,
}

impl Early {
    /// The row of the windower's table for the state of a draw.
    pub fn of(wm: &WmState, cc: &ColorCalcState) -> Early {
        let kills = wm.pixel_shader_kills_pixel || cc.alpha_test_enable;
        let index = usize::from(kills)
            | usize::from(wm.pixel_shader_computed_depth) << 1
            | usize::from(cc.depth_buffer_write_enable) << 2
            | usize::from(cc.depth_test_enable) << 3
            | usize::from(cc.stencil_buffer_write_enable) << 4
            | usize::from(cc.stencil_test_enable) << 5;
        let mut early = Early::row(index);
        // The driver's kernels expect source depths in this case.
        if early.promoted && kills && wm.statistics_enable {
            (early.source_depth, early.source_depth_sent) = (true, true);
        }
        early.source_depth |= wm.pixel_shader_uses_source_depth;
        early
    }

    /// A row of the table: bit 0 the shader or the alpha test removes pixels, bit 1 the shader
    /// computes depth, bit 2 depth write, bit 3 depth test, bit 4 stencil write, bit 5 stencil
    /// test.
    fn row(index: usize) -> Early {
        let (stencil, low) = (index >> 4, index & 15);
        let none = Early::default();
        let promoted = Early { promoted: true, ..none };
        let sent = Early { source_depth_sent: true, ..none };
        let both = Early { source_depth: true, ..sent };
        let compared = Early { destination_depth: true, ..sent };
        let row = match (stencil, low) {
            (_, 0 | 2 | 4 | 8 | 12) => promoted,
            (0..3, 1 | 3 | 9) => promoted,
            (0..3, 5 | 13) => both,
            (0..3, 6 | 7) => sent,
            (0..3, _) => compared,
            (_, 1) => none,
            (_, 3 | 6 | 7) => sent,
            (_, 5) => both,
            (_, 9 | 13) => Early { source_depth: true, ..compared },
            (_, _) => compared,
        };
        Early { destination_stencil: stencil >= 2 && !row.promoted, ..row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the table of gen45_facts 10.5, as letters: P, or else s source depth in the payload,
    /// S sent, d destination depth, t stencil. Rows from 0 to 15.
    #[test]
    fn rows_of_the_table() {
        let none = "P P P P P sS S S P P Sd Sd P sS Sd Sd";
        let test = "P P P P P sSt St St P P Sdt Sdt P sSt Sdt Sdt";
        let both = "P t P St P sSt St St P sSdt Sdt Sdt P sSdt Sdt Sdt";
        for (stencil, rows) in [none, none, test, both].into_iter().enumerate() {
            for (low, letters) in rows.split(' ').enumerate() {
                let has = |letter| letters.contains(letter);
                let expected = Early {
                    promoted: has('P'),
                    source_depth: has('s'),
                    source_depth_sent: has('S'),
                    destination_depth: has('d'),
                    destination_stencil: has('t'),
                };
                assert_eq!(Early::row(stencil << 4 | low), expected, "{stencil} {low}");
            }
        }
    }
}
