//! Messages to the sampler: their header, the registers of their parameters, and their responses
//! (gen8_facts 4.2, 003:3915-4243).

use super::kinds::ABSENT;
pub use super::kinds::{Action, Kind, LodFrom, Parameter, Reduce, Sample, Simd, kind, sample};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::surface::format::codec::ALL;
use crate::surface::format::value::Value;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::eu::gen8::eu_payloads::SamplerMessageHeader;

/// Maximum number of lanes of a message.
pub const LANES: usize = 16;
/// Number of lanes that are processed together: the lanes of a register.
pub const GROUP: usize = 8;

/// A decoded message to the sampler.
#[derive(Debug)]
pub struct Request<'m> {
    /// Registers and lengths of the message.
    payload: Payload<'m>,
    /// Kind of the message.
    pub kind: &'static Kind,
    /// Number of lanes and their layout.
    pub simd: Simd,
    /// Mask of active lanes.
    pub mask: u32,
    /// Mask of the channels that are returned: bit 0 is red.
    pub present: u8,
    /// True if a channel that is not returned takes registers in a SIMD8 response (before Gen7).
    pub keeps_registers: bool,
    /// True if a level of detail from derivatives is replaced by 0 (Force LOD to Zero of G45).
    pub zero_lod: bool,
    /// Offsets that are added to U, V and R, in texels.
    pub offset: [i32; 3],
    /// The channel that a gather returns.
    pub channel: usize,
    /// Offset of the table of sampler states from Dynamic State Base Address, if there is a header.
    pub samplers: Option<u64>,
}

impl<'m> Request<'m> {
    /// A message with this payload, which returns all channels.
    #[inline]
    fn new(payload: Payload<'m>, kind: &'static Kind, simd: Simd) -> Request<'m> {
        Request {
            kind,
            simd,
            mask: simd.lanes(payload.message.mask),
            present: ALL,
            keeps_registers: false,
            zero_lod: false,
            offset: [0; 3],
            channel: 0,
            samplers: None,
            payload,
        }
    }

    /// Decodes a message: its header, its lengths and the mask of active lanes.
    ///
    /// # Errors
    /// [`Fault::IllegalInstruction`] for a length that is impossible for its kind.
    #[inline]
    pub fn open(
        port: &Port<'_, '_>,
        registers: &Registers,
        message: &'m Message,
        kind: &'static Kind,
        simd: Simd,
    ) -> Result<Request<'m>, Fault> {
        let mut request = Request::new(Payload::open(message, kind.name), kind, simd);
        if let Some(at) = request.payload.header {
            let header = SamplerMessageHeader::unpack_lossy(&registers.dwords(at));
            let absent = [
                header.red_write_channel_mask,
                header.green_write_channel_mask,
                header.blue_write_channel_mask,
                header.alpha_write_channel_mask,
            ];
            request.present = (0..4).fold(0, |mask, n| mask | u8::from(!absent[n]) << n);
            request.offset =
                [header.u_offset, header.v_offset, header.r_offset].map(|n| n.get() as i32);
            request.channel = header.gather4_source_channel.bits() as usize;
            request.samplers = Some(header.sampler_state_pointer.get());
        }
        let sent = request.payload.sent();
        if !kind.empty && (sent == 0 || !sent.is_multiple_of(simd.registers())) {
            let why = format!("{} with {sent} registers of parameters", kind.name);
            return Err(port.illegal(why, message));
        }
        Ok(request)
    }

    /// A message whose parameters are `sent` registers from byte `body` of the register file on,
    /// and whose response has `returned` registers. It returns all channels.
    pub fn plain(
        message: &'m Message,
        kind: &'static Kind,
        simd: Simd,
        body: usize,
        sent: usize,
        returned: usize,
    ) -> Request<'m> {
        Request::new(Payload::plain(message, kind.name, body, sent, returned), kind, simd)
    }

    /// Number of registers of parameters, and of the response.
    pub fn lengths(&self) -> [usize; 2] {
        [self.payload.sent(), self.payload.returned()]
    }

    /// True if the message has a header.
    pub fn has_header(&self) -> bool {
        self.payload.header.is_some()
    }

    /// The message as the `send` instruction sent it.
    pub fn message(&self) -> &'m Message {
        self.payload.message
    }

    /// True if the message contains a parameter.
    #[inline(always)]
    pub fn has(&self, parameter: Parameter) -> bool {
        let place = match self.simd {
            Simd::Pair => self.kind.pair[parameter as usize] / 4,
            _ => self.kind.places[parameter as usize],
        };
        usize::from(place) < self.payload.sent() / self.simd.registers() && place != ABSENT
    }

    /// The values of `parameter`, one for each of the eight lanes of `group`. All values are 0 if
    /// the message does not contain the parameter (003:4038). In SIMD4x2, only the first two lanes
    /// have values.
    #[inline(always)]
    pub fn parameter(
        &self,
        registers: &Registers,
        parameter: Parameter,
        group: usize,
    ) -> [u32; GROUP] {
        if !self.has(parameter) {
            return [0; GROUP];
        }
        let body = self.payload.body;
        match self.simd {
            Simd::Pair => {
                let place = usize::from(self.kind.pair[parameter as usize]);
                let at = body + place / 4 * REGISTER + place % 4 * 4;
                let mut lanes = [0; GROUP];
                lanes[0] = registers.u32(at);
                lanes[1] = registers.u32(at + REGISTER / 2);
                lanes
            }
            Simd::Eight => registers
                .dwords(body + usize::from(self.kind.places[parameter as usize]) * REGISTER),
            Simd::Sixteen => {
                let place = usize::from(self.kind.places[parameter as usize]);
                registers.dwords(body + (2 * place + group) * REGISTER)
            }
        }
    }

    /// Byte offset in the registers of the values of `parameter` for the first group of lanes, in
    /// SIMD8 and SIMD16. The values of the second group are in the next register. `None` if all
    /// values are 0, because the message does not contain the parameter.
    #[inline(always)]
    pub fn row(&self, parameter: Parameter) -> Option<usize> {
        let place = usize::from(self.kind.places[parameter as usize]) * self.simd.registers();
        self.has(parameter).then_some(self.payload.body + place * REGISTER)
    }

    /// Like `parameter`, but returns the values as floats.
    #[inline(always)]
    pub fn floats(
        &self,
        registers: &Registers,
        parameter: Parameter,
        group: usize,
    ) -> [f32; GROUP] {
        self.parameter(registers, parameter, group).map(f32::from_bits)
    }

    /// Mask of the active lanes of a group.
    #[inline(always)]
    pub fn group_mask(&self, group: usize) -> u32 {
        self.mask >> (GROUP * group) & 0xff
    }

    /// The groups with active lanes, each with the mask of these lanes.
    #[inline(always)]
    pub fn active_groups(&self) -> impl Iterator<Item = (usize, u32)> {
        let groups = 0..self.simd.groups();
        groups.map(|group| (group, self.group_mask(group))).filter(|(_, mask)| *mask != 0)
    }

    /// Writes the response of the active lanes of a group. `channels` has red, green, blue and
    /// alpha of each lane. Channels that the header masks are not written. In SIMD8 and SIMD16 they
    /// take no register, and channels beyond the response length are dropped.
    #[inline(always)]
    pub fn answer(&self, registers: &mut Registers, group: usize, channels: &[[u32; GROUP]; 4]) {
        let Some(at) = self.payload.answer() else { return };
        let mask = self.group_mask(group);
        if self.simd == Simd::Pair {
            for lane in 0..2 {
                for (n, channel) in channels.iter().enumerate() {
                    if mask >> lane & 1 == 1 && self.present >> n & 1 == 1 {
                        registers.set_u32(at + lane * (REGISTER / 2) + 4 * n, channel[lane]);
                    }
                }
            }
            return;
        }
        let step = self.simd.registers();
        if mask == 0xff && self.present == ALL && self.payload.returned() >= 4 * step {
            for (n, channel) in channels.iter().enumerate() {
                registers.set_dwords(at + (group + n * step) * REGISTER, *channel);
            }
            return;
        }
        let mut register = group;
        for (n, channel) in channels.iter().enumerate() {
            if self.present >> n & 1 == 0 {
                register += if self.keeps_registers { self.simd.registers() } else { 0 };
                continue;
            }
            if register >= self.payload.returned() {
                return;
            }
            let to = at + register * REGISTER;
            if mask == 0xff {
                registers.set_dwords(to, *channel);
            } else {
                for (lane, bits) in channel.iter().enumerate() {
                    if mask >> lane & 1 == 1 {
                        registers.set_u32(to + 4 * lane, *bits);
                    }
                }
            }
            register += self.simd.registers();
        }
    }

    /// Writes the same texel for all active lanes.
    pub fn answer_all(&self, registers: &mut Registers, value: Value) {
        for group in 0..self.simd.groups() {
            self.answer(registers, group, &value.map(|bits| [bits; GROUP]));
        }
    }

    /// Writes the mask of pixels that are not killed, after the channels (003:4237-4243).
    pub fn answer_mask(&self, registers: &mut Registers, killed: u32) {
        let channels = if self.keeps_registers { 4 } else { self.present.count_ones() as usize };
        let register = channels * self.simd.registers();
        if let Some(at) = self.payload.answer()
            && register < self.payload.returned()
        {
            registers.set_u32(at + register * REGISTER, !(killed & 0xffff));
        }
    }

    /// Adds the number of bytes read to the statistics, or returns the fault for a page fault.
    ///
    /// # Errors
    /// The fault for the page fault in `bytes`.
    #[inline]
    pub fn read(
        &self,
        port: &mut Port<'_, '_>,
        bytes: Result<u64, crate::mem::PageFault>,
    ) -> Result<(), Fault> {
        self.payload.moved(port, false, bytes)
    }

    /// The fault for an invalid message. `why` follows the name of the message.
    #[cold]
    pub fn illegal(&self, port: &Port<'_, '_>, why: &str) -> Fault {
        port.illegal(format!("{} {why}", self.kind.name), self.payload.message)
    }
}
