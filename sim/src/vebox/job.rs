//! What a VEB_DI_IECP asks for: the latched state, checked, and the settings of the functions.

use super::camera::{self, Vignette};
use super::convert::Method;
use super::deinterlace::settings::{self, Source};
use super::denoise;
use super::iecp::Chain;
use super::iecp::compression::Compression;
use super::iecp::front::Front;
use super::iecp::gamut::Expansion;
use super::pack::Format;
use super::picture::Picture;
use super::surface::{Role, Surface};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::surface::rows::Rows;
use crate::surface::tiling::TileMode;
use genxml::gen8::vebox::{
    VebDiIecp, VeboxState, VeboxState422420DownsampleMethod as RowsMethod,
    VeboxState444422DownsampleMethod as ColumnsMethod, VeboxStateDiEnable as Di,
    VeboxStateDiOutputFrames as Wanted, VeboxStateDnDiFirstFrame as First,
    VeboxStateDnEnable as Dn,
};
use genxml::gen8::vebox_states::{
    VeboxCapturePipeState, VeboxDndiState, VeboxGamutState, VeboxIecpState, VeboxVertexTable,
};
use genxml_core::Fixed;
use std::ops::Range;

/// What VEBOX_STATE and the surfaces ask for.
pub struct Job {
    /// The newest VEBOX_STATE.
    pub state: VeboxState,
    /// The inputs and the denoised output.
    pub input: Surface,
    /// All other outputs: with the size of the inputs.
    pub outputs: Surface,
    /// The columns that are written.
    pub columns: Range<usize>,
    /// Denoising is enabled.
    pub denoises: bool,
    /// Deinterlacing is enabled.
    pub deinterlaces: bool,
    /// Image enhancement is enabled.
    pub enhances: bool,
    /// False for a first frame: there is no previous frame and no history.
    pub continues: bool,
    /// How chroma is down-sampled.
    pub method: Method,
}

impl Job {
    /// The job of a packet.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for state that is missing or contradicts itself;
    /// [`Fault::Unimplemented`] for functions that the model lacks.
    pub fn resolve(exec: &Exec<'_>, packet: &VebDiIecp) -> Result<Job, Fault> {
        if exec.state.latched.get::<VeboxState>(0).is_none() {
            let why = "VEB_DI_IECP needs a VEBOX_STATE before it; none was sent";
            return Err(exec.bad_field("Ending X", packet.ending_x.get(), why));
        }
        let state: VeboxState = exec.state.latched.read(0);
        let input = Surface::resolve(exec, Role::Input)?;
        if state.alpha_plane_enable && input.format.has_alpha() {
            let why = "the input has alpha";
            return Err(exec.bad_field("Alpha Plane Enable", 1, why));
        }
        let outputs = Surface::resolve(exec, Role::Output)?.sized(exec, &input)?;
        check_camera(exec, &state, &input)?;
        let (start, end) = (packet.starting_x.get(), packet.ending_x.get());
        if start % 64 != 0 || start > end {
            let why = "it must be a multiple of 64 and not above Ending X";
            return Err(exec.bad_field("Starting X", start, why));
        }
        let end = (end as usize + 1).min(input.width);
        let columns = (start as usize).min(end)..end;
        let (denoises, deinterlaces) =
            (state.dn_enable == Dn::DENOISE_FRAME, state.di_enable == Di::CALCULATE_DI);
        if (denoises || deinterlaces) && !input.format.is_video() {
            let why = "denoising and deinterlacing need 8 bits, and 4:2:0, 4:2:2 or luma only";
            return Err(exec.bad_field("Surface Format", input.number, why));
        }
        let continues =
            state.dn_di_first_frame == First::NOT_FIRST_FIELD_PREVIOUS_CLEAN_SURFACE_STATE_IS_VALID;
        let method = Method {
            average_columns: state._444_422_downsample_method
                == ColumnsMethod::AVERAGE_HORIZONTALLY_ALIGNED_CHROMAS,
            average_rows: state._422_420_downsample_method
                == RowsMethod::AVERAGE_VERTICALLY_ALIGNED_CHROMAS,
        };
        let enhances = state.global_iecp_enable;
        Ok(Job {
            state,
            input,
            outputs,
            columns,
            denoises,
            deinterlaces,
            enhances,
            continues,
            method,
        })
    }

    /// True if outputs have the samples of the input.
    pub fn is_copy(&self) -> bool {
        self.input.format.is_video()
            && self.outputs.format.is_video()
            && self.input.format.sampling() == self.outputs.format.sampling()
    }

    /// Pixels of the frame.
    pub fn pixels(&self) -> u64 {
        (self.input.width * self.input.height) as u64
    }

    /// Which of the previous and of the current frame deinterlacing writes.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a choice that does not exist.
    pub fn wanted(&self, exec: &Exec<'_>) -> Result<[bool; 2], Fault> {
        match self.state.di_output_frames {
            Wanted::OUTPUT_BOTH_FRAMES => Ok([true, true]),
            Wanted::OUTPUT_PREVIOUS_FRAME_ONLY => Ok([true, false]),
            Wanted::OUTPUT_CURRENT_FRAME_ONLY => Ok([false, true]),
            other => {
                let why = "there is no such choice of frames";
                Err(exec.bad_field("DI Output Frames", other.bits(), why))
            }
        }
    }

    /// The functions of enhancement.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for functions of the camera pipe without it; [`Fault::Unimplemented`]
    /// for functions that the model lacks; [`Fault::Page`] if a state is not mapped.
    pub fn chain(
        &self,
        exec: &mut Exec<'_>,
        state: &VeboxIecpState,
        source: &Picture,
    ) -> Result<Chain, Fault> {
        let demosaics = self.state.demosaic_enable;
        for (asked, field) in [
            (state.ccm_state.color_correction_matrix_enable, "Color Correction Matrix Enable"),
            (
                state.forward_gamma_correction_state.forward_gamma_correction_enable,
                "Forward Gamma Correction Enable",
            ),
            (
                state.front_end_csc_state.front_end_csc_transform_enable,
                "Front End CSC Transform Enable",
            ),
        ] {
            if asked && !demosaics {
                return Err(exec.bad_field(field, 1, "requires Demosaic Enable = 1"));
            }
        }
        let mut chain = Chain::new(state, source.alpha.is_some());
        chain.front = demosaics.then(|| Front::new(state));
        if self.state.color_gamut_compression_enable {
            chain.compression = Some(self.compression(exec)?);
        }
        if self.state.color_gamut_expansion_enable {
            if self.state.gamut_expansion_position.get() != 0 {
                let what = "Gamut Expansion Position 1";
                return Err(exec.unimplemented(what, "VEBOX_STATE dw1 22"));
            }
            let address = self.state.gamut_state_pointer.get();
            let gamut: VeboxGamutState = read(exec, address, "gamut state")?;
            chain.expansion = Some(Expansion::new(&gamut));
        }
        Ok(chain)
    }

    /// The settings of gamut compression.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a shift that does not exist; [`Fault::Unimplemented`] for Cpi
    /// Override; [`Fault::Page`] if the gamut state or the vertices are not mapped.
    fn compression(&self, exec: &mut Exec<'_>) -> Result<Compression, Fault> {
        let gamut: VeboxGamutState =
            read(exec, self.state.gamut_state_pointer.get(), "gamut state")?;
        if gamut.cpi_override {
            return Err(exec.unimplemented("Cpi Override", "VEBOX_GAMUT_STATE dw37 0"));
        }
        let shift = gamut.compression_line_shift.get();
        if shift > 4 {
            return Err(exec.bad_field("CompressionLineShift", shift, "the greatest shift is 4"));
        }
        let address = self.state.vertex_table_state_pointer.get();
        let vertices: VeboxVertexTable = read(exec, address, "vertex table")?;
        Ok(Compression::new(&gamut, &vertices))
    }

    /// The settings of the camera pipe; `None` for an input without a Bayer pattern.
    ///
    /// # Errors
    /// [`Fault::Page`] if a state or the factors of vignetting are not mapped.
    pub fn camera(
        &self,
        exec: &mut Exec<'_>,
        packet: &VebDiIecp,
    ) -> Result<Option<camera::Settings>, Fault> {
        let Format::Bayer { pattern, .. } = self.input.format else { return Ok(None) };
        let state: VeboxIecpState = read(exec, self.state.iecp_state_pointer.get(), "IECP state")?;
        let address = self.state.capture_pipe_state_pointer.get();
        let pipe: VeboxCapturePipeState = read(exec, address, "capture pipe state")?;
        let mut settings = camera::Settings::new(pattern, &state, &pipe);
        if self.state.hot_pixel_filtering_enable {
            let address = self.state.dn_di_state_pointer.get();
            settings.hot = Some(camera::Settings::hot(&read(exec, address, "DN/DI state")?));
        }
        if self.state.vignette_enable {
            let (width, height) = Vignette::size(self.input.width, self.input.height);
            let bytes = self.linear(exec, packet, (2 * width, height), "vignette correction")?;
            let pairs = bytes.as_chunks().0.iter();
            settings.vignette = Some(Vignette {
                factors: pairs.map(|pair| u16::from_le_bytes(*pair)).collect(),
                fraction: Vignette::fraction(&state),
            });
        }
        Ok(Some(settings))
    }

    /// Reads the plane of alpha, as samples of 12 bits. `None` if Alpha Plane Enable is 0 or the
    /// output format has no alpha.
    ///
    /// # Errors
    /// [`Fault::Page`] if the plane is not mapped.
    pub fn alpha(
        &self,
        exec: &mut Exec<'_>,
        packet: &VebDiIecp,
    ) -> Result<Option<Vec<u16>>, Fault> {
        if !self.state.alpha_plane_enable || !self.outputs.format.has_alpha() {
            return Ok(None);
        }
        let size = (self.input.width, self.input.height);
        let bytes = self.linear(exec, packet, size, "alpha plane")?;
        Ok(Some(bytes.into_iter().map(|alpha| u16::from(alpha) << 4).collect()))
    }

    /// The surface of alpha or of vignetting. It is linear, and its pitch is a multiple of 64
    /// (facts: media-driver, VEBOX_SURFACE_STATE).
    fn linear(
        &self,
        exec: &mut Exec<'_>,
        packet: &VebDiIecp,
        size: (usize, usize),
        name: &'static str,
    ) -> Result<Vec<u8>, Fault> {
        let rows = Rows { tiling: TileMode::Linear, pitch: size.0.next_multiple_of(64) };
        let address = packet.alpha_vignette_correction_address.get();
        let bytes = rows.read(&exec.vm, address, (0, 0), size);
        let bytes = bytes.map_err(|fault| exec.page(fault, name))?;
        exec.stats.bytes_read += bytes.len() as u64;
        Ok(bytes)
    }

    /// Columns and rows whose luma is counted.
    pub fn area(&self, state: &VeboxIecpState) -> (Range<usize>, Range<usize>) {
        if state.ace_lace_state.full_image_histogram {
            return (self.columns.clone(), 0..self.input.height);
        }
        let area = &state.alpha_aoi_state;
        let number = |value: u64| value as usize;
        let start = number(area.aoi_min_x.get()).max(self.columns.start);
        let end = (number(area.aoi_max_x.get()) + 1).min(self.columns.end);
        let rows = number(area.aoi_min_y.get())..number(area.aoi_max_y.get()) + 1;
        (start.min(end)..end, rows)
    }
}

/// Checks the switches of the camera pipe.
fn check_camera(exec: &Exec<'_>, state: &VeboxState, input: &Surface) -> Result<(), Fault> {
    let demosaics = state.demosaic_enable;
    if demosaics != matches!(input.format, Format::Bayer { .. }) {
        let why = "must be 1 for an input with a Bayer pattern and 0 for all other inputs";
        return Err(exec.bad_field("Demosaic Enable", demosaics.into(), why));
    }
    if !demosaics {
        for (asked, field) in [
            (state.vignette_enable, "Vignette Enable"),
            (state.hot_pixel_filtering_enable, "Hot Pixel Filtering Enable"),
        ] {
            if asked {
                return Err(exec.bad_field(field, 1, "requires Demosaic Enable = 1"));
            }
        }
        return Ok(());
    }
    if state.dn_enable == Dn::DENOISE_FRAME {
        let what = "denoising of a Bayer pattern";
        return Err(exec.unimplemented(what, "VEBOX_STATE dw1 3"));
    }
    if !state.global_iecp_enable {
        let why = "must be 1 with Demosaic Enable: the black level is part of the IECP state";
        return Err(exec.bad_field("Global IECP Enable", 0, why));
    }
    if state.vignette_enable && state.alpha_plane_enable {
        let why = "must be 0 with Vignette Enable: both use the same address field";
        return Err(exec.bad_field("Alpha Plane Enable", 1, why));
    }
    for (field, size) in [("Width", input.width), ("Height", input.height)] {
        if size < camera::LEAST {
            let why = "interpolation of a Bayer pattern needs 4 columns and 4 rows";
            return Err(exec.bad_field(field, size as u64, why));
        }
    }
    Ok(())
}

/// Reads a state structure.
///
/// # Errors
/// [`Fault::Page`] if it is not mapped.
pub fn read<T: Fixed>(exec: &mut Exec<'_>, address: u64, name: &'static str) -> Result<T, Fault> {
    let mut dwords = vec![0_u32; T::DWORDS];
    let read = exec.vm.read(address, bytemuck::cast_slice_mut(&mut dwords));
    read.map_err(|fault| exec.page(fault, name))?;
    exec.stats.bytes_read += 4 * dwords.len() as u64;
    Ok(T::read_lossy(&dwords))
}

/// The settings of denoising.
///
/// # Errors
/// [`Fault::BadPacket`] for thresholds that contradict each other.
pub fn denoise_settings(
    exec: &Exec<'_>,
    state: &VeboxDndiState,
) -> Result<denoise::Settings, Fault> {
    let settings = denoise::Settings::new(state);
    let bad = |thresholds: &denoise::Thresholds| {
        thresholds.high < thresholds.low || thresholds.high - thresholds.low > 16
    };
    let why = "it must be at most 16 above the low threshold, and not below it";
    if bad(&settings.luma) {
        let value = u64::from(settings.luma.high);
        return Err(exec.bad_field("Temporal Difference Threshold", value, why));
    }
    match settings.chroma {
        Some(chroma) if bad(&chroma) => {
            let value = u64::from(chroma.high);
            Err(exec.bad_field("Chroma Temporal Difference Threshold", value, why))
        }
        _ => Ok(settings),
    }
}

/// The settings of deinterlacing.
///
/// # Errors
/// [`Fault::BadPacket`] for a source of rows that does not exist.
pub fn deinterlace_settings(
    exec: &Exec<'_>,
    s: &VeboxDndiState,
) -> Result<settings::Settings, Fault> {
    let first = s.progressive_cadence_reconstruction_for_1st_field_of_current_frame.bits();
    let second = s.progressive_cadence_reconstruction_for_2nd_field_of_previous_frame.bits();
    let source = |field: &'static str, bits: u64| {
        let why =
            "use 0 (interpolate), 1 (rows of the field before) or 2 (rows of the field after)";
        Source::from_bits(bits).ok_or_else(|| exec.bad_field(field, bits, why))
    };
    let first = source("Progressive Cadence Reconstruction for 1st Field of Current Frame", first)?;
    let second =
        source("Progressive Cadence Reconstruction For 2nd Field Of Previous Frame", second)?;
    Ok(settings::Settings::new(s, first, second))
}
