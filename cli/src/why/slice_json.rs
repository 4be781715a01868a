//! Slices as JSON.

use super::slice_text::{hex, vertex_use};
use genxml_sim::eu::types::Type;
use genxml_sim::inspect::slice::{
    AttributeUse, Change, Element, Fetched, Node, Origin, Slice, Source, StatePacket, Traced,
};
use genxml_sim::inspect::words;
use genxml_sim::mem::Client;
use genxml_sim::render::sbe::AttributeSource;
use genxml_sim::value_slice::{
    DrawState, FetchedValue, GeometrySlice, How, Made, MemoryRead, Need, StageSlice, StateMemory,
    ThreadSlice, VertexSlice, What,
};
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
        How::Streamed => "streamed",
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
        "geometry": made.geometry.as_ref().map(|it| geometry(it)),
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

/// The slice of a thread of any stage.
struct Part<'s> {
    traced: &'s Traced,
    channel: u8,
    slice: &'s Slice,
    sources: &'s [Source],
    reads: &'s [MemoryRead],
    is_cut: bool,
}

fn thread(slice: &ThreadSlice) -> Json {
    let mut json = part(&Part {
        traced: &slice.traced,
        channel: slice.traced.channel,
        slice: &slice.slice,
        sources: &slice.sources,
        reads: &slice.reads,
        is_cut: slice.reads_are_cut,
    });
    json["draw"] = json!(slice.fragment.as_ref().map(|(touch, _)| touch.number));
    json["primitive"] = json!(
        slice.fragment.as_ref().map(|(touch, index)| touch.fragments[*index].primitive.number)
    );
    json
}

fn stage(slice: &StageSlice) -> Json {
    let mut json = part(&Part {
        traced: &slice.traced,
        channel: slice.channel,
        slice: &slice.slice,
        sources: &slice.sources,
        reads: &slice.reads,
        is_cut: slice.reads_are_cut,
    });
    json["stage"] = json!(slice.stage);
    json
}

fn geometry(slice: &GeometrySlice) -> Json {
    let corners = slice.corners.iter();
    json!({
        "primitive": slice.primitive,
        "corners": corners
            .map(|it| json!({ "position": it.position, "weights": it.weights }))
            .collect::<Vec<_>>(),
        "attributes": slice.attributes.iter().map(attribute).collect::<Vec<_>>(),
        "vertices": slice.vertices.iter().map(vertex).collect::<Vec<_>>(),
        "inputs": slice.inputs.iter().map(vertex).collect::<Vec<_>>(),
        "untraced": slice.untraced,
        "cut": slice.is_cut,
    })
}

fn attribute(attribute: &AttributeUse) -> Json {
    let mut json = json!({ "attribute": attribute.number, "component": attribute.component });
    json["kind"] = json!(match attribute.source {
        Some(AttributeSource::Vertices { dword, only }) => {
            json["dword"] = json!(dword);
            json["vertex"] = json!(only);
            "vertices"
        }
        Some(AttributeSource::Constant(bits)) => {
            json["bits"] = json!(address_text(bits.into()));
            "constant"
        }
        Some(AttributeSource::PrimitiveId) => "primitive ID",
        Some(AttributeSource::Sprite) => "sprite",
        None => "missing",
    });
    json
}

fn vertex(vertex: &VertexSlice) -> Json {
    let need = |need: &Need| {
        json!({
            "dword": need.dword,
            "bits": need.bits.map(|bits| address_text(bits.into())),
            "uses": need.uses.iter().map(|it| vertex_use(*it)).collect::<Vec<_>>(),
            "from": need.node,
        })
    };
    json!({
        "vertex": vertex.number,
        "number": vertex.vertex.as_ref().map(|it| it.number),
        "instance": vertex.vertex.as_ref().map(|it| it.instance),
        "dwords": vertex.needs.iter().map(need).collect::<Vec<_>>(),
        "thread": match &vertex.shader {
            Some(Ok(slice)) => stage(slice),
            _ => Json::Null,
        },
        "error": match &vertex.shader {
            Some(Err(error)) => json!(error.to_string()),
            _ => Json::Null,
        },
        "index": vertex.index.as_ref().map(read),
        "fetched": vertex.fetched.iter().map(fetched).collect::<Vec<_>>(),
    })
}

fn fetched(value: &FetchedValue) -> Json {
    let mut json = json!({
        "dword": value.dword,
        "element": null,
        "read": value.read.as_ref().map(read),
    });
    json["kind"] = json!(match &value.from {
        Fetched::Buffer { element, component, buffer, format, entry, .. } => {
            json["element"] = json!(element);
            json["component"] = json!(component);
            json["buffer"] = json!(buffer);
            json["format"] = json!(format);
            json["entry"] = json!(entry);
            "buffer"
        }
        Fetched::Outside { element, buffer } => {
            json["element"] = json!(element);
            json["buffer"] = json!(buffer);
            "outside"
        }
        Fetched::Constant { element } => {
            json["element"] = json!(element);
            "constant"
        }
        Fetched::VertexId => "vertex ID",
        Fetched::InstanceId => "instance ID",
        Fetched::Nothing => "nothing",
    });
    json
}

fn part(slice: &Part<'_>) -> Json {
    let traced = slice.traced;
    let inputs = slice.slice.inputs.iter().zip(slice.sources).enumerate();
    json!({
        "kernel": address_text(traced.recording.kernel),
        "channel": slice.channel,
        "executed": traced.recording.steps.len(),
        "cut": slice.slice.is_cut || slice.is_cut,
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
                "source": match input.urb {
                    Some(urb) => json!({ "kind": "urb", "offset": address_text(urb as u64) }),
                    None => self::source(source),
                },
                "reads": reads(slice, Origin::Input(index)),
            }))
            .collect::<Vec<_>>(),
    })
}

fn reads(slice: &Part<'_>, reader: Origin) -> Vec<Json> {
    slice.reads.iter().filter(|read| read.reader == Some(reader)).map(read).collect()
}

fn read(read: &MemoryRead) -> Json {
    json!({
        "address": address_text(read.address),
        "bytes": read.bytes,
        "writer": read.writer.as_ref().map(change),
        "made": read.made.as_ref().map(|made| value(made)),
    })
}

fn node(slice: &Part<'_>, index: usize, node: &Node) -> Json {
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
        Source::Handles => "handles",
        Source::PrimitiveId => "primitive ID",
        Source::Vertex { .. } => "vertex",
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
        Source::Vertex { lane, vertex, dword } => {
            json["lane"] = json!(lane);
            json["vertex"] = json!(vertex);
            json["dword"] = json!(dword);
        }
        _ => {}
    }
    json
}
