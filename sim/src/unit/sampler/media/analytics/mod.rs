//! The video analytics functions of sample_8x8: all but the adaptive video scaler.
//!
//! They read pictures with one channel, one result for each pixel of a block or few for the whole
//! block. Sources: 2d p.390-395 for the states; intel-graphics-compiler for the fields of the
//! messages and the sizes of the responses (TranslateSendMedia.cpp, VISAKernelImpl.cpp);
//! intel/cm-compiler for the layouts of the responses (cmlangspec.rst 4.9).
//!
//! * [`source`]: the pictures;
//! * [`convolution`]: the function convolve;
//! * [`mask`]: erode, dilate, and the filter of minimum and maximum;
//! * [`statistics`]: minimum and maximum of a block, and both centroids.

pub mod convolution;
pub mod mask;
pub mod source;
pub mod statistics;

use crate::assumptions::{MASKS_OF_8X8_ARE_THIS_FAR_APART, SAMPLERS_OF_8X8_ARE_THIS_FAR_APART};
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::unit::bindings::Bindings;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use crate::unit::sampler::samplers::Samplers;
use convolution::Convolution;
use genxml::eu::gen8::eu_payloads::{
    Sample8x8CentroidSizes, Sample8x8MessagePayload, Sample8x8MessagePayloadFunction as Function,
    Sample8x8MessagePayloadMmfMode as Extremes, SamplerMessageHeader,
    SamplerMessageHeaderOutputFormatControl as Format,
};
use genxml::gen8::media::MediaSurfaceState;
use genxml::gen8::media_states::{SamplerState8x8Convolve, SamplerState8x8ErodeDilateMinmaxfilter};
use mask::Mask;
use source::{NO_BITS, NO_NUMBERS, Source, Window};
use statistics::{BIT_BLOCK, BLOCK, PART};

/// A message of a video analytics function.
pub(super) struct Analytics<'m> {
    pub payload: &'m Payload<'m>,
    pub header: SamplerMessageHeader,
    pub parameters: Sample8x8MessagePayload,
    /// Binding table index of the picture.
    pub index: u8,
    /// Graphics address of the table of samplers.
    pub table: u64,
    /// Index of the sampler.
    pub sampler: u64,
}

/// Executes a message.
///
/// # Errors
/// Page faults at states and pixels; [`Fault::IllegalInstruction`] for fields of the message and
/// [`Fault::BadPacket`] for fields of states with values that the function does not support.
pub(super) fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Analytics<'_>,
) -> Result<(), Fault> {
    let Analytics { payload, header, parameters, .. } = message;
    let others = header.red_write_channel_mask
        && header.blue_write_channel_mask
        && header.alpha_write_channel_mask;
    // ANALYTICS_RETURN_ONE_CHANNEL
    if header.green_write_channel_mask || !others {
        let why = "sample_8x8: this function returns green only: the header must not mask green, \
            and must mask red, blue and alpha";
        return Err(port.illegal(why.to_owned(), payload.message));
    }
    let block = parameters.vertical_block_number.get();
    if block != 0 {
        return Err(payload.reserved(port, "Vertical Block Number", block));
    }
    match parameters.function {
        Function::CONVOLVE => message.convolve(port, registers),
        Function::MIN_MAX => message.min_max(port, registers),
        Function::MIN_MAX_FILTER => message.min_max_filter(port, registers),
        Function::ERODE | Function::DILATE => message.erode_or_dilate(port, registers),
        Function::CENTROID => message.centroid(port, registers),
        _ => message.bool_centroid(port, registers),
    }
}

impl Analytics<'_> {
    /// The fault for a value of Sequence that the function does not have.
    fn bad_sequence(&self, port: &Port<'_, '_>) -> Fault {
        self.payload.reserved(port, "Sequence", self.parameters.sequence.get())
    }

    /// Checks the fields of a function that reads the whole block.
    fn whole_block(&self, port: &Port<'_, '_>) -> Result<(), Fault> {
        match self.parameters.sequence.get() {
            2 | 3 => Ok(()),
            _ => Err(self.bad_sequence(port)),
        }
    }

    /// Which of minimum and maximum are returned.
    fn wanted(&self, port: &Port<'_, '_>) -> Result<[bool; 2], Fault> {
        match self.parameters.mmf_mode {
            Extremes::BOTH => Ok([true, true]),
            Extremes::MAXIMUM => Ok([false, true]),
            Extremes::MINIMUM => Ok([true, false]),
            other => Err(self.payload.reserved(port, "MMF Mode", other.bits())),
        }
    }

    /// The picture, and the pixel that U and V name.
    fn source(&self, port: &mut Port<'_, '_>, boolean: bool) -> Result<(Source, [i32; 2]), Fault> {
        let source = port.bindings.source(port.exec, self.index)?;
        if source.is_boolean() != boolean {
            let why = match boolean {
                true => "MEDIA_SURFACE_STATE: the function of sample_8x8 needs one bit per pixel",
                false => "MEDIA_SURFACE_STATE: the function of sample_8x8 needs 8 or 16 bits",
            };
            return Err(port.exec.bad_field("Surface Format", source.format.bits(), why));
        }
        Ok((source, source.pixel([self.parameters.u, self.parameters.v])))
    }

    /// Completes the message: counts the bytes that were read, or returns the fault if the read
    /// failed. `put` writes the response registers if there are any. Bytes that `put` does not
    /// write keep their values (assumptions::ANALYTICS_LEAVE_GAPS).
    fn answer(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
        read: Result<u64, crate::mem::PageFault>,
        put: impl FnOnce(&mut [u8]),
    ) -> Result<(), Fault> {
        if let (Ok(_), Some(to)) = (&read, self.payload.answer()) {
            put(&mut registers.grf_mut()[to..to + self.payload.returned() * REGISTER]);
        }
        self.payload.moved(port, false, read)
    }

    fn convolve(&self, port: &mut Port<'_, '_>, registers: &mut Registers) -> Result<(), Fault> {
        const COLUMNS: usize = 16;
        let rows = match self.parameters.sequence.get() {
            0 => 4,
            2 => 1,
            _ => return Err(self.bad_sequence(port)),
        };
        self.payload.check(port, 1, rows)?;
        let (source, at) = self.source(port, false)?;
        let address = self.table.wrapping_add(SAMPLERS_OF_8X8_ARE_THIS_FAR_APART * self.sampler);
        let kernel = port.bindings.convolution(port.exec, address)?;
        port.exec.device.observed.add(Counter::Sampled, (COLUMNS * rows) as u64 / 4);
        let window = Window::around(at, [COLUMNS, rows], kernel.size);
        let mut numbers = NO_NUMBERS;
        let read =
            source.read(&port.exec.vm, window, |row, column, value| numbers[row][column] = value);
        self.answer(port, registers, read, |out| {
            for (n, out) in out.chunks_exact_mut(2).enumerate() {
                let result = kernel.result(&numbers, n % COLUMNS, n / COLUMNS);
                out.copy_from_slice(&result.to_le_bytes());
            }
        })
    }

    fn min_max(&self, port: &mut Port<'_, '_>, registers: &mut Registers) -> Result<(), Fault> {
        self.whole_block(port)?;
        let wanted = self.wanted(port)?;
        self.payload.check(port, 1, 1)?;
        let (source, corner) = self.source(port, false)?;
        port.exec.device.observed.add(Counter::Sampled, (BLOCK[0] * BLOCK[1]) as u64 / 4);
        let window = Window { corner, size: BLOCK };
        let mut numbers = NO_NUMBERS;
        let read =
            source.read(&port.exec.vm, window, |row, column, value| numbers[row][column] = value);
        let bytes = if *source.range().end() == 0xff { 1 } else { 2 };
        self.answer(port, registers, read, |out| {
            let extremes = statistics::extremes(&numbers);
            for n in (0..2).filter(|&n| wanted[n]) {
                store(&mut out[bytes * n..bytes * (n + 1)], extremes[n]);
            }
        })
    }

    fn min_max_filter(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
    ) -> Result<(), Fault> {
        let block = match self.parameters.sequence.get() {
            0 => [16, 4],
            2 => [16, 1],
            3 => [1, 1],
            _ => return Err(self.bad_sequence(port)),
        };
        let wanted = self.wanted(port)?;
        let bytes: usize = match self.header.output_format_control {
            Format::_16_BIT_FULL => 2,
            Format::_8_BIT_FULL => 1,
            other => {
                return Err(self.payload.reserved(port, "Output Format Control", other.bits()));
            }
        };
        let pixels = block[0] * block[1];
        self.payload.check(port, 1, (2 * bytes * pixels).div_ceil(REGISTER))?;
        let (source, at) = self.source(port, false)?;
        let mask = port.bindings.mask(port.exec, self.mask_address())?;
        port.exec.device.observed.add(Counter::Sampled, pixels as u64 / 4);
        let window = Window::around(at, block, mask.size);
        let mut numbers = NO_NUMBERS;
        let read =
            source.read(&port.exec.vm, window, |row, column, value| numbers[row][column] = value);
        let range = [*source.range().start(), *source.range().end()];
        self.answer(port, registers, read, |out| {
            for pixel in 0..pixels {
                let (x, y) = (pixel % block[0], pixel / block[0]);
                let extremes = mask.extremes(&numbers, x, y, range);
                // Words: minimum and maximum in turn. Bytes: two minima and two maxima in turn.
                let group = 2 / bytes;
                for n in (0..2).filter(|&n| wanted[n]) {
                    let at = (pixel / group * 2 + n) * group + pixel % group;
                    store(&mut out[bytes * at..bytes * (at + 1)], extremes[n]);
                }
            }
        })
    }

    fn erode_or_dilate(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
    ) -> Result<(), Fault> {
        let sequence = self.parameters.sequence.get();
        let block =
            [if sequence & 1 == 0 { 64 } else { 32 }, if sequence & 2 == 0 { 4 } else { 1 }];
        self.payload.check(port, 1, 1)?;
        let (source, at) = self.source(port, true)?;
        let mask = port.bindings.mask(port.exec, self.mask_address())?;
        port.exec.device.observed.add(Counter::Sampled, (block[0] * block[1]) as u64 / 4);
        let window = Window::around(at, block, mask.size);
        let mut bits = NO_BITS;
        let read = source
            .read(&port.exec.vm, window, |row, column, bit| bits[row] |= (bit as u128) << column);
        let erodes = self.parameters.function == Function::ERODE;
        self.answer(port, registers, read, |out| {
            for (y, out) in out.chunks_exact_mut(8).take(block[1]).enumerate() {
                let row = if erodes { mask.eroded(&bits, y) } else { mask.dilated(&bits, y) };
                let bytes = block[0] / 8;
                out[..bytes].copy_from_slice(&row.to_le_bytes()[..bytes]);
            }
        })
    }

    fn centroid(&self, port: &mut Port<'_, '_>, registers: &mut Registers) -> Result<(), Fault> {
        self.whole_block(port)?;
        let [width, height] = self.sizes();
        if width != 0 {
            return Err(self.payload.reserved(port, "Horizontal Size", width as u64));
        }
        if height >= BLOCK[1] {
            return Err(self.payload.reserved(port, "Vertical Size", height as u64));
        }
        let height = if height == 0 { BLOCK[1] } else { height };
        self.payload.check(port, 1, BLOCK[0] * 8 / REGISTER)?;
        let (source, corner) = self.source(port, false)?;
        port.exec.device.observed.add(Counter::Sampled, (BLOCK[0] * height) as u64 / 4);
        let window = Window { corner, size: [BLOCK[0], height] };
        let mut numbers = NO_NUMBERS;
        let read =
            source.read(&port.exec.vm, window, |row, column, value| numbers[row][column] = value);
        self.answer(port, registers, read, |out| {
            for (column, out) in out.chunks_exact_mut(8).enumerate() {
                let sums = statistics::centroid(&numbers, column, height);
                out.copy_from_slice(bytemuck::cast_slice(&sums));
            }
        })
    }

    fn bool_centroid(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
    ) -> Result<(), Fault> {
        self.whole_block(port)?;
        let [width, height] = self.sizes();
        if width >= BIT_BLOCK[0] {
            return Err(self.payload.reserved(port, "Horizontal Size", width as u64));
        }
        if height >= BIT_BLOCK[1] {
            return Err(self.payload.reserved(port, "Vertical Size", height as u64));
        }
        let size = [0, 1].map(|n| match [width, height][n] {
            0 => BIT_BLOCK[n],
            size => size,
        });
        self.payload.check(port, 1, BIT_BLOCK[0] / PART)?;
        let (source, corner) = self.source(port, true)?;
        port.exec.device.observed.add(Counter::Sampled, (size[0] * size[1]) as u64 / 4);
        let mut bits = NO_BITS;
        let read = source.read(&port.exec.vm, Window { corner, size }, |row, column, bit| {
            bits[row] |= (bit as u128) << column;
        });
        self.answer(port, registers, read, |out| {
            for (n, out) in out.chunks_exact_mut(REGISTER).enumerate() {
                let columns = PART * n..(PART * (n + 1)).min(size[0]);
                let sums = statistics::bit_centroid(&bits, columns, size[1]);
                out[..12].copy_from_slice(bytemuck::cast_slice(&sums));
            }
        })
    }

    /// Width and height in the first dword of the payload.
    fn sizes(&self) -> [usize; 2] {
        let dword = self.parameters.second_derivative_v.to_bits();
        let sizes = Sample8x8CentroidSizes::unpack_lossy(&[dword]);
        [sizes.horizontal_size.get() as usize, sizes.vertical_size.get() as usize]
    }

    fn mask_address(&self) -> u64 {
        self.table.wrapping_add(MASKS_OF_8X8_ARE_THIS_FAR_APART * self.sampler)
    }
}

/// Stores a number in one or two bytes, clamped to their range
/// (assumptions::NUMBERS_OF_ANALYTICS_ARE_INTEGERS).
fn store(out: &mut [u8], number: i32) {
    match out {
        [byte] => *byte = number.clamp(0, 0xff) as u8,
        word => word.copy_from_slice(&(number as u16).to_le_bytes()),
    }
}

impl Bindings {
    /// The picture of binding table entry `index` for video analytics functions.
    fn source(&mut self, exec: &Exec<'_>, index: u8) -> Result<Source, Fault> {
        let sources = &self.samplers.media.sources;
        if let Some(number) = sources.number(index) {
            return Ok(*sources.get(number));
        }
        let state = MediaSurfaceState::unpack_lossy(&self.dwords(exec, index)?);
        let source = Source::resolve(&state).map_err(|bad| {
            let why = format!("MEDIA_SURFACE_STATE of binding table entry {index}: {}", bad.why);
            exec.bad_field(bad.field, bad.value, why)
        })?;
        self.samplers.media.sources.add(index, source);
        Ok(source)
    }

    /// The convolution whose state is at a graphics address.
    fn convolution(&mut self, exec: &Exec<'_>, address: u64) -> Result<Convolution, Fault> {
        let convolutions = &mut self.samplers.media.convolutions;
        let convolution = convolutions.find(address, || {
            let mut dwords = [0; SamplerState8x8Convolve::DWORDS];
            // The rest is reserved, and drivers do not allocate all of it.
            let used = &mut dwords[..Convolution::DWORDS];
            Samplers::read(exec, address, used)?;
            Convolution::resolve(exec, &SamplerState8x8Convolve::unpack_lossy(&dwords))
        })?;
        Ok(*convolution)
    }

    /// The mask whose state is at a graphics address.
    fn mask(&mut self, exec: &Exec<'_>, address: u64) -> Result<Mask, Fault> {
        let masks = &mut self.samplers.media.masks;
        let mask = masks.find(address, || {
            let mut dwords = [0; SamplerState8x8ErodeDilateMinmaxfilter::DWORDS];
            Samplers::read(exec, address, &mut dwords)?;
            Mask::resolve(exec, &SamplerState8x8ErodeDilateMinmaxfilter::unpack_lossy(&dwords))
        })?;
        Ok(*mask)
    }
}
