//! The history as text.

use genxml_sim::inspect::history::fragment::Lost;
use genxml_sim::inspect::history::{
    BlitTouch, Channels, DrawTouch, Entry, Fragment, Kind, Probe, Value,
};
use genxml_sim::machine::watched::{DepthTest, Output, StencilTest, TestTime, Tested};
use genxml_sim::mem::Va;
use genxml_sim::pixel_history::Answer;
use genxml_sim::surface::TileMode;
use std::io::{self, Write};

/// Writes the history.
pub fn write(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let probe = &answer.probe;
    let ([x, y], view) = (probe.at, &probe.view);
    let (level, surface) = (&view.level, &view.surface);
    write!(
        out,
        "pixel {x},{y} of {} {}x{} {} at {}",
        view.format(),
        level.width,
        level.height,
        tiling(surface.tile_mode),
        Va(surface.base)
    )?;
    for (wanted, words) in [
        (surface.layout.samples > 1, format!(", sample {}", probe.sample)),
        (level.number > 0, format!(", level {}", level.number)),
        (probe.slice > 0, format!(", slice {}", probe.slice)),
    ] {
        if wanted {
            write!(out, "{words}")?;
        }
    }
    match answer.draw {
        Some(draw) => writeln!(out, ", target of draw {draw}")?,
        None => writeln!(out)?,
    }
    for (number, entry) in answer.entries.iter().enumerate() {
        self::entry(out, probe, number + 1, entry)?;
    }
    if answer.entries.is_empty() {
        writeln!(out, "nothing touched the pixel")?;
    }
    writeln!(out, "value at the end: {}", optional(probe, answer.value.as_ref()))
}

pub fn entry(out: &mut dyn Write, probe: &Probe, number: usize, entry: &Entry) -> io::Result<()> {
    write!(out, "{number}. ")?;
    match &entry.draw {
        Some(draw) => write!(out, "{} {}", kind_of_draw(entry.kind), draw.number)?,
        None => write!(out, "{}", entry.kind.name())?,
    }
    match entry.at {
        Some(at) => {
            let exec = exec(entry);
            writeln!(out, ": submission {}{exec}, {at}", entry.submission)?;
        }
        None => writeln!(out, ": before submission {}{}", entry.submission, exec(entry))?,
    }
    if let Some(draw) = &entry.draw {
        self::draw(out, probe, draw)?;
    }
    if let Some(blit) = &entry.blit {
        self::blit(out, probe, blit)?;
    }
    let (old, new) = (optional(probe, entry.old.as_ref()), optional(probe, entry.new.as_ref()));
    match entry.old == entry.new {
        true => line(out, "value", &format!("{new}, unchanged")),
        false => line(out, "value", &format!("{old} -> {new}")),
    }
}

fn kind_of_draw(kind: Kind) -> &'static str {
    match kind {
        Kind::Clear => "fast clear, draw",
        Kind::Resolve => "resolve, draw",
        _ => "draw",
    }
}

fn exec(entry: &Entry) -> String {
    entry.label.map_or_else(String::new, |label| format!(" (exec {label})"))
}

fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "   {name:<10} {text}")
}

fn draw(out: &mut dyn Write, probe: &Probe, draw: &DrawTouch) -> io::Result<()> {
    let [all, clipped, culled] = draw.primitives;
    let topology = draw.topology.unwrap_or("?");
    let topology = topology.strip_prefix("3DPRIM_").unwrap_or(topology);
    if all > 0 {
        let mut text = format!("{topology}, {all} primitives");
        for (count, word) in [(clipped, "clipped"), (culled, "culled")] {
            if count > 0 {
                text += &format!(", {count} {word}");
            }
        }
        line(out, "drew", &text)?;
    }
    if let Some([x, y]) = draw.pixel.filter(|at| *at != probe.at) {
        line(out, "as", &format!("pixel {x},{y} of this draw's surface"))?;
    }
    draw.fragments.iter().try_for_each(|fragment| self::fragment(out, probe, fragment))
}

fn blit(out: &mut dyn Write, probe: &Probe, blit: &BlitTouch) -> io::Result<()> {
    let [left, top, right, bottom] = blit.rectangle;
    line(out, "rectangle", &format!("{left},{top} to {},{}", right - 1, bottom - 1))?;
    if let Some((base, [x, y])) = blit.source {
        line(out, "source", &format!("pixel {x},{y} of the surface at {}", Va(base)))?;
    }
    match blit.pixel {
        at if at == probe.at => Ok(()),
        [x, y] => line(out, "as", &format!("pixel {x},{y} of the destination")),
    }
}

fn fragment(out: &mut dyn Write, probe: &Probe, fragment: &Fragment) -> io::Result<()> {
    let primitive = &fragment.primitive;
    let vertices: Vec<String> = primitive.vertices[..primitive.count.clamp(1, 3)]
        .iter()
        .map(|vertex| match vertex {
            Some([x, y, z, _]) => format!("{x},{y} z {z}"),
            None => "not on the screen".into(),
        })
        .collect();
    let lost = fragment.lost_by(probe.sample);
    writeln!(
        out,
        "   primitive {} ({}, id {}): {}{}",
        primitive.number,
        primitive.shape,
        primitive.id,
        vertices.join(", "),
        match fragment.coverage {
            Some(_) => String::new(),
            None => format!(": {}", lost.map_or("?", Lost::name)),
        }
    )?;
    let Some(coverage) = &fragment.coverage else { return Ok(()) };
    let mut line = |name: &str, text: String| writeln!(out, "     {name:<10} {text}");
    let [b0, b1, b2] = coverage.barycentric;
    let facing = if coverage.back { "back" } else { "front" };
    line("at", format!("weights {b0}, {b1}, {b2}, w {}, faces {facing}", coverage.w))?;
    if probe.view.surface.layout.samples > 1 || lost == Some(Lost::Mask) {
        let (covered, left) = (coverage.rasterised, coverage.samples);
        line("samples", format!("covers {covered:#x}, {left:#x} after stipple and sample mask"))?;
    }
    for test in &fragment.tests {
        if let Some(stencil) = &test.stencil {
            line("stencil", format!("{}{}", stencil_text(stencil), time(test)))?;
        }
        if let Some(depth) = &test.depth {
            line("depth", format!("{}{}", depth_text(depth), time(test)))?;
        }
    }
    if let Some(shading) = &fragment.shading {
        let inputs: Vec<String> = coverage.inputs.iter().map(list).collect();
        if !inputs.is_empty() {
            line("inputs", inputs.join(" | "))?;
        }
        let kernel = Va(shading.kernel);
        let (channel, count) = (shading.channel, shading.instructions);
        line("shader", format!("kernel at {kernel}, channel {channel}, {count} instructions"))?;
        if let Some(discard) = &shading.discard {
            let offset = |at: Option<u32>| at.map_or("?".into(), |at| format!("+{at:#x}"));
            let (write, last) = (offset(discard.write), offset(discard.last));
            let why = match discard.flag {
                Some(flag) => format!("its flag was last set at +{flag:#x}"),
                None => format!("the last instruction for the pixel is at {last}"),
            };
            line("discard", format!("the write at {write} leaves out the pixel; {why}"))?;
        }
    }
    for output in &fragment.outputs {
        self::output(&mut line, probe, output)?;
    }
    if let Some(lost) = lost {
        line("lost", lost.name().into())?;
    }
    if fragment.old != fragment.new {
        let (old, new) =
            (optional(probe, fragment.old.as_ref()), optional(probe, fragment.new.as_ref()));
        line("pixel", format!("{old} -> {new}"))?;
    }
    Ok(())
}

fn output(
    line: &mut dyn FnMut(&str, String) -> io::Result<()>,
    probe: &Probe,
    output: &Output,
) -> io::Result<()> {
    if !output.enabled {
        return Ok(());
    }
    let has = |mask: u8| mask >> probe.sample & 1 == 1;
    let mut text = format!("{} to binding {}", color(output.color), output.binding);
    if let Some(second) = output.second {
        text += &format!(", second {}", color(second));
    }
    if let Some(omask) = output.omask {
        text += &format!(", oMask {omask:#x}");
    }
    if let Some(depth) = output.depth {
        text += &format!(", depth {depth}");
    }
    line("wrote", text)?;
    if has(output.shaded) && !has(output.kept) {
        line("alpha", "the alpha test or alpha to coverage removes the sample".into())?;
    }
    let Some(target) = &output.target else { return line("target", "null".into()) };
    if target.clears {
        return line("target", format!("{} is cleared or resolved", Va(target.base)));
    }
    if let Some(blend) = target.blends.get(probe.sample as usize).copied().flatten() {
        let equation = |[source, destination, function]: [Option<&'static str>; 3]| {
            let word = |name: Option<&'static str>, prefix| {
                name.map_or("?", |name| name.strip_prefix(prefix).unwrap_or(name))
            };
            let factor = |name| word(name, "BLENDFACTOR_");
            let function = word(function, "BLENDFUNCTION_");
            format!("{} {} {function}", factor(source), factor(destination))
        };
        let [color, alpha] = blend.equations;
        let mut how = equation(color);
        if alpha != color {
            how += &format!(", alpha {}", equation(alpha));
        }
        line("blend", how)?;
        let (source, destination) = (list(&blend.source), list(&blend.destination));
        line("", format!("source {source}, destination {destination}"))?;
        line("", format!("result {}", list(&blend.result)))?;
    }
    Ok(())
}

fn time(test: &Tested) -> &'static str {
    match test.time {
        TestTime::Early => "",
        TestTime::Provisional => ", first test",
        TestTime::Late => ", after the shader",
    }
}

fn outcome(passed: bool) -> &'static str {
    if passed { "passed" } else { "failed" }
}

fn function(name: &str) -> &str {
    name.strip_prefix("COMPAREFUNCTION_").unwrap_or(name)
}

fn depth_text(test: &DepthTest) -> String {
    let written = if test.written { ", written" } else { "" };
    let (function, outcome) = (function(test.function), outcome(test.passed));
    let DepthTest { depth, value, stored, stored_depth, .. } = test;
    format!(
        "{depth} {function} stored {stored_depth}: {outcome}{written} ({value:#x}, {stored:#x})"
    )
}

fn stencil_text(test: &StencilTest) -> String {
    let StencilTest { reference, mask, stored, after, .. } = test;
    let (function, outcome) = (function(test.function), outcome(test.passed));
    let change = if after == stored { String::new() } else { format!(", becomes {after:#x}") };
    format!("{reference:#x} {function} stored {stored:#x} (mask {mask:#x}): {outcome}{change}")
}

/// A colour from a shader. It is not known whether the bits are floats; small numbers are integers.
fn color(bits: [u32; 4]) -> String {
    let integers = bits.iter().all(|bits| *bits < 0x1000) && bits != [0; 4];
    match integers {
        true => format!("{bits:?}"),
        false => list(&bits.map(f32::from_bits)),
    }
}

fn list(values: &[f32; 4]) -> String {
    let [a, b, c, d] = values;
    format!("{a} {b} {c} {d}")
}

/// The bytes of a value, and what they mean.
fn value(probe: &Probe, value: &Value) -> String {
    let mut text: String = value.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    text += &match probe.channels(value) {
        Channels::Floats(values) => format!(" ({})", list(&values)),
        Channels::Integers(values) => format!(" ({values:?})"),
        Channels::Depth(depth) => format!(" ({depth})"),
        Channels::Stencil(_) | Channels::None => String::new(),
    };
    if value.cleared {
        text += ", fast-cleared";
    }
    text
}

fn optional(probe: &Probe, found: Option<&Value>) -> String {
    found.map_or_else(|| "no memory".into(), |found| value(probe, found))
}

/// The word for the order of bytes.
pub fn tiling(mode: TileMode) -> &'static str {
    match mode {
        TileMode::Linear => "linear",
        TileMode::X => "X-tiled",
        TileMode::Y => "Y-tiled",
        TileMode::W => "W-tiled",
    }
}
