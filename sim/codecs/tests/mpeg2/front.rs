//! What an application and a driver do with an elementary stream: headers, references, output
//! order.

use genxml_codecs::bits::BitReader;
use genxml_codecs::mpeg2::{
    Parameters, Picture, PictureType, Reference, References, Slice, Structure, tables,
};
use genxml_codecs::zigzag::ZIGZAG_8X8;
use genxml_codecs::{Frame, Report};
use std::ops::Range;

/// A frame or a field of a stream.
pub struct CodedPicture {
    pub parameters: Parameters,
    /// Slices and the bytes of the stream that their macroblocks are in.
    pub slices: Vec<(Slice, Range<usize>)>,
}

/// A frame picture or one or two fields.
pub struct CodedFrame {
    pub pictures: Vec<CodedPicture>,
    /// Number of the frame in output order; `None` if it is not output.
    pub output: Option<usize>,
}

impl CodedFrame {
    pub fn is_b(&self) -> bool {
        self.pictures[0].parameters.picture_type == PictureType::B
    }

    pub fn is_intra(&self) -> bool {
        self.pictures.iter().all(|picture| picture.parameters.picture_type == PictureType::I)
    }

    /// The references of picture `number`, given the last two reference frames before this frame.
    pub fn references<'a>(
        &self,
        number: usize,
        older: Option<&'a Frame>,
        newer: Option<&'a Frame>,
    ) -> References<'a> {
        let (forward, backward) = if self.is_b() { (older, newer) } else { (newer, None) };
        let [forward, backward] =
            [forward, backward].map(|frame| frame.map_or(Reference::Missing, Reference::Frame));
        let mut references = References { forward: [forward; 2], backward: [backward; 2] };
        if number == 1 && !self.is_b() {
            let opposite = usize::from(self.pictures[1].parameters.structure == Structure::Top);
            references.forward[opposite] = Reference::Target;
        }
        references
    }
}

/// A parsed stream.
pub struct Sequence {
    /// Size of output, in luma samples.
    pub size: (usize, usize),
    /// In coded order.
    pub frames: Vec<CodedFrame>,
}

/// Headers as they were last seen.
struct Headers {
    size: (usize, usize),
    progressive: bool,
    matrices: [[u8; 64]; 2],
    picture_type: u32,
    closed: bool,
}

/// Parses the headers of `data`.
pub fn parse(data: &[u8]) -> Sequence {
    let mut headers = Headers {
        size: (0, 0),
        progressive: true,
        matrices: [tables::DEFAULT_INTRA_MATRIX, tables::DEFAULT_NON_INTRA_MATRIX],
        picture_type: 0,
        closed: false,
    };
    let codes: Vec<usize> = (0..data.len().saturating_sub(3))
        .filter(|&at| data[at..].starts_with(&[0, 0, 1]))
        .collect();
    let mut frames: Vec<CodedFrame> = Vec::new();
    let mut references = 0;
    for (index, &at) in codes.iter().enumerate() {
        let end = codes.get(index + 1).copied().unwrap_or(data.len());
        let mut reader = BitReader::new(&data[..end], 8 * (at + 4));
        match data[at + 3] {
            0x00 => {
                reader.skip(10);
                headers.picture_type = reader.read(3);
            }
            0xb3 => headers.sequence(&mut reader),
            0xb5 => match reader.read(4) {
                1 => headers.sequence_extension(&mut reader),
                3 => headers.matrices(&mut reader, false),
                8 => {
                    let parameters = headers.picture(&mut reader);
                    let is_second = frames.last().is_some_and(|frame| {
                        let first = &frame.pictures[0].parameters;
                        frame.pictures.len() == 1
                            && first.structure.is_field()
                            && parameters.structure == first.structure.opposite()
                    });
                    let picture = CodedPicture { parameters, slices: Vec::new() };
                    if is_second {
                        frames.last_mut().unwrap().pictures.push(picture);
                        continue;
                    }
                    let frame = CodedFrame { pictures: vec![picture], output: None };
                    // B pictures of an open group are not output without their references.
                    let shown =
                        !frame.is_b() || references > 1 || references == 1 && headers.closed;
                    references += usize::from(!frame.is_b());
                    frames.push(CodedFrame { output: shown.then_some(0), ..frame });
                }
                _ => {}
            },
            0xb8 => {
                reader.skip(25);
                headers.closed = reader.flag();
            }
            code @ 0x01..=0xaf if !frames.is_empty() => {
                let slice = headers.slice(&mut reader, code);
                let start = reader.position() / 8;
                let length = data[start.min(end)..end].iter().rposition(|&byte| byte != 0);
                let picture = frames.last_mut().unwrap().pictures.last_mut().unwrap();
                // The matrices may follow the picture header.
                picture.parameters.intra_matrix = headers.matrices[0];
                picture.parameters.non_intra_matrix = headers.matrices[1];
                picture.slices.push((slice, start..start + length.map_or(0, |last| last + 1)));
            }
            _ => {}
        }
    }
    number(&mut frames);
    Sequence { size: headers.size, frames }
}

/// Gives frames their numbers in output order: a reference frame follows the B frames after it.
fn number(frames: &mut [CodedFrame]) {
    let (mut next, mut held) = (0, None);
    for index in 0..frames.len() {
        let output = if frames[index].is_b() { Some(index) } else { held.replace(index) };
        if let Some(frame) = output.filter(|&frame| frames[frame].output.is_some()) {
            frames[frame].output = Some(next);
            next += 1;
        }
    }
    if let Some(frame) = held {
        frames[frame].output = Some(next);
    }
}

impl Headers {
    /// Loads matrices whose flags are set; the others stay, or become the default ones.
    fn matrices(&mut self, reader: &mut BitReader, reset: bool) {
        let default = [tables::DEFAULT_INTRA_MATRIX, tables::DEFAULT_NON_INTRA_MATRIX];
        for (matrix, default) in self.matrices.iter_mut().zip(default) {
            if reader.flag() {
                for at in ZIGZAG_8X8 {
                    matrix[usize::from(at)] = reader.read(8) as u8;
                }
            } else if reset {
                *matrix = default;
            }
        }
    }

    fn sequence(&mut self, reader: &mut BitReader) {
        self.size = (reader.read(12) as usize, reader.read(12) as usize);
        reader.skip(4 + 4 + 18 + 1 + 10 + 1);
        self.matrices(reader, true);
    }

    fn sequence_extension(&mut self, reader: &mut BitReader) {
        reader.skip(8);
        self.progressive = reader.flag();
        assert_eq!(reader.read(2), 1, "chroma_format must be 4:2:0");
        self.size.0 |= (reader.read(2) << 12) as usize;
        self.size.1 |= (reader.read(2) << 12) as usize;
    }

    fn picture(&self, reader: &mut BitReader) -> Parameters {
        let f_codes = [(); 2].map(|()| [(); 2].map(|()| reader.read(4) as u8));
        let intra_dc_precision = reader.read(2) as u8;
        let structure = match reader.read(2) {
            1 => Structure::Top,
            2 => Structure::Bottom,
            _ => Structure::Frame,
        };
        let flags = [(); 6].map(|()| reader.flag());
        let [
            top_field_first,
            frame_pred_frame_dct,
            concealment_vectors,
            nonlinear_quantiser,
            intra_vlc_format,
            alternate_scan,
        ] = flags;
        let (width, height) = self.size;
        Parameters {
            width: width.div_ceil(16),
            height: if self.progressive { height.div_ceil(16) } else { 2 * height.div_ceil(32) },
            picture_type: match self.picture_type {
                1 => PictureType::I,
                2 => PictureType::P,
                _ => PictureType::B,
            },
            structure,
            f_codes,
            intra_dc_precision,
            top_field_first,
            frame_pred_frame_dct,
            concealment_vectors,
            nonlinear_quantiser,
            intra_vlc_format,
            alternate_scan,
            mismatch_control: true,
            conceal: true,
            intra_matrix: self.matrices[0],
            non_intra_matrix: self.matrices[1],
        }
    }

    fn slice(&self, reader: &mut BitReader, code: u8) -> Slice {
        let mut row = usize::from(code) - 1;
        if self.size.1 > 2800 {
            row += (reader.read(3) << 7) as usize;
        }
        let quantiser_scale_code = reader.read(5) as u8;
        if reader.peek(1) == 1 {
            reader.skip(9);
            while reader.peek(1) == 1 && reader.left() > 0 {
                reader.skip(9);
            }
        }
        reader.skip(1);
        Slice { row, quantiser_scale_code, bit_offset: reader.position() % 8 }
    }
}

impl Sequence {
    /// Decodes all frames. `done` receives each one in coded order and may change it before others
    /// refer to it.
    pub fn decode(&self, data: &[u8], mut done: impl FnMut(&CodedFrame, &mut Frame)) -> Report {
        let mut report = Report::default();
        let (mut older, mut newer): (Option<Frame>, Option<Frame>) = (None, None);
        for coded in &self.frames {
            let first = &coded.pictures[0].parameters;
            let mut target = Frame::new(16 * first.width, 16 * first.height, (2, 2), 128);
            for (number, picture) in coded.pictures.iter().enumerate() {
                let references = coded.references(number, older.as_ref(), newer.as_ref());
                let mut decoder = Picture::new(picture.parameters.clone()).unwrap();
                for (slice, range) in &picture.slices {
                    decoder.slice(slice, &data[range.clone()], &references, &mut target);
                }
                report.add(decoder.finish(&references, &mut target));
            }
            done(coded, &mut target);
            if !coded.is_b() {
                older = newer.replace(target);
            }
        }
        report
    }
}
