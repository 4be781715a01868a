//! The report as JSON.

use super::text::{assembly, register};
use crate::output::Exit;
use crate::why::json as history;
use genxml_sim::bisect::{
    ComputeParted, DrawParted, PacketParted, PixelParted, Report, ThreadsParted, Verdict, Writer,
    target_name,
};
use genxml_sim::inspect::bisect::Work;
use genxml_sim::inspect::bisect::differ::{Dword, First};
use serde_json::{Value as Json, json};
use std::path::Path;

/// The report. Scripts depend on the names.
pub fn value([good, bad]: [&Path; 2], exit: Exit, report: &Report) -> Json {
    let result = match report.verdict {
        Verdict::Same => "same",
        Verdict::Draw(_) => "draw",
        Verdict::Compute(_) => "compute",
        Verdict::Packet(_) => "packet",
    };
    let draw = match &report.verdict {
        Verdict::Draw(parted) => Some(parted),
        _ => None,
    };
    let pixel = draw.and_then(|parted| parted.pixel.as_ref());
    let threads = pixel.and_then(|pixel| pixel.threads.as_ref());
    let compute = match &report.verdict {
        Verdict::Compute(parted) => Some(parted),
        _ => None,
    };
    let packet = match &report.verdict {
        Verdict::Packet(parted) => Some(parted),
        _ => None,
    };
    json!({
        "good": good.display().to_string(),
        "bad": bad.display().to_string(),
        "exit": exit as u8,
        "draws": report.draws,
        "stops": report.stops.each_ref().map(|stop| stop.as_ref().map(ToString::to_string)),
        "unpaired": report.unpaired.each_ref().map(|list| works(list)),
        "result": result,
        "draw": draw.map(|parted| self::draw(parted)),
        "pixel": pixel.map(self::pixel),
        "threads": threads.map(self::threads),
        "compute": compute.map(|parted| self::compute(parted)),
        "packet": packet.map(|parted| self::packet(parted)),
    })
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}

fn works(list: &[Work]) -> Vec<Json> {
    list.iter().map(work).collect()
}

fn work(work: &Work) -> Json {
    json!({
        "number": work.number,
        "submission": work.submission,
        "exec": work.label,
        "address": hex(work.at.address),
        "kind": work.kind(),
    })
}

fn draw(parted: &DrawParted) -> Json {
    let addresses = parted.works.each_ref().map(|work| {
        let target = work.targets.get(parted.target);
        target.map(|target| hex(target.view.surface.base))
    });
    let target = parted.works[0].targets.get(parted.target).map(|target| {
        json!({
            "name": target_name(target.view.meaning),
            "format": target.view.format(),
            "width": target.view.level.width,
            "height": target.view.level.height,
            "addresses": addresses,
        })
    });
    let side = |side: &Option<genxml::diff::Side>| side.map(|side| side.to_string());
    let state: Vec<Json> = parted
        .state
        .iter()
        .flat_map(|diff| diff.changes.iter().map(move |change| (diff, change)))
        .map(|(diff, change)| {
            json!({
                "packet": diff.container.name,
                "field": change.path,
                "old": side(&change.old),
                "new": side(&change.new),
            })
        })
        .collect();
    let difference = parted.difference.as_ref();
    json!({
        "draws": parted.works.each_ref().map(work),
        "target": target,
        "before": parted.before,
        "problem": difference.err(),
        "samples": difference.ok().map(|difference| difference.count),
        "rectangle": difference.ok().map(|difference| difference.rectangle),
        "state": state,
        "only": parted.only,
    })
}

fn pixel(pixel: &PixelParted) -> Json {
    let histories = pixel.answers.each_ref().map(|answer| {
        let entries = answer.entries.iter();
        entries.map(|entry| history::entry(&answer.probe, entry)).collect::<Vec<_>>()
    });
    json!({
        "pixel": [pixel.at.x, pixel.at.y],
        "sample": pixel.at.sample,
        "slice": pixel.at.slice,
        "histories": histories,
        "entries": pixel.entries,
        "fragments": pixel.fragments.map(|(indices, _)| indices),
        "stage": pixel.fragments.map(|(_, stage)| stage.name()),
    })
}

fn dwords(list: &[Dword]) -> Vec<Json> {
    let dword = |&(offset, good, bad): &Dword| {
        let values = [good, bad].map(|value| hex(value.into()));
        json!({ "register": register(offset), "values": values })
    };
    list.iter().map(dword).collect()
}

fn threads(threads: &ThreadsParted) -> Json {
    let (steps, values) = match &threads.parted.first {
        None => ([None, None], Vec::new()),
        Some(First::Instruction { steps, dwords: list }) => (*steps, dwords(list)),
        Some(First::Values { steps, dwords: list }) => (steps.map(Some), dwords(list)),
    };
    let instructions = [0, 1].map(|side| {
        let step = steps[side]?;
        let (thread, _) = &threads.threads[side];
        Some(json!({
            "step": step,
            "offset": thread.steps.get(step).map(|step| hex(step.ip.into())),
            "assembly": assembly(&threads.threads[side], step),
        }))
    });
    json!({
        "stage": threads.stage,
        "number": threads.number,
        "kernels": threads.threads.each_ref().map(|(thread, _)| hex(thread.kernel)),
        "payload": dwords(&threads.parted.payload),
        "instructions": instructions,
        "values": values,
    })
}

fn compute(parted: &ComputeParted) -> Json {
    let writer = |writer: &Writer| {
        json!({
            "packet": writer.at.map(|at| at.packet),
            "address": writer.at.map(|at| hex(at.address)),
            "dispatch": writer.dispatch,
            "kernel": writer.kernel.map(hex),
            "value": writer.at.map(|_| hex(writer.value.into())),
        })
    };
    json!({
        "execs": parted.execs,
        "dwords": parted.count,
        "objects": parted.memory.objects.map(hex),
        "offset": parted.memory.offset,
        "values": parted.memory.values.map(|value| hex(value.into())),
        "writers": parted.writers.each_ref().map(writer),
    })
}

fn packet(parted: &PacketParted) -> Json {
    let writers = parted.writers.each_ref().map(|writer| {
        json!({
            "submission": writer.submission,
            "exec": writer.label,
            "packet": writer.at.packet,
            "address": hex(writer.at.address),
            "draw": writer.draw.map(|draw| draw + 1),
            "dispatch": writer.dispatch.map(|(number, _)| number),
            "kernel": writer.dispatch.map(|(_, kernel)| hex(kernel)),
        })
    });
    json!({
        "bytes": parted.bytes,
        "addresses": parted.value.map(|value| value.addresses.map(hex)),
        "values": parted.value.map(|value| value.values.map(|value| hex(value.into()))),
        "writers": writers,
    })
}
