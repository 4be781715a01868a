//! The differences of two dumps.

use super::align::{common, pairs};
use super::packet::{Change, packets};
use super::tree::{Node, Tree};
use crate::decode::Kind;
use genxml_core::bits;
use genxml_core::reflect;
use std::collections::HashMap;

/// The differences of two dumps.
#[derive(Debug)]
pub struct DumpDiff<'a> {
    pub(super) old: &'a Tree,
    pub(super) new: &'a Tree,
    /// Submissions, in order of both dumps.
    pub(super) steps: Vec<TreeStep>,
}

/// A submission, a packet, or something that a packet points to. It is in the first dump, in the
/// second, or in both.
#[derive(Debug)]
pub(super) struct TreeStep {
    pub old: Option<usize>,
    pub new: Option<usize>,
    /// The differences, if it is in both dumps and not equal.
    pub changed: Option<Box<Changed>>,
}

/// The differences of something that both dumps have.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Changed fields.
    pub fields: Vec<Change>,
    /// If no field differs: lines or dwords that are only in the first dump (false) or only in the
    /// second (true).
    pub lines: Vec<(bool, String)>,
    /// Differences in what the entry points to.
    pub inner: Vec<TreeStep>,
}

/// Counts of packets, structures and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Number of entries that both dumps have with different contents. What they point to is
    /// counted separately.
    pub changed: u64,
    /// Number of entries that only the first dump has. What they point to is not counted.
    pub removed: u64,
    /// Number of entries that only the second dump has. What they point to is not counted.
    pub added: u64,
}

/// Compares two dumps: submissions, then packets, then what packets point to. Equal entries are
/// paired first, as many as possible in order; between them, entries with the same name. The others
/// were removed or added. Both trees must be complete
/// ([`Sink::finish`](crate::decode::Sink::finish)).
pub fn dumps<'a>(old: &'a Tree, new: &'a Tree) -> DumpDiff<'a> {
    let mut walk = Walk { old, new, contents: HashMap::new(), kinds: HashMap::new() };
    let steps = walk.level(None, None, 0);
    DumpDiff { old, new, steps }
}

/// Largest depth that is compared; no record is nested as deep.
const MAX_DEPTH: u32 = 64;

/// Largest number of lines that list the differences of one entry.
const MAX_LINES: usize = 400;

impl DumpDiff<'_> {
    /// True if the dumps are equal.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(TreeStep::is_same)
    }

    /// Counts the differences.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.steps.iter().for_each(|step| step.count(&mut counts));
        counts
    }
}

impl TreeStep {
    pub fn is_same(&self) -> bool {
        self.old.is_some() && self.new.is_some() && self.changed.is_none()
    }

    fn count(&self, counts: &mut Counts) {
        match (self.old, self.new, &self.changed) {
            (Some(_), Some(_), Some(changed)) => {
                counts.changed +=
                    u64::from(!changed.fields.is_empty() || !changed.lines.is_empty());
                changed.inner.iter().for_each(|step| step.count(counts));
            }
            (Some(_), None, _) => counts.removed += 1,
            (None, Some(_), _) => counts.added += 1,
            _ => {}
        }
    }
}

struct Walk<'a> {
    old: &'a Tree,
    new: &'a Tree,
    /// `contents` gives equal contents the same number, `kinds` gives equal names the same number.
    contents: HashMap<u64, u32>,
    kinds: HashMap<Name, u32>,
}

/// The properties that the entries of a pair must share: kind, name, index, and the address of a
/// register or the header of an unknown packet.
type Name = (Option<u8>, &'static str, Option<u32>, Option<u32>);

fn name(node: &Node, dwords: &[u32]) -> Name {
    let kind = node.kind.map(|kind| kind as u8);
    let number = match node.kind {
        Some(Kind::Register) => Some(node.address as u32),
        Some(Kind::Unknown) => dwords.first().copied(),
        _ => None,
    };
    (kind, node.name, node.index, number)
}

impl Walk<'_> {
    fn level(&mut self, old: Option<usize>, new: Option<usize>, depth: u32) -> Vec<TreeStep> {
        let (olds, news) = (self.old.children(old), self.new.children(new));
        let (old_contents, old_kinds) = self.numbers(self.old, &olds);
        let (new_contents, new_kinds) = self.numbers(self.new, &news);
        pairs((&old_contents, &new_contents), (&old_kinds, &new_kinds))
            .into_iter()
            .map(|(x, y)| {
                let (old, new) = (x.map(|x| olds[x]), y.map(|y| news[y]));
                let changed = old.zip(new).and_then(|(old, new)| self.changed(old, new, depth));
                TreeStep { old, new, changed }
            })
            .collect()
    }

    fn numbers(&mut self, tree: &Tree, nodes: &[usize]) -> (Vec<u32>, Vec<u32>) {
        let numbers = nodes.iter().map(|at| {
            let node = &tree.nodes[*at];
            let (contents, kinds) = (self.contents.len() as u32, self.kinds.len() as u32);
            (
                *self.contents.entry(node.all).or_insert(contents),
                *self.kinds.entry(name(node, tree.dwords(node))).or_insert(kinds),
            )
        });
        numbers.unzip()
    }

    fn changed(&mut self, old: usize, new: usize, depth: u32) -> Option<Box<Changed>> {
        let (a, b) = (&self.old.nodes[old], &self.new.nodes[new]);
        if a.all == b.all || depth > MAX_DEPTH {
            return None;
        }
        let mut changed = Changed::default();
        if a.own != b.own {
            self.own(a, b, &mut changed);
        }
        changed.inner = self.level(Some(old), Some(new), depth + 1);
        Some(Box::new(changed))
    }

    /// Fills in the differences of two nodes of the same name, without what they point to.
    fn own(&self, a: &Node, b: &Node, changed: &mut Changed) {
        let (old, new) = (self.old.dwords(a), self.new.dwords(b));
        match (a.kind, a.container) {
            (Some(Kind::Kernel), _) => {
                changed.lines = lines(&instructions(old), &instructions(new))
            }
            (Some(Kind::Note), _) => {
                changed.lines = vec![(false, a.text.to_string()), (true, b.text.to_string())];
            }
            // The second dword of a register has no description of its own.
            (_, Some(container)) if a.register.is_none_or(|register| register.dword == 0) => {
                let (old_seen, new_seen) = (self.old.compared(a), self.new.compared(b));
                let fields = packets(container, old, new).changes.into_iter();
                changed.fields =
                    fields.filter(|change| differs(old_seen, new_seen, change.bits)).collect();
            }
            _ => changed.lines = dwords(old, new),
        }
        if changed.fields.is_empty() && changed.lines.is_empty() {
            // No field differs: one of the packets may be truncated. List the dwords that differ.
            changed.lines = dwords(old, new);
        }
    }
}

/// True if the bits differ; missing bits are zero. Also true if the lists have different lengths
/// and the bits go beyond the shorter one.
fn differs(old: &[u32], new: &[u32], (start, end): (u32, u32)) -> bool {
    let parts = (start..=end).step_by(64).map(|first| (first, end.min(first + 63)));
    let mut parts = parts
        .filter(|(first, last)| bits::get(old, *first, *last) != bits::get(new, *first, *last));
    parts.next().is_some()
        || old.len() != new.len() && end as usize >= 32 * old.len().min(new.len())
}

/// A kernel's instructions as text.
pub(super) fn instructions(dwords: &[u32]) -> Vec<String> {
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let text = genxml_eu::instructions(&bytes).map(|instruction| match instruction {
        Ok(located) => located.to_string(),
        Err(error) => error.to_string(),
    });
    text.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Lines that only one of the lists has.
fn lines(old: &[String], new: &[String]) -> Vec<(bool, String)> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let [a, b] = [old, new].map(|list| -> Vec<u32> {
        let number = |line| {
            let next = numbers.len() as u32;
            *numbers.entry(line).or_insert(next)
        };
        list.iter().map(String::as_str).map(number).collect()
    });
    let mut out = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (to_x, to_y) in common(&a, &b).into_iter().chain([(a.len(), b.len())]) {
        out.extend(old[x..to_x].iter().map(|line| (false, line.clone())));
        out.extend(new[y..to_y].iter().map(|line| (true, line.clone())));
        (x, y) = (to_x + 1, to_y + 1);
    }
    shorten(&mut out);
    out
}

/// Dwords that differ, with their positions.
fn dwords(old: &[u32], new: &[u32]) -> Vec<(bool, String)> {
    let mut out = Vec::new();
    for at in 0..old.len().max(new.len()) {
        let (a, b) = (old.get(at), new.get(at));
        if a != b {
            let line = |value: &u32| format!("dw{at}: {value:#010x}");
            out.extend(a.map(|value| (false, line(value))));
            out.extend(b.map(|value| (true, line(value))));
        }
        if out.len() > 2 * MAX_LINES {
            break;
        }
    }
    shorten(&mut out);
    out
}

fn shorten(lines: &mut Vec<(bool, String)>) {
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES);
        lines.push((true, "... and more".to_owned()));
    }
}

/// True if the node has a container with fields or groups. False for later dwords of a register,
/// which have no description of their own.
pub(super) fn has_fields(node: &Node) -> bool {
    let described = |container: &reflect::Container| {
        !container.fields.is_empty() || !container.groups.is_empty()
    };
    node.container.is_some_and(described)
        && node.register.is_none_or(|register| register.dword == 0)
}
