//! Draws as observers see them: the latched state and memory at the time of a 3DPRIMITIVE, and the
//! counters.
//!
//! An observer gets a [`Drawing`] before the draw ([`Event::Draw`](super::events::Event::Draw)) and
//! after it ([`Event::DrawEnd`](super::events::Event::DrawEnd)). A drawing computes nothing until
//! one of its functions is called: [`Drawing::summary`] follows the packets, [`Drawing::color`] and
//! similar functions make pictures of memory. To get the counts of one draw, subtract the
//! [`Drawing::counters`] before it from those after it ([`Counters::since`]).
//!
//! ```
//! use genxml_sim::machine::drawing::Counters;
//! use genxml_sim::{Event, Now, Observer};
//!
//! let mut before = Counters::default();
//! let mut listener = |_: Now, event: &Event<'_>| match event {
//!     Event::Draw(drawing) => {
//!         before = drawing.counters();
//!         let summary = drawing.summary();
//!         println!("{:?} to {} targets", summary.topology, summary.targets.len());
//!     }
//!     Event::DrawEnd(drawing) => println!("{} threads", drawing.counters().since(&before).threads),
//!     _ => {}
//! };
//! let observer: &mut dyn Observer = &mut listener;
//! ```

use crate::assumptions::PS_INVOCATIONS_OF_A_PIXEL;
use crate::machine::place::Place;
use crate::machine::state::State;
use crate::machine::stats::Stats;
use crate::machine::view::View;
use genxml::gen8::registers::{
    ClInvocationCount, ClPrimitivesCount, DsInvocationCount, GsInvocationCount, GsPrimitivesCount,
    HsInvocationCount, IaPrimitivesCount, IaVerticesCount, PsDepthCount, PsInvocationCount,
    VsInvocationCount,
};
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
#[cfg(feature = "gen45")]
use genxml::gen45::commands_3d::ThreeDPrimitive as ThreeDPrimitiveGen45;
use genxml_core::latch::Latch;
use genxml_core::packet::{Dwords, Fixed};
use std::fmt;

/// Fills a slice with the bytes from an address on; false if they cannot be read.
type Read<'a> = dyn Fn(u64, &mut [u8]) -> bool + 'a;

/// The physical address of a graphics address; `None` if it is not mapped.
type Translate<'a> = dyn Fn(u64) -> Option<u64> + 'a;

/// The 3DPRIMITIVE of a draw.
#[derive(Clone, Copy, Debug)]
pub enum Primitive<'a> {
    /// Of Broadwell.
    Gen8(&'a ThreeDPrimitive),
    /// Of the G45.
    #[cfg(feature = "gen45")]
    Gen45(&'a ThreeDPrimitiveGen45),
}

/// A draw before or after it is executed: its packet, the latched state, and memory.
#[derive(Clone, Copy)]
pub struct Drawing<'a> {
    /// Position of the 3DPRIMITIVE.
    pub at: Place,
    /// The 3DPRIMITIVE.
    pub packet: Primitive<'a>,
    /// Latched packets and registers.
    pub state: &'a State,
    /// Counts of the submission so far.
    pub stats: Stats,
    pub(super) read: &'a Read<'a>,
    pub(super) translate: &'a Translate<'a>,
}

impl fmt::Debug for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drawing")
            .field("at", &self.at)
            .field("packet", &self.packet)
            .finish_non_exhaustive()
    }
}

impl View for Drawing<'_> {
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        (self.read)(address, out)
    }

    fn physical(&self, address: u64) -> Option<u64> {
        (self.translate)(address)
    }

    fn state(&self) -> &State {
        self.state
    }
}

impl Drawing<'_> {
    /// Passes the draw of `packet` to `inspect`, as seen from `view`, during an event of the draw.
    /// The counts of the submission are zero.
    pub fn seen_from<R>(
        view: &dyn View,
        at: Place,
        packet: Primitive<'_>,
        inspect: impl FnOnce(&Drawing<'_>) -> R,
    ) -> R {
        let read = |address: u64, out: &mut [u8]| view.read(address, out);
        let translate = |address: u64| view.physical(address);
        let (state, stats) = (view.state(), Stats::default());
        inspect(&Drawing { at, packet, state, stats, read: &read, translate: &translate })
    }

    /// The newest packet of type `T` of Broadwell; of types with several entries, that of entry 0.
    /// All zero if there was none.
    pub fn latched<T: Latch + Fixed>(&self) -> T {
        self.state.latched.read(0)
    }

    /// Fills `out` with memory as the context sees it; false if some of it cannot be read.
    pub fn read(&self, address: u64, out: &mut [u8]) -> bool {
        (self.read)(address, out)
    }

    /// The physical address of a graphics address; `None` if it is not mapped.
    pub fn physical(&self, address: u64) -> Option<u64> {
        (self.translate)(address)
    }

    /// Reads a structure from memory; `None` if it cannot be read.
    pub fn structure<T: Fixed>(&self, address: u64) -> Option<T>
    where
        T::Dwords: AsMut<[u32]>,
    {
        let mut dwords = T::Dwords::padded(&[]);
        self.read(address, bytemuck::cast_slice_mut(dwords.as_mut()))
            .then(|| T::from_dwords_lossy(&dwords))
    }

    /// The counters now.
    pub fn counters(&self) -> Counters {
        let register = |offset| self.state.registers.read_u64(offset);
        // The G45 has the registers at the same offsets, without those of later stages.
        let ps_invocations_of_a_pixel = match self.packet {
            Primitive::Gen8(_) => PS_INVOCATIONS_OF_A_PIXEL,
            #[cfg(feature = "gen45")]
            Primitive::Gen45(_) => 1,
        };
        Counters {
            vertices: register(IaVerticesCount::OFFSET),
            primitives: register(IaPrimitivesCount::OFFSET),
            vs_invocations: register(VsInvocationCount::OFFSET),
            hs_invocations: register(HsInvocationCount::OFFSET),
            ds_invocations: register(DsInvocationCount::OFFSET),
            gs_invocations: register(GsInvocationCount::OFFSET),
            gs_primitives: register(GsPrimitivesCount::OFFSET),
            clipper_primitives: register(ClInvocationCount::OFFSET),
            clipped_primitives: register(ClPrimitivesCount::OFFSET),
            ps_invocations: register(PsInvocationCount::OFFSET) / ps_invocations_of_a_pixel,
            depth_passed: register(PsDepthCount::OFFSET),
            threads: self.stats.threads,
            instructions: self.stats.instructions,
            pixels: self.stats.pixels,
        }
    }
}

/// The statistics registers of a context, and counts of the model. A statistics register counts
/// only while the packet of its stage enables statistics
/// ([`Summary::statistics`](crate::inspect::summary::Summary::statistics)). Threads, instructions
/// and pixels always count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Vertices fetched.
    pub vertices: u64,
    /// Objects (points, lines, triangles, patches) that were assembled from the fetched vertices.
    pub primitives: u64,
    /// Vertices shaded.
    pub vs_invocations: u64,
    /// Patches that went through the hull shader.
    pub hs_invocations: u64,
    /// Domain points shaded.
    pub ds_invocations: u64,
    /// Objects that went through the geometry shader; each instance counts.
    pub gs_invocations: u64,
    /// Objects that the geometry shader emitted.
    pub gs_primitives: u64,
    /// Objects that arrived at the clipper.
    pub clipper_primitives: u64,
    /// Objects that the clipper passed on, whole or in part.
    pub clipped_primitives: u64,
    /// Pixels shaded.
    pub ps_invocations: u64,
    /// Samples that passed the depth and stencil tests.
    pub depth_passed: u64,
    /// EU threads that ran to their end, of shader stages and of media and GPGPU packets.
    pub threads: u64,
    /// EU instructions that these threads executed.
    pub instructions: u64,
    /// Pixels written to render targets, where each target counts, and pixels written by blits.
    pub pixels: u64,
}

impl Counters {
    /// The counts since `before`. The subtraction wraps around if a register was written in
    /// between.
    #[must_use]
    pub fn since(&self, before: &Counters) -> Counters {
        let more = |count: fn(&Counters) -> u64| count(self).wrapping_sub(count(before));
        Counters {
            vertices: more(|c| c.vertices),
            primitives: more(|c| c.primitives),
            vs_invocations: more(|c| c.vs_invocations),
            hs_invocations: more(|c| c.hs_invocations),
            ds_invocations: more(|c| c.ds_invocations),
            gs_invocations: more(|c| c.gs_invocations),
            gs_primitives: more(|c| c.gs_primitives),
            clipper_primitives: more(|c| c.clipper_primitives),
            clipped_primitives: more(|c| c.clipped_primitives),
            ps_invocations: more(|c| c.ps_invocations),
            depth_passed: more(|c| c.depth_passed),
            threads: more(|c| c.threads),
            instructions: more(|c| c.instructions),
            pixels: more(|c| c.pixels),
        }
    }
}
