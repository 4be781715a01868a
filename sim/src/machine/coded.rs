//! Decoded and encoded pictures as observers see them.

use crate::machine::place::Place;
use genxml_codecs::{Frame, Report, Structure};

/// A picture that the video engine has decoded and written, or that its encoder has reconstructed:
/// a frame or a field. A JPEG picture of several scans is one for each scan.
#[derive(Clone, Copy, Debug)]
pub struct CodedPicture<'a> {
    /// The packet of the last slice, or of the last macroblock or insertion of an encoded picture.
    pub at: Place,
    /// The coding standard.
    pub codec: Codec,
    /// The type. Of an AVC picture, the type of its slices that allows most.
    pub kind: PictureKind,
    /// The rows that the picture has.
    pub structure: Structure,
    /// Number of slices; 1 for standards without slices.
    pub slices: u32,
    /// Bytes of coded data.
    pub bytes: u64,
    /// Index and address of each reference picture that the picture may use.
    pub references: &'a [(usize, u64)],
    /// Address of the picture before the deblocking filter, if it was written.
    pub before: Option<u64>,
    /// Address of the picture after the deblocking filter, if it was written.
    pub after: Option<u64>,
    /// Counts of macroblocks.
    pub report: Report,
    /// The samples of the frame. If the picture is a field, the rows of the other field have what
    /// memory had before.
    pub frame: &'a Frame,
}

impl CodedPicture<'_> {
    /// Width and height of the frame in macroblocks.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        let luma = &self.frame.planes[0];
        [luma.width.div_ceil(16), luma.height.div_ceil(16)]
    }

    /// The rows in words: `frame`, `top field` or `bottom field`.
    #[must_use]
    pub fn rows(&self) -> &'static str {
        match self.structure {
            Structure::Frame => "frame",
            Structure::Top => "top field",
            Structure::Bottom => "bottom field",
        }
    }

    /// True if the picture is the first part of its frame: not a further scan.
    pub(crate) fn is_first(&self, before: Report) -> bool {
        self.codec != Codec::Jpeg || before == Report::default()
    }
}

/// A coding standard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Codec {
    /// H.264.
    Avc,
    /// H.262.
    Mpeg2,
    /// SMPTE 421M, with its simple and main profiles (WMV3).
    Vc1,
    /// RFC 6386.
    Vp8,
    /// T.81, baseline.
    Jpeg,
}

impl Codec {
    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Codec::Avc => "AVC",
            Codec::Mpeg2 => "MPEG-2",
            Codec::Vc1 => "VC-1",
            Codec::Vp8 => "VP8",
            Codec::Jpeg => "JPEG",
        }
    }
}

/// The prediction that a picture allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureKind {
    /// Only from the picture itself.
    I,
    /// From one picture for each block.
    P,
    /// From two pictures for each block.
    B,
    /// A VC-1 picture that takes the position of a B picture, but has no prediction.
    Bi,
}

impl PictureKind {
    /// The usual letters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PictureKind::I => "I",
            PictureKind::P => "P",
            PictureKind::B => "B",
            PictureKind::Bi => "BI",
        }
    }
}
