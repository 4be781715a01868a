//! Checks of instructions: pipelines, distinct opcodes, and defaults of length fields.

use std::collections::HashSet;

use super::context::Check;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Container, Kind, Type};
use crate::value::ones;
use crate::words::{ALL_PIPELINES, engine_names};

pub(super) fn check(check: &mut Check<'_>, container: &Container) {
    let Kind::Instruction { bias, engines, pipelines } = container.kind else { return };
    if pipelines != ALL_PIPELINES && engines != 1 {
        let message = format!(
            "`{}` names pipelines of the render engine, but is a command of {}",
            container.name,
            engine_names(engines).join(", ")
        );
        let place = check.place(&container.span, "pipeline");
        check.report(
            Diagnostic::new(Code::Pipeline, place, message)
                .hint("only the render engine has pipelines: engine=\"render\""),
        );
    }
    opcode_fields(check, container);
    length(check, container, bias);
}

fn opcode_fields(check: &mut Check<'_>, container: &Container) {
    let mut any = false;
    for field in container.fields.iter().filter(|field| field.opcode) {
        any = true;
        let problem = match (field.default, field.end < 32) {
            (None, _) => "needs a default",
            (_, false) => "is not in the first dword",
            _ => continue,
        };
        let message =
            format!("the opcode field `{}` of `{}` {problem}", field.name, container.name);
        check.report(Diagnostic::new(Code::NoOpcode, field.span.clone(), message));
    }
    if !any {
        let message = format!("`{}` has no opcode", container.name);
        check.report(
            Diagnostic::new(Code::NoOpcode, container.span.clone(), message)
                .hint("mark the fields that tell it apart with opcode=\"true\" and a default"),
        );
    }
}

fn length(check: &mut Check<'_>, container: &Container, bias: u32) {
    let dwords = container.bits.div_ceil(32);
    let variable = container.is_variable();
    let Some(field) = container.fields.iter().find(|field| field.length) else {
        if (variable || dwords > 1) && !container.partial {
            let what = if variable {
                "of variable length".to_owned()
            } else {
                format!("of {dwords} dwords")
            };
            let message = format!("`{}`, {what}, has no field `DWord Length`", container.name);
            check.report(Diagnostic::new(Code::Length, container.span.clone(), message));
        }
        return;
    };
    if field.ty != Type::Uint || field.start != 0 {
        let message =
            format!("the length field of `{}` is not a uint from bit 0 on", container.name);
        check.report(Diagnostic::new(Code::Length, field.span.clone(), message));
    }
    if container.partial || variable {
        return; // the length of the packet is not constant
    }
    let place = check.place(&container.span, "bias");
    if dwords < bias {
        let message =
            format!("`{}` has {dwords} dwords, less than its bias of {bias}", container.name);
        check.report(Diagnostic::new(Code::Length, place, message));
        return;
    }
    let expected = u64::from(dwords - bias);
    if expected > ones(field.end - field.start + 1) {
        let message =
            format!("the length of `{}`, {expected}, does not fit its field", container.name);
        check.report(Diagnostic::new(Code::Length, field.span.clone(), message));
    } else if let Some(default) = field.default
        && default != expected
    {
        let message = format!(
            "the length of `{}` is {default}, but {dwords} dwords less the bias of {bias} is {expected}",
            container.name
        );
        let default = check.place(&field.span, "default");
        check.report(Diagnostic::new(Code::Length, default, message).also(place, "the bias"));
    }
}

/// Reports two instructions of one engine that the same header matches. Skips `broken` containers
/// and Mesa's files.
pub(super) fn opcodes(check: &mut Check<'_>, broken: &HashSet<usize>) {
    struct Header<'a> {
        container: &'a Container,
        engines: u8,
        mask: u32,
        value: u32,
    }
    let mut headers: Vec<Header<'_>> = Vec::new();
    for (index, container) in check.spec.containers.iter().enumerate() {
        let Kind::Instruction { engines, .. } = container.kind else { continue };
        if broken.contains(&index) || check.spec.files[container.file].foreign {
            continue;
        }
        let (mut mask, mut value) = (0u32, 0u32);
        for field in container.fields.iter().filter(|field| field.opcode && field.end < 32) {
            let bits = (ones(field.end - field.start + 1) << field.start) as u32;
            mask |= bits;
            value |= ((field.default.unwrap_or(0) << field.start) as u32) & bits;
        }
        if mask != 0 {
            headers.push(Header { container, engines, mask, value });
        }
    }
    for (index, one) in headers.iter().enumerate() {
        for two in &headers[index + 1..] {
            let told_apart = (one.value ^ two.value) & one.mask & two.mask != 0;
            if one.engines & two.engines == 0 || told_apart {
                continue;
            }
            let message = format!(
                "`{}` and `{}` cannot be told apart: both match the header {:#010x}",
                one.container.name,
                two.container.name,
                one.value | two.value
            );
            check.report(
                Diagnostic::new(Code::Opcode, two.container.span.clone(), message)
                    .also(one.container.span.clone(), "the other")
                    .hint("mark every bit that tells them apart with opcode=\"true\", or set the engines"),
            );
        }
    }
}
