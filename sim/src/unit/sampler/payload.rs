//! Messages to the sampler: their kinds, the positions of their parameters, their header, and their
//! responses (gen8_facts 4.2, 003:3915-4243).

use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::surface::format::codec::ALL;
use crate::surface::format::value::Value;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::eu::gen8::eu_payloads::SamplerMessageHeader;
use genxml::gen8::messages::MessageDescriptorSamplingEngineMessageType as Type;
use genxml::gen8::messages::MessageDescriptorSamplingEngineSimdMode10 as Mode;

/// Maximum number of lanes of a message.
pub const LANES: usize = 16;
/// Number of lanes that are processed together: the lanes of a register.
pub const GROUP: usize = 8;

/// A parameter of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// First coordinate.
    U,
    /// Second coordinate. In an array of one-dimensional surfaces, the layer.
    V,
    /// Third coordinate. In an array of two-dimensional surfaces, the layer.
    R,
    /// Number of the cube in an array of cubes.
    Ai,
    /// Bias that is added to the level of detail.
    Bias,
    /// Level of detail, or number of a mip level.
    Lod,
    /// Reference that texels are compared with.
    Ref,
    /// Derivative of U along X. The next five are named in the same way.
    DuDx,
    #[allow(missing_docs)]
    DuDy,
    #[allow(missing_docs)]
    DvDx,
    #[allow(missing_docs)]
    DvDy,
    #[allow(missing_docs)]
    DrDx,
    #[allow(missing_docs)]
    DrDy,
    /// Offset that is added to U, in texels.
    OffU,
    /// Offset that is added to V, in texels.
    OffV,
    /// Number of a sample.
    Si,
    /// A word of the multisample control surface.
    Mcs,
}

/// Number of different parameters.
const PARAMETERS: usize = Mcs as usize + 1;

/// What a message does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Returns filtered texels.
    Sample(Sample),
    /// Returns one channel of four texels.
    Gather {
        /// True if the texels are compared with a reference.
        compares: bool,
    },
    /// Returns the texel at integer coordinates.
    Load,
    /// Returns the texel of a sample, which is found through the multisample control surface.
    LoadSample,
    /// Returns the texel of a sample by the number under which it is stored.
    LoadStored,
    /// Returns a word of the multisample control surface.
    LoadControl,
    /// Returns the level of detail.
    Lod,
    /// Returns the size of a surface.
    SurfaceInfo,
    /// Returns the number of samples of a surface.
    SampleInfo,
}

/// Details of a message that filters texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Where the level of detail comes from.
    pub lod: LodFrom,
    /// True if texels are compared with a reference before the filter.
    pub compares: bool,
    /// How the filter combines several texels.
    pub reduce: Reduce,
    /// True if the response also has the mask of pixels that were not killed.
    pub kills: bool,
}

/// Where the level of detail of a sample comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LodFrom {
    /// Differences of the coordinates of neighbouring lanes.
    Neighbours,
    /// Like `Neighbours`, plus a bias in the message.
    Bias,
    /// The level of detail is a parameter of the message.
    Message,
    /// Derivatives in parameters of the message.
    Derivatives,
}

/// How several texels are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduce {
    /// Their weighted mean.
    Mean,
    /// The minimum of each channel.
    Min,
    /// The maximum of each channel.
    Max,
}

/// A kind of message: what it does, and its parameters in order.
#[derive(Debug)]
pub struct Kind {
    /// Name of the kind in error messages.
    pub name: &'static str,
    /// What a message of this kind does.
    pub action: Action,
    /// Position of each parameter in SIMD8 and SIMD16 messages, or [`ABSENT`].
    places: [u8; PARAMETERS],
    /// Position of each parameter in SIMD4x2 messages, or [`ABSENT`]. Position `n` is dword `n % 4`
    /// of a lane's half of register `n / 4`.
    pair: [u8; PARAMETERS],
    /// True if messages of this kind have no parameters.
    empty: bool,
}

/// Stands for the position of a parameter that a kind of message does not have.
const ABSENT: u8 = u8::MAX;

/// A kind of message with the parameters `order` in SIMD8 and SIMD16 messages, and with the
/// parameters `pair` at the given positions in SIMD4x2 messages.
pub const fn kind(
    name: &'static str,
    action: Action,
    order: &[Parameter],
    pair: &[(Parameter, u8)],
) -> Kind {
    let (mut places, mut pairs) = ([ABSENT; PARAMETERS], [ABSENT; PARAMETERS]);
    let mut n = 0;
    while n < order.len() {
        places[order[n] as usize] = n as u8;
        n += 1;
    }
    n = 0;
    while n < pair.len() {
        pairs[pair[n].0 as usize] = pair[n].1;
        n += 1;
    }
    Kind { name, action, places, pair: pairs, empty: order.is_empty() }
}

/// A message that returns the mean of texels.
pub const fn sample(lod: LodFrom, compares: bool) -> Action {
    Action::Sample(Sample { lod, compares, reduce: Reduce::Mean, kills: false })
}

const fn reduce(reduce: Reduce) -> Action {
    Action::Sample(Sample { lod: LodFrom::Neighbours, compares: false, reduce, kills: false })
}

use Parameter::{
    Ai, Bias, DrDx, DrDy, DuDx, DuDy, DvDx, DvDy, Lod, Mcs, OffU, OffV, R, Ref, Si, U, V,
};

/// Positions in SIMD4x2 messages: U, V, R and Ai at positions 0 to 3, then the given parameters at
/// the given positions.
macro_rules! pair {
    ($($parameter:ident $place:literal)*) => { &[(U, 0), (V, 1), (R, 2), (Ai, 3) $(, ($parameter, $place))*] };
}

/// All kinds of messages (gen8_facts 4.2). In SIMD4x2 messages each lane has four dwords of each
/// register, so position 4 is the first dword of the second register.
static KINDS: [(Type, Kind); 22] = [
    (Type::SAMPLE, kind("sample", sample(LodFrom::Neighbours, false), &[U, V, R, Ai], pair![])),
    (
        Type::SAMPLE_B,
        kind("sample_b", sample(LodFrom::Bias, false), &[Bias, U, V, R, Ai], pair![Bias 4]),
    ),
    (
        Type::SAMPLE_L,
        kind("sample_l", sample(LodFrom::Message, false), &[Lod, U, V, R, Ai], pair![Lod 4]),
    ),
    (
        Type::SAMPLE_C,
        kind("sample_c", sample(LodFrom::Neighbours, true), &[Ref, U, V, R, Ai], pair![Ref 4]),
    ),
    (
        Type::SAMPLE_D,
        kind(
            "sample_d",
            sample(LodFrom::Derivatives, false),
            &[U, DuDx, DuDy, V, DvDx, DvDy, R, DrDx, DrDy, Ai],
            pair![DuDx 4 DuDy 5 DvDx 6 DvDy 7 DrDx 8 DrDy 9],
        ),
    ),
    (
        Type::SAMPLE_B_C,
        kind(
            "sample_b_c",
            sample(LodFrom::Bias, true),
            &[Ref, Bias, U, V, R, Ai],
            pair![Ref 4 Bias 5],
        ),
    ),
    (
        Type::SAMPLE_L_C,
        kind(
            "sample_l_c",
            sample(LodFrom::Message, true),
            &[Ref, Lod, U, V, R, Ai],
            pair![Ref 4 Lod 5],
        ),
    ),
    (Type::LD, kind("ld", Action::Load, &[U, Lod, V, R], &[(U, 0), (V, 1), (R, 2), (Lod, 3)])),
    (Type::GATHER4, kind("gather4", Action::Gather { compares: false }, &[U, V, R, Ai], pair![])),
    (Type::LOD, kind("LOD", Action::Lod, &[U, V, R, Ai], pair![])),
    (Type::RESINFO, kind("resinfo", Action::SurfaceInfo, &[Lod], &[(Lod, 0)])),
    (Type::SAMPLEINFO, kind("sampleinfo", Action::SampleInfo, &[], &[])),
    (
        Type::SAMPLE_KILLPIX,
        kind(
            "sample+killpix",
            Action::Sample(Sample {
                lod: LodFrom::Neighbours,
                compares: false,
                reduce: Reduce::Mean,
                kills: true,
            }),
            &[U, V, R, Ai],
            pair![],
        ),
    ),
    (
        Type::GATHER4_C,
        kind("gather4_c", Action::Gather { compares: true }, &[Ref, U, V, R, Ai], pair![Ref 4]),
    ),
    (
        Type::GATHER4_PO,
        kind(
            "gather4_po",
            Action::Gather { compares: false },
            &[U, V, OffU, OffV, R],
            pair![OffU 4 OffV 5],
        ),
    ),
    (
        Type::GATHER4_PO_C,
        kind(
            "gather4_po_c",
            Action::Gather { compares: true },
            &[Ref, U, V, OffU, OffV, R],
            &[(U, 0), (V, 1), (R, 2), (Ref, 3), (OffU, 4), (OffV, 5)],
        ),
    ),
    (
        Type::SAMPLE_D_C,
        kind(
            "sample_d_c",
            sample(LodFrom::Derivatives, true),
            &[Ref, U, DuDx, DuDy, V, DvDx, DvDy, R, DrDx, DrDy, Ai],
            pair![DuDx 4 DuDy 5 DvDx 6 DvDy 7 DrDx 8 DrDy 9 Ref 10],
        ),
    ),
    (Type::SAMPLE_MIN, kind("sample_min", reduce(Reduce::Min), &[U, V, R, Ai], pair![])),
    (Type::SAMPLE_MAX, kind("sample_max", reduce(Reduce::Max), &[U, V, R, Ai], pair![])),
    (Type::LD_MCS, kind("ld_mcs", Action::LoadControl, &[U, V, R], &[(U, 0), (V, 1), (R, 2)])),
    (
        Type::LD2DMS,
        kind(
            "ld2dms",
            Action::LoadSample,
            &[Si, Mcs, U, V, R],
            &[(U, 0), (V, 1), (R, 2), (Si, 4), (Mcs, 5)],
        ),
    ),
    (
        Type::LD2DSS,
        kind("ld2dss", Action::LoadStored, &[Si, U, V, R], &[(U, 0), (V, 1), (R, 2), (Si, 4)]),
    ),
];

impl Kind {
    /// The kind of a message type; `None` for reserved types.
    #[inline]
    pub fn of(kind: Type) -> Option<&'static Kind> {
        KINDS.iter().find(|(own, _)| *own == kind).map(|(_, kind)| kind)
    }
}

/// Number of lanes of a message, and their layout in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Simd {
    /// Two lanes (SIMD4x2). Each lane has four dwords, half of a register.
    Pair,
    /// Eight lanes. Each parameter has one register.
    Eight,
    /// Sixteen lanes. Each parameter has two registers.
    Sixteen,
}

impl Simd {
    /// The lanes of a mode; `None` for the media messages (SIMD32/64).
    pub fn of(mode: Mode) -> Option<Simd> {
        match mode {
            Mode::SIMD4X2 => Some(Simd::Pair),
            Mode::SIMD8 => Some(Simd::Eight),
            Mode::SIMD16 => Some(Simd::Sixteen),
            _ => None,
        }
    }

    /// Number of registers of a parameter, or of a channel of the response.
    const fn registers(self) -> usize {
        match self {
            Simd::Pair | Simd::Eight => 1,
            Simd::Sixteen => 2,
        }
    }

    /// Mask of the active lanes for the mask of enabled channels.
    fn lanes(self, channels: u32) -> u32 {
        match self {
            Simd::Pair => u32::from(channels & 0x0f != 0) | u32::from(channels & 0xf0 != 0) << 1,
            Simd::Eight => channels & 0xff,
            Simd::Sixteen => channels & 0xffff,
        }
    }

    /// Number of groups of lanes.
    pub const fn groups(self) -> usize {
        self.registers()
    }
}

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
