//! Pieces of memory of a hang: `genx decode --object`, and the list of those that no batch reaches.

use crate::output::{Error, bad_input};
use genxml::decode::{Decoder, Sink, Summary, Tables};
use genxml::dump::{Dump, Object, Objects};
use std::io::{self, Write};

/// Number of dwords in a row of data.
const ROW: usize = 4;

/// The objects that a text selects: an address in them, or their name.
///
/// # Errors
/// If no object fits; the message lists all objects.
pub fn find<'a>(dump: &'a Dump, text: &str) -> Result<Vec<Object<'a>>, Error> {
    let hexadecimal = || u64::from_str_radix(&text.replace('_', ""), 16).ok();
    let address = crate::input::address(text).ok();
    let mut found = dump.objects_at(address, text);
    if found.is_empty() && address.is_none() {
        // An address without 0x, as the file prints it.
        found = hexadecimal().map(|at| dump.objects_at(Some(at), "")).unwrap_or_default();
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let objects = dump.objects();
    if objects.is_empty() {
        let kind = dump.kind().name();
        return Err(bad_input(format!("--object {text}: this {kind} has no memory of a hang")));
    }
    let lines: Vec<String> = objects.iter().map(line).collect();
    let what = if address.is_some() { "no object has this address" } else { "there is none" };
    Err(bad_input(format!("--object {text}: {what}; the file has\n{}", lines.join("\n"))))
}

/// Address, size and name of an object.
fn line(object: &Object<'_>) -> String {
    let (address, size) = (object.address(), object.bytes().len());
    format!("  {address:#014x} {size:>9} bytes  {}", object.name())
}

/// Decodes objects that hold commands, and returns the others.
///
/// # Errors
/// If the output cannot be written.
pub fn decode<'a>(
    objects: Vec<Object<'a>>,
    decoder: &Decoder<'_>,
    tables: &Tables,
    sink: &mut dyn Sink,
) -> io::Result<(Summary, Vec<Object<'a>>)> {
    let (commands, data): (Vec<_>, Vec<_>) =
        objects.into_iter().partition(|object| object.is_commands(tables));
    Ok((decoder.submissions(&mut Objects(commands), sink)?, data))
}

/// Prints the dwords of objects that hold no commands. Repeated rows are printed as `*`.
///
/// # Errors
/// If the output cannot be written.
pub fn print(objects: &[Object<'_>], out: &mut dyn Write) -> io::Result<()> {
    for object in objects {
        writeln!(out, "{}, not commands:", line(object).trim_start())?;
        let mut before: Option<&[u8]> = None;
        let mut starred = false;
        for (index, row) in object.bytes().chunks(4 * ROW).enumerate() {
            if before == Some(row) {
                if !starred {
                    writeln!(out, "*")?;
                }
                starred = true;
                continue;
            }
            (before, starred) = (Some(row), false);
            write!(out, "{:#014x}:", object.address() + (4 * ROW * index) as u64)?;
            for bytes in row.chunks(4) {
                let mut dword = [0; 4];
                dword[..bytes.len()].copy_from_slice(bytes);
                write!(out, " {:08x}", u32::from_le_bytes(dword))?;
            }
            writeln!(out)?;
        }
        writeln!(out, "{:#014x}", object.end())?;
    }
    Ok(())
}

/// Prints what else the file has: the objects that no batch reaches, and everything that is not
/// memory.
///
/// # Errors
/// If the output cannot be written.
pub fn rest(dump: &Dump, unreached: &[usize], out: &mut dyn Write) -> io::Result<()> {
    let objects = dump.objects();
    let left: Vec<&Object<'_>> = unreached.iter().filter_map(|at| objects.get(*at)).collect();
    if !left.is_empty() {
        writeln!(out, "\nno batch reaches these buffers; --object ADDRESS decodes one:")?;
        left.iter().try_for_each(|object| writeln!(out, "{}", line(object)))?;
    }
    let state = dump.error_state().or(dump.devcoredump().map(|dump| &dump.state));
    let details = state.map(genxml::error_state::ErrorState::details).unwrap_or_default();
    if !details.is_empty() {
        writeln!(out, "\nthe rest of the file:")?;
        details.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}
