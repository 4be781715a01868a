//! Observes a run: its draws, and what they leave in their targets.

use super::texels::{Texels, digest};
use crate::inspect::history::View;
use crate::inspect::summary::{Name, ShaderSummary};
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::render::render_target::Purpose;
use std::collections::{BTreeMap, BTreeSet};

/// What a [`Survey`] looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Look {
    /// Only the state of the draws.
    #[default]
    State,
    /// Digests of the targets after these draws.
    After(BTreeSet<u64>),
    /// Digests of the targets before and after these draws.
    Around(BTreeSet<u64>),
    /// All values of the targets before and after this draw, and the packets of its state.
    Whole(u64),
}

/// A target of a draw.
#[derive(Clone, Debug)]
pub struct Target {
    /// The surface.
    pub view: View,
    /// Digest of its values before the draw.
    pub before: Option<u64>,
    /// Digest of its values after the draw.
    pub after: Option<u64>,
    /// Its values before and after the draw.
    pub texels: Option<[Texels; 2]>,
}

/// A draw.
#[derive(Clone, Debug)]
pub struct Work {
    /// Number of the draw, from 1 on.
    pub number: u64,
    /// Number of the submission, from 1 on.
    pub submission: u64,
    /// The caller's number of the submission.
    pub label: Option<u64>,
    /// The 3DPRIMITIVE.
    pub at: Place,
    /// Topology.
    pub topology: Name,
    /// Number of vertices of an instance, and number of instances.
    pub count: [u32; 2],
    /// Draw, clear or resolve.
    pub purpose: Purpose,
    /// The enabled shaders.
    pub shaders: Vec<ShaderSummary>,
    /// The render targets, the depth buffer and the stencil buffer.
    pub targets: Vec<Target>,
    /// The newest packets with state, by name, if the survey looks at all values of the draw.
    pub packets: BTreeMap<&'static str, Vec<u32>>,
}

impl Work {
    /// What the draw does, without addresses. Draws of two runs that do the same have equal texts.
    pub fn kind(&self) -> String {
        let size = |target: &Target| {
            let View { level, .. } = &target.view;
            format!("{} {}x{}", target.view.format(), level.width, level.height)
        };
        let targets: Vec<_> = self.targets.iter().map(size).collect();
        let [vertices, instances] = self.count;
        let purpose = match self.purpose {
            Purpose::Draw => "",
            Purpose::FastClear => "fast clear, ",
            Purpose::Resolve => "resolve, ",
        };
        let topology = self.topology.unwrap_or("?");
        let topology = topology.strip_prefix("3DPRIM_").unwrap_or(topology);
        let times = match instances {
            1 => String::new(),
            _ => format!(" x {instances} instances"),
        };
        let targets = match targets.is_empty() {
            true => "no target".into(),
            false => targets.join(" and "),
        };
        format!("{purpose}{topology}, {vertices} vertices{times}, to {targets}")
    }
}

/// Observes the draws of a run.
#[derive(Debug, Default)]
pub struct Survey {
    look: Look,
    works: Vec<Work>,
    submissions: u64,
    label: Option<u64>,
    dispatches: u64,
    packets: BTreeMap<&'static str, Vec<u32>>,
}

impl Survey {
    /// A survey of a run.
    pub fn new(look: Look) -> Survey {
        Survey { look, ..Survey::default() }
    }

    /// The number that the caller gives to the following submissions.
    pub fn label(&mut self, label: u64) {
        self.label = Some(label);
    }

    /// The draws so far, in order.
    pub fn works(&self) -> &[Work] {
        &self.works
    }

    /// The draws, in order.
    pub fn into_works(self) -> Vec<Work> {
        self.works
    }

    /// Number of packets that started threads and are not draws.
    pub fn dispatches(&self) -> u64 {
        self.dispatches
    }

    /// True if no later draw is looked at.
    pub fn is_done(&self) -> bool {
        let draws = self.works.len() as u64;
        match &self.look {
            Look::State => false,
            Look::After(draw) | Look::Around(draw) => draw.last().is_none_or(|last| draws >= *last),
            Look::Whole(draw) => draws >= *draw,
        }
    }

    fn draw(&mut self, drawing: &Drawing<'_>) {
        let number = self.works.len() as u64 + 1;
        let summary = drawing.summary();
        let read = |address: u64, out: &mut [u8]| drawing.read(address, out);
        let is_digested = matches!(&self.look, Look::Around(draws) if draws.contains(&number));
        let is_whole = self.look == Look::Whole(number);
        let target = |view: View| Target {
            before: is_digested.then(|| digest(&view, &read)),
            after: None,
            texels: is_whole.then(|| {
                let before = Texels::of(&view, &read);
                [before.clone(), before]
            }),
            view,
        };
        self.works.push(Work {
            number,
            submission: self.submissions,
            label: self.label,
            at: drawing.at,
            topology: summary.topology,
            count: [summary.range.vertices, summary.range.instances],
            purpose: summary.purpose,
            targets: View::all(&summary).into_iter().map(target).collect(),
            shaders: summary.shaders,
            packets: if is_whole { self.packets.clone() } else { BTreeMap::new() },
        });
    }

    fn end(&mut self, drawing: &Drawing<'_>) {
        let Some(work) = self.works.last_mut() else { return };
        let read = |address: u64, out: &mut [u8]| drawing.read(address, out);
        let is_digested = match &self.look {
            Look::After(draws) | Look::Around(draws) => draws.contains(&work.number),
            Look::State | Look::Whole(_) => false,
        };
        for target in &mut work.targets {
            if is_digested {
                target.after = Some(digest(&target.view, &read));
            }
            if let Some([_, after]) = &mut target.texels {
                *after = Texels::of(&target.view, &read);
            }
        }
    }
}

impl Observer for Survey {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Packet { at, dwords, .. }
                if matches!(self.look, Look::Whole(_)) && at.packet.contains("STATE_") =>
            {
                self.packets.insert(at.packet, dwords.to_vec());
            }
            Event::Packet { at, dwords, .. }
                if matches!(self.look, Look::Whole(_)) && at.packet == "3DPRIMITIVE" =>
            {
                self.packets.insert(at.packet, dwords.to_vec());
            }
            Event::Dispatch { .. } => self.dispatches += 1,
            Event::Draw(drawing) => self.draw(drawing),
            Event::DrawEnd(drawing) => self.end(drawing),
            _ => {}
        }
    }
}
