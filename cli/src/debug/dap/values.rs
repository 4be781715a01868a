//! Scopes and variables: registers, flags, the packet, the state of the draw.

use crate::debug::show;
use genxml_sim::eu::regions::{A0, CE0, CR0, DBG0, IP, N0, REGISTER, SP, SR0, TDR0, TM0};
use genxml_sim::eu::types::Type;
use genxml_sim::inspect::debugger::Stop;
use genxml_sim::inspect::debugger::register::{Register, number, type_name};
use serde_json::{Value, json};

/// The types whose registers have a scope.
const SCOPES: [Type; 6] = [Type::F, Type::Ud, Type::D, Type::Hf, Type::Uw, Type::Df];

/// Architecture registers, with the type in which they are shown.
const ARCHITECTURE: [(&str, usize, Type); 10] = [
    ("a0", A0, Type::Uw),
    ("sr0", SR0, Type::Ud),
    ("cr0", CR0, Type::Ud),
    ("n0", N0, Type::Ud),
    ("ip", IP, Type::Ud),
    ("tm0", TM0, Type::Ud),
    ("ce0", CE0, Type::Ud),
    ("tdr0", TDR0, Type::Uw),
    ("sp", SP, Type::Ud),
    ("dbg0", DBG0, Type::Ud),
];

// References of scopes. Those of registers follow: GENERAL + 128 * type is a scope, and
// ELEMENTS + 128 * type + number a register of it.
const THREAD: u64 = 1;
const FLAGS: u64 = 2;
const OTHERS: u64 = 3;
const PACKET: u64 = 4;
const DWORDS: u64 = 5;
const STATE: u64 = 6;
const GENERAL: u64 = 100;
const ELEMENTS: u64 = 10_000;
const COUNT: u64 = 128;

/// The scopes of a frame: those of the thread for frame 0 of a thread, else those of the packet.
pub fn scopes(stop: &Stop<'_>, frame: u64) -> Value {
    let scope = |name: &str, reference: u64, expensive: bool| json!({ "name": name, "variablesReference": reference, "expensive": expensive });
    let mut scopes = Vec::new();
    if stop.thread.is_some() && frame == 0 {
        scopes.push(scope("Thread", THREAD, false));
        scopes.push(scope("Flags", FLAGS, false));
        for (index, ty) in SCOPES.iter().enumerate() {
            let name = format!("Registers :{}", type_name(*ty));
            let mut scope = scope(&name, GENERAL + COUNT * index as u64, index > 0);
            scope["presentationHint"] = "registers".into();
            scopes.push(scope);
        }
        scopes.push(scope("Other registers", OTHERS, false));
    } else {
        scopes.push(scope("Packet", PACKET, false));
        scopes.push(scope("Dwords", DWORDS, false));
    }
    if stop.position.draw.is_some() {
        scopes.push(scope("State of the draw", STATE, true));
    }
    json!({ "scopes": scopes })
}

fn variable(name: impl Into<String>, value: impl Into<String>) -> Value {
    json!({ "name": name.into(), "value": value.into(), "variablesReference": 0 })
}

/// The variables of a reference.
///
/// # Errors
/// If the reference does not exist at this stop, as text.
pub fn variables(stop: &Stop<'_>, reference: u64) -> Result<Vec<Value>, String> {
    match reference {
        THREAD => thread(stop),
        FLAGS => {
            let flags = show::flags(stop)?;
            Ok(flags
                .into_iter()
                .map(|(name, value)| variable(name, format!("{value:#x}")))
                .collect())
        }
        OTHERS => others(stop),
        PACKET => Ok(show::packet_fields(stop)?.lines().map(line).collect()),
        DWORDS => {
            let packet = stop.position.packet.as_ref().ok_or("there is no packet yet")?;
            let dwords = packet.dwords.iter().enumerate();
            let dword = |(n, dword)| variable(format!("dw{n}"), format!("{dword:#010x}"));
            Ok(dwords.map(dword).collect())
        }
        STATE => Ok(show::state(stop)?.lines().map(state_line).collect()),
        GENERAL..ELEMENTS => {
            let index = (reference - GENERAL) / COUNT;
            let ty =
                SCOPES.get(index as usize).filter(|_| (reference - GENERAL).is_multiple_of(COUNT));
            general(stop, *ty.ok_or_else(|| missing(reference))?, index)
        }
        _ => {
            let at = reference.checked_sub(ELEMENTS).ok_or_else(|| missing(reference))?;
            let ty = SCOPES.get((at / COUNT) as usize).ok_or_else(|| missing(reference))?;
            let base = (at % COUNT) as usize * REGISTER;
            let elements = (0..REGISTER).step_by(ty.size()).map(|offset| {
                let name = format!("[{}]", offset / ty.size());
                let bits = stop.element(Register::File(base), offset, *ty)?;
                Ok(variable(name, number(*ty, bits)))
            });
            elements.collect()
        }
    }
}

fn missing(reference: u64) -> String {
    format!("there is no variable with reference {reference} at this stop")
}

fn thread(stop: &Stop<'_>) -> Result<Vec<Value>, String> {
    let thread = stop.stopped_thread()?;
    let mut list = vec![
        variable("thread", thread.id.to_string()),
        variable("kernel", format!("{:#x}", thread.kernel)),
        variable("ip", format!("{:#x}", thread.ip)),
        variable("mask", format!("{:#010x}", thread.mask)),
        variable("channel", stop.channel().to_string()),
    ];
    if let Some((pixel, channel)) = thread.pixel {
        list.push(variable("pixel", format!("{},{} in channel {channel}", pixel.x, pixel.y)));
    }
    if let Some([x, y, z]) = thread.group {
        list.push(variable("group", format!("{x},{y},{z}")));
    }
    Ok(list)
}

fn general(stop: &Stop<'_>, ty: Type, index: u64) -> Result<Vec<Value>, String> {
    let one = |n: u64| {
        let register = Register::File(n as usize * REGISTER);
        let elements = show::elements(stop, register, ty)?;
        Ok(json!({
            "name": format!("r{n}"),
            "value": elements.join(" "),
            "type": type_name(ty),
            "evaluateName": format!("r{n}:{}", type_name(ty)),
            "variablesReference": ELEMENTS + COUNT * index + n,
            "indexedVariables": elements.len(),
        }))
    };
    (0..COUNT).map(one).collect()
}

fn others(stop: &Stop<'_>) -> Result<Vec<Value>, String> {
    let accumulators =
        [0, 1].map(|n| (format!("acc{n}"), Register::Accumulator(n * REGISTER), Type::F));
    let files = ARCHITECTURE.map(|(name, at, ty)| (name.to_owned(), Register::File(at), ty));
    let all = accumulators.into_iter().chain(files);
    let one =
        |(name, register, ty)| Ok(variable(name, show::elements(stop, register, ty)?.join(" ")));
    all.map(one).collect()
}

/// A line `dw1 3:0  Name: value`, or any other text.
fn line(text: &str) -> Value {
    match text.trim().split_once(": ") {
        Some((name, value)) => {
            variable(name.split_whitespace().collect::<Vec<_>>().join(" "), value)
        }
        None => variable("packet", text.trim()),
    }
}

/// A line of the state of a draw: a word, and what it is.
fn state_line(text: &str) -> Value {
    let text = text.trim();
    match text.split_once("  ") {
        Some((name, value)) => variable(name, value.trim()),
        None => match text.split_once(": ") {
            Some((name, value)) => variable(name, value),
            None => variable("", text),
        },
    }
}
