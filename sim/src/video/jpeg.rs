//! JPEG: packets become the values that [`genxml_codecs::jpeg`] takes. Each scan is decoded by
//! itself: the picture is in memory between scans.

use super::buffer;
use super::outputs::Outputs;
use super::status::{decoded, mode};
use super::surface::Arrangement;
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::MfdJpegBsdObject;
use genxml::gen8::mfx_common::MfxPipeModeSelectStandardSelect as Standard;
use genxml::gen8::mfx_jpeg::{MfxJpegHuffTableState, MfxJpegPicState};
use genxml_codecs::jpeg::{
    self, Conversion, Decoder, HuffmanTables, InputFormat, OutputFormat, Parameters, Rotation, Scan,
};
use genxml_codecs::{Frame, Plane, Structure};

/// Executes MFD_JPEG_BSD_OBJECT: decodes a scan and writes it to the picture.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Page`] if the data or the
/// picture are not mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfdJpegBsdObject) -> Result<(), Fault> {
    mode(exec, Standard::JPEG)?;
    let length = packet.indirect_data_length.get();
    let data = buffer::coded_data(exec, packet.indirect_data_start_address.get(), length)?;
    let state: MfxJpegPicState = exec.state.latched.read(0);
    let parameters = parameters(exec, &state);
    let output = state.output_format_yuv.get();
    let Some(format) = OutputFormat::from_bits(output as u8) else {
        return Err(exec.bad_field("Output Format YUV", output, "there is no such format"));
    };
    let conversion = Conversion {
        vertical_up: state.vertical_up_sampling_enable,
        vertical_down: state.vertical_down_sampling_enable,
        horizontal_down: state.horizontal_down_sampling_enable,
        average: state.average_down_sampling,
    };
    let scan = Scan {
        mcu_count: packet.mcu_count.get() as u32,
        restart_interval: packet.restart_interval.get() as u16,
        interleaved: packet.interleaved,
        components: packet.scan_components.get() as u8,
        horizontal: packet.scan_horizontal_position.get() as u32,
        vertical: packet.scan_vertical_position.get() as u32,
    };
    let wrong = |error: jpeg::Error| {
        let width = u64::from(parameters.width_in_blocks);
        exec.bad_field("Frame Width In Blocks", width, error.to_string())
    };
    let decoder = Decoder::new(&parameters).map_err(wrong)?;
    let coded = parameters.sizes().map_err(wrong)?;
    let sizes = [coded[0], conversion.size(coded[1]), conversion.size(coded[2])];
    let outputs = Outputs::resolve(exec, sizes, Arrangement::Jpeg(format, parameters.format))?;
    let held = outputs.load(exec)?;
    // A scan of one component leaves the others as earlier scans decoded them. Samples whose
    // subsampling changed cannot be read back, so such scans must have all components.
    let mut frame = match sizes == coded {
        true => held,
        false => Frame { planes: coded.map(|(width, height)| Plane::new(width, height, 128)) },
    };
    let outcome = decoder.scan(&scan, &data, &mut frame);
    conversion.apply(&mut frame);
    outputs.store(exec, Some(&frame), Some(&frame))?;
    let picture = CodedPicture {
        at: exec.at,
        codec: Codec::Jpeg,
        kind: PictureKind::I,
        structure: Structure::Frame,
        slices: 1,
        bytes: data.len() as u64,
        references: &[],
        before: outputs.before,
        after: outputs.after,
        report: outcome.report,
        frame: &frame,
    };
    decoded(exec, &picture);
    Ok(())
}

/// The picture's parameters from latched packets.
fn parameters(exec: &Exec<'_>, state: &MfxJpegPicState) -> Parameters {
    let latched = &exec.state.latched;
    let tables = |id: usize| {
        latched.get::<MfxJpegHuffTableState>(id)?;
        let tables: MfxJpegHuffTableState = latched.read(id);
        let byte = |value: &genxml_core::U<8>| value.get() as u8;
        let values = || tables.ac_huffval.iter().chain(&tables.ac_huffval2).map(byte);
        let mut ac_values = [0; 162];
        for (to, from) in ac_values.iter_mut().zip(values()) {
            *to = from;
        }
        Some(HuffmanTables {
            dc_counts: tables.dc_bits.each_ref().map(byte),
            dc_values: tables.dc_huffval.each_ref().map(byte),
            ac_counts: tables.ac_bits.each_ref().map(byte),
            ac_values,
        })
    };
    let matrix = |component| buffer::matrix(exec, component).unwrap_or([0; 64]);
    Parameters {
        format: InputFormat::from_bits(state.input_format_yuv.bits() as u8),
        width_in_blocks: state.frame_width_in_blocks.get() as u32,
        height_in_blocks: state.frame_height_in_blocks.get() as u32,
        picture: None,
        rotation: Rotation::from_bits(state.rotation.bits() as u8),
        huffman: [tables(0), tables(1)],
        quantisers: [matrix(0), matrix(1), matrix(2)],
    }
}
