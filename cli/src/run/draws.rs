//! `--observe draw`: each 3DPRIMITIVE with its state, its counts, and pictures of its targets.

use super::number::counted;
use crate::output::{Error, write_picture};
use genxml::gen8::render3d_pixel::{BlendState, BlendStateEntry};
use genxml_sim::Place;
use genxml_sim::inspect::image::Image;
use genxml_sim::inspect::summary::{DepthBuffer, Summary, Target};
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
struct Draw {
    /// Number of the draw, from 1 on.
    number: usize,
    /// Number of the submission, from 1 on.
    submission: u64,
    at: Place,
    summary: Summary,
    before: Counters,
    /// Counts of the draw; `None` if a fault ended the draw.
    done: Option<Counters>,
    /// Names of the pictures.
    pictures: Vec<String>,
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
        if let Some(stencil) = stencil.as_ref().filter(|_| draw.summary.tests.stencil_test_enable) {
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

impl Draw {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Summary { targets, depth, stencil, tests, .. } = &self.summary;
        let (number, submission, address) = (self.number, self.submission, Va(self.at.address));
        writeln!(out, "draw {number}: submission {submission}, 3DPRIMITIVE at {address}")?;
        let mut line = |name: &str, text: String| match text.is_empty() {
            true => Ok(()),
            false => writeln!(out, "  {name:<13} {text}"),
        };
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
            uses.push(match tests.depth_test_enable {
                true => {
                    format!("test {}", word(tests.depth_test_function.name(), "COMPAREFUNCTION_"))
                }
                false => "no test".into(),
            });
            if self.summary.depth_writes && tests.depth_buffer_write_enable {
                uses.push("writes".into());
            }
            line("depth", uses.join(", "))?;
        }
        if let Some(stencil) = stencil {
            let mut uses = vec![extent(stencil)];
            uses.push(match tests.stencil_test_enable {
                true => {
                    format!("test {}", word(tests.stencil_test_function.name(), "COMPAREFUNCTION_"))
                }
                false => "no test".into(),
            });
            if tests.stencil_test_enable && tests.stencil_buffer_write_enable {
                uses.push("writes".into());
            }
            line("stencil", uses.join(", "))?;
        }
        line("raster", self.raster())?;
        for problem in &self.summary.problems {
            line("problem", problem.clone())?;
        }
        line("did", self.counts())?;
        line("pictures", self.pictures.join(" "))
    }

    /// Formats the vertices: `TRILIST of 36 vertices by WORD index, 2 instances`
    fn range(&self) -> String {
        let Summary { range, indices, .. } = &self.summary;
        let topology = word(self.summary.topology.name(), "3DPRIM_");
        let count = match self.summary.auto {
            true => "as many vertices as stream output wrote".into(),
            false => format!("{} vertices", counted(range.vertices.into())),
        };
        let mut text = format!("{topology} of {count}");
        if let Some(indices) = indices {
            let address = Va(indices.buffer_starting_address.va48());
            text += &format!(" by {} index at {address}", word(indices.index_format.name(), ""));
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
                words.push(format!(
                    "TE {} {}",
                    word(te.te_domain.name(), ""),
                    word(te.partitioning.name(), "")
                ));
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
        match (&self.summary.blend, &target.blend) {
            (Some(state), Some(entry)) => text + ", " + &blending(state, entry),
            _ => text,
        }
    }

    fn raster(&self) -> String {
        let Summary { raster, viewports, depth_ranges, scissors, rectangle, samples, .. } =
            &self.summary;
        if !self.summary.rasterised {
            return "nothing".into();
        }
        let mut words = vec![match samples {
            1 => "1 sample".into(),
            samples => format!("{samples} samples"),
        }];
        words.push(format!("culls {}", word(raster.cull_mode.name(), "CULLMODE_").to_lowercase()));
        if !self.summary.transforms {
            words.push("positions in pixels".into());
        } else if let Some(first) = viewports.first() {
            words.push(format!(
                "viewport {},{} to {},{}{}",
                first.x_min_view_port,
                first.y_min_view_port,
                first.x_max_view_port,
                first.y_max_view_port,
                more(viewports.len())
            ));
        }
        if let Some(first) = depth_ranges.first() {
            words.push(format!("depth {} to {}", first.minimum_depth, first.maximum_depth));
        }
        if let Some(first) = scissors.as_ref().and_then(|list| list.first()) {
            words.push(format!(
                "scissor {},{} to {},{}{}",
                first.scissor_rectangle_x_min,
                first.scissor_rectangle_y_min,
                first.scissor_rectangle_x_max,
                first.scissor_rectangle_y_max,
                more(scissors.as_ref().map_or(0, Vec::len))
            ));
        }
        words.push(format!(
            "rectangle {},{} to {},{}",
            rectangle.clipped_drawing_rectangle_x_min,
            rectangle.clipped_drawing_rectangle_y_min,
            rectangle.clipped_drawing_rectangle_x_max,
            rectangle.clipped_drawing_rectangle_y_max
        ));
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
            ("samples_passed", on.pixels.then_some(done.depth_passed)),
            ("threads", Some(done.threads)),
            ("instructions", Some(done.instructions)),
            ("pixels_written", Some(done.pixels)),
        ]
    }

    fn json(&self) -> Value {
        let Summary { range, tests, .. } = &self.summary;
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
        let depth =
            self.summary.depth.as_ref().map(|DepthBuffer { plane, format, hierarchical }| {
                let mut value = buffer_json(plane);
                value["format"] = format_of(*format).into();
                value["hierarchical"] = (*hierarchical).into();
                value["test"] = tested(tests.depth_test_enable, tests.depth_test_function.name());
                value["writes"] =
                    (self.summary.depth_writes && tests.depth_buffer_write_enable).into();
                value
            });
        let stencil = self.summary.stencil.as_ref().map(|plane| {
            let mut value = buffer_json(plane);
            value["test"] = tested(tests.stencil_test_enable, tests.stencil_test_function.name());
            value["writes"] =
                (tests.stencil_test_enable && tests.stencil_buffer_write_enable).into();
            value
        });
        let viewports: Vec<Value> = self
            .summary
            .viewports
            .iter()
            .map(|v| {
                json!([v.x_min_view_port, v.y_min_view_port, v.x_max_view_port, v.y_max_view_port])
            })
            .collect();
        let scissors = self.summary.scissors.as_ref().map(|list| {
            let edges = |r: &genxml::gen8::render3d_raster::ScissorRect| {
                [
                    r.scissor_rectangle_x_min,
                    r.scissor_rectangle_y_min,
                    r.scissor_rectangle_x_max,
                    r.scissor_rectangle_y_max,
                ]
                .map(|edge| edge.get())
            };
            list.iter().map(edges).collect::<Vec<_>>()
        });
        let indices = self.summary.indices.as_ref().map(|buffer| {
            json!({
                "format": buffer.index_format.name(),
                "address": hex(buffer.buffer_starting_address.va48()),
                "bytes": buffer.buffer_size.get(),
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
            "topology": self.summary.topology.name(),
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
            "cull": self.summary.raster.cull_mode.name(),
            "viewports": viewports,
            "scissors": scissors,
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
        let blend = self.summary.blend.as_ref().zip(target.blend.as_ref());
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
            "blend": blend.map(|(state, entry)| blending(state, entry)),
        })
    }
}

fn hex(address: u64) -> String {
    format!("{address:#x}")
}

/// The name of an enumeration's value without `prefix`; `?` if the value has no name.
fn word(name: Option<&'static str>, prefix: &str) -> &'static str {
    name.map_or("?", |name| name.strip_prefix(prefix).unwrap_or(name))
}

/// The name of a test's comparison; null if the test is off.
fn tested(on: bool, function: Option<&'static str>) -> Value {
    if on { word(function, "COMPAREFUNCTION_").into() } else { Value::Null }
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

fn buffer_json(plane: &Plane) -> Value {
    json!({
        "width": plane.level.width,
        "height": plane.level.height,
        "level": plane.level.number,
        "first_slice": plane.surface.first_slice,
        "samples": plane.surface.layout.samples,
        "pitch": plane.surface.pitch,
        "address": hex(plane.surface.base),
    })
}

/// Formats the blending: `blends SRC_ALPHA INV_SRC_ALPHA ADD, writes RGB`
fn blending(state: &BlendState, entry: &BlendStateEntry) -> String {
    let factor = |name| word(name, "BLENDFACTOR_");
    let function = |name| word(name, "BLENDFUNCTION_");
    let mut text = if entry.logic_op_enable {
        format!("logic operation {}", word(entry.logic_op_function.name(), "LOGICOP_"))
    } else if entry.color_buffer_blend_enable {
        let mut text = format!(
            "blends {} {} {}",
            factor(entry.source_blend_factor.name()),
            factor(entry.destination_blend_factor.name()),
            function(entry.color_blend_function.name())
        );
        if state.independent_alpha_blend_enable {
            text += &format!(
                ", alpha {} {} {}",
                factor(entry.source_alpha_blend_factor.name()),
                factor(entry.destination_alpha_blend_factor.name()),
                function(entry.alpha_blend_function.name())
            );
        }
        text
    } else {
        "replaces".to_owned()
    };
    let off = [
        ('R', entry.write_disable_red),
        ('G', entry.write_disable_green),
        ('B', entry.write_disable_blue),
        ('A', entry.write_disable_alpha),
    ];
    if off.iter().any(|&(_, off)| off) {
        let written: String =
            off.iter().filter(|(_, off)| !off).map(|&(letter, _)| letter).collect();
        text += &format!(", writes {}", if written.is_empty() { "nothing" } else { &written });
    }
    text
}

/// The text after the first of several viewports or scissors: the number of the others.
fn more(count: usize) -> String {
    if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
}
