//! Finds the first difference of two captures or AUB files that should give the same pictures: the
//! draw, primitive, instruction and value. Runs both inputs several times, see
//! [`crate::inspect::bisect`].
//!
//! * [`find`]: all steps; [`find_thorough`]: also differences that the same submission overwrites;
//! * `compute`: captures without a draw that differs: the first dispatch that writes other values;
//! * `thorough`: the first packet that writes other values.

mod compute;
mod thorough;

pub use compute::{ComputeParted, Memory, Writer};
pub use thorough::{PacketParted, Value as WrittenValue};

use crate::gpu::Gpu;
use crate::inspect::bisect::differ::{self, Difference, Parted, Stage};
use crate::inspect::bisect::texels::Position;
use crate::inspect::bisect::threads::Select;
use crate::inspect::bisect::{Kernels, Look, Survey, Thread, Threads, Work, pair};
use crate::inspect::history::{Fragment, Meaning};
use crate::machine::watched::WatchedPixel;
use crate::pixel_history::{Answer, Question, Stop, Until, WhyError};
use crate::runs::{Input, Pass};
use genxml::decode::Tables;
use genxml::diff::{PacketDiff, packets};
use genxml_core::members::Value;
use std::collections::BTreeSet;
use thorough::{FirstDraw, Found, Written};

/// Prepares the GPU of each run.
pub type SetUp<'a> = dyn Fn(&mut Gpu) + 'a;

/// The result of a comparison.
#[derive(Debug)]
pub struct Report {
    /// Number of draws of each run.
    pub draws: [usize; 2],
    /// What stopped each run before its end.
    pub stops: [Option<Stop>; 2],
    /// Draws that only one of the runs has, before the first difference, in order.
    pub unpaired: [Vec<Work>; 2],
    /// The first difference.
    pub verdict: Verdict,
}

/// The first difference of two runs.
#[derive(Debug)]
pub enum Verdict {
    /// No difference was found: the last draws to each group of targets in each submission, and all
    /// dispatches that can be compared, leave the same values.
    Same,
    /// A draw.
    Draw(Box<DrawParted>),
    /// A dispatch.
    Compute(Box<ComputeParted>),
    /// A packet that writes other values, found by [`find_thorough`]: one that is not a draw, or a
    /// draw that differs in other memory than its targets.
    Packet(Box<PacketParted>),
}

/// A draw in which the runs part.
#[derive(Debug)]
pub struct DrawParted {
    /// The draw of each run, with all values of its targets.
    pub works: [Work; 2],
    /// Index of the target that differs.
    pub target: usize,
    /// True if the target differs before the draw: something else has written it, such as the
    /// program, a blit, a clear or a dispatch.
    pub before: bool,
    /// The difference after the draw, or before it; an error if the targets cannot be compared.
    pub difference: Result<Difference, String>,
    /// The packets with state that differ, without addresses.
    pub state: Vec<PacketDiff>,
    /// Names of packets that only one of the runs has sent.
    pub only: [Vec<&'static str>; 2],
    /// A pixel that differs.
    pub pixel: Option<PixelParted>,
}

/// A pixel that differs.
#[derive(Debug)]
pub struct PixelParted {
    /// The pixel.
    pub at: Position,
    /// The histories of the pixel in the two runs, up to the draw.
    pub answers: [Answer; 2],
    /// The positions in the histories of the first entries that differ.
    pub entries: [Option<usize>; 2],
    /// The positions of the first fragments of these entries that differ, and the stage.
    pub fragments: Option<([Option<usize>; 2], Stage)>,
    /// The threads of this stage.
    pub threads: Option<ThreadsParted>,
}

/// Two threads that part.
#[derive(Debug)]
pub struct ThreadsParted {
    /// `VS`, `PS` or another name of a stage.
    pub stage: &'static str,
    /// Number of the thread among those of its stage and draw, from 0 on; `None` for the thread
    /// that shades the pixel.
    pub number: Option<usize>,
    /// The threads, with the instructions of the kernels.
    pub threads: [(Thread, Kernels); 2],
    /// The differences.
    pub parted: Parted,
}

/// Finds the first difference of two runs.
///
/// # Errors
/// [`WhyError`] if an input cannot be read.
pub fn find(inputs: [&Input; 2], set_up: &SetUp<'_>) -> Result<Report, WhyError> {
    let mut stops = [None, None];
    let mut lists = [Vec::new(), Vec::new()];
    let mut dispatches = 0;
    for (side, input) in inputs.into_iter().enumerate() {
        let (survey, stop) = survey(input, set_up, Look::State);
        dispatches += survey.dispatches();
        lists[side] = survey.into_works();
        stops[side] = stop;
    }
    let draws = [lists[0].len(), lists[1].len()];
    let [good, bad] = &lists;
    let pairs = pair(good, bad);
    let both: Vec<(usize, usize)> =
        pairs.iter().filter_map(|(good, bad)| Some(((*good)?, (*bad)?))).collect();
    let suspect = first_checkpoint(inputs, set_up, good, &both);
    let Some(suspects) = suspect else {
        let verdict = match inputs {
            [Input::Capture(good), Input::Capture(bad)] if dispatches > 0 => {
                compute::find([good, bad], set_up)
                    .map_or(Verdict::Same, |parted| Verdict::Compute(Box::new(parted)))
            }
            _ => Verdict::Same,
        };
        let unpaired = unpaired(&pairs, &lists, usize::MAX);
        return Ok(Report { draws, stops, unpaired, verdict });
    };
    let Some(((good_at, bad_at), before)) = first_draw(inputs, set_up, &suspects) else {
        let unpaired = unpaired(&pairs, &lists, usize::MAX);
        return Ok(Report { draws, stops, unpaired, verdict: Verdict::Same });
    };
    let unpaired = unpaired(&pairs, &lists, good_at);
    let parted = parted(inputs, set_up, [good_at, bad_at], before)?;
    let verdict = Verdict::Draw(Box::new(parted));
    Ok(Report { draws, stops, unpaired, verdict })
}

/// Like [`find`], and first compares what each packet writes. So it also finds a difference that a
/// later packet of the same submission overwrites. Captures of drivers take 1.3 to 1.6 times as
/// long.
///
/// # Errors
/// [`WhyError`] if an input cannot be read.
pub fn find_thorough(inputs: [&Input; 2], set_up: &SetUp<'_>) -> Result<Report, WhyError> {
    let written = Written::of(inputs, set_up);
    let first_draw = |suspects: &[(usize, usize)]| first_draw(inputs, set_up, suspects);
    let Some(found) = written.first(inputs, set_up, &first_draw) else {
        return find(inputs, set_up);
    };
    let Written { works, stops, .. } = written;
    let draws = [works[0].len(), works[1].len()];
    let pairs = pair(&works[0], &works[1]);
    let (verdict, end) = match found {
        Found::Draw(((good, bad), before)) => {
            let parted = parted(inputs, set_up, [good, bad], before)?;
            (Verdict::Draw(Box::new(parted)), good)
        }
        Found::Packet(parted, draws) => (Verdict::Packet(parted), draws),
    };
    let unpaired = unpaired(&pairs, &works, end);
    Ok(Report { draws, stops, unpaired, verdict })
}

/// The draws of one run before draw `end` of the good run that have no partner in the other run.
fn unpaired(
    pairs: &[(Option<usize>, Option<usize>)],
    lists: &[Vec<Work>; 2],
    end: usize,
) -> [Vec<Work>; 2] {
    let before = pairs.iter().take_while(|(good, _)| good.is_none_or(|good| good < end));
    let mut out = [Vec::new(), Vec::new()];
    for pair in before {
        match pair {
            (Some(good), None) => out[0].extend(lists[0].get(*good).cloned()),
            (None, Some(bad)) => out[1].extend(lists[1].get(*bad).cloned()),
            _ => {}
        }
    }
    out
}

/// Returns the pairs of draws in the first submission with a difference. In each submission, only
/// the last draw to each group of targets is compared, because a digest of a target takes time. A
/// difference that a later draw of the same submission overwrites in both runs is not found.
fn first_checkpoint(
    inputs: [&Input; 2],
    set_up: &SetUp<'_>,
    good: &[Work],
    both: &[(usize, usize)],
) -> Option<Vec<(usize, usize)>> {
    let group = |pair: &(usize, usize)| {
        let work = good.get(pair.0)?;
        let bases: Vec<u64> = work.targets.iter().map(|target| target.view.surface.base).collect();
        Some((work.submission, bases))
    };
    let mut seen = BTreeSet::new();
    let mut checkpoints: Vec<(usize, usize)> =
        both.iter().rev().copied().filter(|pair| seen.insert(group(pair))).collect();
    checkpoints.reverse();
    let digests = digests(inputs, set_up, &checkpoints, Look::After);
    let first = checkpoints.iter().zip(&digests).find(|(_, [good, bad])| good.1 != bad.1);
    let (&(at, _), _) = first?;
    let submission = |pair: &(usize, usize)| good.get(pair.0).map(|work| work.submission);
    let wanted = good.get(at).map(|work| work.submission);
    Some(both.iter().copied().filter(|pair| submission(pair) == wanted).collect())
}

/// The first pair of draws after which, or before which, the targets differ.
fn first_draw(
    inputs: [&Input; 2],
    set_up: &SetUp<'_>,
    suspects: &[(usize, usize)],
) -> Option<FirstDraw> {
    let digests = digests(inputs, set_up, suspects, Look::Around);
    let mut all = suspects.iter().zip(&digests);
    all.find_map(|(&pair, [good, bad])| {
        (good.0 != bad.0).then_some((pair, true)).or((good.1 != bad.1).then_some((pair, false)))
    })
}

/// The digests of all targets before and after a draw.
type Digests = (Vec<Option<u64>>, Vec<Option<u64>>);

/// The digests of the two draws of each pair.
fn digests(
    inputs: [&Input; 2],
    set_up: &SetUp<'_>,
    pairs: &[(usize, usize)],
    look: fn(BTreeSet<u64>) -> Look,
) -> Vec<[Digests; 2]> {
    let numbers = [
        pairs.iter().map(|(good, _)| *good as u64 + 1).collect::<BTreeSet<u64>>(),
        pairs.iter().map(|(_, bad)| *bad as u64 + 1).collect(),
    ];
    let mut works = [Vec::new(), Vec::new()];
    for ((input, numbers), works) in inputs.into_iter().zip(numbers).zip(&mut works) {
        *works = survey(input, set_up, look(numbers)).0.into_works();
    }
    let of = |work: Option<&Work>| -> Digests {
        let targets = work.map(|work| work.targets.as_slice()).unwrap_or_default();
        let before = targets.iter().map(|target| target.before).collect();
        (before, targets.iter().map(|target| target.after).collect())
    };
    let [good, bad] = &works;
    pairs.iter().map(|(a, b)| [of(good.get(*a)), of(bad.get(*b))]).collect()
}

/// Compares the two draws of a pair.
fn parted(
    inputs: [&Input; 2],
    set_up: &SetUp<'_>,
    indices: [usize; 2],
    before: bool,
) -> Result<DrawParted, WhyError> {
    let mut works = Vec::new();
    for (input, index) in inputs.into_iter().zip(indices) {
        let all = survey(input, set_up, Look::Whole(index as u64 + 1)).0.into_works();
        works.extend(all.into_iter().nth(index));
    }
    let works: [Work; 2] = works.try_into().map_err(|_| changed())?;
    let [good, bad] = &works;
    let when = usize::from(!before);
    let mut found = None;
    for (index, (good, bad)) in good.targets.iter().zip(&bad.targets).enumerate() {
        let (Some(good), Some(bad)) = (&good.texels, &bad.texels) else { continue };
        match differ::compare(&good[when], &bad[when]) {
            Ok(None) => {}
            Ok(Some(difference)) => {
                found = Some((index, Ok(difference)));
                break;
            }
            Err(why) => {
                found = Some((index, Err(why)));
                break;
            }
        }
    }
    let (target, difference) = found.ok_or_else(changed)?;
    let (state, only) = state(good, bad);
    let mut pixel = None;
    if let Ok(difference) = &difference {
        for at in &difference.examples {
            let next = self::pixel(inputs, set_up, &works, target, *at)?;
            // The example whose first differing primitive is the earliest one.
            let order = |parted: &PixelParted| {
                let first = parted.fragment(0).or(parted.fragment(1));
                (parted.entries, first.map(|fragment| fragment.primitive.number))
            };
            if let Some(next) = next
                && pixel.as_ref().is_none_or(|best| order(&next) < order(best))
            {
                pixel = Some(next);
            }
        }
    }
    if let Some(parted) = &mut pixel {
        parted.threads = threads(inputs, set_up, &works, parted);
    }
    Ok(DrawParted { works, target, before, difference, state, only, pixel })
}

impl PixelParted {
    /// The first fragment of a run that differs.
    pub fn fragment(&self, side: usize) -> Option<&Fragment> {
        let (indices, _) = self.fragments?;
        let entry = self.answers.get(side)?.entries.get(self.entries[side]?)?;
        entry.draw.as_ref()?.fragments.get(indices[side]?)
    }
}

/// An input gave other results in a later run.
fn changed() -> WhyError {
    WhyError::File("an input has changed during the comparison; compare again".into())
}

/// The differences of the packets with state, without addresses, and the names of the packets that
/// only one run has sent.
fn state(good: &Work, bad: &Work) -> (Vec<PacketDiff>, [Vec<&'static str>; 2]) {
    let tables = Tables::gen8();
    let mut out = Vec::new();
    for (name, a) in &good.packets {
        let Some(b) = bad.packets.get(name) else { continue };
        let Some(container) = tables.container(name) else { continue };
        let mut diff = packets(container, a, b);
        diff.changes.retain(|change| {
            let is_address = |side: &Option<genxml::diff::Side>| {
                side.is_some_and(|side| matches!(side.value, Some(Value::Address(_))))
            };
            !is_address(&change.old) && !is_address(&change.new)
        });
        if !diff.is_empty() {
            out.push(diff);
        }
    }
    let only = |a: &Work, b: &Work| {
        a.packets.keys().filter(|name| !b.packets.contains_key(*name)).copied().collect()
    };
    (out, [only(good, bad), only(bad, good)])
}

/// Compares the histories of a pixel; `None` if it has no history in one of the runs, or if the
/// histories are equal.
fn pixel(
    inputs: [&Input; 2],
    set_up: &SetUp<'_>,
    works: &[Work; 2],
    target: usize,
    at: Position,
) -> Result<Option<PixelParted>, WhyError> {
    let mut answers = Vec::new();
    for (input, work) in inputs.into_iter().zip(works) {
        let Some(target) = work.targets.get(target) else { return Ok(None) };
        let question = Question {
            at: [at.x, at.y],
            sample: at.sample,
            target: Some(target.view.surface.base),
            until: Some(Until::Draw(work.number)),
        };
        match input.history(&question, set_up) {
            Ok(answer) => answers.push(answer),
            // The surface of a stencil or depth buffer can be one that has no history.
            Err(WhyError::History(_)) => return Ok(None),
            Err(other) => return Err(other),
        }
    }
    let answers: [Answer; 2] = answers.try_into().map_err(|_| changed())?;
    let [good, bad] = &answers;
    let Some(entries) = differ::entries(&good.entries, &bad.entries) else { return Ok(None) };
    let fragments = match entries {
        [Some(a), Some(b)] => match (&good.entries[a].draw, &bad.entries[b].draw) {
            (Some(a), Some(b)) => differ::fragments(&a.fragments, &b.fragments),
            _ => None,
        },
        _ => None,
    };
    Ok(Some(PixelParted { at, answers, entries, fragments, threads: None }))
}

/// Compares the threads of the stage in which the fragments part.
fn threads(
    inputs: [&Input; 2],
    set_up: &SetUp<'_>,
    works: &[Work; 2],
    pixel: &PixelParted,
) -> Option<ThreadsParted> {
    let (_, stage) = pixel.fragments?;
    match stage {
        Stage::Shader => {
            let mut recorded = Vec::new();
            for (side, input) in inputs.into_iter().enumerate() {
                let entry = pixel.answers[side].entries.get(pixel.entries[side]?)?;
                let draw = entry.draw.as_ref()?;
                let [x, y] = draw.pixel.unwrap_or([pixel.at.x, pixel.at.y]);
                let select = Select::Pixel {
                    at: WatchedPixel { x, y },
                    sample: pixel.at.sample,
                    primitive: pixel.fragment(side)?.primitive.number,
                };
                let mut threads = Threads::new(draw.number, entry.submission, select);
                input.run(set_up, &mut threads);
                recorded.extend(threads.into_thread());
            }
            compared("PS", None, recorded)
        }
        Stage::Vertices | Stage::Inputs | Stage::Missing => vertex_threads(inputs, set_up, works),
        _ => None,
    }
}

fn compared(
    stage: &'static str,
    number: Option<usize>,
    recorded: Vec<(Thread, Kernels)>,
) -> Option<ThreadsParted> {
    let threads: [(Thread, Kernels); 2] = recorded.try_into().ok()?;
    let [(a, a_kernels), (b, b_kernels)] = &threads;
    let parted = differ::threads((a, a_kernels), (b, b_kernels));
    Some(ThreadsParted { stage, number, threads, parted })
}

/// Compares the threads of the stages before the rasteriser, stage by stage: first digests of all
/// threads of the stage's first kernel, then up to four threads with different digests instruction
/// by instruction. Returns the first pair of threads that write different values.
fn vertex_threads(
    inputs: [&Input; 2],
    set_up: &SetUp<'_>,
    works: &[Work; 2],
) -> Option<ThreadsParted> {
    let [good, bad] = works;
    for shader in good.shaders.iter().filter(|shader| shader.stage != "PS") {
        let Some(other) = bad.shaders.iter().find(|other| other.stage == shader.stage) else {
            continue;
        };
        let (Some(a), Some(b)) = (shader.kernels.first(), other.kernels.first()) else { continue };
        let recorded = |side: usize, select: fn(u64, usize) -> Select, number| {
            let (work, kernel) = (&works[side], [a.address, b.address][side]);
            let mut threads = Threads::new(work.number, work.submission, select(kernel, number));
            inputs[side].run(set_up, &mut threads);
            threads
        };
        let [a, b] = [0, 1].map(|side| {
            let threads = recorded(side, |kernel, _| Select::Digests { kernel }, 0);
            threads.digests().to_vec()
        });
        let differing = a.iter().zip(&b).enumerate().filter(|(_, (a, b))| a != b);
        // Payloads can differ in addresses. A few threads are compared value by value.
        for (number, _) in differing.take(4) {
            let both = [0, 1].map(|side| {
                let select = |kernel, number| Select::Number { kernel, number };
                recorded(side, select, number).into_thread()
            });
            let both = both.into_iter().flatten().collect();
            if let Some(compared) = compared(shader.stage, Some(number), both)
                && compared.parted.first.is_some()
            {
                return Some(compared);
            }
        }
    }
    None
}

fn survey(input: &Input, set_up: &SetUp<'_>, look: Look) -> (Survey, Option<Stop>) {
    let mut survey = Survey::new(look);
    let stop = input.run(set_up, &mut survey);
    (survey, stop)
}

impl Pass for Survey {
    fn label(&mut self, label: u64) -> bool {
        Survey::label(self, label);
        true
    }

    fn is_done(&mut self) -> bool {
        Survey::is_done(self)
    }
}

impl Pass for Threads {
    fn is_done(&mut self) -> bool {
        Threads::is_done(self)
    }
}

/// The word for a target.
pub fn target_name(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Color => "render target",
        Meaning::Depth(_) => "depth buffer",
        Meaning::Stencil(_) => "stencil buffer",
    }
}
