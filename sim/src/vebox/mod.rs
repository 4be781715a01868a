//! Video enhancement: denoising, deinterlacing, image enhancement and colour conversion of frames.
//!
//! State packets are latched, and VEB_DI_IECP processes a frame with them. The order of the
//! functions (digests/video.md 12.2):
//! 1. [`denoise`], with the frame before and the [`history`] of noise;
//! 2. [`deinterlace`], with the history of motion;
//! 3. [`iecp`]: skin tones, gamut, contrast, saturation, ProcAmp, colour space, in rows with a
//!    sample of chroma for each pixel ([`mod@convert`]).
//!
//! The [`camera`] pipe makes the picture of a Bayer pattern before enhancement.
//!
//! [`job`] checks the state. [`surface`] and [`pack`] read and write surfaces: frames of 8 bits, or
//! [`picture`]s of 12 bits. [`film`], [`noise`] and [`statistics`] count. All arithmetic is
//! functions of plain values. Only this file, [`job`] and [`surface`] use packets and memory.

pub mod camera;
pub mod convert;
pub mod deinterlace;
pub mod denoise;
pub mod film;
pub mod history;
pub mod iecp;
pub mod job;
pub mod noise;
pub mod pack;
pub mod picture;
pub mod statistics;
pub mod surface;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use convert::convert;
use genxml::gen8::vebox::VebDiIecp;
use genxml::gen8::vebox_states::{
    VeboxDndiState, VeboxDndiStateDnDiTopFirst as TopFirst, VeboxIecpState,
};
use genxml_codecs::Frame;
use history::History;
use iecp::Luma;
use job::{Job, deinterlace_settings, denoise_settings, read};
use picture::Picture;
use statistics::{Blocks, Statistics};

/// Units of work of denoising a pixel.
const DENOISED: u64 = 8;
/// Units of work of deinterlacing a pixel.
const DEINTERLACED: u64 = 32;
/// Units of work of making colours of a pixel of a Bayer pattern.
const DEMOSAICED: u64 = 16;
/// Units of work of enhancing a pixel.
const ENHANCED: u64 = 4;

/// Executes VEB_DI_IECP: processes a frame, or columns of it.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Page`] if a surface or a state
/// is not mapped; [`Fault::Unimplemented`] for functions that the model lacks.
pub fn di_iecp(exec: &mut Exec<'_>, packet: &VebDiIecp) -> Result<(), Fault> {
    let job = Job::resolve(exec, packet)?;
    let mut statistics = Statistics { two_frames: job.deinterlaces, ..Statistics::default() };
    if !job.denoises && !job.deinterlaces {
        let address = packet.current_frame_input_address.get();
        if job.enhances || !job.is_copy() {
            let mut source = job.input.read_picture(exec, address, "current frame input")?;
            if let Some(settings) = job.camera(exec, packet)? {
                exec.spend(DEMOSAICED * job.pixels())?;
                let [samples, ..] = source.planes;
                source = camera::picture(&settings, samples, job.input.width);
            }
            statistics.current = job.output(exec, source, Output::Current, packet)?;
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

/// An output other than the denoised frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Previous,
    Current,
}

impl Job {
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
        let denoised = if self.denoises {
            let settings = denoise_settings(exec, &state)?;
            let frame = denoise::frame(&settings, &current, previous.as_ref(), &mut history);
            let address = packet.denoised_current_frame_output_address.get();
            let bytes = self.input.format.frame_bytes(&frame);
            self.input.write(exec, address, &bytes, &self.columns, "denoised frame output")?;
            frame
        } else {
            current
        };
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

    /// Counts blocks and noise.
    fn count(
        &self,
        state: &VeboxDndiState,
        current: &Frame,
        previous: Option<&Frame>,
        statistics: &mut Statistics,
    ) {
        let top_first = state.dn_di_top_first == TopFirst::TOP_FIELD_OCCURS_FIRST_IN_SEQUENCE;
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
        self.output(exec, source, output, packet)
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
        mut source: Picture,
        output: Output,
        packet: &VebDiIecp,
    ) -> Result<Option<Luma>, Fault> {
        exec.spend(ENHANCED * watchdog::PIXEL * self.pixels())?;
        if let Some(alpha) = self.alpha(exec, packet)? {
            source.alpha = Some(alpha);
        }
        let sampling = self.outputs.format.sampling();
        let mut counts = None;
        let result = if self.enhances {
            let state: VeboxIecpState =
                read(exec, self.state.iecp_state_pointer.get(), "IECP state")?;
            let chain = self.chain(exec, &state, &source)?;
            let (area, rows) = self.area(&state);
            let threshold = state.ace_lace_state.skin_threshold.get() as u8;
            let mut luma = Luma::new(threshold);
            let result = convert(&source, sampling, self.method, |y, row| {
                let counted = if rows.contains(&y) { area.clone() } else { 0..0 };
                chain.apply(row, counted, &mut luma);
            });
            counts = Some(luma);
            result
        } else {
            convert(&source, sampling, self.method, |_, _| {})
        };
        let (address, name) = output.place(packet);
        let bytes = self.outputs.format.picture_bytes(&result);
        self.outputs.write(exec, address, &bytes, &self.columns, name)?;
        Ok(counts)
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
