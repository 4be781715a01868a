//! The answers of the server: the files of the page, JSON and pictures.

use super::server::Answer;
use super::work::{Shared, Work};
use super::{pictures, state};
use crate::why::json as history;
use genxml::html::BASE_STYLE;
use genxml_eu::disasm::write_listing_on;
use genxml_eu::kernel::end_of_thread_on;
use genxml_eu::syntax::Syntax;
use genxml_sim::inspect::frame::heat::{COST_UNIT, Heat};
use genxml_sim::inspect::frame::{ChangedRun, Code, Kind, Role, Seen, SeenBuffer, SeenTarget};
use genxml_sim::inspect::history::{Channels, Meaning};
use genxml_sim::machine::watched::Fate;
use genxml_sim::runs::Input;
use genxml_sim::surface::SurfaceKind;
use serde_json::{Value, json};

/// The files of the page.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Answers a request for a path below the secret.
pub fn answer(work: &Work, path: &str, query: &str) -> Answer {
    let file = |media, text: &str| Answer::ok(media, text.as_bytes().to_vec());
    match path {
        "" => file("text/html; charset=utf-8", PAGE),
        "page.css" => file("text/css; charset=utf-8", &[BASE_STYLE, STYLE].concat()),
        "page.js" => file("text/javascript; charset=utf-8", SCRIPT),
        _ => match path.strip_prefix("api/") {
            Some(rest) => api(work, &rest.split('/').collect::<Vec<_>>(), query),
            None => missing("there is no such file"),
        },
    }
}

fn missing(why: &str) -> Answer {
    Answer::text(404, why)
}

fn json_answer(value: &Value) -> Answer {
    Answer::ok("application/json", value.to_string().into_bytes())
}

/// An answer, or the reason for status 404.
type Made = Result<Answer, String>;

fn api(work: &Work, parts: &[&str], query: &str) -> Answer {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{text:?} is not a number"));
    let made: Made = match *parts {
        ["progress"] => Ok(json_answer(&progress(work))),
        ["steps"] => steps(work, query),
        ["state", step] => number(step).and_then(|step| state_of(work, step)),
        ["thumbnail", step] => number(step).and_then(|step| thumbnail(work, step)),
        ["look", step] => number(step).and_then(|step| look(work, step)),
        ["image", step, target, when] => number(step)
            .and_then(|step| Ok((step, number(target)?)))
            .and_then(|(step, target)| image(work, step, target as usize, when)),
        ["heat", step, what] => number(step).and_then(|step| heat(work, step, what)),
        ["value", step, target, x, y] => numbers([step, target, x, y])
            .and_then(|[step, target, x, y]| value(work, step, target as usize, [x, y])),
        ["history", step, target, x, y] => numbers([step, target, x, y])
            .and_then(|[step, target, x, y]| pixel(work, step, target as usize, [x, y])),
        ["kernel", step] => number(step).and_then(|step| dispatched(work, step)),
        ["mesh", step] => number(step).and_then(|step| mesh(work, step)),
        ["findings"] => Ok(findings(work)),
        _ => Err("there is no such answer".to_owned()),
    };
    made.unwrap_or_else(|why| missing(&why))
}

fn numbers(texts: [&str; 4]) -> Result<[u64; 4], String> {
    let mut out = [0; 4];
    for (number, text) in out.iter_mut().zip(texts) {
        *number = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    }
    Ok(out)
}

fn progress(work: &Work) -> Value {
    let shared = work.shared();
    let Shared { input, phase, submissions, steps, is_listed, fault, .. } = &*shared;
    let kind = input.as_deref().map(|input| match input {
        Input::Capture(_) => "capture",
        Input::Aub(_) => "AUB file",
    });
    json!({
        "input": work.path().display().to_string(),
        "kind": kind,
        "phase": phase,
        "submissions": submissions,
        "total": input.as_deref().and_then(Input::submissions),
        "steps": steps.len(),
        "listed": is_listed,
        "fault": fault,
        "rules": shared.rules.is_some(),
        "sanitized": shared.sanitized.is_some(),
        "seconds": work.seconds(),
        "listed_after": shared.listed_after.map(|time| time.as_secs_f64()),
    })
}

fn steps(work: &Work, query: &str) -> Made {
    const MOST: usize = 500;
    let from = match query.strip_prefix("from=") {
        Some(text) => text.parse().map_err(|_| format!("{text:?} is not a number"))?,
        None if query.is_empty() => 0,
        None => return Err("write steps?from=NUMBER".to_owned()),
    };
    let list: Vec<_> = work.shared().steps.iter().skip(from).take(MOST).cloned().collect();
    let rows: Vec<Value> = list.iter().map(|entry| state::row(entry)).collect();
    Ok(json_answer(&json!({ "from": from, "steps": rows })))
}

fn state_of(work: &Work, step: u64) -> Made {
    let tables = work.tables();
    let entries = work.shared().steps.clone();
    match state::state(&entries, step as usize, tables) {
        Value::Null => Err(format!("there is no step {step}")),
        value => Ok(json_answer(&value)),
    }
}

fn thumbnail(work: &Work, step: u64) -> Made {
    let file = work.entry(step)?.thumbnail.clone();
    file.map(png).ok_or_else(|| format!("step {step} has no picture"))
}

fn png(file: Vec<u8>) -> Answer {
    Answer::ok("image/png", file)
}

fn look(work: &Work, step: u64) -> Made {
    let seen = work.look(step)?;
    let targets: Vec<Value> = seen.targets.iter().map(target).collect();
    let buffers: Vec<Value> = seen.buffers.iter().map(buffer).collect();
    let kernels: Vec<Value> = seen.kernels.iter().map(kernel).collect();
    let heat = seen.heat.as_ref().map(|heat| {
        let fragments: u64 = heat.shaded.iter().map(|count| u64::from(*count)).sum();
        let cost: u64 = heat.cost.iter().max().map_or(0, |most| most / COST_UNIT);
        json!({
            "width": heat.width,
            "height": heat.height,
            "fragments": fragments,
            "most": heat.shaded.iter().max(),
            "most_cost": cost,
        })
    });
    Ok(json_answer(&json!({
        "step": step,
        "complete": seen.is_complete,
        "note": seen.note,
        "targets": targets,
        "buffers": buffers,
        "kernels": kernels,
        "heat": heat,
        "primitives": seen.mesh.count,
        "vertices": seen.mesh.received.len(),
    })))
}

fn target(target: &SeenTarget) -> Value {
    let (view, [before, after]) = (&target.view, &target.texels);
    let meaning = match (target.role, view.meaning) {
        (Role::Destination, _) => "destination",
        (Role::Source, _) => "source",
        (Role::Target | Role::Image, Meaning::Color) => "color",
        (_, Meaning::Depth(_)) => "depth",
        (_, Meaning::Stencil(_)) => "stencil",
    };
    json!({
        "meaning": meaning,
        "binding": view.binding,
        "format": view.format(),
        "width": view.level.width,
        "height": view.level.height,
        "origin": target.origin,
        "samples": view.surface.layout.samples,
        "slices": view.surface.slices,
        "address": state::hex(view.surface.base),
        "picture": target.images[0].is_some(),
        "changed": (0..before.count()).filter(|n| before.value(*n) != after.value(*n)).count(),
    })
}

/// A buffer, or other memory that threads wrote, with the first runs of bytes that changed.
fn buffer(buffer: &SeenBuffer) -> Value {
    const MOST: usize = 1000;
    let kind = buffer.surface.as_ref().map(|surface| match surface.kind {
        SurfaceKind::Null => "null surface",
        SurfaceKind::Buffer => "buffer",
        SurfaceKind::Structured => "structured buffer",
        SurfaceKind::Image => "image",
    });
    let run = |run: &ChangedRun| {
        let [before, after] = run.first.map(|first| {
            let count = first.len().min(usize::try_from(run.bytes).unwrap_or(usize::MAX));
            first[..count].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        json!({
            "address": state::hex(run.address),
            "bytes": run.bytes,
            "before": before,
            "after": after,
        })
    };
    json!({
        "binding": buffer.binding,
        "kind": kind.unwrap_or("memory"),
        "format": buffer.surface.as_ref().and_then(|surface| surface.format.name()),
        "address": buffer.surface.as_ref().map(|surface| state::hex(surface.base)),
        "extent": buffer.extent.map(state::hex),
        "written": buffer.written,
        "changed": buffer.changed,
        "count": buffer.count,
        "cut": buffer.is_cut,
        "runs": buffer.runs.iter().take(MOST).map(run).collect::<Vec<_>>(),
    })
}

fn kernel(code: &Code) -> Value {
    let mut text = String::new();
    let listed = write_listing_on(code.generation, &mut text, &code.bytes[..], Syntax::Iga);
    if listed.is_err() || code.bytes.is_empty() {
        text = "the kernel cannot be read".to_owned();
    }
    json!({
        "stage": code.stage,
        "dispatch": code.dispatch,
        "address": state::hex(code.address),
        "bytes": code.bytes.len(),
        "text": text,
    })
}

/// The kernel of a dispatch, up to its first end of thread.
fn dispatched(work: &Work, step: u64) -> Made {
    let (address, generation, mut bytes) = work.kernel(step)?;
    let end = end_of_thread_on(generation, &bytes[..]).map_err(|error| error.to_string())?;
    bytes.truncate(end as usize);
    let code = Code { stage: "kernel", dispatch: "", address, generation, bytes };
    Ok(json_answer(&kernel(&code)))
}

fn one(seen: &Seen, target: usize) -> Result<&SeenTarget, String> {
    seen.targets.get(target).ok_or_else(|| format!("the step has no target {target}"))
}

fn image(work: &Work, step: u64, target: usize, when: &str) -> Made {
    let seen = work.look(step)?;
    let target = one(&seen, target)?;
    let image = match when {
        "before" => target.images[0].clone(),
        "after" => target.images[1].clone(),
        "difference" => pictures::difference(target),
        _ => return Err("the pictures are before, after and difference".to_owned()),
    };
    let file = image.as_ref().and_then(pictures::png);
    file.map(png).ok_or_else(|| "the target has no picture".to_owned())
}

fn map(seen: &Seen) -> Result<&Heat, String> {
    let why = "heat maps exist for draws, but not for those of a G45";
    seen.heat.as_ref().ok_or_else(|| why.to_owned())
}

fn heat(work: &Work, step: u64, what: &str) -> Made {
    let seen = work.look(step)?;
    let heat = map(&seen)?;
    let image = match what {
        "overdraw" => pictures::heat(heat, heat.shaded.iter().map(|count| u64::from(*count))),
        "cost" => pictures::heat(heat, heat.cost.iter().copied()),
        _ => return Err("the heat maps are overdraw and cost".to_owned()),
    };
    let file = image.as_ref().and_then(pictures::png);
    file.map(png).ok_or_else(|| "the draw has no pixels".to_owned())
}

/// The exact values of a pixel: first slice, sample 0.
fn value(work: &Work, step: u64, target: usize, [x, y]: [u64; 2]) -> Made {
    let seen = work.look(step)?;
    let target = one(&seen, target)?;
    let (width, height) = (target.view.level.width, target.view.level.height);
    if x >= u64::from(width) || y >= u64::from(height) {
        return Err(format!("pixel {x},{y} is outside: the target has {width}x{height} pixels"));
    }
    let index = (y * u64::from(width) + x) as usize;
    let side = |texels: &genxml_sim::inspect::bisect::Texels| {
        let bytes = texels.value(index);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // The shortest number that is the same float. JSON has no infinities and NaN.
        let text = |value: f32| match value.to_string().parse::<f64>() {
            Ok(number) if number.is_finite() => json!(number),
            _ => json!(value.to_string()),
        };
        let channels = match target.view.channels(bytes) {
            Channels::Floats(color) => color.map(text).to_vec(),
            Channels::Integers(integers) => integers.map(Value::from).to_vec(),
            Channels::Depth(depth) => vec![text(depth)],
            Channels::Stencil(stencil) => vec![stencil.into()],
            Channels::None => Vec::new(),
        };
        json!({ "bytes": hex, "channels": channels })
    };
    let at = |heat: &Heat| {
        (x < heat.width.into() && y < heat.height.into())
            .then(|| (y * u64::from(heat.width) + x) as usize)
    };
    let heat = seen.heat.as_ref().and_then(|heat| {
        let index = at(heat)?;
        Some(json!({
            "shaded": heat.shaded[index],
            "instructions": heat.cost[index] as f64 / COST_UNIT as f64,
        }))
    });
    Ok(json_answer(&json!({
        "pixel": [x, y],
        "before": side(&target.texels[0]),
        "after": side(&target.texels[1]),
        "heat": heat,
    })))
}

fn pixel(work: &Work, step: u64, target: usize, at: [u64; 2]) -> Made {
    let [x, y] = at.map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let answer = work.history(step, target, [x, y])?;
    Ok(json_answer(&history::value(&answer)))
}

fn mesh(work: &Work, step: u64) -> Made {
    let entry = work.entry(step)?;
    let Kind::Draw { summary, .. } = &entry.step.kind else {
        return Err(format!("step {step} is not a draw, so it has no mesh"));
    };
    let seen = work.look(step)?;
    let finite =
        |numbers: &[f32; 4]| numbers.map(|n| if n.is_finite() { json!(n) } else { Value::Null });
    let primitives: Vec<Value> = seen
        .mesh
        .primitives
        .iter()
        .map(|primitive| {
            let vertices = primitive.vertices.iter().take(primitive.count);
            let fate = match primitive.fate {
                Fate::Clipped => "clipped",
                Fate::Culled => "culled",
                // The pixel that is watched may be outside; the primitive is drawn all the same.
                Fate::Excluded | Fate::Kept => "drawn",
            };
            json!({
                "number": primitive.number,
                "fate": fate,
                "vertices": vertices.map(|vertex| vertex.as_ref().map(finite)).collect::<Vec<_>>(),
            })
        })
        .collect();
    Ok(json_answer(&json!({
        "received": seen.mesh.received.iter().map(finite).collect::<Vec<_>>(),
        "primitives": primitives,
        "count": seen.mesh.count,
        "viewports": summary.viewports,
    })))
}

fn findings(work: &Work) -> Answer {
    let (rules, sanitized) = {
        let shared = work.shared();
        (shared.rules.clone(), shared.sanitized.clone())
    };
    json_answer(&json!({ "rules": rules.as_deref(), "sanitize": sanitized.as_deref() }))
}
