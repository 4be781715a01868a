//! Everything that can be done with the bytes of an instruction. The fuzz target in
//! `runtime/eu/fuzz` chooses the bytes, and so does `runtime/eu/tests/random.rs`.

use genxml_eu::disasm::write_listing;
use genxml_eu::instruction::SharedFunction;
use genxml_eu::message::describe;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Instruction, compact, compact_kernel, decode, expand, expand_kernel};
use std::fmt::Write;

/// Decodes, prints, encodes, compacts and expands the instruction in `dwords`, and describes the
/// last dword as a message. `text` is a buffer to write to.
///
/// # Panics
/// If two code paths give different results for the instruction.
pub fn exercise(dwords: [u32; 4], text: &mut String) {
    text.clear();
    if let Ok(instruction) = decode(&dwords) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{instruction} {}", instruction.display(Syntax::Mesa));
        let native = Instruction { compacted: false, ..instruction };
        if let Ok(encoded) = instruction.encode() {
            assert_eq!(decode(&encoded).as_ref(), Ok(&native), "{dwords:08x?}");
        }
        if let Some(form) = native.compact() {
            let small = decode(&form).unwrap_or_else(|error| panic!("{dwords:08x?}: {error}"));
            let again = Instruction { compacted: false, ..small };
            assert!(
                again == native || again == native.for_compaction(),
                "{dwords:08x?}: {native} is {again}"
            );
        }
    }
    if let Some([low, high]) = compact(&dwords) {
        assert_eq!(expand(u64::from(low) | u64::from(high) << 32), Some(dwords));
    }
    if let Some(native) = expand(u64::from(dwords[0]) | u64::from(dwords[1]) << 32)
        && let Some([low, high]) = compact(&native)
    {
        assert_eq!(expand(u64::from(low) | u64::from(high) << 32), Some(native));
    }
    for function in FUNCTIONS {
        let message = describe(function, dwords[3]);
        let _ = write!(text, "{message} {} {:?}", message.words(), message.lengths());
    }
}

/// Prints `bytes` as a kernel, compacts and expands them.
///
/// # Panics
/// If the compacted kernel cannot be expanded, or if the expanded kernel is compacted to other
/// bytes.
pub fn exercise_kernel(bytes: &[u8], text: &mut String) {
    for syntax in [Syntax::Iga, Syntax::Mesa] {
        text.clear();
        let _ = write_listing(text, bytes, syntax);
    }
    if let Ok(small) = compact_kernel(bytes) {
        let wide = expand_kernel(&small).unwrap_or_else(|error| panic!("{bytes:02x?}: {error}"));
        assert_eq!(compact_kernel(&wide).as_ref(), Ok(&small), "{bytes:02x?}");
    }
}

const FUNCTIONS: [SharedFunction; 14] = [
    SharedFunction::Null,
    SharedFunction::Sampler,
    SharedFunction::Gateway,
    SharedFunction::DataPortSampler,
    SharedFunction::DataPortRender,
    SharedFunction::Urb,
    SharedFunction::ThreadSpawner,
    SharedFunction::MotionEstimation,
    SharedFunction::DataPortConstant,
    SharedFunction::DataPort0,
    SharedFunction::PixelInterpolator,
    SharedFunction::DataPort1,
    SharedFunction::CheckAndRefinement,
    SharedFunction::Reserved(15),
];
