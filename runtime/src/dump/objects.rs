//! Pieces of memory in a dump of a hang, and their decoding by themselves.

use super::{Content, Dump};
use crate::decode::Tables;
use crate::engine::EngineId;
use crate::error_state::{Buffer, BufferKind, Engine, ErrorState};
use crate::memory::VA_MASK;
use crate::submission::{Each, Source, Submission};
use std::io;

/// A piece of memory of an error state or device coredump.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    state: &'a ErrorState,
    buffer: &'a Buffer,
    /// The engine of the hang, for memory that belongs to no engine.
    fallback: Option<&'a Engine>,
}

/// Bytes before the registers in a context image of Gen8 and later: its status page.
const STATUS_PAGE: usize = 4096;

/// Number of packets that are tried, to distinguish commands from other data.
const TRIED: usize = 4096;

impl<'a> Object<'a> {
    /// Its name: `rcs0 user buffer`.
    pub fn name(&self) -> String {
        let owner = self.buffer.engine.as_deref().unwrap_or("global");
        format!("{owner} {}", self.buffer.kind.name())
    }

    /// GPU address of the first byte, 48 bits.
    pub fn address(&self) -> u64 {
        self.buffer.address & VA_MASK
    }

    /// Its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        &self.buffer.data
    }

    /// The address after the last byte.
    pub fn end(&self) -> u64 {
        self.address() + self.bytes().len() as u64
    }

    /// True if a text names the object: its name, the name of its kind, or the name in the file,
    /// such as `HW context`.
    fn is_called(&self, text: &str) -> bool {
        let simple = |text: &str| -> String {
            let letters = text.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect()
        };
        let (kind, wanted) = (self.buffer.kind.name(), simple(text));
        let owner = self.buffer.engine.as_deref().unwrap_or("global");
        let short = kind.strip_suffix(" buffer").unwrap_or(kind);
        let names = [kind, short].map(simple);
        let known = BufferKind::of_name(text) == self.buffer.kind;
        known || names.iter().any(|name| wanted == *name || wanted == simple(owner) + name)
    }

    fn engine(&self) -> Option<&'a Engine> {
        let own = self.buffer.engine.as_deref().and_then(|name| self.state.engine(name));
        own.or(self.fallback).or(self.state.engines.first())
    }

    /// The engine that would execute it; the render engine if the file names none.
    pub fn engine_id(&self) -> EngineId {
        self.engine().and_then(Engine::id).unwrap_or(EngineId::Render)
    }

    /// Bytes before its first command.
    fn skipped(&self) -> usize {
        // Images of xe have their status page in a buffer of its own.
        let is_context = self.buffer.kind == BufferKind::Context;
        let has_page = self.state.platform().is_none_or(|platform| platform.generation >= 80)
            && self.state.entry("module") != Some("xe");
        let bytes = if is_context && has_page { STATUS_PAGE } else { 0 };
        if self.bytes().len() > bytes { bytes } else { 0 }
    }

    /// True if the object holds commands: nearly all of its first packets are known, and not all of
    /// them are MI_NOOP.
    pub fn is_commands(&self, tables: &Tables) -> bool {
        const END: &str = "MI_BATCH_BUFFER_END";
        let bytes = &self.bytes()[self.skipped()..];
        let dwords = bytes.as_chunks::<4>().0;
        let (mut at, mut known, mut unknown, mut useful) = (0, 0, 0, 0);
        while at < dwords.len() && known + unknown < TRIED {
            let header = u32::from_le_bytes(dwords[at]);
            match tables.instruction(self.engine_id(), header) {
                Some(container) => {
                    known += 1;
                    useful += usize::from(header != 0);
                    if container.name == END {
                        break;
                    }
                    at += container.packet_dwords(header).max(1);
                }
                None => (unknown, at) = (unknown + 1, at + 1),
            }
        }
        useful > 0 && unknown * 10 <= known
    }
}

impl Dump {
    /// The pieces of memory of an error state or device coredump, in the order of the file. Empty
    /// for other dumps.
    pub fn objects(&self) -> Vec<Object<'_>> {
        let (state, fallback) = match &self.content {
            Content::ErrorState(state) => (&**state, None),
            Content::Devcoredump(dump) => (&dump.state, dump.engine()),
            _ => return Vec::new(),
        };
        let buffers = state.buffers.iter().filter(|buffer| !buffer.data.is_empty());
        buffers.map(|buffer| Object { state, buffer, fallback }).collect()
    }

    /// The objects that an address lies in, or that have a name: `rcs0 user`, `HW context`.
    pub fn objects_at(&self, address: Option<u64>, name: &str) -> Vec<Object<'_>> {
        let mut objects = self.objects();
        objects.retain(|object| match address {
            Some(address) => (object.address()..object.end()).contains(&(address & VA_MASK)),
            None => object.is_called(name),
        });
        objects
    }
}

/// Objects as submissions: each is decoded as commands of its engine.
#[derive(Debug)]
pub struct Objects<'a>(pub Vec<Object<'a>>);

impl Source for Objects<'_> {
    fn submissions(&mut self, each: &mut Each<'_>) -> io::Result<()> {
        for (number, object) in self.0.iter().enumerate() {
            let engine = object.engine().map_or("", |engine| engine.name.as_str());
            let view = object.state.memory(engine);
            let skipped = object.skipped() as u64;
            let length = object.bytes().len() as u64 - skipped;
            let (address, id) = (object.address() + skipped, object.engine_id());
            let plain = Submission::of_batch(id, &view, address, length);
            each(&Submission {
                name: &object.name(),
                number: number as u64,
                global: object.buffer.kind.is_global(),
                ..plain
            })?;
        }
        Ok(())
    }
}
