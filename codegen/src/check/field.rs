//! Checks of single fields: width, alignment, stored form, default, range, enumeration values.

use super::context::Check;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Container, Field, Kind, Stored, Type};
use crate::value::{SPACES, ones};
use crate::words::bits_text;

pub(super) fn check(check: &mut Check<'_>, container: &Container, field: &Field) {
    width(check, container, field);
    stored(check, field);
    default(check, field);
    one_bit(check, container, field);
    match &field.ty {
        Type::Address { space, align, .. } => address(check, field, space, *align),
        Type::Enum(id) => {
            let Some(list) = check.spec.enums.get(id.0) else { return };
            let limit = ones(field.end - field.start + 1);
            if let Some(value) = list.values.iter().find(|value| value.value > limit) {
                let width = field.end - field.start + 1;
                let message = format!(
                    "`{}` = {} does not fit the {width} bits of `{}`",
                    value.name, value.value, field.name
                );
                let place = check.place(&field.span, "type");
                check.report(
                    Diagnostic::new(Code::EnumFit, place, message)
                        .also(value.span.clone(), "the value"),
                );
            }
        }
        _ => {}
    }
}

fn width(check: &mut Check<'_>, container: &Container, field: &Field) {
    let width = field.end - field.start + 1;
    let bits = bits_text(field.start, field.end);
    let wrong = |expected: String| {
        Some(format!(
            "`{}.{}` has {width} bits ({bits}), but {expected}",
            container.name, field.name
        ))
    };
    let mut also = None;
    let message = match &field.ty {
        Type::Bool if width != 1 => wrong("a bool has 1".into()),
        Type::Float if width != 32 && width != 64 => wrong("a float has 32 or 64".into()),
        Type::UFixed { int, frac } if width != int + frac => {
            wrong(format!("u{int}.{frac} has {}", int + frac))
        }
        Type::SFixed { int, frac } if width != int + frac + 1 => wrong(format!(
            "s{int}.{frac} has a sign, {int} and {frac} bits, together {}",
            int + frac + 1
        )),
        Type::Struct(id) => match check.spec.containers.get(id.0) {
            Some(inner) if inner.bits != width => {
                also = Some(inner.span.clone());
                wrong(format!("`{}` has {}", inner.name, inner.bits))
            }
            _ => None,
        },
        // The pointer starts at bit 0 of the dword that contains the first bit of the field. So an
        // address is, for example, bits 47:0 or 63:6 of two dwords.
        Type::Address { .. } if field.end - field.start / 32 * 32 >= 64 => {
            wrong("a pointer ends within 64 bits of the start of its dword".into())
        }
        Type::Uint | Type::Int if width > 64 => wrong("a number has at most 64".into()),
        Type::UFixed { .. } | Type::SFixed { .. } if width > 32 => {
            wrong("fixed point has at most 32".into())
        }
        Type::Enum(_) if width > 32 => wrong("an enumeration has at most 32".into()),
        _ => None,
    };
    if let Some(message) = message {
        let at = check.place(&field.span, "bits");
        let mut diagnostic = Diagnostic::new(Code::Width, at, message);
        if let Some(span) = also {
            diagnostic = diagnostic.also(span, "declared here");
        }
        check.report(diagnostic);
    }
    if let Type::Struct(id) = field.ty
        && check.spec.containers.get(id.0).is_some_and(|inner| inner.bits > 64)
        && !field.start.is_multiple_of(32)
    {
        let message = format!(
            "`{}` is larger than 64 bits and must start at a dword, not at {bits}",
            field.name
        );
        let place = check.place(&field.span, "bits");
        check.report(Diagnostic::new(Code::Align, place, message));
    }
}

fn stored(check: &mut Check<'_>, field: &Field) {
    let width = field.end - field.start + 1;
    let message = match field.stored {
        Stored::Plain => return,
        _ if field.ty != Type::Uint => {
            format!("`{}` is not a uint, so it cannot have `stored-as`", field.name)
        }
        Stored::Shifted(by) if by + width > 64 => {
            format!("`{}` shifted by {by} needs {} bits", field.name, by + width)
        }
        Stored::MinusOne if width > 32 => {
            format!("`{}` has {width} bits; a count stored minus one has at most 32", field.name)
        }
        Stored::Log2 if width > 6 => {
            format!("`{}` would hold 2 to the power of up to {}", field.name, ones(width))
        }
        _ => return,
    };
    let place = check.place(&field.span, "stored-as");
    check.report(Diagnostic::new(Code::Stored, place, message));
}

/// A flag that is described as a number makes programs write `U::MAX` instead of `true`. Numbers of
/// one bit exist, too: their unit or range says that they count something. The structures of EU
/// instructions have many, so only packets and registers are checked. Files without any `source`
/// follow the rules of others.
fn one_bit(check: &mut Check<'_>, container: &Container, field: &Field) {
    let number = field.ty == Type::Uint && field.start == field.end;
    let structure = matches!(container.kind, Kind::Struct { .. });
    let says_so = !field.unit.is_empty() || field.range.is_some() || field.opcode || field.length;
    if !number || structure || says_so || check.spec.files[container.file].foreign {
        return;
    }
    let place = check.place(&field.span, "type");
    let message = format!("`{}` has one bit, but is a number", field.name);
    check.report(Diagnostic::new(Code::OneBit, place, message).hint(
        "say `bool` for a flag, name both values, or give the `unit` or `range` of the number",
    ));
}

fn default(check: &mut Check<'_>, field: &Field) {
    if field.nonzero && field.default.is_none() && !field.required {
        let message = format!("`{}` must not be zero, but is unless a program sets it", field.name);
        let place = check.place(&field.span, "nonzero");
        check.report(
            Diagnostic::new(Code::Default, place, message)
                .hint("give a `default`, or say `required`"),
        );
    }
    let (Some(default), Some((low, high))) = (field.default, field.range) else { return };
    let width = field.end - field.start + 1;
    let inside = match field.ty {
        Type::Int | Type::SFixed { .. } => {
            let unused = 64 - width.clamp(1, 64);
            let value = ((default << unused) as i64) >> unused;
            (low as i64..=high as i64).contains(&value)
        }
        _ => (low..=high).contains(&default),
    };
    if !inside {
        let place = check.place(&field.span, "default");
        let zero = field.nonzero && default == 0;
        let range = check.place(&field.span, if zero { "nonzero" } else { "range" });
        let message =
            format!("the default of `{}`, stored as {default}, is outside its range", field.name);
        check.report(Diagnostic::new(Code::Default, place, message).also(range, "the range"));
    }
}

fn address(check: &mut Check<'_>, field: &Field, space: &str, align: u64) {
    // The loader refuses unknown address spaces, but a program can build a `Spec` with any text.
    if !SPACES.contains(&space) {
        let message = format!("`{space}` is not an address space");
        check.report(Diagnostic::new(Code::Space, field.span.clone(), message));
    }
    let low = field.start % 32;
    let message = if !align.is_power_of_two() {
        format!("the alignment of `{}`, {align}, is not a power of two", field.name)
    } else if align < 1 << low {
        format!(
            "`{}` starts at bit {low} and cannot hold an address that is aligned to {align} bytes only",
            field.name
        )
    } else {
        return;
    };
    let place = check.place(&field.span, "align");
    check.report(Diagnostic::new(Code::Align, place, message).hint(format!(
        "bit {low} is worth {} bytes: the alignment is that or a multiple",
        1u64 << low
    )));
}
