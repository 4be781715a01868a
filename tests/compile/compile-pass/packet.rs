//! Values that `packet!` accepts.
use genxml::batch::{Batch, BatchError};
use genxml::core::{FieldError, U, fit};
use genxml::engine::{Blitter, Render};
use genxml::gen8::blitter::{BlitColorDepth, XyColorBlt};
use genxml::gen8::mi::{MiNoop, MiStoreDataIndex};
use genxml::packet;

const FILL: XyColorBlt = packet! {
    XyColorBlt {
        clipping_enable: true,
        color_depth: BlitColorDepth::_32BPP,
        destination_pitch: -256,
        destination_base_address: 0xffff_8000_0000_0000,
        solid_pattern_color: 0xffff_ffff,
        ..
    }
};

/// A literal that comes through another macro is still a literal.
macro_rules! pitch {
    ($pitch:expr) => {
        packet! { XyColorBlt { destination_pitch: $pitch, .. } }
    };
}

/// The type may come through another macro, from its own crate.
macro_rules! noop {
    ($type:path) => {
        packet! { $type { identification_number: 3, .. } }
    };
}

/// `Self` may be the type, also in a generic function.
trait Noop: Sized {
    fn new<T>(value: u32) -> Result<Self, FieldError>;
}

impl Noop for MiNoop {
    fn new<T>(value: u32) -> Result<Self, FieldError> {
        let one = packet! { Self { identification_number: 1, .. } };
        let two = packet! { MiNoop { identification_number: 2, ..one } };
        Ok(MiNoop { identification_number: fit!(Self.identification_number, value)?, ..two })
    }
}

fn words() -> Vec<U<32>> {
    vec![U::from_bits(7); 3]
}

fn main() -> Result<(), BatchError> {
    // A value that a literal borrows lives as long as the statement, with or without `..`.
    let mut render = Batch::<Render>::new("render", 0x8000, 4096)?;
    render.emit(&packet! { MiStoreDataIndex { data_dword: words()[..].into(), .. } })?;
    render.emit(&noop!(genxml::gen8::mi::MiNoop))?;

    let mut batch = Batch::<Blitter>::new("batch", 0x1000, 4096)?;
    batch.emit(&FILL)?;
    let wider = packet! { XyColorBlt { destination_pitch: 512, ..FILL } };
    batch.emit(&wider)?;
    batch.emit(&pitch!(64))?;
    assert_eq!(<MiNoop as Noop>::new::<u8>(7).unwrap().identification_number.get(), 7);
    assert_eq!(FILL.pack()[1], 0x43f0_ff00);
    Ok(())
}
