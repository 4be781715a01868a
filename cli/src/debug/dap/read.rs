//! The requests that read memory and disassemble it.

use super::breakpoints::reference;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use genxml_eu::syntax::Syntax;
use genxml_sim::inspect::debugger::{Code, Stop};
use serde_json::{Value, json};

/// Maximum number of bytes of an answer.
const MAX_BYTES: u64 = 16 << 20;

/// Maximum number of instructions of an answer.
const MAX_INSTRUCTIONS: u64 = 1 << 16;

/// Reads memory, up to the first page that is not mapped.
pub fn memory(arguments: &Value, stop: &Stop<'_>) -> Result<Value, String> {
    let base = reference(arguments, "memoryReference")?;
    let address = base.wrapping_add_signed(arguments["offset"].as_i64().unwrap_or(0));
    let count = arguments["count"].as_u64().ok_or("readMemory: `count` must be a number")?;
    if count > MAX_BYTES {
        return Err(format!("readMemory: more than {MAX_BYTES} bytes"));
    }
    let view = stop.machine()?;
    let mut bytes = vec![0; count as usize];
    let mut read = 0;
    while read < bytes.len() {
        let at = address.wrapping_add(read as u64);
        let piece = (bytes.len() - read).min(4096 - (at % 4096) as usize);
        if !view.read(at, &mut bytes[read..read + piece]) {
            break;
        }
        read += piece;
    }
    bytes.truncate(read);
    Ok(json!({
        "address": format!("{address:#x}"),
        "data": STANDARD.encode(&bytes),
        "unreadableBytes": count - read as u64,
    }))
}

/// Disassembles the kernel of the thread, or one that begins at the address. The answer has as many
/// instructions as the client wants; those that do not exist are marked.
pub fn disassemble(arguments: &Value, stop: &Stop<'_>, syntax: Syntax) -> Result<Value, String> {
    let base = reference(arguments, "memoryReference")?;
    let address = base.wrapping_add_signed(arguments["offset"].as_i64().unwrap_or(0));
    let first = arguments["instructionOffset"].as_i64().unwrap_or(0);
    let count = arguments["instructionCount"].as_u64();
    let count = count.ok_or("disassemble: `instructionCount` must be a number")?;
    if count > MAX_INSTRUCTIONS {
        return Err(format!("disassemble: more than {MAX_INSTRUCTIONS} instructions"));
    }
    let offset_in = |code: &Code| {
        let offset = u32::try_from(address.checked_sub(code.address)?).ok()?;
        code.offsets().position(|other| other == offset)
    };
    let here = stop.code().ok().filter(|code| offset_in(code).is_some());
    let code = match here {
        Some(code) => code,
        None => Code::read(stop.machine()?, stop.generation, address),
    };
    let offsets: Vec<u32> = code.offsets().collect();
    let index = offset_in(&code).unwrap_or(0) as i64;
    let instruction = |n: i64| {
        let position = index.saturating_add(first).saturating_add(n);
        let offset = usize::try_from(position).ok().and_then(|n| offsets.get(n));
        match offset {
            Some(offset) => json!({
                "address": format!("{:#x}", code.address.wrapping_add((*offset).into())),
                "instruction": code.text(*offset, syntax),
            }),
            None => json!({
                // Instructions have 16 bytes, so that addresses before and after are different.
                "address": format!("{:#x}", address.wrapping_add_signed(16 * (first + n))),
                "instruction": "// not a part of the kernel",
                "presentationHint": "invalid",
            }),
        }
    };
    let all: Vec<Value> = (0..count as i64).map(instruction).collect();
    Ok(json!({ "instructions": all }))
}
