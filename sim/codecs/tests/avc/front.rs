//! What the application and the driver do for the engine: from NAL units to pictures with all
//! their state, and from decoded pictures to frames in output order.

use super::dpb::{Dpb, Numbers, Store, fields};
use super::headers::{Pps, Scaling, Sps};
use super::order::Order;
use super::short;
use super::slice::Header;
use super::streams::difference;
use genxml_codecs::avc::{
    Macroblock, Matrices, Output, Outputs, Parameters, Picture, References, Slice, SliceKind,
    Weight,
};
use genxml_codecs::zigzag::{ZIGZAG_4X4, ZIGZAG_8X8};
use genxml_codecs::{Frame, Report, Structure, emulation};
use std::collections::BTreeMap;

/// A frame in output order.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Cropped.
    pub frame: Frame,
    /// Picture order count since the last IDR picture.
    pub count: i32,
    /// Index in the order of decoding.
    pub index: usize,
    /// Kinds of the slices, for reports: `P`, `B`, `I`; `m` MBAFF, `f` fields.
    pub kinds: String,
}

/// Everything of a picture that goes to the decoder besides its references.
#[derive(Clone, Debug)]
pub struct Job {
    pub parameters: Parameters,
    /// State of slices, and their NAL units.
    pub slices: Vec<(Slice, Vec<u8>)>,
}

/// A frame in decoding, and its picture.
struct Current {
    header: Header,
    sps: Sps,
    job: Job,
    numbers: Numbers,
    store: Option<usize>,
    /// Fields that were decoded before the picture.
    decoded: u8,
    counts: [i32; 2],
    frame: Frame,
    motion: Vec<u8>,
    id: u16,
    index: usize,
    kinds: String,
}

/// Changes a picture before it is decoded.
pub type Damage = Box<dyn FnMut(&mut Job)>;

/// Encodes a picture: changes the NAL units of its slices. Takes the references, and what the target
/// and the buffer of the motion hold. `None` leaves the picture as it is.
pub type Encode = Box<dyn FnMut(&mut Job, References<'_>, &Frame, &[u8]) -> Option<Output>>;

/// Why a driver does not decode a stream.
pub type Refused = String;

#[derive(Default)]
pub struct Front {
    sps: BTreeMap<u32, Sps>,
    pps: BTreeMap<u32, Pps>,
    active: Option<Sps>,
    dpb: Dpb,
    order: Order,
    /// PrevRefFrameNum.
    last_frame_num: u32,
    /// A picture of which slices arrive.
    picture: Option<Current>,
    /// A frame of which one field is decoded.
    field: Option<Current>,
    frames: usize,
    /// Frames of which some may come before others in output order.
    waiting: Vec<Shown>,
    pub shown: Vec<Shown>,
    pub report: Report,
    /// The number of slices of which the short format was compared; none if it shall not be. The
    /// stream must be valid.
    pub short: Option<u32>,
    /// A picture without chroma came.
    pub monochrome: bool,
    /// State of the pictures and slices is kept in `states`.
    pub keep: bool,
    pub states: Vec<String>,
    /// With `keep`, the macroblocks of each frame by its index in the order of decoding. Of a frame of
    /// fields, those of the second one.
    pub macroblocks: BTreeMap<usize, Vec<Macroblock>>,
    /// What differs between encoder and decoder.
    pub wrong: Vec<String>,
    /// What FFmpeg logs of each slice: structure, first macroblock, kind, frame_num, counts of the
    /// fields, lengths of the lists, QP.
    pub log: Vec<String>,
    /// State as drivers may send it too: no identities of pictures, offsets of data after the
    /// alignment bits of CABAC, a slice without data before the first one.
    pub alternative: bool,
    /// Changes a picture before it is decoded.
    pub damage: Option<Damage>,
    /// Encodes each picture before it is decoded. Both results must be the same.
    pub encode: Option<Encode>,
}

impl Front {
    /// Decodes all NAL units. Returns the reason if the stream is refused.
    pub fn decode(&mut self, units: &[Vec<u8>]) -> Result<(), Refused> {
        for unit in units {
            self.unit(unit)?;
        }
        self.finish_picture();
        self.finish_frame();
        self.flush();
        Ok(())
    }

    fn unit(&mut self, unit: &[u8]) -> Result<(), Refused> {
        match unit[0] & 0x1F {
            1 | 5 => self.slice(unit)?,
            7 => {
                self.finish_picture();
                if let Some(sps) = Sps::parse(&emulation::remove(unit)) {
                    self.sps.insert(sps.id, sps);
                }
            }
            8 => {
                self.finish_picture();
                let rbsp = emulation::remove(unit);
                if let Some(pps) = Pps::parse(&rbsp, |id| self.sps.get(&id).cloned()) {
                    self.pps.insert(pps.id, pps);
                }
            }
            9..=11 => self.finish_picture(),
            _ => {}
        }
        Ok(())
    }

    fn slice(&mut self, unit: &[u8]) -> Result<(), Refused> {
        let header = Header::parse(&emulation::remove(unit), |id| {
            let pps = self.pps.get(&id)?;
            Some((self.sps.get(&pps.sps)?, pps))
        });
        let Some(header) = header else { return Ok(()) };
        if header.redundant_pic_cnt > 0 {
            return Ok(());
        }
        if self.picture.as_ref().is_none_or(|picture| header.starts_picture(&picture.header)) {
            self.finish_picture();
            self.start_picture(&header)?;
        }
        if let Some(picture) = &mut self.picture {
            let slice = slice_state(&header, picture, &self.dpb);
            let kind = ["P", "B", "I"][header.kind as usize];
            if !picture.kinds.ends_with(kind) {
                picture.kinds += kind;
            }
            self.log.push(log_line(&header, picture));
            if self.keep {
                let line = self.log.last();
                self.states.push(format!("{line:?} {}", state_line(&picture.job, &slice)));
            }
            if let Some(count) = &mut self.short {
                let sets = (&picture.sps, &self.pps[&header.pps], &self.dpb);
                *count += u32::from(short::check(sets, &picture.job.parameters, &slice, unit));
            }
            picture.job.slices.push((slice, unit.to_vec()));
        }
        Ok(())
    }

    fn start_picture(&mut self, header: &Header) -> Result<(), Refused> {
        let pps = self.pps[&header.pps].clone();
        let sps = self.sps[&pps.sps].clone();
        refuse(&sps, &pps)?;
        let second = self.field.as_ref().is_some_and(|first| {
            first.header.structure == header.structure.opposite()
                && header.structure.is_field()
                && first.numbers.frame_num == header.frame_num
        });
        if !second {
            self.finish_frame();
            if self.active.as_ref() != Some(&sps) {
                self.flush();
                self.dpb.clear();
                self.active = Some(sps.clone());
                self.last_frame_num = header.frame_num;
            }
            if header.idr {
                self.last_frame_num = 0;
            }
            self.fill_gap(header, &sps);
        }
        self.monochrome |= sps.chroma_format_idc == 0;
        let counts = self.order.counts(header, &sps);
        let numbers = Numbers {
            structure: header.structure,
            frame_num: header.frame_num,
            max_frame_num: 1 << sps.log2_max_frame_num,
        };
        let current = match self.field.take() {
            Some(first) => first,
            None => self.new_frame(header, &sps, numbers),
        };
        let both = match header.structure {
            Structure::Frame => counts,
            Structure::Top => [counts[0], current.counts[1]],
            Structure::Bottom => [current.counts[0], counts[1]],
        };
        let parameters = self.picture_state(header, &sps, &pps, counts);
        self.picture = Some(Current {
            header: header.clone(),
            sps,
            job: Job { parameters, slices: Vec::new() },
            numbers,
            counts: both,
            ..current
        });
        Ok(())
    }

    fn new_frame(&mut self, header: &Header, sps: &Sps, numbers: Numbers) -> Current {
        let (width, height) = (16 * sps.width_mbs, 16 * sps.height_mbs());
        self.frames += 1;
        Current {
            header: header.clone(),
            sps: sps.clone(),
            job: Job { parameters: Parameters::default(), slices: Vec::new() },
            numbers,
            store: None,
            decoded: 0,
            counts: [0; 2],
            frame: Frame::new(width, height, (2, 2), 128),
            motion: Vec::new(),
            id: self.frames as u16,
            index: self.frames - 1,
            kinds: match (header.structure.is_field(), sps.mbaff) {
                (true, _) => "f".into(),
                (false, true) => "m".into(),
                _ => String::new(),
            },
        }
    }

    fn picture_state(&self, header: &Header, sps: &Sps, pps: &Pps, count: [i32; 2]) -> Parameters {
        let mut ids = [0; 16];
        let mut counts = [[0; 2]; 16];
        for (index, store) in self.dpb.used() {
            ids[index] = store.id;
            for (parity, count) in counts[index].iter_mut().enumerate() {
                if store.decoded & (1 << parity) != 0 {
                    *count = store.counts[parity];
                }
            }
        }
        Parameters {
            width: sps.width_mbs,
            height: sps.height_mbs(),
            structure: header.structure,
            monochrome: sps.chroma_format_idc == 0,
            cabac: pps.cabac,
            mbaff: sps.mbaff && !header.structure.is_field(),
            frame_mbs_only: sps.frame_mbs_only,
            direct_8x8_inference: sps.direct_8x8_inference,
            transform_8x8: pps.transform_8x8,
            constrained_intra: pps.constrained_intra_pred,
            weighted_prediction: pps.weighted_pred,
            weighted_biprediction: pps.weighted_bipred_idc as u8,
            chroma_qp_offsets: pps.chroma_qp_offset.map(|offset| offset as i8),
            non_reference: header.nal_ref_idc == 0,
            matrices: matrices(&pps.scaling),
            picture_ids: (!self.alternative).then_some(ids),
            counts,
            count,
        }
    }

    /// Frames that stand for those of a gap (8.2.5.2). They repeat the last reference, as the
    /// software decoder does.
    fn fill_gap(&mut self, header: &Header, sps: &Sps) {
        let max_frame_num = 1u32 << sps.log2_max_frame_num;
        let mut missing = header.frame_num.wrapping_sub(self.last_frame_num) % max_frame_num;
        if self.dpb.used().count() == 0 {
            missing = 0;
        }
        // More frames than the buffer holds need not be made.
        if missing > 17 {
            self.last_frame_num = header.frame_num.wrapping_sub(17) % max_frame_num;
            missing = 17;
        }
        for _ in 1..missing {
            let frame_num = (self.last_frame_num + 1) % max_frame_num;
            let numbers = Numbers { structure: Structure::Frame, frame_num, max_frame_num };
            let last = self.dpb.used().find(|(_, store)| store.frame_num == self.last_frame_num);
            let last = last.map(|(_, store)| store.clone()).unwrap_or_else(|| Store {
                frame: Frame::new(16 * sps.width_mbs, 16 * sps.height_mbs(), (2, 2), 128),
                ..Store::default()
            });
            let filler = Header {
                frame_num,
                nal_ref_idc: 1,
                idr: false,
                structure: Structure::Frame,
                delta_poc: [0; 2],
                ..header.clone()
            };
            self.frames += 1;
            let counts =
                if sps.poc_type == 0 { last.counts } else { self.order.counts(&filler, sps) };
            let store = Store {
                id: self.frames as u16,
                frame_num,
                short: 3,
                long: 0,
                counts,
                decoded: 3,
                absent: true,
                motion: Vec::new(),
                ..last
            };
            self.dpb.slide(sps, numbers, None);
            self.dpb.insert(store, numbers);
            self.last_frame_num = frame_num;
        }
    }

    /// Decodes the picture whose slices are complete, and marks references.
    fn finish_picture(&mut self) {
        let Some(mut picture) = self.picture.take() else { return };
        if let Some(damage) = &mut self.damage {
            damage(&mut picture.job);
        }
        if self.alternative {
            let job = &mut picture.job;
            for (slice, _) in job.slices.iter_mut().filter(|_| job.parameters.cabac) {
                slice.data_offset = slice.data_offset.next_multiple_of(8);
            }
            if let Some((first, _)) = job.slices.first() {
                job.slices.insert(0, (first.clone(), Vec::new()));
            }
        }
        let mut references = References::default();
        for (index, store) in self.dpb.used() {
            references.frames[index] = Some(&store.frame);
            references.motion[index] = &store.motion;
        }
        let frame = std::mem::take(&mut picture.frame);
        let motion = std::mem::take(&mut picture.motion);
        let encode = self.encode.as_mut();
        let encoded =
            encode.and_then(|encode| encode(&mut picture.job, references, &frame, &motion));
        let parameters = &picture.job.parameters;
        match Picture::new(parameters, references, frame, motion) {
            Ok(mut decoder) => {
                for (slice, data) in &picture.job.slices {
                    decoder.slice(slice, data);
                }
                // As i965 chooses: the filtered output if any slice filters.
                let filtered = picture.job.slices.iter().any(|(slice, _)| slice.deblocking != 1);
                let output = decoder.finish(Outputs { unfiltered: !filtered, filtered });
                if let Some(encoded) = encoded {
                    let frames =
                        |output: &Output| output.filtered.clone().or(output.unfiltered.clone());
                    let (want, got) = (frames(&output), frames(&encoded));
                    if let (Some(want), Some(got)) = (want, got)
                        && want != got
                    {
                        self.wrong.push(format!(
                            "picture {} ({}): the encoder has other samples: {}",
                            picture.index,
                            picture.kinds,
                            difference(&got, &want)
                        ));
                    }
                    if output.motion != encoded.motion {
                        self.wrong.push(format!("picture {}: other motion", picture.index));
                    }
                    if output.report != encoded.report {
                        self.wrong.push(format!("{:?} {:?}", output.report, encoded.report));
                    }
                }
                picture.frame = output.filtered.or(output.unfiltered).unwrap_or_default();
                picture.motion = output.motion;
                self.report.add(output.report);
                if self.keep {
                    self.macroblocks.insert(picture.index, output.macroblocks);
                }
            }
            Err(_) => {
                let (width, height) = (picture.sps.width_mbs, picture.sps.height_mbs());
                picture.frame = Frame::new(16 * width, 16 * height, (2, 2), 128);
                self.report.errors += 1;
            }
        }
        picture.decoded |= fields(picture.header.structure);
        self.mark(&mut picture);
        self.field = Some(picture);
        if self.field.as_ref().is_some_and(|frame| frame.decoded == 3) {
            self.finish_frame();
        }
    }

    /// Marking of references after the picture (8.2.5.1).
    fn mark(&mut self, picture: &mut Current) {
        let header = &picture.header;
        if header.nal_ref_idc == 0 {
            return;
        }
        self.last_frame_num = header.frame_num;
        let first = picture.decoded == fields(header.structure);
        let mut long_term = None;
        if header.idr {
            if first {
                self.dpb.clear();
                self.flush();
            }
            long_term = header.long_term_reference.then_some(0);
        } else if let Some(operations) = &header.operations {
            long_term = self.dpb.operate(operations, picture.numbers, picture.store);
        } else {
            self.dpb.slide(&picture.sps, picture.numbers, picture.store);
        }
        if header.resets() {
            self.flush();
            let base = match header.structure {
                Structure::Frame => picture.counts[0].min(picture.counts[1]),
                Structure::Top => picture.counts[0],
                Structure::Bottom => picture.counts[1],
            };
            picture.counts = picture.counts.map(|count| count.wrapping_sub(base));
            let top = if header.structure == Structure::Bottom { 0 } else { picture.counts[0] };
            self.order.reset(top);
            picture.numbers.frame_num = 0;
            self.last_frame_num = 0;
            picture.store = None;
        }
        // The store may have been freed by an operation.
        let kept = picture.store.and_then(|index| self.dpb.stores[index].take());
        let mut store = kept
            .filter(|store| store.id == picture.id)
            .unwrap_or_else(|| Store { id: picture.id, ..Store::default() });
        store.frame = picture.frame.clone();
        store.motion = picture.motion.clone();
        store.frame_num = picture.numbers.frame_num;
        store.counts = picture.counts;
        store.decoded = picture.decoded;
        match long_term {
            Some(index) => {
                store.long |= fields(header.structure);
                store.long_term_index = index;
            }
            None => store.short |= fields(header.structure),
        }
        picture.store = Some(match picture.store {
            Some(index) => {
                self.dpb.stores[index] = Some(store);
                index
            }
            None => self.dpb.insert(store, picture.numbers),
        });
    }

    /// Puts the frame that is complete, or lacks a field, in line for the output.
    fn finish_frame(&mut self) {
        let Some(mut current) = self.field.take() else { return };
        if current.decoded != 3 {
            repeat_field(&mut current.frame, current.decoded);
        }
        let count = match current.decoded {
            1 => current.counts[0],
            2 => current.counts[1],
            _ => current.counts[0].min(current.counts[1]),
        };
        self.waiting.push(Shown {
            frame: crop(&current.frame, current.sps.crop),
            count,
            index: current.index,
            kinds: current.kinds,
        });
    }

    /// Frames before this point come before those after it.
    fn flush(&mut self) {
        self.waiting.sort_by_key(|shown| shown.count);
        self.shown.append(&mut self.waiting);
    }
}

/// The check of drivers and applications by profile (digest 2.11), and what no profile of them
/// allows.
fn refuse(sps: &Sps, pps: &Pps) -> Result<(), Refused> {
    if !matches!(sps.profile_idc, 66 | 77 | 100 | 118 | 128) {
        return Err(format!("profile {}", sps.profile_idc));
    }
    if sps.chroma_format_idc > 1 || sps.bit_depth != [8, 8] || sps.lossless {
        return Err(format!(
            "chroma format {}, {:?} bits, lossless {}",
            sps.chroma_format_idc, sps.bit_depth, sps.lossless
        ));
    }
    if pps.slice_groups > 1 {
        return Err(format!("{} slice groups", pps.slice_groups));
    }
    if sps.width_mbs * sps.height_mbs() > 256 * 256 {
        return Err(format!("{} x {} macroblocks", sps.width_mbs, sps.height_mbs()));
    }
    Ok(())
}

fn slice_state(header: &Header, picture: &Current, dpb: &Dpb) -> Slice {
    let parameters = &picture.job.parameters;
    let count = match header.structure {
        Structure::Frame => picture.counts[0].min(picture.counts[1]),
        Structure::Top => picture.counts[0],
        Structure::Bottom => picture.counts[1],
    };
    let (column, row) = (header.first_mb % parameters.width, header.first_mb / parameters.width);
    let mut slice = Slice {
        kind: [SliceKind::P, SliceKind::B, SliceKind::I][header.kind as usize],
        first: (column, if parameters.mbaff { 2 * row } else { row }),
        reference_counts: header.num_ref_idx.map(|count| count as u8),
        direct_spatial: header.direct_spatial,
        cabac_init: header.cabac_init_idc as u8,
        qp: header.qp as u8,
        deblocking: header.deblocking_idc as u8,
        deblocking_offsets: [header.alpha_offset_div2 as i8, header.beta_offset_div2 as i8],
        data_offset: header.data,
        ..Slice::default()
    };
    let lists = dpb.lists(header, &picture.sps, picture.numbers, count);
    for (to, from) in slice.lists.iter_mut().zip(&lists) {
        to[..from.len()].copy_from_slice(from);
    }
    if let Some((denominators, weights)) = &header.weights {
        slice.weight_denominators = denominators.map(|denominator| denominator as u8);
        for (to, from) in slice.weights.iter_mut().zip(weights) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from.map(|(weight, offset)| Weight {
                    weight: weight as i16,
                    offset: offset as i16,
                });
            }
        }
    }
    slice
}

fn log_line(header: &Header, picture: &Current) -> String {
    let known = picture.decoded | fields(header.structure);
    let count = |parity: usize| match known >> parity & 1 {
        0 => "-".into(),
        _ => picture.counts[parity].to_string(),
    };
    // Rows of the frame.
    let (width, both) = (picture.sps.width_mbs, picture.job.parameters.mbaff);
    let twice = usize::from(both || header.structure.is_field());
    let row =
        ((header.first_mb / width) << twice) + usize::from(header.structure == Structure::Bottom);
    format!(
        "{} mb:{} {} frame:{} poc:{}/{} ref:{}/{} qp:{}",
        ["F", "T", "B"][header.structure as usize],
        row * width + header.first_mb % width,
        ["P", "B", "I"][header.kind as usize],
        header.frame_num,
        count(0),
        count(1),
        header.num_ref_idx[0],
        header.num_ref_idx[1],
        header.qp
    )
}

/// The state of a slice and its picture in a line.
fn state_line(job: &Job, slice: &Slice) -> String {
    let lists: Vec<String> = slice
        .lists
        .iter()
        .zip(slice.reference_counts)
        .map(|(list, count)| {
            let entries = list[..usize::from(count)].iter().map(|entry| {
                let parity = if entry.bottom { "b" } else { "" };
                format!("{}{parity}{}", entry.store, if entry.long_term { "L" } else { "" })
            });
            entries.collect::<Vec<String>>().join(" ")
        })
        .collect();
    let Parameters { cabac, transform_8x8, constrained_intra, mbaff, .. } = job.parameters;
    let weights = (job.parameters.weighted_prediction, job.parameters.weighted_biprediction);
    format!(
        "{lists:?} cabac {cabac} 8x8 {transform_8x8} constrained {constrained_intra} mbaff {mbaff} \
         weights {weights:?} {:?} {:?} spatial {} deblocking {} {:?} chroma {:?} first {:?}",
        slice.weight_denominators,
        slice.weights.map(|list| list[..2]
            .iter()
            .map(|w| w.map(|w| (w.weight, w.offset)))
            .collect::<Vec<_>>()),
        slice.direct_spatial,
        slice.deblocking,
        slice.deblocking_offsets,
        job.parameters.chroma_qp_offsets,
        slice.first
    )
}

/// Scan order to raster order.
fn matrices(scaling: &Scaling) -> Matrices {
    let small = |list: &[u8; 16]| {
        let mut raster = [0; 16];
        for (&to, &value) in ZIGZAG_4X4.iter().zip(list) {
            raster[usize::from(to)] = value;
        }
        raster
    };
    let large = |list: &[u8; 64]| {
        let mut raster = [0; 64];
        for (&to, &value) in ZIGZAG_8X8.iter().zip(list) {
            raster[usize::from(to)] = value;
        }
        raster
    };
    let lists = &scaling.small;
    Matrices {
        intra_4x4: [small(&lists[0]), small(&lists[1]), small(&lists[2])],
        inter_4x4: [small(&lists[3]), small(&lists[4]), small(&lists[5])],
        intra_8x8: large(&scaling.large[0]),
        inter_8x8: large(&scaling.large[1]),
    }
}

/// Copies the rows of the decoded field into those of the other one, as the software decoder does.
fn repeat_field(frame: &mut Frame, decoded: u8) {
    for plane in &mut frame.planes {
        for pair in plane.data.chunks_exact_mut(2 * plane.width.max(1)) {
            let (top, bottom) = pair.split_at_mut(plane.width);
            if decoded == 1 {
                bottom.copy_from_slice(top);
            } else {
                top.copy_from_slice(bottom);
            }
        }
    }
}

fn crop(frame: &Frame, [left, right, top, bottom]: [usize; 4]) -> Frame {
    let mut out = Frame::default();
    for (index, (to, from)) in out.planes.iter_mut().zip(&frame.planes).enumerate() {
        let unit = if index == 0 { 1 } else { 2 };
        to.width = from.width.saturating_sub((left + right) / unit);
        to.height = from.height.saturating_sub((top + bottom) / unit);
        let rows = from.data.chunks_exact(from.width.max(1)).skip(top / unit).take(to.height);
        for row in rows {
            to.data.extend_from_slice(&row[left / unit..left / unit + to.width]);
        }
    }
    out
}
