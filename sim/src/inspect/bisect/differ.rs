//! Compares what two runs recorded: pairs their draws, and finds the first differences.

use super::survey::Work;
use super::texels::{Position, Texels};
use super::threads::{Kernels, Step, Thread};
use crate::eu::regions::FILE_BYTES;
use crate::inspect::history::{Entry, Fragment};
use genxml::diff::{Pair, common, pairs};
use std::collections::HashMap;

/// Maximum number of samples that are examples of a difference.
const EXAMPLES: usize = 2;

/// Pairs the draws of two runs: as many as possible with the same [`kind`](Work::kind), without
/// changing the order. For a draw of only one run, the other index is `None`.
pub fn pair(good: &[Work], bad: &[Work]) -> Vec<Pair> {
    let kinds = |works: &[Work]| works.iter().map(Work::kind).collect::<Vec<_>>();
    pair_kinds([&kinds(good), &kinds(bad)])
}

/// Pairs the elements of two lists: as many as possible with the same text, without changing the
/// order.
pub fn pair_kinds([good, bad]: [&[String]; 2]) -> Vec<Pair> {
    let mut numbers = HashMap::new();
    let mut of = |kinds: &'_ [String]| -> Vec<u32> {
        let number = |kind: &String| {
            let next = numbers.len() as u32;
            *numbers.entry(kind.clone()).or_insert(next)
        };
        kinds.iter().map(number).collect()
    };
    let (good, bad) = (of(good), of(bad));
    pairs((&good, &bad), (&good, &bad))
}

/// The difference of two targets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Number of samples with different values.
    pub count: usize,
    /// The first column and row, and the last column and row, of the pixels with differences.
    pub rectangle: [u32; 4],
    /// Some of the samples: the first one, and others in equal distances.
    pub examples: Vec<Position>,
}

/// Compares the values of two targets; `None` if they are equal.
///
/// # Errors
/// What differs, if the targets cannot be compared value by value.
pub fn compare(good: &Texels, bad: &Texels) -> Result<Option<Difference>, String> {
    let of = |texels: &Texels| {
        let Texels { format, width, height, planes, .. } = texels;
        format!("{format} {width}x{height}, {} slices and samples", planes.len())
    };
    if of(good) != of(bad) || good.values.len() != bad.values.len() {
        return Err(format!("{} against {}", of(good), of(bad)));
    }
    let differs: Vec<usize> =
        (0..good.count()).filter(|index| good.value(*index) != bad.value(*index)).collect();
    if differs.is_empty() {
        return Ok(None);
    }
    let positions = differs.iter().map(|index| good.position(*index));
    let rectangle = positions.fold([u32::MAX, u32::MAX, 0, 0], |[left, top, right, bottom], at| {
        [left.min(at.x), top.min(at.y), right.max(at.x), bottom.max(at.y)]
    });
    // The history of a pixel covers only the first slice.
    let slice = good.planes.first().map_or(0, |(slice, _)| *slice);
    let usable: Vec<_> = differs
        .iter()
        .map(|index| good.position(*index))
        .filter(|position| position.slice == slice)
        .collect();
    let step = usable.len().div_ceil(EXAMPLES).max(1);
    let examples = usable.into_iter().step_by(step).collect();
    Ok(Some(Difference { count: differs.len(), rectangle, examples }))
}

/// The indices of the first entries of two histories that differ, in kind or in the value after the
/// entry. `None` if the histories are equal; an index is `None` if that history has ended.
pub fn entries(good: &[Entry], bad: &[Entry]) -> Option<[Option<usize>; 2]> {
    let value = |entry: &Entry| entry.new.as_ref().map(|value| value.bytes.clone());
    let differs = |(a, b): (&Entry, &Entry)| a.kind != b.kind || value(a) != value(b);
    let first = good.iter().zip(bad).position(differs);
    let common = good.len().min(bad.len());
    let at = first.or((good.len() != bad.len()).then_some(common))?;
    Some([(at < good.len()).then_some(at), (at < bad.len()).then_some(at)])
}

/// The stage of the pipeline in which two runs of a primitive part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Only one of the runs has the primitive at the pixel.
    Missing,
    /// The vertices on the screen: the vertex shader, or another stage before the rasteriser.
    Vertices,
    /// What becomes of the primitive before the rasteriser: clipped, culled, outside of the
    /// scissor.
    Fate,
    /// The samples that it covers, or its facing.
    Coverage,
    /// The stencil and depth tests before the shader.
    Tests,
    /// The inputs of the pixel shader.
    Inputs,
    /// What the pixel shader writes.
    Shader,
    /// Tests after the shader, blending, and the conversion to the format of the target.
    Output,
}

impl Stage {
    /// The words for it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Missing => "only one run has the primitive",
            Stage::Vertices => "vertices",
            Stage::Fate => "clipping, culling or scissor",
            Stage::Coverage => "coverage",
            Stage::Tests => "depth or stencil test",
            Stage::Inputs => "inputs of the pixel shader",
            Stage::Shader => "pixel shader",
            Stage::Output => "late tests, blending or conversion",
        }
    }
}

/// The first fragments of a draw that differ: their indices in the two lists, and the stage.
pub fn fragments(good: &[Fragment], bad: &[Fragment]) -> Option<([Option<usize>; 2], Stage)> {
    let stage = |(a, b): (&Fragment, &Fragment)| -> Option<Stage> {
        let bits = |fragment: &Fragment| {
            fragment.primitive.vertices.map(|vertex| vertex.map(|vertex| vertex.map(f32::to_bits)))
        };
        if a.primitive.number != b.primitive.number || a.primitive.shape != b.primitive.shape {
            return Some(Stage::Missing);
        }
        if bits(a) != bits(b) {
            return Some(Stage::Vertices);
        }
        if a.primitive.fate != b.primitive.fate {
            return Some(Stage::Fate);
        }
        let shape = |fragment: &Fragment| {
            fragment.coverage.as_ref().map(|it| (it.rasterised, it.samples, it.back))
        };
        if shape(a) != shape(b) {
            return Some(Stage::Coverage);
        }
        if a.tests != b.tests && a.shading.is_none() == b.shading.is_none() {
            return Some(Stage::Tests);
        }
        if a.shading.is_none() != b.shading.is_none() {
            return Some(Stage::Tests);
        }
        let inputs = |fragment: &Fragment| {
            let inputs = fragment.coverage.as_ref().map(|it| it.inputs.clone());
            inputs.map(|inputs| inputs.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        if inputs(a) != inputs(b) {
            return Some(Stage::Inputs);
        }
        let wrote = |fragment: &Fragment| -> Vec<_> {
            let outputs = fragment.outputs.iter();
            outputs
                .map(|it| (it.color, it.second, it.omask, it.depth.map(f32::to_bits), it.shaded))
                .collect()
        };
        if wrote(a) != wrote(b) {
            return Some(Stage::Shader);
        }
        (a.new != b.new).then_some(Stage::Output)
    };
    let first = good.iter().zip(bad).enumerate().find_map(|(at, both)| Some((at, stage(both)?)));
    let common = good.len().min(bad.len());
    match first {
        Some((at, stage)) => Some(([Some(at), Some(at)], stage)),
        None if good.len() == bad.len() => None,
        None => {
            let index = |list: &[Fragment]| (common < list.len()).then_some(common);
            Some(([index(good), index(bad)], Stage::Missing))
        }
    }
}

/// A dword of the register file that differs: its byte offset (see [`crate::eu::regions`]), and the
/// two values.
pub type Dword = (u16, u32, u32);

/// Where two threads part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum First {
    /// One thread executes an instruction that the other does not execute.
    Instruction {
        /// The indices of the next steps; `None` at the end of a thread.
        steps: [Option<usize>; 2],
        /// Values that the two steps leave in the registers that they write, if they differ.
        dwords: Vec<Dword>,
    },
    /// Equal instructions wrote different values.
    Values {
        /// The indices of the steps.
        steps: [usize; 2],
        /// The values.
        dwords: Vec<Dword>,
    },
}

/// The differences of two threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parted {
    /// The dwords of the payload that differ.
    pub payload: Vec<Dword>,
    /// The first difference of the instructions; `None` if there is no difference.
    pub first: Option<First>,
}

/// Compares two threads instruction by instruction. If their kernels differ, the instructions that
/// they have in common are paired.
pub fn threads(good: (&Thread, &Kernels), bad: (&Thread, &Kernels)) -> Parted {
    let mut numbers = HashMap::new();
    let mut texts = |(thread, kernels): (&Thread, &Kernels)| -> Vec<u32> {
        let number = |ip: u32| {
            let text = kernels.get(&(thread.kernel, ip)).map(|it| format!("{it:?}"));
            let next = numbers.len() as u32;
            *numbers.entry(text.unwrap_or_default()).or_insert(next)
        };
        thread.steps.iter().map(|step| step.ip).map(number).collect()
    };
    let (a_texts, b_texts) = (texts(good), texts(bad));
    let ((a, _), (b, _)) = (good, bad);
    let mut files = [a, b].map(|thread| {
        let mut file = thread.start.clone();
        file.resize(FILE_BYTES, 0);
        file
    });
    let payload = (0..FILE_BYTES as u16 / 4)
        .filter_map(|index| differs(&files, 4 * index))
        .collect::<Vec<Dword>>();
    let mut next = [0, 0];
    let ends = (a.steps.len(), b.steps.len());
    for (at_a, at_b) in common(&a_texts, &b_texts).into_iter().chain([ends]) {
        let steps = [a.steps.get(next[0]), b.steps.get(next[1])];
        if next != [at_a, at_b] {
            let dwords = execute(&mut files, steps);
            let steps = [steps[0].map(|_| next[0]), steps[1].map(|_| next[1])];
            return Parted { payload, first: Some(First::Instruction { steps, dwords }) };
        }
        let dwords = execute(&mut files, steps);
        if !dwords.is_empty() {
            let first = First::Values { steps: next, dwords };
            return Parted { payload, first: Some(first) };
        }
        next = [at_a + 1, at_b + 1];
    }
    Parted { payload, first: None }
}

/// Writes the changes of a step of each thread. Returns the dwords that at least one of the steps
/// has changed and that differ now.
fn execute(files: &mut [Vec<u8>; 2], steps: [Option<&Step>; 2]) -> Vec<Dword> {
    let mut offsets = Vec::new();
    for (file, step) in files.iter_mut().zip(steps) {
        for &(offset, value) in step.map(|step| step.changes.as_slice()).unwrap_or_default() {
            if let Some(dword) = file.get_mut(usize::from(offset)..usize::from(offset) + 4) {
                dword.copy_from_slice(&value.to_le_bytes());
            }
            offsets.push(offset);
        }
    }
    offsets.sort_unstable();
    offsets.dedup();
    offsets.into_iter().filter_map(|offset| differs(files, offset)).collect()
}

fn differs(files: &[Vec<u8>; 2], offset: u16) -> Option<Dword> {
    let dword = |file: &Vec<u8>| {
        let bytes = file.get(usize::from(offset)..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let [a, b] = files;
    let (a, b) = (dword(a)?, dword(b)?);
    (a != b).then_some((offset, a, b))
}
