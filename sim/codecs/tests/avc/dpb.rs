//! The decoded picture buffer: marking of references (H.264 8.2.5) and reference lists (8.2.4).
//!
//! A frame keeps its frame store, the index 0 to 15 that drivers give the engine, as long as one
//! of its fields is a reference.

use super::headers::Sps;
use super::slice::{Header, Operation};
use genxml_codecs::avc::Entry;
use genxml_codecs::{Frame, Structure};
use std::cmp::Reverse;

/// Bits of the fields of a picture: 1 top, 2 bottom.
pub fn fields(structure: Structure) -> u8 {
    match structure {
        Structure::Top => 1,
        Structure::Bottom => 2,
        Structure::Frame => 3,
    }
}

/// A frame of which a field is a reference.
#[derive(Clone, Debug, Default)]
pub struct Store {
    pub frame: Frame,
    pub motion: Vec<u8>,
    /// Identity of the frame: no other frame of the stream has it.
    pub id: u16,
    pub frame_num: u32,
    pub long_term_index: u32,
    /// Fields that are short-term references.
    pub short: u8,
    /// Fields that are long-term references.
    pub long: u8,
    /// Picture order counts of the fields; only those of `decoded` fields count.
    pub counts: [i32; 2],
    /// Fields that were decoded.
    pub decoded: u8,
    /// A frame that stands for a gap of frame_num (8.2.5.2).
    pub absent: bool,
}

impl Store {
    /// PicOrderCnt of the frame, or of the field if only one was decoded (8.2.1).
    fn count(&self) -> i32 {
        match self.decoded {
            1 => self.counts[0],
            2 => self.counts[1],
            _ => self.counts[0].min(self.counts[1]),
        }
    }
}

/// The references and what their marking needs.
#[derive(Clone, Debug, Default)]
pub struct Dpb {
    pub stores: [Option<Store>; 16],
}

/// What 8.2.4.1 needs of the current picture.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub structure: Structure,
    pub frame_num: u32,
    pub max_frame_num: u32,
}

impl Numbers {
    /// FrameNumWrap of a frame.
    fn wrap(self, frame_num: u32) -> i32 {
        let wrap = if frame_num > self.frame_num { self.max_frame_num } else { 0 };
        frame_num as i32 - wrap as i32
    }

    /// CurrPicNum and MaxPicNum (7.4.3).
    fn current(self) -> (i32, i32) {
        match self.structure.is_field() {
            false => (self.frame_num as i32, self.max_frame_num as i32),
            true => (2 * self.frame_num as i32 + 1, 2 * self.max_frame_num as i32),
        }
    }

    /// The frame number and the fields that a picture number stands for, for `picture` either
    /// PicNum or LongTermPicNum.
    fn split(self, picture: i32) -> (i32, u8) {
        match (self.structure.is_field(), picture & 1) {
            (false, _) => (picture, 3),
            (true, 1) => (picture >> 1, fields(self.structure)),
            (true, _) => (picture >> 1, fields(self.structure.opposite())),
        }
    }
}

impl Dpb {
    /// The used stores with their index.
    pub fn used(&self) -> impl Iterator<Item = (usize, &Store)> {
        self.stores.iter().enumerate().filter_map(|(index, store)| Some((index, store.as_ref()?)))
    }

    fn used_mut(&mut self) -> impl Iterator<Item = &mut Store> {
        self.stores.iter_mut().flatten()
    }

    /// Frees the stores of which no field is a reference.
    fn sweep(&mut self) {
        for store in &mut self.stores {
            if store.as_ref().is_some_and(|store| store.short | store.long == 0) {
                *store = None;
            }
        }
    }

    /// Forgets all references.
    pub fn clear(&mut self) {
        *self = Dpb::default();
    }

    /// Puts a frame into a free store and returns its index. Without a free store the oldest frame
    /// has to go, which happens in damaged streams only.
    pub fn insert(&mut self, store: Store, numbers: Numbers) -> usize {
        let free = self.stores.iter().position(Option::is_none);
        let index = free.unwrap_or_else(|| {
            let oldest = self.used().min_by_key(|(_, store)| numbers.wrap(store.frame_num));
            oldest.map_or(0, |(index, _)| index)
        });
        self.stores[index] = Some(store);
        index
    }

    /// The sliding window (8.2.5.3). `current` is the store of the current frame's first field.
    pub fn slide(&mut self, sps: &Sps, numbers: Numbers, current: Option<usize>) {
        if current.is_some_and(|index| self.stores[index].as_ref().is_some_and(|s| s.short != 0)) {
            return;
        }
        let limit = sps.max_num_ref_frames.clamp(1, 16) as usize;
        while self.used().count() >= limit {
            let short = self.used().filter(|(_, store)| store.short != 0);
            let Some((oldest, _)) = short.min_by_key(|(_, store)| numbers.wrap(store.frame_num))
            else {
                break;
            };
            if let Some(store) = &mut self.stores[oldest] {
                store.short = 0;
            }
            if self.stores[oldest].as_ref().is_some_and(|store| store.long != 0) {
                break;
            }
            self.sweep();
        }
    }

    /// Memory management control operations (8.2.5.4). Returns the long-term frame index that
    /// the current picture gets, if any.
    pub fn operate(
        &mut self,
        operations: &[Operation],
        numbers: Numbers,
        current: Option<usize>,
    ) -> Option<u32> {
        let mut own = None;
        for &(operation, first, second) in operations {
            let picture = numbers.current().0.wrapping_sub(first as i32).wrapping_sub(1);
            match operation {
                1 => {
                    let (frame, fields) = numbers.split(picture);
                    if let Some(index) = self.short(frame, numbers, fields)
                        && let Some(store) = &mut self.stores[index]
                    {
                        store.short &= !fields;
                    }
                }
                2 => {
                    let (frame, fields) = numbers.split(first as i32);
                    if let Some(index) = self.long(frame, fields)
                        && let Some(store) = &mut self.stores[index]
                    {
                        store.long &= !fields;
                    }
                }
                3 => {
                    let (frame, fields) = numbers.split(picture);
                    if let Some(index) = self.short(frame, numbers, fields) {
                        self.free_long_term_index(second, Some(index));
                        if let Some(store) = &mut self.stores[index] {
                            store.short &= !fields;
                            store.long |= fields;
                            store.long_term_index = second;
                        }
                    }
                }
                4 => {
                    for store in self.used_mut() {
                        if store.long_term_index >= first {
                            store.long = 0;
                        }
                    }
                }
                5 => self.clear(),
                6 => {
                    self.free_long_term_index(first, current);
                    own = Some(first);
                }
                _ => {}
            }
            self.sweep();
        }
        own
    }

    /// Removes the long-term reference with an index, unless it is of the frame `keep`.
    fn free_long_term_index(&mut self, long_term_index: u32, keep: Option<usize>) {
        for (index, store) in self.stores.iter_mut().enumerate() {
            if let Some(store) = store
                && Some(index) != keep
                && store.long_term_index == long_term_index
            {
                store.long = 0;
            }
        }
    }

    /// The store with FrameNumWrap `frame` and short-term `fields`.
    fn short(&self, frame: i32, numbers: Numbers, fields: u8) -> Option<usize> {
        let found = self.used().find(|(_, store)| {
            store.short & fields == fields && numbers.wrap(store.frame_num) == frame
        });
        Some(found?.0)
    }

    /// The store with LongTermFrameIdx `frame` and long-term `fields`.
    fn long(&self, frame: i32, fields: u8) -> Option<usize> {
        let found = self.used().find(|(_, store)| {
            store.long & fields == fields && store.long_term_index as i32 == frame
        });
        Some(found?.0)
    }

    /// The reference lists of a slice (8.2.4). `count` is PicOrderCnt of the current picture.
    pub fn lists(
        &self,
        header: &Header,
        sps: &Sps,
        numbers: Numbers,
        count: i32,
    ) -> [Vec<Entry>; 2] {
        let mut lists = match header.kind {
            0 => [self.initial_p(numbers), Vec::new()],
            1 => self.initial_b(sps, numbers, count),
            _ => Default::default(),
        };
        for (list, entries) in lists.iter_mut().enumerate() {
            entries.resize(header.num_ref_idx[list], Entry::default());
            self.modify(entries, &header.modifications[list], numbers);
        }
        lists
    }

    /// 8.2.4.2.1 and 8.2.4.2.2.
    fn initial_p(&self, numbers: Numbers) -> Vec<Entry> {
        let whole =
            |marked: u8| if numbers.structure.is_field() { marked != 0 } else { marked == 3 };
        let mut short: Vec<_> = self.used().filter(|(_, store)| whole(store.short)).collect();
        short.sort_by_key(|(_, store)| Reverse(numbers.wrap(store.frame_num)));
        self.entries(&[short], numbers)
    }

    /// 8.2.4.2.3 and 8.2.4.2.4.
    fn initial_b(&self, sps: &Sps, numbers: Numbers, count: i32) -> [Vec<Entry>; 2] {
        let field = numbers.structure.is_field();
        let whole = |marked: u8| if field { marked != 0 } else { marked == 3 };
        let usable = |store: &Store| whole(store.short) && !(store.absent && sps.poc_type == 0);
        let all: Vec<_> = self.used().filter(|(_, store)| usable(store)).collect();
        let (mut past, mut future): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, store)| {
            if field { store.count() <= count } else { store.count() < count }
        });
        past.sort_by_key(|(_, store)| Reverse(store.count()));
        future.sort_by_key(|(_, store)| store.count());
        let list0 = self.entries(&[past.clone(), future.clone()], numbers);
        let mut list1 = self.entries(&[future, past], numbers);
        if list1.len() > 1 && list0 == list1 {
            list1.swap(0, 1);
        }
        [list0, list1]
    }

    /// The entries of short-term references in the order given and of all long-term references.
    fn entries(&self, short: &[Vec<(usize, &Store)>], numbers: Numbers) -> Vec<Entry> {
        let field = numbers.structure.is_field();
        let whole = |marked: u8| if field { marked != 0 } else { marked == 3 };
        let mut long: Vec<_> = self.used().filter(|(_, store)| whole(store.long)).collect();
        long.sort_by_key(|(_, store)| store.long_term_index);
        let short: Vec<_> = short.concat();
        if !field {
            let entry = |long_term| move |&(index, _): &(usize, &Store)| entry(index, 3, long_term);
            return short.iter().map(entry(false)).chain(long.iter().map(entry(true))).collect();
        }
        let short: Vec<_> = short.iter().map(|(index, store)| (*index, store.short)).collect();
        let long: Vec<_> = long.iter().map(|(index, store)| (*index, store.long)).collect();
        let mut out = alternate(&short, numbers.structure, false);
        out.extend(alternate(&long, numbers.structure, true));
        out
    }

    /// 8.2.4.3.
    fn modify(&self, list: &mut Vec<Entry>, modifications: &[(u32, u32)], numbers: Numbers) {
        let (current, max) = numbers.current();
        let mut predicted = current;
        let length = list.len();
        for (at, &(kind, operand)) in modifications.iter().enumerate().take(length) {
            let entry = if kind == 2 {
                let (frame, fields) = numbers.split(operand as i32);
                self.long(frame, fields).map(|index| entry(index, fields, true))
            } else {
                let step = (operand as i32).wrapping_add(1);
                predicted = if kind == 0 {
                    predicted.wrapping_sub(step)
                } else {
                    predicted.wrapping_add(step)
                };
                if predicted < 0 {
                    predicted = predicted.wrapping_add(max);
                } else if predicted >= max {
                    predicted -= max;
                }
                let picture = if predicted > current { predicted - max } else { predicted };
                let (frame, fields) = numbers.split(picture);
                self.short(frame, numbers, fields).map(|index| entry(index, fields, false))
            };
            let Some(entry) = entry else { continue };
            let at = at.min(list.len());
            let mut before = list.split_off(at);
            before.retain(|&other| other != entry);
            list.push(entry);
            list.extend(before);
            list.truncate(length);
            list.resize(length, Entry::default());
        }
    }
}

fn entry(index: usize, fields: u8, long_term: bool) -> Entry {
    Entry { present: true, long_term, store: index as u8, bottom: fields == 2 }
}

/// Takes fields of frames by turns: of the same parity as the current field, of the other one, and
/// so on (8.2.4.2.5). `frames` are store index and marked fields.
fn alternate(frames: &[(usize, u8)], structure: Structure, long_term: bool) -> Vec<Entry> {
    let mut parity = fields(structure);
    let mut next = [0, 0];
    let mut out = Vec::new();
    loop {
        let side = usize::from(parity != fields(structure));
        let found = (next[side]..frames.len()).find(|&at| frames[at].1 & parity != 0);
        let Some(found) = found else { break };
        out.push(entry(frames[found].0, parity, long_term));
        next[side] = found + 1;
        parity = 3 - parity;
    }
    // One parity has ended: what is left of the other follows in order.
    let other = 3 - parity;
    let side = usize::from(other != fields(structure));
    let rest = frames[next[side]..].iter().filter(|frame| frame.1 & other != 0);
    out.extend(rest.map(|frame| entry(frame.0, other, long_term)));
    out
}
