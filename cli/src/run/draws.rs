//! `--observe draw`: each 3DPRIMITIVE with its state, its counts, and pictures of its targets.

use super::number::counted;
use crate::output::{Error, write_picture};
use genxml_sim::Place;
use genxml_sim::inspect::image::Image;
use genxml_sim::inspect::summary::{Blending, Name, Summary, Target, Test};
use genxml_sim::machine::drawing::Counters;
use genxml_sim::machine::drawing::Drawing;
use genxml_sim::machine::events::Event;
use genxml_sim::mem::Va;
use genxml_sim::render::depth::{DepthFormat, Plane};
use genxml_sim::render::render_target::Purpose;
use genxml_sim::surface::{AuxiliaryKind, Surface, SurfaceKind, TileMode};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// The draws of a run.
#[derive(Default)]
pub struct Draws {
    list: Vec<Draw>,
    submissions: u64,
    directory: Option<PathBuf>,
    result: Option<Error>,
}

/// A draw.
pub(crate) struct Draw {
    /// Number of the draw, from 1 on.
    pub number: usize,
    /// Number of the submission, from 1 on.
    pub submission: u64,
    /// Position of the 3DPRIMITIVE.
    pub at: Place,
    /// Its state.
    pub summary: Summary,
    /// The counters before it.
    pub before: Counters,
    /// Counts of the draw; `None` if a fault ended the draw.
    pub done: Option<Counters>,
    /// Names of the pictures.
    pub pictures: Vec<String>,
}

impl Draws {
    /// An empty list. Pictures of draws are written to `directory`, if it is given.
    pub fn new(directory: Option<PathBuf>) -> Draws {
        Draws { directory, ..Draws::default() }
    }

    /// Records an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Draw(drawing) => {
                self.list.push(Draw {
                    number: self.list.len() + 1,
                    submission: self.submissions,
                    at: drawing.at,
                    summary: drawing.summary(),
                    before: drawing.counters(),
                    done: None,
                    pictures: Vec::new(),
                });
                self.pictures(drawing, "before");
            }
            Event::DrawEnd(drawing) => {
                if let Some(draw) = self.list.last_mut() {
                    draw.done = Some(drawing.counters().since(&draw.before));
                }
                self.pictures(drawing, "after");
            }
            _ => {}
        }
    }

    /// Writes pictures of the current contents of the newest draw's targets.
    fn pictures(&mut self, drawing: &Drawing<'_>, when: &str) {
        let (Some(directory), Some(draw), None) =
            (&self.directory, self.list.last_mut(), &self.result)
        else {
            return;
        };
        let Summary { targets, depth, stencil, .. } = &draw.summary;
        let mut images: Vec<(String, Image)> = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            images.extend(drawing.color(target).map(|image| (format!("rt{number}"), image)));
        }
        if let Some(depth) = depth.as_ref().filter(|_| draw.summary.uses_depth()) {
            images.push(("depth".into(), drawing.depth(depth)));
        }
        if let Some(stencil) = stencil.as_ref().filter(|stencil| stencil.test.enabled) {
            images.push(("stencil".into(), drawing.stencil(stencil)));
        }
        for (what, image) in images {
            let name = format!("draw{}-{when}-{what}.png", draw.number);
            match write_picture(&directory.join(&name), image.width, image.height, &image.rgba) {
                Ok(()) => draw.pictures.push(name),
                Err(error) => self.result = Some(error),
            }
        }
    }

    /// Returns the draws.
    ///
    /// # Errors
    /// If a picture could not be written.
    pub fn finish(mut self) -> Result<Draws, Error> {
        match self.result.take() {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    /// Writes a paragraph for each draw.
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.list.iter().try_for_each(|draw| draw.text(out))
    }

    /// An array with an object for each draw.
    pub fn json(&self) -> Value {
        self.list.iter().map(Draw::json).collect()
    }
}

/// Writes the state of a draw, as `--observe draw` prints it. Draws and submissions count from 1 on.
pub(crate) fn write_state(
    out: &mut dyn Write,
    drawing: &Drawing<'_>,
    number: u64,
    submission: u64,
) -> io::Result<()> {
    let draw = Draw {
        number: number as usize,
        submission,
        at: drawing.at,
        summary: drawing.summary(),
        before: Counters::default(),
        done: None,
        pictures: Vec::new(),
    };
    draw.state(out)
}

/// Writes a line; nothing if `text` is empty.
fn line(out: &mut dyn Write, name: &str, text: String) -> io::Result<()> {
    if text.is_empty() { Ok(()) } else { writeln!(out, "  {name:<13} {text}") }
}

impl Draw {
    /// Writes a paragraph.
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.state(out)?;
        line(out, "did", self.counts())?;
        line(out, "pictures", self.pictures.join(" "))
    }

    /// Writes the state.
    fn state(&self, out: &mut dyn Write) -> io::Result<()> {
        let Summary { targets, depth, stencil, .. } = &self.summary;
        let (number, submission, address) = (self.number, self.submission, Va(self.at.address));
        writeln!(out, "draw {number}: submission {submission}, 3DPRIMITIVE at {address}")?;
        let mut line = |name: &str, text: String| line(out, name, text);
        line("draws", self.range())?;
        line("shaders", self.shaders())?;
        for (number, target) in targets.iter().enumerate() {
            line(&format!("target {number}"), self.target(target))?;
        }
        if self.summary.more_targets {
            line("target", "others, whose numbers the kernel computes".into())?;
        }
        if let Some(depth) = depth {
            let mut uses = vec![format!("{} {}", format_of(depth.format), extent(&depth.plane))];
            if depth.hierarchical {
                uses.push("HiZ".into());
            }
            test(&depth.test, &mut uses);
            line("depth", uses.join(", "))?;
        }
        if let Some(stencil) = stencil {
            let mut uses = vec![extent(&stencil.plane)];
            test(&stencil.test, &mut uses);
            line("stencil", uses.join(", "))?;
        }
        line("raster", self.raster())?;
        for problem in &self.summary.problems {
            line("problem", problem.clone())?;
        }
        Ok(())
    }

    /// Formats the vertices: `TRILIST of 36 vertices by WORD index, 2 instances`
    pub fn range(&self) -> String {
        let Summary { range, indices, .. } = &self.summary;
        let topology = word(self.summary.topology, "3DPRIM_");
        let count = match self.summary.auto {
            true => "as many vertices as stream output wrote".into(),
            false => format!("{} vertices", counted(range.vertices.into())),
        };
        let mut text = format!("{topology} of {count}");
        if let Some(indices) = indices {
            let address = Va(indices.address);
            text += &format!(" by {} index at {address}", word(indices.format, ""));
        }
        if range.start != 0 {
            text += &format!(" from {}", range.start);
        }
        if range.base_vertex != 0 {
            text += &format!(", {:+} to each index", range.base_vertex);
        }
        text += &match range.instances {
            1 => ", 1 instance".into(),
            count => format!(", {} instances", counted(count.into())),
        };
        if range.start_instance != 0 {
            text += &format!(" from {}", range.start_instance);
        }
        if self.summary.indirect {
            text += ", from registers";
        }
        text
    }

    /// Formats the shaders: `VS SIMD8 +0x0, PS SIMD8 +0x1c0 SIMD16 +0x400`
    fn shaders(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        for shader in &self.summary.shaders {
            let kernels: Vec<String> = shader
                .kernels
                .iter()
                .map(|kernel| format!("{} +{:#x}", kernel.dispatch, kernel.offset))
                .collect();
            words.push(format!("{} {}", shader.stage, kernels.join(" ")));
            if let Some(te) = self.summary.tessellator.filter(|_| shader.stage == "HS") {
                words.push(format!("TE {} {}", word(te.domain, ""), word(te.partitioning, "")));
            }
        }
        if self.summary.stream_output {
            words.push("stream output".into());
        }
        if words.is_empty() { "none".into() } else { words.join(", ") }
    }

    /// Formats a target: `binding 0: R8G8B8A8_UNORM 512x512 linear at 0x..., replaces`
    fn target(&self, target: &Target) -> String {
        let surface = &target.surface;
        let mut text = format!("binding {}: ", target.binding);
        if surface.kind == SurfaceKind::Null {
            return text + "null";
        }
        text += &format!("{} {}", word(surface.format.name(), ""), level(surface, target));
        if surface.auxiliary.kind != AuxiliaryKind::None {
            text += &format!(", {} at {}", auxiliary(surface), Va(surface.auxiliary.base));
        }
        text += match self.summary.purpose {
            Purpose::Draw => "",
            Purpose::FastClear => ", fast clear",
            Purpose::Resolve => ", resolve",
        };
        match &target.blending {
            Some(how) => text + ", " + &blending(how),
            None => text,
        }
    }

    fn raster(&self) -> String {
        let Summary { viewports, depth_ranges, scissors, rectangle, samples, .. } = &self.summary;
        if !self.summary.rasterised {
            return "nothing".into();
        }
        let mut words = vec![match samples {
            1 => "1 sample".into(),
            samples => format!("{samples} samples"),
        }];
        words.push(format!("culls {}", word(self.summary.cull, "CULLMODE_").to_lowercase()));
        if !self.summary.transforms {
            words.push("positions in pixels".into());
        } else if let Some([left, upper, right, lower]) = viewports.first() {
            let more = more(viewports.len());
            words.push(format!("viewport {left},{upper} to {right},{lower}{more}"));
        }
        if let Some([least, greatest]) = depth_ranges.first() {
            words.push(format!("depth {least} to {greatest}"));
        }
        if let Some(list) = scissors
            && let Some([left, upper, right, lower]) = list.first()
        {
            words.push(format!("scissor {left},{upper} to {right},{lower}{}", more(list.len())));
        }
        let [left, upper, right, lower] = rectangle;
        words.push(format!("rectangle {left},{upper} to {right},{lower}"));
        words.join(", ")
    }

    /// Formats the counts, without those whose counters were off.
    fn counts(&self) -> String {
        let Some(done) = &self.done else { return "did not complete".into() };
        let words = self.counters(done).into_iter().filter_map(|(name, count)| {
            let words = name.replace('_', " ");
            count.map(|count| format!("{words} {}", counted(count)))
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// Names and counts; `None` if the counter was off.
    fn counters(&self, done: &Counters) -> [(&'static str, Option<u64>); 14] {
        let on = &self.summary.statistics;
        [
            ("vertices", on.fetch.then_some(done.vertices)),
            ("primitives", on.fetch.then_some(done.primitives)),
            ("vs_invocations", on.vs.then_some(done.vs_invocations)),
            ("hs_invocations", on.hs.then_some(done.hs_invocations)),
            ("ds_invocations", on.ds.then_some(done.ds_invocations)),
            ("gs_invocations", on.gs.then_some(done.gs_invocations)),
            ("gs_primitives", on.gs.then_some(done.gs_primitives)),
            ("clipper_primitives", on.clip.then_some(done.clipper_primitives)),
            ("clipped_primitives", on.setup.then_some(done.clipped_primitives)),
            ("pixels_shaded", on.pixels.then_some(done.ps_invocations)),
            ("samples_passed", on.depth.then_some(done.depth_passed)),
            ("threads", Some(done.threads)),
            ("instructions", Some(done.instructions)),
            ("pixels_written", Some(done.pixels)),
        ]
    }

    /// An object. Scripts depend on the names.
    pub fn json(&self) -> Value {
        let Summary { range, .. } = &self.summary;
        let shaders: Vec<Value> = self
            .summary
            .shaders
            .iter()
            .map(|shader| {
                let kernel = |kernel: &genxml_sim::inspect::summary::KernelSummary| {
                    json!({
                        "dispatch": kernel.dispatch,
                        "offset": kernel.offset,
                        "address": hex(kernel.address),
                    })
                };
                let kernels: Vec<Value> = shader.kernels.iter().map(kernel).collect();
                json!({ "stage": shader.stage, "kernels": kernels })
            })
            .collect();
        let depth = self.summary.depth.as_ref().map(|depth| {
            let mut value = buffer_json(&depth.plane, &depth.test);
            value["format"] = format_of(depth.format).into();
            value["hierarchical"] = depth.hierarchical.into();
            value
        });
        let stencil = self.summary.stencil.as_ref();
        let stencil = stencil.map(|stencil| buffer_json(&stencil.plane, &stencil.test));
        let indices = self.summary.indices.as_ref().map(|buffer| {
            json!({
                "format": buffer.format,
                "address": hex(buffer.address),
                "bytes": buffer.bytes,
            })
        });
        let counts = self.done.as_ref().map(|done| {
            let entries = self
                .counters(done)
                .into_iter()
                .map(|(name, count)| (name.to_owned(), count.into()));
            Value::Object(entries.collect())
        });
        json!({
            "draw": self.number,
            "submission": self.submission,
            "address": hex(self.at.address),
            "batch": hex(self.at.batch),
            "topology": self.summary.topology,
            "vertices": range.vertices,
            "start_vertex": range.start,
            "base_vertex": range.base_vertex,
            "instances": range.instances,
            "start_instance": range.start_instance,
            "indirect": self.summary.indirect,
            "indices": indices,
            "shaders": shaders,
            "stream_output": self.summary.stream_output,
            "rasterised": self.summary.rasterised,
            "targets": self.summary.targets.iter().map(|t| self.target_json(t)).collect::<Vec<_>>(),
            "more_targets": self.summary.more_targets,
            "depth": depth,
            "stencil": stencil,
            "samples": self.summary.samples,
            "cull": self.summary.cull,
            "viewports": self.summary.viewports,
            "scissors": self.summary.scissors,
            "counts": counts,
            "pictures": self.pictures,
            "problems": self.summary.problems,
        })
    }

    fn target_json(&self, target: &Target) -> Value {
        let surface = &target.surface;
        if surface.kind == SurfaceKind::Null {
            return json!({ "binding": target.binding, "format": null });
        }
        let auxiliary = (surface.auxiliary.kind != AuxiliaryKind::None)
            .then(|| json!({ "mode": auxiliary(surface), "address": hex(surface.auxiliary.base) }));
        json!({
            "binding": target.binding,
            "format": surface.format.name(),
            "width": target.level.width,
            "height": target.level.height,
            "level": target.level.number,
            "first_slice": surface.first_slice,
            "samples": surface.layout.samples,
            "tiling": tiling(surface.tile_mode),
            "pitch": surface.pitch,
            "address": hex(surface.base),
            "auxiliary": auxiliary,
            "blend": target.blending.as_ref().map(blending),
        })
    }
}

fn hex(address: u64) -> String {
    format!("{address:#x}")
}

/// The name of an enumeration's value without `prefix`; `?` if the value has no name.
fn word(name: Name, prefix: &str) -> &'static str {
    name.map_or("?", |name| name.strip_prefix(prefix).unwrap_or(name))
}

/// Adds the words for a test: `test LESS`, `writes`
fn test(test: &Test, words: &mut Vec<String>) {
    words.push(match test.enabled {
        true => format!("test {}", word(test.function, "COMPAREFUNCTION_")),
        false => "no test".into(),
    });
    if test.writes {
        words.push("writes".into());
    }
}

fn format_of(format: DepthFormat) -> &'static str {
    match format {
        DepthFormat::Float32 => "D32_FLOAT",
        DepthFormat::Unorm24 => "D24_UNORM_X8_UINT",
        DepthFormat::Unorm16 => "D16_UNORM",
    }
}

fn tiling(mode: TileMode) -> &'static str {
    match mode {
        TileMode::Linear => "linear",
        TileMode::X => "X",
        TileMode::Y => "Y",
        TileMode::W => "W",
    }
}

fn auxiliary(surface: &Surface) -> &'static str {
    match surface.auxiliary.kind {
        AuxiliaryKind::Mcs if surface.layout.samples == 1 => "CCS",
        AuxiliaryKind::Mcs => "MCS",
        AuxiliaryKind::Hiz => "HiZ",
        AuxiliaryKind::Append => "append counter",
        AuxiliaryKind::None => "none",
    }
}

/// Formats a level of a surface: `640x480 Y-tiled at 0x..., 4 samples`
fn level(surface: &Surface, target: &Target) -> String {
    let tiling = match surface.tile_mode {
        TileMode::Linear => "linear".into(),
        mode => format!("{}-tiled", tiling(mode)),
    };
    let mut text =
        format!("{}x{} {tiling} at {}", target.level.width, target.level.height, Va(surface.base));
    for (shown, words) in [
        (surface.layout.samples > 1, format!(", {} samples", surface.layout.samples)),
        (target.level.number > 0, format!(", level {}", target.level.number)),
        (surface.first_slice > 0, format!(", slice {}", surface.first_slice)),
    ] {
        if shown {
            text += &words;
        }
    }
    text
}

fn extent(plane: &Plane) -> String {
    format!("{}x{} at {}", plane.level.width, plane.level.height, Va(plane.surface.base))
}

/// A depth or stencil buffer. The name of the comparison is null if the test is off.
fn buffer_json(plane: &Plane, test: &Test) -> Value {
    json!({
        "width": plane.level.width,
        "height": plane.level.height,
        "level": plane.level.number,
        "first_slice": plane.surface.first_slice,
        "samples": plane.surface.layout.samples,
        "pitch": plane.surface.pitch,
        "address": hex(plane.surface.base),
        "test": test.enabled.then(|| word(test.function, "COMPAREFUNCTION_")),
        "writes": test.writes,
    })
}

/// Formats the blending: `blends SRC_ALPHA INV_SRC_ALPHA ADD, writes RGB`
fn blending(how: &Blending) -> String {
    let equation = |[source, destination, function]: [Name; 3]| {
        let factor = |name| word(name, "BLENDFACTOR_");
        let function = word(function, "BLENDFUNCTION_");
        format!("{} {} {function}", factor(source), factor(destination))
    };
    let mut text = match (how.logic, how.color) {
        (Some(operation), _) => format!("logic operation {}", word(operation, "LOGICOP_")),
        (None, Some(color)) => format!("blends {}", equation(color)),
        (None, None) => "replaces".to_owned(),
    };
    if let Some(alpha) = how.alpha {
        text += &format!(", alpha {}", equation(alpha));
    }
    if how.disabled.contains(&true) {
        let written = ['R', 'G', 'B', 'A'].into_iter().zip(how.disabled);
        let written: String = written.filter(|(_, off)| !off).map(|(letter, _)| letter).collect();
        text += &format!(", writes {}", if written.is_empty() { "nothing" } else { &written });
    }
    text
}

/// The text after the first of several viewports or scissors: the number of the others.
fn more(count: usize) -> String {
    if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
}
