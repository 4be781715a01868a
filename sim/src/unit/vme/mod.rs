//! Motion estimation (VME), and check and refinement (CRE): messages of encoder kernels about one
//! macroblock.
//!
//! No public source has the pages of these functions for this generation. Layouts are those of
//! `eu_vme.xml`; digests/video.md 10 collects what drivers, compilers and the manual of Ivy Bridge
//! say about the algorithm. What these leave open is in the list of assumptions, area motion
//! estimation. In reading order:
//!
//! * [`payload`]: registers of messages to plain values;
//! * [`geometry`]: partitions and vectors; [`pixels`]: pixels of the pictures;
//! * [`distortion`], [`costs`]: what a prediction costs;
//! * [`search`]: IME, the integer search; [`decide`]: the shape of the macroblock;
//! * [`predict`], [`refine`]: FBR, the refinement of vectors;
//! * [`skip`], [`intra`]: SIC, the skip and intra check;
//! * [`response`]: plain values to registers of responses.

pub mod costs;
pub mod decide;
pub mod distortion;
pub mod geometry;
pub mod intra;
pub mod payload;
pub mod pixels;
pub mod predict;
pub mod refine;
pub mod response;
pub mod search;
pub mod skip;
#[cfg(test)]
mod tests;

use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use decide::{Decision, MOST};
use genxml::eu::gen8::eu_messages::{MotionEstimationMessageDescriptor, MotionEstimationType};
use genxml::eu::gen8::eu_vme::{
    CreFbrMessagePayload, CreSicMessagePayload, CreSicMessagePayloadIntraComputeType as Compute,
    VmeImeMessagePayload, VmeImeStreamRecord, VmeResponse, VmeResponseIntraMbMode,
    VmeUniversalMessagePayload, VmeUniversalMessagePayloadSearchControl as Control,
};
use genxml::eu::instruction::SharedFunction;
use geometry::Vector;
use payload::Refused;
use pixels::Pictures;
use response::field;
use search::{Outcome, Path, WINDOW};

/// The section that errors cite: what public sources say about these messages.
const PAGE: &str = "digests/video.md 10";
/// Number of registers that all messages start with.
const UNIVERSAL: usize = 4;
/// Number of registers of all responses, without records.
const RESPONSE: usize = 7;

/// Executes a message to motion estimation, or to check and refinement.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for invalid fields, [`Fault::Unimplemented`] for functions that no
/// source describes, page faults of surface states and pictures.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = MotionEstimationMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let kind = descriptor.message_type;
    let name = match (message.function, kind) {
        (SharedFunction::MotionEstimation, MotionEstimationType::IME) => "an integer search (IME)",
        (SharedFunction::CheckAndRefinement, MotionEstimationType::SIC) => {
            "a skip and intra check (SIC)"
        }
        (SharedFunction::CheckAndRefinement, MotionEstimationType::FBR) => "a refinement (FBR)",
        (SharedFunction::MotionEstimation, MotionEstimationType::IDM) => {
            return Err(port.missing("the message IDM of motion estimation", message, PAGE));
        }
        _ => {
            let why = format!("the message type {} of this receiver is reserved", kind.bits());
            return Err(port.illegal(why, message));
        }
    };
    let payload = Payload::open(message, name);
    payload.required(port)?;
    let universal = VmeUniversalMessagePayload::unpack_lossy(&registers.dwords(message.payload));
    payload::check(&universal).map_err(|refused| match refused {
        Refused::Missing(what) => port.missing(&format!("{what} of {name}"), message, PAGE),
        Refused::Bad(field, value) => payload.reserved(port, field, value),
    })?;
    let pictures = Pictures::new(&universal, descriptor.binding_table_index.get());
    let unit = Unit { payload, universal, pictures };
    match kind {
        MotionEstimationType::IME => unit.search(port, registers, &descriptor),
        MotionEstimationType::FBR => unit.refine(port, registers),
        _ => unit.check(port, registers),
    }
}

/// A message.
struct Unit<'m> {
    payload: Payload<'m>,
    universal: VmeUniversalMessagePayload,
    pictures: Pictures,
}

impl Unit<'_> {
    /// Byte offset of the registers after the universal ones.
    fn rest(&self) -> usize {
        self.payload.message.payload + UNIVERSAL * REGISTER
    }

    /// Checks the number of registers of the message and of its response. The first register of the
    /// message counts as its header.
    fn lengths(&self, port: &Port<'_, '_>, rest: usize, records: usize) -> Result<(), Fault> {
        self.payload.check(port, UNIVERSAL - 1 + rest, RESPONSE + records)
    }

    /// A response with what all messages return.
    fn response(&self) -> VmeResponse {
        let universal = &self.universal;
        let mut response = VmeResponse::new();
        response.field_mb = universal.source_field_access;
        response.field_polarity =
            universal.source_field_access && universal.source_field_polarity.get() == 1;
        response.mb_intra_structure = field(universal.mb_intra_structure.get() as u32 >> 2);
        for (out, reference) in response.reference.iter_mut().zip(&universal.block_reference) {
            out.reference_0_id = reference.block_reference_0_id;
            out.reference_1_id = reference.block_reference_1_id;
        }
        response
    }

    /// Writes a response and adds the bytes that were read to the statistics.
    fn answer(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
        response: &VmeResponse,
        records: &[VmeImeStreamRecord],
    ) -> Result<(), Fault> {
        if let Some(to) = self.payload.answer() {
            registers.set_dwords(to, response.pack());
            for (n, record) in records.iter().enumerate() {
                registers.set_dwords(to + (RESPONSE + 2 * n) * REGISTER, record.pack());
            }
        }
        self.payload.moved(port, false, Ok(self.pictures.bytes()))
    }

    /// IME.
    fn search(
        mut self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
        descriptor: &MotionEstimationMessageDescriptor,
    ) -> Result<(), Fault> {
        let universal = self.universal;
        let block = &universal.block_reference[0];
        let ids = [block.block_reference_0_id, block.block_reference_1_id];
        if descriptor.stream_in && ids.iter().any(|id| id.get() != 0) {
            // Records have no reference IDs here, but the best vectors would need theirs.
            let what = format!("stream-in of {} with a Block Reference ID", self.payload.name);
            return Err(port.missing(&what, self.payload.message, PAGE));
        }
        let references = if universal.search_control == Control::DUAL_REFERENCE { 2 } else { 1 };
        let records = |present: bool| if present { 2 * references } else { 0 };
        self.lengths(port, 2 + records(descriptor.stream_in), records(descriptor.stream_out))?;
        let size = [universal.reference_width.get(), universal.reference_height.get()];
        for (size, field) in size.into_iter().zip(["Reference Width", "Reference Height"]) {
            if !(20..=WINDOW as u64).contains(&size) || size % 4 != 0 {
                let why = format!(
                    "{} with {field} = {size}: it must be a multiple of 4 from 20 to {WINDOW}",
                    self.payload.name
                );
                return Err(port.illegal(why, self.payload.message));
            }
        }
        let message = VmeImeMessagePayload::unpack_lossy(&registers.dwords(self.rest()));
        let steps = payload::steps(&message);
        let starts = [
            [universal.start_0_x, universal.start_0_y].map(|n| n.get() as u8),
            [universal.start_1_x, universal.start_1_y].map(|n| n.get() as u8),
        ];
        let corners = [
            [universal.reference_0_window_x, universal.reference_0_window_y],
            [universal.reference_1_window_x, universal.reference_1_window_y],
        ];
        let costs = payload::costs(&universal);
        let source = self.pictures.source(port)?;
        let mut best = [None; 2];
        let mut outcomes = [Outcome::default(); 2];
        for reference in 0..references {
            let corner = corners[reference].map(|n| n.get() as i32);
            let window = self.pictures.window(port, reference, corner, size.map(|n| n as usize))?;
            let mut known = match descriptor.stream_in {
                true => {
                    let at = self.rest() + (2 + 2 * reference) * REGISTER;
                    payload::stream_in(&VmeImeStreamRecord::unpack_lossy(&registers.dwords(at)))
                }
                false => search::Best::default(),
            };
            let path = Path {
                starts: match universal.search_control {
                    Control::DUAL_START => &starts,
                    _ => &starts[reference..=reference],
                },
                steps: &steps,
                length: universal.search_path_length.get() as usize,
                adaptive: universal
                    .adaptive_search_enable
                    .then_some(universal.max_number_of_search_units.get() as usize),
                stop: universal
                    .early_ime_success_enable
                    .then(|| costs::u4u4(universal.early_ime_stop.get() as u8).min(MOST) as u16),
            };
            let transform = payload::inter(&universal);
            outcomes[reference] =
                search::search(&source, &window, transform, &costs, reference, &path, &mut known);
            best[reference] = Some(known);
        }
        let decision = decide::decide(&best, &costs, &payload::rules(&universal));
        let mut response = self.response();
        self.set_inter(&mut response, &decision);
        response.minimal_distortion = field(decision.distortion);
        response.search_units = field(outcomes.iter().map(|outcome| outcome.units as u32).sum());
        response.reference_0_border = field(outcomes[0].border.into());
        response.reference_1_border = field(outcomes[1].border.into());
        response.early_stop = outcomes.iter().any(|outcome| outcome.early);
        response.truncated_search = outcomes.iter().any(|outcome| outcome.truncated);
        let records: Vec<_> = match descriptor.stream_out {
            true => best.iter().flatten().map(response::stream_out).collect(),
            false => Vec::new(),
        };
        self.answer(port, registers, &response, &records)
    }

    /// FBR.
    fn refine(mut self, port: &mut Port<'_, '_>, registers: &mut Registers) -> Result<(), Fault> {
        self.lengths(port, 4, 0)?;
        let message = CreFbrMessagePayload::unpack_lossy(&registers.dwords(self.rest()));
        let universal = &self.universal;
        let pairs = |bits: u64| std::array::from_fn(|quad| (bits >> (2 * quad) & 3) as u8);
        let start = Decision {
            mode: universal.fbr_mb_mode.bits() as u8,
            shapes: pairs(universal.fbr_sub_mb_shapes.get()),
            // Only the lower bit counts (intel/media-driver, BME_DISABLE_FOR_FBR_MESSAGE).
            directions: pairs(universal.fbr_sub_mb_prediction_modes.get() & 0x55),
            vectors: std::array::from_fn(|block| {
                [0, 1].map(|reference| {
                    let vector = &message.sub_block_mv[2 * block + reference];
                    let [x, y] = [vector.sub_block_mv_x, vector.sub_block_mv_y];
                    Vector { x: x.get() as i16, y: y.get() as i16 }
                })
            }),
            ..Decision::default()
        };
        let (refinement, costs) = (payload::refinement(universal), payload::costs(universal));
        let source = self.pictures.source(port)?;
        let pictures = &mut self.pictures;
        let decision =
            refine::refine(&source, &start, &refinement, &costs, |reference, part, patch| {
                pictures.patch(port, reference, part, patch)
            })?;
        let mut response = self.response();
        self.set_inter(&mut response, &decision);
        response.minimal_distortion = field(decision.distortion);
        self.answer(port, registers, &response, &[])
    }

    /// SIC.
    fn check(mut self, port: &mut Port<'_, '_>, registers: &mut Registers) -> Result<(), Fault> {
        self.lengths(port, 4, 0)?;
        let message = CreSicMessagePayload::unpack_lossy(&registers.dwords(self.rest()));
        let universal = self.universal;
        let costs = payload::costs(&universal);
        let source = self.pictures.source(port)?;
        let mut response = self.response();
        let mut inter = None;
        if let Some(skip) = payload::skip(&universal, &message) {
            let pictures = &mut self.pictures;
            let how = payload::refinement(&universal);
            let checked = skip::check(&source, &skip, &how, &costs, |reference, part, patch| {
                pictures.patch(port, reference, part, patch)
            })?;
            response.skip_raw_distortion = field(checked.raw.unwrap_or(INVALID_SKIP));
            response.skip_coefficient_count = checked.count.map(|count| field(count.into()));
            response.skip_coefficient_sum = checked.sum.map(|sum| field(sum.into()));
            if checked.raw.is_some() {
                self.set_inter(&mut response, &checked.decision);
                response.skip_mb = checked.success;
                inter = Some(checked.decision.distortion);
            }
        }
        let compute = message.intra_compute_type;
        let mut intra = MOST;
        if matches!(compute, Compute::LUMA | Compute::LUMA_AND_CHROMA)
            && let Some(found) = intra::luma(&source, &payload::intra(&universal, &message), &costs)
        {
            intra = found.distortion;
            response.intra_mb_mode = VmeResponseIntraMbMode::from_bits(found.shape.into());
            response.intra_mode = found.modes.map(|mode| field(mode.into()));
            // 16x16: 1 plus the mode. Its other parts say what is coded, which is not known yet.
            let kind = if found.shape == 0 { 1 + u32::from(found.modes[0]) } else { 0 };
            response.intra_mb_type = field(kind);
        } else {
            response.intra_mb_type = field(1);
        }
        response.intra_distortion = field(intra);
        if compute == Compute::LUMA_AND_CHROMA {
            let samples = self.pictures.chroma(port)?;
            let chroma = payload::chroma(&universal, &message);
            let (mode, distortion) = intra::chroma(&samples, &chroma, &costs);
            response.intra_chroma_mode = field(mode.into());
            response.chroma_intra_distortion = field(distortion);
        }
        response.intra_mb = inter.is_none_or(|inter| intra < inter);
        response.minimal_distortion = field(inter.map_or(intra, |inter| intra.min(inter)));
        self.answer(port, registers, &response, &[])
    }

    /// Sets the fields of an inter prediction.
    fn set_inter(&self, response: &mut VmeResponse, decision: &Decision) {
        response::set_inter(response, decision);
        let whole = decision.mode != 3 || decision.shapes == [0; 4];
        response.transform_8x8 = self.universal.t8x8_flag_for_inter_enable && whole;
    }
}

/// Raw distortion of a skip check with a pair of vectors that has no reference.
const INVALID_SKIP: u32 = 1 << 14 | MOST;
