//! Slices as text.

use genxml_sim::inspect::history::Kind;
use genxml_sim::inspect::slice::{
    AttributeUse, Change, Element, Fetched, Input, Node, Operand, Origin, Slice, Source, Traced,
    VertexUse,
};
use genxml_sim::inspect::words;
use genxml_sim::mem::{Client, Va};
use genxml_sim::render::sbe::AttributeSource;
use genxml_sim::value_slice::{
    DrawState, FetchedValue, GeometrySlice, How, Made, MemoryRead, Need, ThreadSlice, VertexSlice,
    What,
};
use std::io::{self, Write};

/// Writes what made a value, indented by `indent` spaces.
pub fn write(out: &mut dyn Write, made: &Made, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    match &made.how {
        How::Thread(slice) => thread(out, slice, indent)?,
        How::Copied { pixel: [x, y], source } => {
            writeln!(out, "{pad}copied from pixel {x},{y} of its source, {}", what(source))?;
            write!(out, "{pad}{}", written(source.writer.as_ref()))?;
            writeln!(out)?;
            write_inner(out, source, indent + 2)?;
        }
        How::Streamed => writeln!(out, "{pad}written by stream output")?,
        How::Filled => writeln!(out, "{pad}a constant or a pattern of the blit")?,
        How::Outside => writeln!(out, "{pad}written by the program, or not at all")?,
        How::Packet => writeln!(out, "{pad}this kind of writer has no slice")?,
        How::End => writeln!(out, "{pad}not followed further; a greater --depth follows it")?,
        How::Unreadable => writeln!(out, "{pad}the source is not mapped, or has another format")?,
        How::Failed(error) => writeln!(out, "{pad}no slice: {error}")?,
    }
    if let Some(geometry) = &made.geometry {
        self::geometry(out, geometry, indent)?;
    }
    made.state.as_ref().map_or(Ok(()), |state| self::state(out, state, indent))
}

/// Dwords of a packet that are printed.
const DWORDS: usize = 8;

/// The packets that set the state of a draw, and the state in memory.
fn state(out: &mut dyn Write, state: &DrawState, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    if !state.packets.is_empty() {
        writeln!(out, "{pad}state that the pixel depends on")?;
    }
    for packet in &state.packets {
        let dwords: Vec<String> =
            packet.dwords.iter().take(DWORDS).map(|dword| format!("{dword:08x}")).collect();
        let more = if packet.dwords.len() > DWORDS { " ..." } else { "" };
        let (stage, at) = (packet.stage.name(), packet.at);
        writeln!(out, "{pad}  {stage:<9} {at}: {}{more}", dwords.join(" "))?;
    }
    if !state.memory.is_empty() {
        writeln!(out, "{pad}state and vertices in memory that the command and its threads read")?;
    }
    for memory in &state.memory {
        writeln!(
            out,
            "{pad}  {:<9} {} bytes at {}, {}",
            match memory.client {
                Client::Vertices => "vertices",
                _ => "state",
            },
            memory.bytes,
            Va(memory.address),
            written(memory.writer.as_ref())
        )?;
    }
    match state.is_cut {
        true => writeln!(out, "{pad}  the list is cut: there is more"),
        false => Ok(()),
    }
}

fn write_inner(out: &mut dyn Write, made: &Made, indent: usize) -> io::Result<()> {
    match made.how {
        How::Outside | How::Packet => Ok(()),
        _ => write(out, made, indent),
    }
}

/// The changes of a range of memory.
pub fn changes(
    out: &mut dyn Write,
    (address, bytes): (u64, u64),
    changes: &[Change],
) -> io::Result<()> {
    writeln!(out, "memory at {}, {bytes} bytes", Va(address))?;
    for (number, change) in changes.iter().enumerate() {
        writeln!(out, "{}. {}", number + 1, writer(change))?;
        let new = hex(&change.new);
        match &change.old {
            Some(old) => writeln!(out, "   bytes      {} -> {new}", hex(old))?,
            None => writeln!(out, "   bytes      {new}")?,
        }
    }
    match changes {
        [] => writeln!(out, "nothing wrote the memory"),
        _ => Ok(()),
    }
}

/// The bytes in hexadecimal, the first one first.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn what(made: &Made) -> String {
    match &made.value {
        What::Pixel(probe) => {
            format!("pixel {},{} at {}", probe.at[0], probe.at[1], Va(probe.address))
        }
        What::Memory { address, bytes } => format!("{bytes} bytes at {}", Va(*address)),
    }
}

fn written(change: Option<&Change>) -> String {
    match change {
        Some(change) => format!("last written by {}", writer(change)),
        None => "never written".to_owned(),
    }
}

fn writer(change: &Change) -> String {
    let exec = change.label.map_or_else(String::new, |label| format!(" (exec {label})"));
    let submission = change.submission;
    match (change.draw, change.at) {
        (Some(draw), Some(at)) => format!("draw {draw}: submission {submission}{exec}, {at}"),
        (None, Some(at)) => {
            format!("{}: submission {submission}{exec}, {at}", change.kind.name())
        }
        (_, None) => format!("{}: before submission {submission}{exec}", Kind::Host.name()),
    }
}

fn thread(out: &mut dyn Write, slice: &ThreadSlice, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    let traced = &slice.traced;
    let (nodes, all) = (slice.slice.nodes.len(), traced.recording.steps.len());
    let from = match &slice.fragment {
        Some((touch, index)) => {
            let primitive = touch.fragments[*index].primitive.number;
            format!("draw {}, primitive {primitive}, ", touch.number)
        }
        None => slice.at.map_or_else(String::new, |at| format!("{at}, ")),
    };
    writeln!(
        out,
        "{pad}slice: {from}channel {} of a thread of the kernel at {}: {nodes} of {all} \
         instructions",
        traced.channel,
        Va(traced.recording.kernel),
    )?;
    let part = Part {
        traced,
        slice: &slice.slice,
        sources: &slice.sources,
        reads: &slice.reads,
        is_cut: slice.reads_are_cut,
    };
    instructions(out, &part, indent)
}

/// The slice of a thread of any stage.
struct Part<'s> {
    traced: &'s Traced,
    slice: &'s Slice,
    /// The source of each input of the slice.
    sources: &'s [Source],
    reads: &'s [MemoryRead],
    /// More memory was read than is listed.
    is_cut: bool,
}

fn instructions(out: &mut dyn Write, slice: &Part<'_>, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    if slice.slice.is_cut {
        writeln!(out, "{pad}the slice is cut: it has more instructions")?;
    }
    for (index, node) in slice.slice.nodes.iter().enumerate() {
        self::node(out, slice, index, node, indent + 2)?;
    }
    if slice.is_cut {
        writeln!(out, "{pad}the list of memory reads is cut: there are more")?;
    }
    Ok(())
}

/// The vertices of a primitive, and what made them.
fn geometry(out: &mut dyn Write, slice: &GeometrySlice, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    writeln!(out, "{pad}vertices of primitive {}", slice.primitive)?;
    if !slice.corners.is_empty() {
        writeln!(out, "{pad}  the clipper cut the primitive; its corners:")?;
    }
    for (number, corner) in slice.corners.iter().enumerate() {
        let [x, y, z, w] = corner.position;
        let weights = corner.weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let of: Vec<String> = match corner.weights.iter().position(|weight| *weight == 1.0) {
            Some(vertex) => vec![format!("vertex {vertex}")],
            None => weights.map(|(vertex, it)| format!("{it} of vertex {vertex}")).collect(),
        };
        writeln!(out, "{pad}    corner {number}: {x} {y} {z} {w}, made of {}", of.join(", "))?;
    }
    for attribute in &slice.attributes {
        writeln!(out, "{pad}  {}", attribute_source(attribute))?;
    }
    for vertex in &slice.vertices {
        self::vertex(out, "vertex", vertex, indent + 2)?;
    }
    if let Some(stages) = slice.untraced {
        writeln!(out, "{pad}  {stages}: not traced; the slice ends at their output")?;
    }
    if !slice.inputs.is_empty() {
        writeln!(out, "{pad}  the input of the geometry shader")?;
    }
    for vertex in &slice.inputs {
        self::vertex(out, "input vertex", vertex, indent + 2)?;
    }
    match slice.is_cut {
        true => writeln!(out, "{pad}  the list of vertex data is cut: there is more"),
        false => Ok(()),
    }
}

/// Where setup takes a component of an attribute from.
fn attribute_source(attribute: &AttributeUse) -> String {
    let name = format!("attribute {} {}", attribute.number, component(attribute.component));
    match attribute.source {
        Some(AttributeSource::Vertices { dword, only: None }) => {
            format!("{name}: dword {dword} of the vertices, interpolated")
        }
        Some(AttributeSource::Vertices { dword, only: Some(vertex) }) => {
            format!("{name}: dword {dword} of vertex {vertex}, not interpolated")
        }
        Some(AttributeSource::Constant(bits)) => {
            format!("{name}: the constant {} of 3DSTATE_SBE_SWIZ", f32::from_bits(bits))
        }
        Some(AttributeSource::PrimitiveId) => format!("{name}: the primitive ID"),
        Some(AttributeSource::Sprite) => format!("{name}: the sprite coordinate of the point"),
        None => format!("{name}: 3DSTATE_SBE has fewer attributes"),
    }
}

fn component(number: u8) -> &'static str {
    ["x", "y", "z", "w"].get(usize::from(number)).copied().unwrap_or("?")
}

/// What a dword of a vertex is for.
pub fn vertex_use(what: VertexUse) -> String {
    match what {
        VertexUse::Position(n) => format!("position {}", component(n)),
        VertexUse::ArrayIndex => "render target array index".to_owned(),
        VertexUse::Viewport => "viewport index".to_owned(),
        VertexUse::PointWidth => "point width".to_owned(),
        VertexUse::Distance(n) => format!("clip or cull distance {n}"),
        VertexUse::Attribute { number, component: n } => {
            format!("attribute {number} {}", component(n))
        }
        VertexUse::Streamed(address) => format!("written to {}", Va(address)),
        VertexUse::Input => "read by the geometry shader".to_owned(),
    }
}

fn vertex(out: &mut dyn Write, name: &str, vertex: &VertexSlice, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    let fetched = vertex.vertex.as_ref().map_or_else(String::new, |vertex| {
        format!(": number {}, instance {}", vertex.number, vertex.instance)
    });
    writeln!(out, "{pad}{name} {}{fetched}", vertex.number)?;
    for need in &vertex.needs {
        self::need(out, need, vertex, indent + 2)?;
    }
    match &vertex.shader {
        Some(Ok(stage)) => {
            let (nodes, all) = (stage.slice.nodes.len(), stage.traced.recording.steps.len());
            writeln!(
                out,
                "{pad}  slice: {}, channel {} of a thread of the kernel at {}: {nodes} of {all} \
                 instructions",
                stage.stage,
                stage.channel,
                Va(stage.traced.recording.kernel),
            )?;
            let part = Part {
                traced: &stage.traced,
                slice: &stage.slice,
                sources: &stage.sources,
                reads: &stage.reads,
                is_cut: stage.reads_are_cut,
            };
            instructions(out, &part, indent + 2)?;
        }
        Some(Err(error)) => writeln!(out, "{pad}  no slice: {error}")?,
        None => {}
    }
    if let Some(index) = &vertex.index {
        read(out, index, "index", indent + 2)?;
    }
    for value in &vertex.fetched {
        self::fetched(out, value, indent + 2)?;
    }
    Ok(())
}

fn need(out: &mut dyn Write, need: &Need, vertex: &VertexSlice, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    let bits = need
        .bits
        .map_or_else(String::new, |bits| format!(" = {} ({bits:#010x})", f32::from_bits(bits)));
    let uses: Vec<String> = need.uses.iter().map(|it| vertex_use(*it)).collect();
    let from = match (need.node, &vertex.shader) {
        (Some(node), _) => format!(", from [{node}]"),
        (None, Some(Ok(stage))) if vertex.vertex.is_some() => {
            format!(", not written by the {}", stage.stage)
        }
        _ => String::new(),
    };
    writeln!(out, "{pad}dword {:<4}{bits}, {}{from}", need.dword, uses.join(", "))
}

fn fetched(out: &mut dyn Write, value: &FetchedValue, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    let dword = value.dword;
    let from = match &value.from {
        Fetched::Buffer { element, component: n, buffer, format, entry, .. } => {
            format!(
                "element {element} {}, entry {entry} of vertex buffer {buffer}, {format}",
                component(*n)
            )
        }
        Fetched::Outside { element, buffer } => {
            format!("0: element {element} is outside of vertex buffer {buffer}")
        }
        Fetched::Constant { element } => format!("a constant of element {element}"),
        Fetched::VertexId => "the vertex ID".to_owned(),
        Fetched::InstanceId => "the instance ID".to_owned(),
        Fetched::Nothing => "no vertex element".to_owned(),
    };
    writeln!(out, "{pad}fetched dword {dword}: {from}")?;
    match &value.read {
        Some(it) => read(out, it, "vertex", indent + 2),
        None => Ok(()),
    }
}

fn node(
    out: &mut dyn Write,
    slice: &Part<'_>,
    index: usize,
    node: &Node,
    indent: usize,
) -> io::Result<()> {
    let pad = " ".repeat(indent);
    let text = slice.traced.text(node.offset);
    writeln!(out, "{pad}[{index}] +{:#06x} {text}", node.offset)?;
    if let Some(sent) = node.message {
        let words = words::words(Default::default(), sent.function, sent.descriptor);
        writeln!(out, "{pad}    message    {words}")?;
    }
    let several = node.channels.count_ones() > 1;
    for operand in &node.operands {
        let channel =
            if several { format!(" (channel {})", operand.channel) } else { String::new() };
        let from = origins(slice, operand);
        writeln!(out, "{pad}    {:<10} {}{channel}{from}", operand.name, value(&operand.element))?;
    }
    for read in slice.reads.iter().filter(|read| read.reader == Some(Origin::Node(index))) {
        self::read(out, read, "read", indent + 4)?;
    }
    for result in &node.results {
        writeln!(out, "{pad}    result     {}", value(result))?;
    }
    if node.decides {
        writeln!(out, "{pad}    decides which of the following instructions are executed")?;
    }
    if !node.because.is_empty() {
        let list: Vec<String> = node.because.iter().map(|index| format!("[{index}]")).collect();
        writeln!(out, "{pad}    executed because of {}", list.join(", "))?;
    }
    // The memory that the operands of this instruction come from.
    for input in inputs(node) {
        let reads = slice.reads.iter().filter(|read| read.reader == Some(Origin::Input(input)));
        for read in reads {
            self::read(out, read, "constant", indent + 4)?;
        }
    }
    Ok(())
}

fn inputs(node: &Node) -> Vec<usize> {
    let mut inputs: Vec<usize> = node
        .operands
        .iter()
        .flat_map(|operand| &operand.from)
        .filter_map(|origin| match origin {
            Origin::Input(index) => Some(*index),
            Origin::Node(_) => None,
        })
        .collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs
}

fn read(out: &mut dyn Write, read: &MemoryRead, name: &str, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent);
    let bytes = read.writer.as_ref().map_or_else(String::new, |it| format!(" = {}", hex(&it.new)));
    writeln!(
        out,
        "{pad}{name:<10} {} bytes at {}{bytes}, {}",
        read.bytes,
        Va(read.address),
        written(read.writer.as_ref())
    )?;
    match &read.made {
        Some(made) => write_inner(out, made, indent + 2),
        None => Ok(()),
    }
}

fn origins(slice: &Part<'_>, operand: &Operand) -> String {
    let mut words: Vec<String> = Vec::new();
    for origin in &operand.from {
        let word = match *origin {
            Origin::Node(index) => format!("[{index}]"),
            Origin::Input(index) => match slice.slice.inputs.get(index) {
                Some(Input { urb: Some(_), .. }) => "the URB at the start of the thread".to_owned(),
                _ => slice.sources.get(index).map(source).unwrap_or_default(),
            },
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    match words.is_empty() {
        true => String::new(),
        false => format!(", from {}", words.join(", ")),
    }
}

/// The source of a register at the start of a thread.
pub fn source(source: &Source) -> String {
    match source {
        Source::Header => "the header of the thread".to_owned(),
        Source::Positions => "positions and mask of the pixels".to_owned(),
        Source::Barycentric { mode, vertex } => {
            format!("the weight of vertex {vertex} ({mode})")
        }
        Source::Depth => "the depth at the pixel".to_owned(),
        Source::W => "w at the pixel".to_owned(),
        Source::Offset => "the offset of the sample".to_owned(),
        Source::Coverage => "the mask of covered samples".to_owned(),
        Source::Constant { buffer, address } => {
            format!("constant buffer {buffer} at {}", Va(*address))
        }
        Source::Attribute { number, component, term } => {
            let component = ["x", "y", "z", "w"].get(usize::from(*component)).unwrap_or(&"?");
            format!("attribute {number} {component}, {}", attribute(term))
        }
        Source::Handles => "the handles of URB entries".to_owned(),
        Source::PrimitiveId => "the primitive ID".to_owned(),
        Source::Vertex { vertex: None, dword, .. } => format!("fetched dword {dword}"),
        Source::Vertex { vertex: Some(vertex), dword, .. } => {
            format!("dword {dword} of input vertex {vertex}")
        }
        Source::Payload => "the payload of the thread".to_owned(),
        Source::Zero => "0 at the start".to_owned(),
        Source::Machine => "the state of the thread".to_owned(),
    }
}

fn attribute(term: &str) -> &'static str {
    match term {
        "c1" => "vertex 1 minus vertex 0",
        "c2" => "vertex 2 minus vertex 0",
        "a0" => "at vertex 0",
        _ => "unused",
    }
}

fn value(element: &Element) -> String {
    match element.bits {
        Some(bits) => format!("{} = {}", element.name, number(element, bits)),
        None => format!("{} (not recorded)", element.name),
    }
}

fn number(element: &Element, bits: u64) -> String {
    use genxml_sim::eu::types::Type;
    match element.ty {
        Type::F => format!("{} ({bits:#010x})", f32::from_bits(bits as u32)),
        Type::Df => format!("{} ({bits:#018x})", f64::from_bits(bits)),
        Type::D => format!("{} ({bits:#010x})", bits as u32 as i32),
        _ => format!("{bits:#x}"),
    }
}
