//! Writes of state, and the state that is in effect at a draw.

use super::draws::{DrawCounter, is_draw};
use super::glob::Glob;
use crate::decode::{Kind, Record, Sink};
use crate::engine::EngineId;
use crate::submission::Submission;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// The state that a query is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Packets, structures or registers whose name matches.
    Named(Glob),
    /// The register at this byte offset.
    Register(u32),
}

impl What {
    /// True if the record writes this state.
    fn is_written(&self, record: &Record) -> bool {
        match (self, record.kind) {
            (_, Kind::Data | Kind::Row | Kind::Kernel | Kind::Note) => false,
            (_, Kind::Register) if record.read => false,
            (What::Named(glob), Kind::Register) => {
                glob.matches(record.name)
                    || record.register.is_some_and(|register| glob.matches(&register.to_string()))
            }
            (What::Named(glob), _) => glob.matches(record.name),
            (What::Register(offset), Kind::Register) => record.address == u64::from(*offset),
            (What::Register(offset), _) => loaded_register(record) == Some(*offset),
        }
    }
}

/// Offset of the register that a packet loads from memory or from another register.
fn loaded_register(record: &Record) -> Option<u32> {
    let field = match record.name {
        "MI_LOAD_REGISTER_MEM" => "Register Address",
        "MI_LOAD_REGISTER_REG" => "Destination Register Address",
        _ => return None,
    };
    record.item(field)?.register_offset()
}

/// A write: a packet that sets state, a structure that a packet points to, or a register that a
/// command writes.
#[derive(Debug, Clone)]
pub struct Write {
    /// Number of the submission.
    pub submission: u64,
    /// Number of the context.
    pub context: u32,
    /// The engine that executes the write.
    pub engine: EngineId,
    /// Number of the next draw; after the last draw, the number of draws plus one.
    pub before_draw: u64,
    /// Name and address of the packet that sets the state, writes the register or points to the
    /// structure.
    pub packet: (&'static str, u64),
    /// The record with the fields.
    pub record: Record,
}

/// The position in the dump: submission, draw and packet.
struct Place {
    submission: u64,
    context: u32,
    engine: EngineId,
    counter: DrawCounter,
    packet: (&'static str, u64),
}

impl Place {
    fn new() -> Place {
        let counter = DrawCounter::default();
        Place { submission: 0, context: 0, engine: EngineId::Render, counter, packet: ("", 0) }
    }

    fn section(&mut self, submission: &Submission<'_>) {
        let Submission { number, context, engine, .. } = *submission;
        (self.submission, self.context, self.engine) = (number, context, engine);
    }

    fn record(&mut self, record: &Record) {
        if record.kind.is_packet() {
            self.counter.packet(record);
            self.packet = (record.name, record.address);
        }
    }

    fn write(&self, record: &Record) -> Write {
        Write {
            submission: self.submission,
            context: self.context,
            engine: self.engine,
            before_draw: self.counter.draws() + 1,
            packet: self.packet,
            record: Record { depth: 0, ..record.clone() },
        }
    }
}

/// A sink that reports every write.
pub struct Writes<'a> {
    what: &'a What,
    each: &'a mut dyn FnMut(&Write) -> io::Result<()>,
    place: Place,
}

impl<'a> Writes<'a> {
    /// A sink that passes each write of `what` to `each`; an error from `each` ends the decoding.
    pub fn new(what: &'a What, each: &'a mut dyn FnMut(&Write) -> io::Result<()>) -> Writes<'a> {
        Writes { what, each, place: Place::new() }
    }

    /// Number of draws so far.
    pub fn draws(&self) -> u64 {
        self.place.counter.draws()
    }
}

impl Sink for Writes<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.place.section(submission);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.place.record(record);
        if self.what.is_written(record) { (self.each)(&self.place.write(record)) } else { Ok(()) }
    }
}

/// Identifies a state: the name of the record, and a number if several states share the name.
type Key = (&'static str, u64);

/// Packets that set one of several numbered states, and the field with the number.
const NUMBERED: [(&str, &str); 3] = [
    ("3DSTATE_VERTEX_BUFFERS", "Vertex Buffer Index"),
    ("3DSTATE_VF_INSTANCING", "Vertex Element Index"),
    ("3DSTATE_SO_BUFFER", "SO Buffer Index"),
];

fn key(record: &Record) -> Key {
    let number = match record.kind {
        Kind::Register => record.address,
        Kind::Struct => record.index.map_or(0, u64::from),
        _ => match loaded_register(record) {
            Some(offset) => offset.into(),
            None => {
                let field = NUMBERED.iter().find(|(packet, _)| *packet == record.name);
                field.and_then(|(_, field)| record.item(field)).map_or(0, |item| item.stored)
            }
        },
    };
    (record.name, number)
}

/// True for a register, and for a packet that only sets state for later packets or loads a
/// register.
fn is_state(record: &Record) -> bool {
    let does = |name: &str| {
        is_draw(name)
            || ["MI_", "XY_", "PIPE_CONTROL", "MEDIA_STATE_FLUSH"]
                .iter()
                .any(|start| name.starts_with(start))
    };
    match record.kind {
        Kind::Register => true,
        Kind::Packet | Kind::Partial => !does(record.name) || loaded_register(record).is_some(),
        _ => false,
    }
}

/// A sink that collects the last write of each state before a draw, in the context and on the
/// engine of that draw. It ignores records after the draw.
pub struct InEffect<'a> {
    what: Option<&'a What>,
    draw: u64,
    place: Place,
    seen: HashMap<(u32, EngineId), BTreeMap<Key, (u64, Write)>>,
    count: u64,
    found: Option<Vec<Write>>,
}

/// A sink that collects the state in effect at the draw with this number: only `what`, or all
/// state. Pass the sink to a decoder, then call [`InEffect::writes`].
pub fn in_effect(what: Option<&What>, draw: u64) -> InEffect<'_> {
    InEffect { what, draw, place: Place::new(), seen: HashMap::new(), count: 0, found: None }
}

impl InEffect<'_> {
    /// The last write of each state, in the order of the dump; `None` if there are fewer draws.
    pub fn writes(self) -> Option<Vec<Write>> {
        self.found
    }

    /// Number of draws so far.
    pub fn draws(&self) -> u64 {
        self.place.counter.draws()
    }
}

impl Sink for InEffect<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.place.section(submission);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let before = self.place.counter.draws();
        self.place.record(record);
        if self.found.is_some() {
            return Ok(());
        }
        let context = (self.place.context, self.place.engine);
        let now = self.place.counter.draws();
        if now > before && now == self.draw {
            let mut all: Vec<(u64, Write)> =
                self.seen.remove(&context).unwrap_or_default().into_values().collect();
            all.sort_by_key(|(count, _)| *count);
            self.found = Some(all.into_iter().map(|(_, write)| write).collect());
            return Ok(());
        }
        let asked = match self.what {
            Some(what) => what.is_written(record),
            None => is_state(record),
        };
        if asked {
            self.count += 1;
            let write = (self.count, self.place.write(record));
            self.seen.entry(context).or_default().insert(key(record), write);
        }
        Ok(())
    }
}
