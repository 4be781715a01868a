//! Video enhancement: denoising, deinterlacing, image enhancement and colour conversion of frames.
//!
//! State packets are latched, and VEB_DI_IECP processes a frame with them. The order of the
//! functions (digests/video.md 12.2):
//! 1. [`denoise`], with the frame before and the [`history`] of noise;
//! 2. [`deinterlace`], with the history of motion;
//! 3. [`iecp`]: skin tones, contrast, saturation, ProcAmp, colour space, gamut, in rows with a
//!    sample of chroma for each pixel ([`convert`]).
//!
//! [`surface`] and [`pack`] read and write surfaces: frames of 8 bits, or [`picture`]s of 12 bits.
//! [`film`], [`noise`] and [`statistics`] count. All arithmetic is functions of plain values. Only
//! this file and [`surface`] use packets and memory.

pub mod convert;
pub mod deinterlace;
pub mod denoise;
pub mod film;
pub mod history;
pub mod iecp;
pub mod noise;
pub mod pack;
pub mod picture;
pub mod statistics;
pub mod surface;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use convert::{Method, convert};
use deinterlace::Source;
use genxml::gen8::vebox::{
    VebDiIecp, VeboxState, VeboxState422420DownsampleMethod as RowsMethod,
    VeboxState444422DownsampleMethod as ColumnsMethod, VeboxStateDiEnable as Di,
    VeboxStateDiOutputFrames as Wanted, VeboxStateDnDiFirstFrame as First,
    VeboxStateDnEnable as Dn,
};
use genxml::gen8::vebox_states::{
    VeboxDndiState, VeboxGamutState, VeboxGamutStateGlobalModeEnable as GamutMode, VeboxIecpState,
};
use genxml_codecs::Frame;
use genxml_core::Fixed;
use history::History;
use iecp::gamut::Expansion;
use iecp::{Chain, Luma};
use picture::Picture;
use statistics::{Blocks, Statistics};
use std::ops::Range;
use surface::{Role, Surface};

/// Units of work of denoising a pixel.
const DENOISED: u64 = 8;
/// Units of work of deinterlacing a pixel.
const DEINTERLACED: u64 = 32;
/// Units of work of enhancing a pixel.
const ENHANCED: u64 = 4;

/// Executes VEB_DI_IECP: processes a frame, or columns of it.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Page`] if a surface or a state
/// is not mapped; [`Fault::Unimplemented`] for functions of the camera pipe and for gamut
/// compression.
pub fn di_iecp(exec: &mut Exec<'_>, packet: &VebDiIecp) -> Result<(), Fault> {
    let job = Job::resolve(exec, packet)?;
    let mut statistics = Statistics { two_frames: job.deinterlaces, ..Statistics::default() };
    if !job.denoises && !job.deinterlaces {
        let address = packet.current_frame_input_address.get();
        if job.enhances || !job.is_copy() {
            let source = job.input.read_picture(exec, address, "current frame input")?;
            statistics.current = job.output(exec, &source, Output::Current, packet)?;
        } else {
            let frame = job.input.read_frame(exec, address, "current frame input")?;
            job.copy(exec, &frame, Output::Current, packet)?;
        }
    } else {
        job.video(exec, packet, &mut statistics)?;
    }
    let address = packet.statistics_output_address.get();
    let bytes = statistics.bytes();
    let written = exec.vm.write(address, &bytes);
    written.map_err(|fault| exec.page(fault, "statistics output"))?;
    exec.stats.bytes_written += bytes.len() as u64;
    Ok(())
}

/// What VEBOX_STATE and the surfaces ask for.
struct Job {
    state: VeboxState,
    input: Surface,
    outputs: Surface,
    /// The columns that are written.
    columns: Range<usize>,
    denoises: bool,
    deinterlaces: bool,
    enhances: bool,
    /// The frame before counts.
    continues: bool,
    method: Method,
}

/// An output other than the denoised frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Previous,
    Current,
}

impl Job {
    fn resolve(exec: &Exec<'_>, packet: &VebDiIecp) -> Result<Job, Fault> {
        if exec.state.latched.get::<VeboxState>(0).is_none() {
            let why = "no VEBOX_STATE came before, so nothing says what to do with the frame";
            return Err(exec.bad_field("Ending X", packet.ending_x.get(), why));
        }
        let state: VeboxState = exec.state.latched.read(0);
        for (asked, what, page) in [
            (state.demosaic_enable, "Demosaic Enable", "VEBOX_STATE dw1 10"),
            (state.vignette_enable, "Vignette Enable", "VEBOX_STATE dw1 11"),
            (state.alpha_plane_enable, "Alpha Plane Enable", "VEBOX_STATE dw1 12"),
            (state.hot_pixel_filtering_enable, "Hot Pixel Filtering Enable", "VEBOX_STATE dw1 13"),
            (
                state.color_gamut_compression_enable,
                "Color Gamut Compression Enable",
                "VEBOX_STATE dw1 1",
            ),
        ] {
            if asked {
                return Err(exec.unimplemented(what, page));
            }
        }
        let input = Surface::resolve(exec, Role::Input)?;
        let outputs = Surface::resolve(exec, Role::Output)?.sized(exec, &input)?;
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
            return Err(exec.bad_field("Surface Format", Role::Input as u64, why));
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
    fn is_copy(&self) -> bool {
        self.input.format.is_video()
            && self.outputs.format.is_video()
            && self.input.format.sampling() == self.outputs.format.sampling()
    }

    /// Pixels of the frame.
    fn pixels(&self) -> u64 {
        (self.input.width * self.input.height) as u64
    }

    /// Denoises and deinterlaces, and writes all outputs.
    fn video(
        &self,
        exec: &mut Exec<'_>,
        packet: &VebDiIecp,
        statistics: &mut Statistics,
    ) -> Result<(), Fault> {
        let state: VeboxDndiState =
            read(exec, self.state.dn_di_state_pointer.get(), "DN/DI state")?;
        let work = if self.deinterlaces { DEINTERLACED } else { DENOISED };
        exec.spend(work * self.pixels())?;
        let address = packet.current_frame_input_address.get();
        let current = self.input.read_frame(exec, address, "current frame input")?;
        let previous = match self.continues {
            true => {
                let address = packet.previous_frame_input_address.get();
                Some(self.input.read_frame(exec, address, "previous frame input")?)
            }
            false => None,
        };
        let mut history = self.history(exec, packet)?;
        self.count(&state, &current, previous.as_ref(), statistics);
        let denoised = match self.denoises {
            true => {
                let settings = denoise_settings(exec, &state)?;
                denoise::frame(&settings, &current, previous.as_ref(), &mut history)
            }
            false => current,
        };
        let address = packet.denoised_current_frame_output_address.get();
        let bytes = self.input.format.frame_bytes(&denoised);
        self.input.write(exec, address, &bytes, &self.columns, "denoised frame output")?;
        if self.deinterlaces {
            let settings = deinterlace_settings(exec, &state)?;
            let wanted = self.wanted(exec)?;
            let frames =
                deinterlace::frames(&settings, &denoised, previous.as_ref(), &mut history, wanted);
            if let Some(frame) = frames.previous {
                statistics.previous = self.frame(exec, &frame, Output::Previous, packet)?;
            }
            if let Some(frame) = frames.current {
                statistics.current = self.frame(exec, &frame, Output::Current, packet)?;
            }
        } else if self.enhances {
            statistics.current = self.frame(exec, &denoised, Output::Current, packet)?;
        }
        let address = packet.stmm_output_address.get();
        let written = exec.vm.write(address, &history.bytes);
        written.map_err(|fault| exec.page(fault, "STMM output"))?;
        exec.stats.bytes_written += history.bytes.len() as u64;
        Ok(())
    }

    /// The history of the frame before; empty for a first frame.
    fn history(&self, exec: &mut Exec<'_>, packet: &VebDiIecp) -> Result<History, Fault> {
        let mut bytes = vec![0; History::size(self.input.width, self.input.height)];
        if self.continues {
            let read = exec.vm.read(packet.stmm_input_address.get(), &mut bytes);
            read.map_err(|fault| exec.page(fault, "STMM input"))?;
            exec.stats.bytes_read += bytes.len() as u64;
        }
        Ok(History::new(self.input.width, bytes))
    }

    /// Which of the previous and of the current frame deinterlacing writes.
    fn wanted(&self, exec: &Exec<'_>) -> Result<[bool; 2], Fault> {
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

    /// Counts blocks and noise.
    fn count(
        &self,
        state: &VeboxDndiState,
        current: &Frame,
        previous: Option<&Frame>,
        statistics: &mut Statistics,
    ) {
        let top_first = state.dn_di_top_first
            == genxml::gen8::vebox_states::VeboxDndiStateDnDiTopFirst::TOP_FIELD_OCCURS_FIRST_IN_SEQUENCE;
        let thresholds = self.deinterlaces.then(|| film::Thresholds::new(state, top_first));
        let planes = (&current.planes[0], previous.map(|frame| &frame.planes[0]));
        statistics.blocks =
            Some(Blocks::new(planes, &self.columns, self.denoises, thresholds.as_ref()));
        let thresholds = noise::Thresholds {
            edge: state.block_noise_estimate_edge_threshold.get() as u32,
            noise: state.block_noise_estimate_noise_threshold.get() as u32,
            rows: if self.deinterlaces { 4 } else { 8 },
        };
        statistics.noise =
            current.planes.each_ref().map(|plane| noise::estimate(&thresholds, plane));
    }

    /// Enhances a frame if wanted, and writes it. Returns the counts of enhancement.
    fn frame(
        &self,
        exec: &mut Exec<'_>,
        frame: &Frame,
        output: Output,
        packet: &VebDiIecp,
    ) -> Result<Option<Luma>, Fault> {
        if !self.enhances && self.is_copy() {
            self.copy(exec, frame, output, packet)?;
            return Ok(None);
        }
        let source = Picture::widen(frame, self.input.format.sampling());
        self.output(exec, &source, output, packet)
    }

    /// Writes a frame as it is.
    fn copy(
        &self,
        exec: &mut Exec<'_>,
        frame: &Frame,
        output: Output,
        packet: &VebDiIecp,
    ) -> Result<(), Fault> {
        let (address, name) = output.place(packet);
        let bytes = self.outputs.format.frame_bytes(frame);
        self.outputs.write(exec, address, &bytes, &self.columns, name)
    }

    /// Enhances a picture if wanted, and writes it. Returns the counts of enhancement.
    fn output(
        &self,
        exec: &mut Exec<'_>,
        source: &Picture,
        output: Output,
        packet: &VebDiIecp,
    ) -> Result<Option<Luma>, Fault> {
        exec.spend(ENHANCED * watchdog::PIXEL * self.pixels())?;
        let sampling = self.outputs.format.sampling();
        let mut counts = None;
        let result = if self.enhances {
            let state: VeboxIecpState =
                read(exec, self.state.iecp_state_pointer.get(), "IECP state")?;
            let chain = self.chain(exec, &state, source)?;
            let (area, rows) = self.area(&state);
            let threshold = state.ace_lace_state.skin_threshold.get() as u8;
            let mut luma = Luma::new(threshold);
            let result = convert(source, sampling, self.method, |y, row| {
                let counted = if rows.contains(&y) { area.clone() } else { 0..0 };
                chain.apply(row, counted, &mut luma);
            });
            counts = Some(luma);
            result
        } else {
            convert(source, sampling, self.method, |_, _| {})
        };
        let (address, name) = output.place(packet);
        let bytes = self.outputs.format.picture_bytes(&result);
        self.outputs.write(exec, address, &bytes, &self.columns, name)?;
        Ok(counts)
    }

    /// The functions of enhancement.
    fn chain(
        &self,
        exec: &mut Exec<'_>,
        state: &VeboxIecpState,
        source: &Picture,
    ) -> Result<Chain, Fault> {
        for (asked, what) in [
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
            if asked {
                return Err(exec.unimplemented(what, "2d p.517, 533, 538: needs Demosaic Enable"));
            }
        }
        let mut chain = Chain::new(state, source.alpha.is_some());
        if self.state.color_gamut_expansion_enable {
            let address = self.state.gamut_state_pointer.get();
            let gamut: VeboxGamutState = read(exec, address, "gamut state")?;
            if gamut.global_mode_enable != GamutMode::BASIC_MODE {
                let what = "gamut expansion in the advance mode";
                return Err(exec.unimplemented(what, "VEBOX_GAMUT_STATE dw0 15"));
            }
            chain.expansion = Some(Expansion::new(&gamut));
        }
        Ok(chain)
    }

    /// Columns and rows whose luma is counted.
    fn area(&self, state: &VeboxIecpState) -> (Range<usize>, Range<usize>) {
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

impl Output {
    /// Address and name.
    fn place(self, packet: &VebDiIecp) -> (u64, &'static str) {
        match self {
            Output::Previous => {
                (packet.previous_frame_output_address.get(), "previous frame output")
            }
            Output::Current => (packet.current_frame_output_address.get(), "current frame output"),
        }
    }
}

/// Reads a state structure.
fn read<T: Fixed>(exec: &mut Exec<'_>, address: u64, name: &'static str) -> Result<T, Fault> {
    let mut dwords = vec![0_u32; T::DWORDS];
    let read = exec.vm.read(address, bytemuck::cast_slice_mut(&mut dwords));
    read.map_err(|fault| exec.page(fault, name))?;
    exec.stats.bytes_read += 4 * dwords.len() as u64;
    Ok(T::read_lossy(&dwords))
}

/// The settings of denoising.
fn denoise_settings(exec: &Exec<'_>, state: &VeboxDndiState) -> Result<denoise::Settings, Fault> {
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
fn deinterlace_settings(
    exec: &Exec<'_>,
    s: &VeboxDndiState,
) -> Result<deinterlace::Settings, Fault> {
    let first = s.progressive_cadence_reconstruction_for_1st_field_of_current_frame.bits();
    let second = s.progressive_cadence_reconstruction_for_2nd_field_of_previous_frame.bits();
    let source = |field: &'static str, bits: u64| {
        let why = "a field can be put together with the previous or with the next field only";
        Source::from_bits(bits).ok_or_else(|| exec.bad_field(field, bits, why))
    };
    let first = source("Progressive Cadence Reconstruction for 1st Field of Current Frame", first)?;
    let second =
        source("Progressive Cadence Reconstruction For 2nd Field Of Previous Frame", second)?;
    Ok(deinterlace::Settings::new(s, first, second))
}
