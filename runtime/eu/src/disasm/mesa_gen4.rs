//! Prints messages of Gen4, G45 and Gen5 in Mesa's words, as the second line of a send.

use super::mesa_messages::{GATEWAY, SAMPLER, SAMPLER_MODES, word};
use super::text::{Line, invalid};
use crate::encoding as enc;
use crate::gen4::lengths;
use crate::gen8::eu_gen4::*;
use crate::generation::Generation;
use crate::instruction::SharedFunction;
use crate::syntax::{self, Syntax};
use core::fmt::{self, Write};

/// Prints the shared function, the message and its lengths: `math MsgDesc: inv mlen 1 rlen 1`.
/// Without an immediate descriptor, prints `indirect` after `MsgDesc:`.
pub(super) fn write<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    generation: Generation,
    function: SfidGen4,
    descriptor: Option<u32>,
) -> fmt::Result {
    let number = function.bits();
    let meaning = enc::SHARED_FUNCTION_GEN4.decode(function);
    match meaning.and_then(|meaning| syntax::FUNCTIONS_GEN4.name(meaning, Syntax::Mesa)) {
        Some(name) => line.text(name)?,
        None => invalid(line, "SFID", number)?,
    }
    line.text(" MsgDesc:")?;
    let Some(descriptor) = descriptor else { return line.text(" indirect") };
    let dwords = &[descriptor];
    use SharedFunction::*;
    match meaning {
        Some(Math) => math(line, dwords)?,
        Some(Sampler) => sampler(line, generation, dwords)?,
        Some(DataPortRead) => read(line, generation, dwords)?,
        Some(DataPortWrite) => render(line, dwords)?,
        Some(Urb) => urb(line, dwords)?,
        Some(ThreadSpawner) => {}
        Some(Gateway) => {
            let message = GatewayMessageGen4::unpack_lossy(dwords);
            line.text(" (")?;
            line.text(GATEWAY[message.subfunction.get() as usize])?;
            line.text(")")?;
        }
        _ => {
            line.text("unsupported shared function ID ")?;
            line.unsigned(number)?;
        }
    }
    let (sent, returned) = lengths(generation, descriptor);
    line.text(" mlen ")?;
    line.unsigned(sent)?;
    line.text(" rlen ")?;
    line.unsigned(returned)
}

/// Prints the words that are on, each after a space.
fn words<W: Write + ?Sized>(line: &mut Line<'_, W>, words: &[(bool, &str)]) -> fmt::Result {
    for (_, word) in words.iter().filter(|(on, _)| *on) {
        line.text(" ")?;
        line.text(word)?;
    }
    Ok(())
}

fn math<W: Write + ?Sized>(line: &mut Line<'_, W>, dwords: &[u32; 1]) -> fmt::Result {
    let message = MathMessageGen4::unpack_lossy(dwords);
    word(line, &MATH, message.function.get(), "math function")?;
    words(
        line,
        &[
            (message.saturate, "sat"),
            (message.signed, "signed"),
            (message.scalar, "scalar"),
            (message.precision, "partial_precision"),
        ],
    )
}

fn sampler<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    generation: Generation,
    dwords: &[u32; 1],
) -> fmt::Result {
    let message = SamplerMessageGen45::unpack_lossy(dwords);
    let (surface, sampler) = (message.binding_table_index.get(), message.sampler_index.get());
    if generation == Generation::Gen5 {
        word(line, &SAMPLER, message.message_type.get(), "sampler message")?;
        word(line, &SAMPLER_MODES[..4], message.simd_mode.get(), "sampler simd mode")?;
        line.text(" Surface = ")?;
        line.unsigned(surface)?;
        line.text(" Sampler = ")?;
        return line.unsigned(sampler);
    }
    let older = SamplerMessageGen4::unpack_lossy(dwords);
    let ty = match generation {
        Generation::Gen4 => older.message_type.get(),
        _ => message.message_type.get(),
    };
    for (index, number) in [surface, sampler, ty].into_iter().enumerate() {
        line.text(if index == 0 { " (" } else { ", " })?;
        line.unsigned(number)?;
    }
    line.text(", ")?;
    if generation == Generation::Gen4 {
        match ["F", "", "UD", "D"][older.return_format.get() as usize] {
            "" => invalid(line, "sampler target format", older.return_format.get())?,
            format => line.text(format)?,
        }
    }
    line.text(")")
}

fn read<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    generation: Generation,
    dwords: &[u32; 1],
) -> fmt::Result {
    let what = "DP read message type";
    let (control, surface) = if generation == Generation::Gen4 {
        let message = ReadMessageGen4::unpack_lossy(dwords);
        word(line, &READ, message.message_type.get(), what)?;
        (message.message_control.get(), message.binding_table_index.get())
    } else {
        let message = ReadMessageGen45::unpack_lossy(dwords);
        word(line, &READ_GEN45, message.message_type.get(), what)?;
        (message.message_control.get(), message.binding_table_index.get())
    };
    // Mesa prints a decimal number after `0x`.
    line.text(" MsgCtrl = 0x")?;
    line.unsigned(control)?;
    line.text(" Surface = ")?;
    line.unsigned(surface)
}

fn render<W: Write + ?Sized>(line: &mut Line<'_, W>, dwords: &[u32; 1]) -> fmt::Result {
    let message = WriteMessageGen4::unpack_lossy(dwords);
    let ty = message.message_type.get();
    let (control, last) = (message.message_control.get(), message.message_control_3_3.get());
    word(line, &WRITE, ty, "DP rc message type")?;
    if WRITE[ty as usize] == RENDER_TARGET {
        word(line, &RENDER_SUBTYPE, control, "RT message type")?;
        words(line, &[(last == 1, "LastRT"), (message.send_write_commit, "WriteCommit")])?;
    } else {
        line.text(" MsgCtrl = 0x")?;
        line.unsigned(control + last * 8)?;
    }
    line.text(" Surface = ")?;
    line.unsigned(message.binding_table_index.get())
}

fn urb<W: Write + ?Sized>(line: &mut Line<'_, W>, dwords: &[u32; 1]) -> fmt::Result {
    let message = UrbMessageGen4::unpack_lossy(dwords);
    line.text(" ")?;
    line.unsigned(message.offset.get())?;
    word(line, &["urb_write", "ff_sync"], message.opcode.get(), "urb opcode")?;
    match message.swizzle_control.get() {
        0 => {}
        swizzle => word(line, &["", "interleave", "transpose"], swizzle, "urb swizzle")?,
    }
    words(
        line,
        &[(message.allocate, "allocate"), (message.used, "used"), (message.complete, "complete")],
    )
}

const MATH: [&str; 16] = [
    "",
    "inv",
    "log",
    "exp",
    "sqrt",
    "rsq",
    "sin",
    "cos",
    "sincos",
    "fdiv",
    "pow",
    "intdivmod",
    "intdiv",
    "intmod",
    "invm",
    "rsqrtm",
];

const READ: [&str; 4] =
    ["OWord Block Read", "OWord Dual Block Read", "Media Block Read", "DWord Scattered Read"];

const READ_GEN45: [&str; 7] = [
    "OWord Block Read",
    "Render Target UNORM Read",
    "OWord Dual Block Read",
    "AVC Loop Filter Read",
    "Media Block Read",
    "",
    "DWord Scattered Read",
];

const RENDER_TARGET: &str = "RT write";

const WRITE: [&str; 8] = [
    "OWord block write",
    "OWord dual block write",
    "media block write",
    "DWord scattered write",
    RENDER_TARGET,
    "streamed VB write",
    "RT UNORM write",
    "flush render cache",
];

const RENDER_SUBTYPE: [&str; 8] = [
    "SIMD16",
    "SIMD16/RepData",
    "SIMD8/DualSrcLow",
    "SIMD8/DualSrcHigh",
    "SIMD8",
    "SIMD8/ImageWrite",
    "",
    "SIMD16/RepData-111",
];
