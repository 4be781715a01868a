//! Checks of the positions of fields: each field lies inside its container, and each bit belongs to
//! exactly one field. Alternatives of a variant set may share bits. Containers marked `overlap` are
//! not checked for overlaps. Containers marked `partial` are not checked for gaps.

use super::context::{Check, Scope, for_each_scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Container, Kind, Span, View};
use crate::words::bits_text;

/// A field or group, with the bits that it occupies.
struct Part<'a> {
    start: u32,
    /// First bit after the part.
    end: u32,
    name: String,
    span: &'a Span,
    variant: Option<&'a (String, String)>,
}

pub(super) fn check(check: &mut Check<'_>, container: &Container) {
    if let Kind::Struct { align } = container.kind
        && !align.is_power_of_two()
    {
        let place = check.place(&container.span, "align");
        let message =
            format!("the alignment of `{}`, {align}, is not a power of two", container.name);
        check.report(Diagnostic::new(Code::Align, place, message));
    }
    groups(check, container);
    view_bounds(check, container);
    for_each_scope(container, &mut |scope| {
        let parts = parts(scope);
        bounds(check, container, scope, &parts);
        if !container.overlap_allowed {
            overlaps(check, container, &parts);
        }
        if !container.partial {
            gaps(check, container, scope, &parts);
        }
    });
}

fn parts(scope: Scope<'_>) -> Vec<Part<'_>> {
    let fields = scope.fields.iter().map(|field| Part {
        start: field.start,
        end: field.end + 1,
        name: field.name.clone(),
        span: &field.span,
        variant: field.variant.as_ref(),
    });
    let groups = scope.groups.iter().filter(|group| group.count > 0).map(|group| Part {
        start: group.start,
        end: group.end(),
        name: if group.name.is_empty() { "group".to_owned() } else { group.name.clone() },
        span: &group.span,
        variant: None,
    });
    let mut parts: Vec<Part<'_>> = fields.chain(groups).collect();
    parts.sort_by_key(|part| (part.start, part.end));
    parts
}

fn view_bounds(check: &mut Check<'_>, container: &Container) {
    for View { field, .. } in container.views.iter().filter(|view| view.field.end >= container.bits)
    {
        let message = format!(
            "the view `{}` reaches to bit {} of `{}`, which has {}",
            field.name, field.end, container.name, container.bits
        );
        let place = check.place(&field.span, "bits");
        check.report(
            Diagnostic::new(Code::Bounds, place, message)
                .also(container.span.clone(), "the size is set here"),
        );
    }
}

fn bounds(check: &mut Check<'_>, container: &Container, scope: Scope<'_>, parts: &[Part<'_>]) {
    for part in parts.iter().filter(|part| part.end > scope.bits) {
        let owner = match scope.group {
            Some(_) => format!("an element of {} bits", scope.bits),
            None => format!("`{}`, which has {} bits", container.name, scope.bits),
        };
        let message = format!(
            "`{}` ({}) reaches beyond {owner}",
            part.name,
            bits_text(part.start, part.end - 1)
        );
        let place = check.place(part.span, "bits");
        check.report(
            Diagnostic::new(Code::Bounds, place, message)
                .also(scope.span.clone(), "the size is set here"),
        );
    }
}

fn overlaps(check: &mut Check<'_>, container: &Container, parts: &[Part<'_>]) {
    for (index, part) in parts.iter().enumerate() {
        for other in parts[index + 1..].iter().take_while(|other| other.start < part.end) {
            let alternatives = match (part.variant, other.variant) {
                (Some((set, one)), Some((other_set, two))) => set == other_set && one != two,
                _ => false,
            };
            if alternatives {
                continue;
            }
            let shared = bits_text(other.start, part.end.min(other.end) - 1);
            let message = format!(
                "`{}` and `{}` of `{}` share {shared}",
                part.name, other.name, container.name
            );
            // Report the parts in the order of the file, not of the bits.
            let (first, second) = match part.span.range.start <= other.span.range.start {
                true => (part, other),
                false => (other, part),
            };
            let place = check.place(second.span, "bits");
            let also = check.place(first.span, "bits");
            check.report(
                Diagnostic::new(Code::Overlap, place, message)
                    .also(also, format!("`{}` is here", first.name))
                    .hint("fields that never exist together are alternatives: variant=\"set/alternative\" and exists-if"),
            );
        }
    }
}

/// Reports bits that belong to no field: in the scope as a whole, then in each alternative of a
/// variant set.
fn gaps(check: &mut Check<'_>, container: &Container, scope: Scope<'_>, parts: &[Part<'_>]) {
    let holes = uncovered(0..scope.bits, parts.iter());
    if !holes.is_empty() {
        let what = if scope.group.is_some() { "an element" } else { "the container" };
        let message =
            format!("bits of {what} in `{}` belong to no field: {}", container.name, list(&holes));
        check.report(
            Diagnostic::new(Code::Gap, scope.span.clone(), message)
                .hint("name them mbz or reserved, or mark the container partial=\"header\""),
        );
    }
    let mut sets: Vec<(&str, &str)> = parts
        .iter()
        .filter_map(|part| part.variant)
        .map(|(set, one)| (set.as_str(), one.as_str()))
        .collect();
    sets.sort_unstable();
    sets.dedup();
    for (set, alternative) in sets {
        let of_set = parts.iter().filter(|part| part.variant.is_some_and(|(name, _)| name == set));
        let Some(span) =
            of_set.clone().find(|part| is_in(part, set, alternative)).map(|part| part.span)
        else {
            continue;
        };
        // Bits that any alternative covers must be covered by this one too, or by a field outside
        // of the set.
        let mut holes = Vec::new();
        for part in of_set {
            let others = parts.iter().filter(|other| match other.variant {
                None => true,
                Some((name, _)) => name != set || is_in(other, set, alternative),
            });
            holes.extend(uncovered(part.start..part.end, others));
        }
        holes.sort_unstable();
        holes.dedup();
        if !holes.is_empty() {
            let message = format!(
                "alternative `{alternative}` of `{set}` in `{}` leaves bits to no field: {}",
                container.name,
                list(&merge(holes))
            );
            let place = check.place(span, "variant");
            check.report(Diagnostic::new(Code::Gap, place, message).hint(
                "other alternatives have fields there; in this one they are mbz or reserved",
            ));
        }
    }
}

fn is_in(part: &Part<'_>, set: &str, alternative: &str) -> bool {
    part.variant.is_some_and(|(name, one)| name == set && one == alternative)
}

/// The bits of `range` that no part covers, as pairs of a first bit and the bit after the last.
/// `parts` are sorted by their first bit.
fn uncovered<'a, 'b: 'a>(
    range: std::ops::Range<u32>,
    parts: impl Iterator<Item = &'a Part<'b>>,
) -> Vec<(u32, u32)> {
    let mut holes = Vec::new();
    let mut next = range.start;
    for part in parts {
        if part.start >= range.end {
            break;
        }
        if part.start > next {
            holes.push((next, part.start));
        }
        next = next.max(part.end);
    }
    if next < range.end {
        holes.push((next, range.end));
    }
    holes
}

/// Joins ranges that touch or overlap. `holes` is sorted.
fn merge(holes: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for hole in holes {
        match merged.last_mut() {
            Some(last) if hole.0 <= last.1 => last.1 = last.1.max(hole.1),
            _ => merged.push(hole),
        }
    }
    merged
}

fn list(holes: &[(u32, u32)]) -> String {
    // A hole is printed dword by dword. Three or more whole dwords are printed as one range.
    let mut texts = Vec::new();
    for (start, end) in holes {
        let mut at = *start;
        while at < *end {
            let stop = (at / 32 + 1) * 32;
            let last = if *end <= stop {
                *end
            } else if end - at > 64 {
                *end / 32 * 32
            } else {
                stop
            };
            texts.push(match last - at > 64 && at.is_multiple_of(32) {
                true => format!("dw{} to dw{}", at / 32, last / 32 - 1),
                false => bits_text(at, last.min(stop) - 1),
            });
            at = if last - at > 64 && at.is_multiple_of(32) { last } else { last.min(stop) };
        }
    }
    const SHOWN: usize = 8;
    match texts.len() {
        0..=SHOWN => texts.join(", "),
        more => format!("{} and {} more", texts[..SHOWN].join(", "), more - SHOWN),
    }
}

fn groups(check: &mut Check<'_>, container: &Container) {
    let mut variable = Vec::new();
    for_each_scope(container, &mut |scope| {
        for group in scope.groups {
            let mut wrong = |attribute: &str, message: String| {
                let place = check.place(&group.span, attribute);
                check.report(Diagnostic::new(Code::Group, place, message));
            };
            if group.bits == 0 {
                wrong("size", "the elements of a group have no bits".into());
            }
            let members = group.fields.len() + group.groups.len();
            if members == 0 {
                wrong("name", "a group without fields".into());
            }
            if group.name.is_empty() && members > 1 {
                wrong("name", "a group of several fields needs a name".into());
            }
            if group.count > 0 {
                continue;
            }
            if scope.group.is_some() {
                wrong("count", "a variable group cannot stand inside another group".into());
                continue;
            }
            if !group.bits.is_multiple_of(32) {
                wrong(
                    "size",
                    format!(
                        "elements of a variable group are whole dwords, not {} bits",
                        group.bits
                    ),
                );
            }
            if group.start != container.bits {
                wrong(
                    "dword",
                    format!(
                        "the variable group starts at bit {}, but the fixed part of `{}` ends at bit {}",
                        group.start, container.name, container.bits
                    ),
                );
            }
            variable.push(group);
        }
    });
    if let [first, others @ ..] = &variable[..] {
        for group in others {
            let message = format!("`{}` has more than one variable group", container.name);
            let place = check.place(&group.span, "count");
            check.report(
                Diagnostic::new(Code::Group, place, message).also(first.span.clone(), "first here"),
            );
        }
    }
}
