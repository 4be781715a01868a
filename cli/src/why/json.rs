//! The history as JSON.

use super::text::tiling;
use genxml_sim::inspect::history::fragment::{Coverage, Lost};
use genxml_sim::inspect::history::{
    BlitTouch, Channels, DrawTouch, Entry, Fragment, Meaning, Probe, Shading, Value,
};
use genxml_sim::machine::watched::{Blended, Output, TestTime, Tested};
use genxml_sim::pixel_history::Answer;
use serde_json::{Value as Json, json};

/// The answer. Scripts depend on the names.
pub fn value(answer: &Answer) -> Json {
    let probe = &answer.probe;
    let (view, level) = (&probe.view, &probe.view.level);
    let surface = &view.surface;
    let meaning = match view.meaning {
        Meaning::Color => "color",
        Meaning::Depth(_) => "depth",
        Meaning::Stencil(_) => "stencil",
    };
    json!({
        "pixel": probe.at,
        "sample": probe.sample,
        "surface": {
            "meaning": meaning,
            "format": view.format(),
            "width": level.width,
            "height": level.height,
            "level": level.number,
            "slice": probe.slice,
            "samples": surface.layout.samples,
            "tiling": tiling(surface.tile_mode),
            "pitch": surface.pitch,
            "address": hex(surface.base),
            "draw": answer.draw,
        },
        "address": hex(probe.address),
        "entries": answer.entries.iter().map(|entry| self::entry(probe, entry)).collect::<Vec<_>>(),
        "value": pixel(probe, answer.value.as_ref()),
    })
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}

fn pixel(probe: &Probe, value: Option<&Value>) -> Json {
    let Some(value) = value else { return Json::Null };
    let bytes: String = value.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut json = json!({ "bytes": bytes, "cleared": value.cleared });
    match probe.channels(value) {
        Channels::Floats(color) => json["color"] = floats(&color),
        Channels::Integers(integers) => json["integers"] = json!(integers),
        Channels::Depth(depth) => json["depth"] = float(depth),
        Channels::Stencil(stencil) => json["stencil"] = stencil.into(),
        Channels::None => {}
    }
    json
}

/// A float. JSON has no infinities and NaN, so they are text.
fn float(value: f32) -> Json {
    if value.is_finite() { json!(value) } else { value.to_string().into() }
}

fn floats(values: &[f32]) -> Json {
    values.iter().map(|value| float(*value)).collect()
}

pub fn entry(probe: &Probe, entry: &Entry) -> Json {
    json!({
        "kind": entry.kind.name(),
        "submission": entry.submission,
        "exec": entry.label,
        "engine": entry.at.map(|at| at.engine.name()),
        "packet": entry.at.map(|at| at.packet),
        "address": entry.at.map(|at| hex(at.address)),
        "batch": entry.at.map(|at| hex(at.batch)),
        "draw": entry.draw.as_ref().map(|draw| self::draw(probe, draw)),
        "blit": entry.blit.as_ref().map(blit),
        "old": pixel(probe, entry.old.as_ref()),
        "new": pixel(probe, entry.new.as_ref()),
    })
}

fn blit(blit: &BlitTouch) -> Json {
    json!({
        "pixel": blit.pixel,
        "rectangle": blit.rectangle,
        "source": blit.source.map(|(base, at)| json!({ "address": hex(base), "pixel": at })),
    })
}

fn draw(probe: &Probe, draw: &DrawTouch) -> Json {
    let [primitives, clipped, culled] = draw.primitives;
    let fragments: Vec<Json> =
        draw.fragments.iter().map(|fragment| self::fragment(probe, fragment)).collect();
    json!({
        "draw": draw.number,
        "topology": draw.topology,
        "pixel": draw.pixel,
        "buffer": if draw.as_depth { "depth" } else { "color" },
        "primitives": primitives,
        "clipped": clipped,
        "culled": culled,
        "fragments": fragments,
    })
}

fn fragment(probe: &Probe, fragment: &Fragment) -> Json {
    let primitive = &fragment.primitive;
    let vertices: Vec<Json> = primitive.vertices[..primitive.count.clamp(1, 3)]
        .iter()
        .map(|vertex| vertex.map_or(Json::Null, |vertex| floats(&vertex)))
        .collect();
    let outputs: Vec<Json> =
        fragment.outputs.iter().map(|output| self::output(probe, output)).collect();
    json!({
        "primitive": primitive.number,
        "id": primitive.id,
        "shape": primitive.shape,
        "vertices": vertices,
        "array_index": primitive.array_index,
        "lost": fragment.lost_by(probe.sample).map(Lost::name),
        "coverage": fragment.coverage.as_ref().map(|coverage| self::coverage(probe, coverage)),
        "tests": fragment.tests.iter().map(test).collect::<Vec<_>>(),
        "shader": fragment.shading.as_ref().map(shader),
        "outputs": outputs,
        "old": pixel(probe, fragment.old.as_ref()),
        "new": pixel(probe, fragment.new.as_ref()),
    })
}

fn coverage(probe: &Probe, coverage: &Coverage) -> Json {
    let inputs: Vec<Json> = coverage.inputs.iter().map(|input| floats(input)).collect();
    json!({
        "rasterised": coverage.rasterised,
        "samples": coverage.samples,
        "facing": if coverage.back { "back" } else { "front" },
        "weights": floats(&coverage.barycentric),
        "depth": coverage.depths.get(probe.sample as usize).map(|depth| float(*depth)),
        "w": float(coverage.w),
        "inputs": inputs,
    })
}

fn test(test: &Tested) -> Json {
    let time = match test.time {
        TestTime::Early => "early",
        TestTime::Provisional => "provisional",
        TestTime::Late => "late",
    };
    json!({
        "sample": test.sample,
        "time": time,
        "passed": test.passed,
        "depth": test.depth.map(|depth| json!({
            "function": depth.function,
            "depth": float(depth.depth),
            "value": depth.value,
            "stored": depth.stored,
            "stored_depth": float(depth.stored_depth),
            "passed": depth.passed,
            "written": depth.written,
        })),
        "stencil": test.stencil.map(|stencil| json!({
            "function": stencil.function,
            "reference": stencil.reference,
            "mask": stencil.mask,
            "stored": stencil.stored,
            "after": stencil.after,
            "passed": stencil.passed,
        })),
    })
}

fn shader(shading: &Shading) -> Json {
    json!({
        "kernel": hex(shading.kernel),
        "channel": shading.channel,
        "sample": shading.sample,
        "instructions": shading.instructions,
        "writes": shading.writes,
        "discard": shading.discard.map(|discard| json!({
            "write": discard.write,
            "last": discard.last,
            "flag": discard.flag,
        })),
    })
}

fn output(probe: &Probe, output: &Output) -> Json {
    let target = output.target.as_ref();
    let blend = target.and_then(|target| *target.blends.get(probe.sample as usize)?);
    json!({
        "binding": output.binding,
        "entry": output.entry,
        "last": output.last,
        "color": floats(&output.color.map(f32::from_bits)),
        "bits": output.color,
        "second": output.second.map(|second| floats(&second.map(f32::from_bits))),
        "omask": output.omask,
        "depth": output.depth.map(float),
        "enabled": output.enabled,
        "samples": {
            "live": output.live,
            "shaded": output.shaded,
            "kept": output.kept,
            "tested": output.tested,
        },
        "target": target.map(|target| hex(target.base)),
        "blend": blend.as_ref().map(self::blend),
    })
}

fn blend(blend: &Blended) -> Json {
    let [color, alpha] = blend.equations;
    json!({
        "color": color,
        "alpha": alpha,
        "source": floats(&blend.source),
        "destination": floats(&blend.destination),
        "result": floats(&blend.result),
    })
}
