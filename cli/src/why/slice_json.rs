//! Slices as JSON.

use super::slice_text::hex;
use genxml_sim::eu::types::Type;
use genxml_sim::inspect::slice::{Change, Element, Node, Origin, Source, StatePacket};
use genxml_sim::inspect::words;
use genxml_sim::mem::Client;
use genxml_sim::value_slice::{DrawState, How, Made, MemoryRead, StateMemory, ThreadSlice, What};
use serde_json::{Value as Json, json};

/// What made a value. Scripts depend on the names.
pub fn value(made: &Made) -> Json {
    let (value, address, bytes) = match &made.value {
        What::Pixel(probe) => {
            (json!(probe.at), probe.address, u64::from(probe.view.surface.element_bytes))
        }
        What::Memory { address, bytes } => (Json::Null, *address, *bytes),
    };
    let how = match &made.how {
        How::Thread(_) => "thread",
        How::Copied { .. } => "copied",
        How::Filled => "filled",
        How::Outside => "outside",
        How::Packet => "packet",
        How::End => "end",
        How::Unreadable => "unreadable",
        How::Failed(_) => "failed",
    };
    json!({
        "pixel": value,
        "address": address_text(address),
        "bytes": bytes,
        "writer": made.writer.as_ref().map(change),
        "how": how,
        "state": made.state.as_ref().map(state),
        "thread": match &made.how {
            How::Thread(slice) => thread(slice),
            _ => Json::Null,
        },
        "source": match &made.how {
            How::Copied { pixel, source } => json!({ "pixel": pixel, "made": self::value(source) }),
            _ => Json::Null,
        },
        "error": match &made.how {
            How::Failed(error) => json!(error.to_string()),
            _ => Json::Null,
        },
    })
}

fn state(state: &DrawState) -> Json {
    let packet = |packet: &StatePacket| {
        let at = packet.at;
        json!({
            "stage": packet.stage.name(),
            "packet": at.packet,
            "address": address_text(at.address),
            "batch": address_text(at.batch),
            "dwords": packet.dwords,
        })
    };
    let memory = |memory: &StateMemory| {
        json!({
            "kind": if memory.client == Client::Vertices { "vertices" } else { "state" },
            "address": address_text(memory.address),
            "bytes": memory.bytes,
            "writer": memory.writer.as_ref().map(change),
        })
    };
    json!({
        "packets": state.packets.iter().map(packet).collect::<Vec<_>>(),
        "memory": state.memory.iter().map(memory).collect::<Vec<_>>(),
        "cut": state.is_cut,
    })
}

/// A change of a range of memory.
pub fn change(change: &Change) -> Json {
    json!({
        "kind": change.kind.name(),
        "submission": change.submission,
        "exec": change.label,
        "engine": change.at.map(|at| at.engine.name()),
        "packet": change.at.map(|at| at.packet),
        "address": change.at.map(|at| address_text(at.address)),
        "batch": change.at.map(|at| address_text(at.batch)),
        "draw": change.draw,
        "old": change.old.as_ref().map(|bytes| hex(bytes)),
        "new": hex(&change.new),
    })
}

fn address_text(number: u64) -> String {
    format!("{number:#x}")
}

fn thread(slice: &ThreadSlice) -> Json {
    let traced = &slice.traced;
    let inputs = slice.slice.inputs.iter().zip(&slice.sources).enumerate();
    json!({
        "draw": slice.fragment.as_ref().map(|(touch, _)| touch.number),
        "primitive": slice
            .fragment
            .as_ref()
            .map(|(touch, index)| touch.fragments[*index].primitive.number),
        "kernel": address_text(traced.recording.kernel),
        "channel": traced.channel,
        "executed": traced.recording.steps.len(),
        "cut": slice.slice.is_cut || slice.reads_are_cut,
        "instructions": slice
            .slice
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| self::node(slice, index, node))
            .collect::<Vec<_>>(),
        "inputs": inputs
            .map(|(index, (input, source))| json!({
                "register": input.element.name,
                "bits": input.element.bits.map(address_text),
                "source": self::source(source),
                "reads": reads(slice, Origin::Input(index)),
            }))
            .collect::<Vec<_>>(),
    })
}

fn reads(slice: &ThreadSlice, reader: Origin) -> Vec<Json> {
    slice.reads.iter().filter(|read| read.reader == reader).map(read).collect()
}

fn read(read: &MemoryRead) -> Json {
    json!({
        "address": address_text(read.address),
        "bytes": read.bytes,
        "writer": read.writer.as_ref().map(change),
        "made": read.made.as_ref().map(|made| value(made)),
    })
}

fn node(slice: &ThreadSlice, index: usize, node: &Node) -> Json {
    let operands: Vec<Json> = node
        .operands
        .iter()
        .map(|operand| {
            let (from, inputs): (Vec<Origin>, Vec<Origin>) =
                operand.from.iter().partition(|origin| matches!(origin, Origin::Node(_)));
            json!({
                "name": operand.name,
                "channel": operand.channel,
                "element": element(&operand.element),
                "from": indices(&from),
                "inputs": indices(&inputs),
            })
        })
        .collect();
    json!({
        "step": node.step,
        "offset": address_text(node.offset.into()),
        "text": slice.traced.text(node.offset),
        "channels": node.channels,
        "decides": node.decides,
        "message": node
            .message
            .map(|sent| words::words(Default::default(), sent.function, sent.descriptor)),
        "operands": operands,
        "results": node.results.iter().map(element).collect::<Vec<_>>(),
        "because": node.because,
        "reads": reads(slice, Origin::Node(index)),
    })
}

fn indices(origins: &[Origin]) -> Vec<usize> {
    origins
        .iter()
        .map(|origin| match *origin {
            Origin::Node(index) | Origin::Input(index) => index,
        })
        .collect()
}

fn element(element: &Element) -> Json {
    let float = match (element.ty, element.bits) {
        (Type::F, Some(bits)) => Some(f32::from_bits(bits as u32)).filter(|it| it.is_finite()),
        _ => None,
    };
    json!({
        "register": element.name,
        "bits": element.bits.map(address_text),
        "float": float,
    })
}

fn source(source: &Source) -> Json {
    let kind = match source {
        Source::Header => "header",
        Source::Positions => "positions",
        Source::Barycentric { .. } => "barycentric",
        Source::Depth => "depth",
        Source::W => "w",
        Source::Offset => "offset",
        Source::Coverage => "coverage",
        Source::Constant { .. } => "constant",
        Source::Attribute { .. } => "attribute",
        Source::Payload => "payload",
        Source::Zero => "zero",
        Source::Machine => "machine",
    };
    let mut json = json!({ "kind": kind });
    match source {
        Source::Barycentric { mode, vertex } => {
            json["mode"] = json!(mode);
            json["vertex"] = json!(vertex);
        }
        Source::Constant { buffer, address } => {
            json["buffer"] = json!(buffer);
            json["address"] = json!(address_text(*address));
        }
        Source::Attribute { number, component, term } => {
            json["attribute"] = json!(number);
            json["component"] = json!(component);
            json["term"] = json!(term);
        }
        _ => {}
    }
    json
}
