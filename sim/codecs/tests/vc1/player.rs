//! What an application and the driver do: containers and headers to parameters, references, order.

use super::headers::{FRACTIONS, Fcm, Header, Plane, Sequence};
use super::parse;
use genxml_codecs::bits::BitReader;
use genxml_codecs::vc1::{
    Coding, Compensation, Input, Intensity, MOTION_BYTES, Overlap, Parameters, Picture,
    PictureType, RangeReduction, Raw, Slice, VectorMode,
};
use genxml_codecs::{Frame, Report, emulation};
use std::rc::Rc;

/// An anchor, with what the driver keeps of it.
#[derive(Clone)]
struct Anchor {
    frame: Rc<Frame>,
    /// Motion of the frame or the top field, and of the bottom field.
    motion: [Vec<u8>; 2],
    /// The frame or the fields are P pictures.
    predicted: [bool; 2],
    fcm: Fcm,
    distance: u32,
    reduced: bool,
    /// Intensity compensations of the fields, in order.
    intensity: [Vec<Intensity>; 2],
}

/// What a picture was decoded from.
pub struct Call {
    pub parameters: Parameters,
    pub slices: Vec<(Slice, Vec<u8>)>,
    pub bitplanes: Vec<u8>,
    pub references: [Option<Rc<Frame>>; 4],
    pub motion: Vec<u8>,
}

/// Decodes a stream picture by picture.
pub struct Player {
    pub sequence: Sequence,
    /// The later and the earlier anchor.
    anchors: [Option<Anchor>; 2],
    rounding: bool,
    pub report: Report,
    pub output: Vec<Rc<Frame>>,
    /// All pictures, if they are to be kept.
    pub calls: Option<Vec<Call>>,
}

/// A frame or field and its slices, as its start codes split it.
#[derive(Default)]
struct Unit<'a> {
    data: &'a [u8],
    slices: Vec<&'a [u8]>,
}

/// Start codes (annex E).
const SEQUENCE: u8 = 0xf;
const ENTRY_POINT: u8 = 0xe;
const FRAME: u8 = 0xd;
const FIELD: u8 = 0xc;
const SLICE: u8 = 0xb;

/// The units between start codes, with their codes.
pub fn units(data: &[u8]) -> Vec<(u8, &[u8])> {
    let starts: Vec<usize> =
        (0..data.len().saturating_sub(3)).filter(|&at| data[at..at + 3] == [0, 0, 1]).collect();
    let ends = starts.iter().skip(1).copied().chain([data.len()]);
    starts.iter().zip(ends).map(|(&at, end)| (data[at + 3], &data[at + 4..end])).collect()
}

impl Player {
    pub fn new(sequence: Sequence) -> Self {
        Player {
            sequence,
            anchors: [None, None],
            rounding: false,
            report: Report::default(),
            output: Vec::new(),
            calls: None,
        }
    }

    /// A player for the codec data of a container.
    pub fn of_codec_data(data: &[u8], size: (usize, usize)) -> Self {
        // A BITMAPINFOHEADER of 40 bytes is in front.
        let data = data.get(40..).unwrap_or_default();
        let mut sequence = None;
        for (code, unit) in units(data) {
            let unit = emulation::remove(unit);
            match (code, &mut sequence) {
                (SEQUENCE, _) => sequence = Some(Sequence::advanced(&unit)),
                (ENTRY_POINT, Some(sequence)) => sequence.entry_point(&unit),
                _ => {}
            }
        }
        Player::new(sequence.unwrap_or_else(|| Sequence::main(data, size)))
    }

    /// Decodes the frame of a container's packet.
    pub fn packet(&mut self, data: &[u8]) {
        if !self.sequence.is_advanced() {
            let unit = Unit { data, slices: Vec::new() };
            self.frame(&[unit]);
            return;
        }
        let mut frame: Vec<Unit<'_>> = Vec::new();
        if !data.starts_with(&[0, 0, 1]) {
            let end = (0..data.len()).find(|&at| data[at..].starts_with(&[0, 0, 1]));
            frame.push(Unit { data: &data[..end.unwrap_or(data.len())], slices: Vec::new() });
        }
        for (code, unit) in units(data) {
            match code {
                SEQUENCE => self.sequence = Sequence::advanced(&emulation::remove(unit)),
                ENTRY_POINT => self.sequence.entry_point(&emulation::remove(unit)),
                FRAME | FIELD => frame.push(Unit { data: unit, slices: Vec::new() }),
                SLICE => frame.last_mut().unwrap().slices.push(unit),
                _ => {}
            }
        }
        if !frame.is_empty() {
            self.frame(&frame);
        }
    }

    /// Emits the last anchor.
    pub fn finish(mut self) -> (Vec<Rc<Frame>>, Report) {
        if self.sequence.is_advanced() || self.sequence.max_b > 0 {
            self.output.extend(self.anchors[0].take().map(|anchor| anchor.frame));
        }
        (self.output, self.report)
    }

    /// Decodes a frame or the two fields of one.
    fn frame(&mut self, units: &[Unit<'_>]) {
        let clean = emulation::remove(units[0].data);
        let bytes = if self.sequence.is_advanced() { &clean } else { units[0].data };
        let mut bits = BitReader::new(bytes, 0);
        let header = parse::picture(&self.sequence, &mut bits);
        let bidirectional = matches!(header.kind, PictureType::B | PictureType::Bi);
        let (width, height) = self.sequence.size_in_mbs(false);
        let height = if header.fcm == Fcm::Field { height.next_multiple_of(2) } else { height };
        let mut current = Anchor {
            frame: Rc::new(Frame::new(width * 16, height * 16, (2, 2), 0)),
            motion: [const { Vec::new() }; 2],
            predicted: [false; 2],
            fcm: header.fcm,
            distance: header.distance,
            reduced: header.reduced,
            intensity: [const { Vec::new() }; 2],
        };
        let mut references = if bidirectional {
            let [later, earlier] = self.anchors.clone();
            [earlier, later]
        } else {
            [self.anchors[0].clone(), None]
        };
        self.picture(&header, bits.position(), &units[0], &mut current, &mut references);
        if header.fcm == Fcm::Field {
            let clean = emulation::remove(units[1].data);
            let mut bits = BitReader::new(&clean, 0);
            let second = parse::second_field(&self.sequence, &header, &mut bits);
            self.picture(&second, bits.position(), &units[1], &mut current, &mut references);
        }
        if bidirectional {
            self.output.push(current.frame);
            return;
        }
        if !self.sequence.is_advanced() && self.sequence.max_b == 0 {
            self.output.push(current.frame.clone());
        } else {
            self.output.extend(self.anchors[0].as_ref().map(|anchor| anchor.frame.clone()));
        }
        let [forward, _] = references;
        self.anchors = [Some(current), forward];
    }

    /// Decodes a frame or a field.
    fn picture(
        &mut self,
        header: &Header,
        position: usize,
        unit: &Unit<'_>,
        current: &mut Anchor,
        references: &mut [Option<Anchor>; 2],
    ) {
        let field = header.fcm == Fcm::Field;
        let bottom = field && (header.top_first == header.second_field);
        if !self.sequence.is_advanced() {
            match header.kind {
                PictureType::I | PictureType::Bi => self.rounding = true,
                PictureType::P => self.rounding = !self.rounding,
                PictureType::B => {}
            }
        } else {
            self.rounding = header.rounding;
        }
        if header.kind == PictureType::P {
            compensate(header, bottom, current, references);
        }
        let parameters = self.parameters(header, bottom, current, references);
        let nibbles = nibbles(&parameters, header);
        let count = parameters.width_in_mbs * parameters.height_in_mbs * MOTION_BYTES;
        let mut motion_out = vec![0; if header.kind == PictureType::P { count } else { 0 }];
        let mut target = Frame::clone(&current.frame);
        let frame = |anchor: &'_ Option<Anchor>| anchor.as_ref().map(|a| a.frame.clone());
        let mut frames = [0, 1, 0, 1].map(|direction: usize| frame(&references[direction]));
        if header.second_field {
            // The first field of this frame is the forward reference of opposite parity.
            frames[if bottom { 0 } else { 2 }] = Some(current.frame.clone());
        }
        let motion: &[u8] =
            references[1].as_ref().map_or(&[], |anchor| &anchor.motion[usize::from(bottom)]);
        let slices = self.slices(header, position, unit, &parameters);
        let mut picture = Picture::new(parameters.clone()).unwrap();
        for (slice, data) in &slices {
            let input = Input {
                data,
                bitplanes: &nibbles,
                references: frames.each_ref().map(Option::as_deref),
                motion,
            };
            self.report.add(picture.slice(slice, &input, &mut target, &mut motion_out));
        }
        if let Some(calls) = &mut self.calls {
            let motion = motion.to_vec();
            calls.push(Call { parameters, slices, bitplanes: nibbles, references: frames, motion });
        }
        current.frame = Rc::new(target);
        let index = usize::from(bottom);
        current.predicted[index] = header.kind == PictureType::P;
        current.motion[index] = motion_out;
    }

    /// The slices of a picture: rows and data from the byte of the first macroblock on.
    fn slices(
        &self,
        header: &Header,
        position: usize,
        unit: &Unit<'_>,
        parameters: &Parameters,
    ) -> Vec<(Slice, Vec<u8>)> {
        let advanced = self.sequence.is_advanced();
        // The driver finds the byte with emulation prevention bytes; here the data is cleaned and
        // escaped again, which gives the same bytes.
        let cut = |data: &[u8], position: usize| {
            let clean = if advanced { emulation::remove(data) } else { data.to_vec() };
            let rest = clean.get(position / 8..).unwrap_or_default().to_vec();
            if advanced { escape(&rest) } else { rest }
        };
        let mut starts = vec![(0, position, unit.data)];
        for data in &unit.slices {
            let clean = emulation::remove(data);
            let mut bits = BitReader::new(&clean, 0);
            let row = bits.read(9) as usize % parameters.height_in_mbs;
            if bits.flag() {
                if header.second_field {
                    parse::second_field(&self.sequence, header, &mut bits);
                } else {
                    parse::picture(&self.sequence, &mut bits);
                }
            }
            starts.push((row, bits.position(), data));
        }
        let ends = starts.iter().skip(1).map(|start| start.0).chain([parameters.height_in_mbs]);
        let ends: Vec<usize> = ends.collect();
        starts
            .into_iter()
            .zip(ends)
            .map(|((first_row, position, data), end_row)| {
                let slice = Slice { bit_offset: position % 8, first_row, end_row };
                (slice, cut(data, position))
            })
            .collect()
    }

    /// What the driver states.
    fn parameters(
        &self,
        header: &Header,
        bottom: bool,
        current: &Anchor,
        references: &[Option<Anchor>; 2],
    ) -> Parameters {
        let s = &self.sequence;
        let field = header.fcm == Fcm::Field;
        let (width_in_mbs, height_in_mbs) = s.size_in_mbs(field);
        let quantizer = header.pquant(s).max(1);
        let overlap = s.overlap
            && match header.kind {
                PictureType::B => false,
                PictureType::P => quantizer >= 9,
                _ => quantizer >= 9 || header.conditional_overlap != Overlap::None,
            };
        let coding = match header.fcm {
            Fcm::Progressive => Coding::Progressive,
            Fcm::Frame => Coding::InterlacedFrame,
            Fcm::Field if header.top_first => Coding::TopFieldFirst,
            Fcm::Field => Coding::BottomFieldFirst,
        };
        let [forward, backward] = references;
        let range_reduction = match forward {
            Some(anchor) if header.reduced && !anchor.reduced => RangeReduction::Down,
            Some(anchor) if !header.reduced && anchor.reduced => RangeReduction::Up,
            _ => RangeReduction::None,
        };
        let (forward_distance, backward_distance) = match (header.kind, backward) {
            (PictureType::B, Some(anchor)) => {
                let scale = u32::from(FRACTIONS[header.fraction as usize]);
                let forward = (scale * anchor.distance) >> 8;
                (forward, anchor.distance.saturating_sub(forward + 1))
            }
            _ => (current.distance, 0),
        };
        let of = |anchor: &Option<Anchor>, bottom: bool, own: bool| {
            let anchor = if own { Some(current) } else { anchor.as_ref() };
            let lists = anchor.map(|anchor| anchor.intensity[usize::from(bottom)].clone());
            let list = lists.unwrap_or_default();
            (list.first().copied(), list.get(1).copied())
        };
        let compensation = |anchor: &Option<Anchor>, forward: bool| {
            let own = |parity: bool| forward && header.second_field && parity != bottom;
            let (top, low) = (of(anchor, false, own(false)), of(anchor, true, own(true)));
            Compensation { single: [top.0, low.0], double: [top.1, low.1] }
        };
        let interlaced = |anchor: &Option<Anchor>| {
            anchor.as_ref().is_some_and(|anchor| anchor.fcm != Fcm::Progressive)
        };
        let (i0, i1) = (interlaced(forward), interlaced(backward));
        let own = |parity: bool| header.second_field && parity != bottom;
        Parameters {
            width_in_mbs,
            height_in_mbs,
            width: s.width,
            height: s.height,
            advanced: s.is_advanced(),
            picture: header.kind,
            coding,
            second_field: header.second_field,
            quantizer: quantizer as u8,
            half_step: header.half,
            uniform: header.uniform,
            implicit: s.quantizer == 0,
            alternative: header.alternative,
            alternative_quantizer: header.alternative_quantizer as u8,
            b_scale: FRACTIONS.get(header.fraction as usize).copied().unwrap_or(0),
            forward_distance: forward_distance as u8,
            backward_distance: backward_distance as u8,
            vector_mode: if header.fcm == Fcm::Frame { VectorMode::One } else { header.mode },
            four_vectors: header.four_vectors,
            fast_chroma: s.fast_chroma,
            rounding: self.rounding,
            bottom_reference: bottom == header.far_reference,
            two_references: header.two_references,
            mv_range: header.mv_range as u8,
            dmv_range: header.dmv_range as u8,
            mv_table: header.mv_table as u8,
            cbp_table: header.cbp_table as u8,
            mode_table: header.mode_table as u8,
            four_mv_table: header.four_mv_table as u8,
            two_mv_table: header.two_mv_table as u8,
            picture_transform: header.picture_transform || header.skipped,
            transform: header.transform as u8,
            luma_set: header.luma_set as u8,
            chroma_set: header.chroma_set as u8,
            dc_table: header.dc_table,
            overlap,
            conditional_overlap: header.conditional_overlap,
            loop_filter: s.loop_filter && !header.skipped,
            range_reduction,
            forward: compensation(forward, true),
            backward: compensation(backward, false),
            interlaced: [i0 || own(false), i1, i0 || own(true), i1],
            bitplanes: true,
            bitplane_pitch: width_in_mbs.div_ceil(2),
            raw: raw(header),
            motion_present: backward
                .as_ref()
                .is_some_and(|anchor| anchor.predicted[usize::from(bottom)]),
        }
    }
}

/// Adds the intensity compensation of a P picture to the references that it uses.
fn compensate(
    header: &Header,
    bottom: bool,
    current: &mut Anchor,
    references: &mut [Option<Anchor>; 2],
) {
    for parity in [false, true] {
        let Some(intensity) = header.intensity[usize::from(parity)] else {
            continue;
        };
        // i965 forgets the compensation of a field when a frame compensates it again.
        let own = header.second_field && parity != bottom;
        let anchor = if own { Some(&mut *current) } else { references[0].as_mut() };
        if let Some(anchor) = anchor {
            anchor.intensity[usize::from(parity)].push(intensity);
        }
    }
}

fn raw(header: &Header) -> Raw {
    let raw = |plane: &Option<Plane>| plane.as_ref().is_some_and(|plane| plane.raw);
    Raw {
        forward: raw(&header.forward),
        mv_type: raw(&header.mv_type),
        skip: raw(&header.skip),
        direct: raw(&header.direct),
        overlap: raw(&header.overlap_flags),
        ac_prediction: raw(&header.ac_prediction),
        field_transform: raw(&header.field_transform),
    }
}

/// The bit planes in the format of the engine.
fn nibbles(parameters: &Parameters, header: &Header) -> Vec<u8> {
    let (width, height) = (parameters.width_in_mbs, parameters.height_in_mbs);
    let mut out = vec![0; parameters.bitplane_pitch * height];
    let planes = if header.skipped {
        [None, None, None]
    } else {
        match header.kind {
            PictureType::I | PictureType::Bi => {
                [&header.field_transform, &header.ac_prediction, &header.overlap_flags]
            }
            PictureType::P => [&None, &header.skip, &header.mv_type],
            PictureType::B => [&header.direct, &header.skip, &header.forward],
        }
        .map(Option::as_ref)
    };
    for y in 0..height {
        for x in 0..width {
            let bits = planes.iter().enumerate().map(|(bit, plane)| {
                let flag = plane.and_then(|plane| plane.bits.get(y * width + x));
                u8::from(flag.copied().unwrap_or(header.skipped && bit == 1)) << bit
            });
            let nibble: u8 = bits.sum();
            out[y * parameters.bitplane_pitch + x / 2] |= nibble << (x % 2 * 4);
        }
    }
    out
}

/// Adds emulation prevention bytes (annex E).
pub fn escape(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 16);
    let mut zeros = 0;
    for &byte in data {
        if zeros >= 2 && byte < 4 {
            out.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        out.push(byte);
    }
    out
}
