//! Reading dumps, compared with dwords written by hand from the manual's layouts. No code of this
//! project packs them.
//!
//! * `peers`: data that the public decoders read wrong
//! * `corpus`: real captures
//! * `follow`: the data that packets refer to
//! * `values`: the meaning of the bits of each class of field

mod corpus;
mod follow;
mod peers;
mod values;

use genxml::decode::{
    Decoder, Item, Kind, Memory, Options, Record, Sink, State, Summary, Tables, Value,
};
use genxml::engine::EngineId;

const END: u32 = 0x0500_0000;

/// Buffers at addresses.
struct Buffers(Vec<(u64, Vec<u8>)>);

impl Memory for Buffers {
    fn tail(&self, address: u64) -> &[u8] {
        let inside = |(start, bytes): &&(u64, Vec<u8>)| {
            address.checked_sub(*start).is_some_and(|offset| offset < bytes.len() as u64)
        };
        let found = self.0.iter().find(inside);
        found.map(|(start, bytes)| &bytes[(address - start) as usize..]).unwrap_or_default()
    }
}

fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

#[derive(Debug)]
struct Seen {
    depth: u32,
    kind: Kind,
    address: u64,
    name: &'static str,
    index: Option<u32>,
    items: Vec<Item>,
    length: u32,
    there: usize,
    note: String,
    lines: Vec<(u32, String)>,
}

impl Seen {
    fn value(&self, name: &str) -> Value {
        let found = self.items.iter().find(|item| item.name == name);
        found
            .unwrap_or_else(|| panic!("{} has no field {name}: {:#?}", self.name, self.items))
            .value
    }

    fn values(&self, name: &str) -> Vec<Value> {
        self.items.iter().filter(|item| item.name == name).map(|item| item.value).collect()
    }
}

/// Everything that `run` decodes into its sink.
fn seen<T>(run: impl FnOnce(&mut dyn Sink) -> std::io::Result<T>) -> (Vec<Seen>, T) {
    let mut seen = Vec::new();
    let mut sink = |record: &Record| {
        seen.push(Seen {
            depth: record.depth,
            kind: record.kind,
            address: record.address,
            name: record.name,
            index: record.index,
            items: record.items.clone(),
            length: record.length,
            there: record.dwords.len(),
            note: record.note.clone(),
            lines: record.lines.clone(),
        });
        Ok(())
    };
    let result = run(&mut sink).unwrap();
    (seen, result)
}

fn decode(engine: EngineId, memory: &dyn Memory, address: u64) -> (Vec<Seen>, Summary) {
    with(&Options::default(), engine, memory, address)
}

fn with(
    options: &Options,
    engine: EngineId,
    memory: &dyn Memory,
    address: u64,
) -> (Vec<Seen>, Summary) {
    let decoder = Decoder::new(Tables::gen8(), options.clone());
    seen(|sink| decoder.batch(&mut State::default(), engine, memory, address, 0, sink))
}

fn of_dwords(engine: EngineId, dwords: &[u32]) -> Vec<Seen> {
    decode(engine, &Buffers(vec![(0x1000, bytes(dwords))]), 0x1000).0
}
