//! Random valid streams: all syntax that the decoder must support, with meaningless content.
//!
//! The generator keeps a model of what the syntax depends on: contexts of neighbours, references,
//! picture order counts. It models no samples and no vectors. `AVC_DUMP` prints the model of each
//! macroblock.
//!
//! FFmpeg 5.1 is the oracle. Streams do not have what it does in another way than the standard:
//! * filtered edges between P and B slices, and empty 8x8 blocks of CAVLC that are filtered
//! * intra macroblocks in slices of fields whose edges are not filtered
//! * constrained intra prediction beside MBAFF pairs of the other kind that mix intra and inter
//! * direct mode from the first field of the same frame, and a first field with the higher count
//! * temporal direct mode from pictures whose slices have different lists
//! * frames of which one field is a reference; operation 6 in fields; operation 5 with B slices
//! * more than 16 references in slices of fields
//! * weights in monochrome are compared for luma only
//!
//! Frames that stand for a gap of frame_num, and pictures of which parts are missing, do not occur.

mod bits;
mod intra;
mod macroblock;
mod model;
mod residual;
mod syntax;
mod tables;

use super::dpb::{Dpb, Numbers, Store, fields};
use super::headers::{Pps, Sps};
use super::order::Order;
use super::slice::{Header, Operation, Weights};
use crate::bits::BitWriter;
use bits::Cabac;
use genxml_codecs::avc::Entry;
use genxml_codecs::{Structure, emulation};
use macroblock::{Code, Settings, SliceWriter};
use model::{Grid, Mb};
use std::collections::{BTreeMap, BTreeSet};

/// The NAL units of a random stream.
pub fn stream(seed: u64) -> Vec<Vec<u8>> {
    stream_and_limits(seed).0
}

/// As [`stream`]. Also, for each slice, whether FFmpeg decodes direct prediction of it in another
/// way than the standard.
pub fn stream_and_limits(seed: u64) -> (Vec<Vec<u8>>, Vec<bool>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let unit = syntax::sps(&mut random);
    let sps = Sps::parse(&emulation::remove(&unit)).expect("a parameter set that can be read");
    let mut units = vec![unit];
    let mut sets = Vec::new();
    for id in 0..random.u32(1..=3) {
        let unit = syntax::pps(&mut random, &sps, id);
        let pps = Pps::parse(&emulation::remove(&unit), |_| Some(sps.clone()));
        sets.push(pps.expect("a parameter set that can be read"));
        units.push(unit);
    }
    let many = sps.max_num_ref_frames > 4;
    let frames = random.usize(if many { 10..=24 } else { 2..=7 });
    let b_slices = random.u8(0..8) > 0;
    let mut generator = Generator {
        random,
        b_slices,
        sps,
        sets,
        units,
        dpb: Dpb::default(),
        order: Order::default(),
        last_frame_num: 0,
        last_reference: true,
        idr_pic_id: 0,
        long_term_limit: 0,
        taken: BTreeSet::new(),
        uses: BTreeMap::new(),
        mixed: BTreeSet::new(),
        lists: Default::default(),
        reset: false,
        frames: 0,
        no_direct: Vec::new(),
    };
    for frame in 0..frames {
        generator.frame(frame == 0);
    }
    (generator.units, generator.no_direct)
}

struct Generator {
    random: fastrand::Rng,
    sps: Sps,
    sets: Vec<Pps>,
    units: Vec<Vec<u8>>,
    dpb: Dpb,
    order: Order,
    last_frame_num: u32,
    last_reference: bool,
    b_slices: bool,
    idr_pic_id: u32,
    /// MaxLongTermFrameIdx + 1.
    long_term_limit: u32,
    /// Positions in output order that are taken since the last IDR picture.
    taken: BTreeSet<i32>,
    /// Frames that a frame is predicted from, by identity.
    uses: BTreeMap<u16, BTreeSet<u16>>,
    /// Frames of which slices have different lists.
    mixed: BTreeSet<u16>,
    /// Lists of the picture's slices so far.
    lists: [Vec<Entry>; 2],
    /// The picture before has operation 5, after which the same syntax elements may come again.
    reset: bool,
    frames: u16,
    /// Of each slice.
    no_direct: Vec<bool>,
}

/// What the pictures of a frame share.
struct FrameState {
    id: u16,
    idr: bool,
    reference: bool,
    frame_num: u32,
    /// Wanted counts of the top and bottom field.
    wanted: [i32; 2],
    counts: [i32; 2],
    store: Option<usize>,
    decoded: u8,
}

impl Generator {
    fn frame(&mut self, first: bool) {
        let rate = if self.sps.max_num_ref_frames > 4 { 30 } else { 8 };
        let idr = first || self.random.u8(0..rate) == 0;
        // These types of picture order count leave no room for a second frame (8.2.1).
        let fixed = self.sps.poc_type == 2
            || self.sps.poc_type == 1 && self.sps.delta_pic_order_always_zero;
        let reference = idr || fixed && !self.last_reference || self.random.u8(0..3) > 0;
        if idr {
            self.taken.clear();
            self.idr_pic_id = (self.idr_pic_id + 1) % 8;
        }
        let max_frame_num = 1 << self.sps.log2_max_frame_num;
        self.frames += 1;
        let mut frame = FrameState {
            id: self.frames,
            idr,
            reference,
            frame_num: if idr { 0 } else { (self.last_frame_num + 1) % max_frame_num },
            wanted: [0; 2],
            counts: [0; 2],
            store: None,
            decoded: 0,
        };
        let position = self.position();
        let apart = self.random.i32(0..=2);
        frame.wanted = [4 * position, 4 * position + apart];
        self.uses.insert(frame.id, BTreeSet::new());
        if !self.sps.frame_mbs_only && self.random.u8(0..5) < 2 {
            let mut order = [Structure::Top, Structure::Bottom];
            // The field that comes first in the output is decoded first: FFmpeg sorts references by
            // the lower count of the current frame.
            let bottom_first = !fixed || self.sps.offset_for_top_to_bottom_field <= 0;
            if bottom_first && self.random.bool() {
                order.reverse();
                frame.wanted.reverse();
            }
            for structure in order {
                self.picture(structure, &mut frame);
            }
        } else {
            self.picture(Structure::Frame, &mut frame);
        }
        self.last_reference = reference;
    }

    /// A free position in output order.
    fn position(&mut self) -> i32 {
        let last = self.taken.last().copied();
        let free: Vec<i32> =
            (1..last.unwrap_or(0)).filter(|position| !self.taken.contains(position)).collect();
        let position = match last {
            None => 0,
            Some(_) if !free.is_empty() && self.random.u8(0..3) > 0 => {
                free[self.random.usize(0..free.len())]
            }
            Some(last) => last + self.random.i32(1..=3),
        };
        self.taken.insert(position);
        position
    }

    fn picture(&mut self, structure: Structure, frame: &mut FrameState) {
        let set = self.random.usize(0..self.sets.len());
        let pps = self.sets[set].clone();
        let second = frame.decoded != 0;
        let mut header = Header {
            nal_ref_idc: if frame.reference { self.random.u32(1..=3) } else { 0 },
            idr: frame.idr && !second,
            kind: 2,
            pps: pps.id,
            frame_num: frame.frame_num,
            structure,
            idr_pic_id: if frame.idr && !second { self.idr_pic_id } else { 0 },
            direct_spatial: true,
            qp: 26,
            ..Header::default()
        };
        self.count_syntax(&mut header, &pps, frame);
        let counts = self.order.counts(&header, &self.sps);
        match structure {
            Structure::Frame => frame.counts = counts,
            Structure::Top => frame.counts[0] = counts[0],
            Structure::Bottom => frame.counts[1] = counts[1],
        }
        let numbers = Numbers {
            structure,
            frame_num: frame.frame_num,
            max_frame_num: 1 << self.sps.log2_max_frame_num,
        };
        self.marking_syntax(&mut header, numbers, frame);
        let height = self.sps.height_mbs() / structure.step();
        let mbaff = self.sps.mbaff && structure == Structure::Frame;
        let mut grid = Grid {
            width: self.sps.width_mbs,
            mbaff,
            mbs: vec![Mb::default(); self.sps.width_mbs * height],
        };
        let units = grid.mbs.len() / if mbaff { 2 } else { 1 };
        // At an edge between a P and a B slice FFmpeg does not compare all vectors. So pictures
        // have one kind, or do not filter such edges.
        let kinds: &[u32] = match self.random.u8(0..8) {
            _ if !self.b_slices => &[0, 0, 0, 2],
            0..=2 => &[0, 0, 0, 2],
            3..=6 => &[1, 1, 1, 2],
            _ if pps.deblocking_control => &[0, 1, 2],
            _ => &[2],
        };
        self.lists = Default::default();
        if self.reset || self.random.u8(0..4) == 0 {
            let mut delimiter = BitWriter::default();
            delimiter.put(7, 3);
            self.units.push(delimiter.unit(9));
        }
        self.reset = header.resets();
        let mut first = 0;
        let mut slice = 0;
        while first < units {
            slice += 1;
            let end = match self.random.u8(0..3) {
                0 => self.random.usize(first + 1..=units),
                _ => units,
            };
            header.first_mb = first;
            self.slice(&mut header, &pps, numbers, frame, kinds, (&mut grid, slice, end));
            first = end;
        }
        if std::env::var("AVC_DUMP").is_ok() {
            for (at, mb) in grid.mbs.iter().enumerate() {
                println!("DUMP frame {} {structure:?} mb {at}: {mb:?}", frame.id - 1);
            }
        }
        self.mark(&header, numbers, frame);
    }

    /// Syntax elements that give the wanted picture order counts.
    fn count_syntax(&mut self, header: &mut Header, pps: &Pps, frame: &FrameState) {
        let own = usize::from(header.structure == Structure::Bottom);
        match self.sps.poc_type {
            0 => {
                let mask = (1 << self.sps.log2_max_poc_lsb) - 1;
                header.poc_lsb = (frame.wanted[own] & mask) as u32;
                if pps.bottom_field_pic_order && !header.structure.is_field() {
                    header.delta_poc_bottom = frame.wanted[1] - frame.wanted[0];
                }
            }
            1 if !self.sps.delta_pic_order_always_zero => {
                let expected = self.order.clone().counts(header, &self.sps);
                header.delta_poc[0] = frame.wanted[own] - expected[own];
                if pps.bottom_field_pic_order && !header.structure.is_field() {
                    header.delta_poc[1] =
                        (frame.wanted[1] - expected[1]) - (frame.wanted[0] - expected[0]);
                }
                // The first field in output order of an IDR picture has count 0 (8.2.1).
                if header.idr && !header.structure.is_field() {
                    let counts = self.order.clone().counts(header, &self.sps);
                    header.delta_poc[0] -= counts[0].min(counts[1]);
                }
            }
            _ => {}
        }
    }

    /// Memory management control operations.
    fn marking_syntax(&mut self, header: &mut Header, numbers: Numbers, frame: &FrameState) {
        if !frame.reference {
            return;
        }
        if header.idr {
            header.long_term_reference = !header.structure.is_field() && self.random.u8(0..8) == 0;
            return;
        }
        if frame.decoded != 0 {
            return;
        }
        let limit = self.sps.max_num_ref_frames as usize;
        let full = self.dpb.used().count() >= limit;
        let stuck = full && self.dpb.used().all(|(_, store)| store.short == 0);
        if stuck {
            // The sliding window has nothing to remove.
            let long: Vec<(usize, u8)> =
                self.dpb.used().map(|(index, store)| (index, store.long)).collect();
            let (index, marked) = long[self.random.usize(0..long.len())];
            let operations = self.address(index, marked, numbers, true);
            header.operations = Some(operations.iter().map(|&number| (2, number, 0)).collect());
            return;
        }
        if self.random.u8(0..4) > 0 {
            return;
        }
        // FFmpeg does not set the counts of such a frame back (8.2.1), which B slices need.
        if !header.structure.is_field() && !self.b_slices && self.random.bool() {
            header.operations = Some(vec![(5, 0, 0)]);
            return;
        }
        let operations = self.operations(numbers);
        let mut after = self.dpb.clone();
        after.operate(&operations, numbers, None);
        if after.used().count() < limit {
            header.operations = Some(operations);
        }
    }

    fn operations(&mut self, numbers: Numbers) -> Vec<Operation> {
        let mut operations = Vec::new();
        let mut limit = self.long_term_limit;
        let mut dpb = self.dpb.clone();
        if self.random.bool() {
            limit = self.random.u32(0..=3);
            operations.push((4, limit, 0));
            dpb.operate(&operations, numbers, None);
        }
        for _ in 0..self.random.usize(0..3) {
            let stores: Vec<(usize, u8, u8)> =
                dpb.used().map(|(index, store)| (index, store.short, store.long)).collect();
            if stores.is_empty() {
                break;
            }
            let (index, short, long) = stores[self.random.usize(0..stores.len())];
            let whole = |marked: u8| numbers.structure.is_field() && marked != 0 || marked == 3;
            let mut new = Vec::new();
            if long == 0 && whole(short) {
                let numbers = self.address(index, short, numbers, false);
                if short == 3 && limit > 0 && self.random.bool() {
                    let long_term = self.random.u32(0..limit);
                    new.extend(numbers.iter().map(|&number| (3, number, long_term)));
                } else {
                    // Both fields of a pair: FFmpeg takes frames with one field for references.
                    new.extend(numbers.iter().map(|&number| (1, number, 0)));
                }
            } else if short == 0 && whole(long) {
                let numbers = self.address(index, long, numbers, true);
                new.extend(numbers.iter().map(|&number| (2, number, 0)));
            }
            dpb.operate(&new, numbers, None);
            operations.extend(new);
        }
        // FFmpeg forgets the first field if both fields have operation 6.
        if !numbers.structure.is_field() && limit > 0 && self.random.u8(0..3) == 0 {
            operations.push((6, self.random.u32(0..limit), 0));
        }
        operations
    }

    /// What operations state for the frame in a store, or its `marked` fields: LongTermPicNum, or
    /// the difference of picture numbers minus 1.
    fn address(&self, index: usize, marked: u8, numbers: Numbers, long_term: bool) -> Vec<u32> {
        let structure = numbers.structure;
        let parities = match structure.is_field() {
            false => vec![3],
            true => vec![fields(structure), fields(structure.opposite())],
        };
        let marked = parities.into_iter().filter(|parity| marked & parity == *parity);
        let numbers = marked.map(|parity| {
            let entry = Entry {
                present: true,
                long_term,
                store: index as u8,
                bottom: structure.is_field() && parity == 2,
            };
            let number = self.number(entry, numbers);
            let (current, _) = current_numbers(numbers);
            if long_term { number as u32 } else { (current - number - 1) as u32 }
        });
        numbers.collect()
    }

    /// PicNum or LongTermPicNum of an entry (8.2.4.1).
    fn number(&self, entry: Entry, numbers: Numbers) -> i32 {
        let store = self.dpb.stores[usize::from(entry.store)].as_ref().expect("a used store");
        let frame = match entry.long_term {
            true => store.long_term_index as i32,
            false if store.frame_num > numbers.frame_num => {
                store.frame_num as i32 - numbers.max_frame_num as i32
            }
            false => store.frame_num as i32,
        };
        match numbers.structure.is_field() {
            false => frame,
            true => 2 * frame + i32::from(entry.bottom == (numbers.structure == Structure::Bottom)),
        }
    }

    fn slice(
        &mut self,
        header: &mut Header,
        pps: &Pps,
        numbers: Numbers,
        frame: &FrameState,
        kinds: &[u32],
        (grid, slice, end): (&mut Grid, u32, usize),
    ) {
        let no_direct = self.slice_header(header, pps, numbers, frame, kinds);
        self.no_direct.push(no_direct);
        let mut out = BitWriter::default();
        syntax::header(&mut out, header, &self.sps, pps);
        let code = if pps.cabac {
            out.align(true);
            let column = if header.kind == 2 { 0 } else { 1 + header.cabac_init_idc as usize };
            Code::Cabac(Box::new(Cabac::new(out, column, header.qp)))
        } else {
            Code::Cavlc(out)
        };
        let small = pps.scaling.small.iter().flatten().max();
        let large = pps.scaling.large.iter().flatten().max();
        let settings = Settings {
            kind: header.kind,
            slice,
            field: header.structure.is_field(),
            monochrome: self.sps.chroma_format_idc == 0,
            constrained_intra: pps.constrained_intra_pred,
            transform_8x8: pps.transform_8x8,
            direct_8x8_inference: self.sps.direct_8x8_inference,
            refs: header.num_ref_idx,
            no_direct,
            unfiltered: header.deblocking_idc == 1,
            chroma_offsets: pps.chroma_qp_offset,
            largest: small.max(large).map_or(16, |&largest| i64::from(largest)),
            skips: self.random.u8(0..12),
            intra: if no_intra(header) { 0 } else { [0, 2, 4, 10][self.random.usize(0..4)] },
            empty: self.random.u8(0..16),
            reach: [2, 12, 40, 100][self.random.usize(0..4)],
        };
        let mut writer = SliceWriter {
            random: &mut self.random,
            grid,
            code,
            settings,
            qp: header.qp,
            changed: false,
            run: 0,
        };
        writer.write(header.first_mb, end);
        let kind = if header.idr { 5 } else { 1 };
        let first = (header.nal_ref_idc << 5 | kind) as u8;
        let unit = match writer.code {
            Code::Cavlc(out) => out.unit(first),
            Code::Cabac(cabac) => {
                let mut unit = cabac.out.unit_without_stop(first);
                if self.random.u8(0..8) == 0 {
                    // cabac_zero_word.
                    unit.extend([0, 0, 3]);
                }
                unit
            }
        };
        self.units.push(unit);
    }

    /// Fills the header for a slice. Returns true if the colocated picture is the first field of
    /// the frame: FFmpeg takes the wrong macroblocks of it, so direct mode is not to be used.
    fn slice_header(
        &mut self,
        header: &mut Header,
        pps: &Pps,
        numbers: Numbers,
        frame: &FrameState,
        kinds: &[u32],
    ) -> bool {
        header.modifications = Default::default();
        header.weights = None;
        header.num_ref_idx = [0; 2];
        header.kind = 2;
        header.cabac_init_idc = self.random.u32(0..3);
        header.qp = self.random.i32(0..52);
        if self.random.bool() {
            header.qp = header.qp.clamp(15, 35);
        }
        if pps.deblocking_control {
            let idc: &[u32] = if kinds.len() == 3 { &[1, 2] } else { &[0, 0, 0, 1, 2] };
            header.deblocking_idc = idc[self.random.usize(0..idc.len())];
            let offset = |random: &mut fastrand::Rng| {
                if random.bool() { random.i32(-6..=6) } else { 0 }
            };
            header.alpha_offset_div2 = offset(&mut self.random);
            header.beta_offset_div2 = offset(&mut self.random);
            if header.deblocking_idc == 1 {
                (header.alpha_offset_div2, header.beta_offset_div2) = (0, 0);
            }
        }
        if !header.idr {
            header.kind = kinds[self.random.usize(0..kinds.len())];
        }
        if header.kind == 2 {
            avoid_filter(header);
            return false;
        }
        let count = match header.structure {
            Structure::Frame => frame.counts[0].min(frame.counts[1]),
            Structure::Top => frame.counts[0],
            Structure::Bottom => frame.counts[1],
        };
        header.num_ref_idx = [32, if header.kind == 1 { 32 } else { 0 }];
        let all = self.dpb.lists(header, &self.sps, numbers, count);
        let present = all[0].iter().filter(|entry| entry.present).count();
        if present == 0 {
            header.kind = 2;
            header.num_ref_idx = [0; 2];
            avoid_filter(header);
            return false;
        }
        // The filter of FFmpeg ignores references after the first 16 of field pictures.
        let most = if header.structure.is_field() { present.min(16) } else { present };
        header.direct_spatial = header.kind != 1 || most < present || self.random.bool();
        // The reference that a colocated macroblock used has to be in list 0.
        let whole = !header.direct_spatial;
        for list in 0..1 + usize::from(header.kind == 1) {
            let all = &all[list][..present];
            let whole = whole && list == 0;
            header.num_ref_idx[list] = if whole { present } else { self.random.usize(1..=present) };
            if !whole && self.random.u8(0..3) == 0 {
                let most = header.num_ref_idx[list].min(3);
                header.modifications[list] = self.modifications(all, numbers, most);
            }
        }
        let lists = self.dpb.lists(header, &self.sps, numbers, count);
        if !header.direct_spatial && !self.temporal_possible(&lists, numbers.structure) {
            header.direct_spatial = true;
        }
        for (list, before) in lists.iter().zip(&mut self.lists) {
            if before.is_empty() {
                before.clone_from(list);
            } else if before != list && !list.is_empty() {
                self.mixed.insert(frame.id);
            }
        }
        for entry in lists.iter().flatten() {
            let used = self.dpb.stores[usize::from(entry.store)].as_ref().map(|store| store.id);
            self.uses.entry(frame.id).or_default().extend(used);
        }
        if header.kind == 0 && pps.weighted_pred || header.kind == 1 && pps.weighted_bipred_idc == 1
        {
            header.weights = Some(self.weights(header));
        }
        frame.store.is_some()
            && lists[1].first().map(|entry| usize::from(entry.store)) == frame.store
    }

    fn modifications(&mut self, all: &[Entry], numbers: Numbers, most: usize) -> Vec<(u32, u32)> {
        let (current, max) = current_numbers(numbers);
        let mut predicted = current;
        let mut out = Vec::new();
        for _ in 0..self.random.usize(1..=most) {
            let entry = all[self.random.usize(0..all.len())];
            let number = self.number(entry, numbers);
            if entry.long_term {
                out.push((2, number as u32));
                continue;
            }
            let target = number.rem_euclid(max);
            out.push(match target - predicted {
                0 => (0, max as u32 - 1),
                step if step < 0 => (0, -step as u32 - 1),
                step => (1, step as u32 - 1),
            });
            predicted = target;
        }
        out
    }

    /// True if list 0 has all that the colocated picture is predicted from.
    fn temporal_possible(&self, lists: &[Vec<Entry>; 2], structure: Structure) -> bool {
        let id = |entry: &Entry| {
            self.dpb.stores[usize::from(entry.store)].as_ref().map_or(0, |store| store.id)
        };
        let has = |wanted: u16, bottom: bool| {
            lists[0].iter().any(|entry| id(entry) == wanted && entry.bottom == bottom)
        };
        let colocated = lists[1].first().map_or(0, id);
        let Some(uses) = self.uses.get(&colocated) else { return false };
        // FFmpeg keeps the references of the last slice only.
        !self.mixed.contains(&colocated)
            && uses
                .iter()
                .all(|&used| has(used, false) && (!structure.is_field() || has(used, true)))
    }

    fn weights(&mut self, header: &Header) -> ([u32; 2], [Vec<Weights>; 2]) {
        // The sum of two weights is at most 127 or 128 (7.4.3.2).
        let b = header.kind == 1;
        let denominators = [(); 2].map(|()| self.random.u32(0..if b { 7 } else { 8 }));
        let range = if b { -63..=63 } else { -128..=127 };
        let lists = header.num_ref_idx.map(|count| {
            let random = &mut self.random;
            let list = (0..count).map(|_| {
                let mut weights = [0, 1, 1].map(|at| (1 << denominators[at], 0));
                if random.bool() {
                    weights[0] = (random.i32(range.clone()), random.i32(-128..=127));
                }
                if random.bool() {
                    for weight in &mut weights[1..] {
                        *weight = (random.i32(range.clone()), random.i32(-128..=127));
                    }
                }
                weights
            });
            list.collect()
        });
        (denominators, lists)
    }

    /// Marks references as a decoder does after the picture (8.2.5.1).
    fn mark(&mut self, header: &Header, numbers: Numbers, frame: &mut FrameState) {
        frame.decoded |= fields(header.structure);
        if header.nal_ref_idc == 0 {
            return;
        }
        self.last_frame_num = header.frame_num;
        let mut long_term = None;
        if header.idr {
            self.dpb.clear();
            self.long_term_limit = u32::from(header.long_term_reference);
            long_term = header.long_term_reference.then_some(0);
        } else if let Some(operations) = &header.operations {
            long_term = self.dpb.operate(operations, numbers, frame.store);
            for &(operation, first, _) in operations {
                match operation {
                    4 => self.long_term_limit = first,
                    5 => self.long_term_limit = 0,
                    _ => {}
                }
            }
        } else {
            self.dpb.slide(&self.sps, numbers, frame.store);
        }
        let mut numbers = numbers;
        if header.resets() {
            let base = frame.counts[0].min(frame.counts[1]);
            frame.counts = frame.counts.map(|count| count - base);
            self.order.reset(frame.counts[0]);
            numbers.frame_num = 0;
            self.last_frame_num = 0;
            self.taken = BTreeSet::from([0]);
        }
        let mut store = match frame.store {
            Some(index) => self.dpb.stores[index].take().expect("the store of the first field"),
            None => Store { id: frame.id, frame_num: numbers.frame_num, ..Store::default() },
        };
        store.counts = frame.counts;
        store.decoded = frame.decoded;
        match long_term {
            Some(index) => {
                store.long |= fields(header.structure);
                store.long_term_index = index;
            }
            None => store.short |= fields(header.structure),
        }
        match frame.store {
            Some(index) => self.dpb.stores[index] = Some(store),
            None => frame.store = Some(self.dpb.insert(store, numbers)),
        }
    }
}

/// True if intra prediction in FFmpeg would take the filtered sample left above: in fields of which
/// the slice's edges are not filtered.
fn no_intra(header: &Header) -> bool {
    header.structure.is_field() && header.deblocking_idc == 2
}

fn avoid_filter(header: &mut Header) {
    if no_intra(header) {
        header.deblocking_idc = 1;
        (header.alpha_offset_div2, header.beta_offset_div2) = (0, 0);
    }
}

/// CurrPicNum and MaxPicNum (7.4.3).
fn current_numbers(numbers: Numbers) -> (i32, i32) {
    let (frame_num, max) = (numbers.frame_num as i32, numbers.max_frame_num as i32);
    if numbers.structure.is_field() { (2 * frame_num + 1, 2 * max) } else { (frame_num, max) }
}
