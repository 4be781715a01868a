//! Messages to the sampler: a type and a length mean a message (003:3989-4027).

use crate::unit::sampler::payload::{
    Action, Kind, LodFrom, Parameter, Reduce, Sample, Simd, kind, sample,
};
use Parameter::{Bias, DrDx, DrDy, DuDx, DuDy, DvDx, DvDy, Lod, R, Ref, U, V};

/// Largest message type of the table. Larger types are those of sample_unorm.
pub const MOST_TYPE: u64 = 3;

/// A message: its type and length, and what they mean.
#[derive(Debug)]
pub struct Form {
    /// Message Type of the descriptor.
    message_type: u64,
    /// Message length in registers, with the header.
    length: usize,
    /// Number of lanes and their layout.
    pub simd: Simd,
    /// What the message does, and its parameters.
    pub kind: Kind,
}

const NEIGHBOURS: Action = sample(LodFrom::Neighbours, false);
const COMPARE: Action = sample(LodFrom::Neighbours, true);
const KILLPIX: Action = Action::Sample(Sample {
    lod: LodFrom::Neighbours,
    compares: false,
    reduce: Reduce::Mean,
    kills: true,
});

/// Positions in SIMD4x2 messages: U, V, R at positions 0 to 2, then the given parameters at the
/// given positions.
macro_rules! pair {
    ($($parameter:ident $place:literal)*) => { &[(U, 0), (V, 1), (R, 2) $(, ($parameter, $place))*] };
}

macro_rules! form {
    ($ty:literal $length:literal Sixteen $name:literal $action:expr, $($order:ident)*) => {
        Form {
            message_type: $ty,
            length: $length,
            simd: Simd::Sixteen,
            kind: kind($name, $action, &[$($order),*], &[]),
        }
    };
    ($ty:literal $length:literal Eight $name:literal $action:expr, $($order:ident)*) => {
        Form {
            message_type: $ty,
            length: $length,
            simd: Simd::Eight,
            kind: kind($name, $action, &[$($order),*], &[]),
        }
    };
    ($ty:literal $length:literal Pair $name:literal $action:expr, $pair:expr) => {
        Form {
            message_type: $ty,
            length: $length,
            simd: Simd::Pair,
            kind: kind($name, $action, &[U], $pair),
        }
    };
}

/// All messages, in the order of 003:3989-4027.
static FORMS: [Form; 24] = [
    form!(0 3 Sixteen "sample" NEIGHBOURS, U),
    form!(0 5 Sixteen "sample" NEIGHBOURS, U V),
    form!(0 7 Sixteen "sample" NEIGHBOURS, U V R),
    form!(0 4 Eight "sample" NEIGHBOURS, U V R),
    form!(1 4 Eight "sample+killpix" KILLPIX, U V R),
    form!(0 9 Sixteen "sample_b" sample(LodFrom::Bias, false), U V R Bias),
    form!(1 9 Sixteen "sample_l" sample(LodFrom::Message, false), U V R Lod),
    form!(1 2 Pair "sample_l" sample(LodFrom::Message, false), pair![Lod 3]),
    form!(2 9 Sixteen "sample_c" COMPARE, U V R Ref),
    form!(0 2 Pair "sample_c" COMPARE, pair![Ref 3]),
    form!(0 6 Eight "sample_b_c" sample(LodFrom::Bias, true), U V R Bias Ref),
    form!(1 6 Eight "sample_l_c" sample(LodFrom::Message, true), U V R Lod Ref),
    form!(1 3 Pair "sample_l_c" sample(LodFrom::Message, true), pair![Lod 3 Ref 4]),
    form!(3 3 Sixteen "ld" Action::Load, U),
    form!(3 5 Sixteen "ld" Action::Load, U V),
    form!(3 7 Sixteen "ld" Action::Load, U V R),
    form!(3 4 Eight "ld" Action::Load, U V R),
    form!(3 9 Sixteen "ld" Action::Load, U V R Lod),
    form!(3 2 Pair "ld" Action::Load, pair![Lod 3]),
    form!(2 7 Eight "sample_g" sample(LodFrom::Derivatives, false), U V DuDx DvDx DuDy DvDy),
    form!(2 10 Eight "sample_g" sample(LodFrom::Derivatives, false),
        U V R DuDx DvDx DrDx DuDy DvDy DrDy),
    form!(2 4 Pair "sample_g" sample(LodFrom::Derivatives, false),
        pair![DuDx 4 DvDx 5 DrDx 6 DuDy 8 DvDy 9 DrDy 10]),
    form!(2 3 Sixteen "resinfo" Action::SurfaceInfo, Lod),
    form!(2 2 Pair "resinfo" Action::SurfaceInfo, &[(Lod, 3)]),
];

impl Form {
    /// The message of a type and a length; `None` if they mean none.
    pub fn of(message_type: u64, length: usize) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.message_type == message_type && form.length == length)
    }
}
