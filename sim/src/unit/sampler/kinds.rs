//! Kinds of messages to the sampler: what they do, and the positions of their parameters
//! (gen8_facts 4.2, 003:3915-4243).

use genxml::gen8::messages::MessageDescriptorSamplingEngineMessageType as Type;
use genxml::gen8::messages::MessageDescriptorSamplingEngineSimdMode10 as Mode;

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
    pub(super) places: [u8; PARAMETERS],
    /// Position of each parameter in SIMD4x2 messages, or [`ABSENT`]. Position `n` is dword `n % 4`
    /// of a lane's half of register `n / 4`.
    pub(super) pair: [u8; PARAMETERS],
    /// True if messages of this kind have no parameters.
    pub(super) empty: bool,
}

/// Stands for the position of a parameter that a kind of message does not have.
pub(super) const ABSENT: u8 = u8::MAX;

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
    pub(super) const fn registers(self) -> usize {
        match self {
            Simd::Pair | Simd::Eight => 1,
            Simd::Sixteen => 2,
        }
    }

    /// Mask of the active lanes for the mask of enabled channels.
    pub(super) fn lanes(self, channels: u32) -> u32 {
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
