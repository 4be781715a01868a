//! MPEG-2 in IT mode: inline data and coefficients become a macroblock of
//! [`genxml_codecs::mpeg2`].

use super::coefficients::Coefficients;
use super::inline::dwords;
use crate::assumptions::MPEG2_MEAN_LEVEL_OF_INTRA_BLOCKS;
use crate::machine::coded::{Codec, CodedPicture};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::slots::UnitState;
use crate::machine::watchdog;
use crate::video::mpeg2::{self as decoder, Source};
use crate::video::outputs::{self, Outputs};
use crate::video::status::decoded;
use crate::video::surface::{Arrangement, sizes_420};
use genxml::gen8::mfd::{
    MfdItObject, MfdItObjectMpeg2InlineData as Inline, MfdItObjectMpeg2InlineDataDctType as Dct,
    MfdItObjectMpeg2InlineDataMacroblockIntraType as IntraType,
};
use genxml_codecs::Frame;
use genxml_codecs::mpeg2::{Macroblock, Motion, Parameters, Picture, PictureType, Prediction};

/// A picture whose macroblocks are being reconstructed.
#[derive(Clone, Debug)]
struct Started {
    /// The newest packet.
    at: Place,
    parameters: Parameters,
    outputs: Outputs,
    decoder: Picture,
    sources: [[Source; 2]; 2],
    pictures: outputs::References,
    target: Frame,
    /// The macroblock of the newest packet; here so that its blocks are not set up again.
    macroblock: Box<Macroblock>,
    /// Bytes of coefficients.
    bytes: u64,
}

/// The picture whose macroblocks are being reconstructed, if there is one.
#[derive(Clone, Debug, Default)]
struct Open(Option<Box<Started>>);

impl UnitState for Open {}

/// Reconstructs a macroblock.
///
/// # Errors
/// [`Fault::BadPacket`] for a macroblock that the picture cannot have; [`Fault::Page`] if a buffer
/// is not mapped; [`Fault::Hang`] if the budget is used up.
pub fn object(exec: &mut Exec<'_>, packet: &MfdItObject<'_>) -> Result<(), Fault> {
    let inline = Inline::unpack_lossy(&dwords(exec, packet)?);
    let Open(open) = exec.state.slots.get_mut();
    let mut picture = match open.take() {
        Some(picture) => picture,
        None => start(exec)?,
    };
    picture.at = exec.at;
    exec.spend(256 * watchdog::PIXEL)?;
    let position = position(exec, &inline, &picture.parameters)?;
    let mut coefficients = Coefficients::read(exec, packet)?;
    picture.bytes += coefficients.length() as u64;
    describe(exec, &inline, &picture.parameters, &mut picture.macroblock)?;
    blocks(exec, &mut coefficients, &mut picture.macroblock)?;
    let Started { decoder, sources, pictures, target, macroblock, .. } = &mut *picture;
    let references = decoder::references(*sources, pictures);
    decoder.macroblock(position, macroblock, &references, target);
    *exec.state.slots.get_mut() = Open(Some(picture));
    Ok(())
}

/// Starts a picture with the latched state.
fn start(exec: &mut Exec<'_>) -> Result<Box<Started>, Fault> {
    let parameters = decoder::parameters(exec)?;
    let sizes = sizes_420(parameters.width, parameters.height);
    let outputs = Outputs::resolve(exec, sizes, Arrangement::Surface)?;
    let decoder = decoder::start(exec, &parameters)?;
    let (sources, pictures) = decoder::pictures(exec, &parameters, &outputs)?;
    let target = outputs.load(exec)?;
    Ok(Box::new(Started {
        at: exec.at,
        parameters,
        outputs,
        decoder,
        sources,
        pictures,
        target,
        macroblock: Box::new(Macroblock::EMPTY),
        bytes: 0,
    }))
}

/// Ends the open picture, if there is one.
///
/// # Errors
/// [`Fault::Page`] if the picture is not mapped.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    let Open(open) = exec.state.slots.get_mut();
    let Some(picture) = open.take() else { return Ok(()) };
    let at = std::mem::replace(&mut exec.at, picture.at);
    let Started { parameters, outputs, decoder, sources, pictures, mut target, .. } = *picture;
    let references = decoder::references(sources, &pictures);
    let report = decoder.finish(&references, &mut target);
    outputs.store(exec, Some(&target), Some(&target))?;
    let coded = CodedPicture {
        at: exec.at,
        codec: Codec::Mpeg2,
        kind: decoder::kind(&parameters),
        structure: parameters.structure,
        slices: 0,
        bytes: picture.bytes,
        references: &pictures.addresses,
        before: outputs.before,
        after: outputs.after,
        report,
        frame: &target,
    };
    decoded(exec, &coded);
    exec.at = at;
    Ok(())
}

/// Column and row of the macroblock, which must be in the picture.
fn position(
    exec: &Exec<'_>,
    inline: &Inline,
    parameters: &Parameters,
) -> Result<(usize, usize), Fault> {
    let (column, row) = (inline.horz_origin.get(), inline.vert_origin.get());
    let rows = parameters.height.div_ceil(parameters.structure.step());
    if column >= parameters.width as u64 {
        let why = format!("the picture has {} columns of macroblocks", parameters.width);
        return Err(exec.bad_field("HorzOrigin", column, why));
    }
    if row >= rows as u64 {
        let why = format!("the picture has {rows} rows of macroblocks");
        return Err(exec.bad_field("VertOrigin", row, why));
    }
    Ok((column as usize, row as usize))
}

/// Sets the prediction of a macroblock, and the blocks that it has.
fn describe(
    exec: &Exec<'_>,
    inline: &Inline,
    parameters: &Parameters,
    macroblock: &mut Macroblock,
) -> Result<(), Fault> {
    macroblock.intra = inline.macroblock_intra_type == IntraType::INTRA_MACROBLOCK;
    macroblock.field_dct = inline.dct_type == Dct::MC_FIELD_DCT;
    if macroblock.intra {
        // Intra macroblocks have all blocks, whatever Coded Block Pattern is (facts: media-driver
        // mhw_vdbox_mfx_hwcmd_g8_bdw.h).
        macroblock.pattern = 63;
    } else {
        macroblock.pattern = inline.coded_block_pattern.get() as u8;
        macroblock.motion = motion(exec, inline, parameters)?;
    }
    Ok(())
}

/// The motion of a macroblock with prediction.
fn motion(exec: &Exec<'_>, inline: &Inline, parameters: &Parameters) -> Result<Motion, Fault> {
    let field = parameters.structure.is_field();
    let prediction = match (inline.motion_type.get(), field) {
        (1, _) => Prediction::Field,
        (2, false) => Prediction::Frame,
        (2, true) => Prediction::SixteenByEight,
        (3, _) => Prediction::DualPrime,
        (other, _) => {
            let why = "a macroblock with prediction has 1 (field), 2 (frame or 16x8) or 3 (dual \
                       prime)";
            return Err(exec.bad_field("Motion Type", other, why));
        }
    };
    let dual = prediction == Prediction::DualPrime;
    // Dual prime prediction has forward references only. The backward fields hold its second
    // vectors.
    let backward = inline.macroblock_motion_backward && !dual;
    let directions = [inline.macroblock_motion_forward, backward];
    if directions == [false; 2] {
        let why = "the macroblock is neither intra nor predicted";
        return Err(exec.bad_field("Macroblock Motion Forward", 0, why));
    }
    match parameters.picture_type {
        PictureType::I => {
            let why = "all macroblocks of an I picture are intra";
            return Err(exec.bad_field("Macroblock Intra Type", 0, why));
        }
        PictureType::P if backward => {
            let why = "a P picture has no backward references";
            return Err(exec.bad_field("Macroblock Motion Backward", 1, why));
        }
        PictureType::B if dual => {
            let why = "only P pictures have dual prime prediction";
            return Err(exec.bad_field("Motion Type", 3, why));
        }
        PictureType::P | PictureType::B => {}
    }
    let vector = |x: genxml_core::S<16>, y: genxml_core::S<16>| [x.get() as i32, y.get() as i32];
    // First vectors, then second ones, each forward and backward.
    let vectors = [
        [
            vector(
                inline.motion_vectors_field_0_forward_horizontal,
                inline.motion_vectors_field_0_forward_vertical,
            ),
            vector(
                inline.motion_vectors_field_0_backward_horizontal,
                inline.motion_vectors_field_0_backward_vertical,
            ),
        ],
        [
            vector(
                inline.motion_vectors_field_1_forward_horizontal,
                inline.motion_vectors_field_1_forward_vertical,
            ),
            vector(
                inline.motion_vectors_field_1_backward_horizontal,
                inline.motion_vectors_field_1_backward_vertical,
            ),
        ],
    ];
    let [forward_0, backward_0, forward_1, backward_1] = inline.motion_vertical_field_select;
    let bottom = [[forward_0, backward_0], [forward_1, backward_1]];
    // In dual prime prediction, the backward fields hold the vectors into the field of the other
    // parity.
    let opposite = if dual { vectors.map(|vectors| vectors[1]) } else { Default::default() };
    Ok(Motion { prediction, directions, vectors, bottom, opposite })
}

/// Takes the coefficients of the macroblock's blocks. Data after the last block are ignored.
fn blocks(
    exec: &Exec<'_>,
    coefficients: &mut Coefficients,
    macroblock: &mut Macroblock,
) -> Result<(), Fault> {
    let mean = if macroblock.intra { MPEG2_MEAN_LEVEL_OF_INTRA_BLOCKS } else { 0 };
    let pattern = macroblock.pattern;
    let coded = macroblock.blocks.iter_mut().enumerate();
    for (_, block) in coded.filter(|(index, _)| pattern & 32 >> index != 0) {
        block.clear();
        block.set(0, mean);
        loop {
            let Some(coefficient) = coefficients.next() else {
                let length = coefficients.length() as u64;
                let why = "the data end before the last block";
                return Err(exec.bad_field("Indirect IT-COEFF Data Length", length, why));
            };
            let at = coefficient.index.get() as usize;
            let value = coefficient.value.get() as i32;
            block.set(at, if at == 0 { value + mean } else { value });
            if coefficient.end_of_block {
                break;
            }
        }
    }
    Ok(())
}
