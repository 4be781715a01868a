//! A dump as a tree to compare: submissions, their packets, and what these point to.

use crate::decode::{Item, Kind, Record, Sink, Tables, Value};
use crate::query::Glob;
use crate::submission::Submission;
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use genxml_core::reflect::{Container, RegisterAt};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Range;

/// What is ignored in a comparison.
#[derive(Debug, Clone, Default)]
pub struct Ignore {
    /// True if addresses are ignored. If the decoder shows the target of an address, the target is
    /// compared instead. Of other addresses, only two properties are compared: whether they are
    /// zero, and the offset in the page. Offsets from a base are ignored.
    pub addresses: bool,
    /// Names of ignored fields, `FIELD` or `PACKET.FIELD`.
    pub fields: Vec<Glob>,
}

impl Ignore {
    fn field(&self, record: &Record, item: &Item) -> bool {
        self.fields.iter().any(|glob| {
            glob.matches(item.name) || glob.matches(&format!("{}.{}", record.name, item.name))
        })
    }

    fn nothing(&self) -> bool {
        !self.addresses && self.fields.is_empty()
    }
}

/// A dump as a tree: a sink that collects it.
#[derive(Debug)]
pub struct Tree {
    tables: &'static Tables,
    ignore: Ignore,
    pub(super) nodes: Vec<Node>,
    /// The dwords of all nodes. `compared` is a copy of them without the bits that are ignored.
    dwords: Vec<u32>,
    compared: Vec<u32>,
    /// Nodes to which later nodes may still belong.
    open: Vec<Open>,
    /// Hashes of the submission's kernels so far, by address, because a repeated kernel is only a
    /// remark.
    kernels: HashMap<u64, u64>,
    /// Depth of the last packet.
    packet: u32,
}

/// A node to which later nodes may still belong.
#[derive(Debug)]
struct Open {
    node: usize,
    /// First and last bit of each address in the node's dwords, and the target of the address.
    addresses: Vec<(u32, u32, u64)>,
}

/// A submission, or a record.
#[derive(Debug)]
pub(super) struct Node {
    /// `None` for a submission.
    pub kind: Option<Kind>,
    pub name: &'static str,
    pub index: Option<u32>,
    pub register: Option<RegisterAt>,
    pub container: Option<&'static Container>,
    pub address: u64,
    /// The text of a remark, or the description of a submission.
    pub text: Box<str>,
    depth: u32,
    dwords: Range<usize>,
    /// Hash of the node itself (`own`), and of the node with everything that it points to (`all`).
    pub own: u64,
    pub all: u64,
    /// The index after the last node below it, directly or indirectly; its own index + 1 if no
    /// node is below it.
    pub end: usize,
}

impl Tree {
    /// An empty tree for the containers of `tables`. `ignore` must be the same for both dumps.
    pub fn new(tables: &'static Tables, ignore: Ignore) -> Tree {
        let (dwords, compared, kernels) = (Vec::new(), Vec::new(), HashMap::new());
        Tree {
            tables,
            ignore,
            nodes: Vec::new(),
            dwords,
            compared,
            open: Vec::new(),
            kernels,
            packet: 0,
        }
    }

    pub(super) fn dwords(&self, node: &Node) -> &[u32] {
        &self.dwords[node.dwords.clone()]
    }

    /// The dwords of a node, with zeros in the bits that are not compared.
    pub(super) fn compared(&self, node: &Node) -> &[u32] {
        match self.ignore.nothing() {
            true => self.dwords(node),
            false => &self.compared[node.dwords.clone()],
        }
    }

    /// Indices of the nodes directly below the node `of`; without `of`, of the submissions.
    pub(super) fn children(&self, of: Option<usize>) -> Vec<usize> {
        let (mut at, end) = match of {
            Some(node) => (node + 1, self.nodes[node].end),
            None => (0, self.nodes.len()),
        };
        let mut all = Vec::new();
        while at < end {
            all.push(at);
            at = self.nodes[at].end;
        }
        all
    }

    /// Completes the open nodes at this depth or deeper. `next` is the address of the next record.
    fn close(&mut self, depth: u32, next: Option<u64>) {
        while let Some(open) = self.open.pop_if(|open| self.nodes[open.node].depth >= depth) {
            self.complete(&open, next);
        }
    }

    fn complete(&mut self, open: &Open, next: Option<u64>) {
        let end = self.nodes.len();
        let at = open.node;
        self.nodes[at].end = end;
        let range = self.nodes[at].dwords.clone();
        for (first, last, target) in &open.addresses {
            let below = self.nodes[at + 1..end].iter().any(|node| node.address == *target);
            if below || next == Some(*target) {
                put(&mut self.compared[range.clone()], *first, *last, 0);
            }
        }
        let node = &self.nodes[at];
        let mut hasher = DefaultHasher::new();
        (node.kind.map(|kind| kind as u8), node.name, node.index).hash(&mut hasher);
        match node.kind {
            Some(Kind::Note) => match self.kernels.get(&node.address) {
                Some(kernel) => kernel.hash(&mut hasher),
                None => self.remark(&node.text).hash(&mut hasher),
            },
            Some(_) => self.compared(node).hash(&mut hasher),
            None => {}
        }
        if let Some(register) = node.register {
            (register.register.name, register.index, register.dword).hash(&mut hasher);
        }
        let own = hasher.finish();
        for child in self.children(Some(at)) {
            self.nodes[child].all.hash(&mut hasher);
        }
        let all = hasher.finish();
        let node = &mut self.nodes[at];
        (node.own, node.all) = (own, all);
        if node.kind == Some(Kind::Kernel) {
            self.kernels.insert(node.address, own);
        }
    }

    /// The text of a remark; if addresses are ignored, without its hexadecimal numbers.
    fn remark(&self, text: &str) -> String {
        if !self.ignore.addresses {
            return text.to_owned();
        }
        let mut parts = text.split("0x");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()));
        }
        out
    }

    /// Masks the parts of the record that are not compared, and collects addresses whose targets
    /// may follow.
    fn mask(&mut self, record: &Record, start: usize) -> Vec<(u32, u32, u64)> {
        self.compared.resize(start, 0);
        self.compared.extend_from_slice(&record.dwords);
        let dwords = &mut self.compared[start..];
        let mut addresses = Vec::new();
        for item in record.items.iter().filter(|item| item.value != Value::Nested) {
            if self.ignore.field(record, item) {
                put(dwords, item.start, item.end, 0);
                continue;
            }
            let Value::Address { value, space, absolute, .. } = item.value else { continue };
            match space {
                _ if !self.ignore.addresses || space == SpaceKind::Mmio => {}
                SpaceKind::Graphics => {
                    // The bits from 12 on are cleared; the last bit of the field is then set unless
                    // the address is zero.
                    let page = (item.start / 32 * 32 + 12).max(item.start);
                    if page <= item.end {
                        put(dwords, page, item.end, 0);
                        put(dwords, item.end, item.end, u64::from(value != 0));
                    }
                    addresses.extend(absolute.map(|target| (item.start, item.end, target)));
                }
                _ => put(dwords, item.start, item.end, 0),
            }
        }
        addresses
    }

    fn push(&mut self, node: Node, addresses: Vec<(u32, u32, u64)>) {
        self.open.push(Open { node: self.nodes.len(), addresses });
        self.nodes.push(node);
    }
}

/// Replaces the bits of a field of any width.
fn put(dwords: &mut [u32], start: u32, end: u32, value: u64) {
    for bit in start..=end {
        if let Some(dword) = dwords.get_mut((bit / 32) as usize) {
            let one = bits::ones(1) as u32;
            let set = (value.checked_shr(bit - start).unwrap_or(0) as u32) & one;
            *dword = *dword & !(one << (bit % 32)) | set << (bit % 32);
        }
    }
}

impl Sink for Tree {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.close(0, None);
        self.kernels.clear();
        let Submission { number, context, engine, address, .. } = *submission;
        let text = format!("exec {number}, context {context}, {engine} engine");
        let at = self.dwords.len();
        let node = Node {
            kind: None,
            name: engine.name(),
            index: None,
            register: None,
            container: None,
            address,
            text: text.into(),
            depth: 0,
            dwords: at..at,
            own: 0,
            all: 0,
            end: 0,
        };
        self.push(node, Vec::new());
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        // Packets of a called batch are placed after the call, not below it. So a batch that a ring
        // calls and the same batch by itself are equal.
        if record.kind.is_packet() {
            self.packet = record.depth;
        }
        let depth = 1 + record.depth.saturating_sub(self.packet);
        self.close(depth, Some(record.address));
        let start = self.dwords.len();
        self.dwords.extend_from_slice(&record.dwords);
        let addresses = if self.ignore.nothing() { Vec::new() } else { self.mask(record, start) };
        let node = Node {
            kind: Some(record.kind),
            name: record.name,
            index: record.index,
            register: record.register,
            container: match record.register {
                Some(register) => Some(register.register),
                None => self.tables.container(record.name),
            },
            address: record.address,
            text: record.note.as_str().into(),
            depth,
            dwords: start..self.dwords.len(),
            own: 0,
            all: 0,
            end: 0,
        };
        self.push(node, addresses);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.close(0, None);
        Ok(())
    }
}
