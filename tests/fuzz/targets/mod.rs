//! What the fuzz targets do with their bytes. `tests/tests/readers.rs` does the same with mutations
//! of good inputs.
//!
//! A reader may refuse its input or say what is wrong with it; it must not panic, and must come to
//! an end.

use genxml::check::{self, Rules};
use genxml::decode::{Decoder, Format, Options, Tables};
use genxml::dump::{Dump, How};
use genxml::engine::EngineId;

/// Dwords of a batch to follow: enough for small inputs, little enough for loops.
const DWORDS: u64 = 1 << 14;

/// A file that tells itself what it is: AUB, error state, device coredump, compressed or not. Its
/// length says what to do.
pub fn file(data: &[u8]) {
    let file = std::io::Cursor::new(data.to_vec());
    let Ok(mut dump) = Dump::read("fuzz", file, &How::default()) else { return };
    dump.hang().iter().for_each(|hang| drop(hang.to_string()));
    match data.len() % 3 {
        0 => check(&mut dump),
        1 => decode(&mut dump, Format::Json),
        _ => decode(&mut dump, Format::Text),
    }
}

/// Dwords of a batch: the first byte says for which engine and what to do.
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

/// Instructions of a kernel.
pub fn kernel(data: &[u8]) {
    RULES
        .with(|rules| check::kernel(0x1000, data, rules, &mut |finding| drop(finding.to_string())));
}

fn decode(dump: &mut Dump, format: Format) {
    let options = Options { format, max_dwords: DWORDS, ..Options::default() };
    // A sink takes everything.
    Decoder::new(Tables::gen8(), options).dump(dump, std::io::sink()).expect("nothing can fail");
    dump.notes().iter().for_each(|note| drop(note.to_string()));
}

fn check(dump: &mut Dump) {
    RULES.with(|rules| check::dump(dump, rules, &mut |finding| drop(finding.to_string())));
}

thread_local! {
    static RULES: Rules = Rules::gen8();
}
