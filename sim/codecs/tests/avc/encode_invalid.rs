//! Slices with macroblocks that cannot be encoded.

use genxml_codecs::Frame;
use genxml_codecs::avc::encode::{
    Coded, Forward, Insertion, Invalid, Kind, Macroblock, Picture, Rounding, Settings,
};
use genxml_codecs::avc::{self, Outputs, Parameters, References, Slice, SliceKind};

/// Oracle: the decoder. A slice whose third macroblock is not valid ends before it, so decoders find two macroblocks.
#[test]
fn a_slice_ends_before_a_macroblock_that_is_not_valid() {
    for (cabac, kind) in
        [(false, SliceKind::I), (false, SliceKind::P), (true, SliceKind::I), (true, SliceKind::P)]
    {
        let parameters = Parameters { width: 4, height: 1, cabac, ..Parameters::default() };
        let source = Frame::new(64, 16, (2, 2), 77);
        let target = Frame::new(64, 16, (2, 2), 0);
        let references = References::default();
        let forward = Forward::default();
        let mut picture =
            Picture::new(&parameters, &forward, references, &source, target.clone(), Vec::new())
                .unwrap();
        let macroblock = Macroblock {
            kind: Kind::Intra16x16(2, 0),
            qp: 20,
            transform_8x8: false,
            coded: Coded::ALL,
            skip_conversion: false,
            direct_conversion: false,
            limit: 2047,
        };
        let mut macroblocks = vec![macroblock; 4];
        macroblocks[2].qp = 52;
        let slice = Slice { kind, qp: 20, deblocking: 1, data_offset: 8, ..Slice::default() };
        let rounding = Rounding { intra: 32768, inter: 32768 };
        let settings = Settings { rounding, derive_direct: true };
        // The header byte of the NAL unit takes the place of a slice header.
        let header = Insertion { data: &[0x65], last_bits: 8, protect: false, unprotected: 0 };
        picture.insert(&header);
        let error = picture.slice(&slice, &settings, &macroblocks).unwrap_err();
        assert_eq!(error, (2, Invalid::Quantiser(52)));
        let outputs = Outputs { unfiltered: true, filtered: false };
        let encoded = picture.finish(outputs);
        assert_eq!(encoded.records.len(), 2);
        let mut decoder =
            avc::Picture::new(&parameters, References::default(), target, Vec::new()).unwrap();
        decoder.slice(&slice, &encoded.stream);
        let decoded = decoder.finish(outputs);
        assert_eq!((decoded.report.macroblocks, decoded.report.errors), (2, 0), "CABAC: {cabac}");
        assert_eq!(decoded.unfiltered, encoded.picture.unfiltered);
    }
}
