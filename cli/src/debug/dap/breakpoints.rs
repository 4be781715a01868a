//! The requests that set breakpoints. Each request replaces the breakpoints of the same kind, or of
//! the same source.

use super::sources::Sources;
use crate::input::address;
use genxml_sim::inspect::debugger::{Breakpoints, Expression, Stop, Value as Number, What};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A kind of breakpoints that one request replaces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Set {
    /// Lines of a source.
    Lines(u64),
    /// Packets, draws, pixels and others, by their names.
    Functions,
    /// Addresses of instructions.
    Instructions,
    /// Memory.
    Data,
}

/// A breakpoint of a request: what it is, and the line that the client is shown.
type Wanted = Result<(What, Option<u64>), String>;

/// The breakpoints of the client.
#[derive(Debug, Default)]
pub struct Sets(BTreeMap<Set, Vec<u32>>);

impl Sets {
    /// Replaces the breakpoints of a set by those in `list`. A breakpoint that cannot be set is
    /// reported as not verified, with the reason.
    fn replace(
        &mut self,
        set: Set,
        list: &[Value],
        breakpoints: &mut Breakpoints,
        what: impl Fn(&Value) -> Wanted,
    ) -> Value {
        for number in self.0.remove(&set).unwrap_or_default() {
            breakpoints.delete(number);
        }
        let mut numbers = Vec::new();
        let mut answers = Vec::new();
        for wanted in list {
            let added = what(wanted).and_then(|(what, line)| {
                let number = add(wanted, what, breakpoints)?;
                Ok((number, line))
            });
            answers.push(match added {
                Ok((number, line)) => {
                    numbers.push(number);
                    let mut answer = json!({ "id": number, "verified": true });
                    if let Some(line) = line {
                        answer["line"] = line.into();
                    }
                    answer
                }
                Err(problem) => json!({ "verified": false, "message": problem }),
            });
        }
        self.0.insert(set, numbers);
        json!({ "breakpoints": answers })
    }

    /// The word of the protocol for a breakpoint.
    pub fn kind(&self, number: u32) -> &'static str {
        let set = self.0.iter().find(|(_, numbers)| numbers.contains(&number));
        match set {
            Some((Set::Functions, _)) => "function breakpoint",
            Some((Set::Instructions, _)) => "instruction breakpoint",
            Some((Set::Data, _)) => "data breakpoint",
            _ => "breakpoint",
        }
    }

    /// Replaces the breakpoints at lines of a source.
    pub fn lines(
        &mut self,
        arguments: &Value,
        sources: &Sources,
        breakpoints: &mut Breakpoints,
    ) -> Result<Value, String> {
        let reference = arguments["source"]["sourceReference"].as_u64().unwrap_or(0);
        let list = list(arguments, "breakpoints")?;
        Ok(self.replace(Set::Lines(reference), list, breakpoints, |wanted| {
            let line = wanted["line"].as_u64().ok_or("`line` must be a number")?;
            let (line, address) = sources.instruction(reference, line)?;
            Ok((What::Instruction(address), Some(line)))
        }))
    }

    /// Replaces the breakpoints that have names.
    pub fn functions(
        &mut self,
        arguments: &Value,
        stop: Option<&Stop<'_>>,
        breakpoints: &mut Breakpoints,
    ) -> Result<Value, String> {
        let kernel = stop.and_then(|stop| stop.thread).map(|thread| thread.kernel);
        let list = list(arguments, "breakpoints")?;
        Ok(self.replace(Set::Functions, list, breakpoints, |wanted| {
            let name = wanted["name"].as_str().ok_or("`name` must be text")?;
            Ok((What::parse(name, kernel)?, None))
        }))
    }

    /// Replaces the breakpoints at addresses.
    pub fn instructions(
        &mut self,
        arguments: &Value,
        breakpoints: &mut Breakpoints,
    ) -> Result<Value, String> {
        let list = list(arguments, "breakpoints")?;
        Ok(self.replace(Set::Instructions, list, breakpoints, |wanted| {
            let base = reference(wanted, "instructionReference")?;
            let offset = wanted["offset"].as_i64().unwrap_or(0);
            Ok((What::Instruction(base.wrapping_add_signed(offset)), None))
        }))
    }

    /// Replaces the watchpoints.
    pub fn data(
        &mut self,
        arguments: &Value,
        breakpoints: &mut Breakpoints,
    ) -> Result<Value, String> {
        let list = list(arguments, "breakpoints")?;
        Ok(self.replace(Set::Data, list, breakpoints, |wanted| {
            let id = wanted["dataId"].as_str().ok_or("`dataId` must be text")?;
            let wrong = || format!("`{id}` is not a dataId; ask dataBreakpointInfo for one");
            let (base, length) = id.split_once('/').ok_or_else(wrong)?;
            let number = |text: &str| address(text).map_err(|_| wrong());
            Ok((What::Memory { address: number(base)?, length: number(length)? }, None))
        }))
    }
}

/// Adds a breakpoint with its conditions. Returns its number.
fn add(wanted: &Value, what: What, breakpoints: &mut Breakpoints) -> Result<u32, String> {
    let text = |name: &str| wanted[name].as_str().map(str::trim).filter(|text| !text.is_empty());
    let condition = text("condition").map(Expression::parse).transpose()?;
    let hits = text("hitCondition").map(|hits| match hits.parse::<u64>() {
        Ok(hits) if hits > 0 => Ok(hits),
        _ => Err(format!(
            "hit condition `{hits}`: write the number of the hit that stops, from 1 on"
        )),
    });
    let hits = hits.transpose()?;
    let breakpoint = breakpoints.add(what, condition)?;
    breakpoint.ignore = hits.map_or(0, |hits| hits - 1);
    Ok(breakpoint.number)
}

/// The list with a name in the arguments.
fn list<'a>(arguments: &'a Value, name: &str) -> Result<&'a [Value], String> {
    match &arguments[name] {
        Value::Array(list) => Ok(list),
        Value::Null => Ok(&[]),
        _ => Err(format!("`{name}` must be a list")),
    }
}

/// A reference to memory: an address as text.
pub fn reference(arguments: &Value, name: &str) -> Result<u64, String> {
    let text = arguments[name].as_str().ok_or_else(|| format!("`{name}` must be text"))?;
    address(text).map_err(|why| format!("`{name}`: `{text}` is {why}"))
}

/// Whether memory at the value of an expression can be watched.
pub fn data_info(arguments: &Value, stop: Option<&Stop<'_>>) -> Result<Value, String> {
    let name = arguments["name"].as_str().ok_or("dataBreakpointInfo: `name` must be text")?;
    let bytes = arguments["bytes"].as_u64().unwrap_or(4);
    let value = match (address(name), stop) {
        (Ok(address), _) => Ok(address),
        (Err(_), None) => Err(format!("`{name}` is not an address")),
        (Err(_), Some(stop)) => Expression::parse(name)
            .and_then(|expression| expression.value(stop, stop.channel()))
            .and_then(|value| match value {
                Number::Integer(value) => u64::try_from(value)
                    .map_err(|_| format!("the address {value} does not fit 64 bits")),
                Number::Float(_) => Err("an address must be an integer".to_owned()),
            }),
    };
    Ok(match value {
        Ok(address) => json!({
            "dataId": format!("{address:#x}/{bytes}"),
            "description": format!("{bytes} bytes at {address:#x}"),
            "accessTypes": ["write"],
        }),
        Err(problem) => json!({ "dataId": null, "description": problem }),
    })
}
