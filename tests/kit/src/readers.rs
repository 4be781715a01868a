//! Everything that reads a file, a batch or a kernel, applied to arbitrary bytes. The fuzz targets
//! in `tests/fuzz` choose the bytes, and so does `tests/tests/readers.rs`: mutations of good
//! inputs.
//!
//! A reader may refuse its input or report what is wrong with it. It must not panic, and it must
//! come to an end.

use genxml::check::{self, Rules};
use genxml::decode::{Decoder, Format, Options, Tables};
use genxml::dump::{Dump, How};
use genxml::engine::EngineId;

/// Maximum number of dwords that are decoded per batch: enough for small inputs, and small enough
/// to leave endless loops soon.
const DWORDS: u64 = 1 << 14;

/// Reads a file whose kind is found in its bytes: AUB, error state, device coredump, compressed or
/// not. Its length chooses what is done with it: check, JSON or text.
pub fn file(data: &[u8]) {
    let file = std::io::Cursor::new(data.to_vec());
    let Ok(mut dump) = Dump::read("fuzz", file, &How::default()) else { return };
    dump.hang(Tables::gen8()).iter().for_each(|hang| drop(hang.to_string()));
    match data.len() % 3 {
        0 => check(&mut dump),
        1 => decode(&mut dump, Format::Json),
        _ => decode(&mut dump, Format::Text),
    }
}

/// Reads the dwords of a batch. The first byte chooses the engine and what is done: check, JSON or
/// text.
pub fn batch(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let engines = [EngineId::Render, EngineId::Blitter, EngineId::Video, EngineId::VideoEnhance];
    let engine = engines[usize::from(first & 3)];
    let mut dump = Dump::raw(engine, 0x10_0000, bytes.to_vec());
    match first >> 2 & 3 {
        0 => check(&mut dump),
        1 => decode(&mut dump, Format::Json),
        _ => decode(&mut dump, Format::Text),
    }
}

/// Checks the instructions of a kernel.
pub fn kernel(data: &[u8]) {
    RULES
        .with(|rules| check::kernel(0x1000, data, rules, &mut |finding| drop(finding.to_string())));
}

fn decode(dump: &mut Dump, format: Format) {
    let options = Options { format, max_dwords: DWORDS, ..Options::default() };
    // A sink accepts everything.
    Decoder::new(Tables::gen8(), options).dump(dump, std::io::sink()).expect("nothing can fail");
    dump.notes().iter().for_each(|note| drop(note.to_string()));
}

fn check(dump: &mut Dump) {
    RULES.with(|rules| check::dump(dump, rules, &mut |finding| drop(finding.to_string())));
}

thread_local! {
    static RULES: Rules = Rules::gen8();
}
