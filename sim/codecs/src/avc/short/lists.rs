//! The reference lists of a slice (8.2.4, H.8.2).

use super::header::{Header, Modification};
use super::stream::{Store, Stream};
use crate::Structure;
use crate::avc::parameters::count_of;
use crate::avc::{Entry, Parameters, Slice, SliceKind};
use std::cmp::Reverse;

/// What the lists of a slice are made from.
struct Maker<'a> {
    stores: &'a [Store; 16],
    /// Of the current picture.
    view: u16,
    /// References in other views by list: their stores in the order of their indices.
    others: [Vec<Option<usize>>; 2],
    /// Picture order counts of the fields of the stores.
    counts: &'a [[i32; 2]; 16],
    /// Of the current picture.
    structure: Structure,
    /// Picture order count of the current picture.
    count: i32,
    /// `frame_num` of the current picture.
    frame_number: i32,
    /// `MaxFrameNum`.
    numbers: i32,
    /// Frames that stand for gaps in `frame_num` have picture order counts. If false, B slices do
    /// not use them.
    gaps_have_order: bool,
}

/// Makes the lists of `slice`.
pub(super) fn fill(stream: &Stream, parameters: &Parameters, header: &Header, slice: &mut Slice) {
    let maker = Maker {
        stores: &stream.stores,
        view: stream.view,
        others: [0, 1].map(|list| match header.dependent {
            true => other_views(stream, list),
            false => Vec::new(),
        }),
        counts: &parameters.counts,
        structure: parameters.structure,
        count: count_of(parameters.count, parameters.structure),
        frame_number: header.frame_number.into(),
        numbers: 1 << stream.frame_number_bits.min(16),
        gaps_have_order: stream.order_type != 0,
    };
    let initial = match slice.kind {
        SliceKind::I => return,
        SliceKind::P => [maker.by_number(), Vec::new()],
        SliceKind::B => maker.by_order(),
    };
    for (list, mut entries) in initial.into_iter().enumerate() {
        let count = usize::from(slice.reference_counts[list]).min(32);
        // A field refers to the field of the same parity (H.8.2.1).
        let others = maker.others[list].iter().flatten();
        entries.extend(others.map(|&store| maker.entry(store, maker.structure)));
        entries.resize(count, Entry::default());
        maker.modify(&mut entries, list, &header.modifications[list]);
        slice.lists[list][..count].copy_from_slice(&entries);
    }
}

/// The frame stores of the references of list `list` in other views, by index. The length is the
/// number that the packets state, or more if a store has a greater index. An index without a store
/// is `None`.
fn other_views(stream: &Stream, list: usize) -> Vec<Option<usize>> {
    let mut others = vec![None; stream.views[list].into()];
    for (at, store) in
        stream.stores.iter().enumerate().filter(|(_, store)| store.view != stream.view)
    {
        let Some(index) = store.view_index[list] else { continue };
        let index = usize::from(index);
        if others.len() <= index {
            others.resize(index + 1, None);
        }
        others[index] = Some(at);
    }
    others
}

impl Maker<'_> {
    fn is_field(&self) -> bool {
        self.structure.is_field()
    }

    /// True if pictures of this slice can refer to the store: to both fields, or to one if the
    /// picture is a field.
    fn usable(&self, store: &Store) -> bool {
        match self.is_field() {
            true => store.fields[0] || store.fields[1],
            false => store.fields == [true; 2],
        }
    }

    /// The stores of usable short-term or long-term references.
    fn of_term(&self, long_term: bool) -> impl Iterator<Item = usize> {
        (0..16).filter(move |&at| {
            let store = &self.stores[at];
            store.long_term == long_term && store.view == self.view && self.usable(store)
        })
    }

    /// `FrameNumWrap` (8.2.4.1).
    fn wrapped(&self, store: usize) -> i32 {
        let number = i32::from(self.stores[store].number);
        if number > self.frame_number { number - self.numbers } else { number }
    }

    /// Picture order count of the fields of a store that are used for reference.
    fn order(&self, store: usize) -> i32 {
        let counts = (0..2).filter(|&field| self.stores[store].fields[field]);
        counts.map(|field| self.counts[store][field]).min().unwrap_or(0)
    }

    /// The initial list of a P slice (8.2.4.2.1, 8.2.4.2.2).
    fn by_number(&self) -> Vec<Entry> {
        let mut short: Vec<usize> = self.of_term(false).collect();
        short.sort_by_key(|&store| Reverse(self.wrapped(store)));
        self.with_long_term(&short)
    }

    /// The initial lists of a B slice (8.2.4.2.3, 8.2.4.2.4).
    fn by_order(&self) -> [Vec<Entry>; 2] {
        let present = |store: &usize| self.gaps_have_order || !self.stores[*store].missing;
        // For a field, equal counts go to the past: so the first field of its frame is included.
        let before = |store: &usize| match self.order(*store) {
            count if self.is_field() => count <= self.count,
            count => count < self.count,
        };
        let (mut past, mut future): (Vec<usize>, Vec<usize>) =
            self.of_term(false).filter(present).partition(before);
        past.sort_by_key(|&store| Reverse(self.order(store)));
        future.sort_by_key(|&store| self.order(store));
        let first = self.with_long_term(&[past.as_slice(), &future].concat());
        let mut second = self.with_long_term(&[future, past].concat());
        if second.len() > 1 && second == first {
            second.swap(0, 1);
        }
        [first, second]
    }

    /// Entries for short-term references in this order, and for all long-term references.
    fn with_long_term(&self, short: &[usize]) -> Vec<Entry> {
        let mut long: Vec<usize> = self.of_term(true).collect();
        long.sort_by_key(|&store| self.stores[store].number);
        let mut entries = self.entries(short);
        entries.extend(self.entries(&long));
        entries
    }

    /// Entries for stores. For a field, fields of the same parity and of the other one by turns, as
    /// long as both last (8.2.4.2.5).
    fn entries(&self, stores: &[usize]) -> Vec<Entry> {
        if !self.is_field() {
            return stores.iter().map(|&store| self.entry(store, Structure::Frame)).collect();
        }
        let own = self.structure;
        let fields = |structure: Structure| {
            let marked = move |store: &&usize| {
                self.stores[**store].fields[usize::from(structure == Structure::Bottom)]
            };
            stores.iter().filter(marked).map(move |&store| self.entry(store, structure))
        };
        let (mut same, mut other) = (fields(own), fields(own.opposite()));
        let mut entries = Vec::new();
        loop {
            match same.next() {
                Some(entry) => entries.push(entry),
                None => break entries.extend(other),
            }
            match other.next() {
                Some(entry) => entries.push(entry),
                None => break entries.extend(same),
            }
        }
        entries
    }

    fn entry(&self, store: usize, structure: Structure) -> Entry {
        Entry {
            present: true,
            long_term: self.stores[store].long_term,
            store: store as u8,
            bottom: structure == Structure::Bottom,
        }
    }

    /// Moves pictures to the front of list `number` (8.2.4.3, H.8.2.2).
    fn modify(&self, list: &mut [Entry], number: usize, modifications: &[Modification]) {
        let others = &self.others[number];
        let views = others.len() as i32;
        let mut index = -1;
        // Fields have numbers of twice the range; those of the same parity are odd.
        let scale = if self.is_field() { 2 } else { 1 };
        let range = scale * self.numbers;
        let current = scale * self.frame_number + (scale - 1);
        let mut predicted = current;
        for (at, modification) in modifications.iter().enumerate().take(list.len()) {
            let step = match *modification {
                Modification::ViewMinus(step) => Some(-(step as i32)),
                Modification::ViewPlus(step) => Some(step as i32),
                _ => None,
            };
            if let Some(step) = step {
                index = (index + step).rem_euclid(views.max(1));
                let store = others.get(index as usize).copied().flatten();
                if let Some(store) = store {
                    move_to(list, at, self.entry(store, self.structure));
                }
                continue;
            }
            let (number, long_term) = match *modification {
                Modification::LongTerm(number) => (number as i32, true),
                Modification::Minus(step) => {
                    predicted = (predicted - step as i32).rem_euclid(range);
                    (predicted, false)
                }
                Modification::Plus(step) => {
                    predicted = (predicted + step as i32).rem_euclid(range);
                    (predicted, false)
                }
                Modification::ViewMinus(_) | Modification::ViewPlus(_) => continue,
            };
            let number = if !long_term && number > current { number - range } else { number };
            let Some(entry) = self.find(number, long_term) else { continue };
            move_to(list, at, entry);
        }
    }

    /// The picture with this `PicNum` or `LongTermPicNum`.
    fn find(&self, number: i32, long_term: bool) -> Option<Entry> {
        let (number, structure) = match (self.is_field(), number & 1) {
            (false, _) => (number, Structure::Frame),
            (true, 1) => (number >> 1, self.structure),
            (true, _) => (number >> 1, self.structure.opposite()),
        };
        let marked = |store: &usize| match structure {
            Structure::Frame => true,
            Structure::Top => self.stores[*store].fields[0],
            Structure::Bottom => self.stores[*store].fields[1],
        };
        let stated = |store: usize| match long_term {
            true => i32::from(self.stores[store].number),
            false => self.wrapped(store),
        };
        let found = self.of_term(long_term).filter(marked).find(|&store| stated(store) == number);
        Some(self.entry(found?, structure))
    }
}

/// Moves an entry to position `at`. The entries up to its old position move back by one.
fn move_to(list: &mut [Entry], at: usize, entry: Entry) {
    let old = list[at..].iter().position(|&other| other == entry);
    let end = old.map_or(list.len(), |old| at + old + 1);
    list[at..end].rotate_right(1);
    list[at] = entry;
}
