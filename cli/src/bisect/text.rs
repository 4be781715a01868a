//! The report as text.

use crate::why::text as history;
use genxml_eu::kernel::Located;
use genxml_sim::bisect::{
    ComputeParted, DrawParted, PacketParted, PixelParted, Report, ThreadsParted, Verdict, Writer,
    target_name,
};
use genxml_sim::eu::debug::Location;
use genxml_sim::inspect::bisect::differ::{Dword, First};
use genxml_sim::inspect::bisect::{Kernels, Thread, Work};
use genxml_sim::mem::Va;
use std::io::{self, Write};
use std::path::Path;

/// The names of the two runs.
pub const NAMES: [&str; 2] = ["good", "bad"];

/// Maximum number of draws, packets or registers that are listed.
const MOST: usize = 16;

/// Writes the report.
pub fn write(out: &mut dyn Write, paths: [&Path; 2], report: &Report) -> io::Result<()> {
    for (side, name) in NAMES.iter().enumerate() {
        writeln!(out, "{name:<5} {}: {} draws", paths[side].display(), report.draws[side])?;
    }
    for (side, works) in report.unpaired.iter().enumerate() {
        for work in works.iter().take(MOST) {
            writeln!(out, "only {}: draw {}: {}", NAMES[side], work.number, work.kind())?;
        }
        if works.len() > MOST {
            writeln!(out, "only {}: {} other draws", NAMES[side], works.len() - MOST)?;
        }
    }
    match &report.verdict {
        Verdict::Same if report.unpaired.iter().all(Vec::is_empty) => {
            writeln!(out, "no difference after any submission")
        }
        Verdict::Same if report.draws[0] == report.unpaired[0].len() => {
            writeln!(out, "no draw has a partner in the other run")
        }
        Verdict::Same => {
            writeln!(out, "the targets of all other draws are equal after each submission")
        }
        Verdict::Draw(parted) => draw(out, parted),
        Verdict::Compute(parted) => compute(out, parted),
        Verdict::Packet(parted) => packet(out, parted),
    }
}

/// The position of a draw.
fn position(work: &Work) -> String {
    let exec = work.label.map_or_else(String::new, |label| format!(" (exec {label})"));
    format!("draw {}: submission {}{exec}, {}", work.number, work.submission, work.at)
}

fn draw(out: &mut dyn Write, parted: &DrawParted) -> io::Result<()> {
    let [good, _] = &parted.works;
    let when = if parted.before { "before" } else { "in" };
    writeln!(out, "the first difference is {when} draw {}: {}", good.number, good.kind())?;
    for (name, work) in NAMES.iter().zip(&parted.works) {
        writeln!(out, "  {name:<9} {}", position(work))?;
    }
    if let Some(target) = good.targets.get(parted.target) {
        let view = &target.view;
        let binding = view.binding.map_or_else(String::new, |binding| format!(" {binding}"));
        let name = target_name(view.meaning);
        let (width, height) = (view.level.width, view.level.height);
        let format = view.format();
        writeln!(out, "  target    {name}{binding}, {format} {width}x{height}")?;
    }
    match &parted.difference {
        Ok(difference) => {
            let [left, top, right, bottom] = difference.rectangle;
            let count = difference.count;
            writeln!(out, "  differs   {count} samples, in {left},{top} to {right},{bottom}")?;
        }
        Err(why) => writeln!(out, "  differs   the targets cannot be compared: {why}")?,
    }
    state(out, parted)?;
    match &parted.pixel {
        Some(pixel) => self::pixel(out, pixel),
        None => Ok(()),
    }
}

fn state(out: &mut dyn Write, parted: &DrawParted) -> io::Result<()> {
    let [good, bad] = &parted.works;
    if !parted.state.is_empty() || parted.only.iter().any(|only| !only.is_empty()) {
        writeln!(out, "state that differs (addresses, and the data there, are not compared):")?;
    }
    for diff in parted.state.iter().take(MOST) {
        writeln!(out, "  {}", diff.container.name)?;
        for change in &diff.changes {
            writeln!(out, "    {change}")?;
        }
    }
    if parted.state.len() > MOST {
        writeln!(out, "  {} other packets", parted.state.len() - MOST)?;
    }
    for (name, only) in NAMES.iter().zip(&parted.only) {
        if !only.is_empty() {
            writeln!(out, "  only {name}: {}", only.join(", "))?;
        }
    }
    if good.number == bad.number {
        writeln!(out, "genx diff GOOD BAD --draw {} compares everything else", good.number)?;
    }
    Ok(())
}

fn pixel(out: &mut dyn Write, pixel: &PixelParted) -> io::Result<()> {
    let at = &pixel.at;
    let sample = match pixel.answers[0].probe.view.surface.layout.samples {
        0 | 1 => String::new(),
        _ => format!(", sample {}", at.sample),
    };
    writeln!(out, "pixel {},{}{sample}:", at.x, at.y)?;
    if let Some((_, stage)) = pixel.fragments {
        writeln!(out, "  stage     {}", stage.name())?;
    }
    for (side, name) in NAMES.iter().enumerate() {
        let answer = &pixel.answers[side];
        let Some(entry) = pixel.entries[side].and_then(|index| answer.entries.get(index)) else {
            writeln!(out, "{name}: the history has no such entry")?;
            continue;
        };
        writeln!(out, "{name}:")?;
        let mut entry = entry.clone();
        if let Some(draw) = &mut entry.draw {
            draw.fragments = pixel.fragment(side).cloned().into_iter().collect();
        }
        let number = pixel.entries[side].map_or(0, |index| index + 1);
        history::entry(out, &answer.probe, number, &entry)?;
    }
    match &pixel.threads {
        Some(threads) => self::threads(out, threads),
        None => Ok(()),
    }
}

/// The name of a dword of the register file.
pub fn register(offset: u16) -> String {
    Location::File(offset).name(4)
}

/// The dwords that differ.
fn dwords(out: &mut dyn Write, list: &[Dword]) -> io::Result<()> {
    for &(offset, good, bad) in list.iter().take(MOST) {
        let float = |bits: u32| f32::from_bits(bits);
        writeln!(
            out,
            "    {:<8} good {good:#010x} ({}), bad {bad:#010x} ({})",
            register(offset),
            float(good),
            float(bad)
        )?;
    }
    if list.len() > MOST {
        writeln!(out, "    and {} other dwords", list.len() - MOST)?;
    }
    Ok(())
}

/// The assembly of a step of a thread.
pub fn assembly((thread, kernels): &(Thread, Kernels), step: usize) -> Option<String> {
    let step = thread.steps.get(step)?;
    let text = match kernels.get(&(thread.kernel, step.ip)) {
        Some(instruction) => {
            let located = Located { position: step.ip.into(), instruction: *instruction };
            located.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
        }
        None => "?".into(),
    };
    Some(format!("+{:#06x} {:08x} {text}", step.ip, step.mask))
}

fn threads(out: &mut dyn Write, threads: &ThreadsParted) -> io::Result<()> {
    let [(good, _), (bad, _)] = &threads.threads;
    let number = threads.number.map_or_else(String::new, |number| format!(" {number}"));
    writeln!(
        out,
        "{} thread{number}: kernels at {} and {}",
        threads.stage,
        Va(good.kernel),
        Va(bad.kernel)
    )?;
    if !threads.parted.payload.is_empty() {
        writeln!(out, "  payload:")?;
        dwords(out, &threads.parted.payload)?;
    }
    let line = |out: &mut dyn Write, side: usize, step: Option<usize>| {
        let text = step.and_then(|step| assembly(&threads.threads[side], step));
        let text = text.unwrap_or_else(|| "the thread ends".into());
        writeln!(out, "    {:<5} {text}", NAMES[side])
    };
    match &threads.parted.first {
        None => writeln!(out, "  the instructions write equal values"),
        Some(First::Instruction { steps, dwords: list }) => {
            writeln!(out, "  the first instruction that differs:")?;
            line(out, 0, steps[0])?;
            line(out, 1, steps[1])?;
            dwords(out, list)
        }
        Some(First::Values { steps, dwords: list }) => {
            writeln!(out, "  the first instruction that writes other values:")?;
            line(out, 0, Some(steps[0]))?;
            line(out, 1, Some(steps[1]))?;
            dwords(out, list)
        }
    }
}

fn compute(out: &mut dyn Write, parted: &ComputeParted) -> io::Result<()> {
    let [good, bad] = parted.execs;
    writeln!(out, "the first difference is in a dispatch: exec {good} (good), exec {bad} (bad)")?;
    let memory = &parted.memory;
    writeln!(out, "  differs   {} dwords, the first one is:", parted.count)?;
    for (side, name) in NAMES.iter().enumerate() {
        let address = memory.objects[side].wrapping_add(memory.offset);
        let object = Va(memory.objects[side]);
        writeln!(
            out,
            "  {name:<9} {:#010x} at {} (object at {object} +{:#x})",
            memory.values[side],
            Va(address),
            memory.offset
        )?;
        writeln!(out, "            {}", writer(&parted.writers[side]))?;
    }
    Ok(())
}

fn writer(writer: &Writer) -> String {
    let Some(at) = writer.at else { return "no further packet changes it".into() };
    let dispatch = match (writer.dispatch, writer.kernel) {
        (Some(dispatch), Some(kernel)) => {
            format!("dispatch {dispatch}, kernel at {}, ", Va(kernel))
        }
        _ => String::new(),
    };
    format!("{dispatch}{at} writes {:#010x}", writer.value)
}

fn packet(out: &mut dyn Write, parted: &PacketParted) -> io::Result<()> {
    let name = parted.writers[0].at.packet;
    writeln!(out, "the first difference is in a packet: {name} writes other bytes")?;
    for (side, name) in NAMES.iter().enumerate() {
        let writer = &parted.writers[side];
        let exec = writer.label.map_or_else(String::new, |label| format!(" (exec {label})"));
        let what = match (writer.draw, writer.dispatch) {
            (Some(draw), _) => format!("draw {}, ", draw + 1),
            (None, Some((dispatch, kernel))) => {
                format!("dispatch {dispatch}, kernel at {}, ", Va(kernel))
            }
            (None, None) => String::new(),
        };
        writeln!(out, "  {name:<9} submission {}{exec}, {what}{}", writer.submission, writer.at)?;
    }
    let kind = if parted.writers[0].draw.is_some() { " outside of its targets" } else { "" };
    let [good, bad] = parted.bytes;
    writeln!(out, "  wrote     {good} bytes (good), {bad} bytes (bad){kind}")?;
    let Some(value) = parted.value else {
        return writeln!(out, "  differs   the positions of the bytes, or their number");
    };
    writeln!(out, "  differs   the first dword that differs is:")?;
    for (side, name) in NAMES.iter().enumerate() {
        writeln!(out, "  {name:<9} {:#010x} at {}", value.values[side], Va(value.addresses[side]))?;
    }
    Ok(())
}
