//! The statements of the XML about a field hold for the generated code, for every field of every
//! container: reserved bits are refused, ranges enforced, defaults are as written, and unknown
//! values of enumerations are kept.
//!
//! Oracle: the XML itself, loaded at run time and flattened by the test's own code. The generated
//! code was made at build time. Each law is also tested with a specification that was changed in
//! one point, where it must break.

mod flat;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use genxml_codegen::model::{Container, Field, Group, Kind, Spec, Type};
use genxml_codegen::{load_dir, load_files};
use genxml_core::bits::get;
use genxml_core::round_trip::{ROOM, RoundTrip};
use genxml_core::{PackError, UnpackError};

use flat::{Flat, Sampler, flat, limits, mask, own, set};

/// The specifications of Gen8, of G45 and of the toy.
static SPECS: LazyLock<[Spec; 3]> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = |name: &str| {
        load_dir(&here.join("../spec-xml").join(name)).unwrap_or_else(|report| panic!("{report}"))
    };
    let toy = load_files(&[here.join("toy/toy.xml")]).unwrap_or_else(|report| panic!("{report}"));
    [folder("gen8"), folder("gen45"), toy]
});

/// The result of checking a law.
#[derive(Default)]
struct Found {
    checked: usize,
    broken: Vec<String>,
    /// Fields for which no well-formed dwords were found.
    unreached: Vec<String>,
}

/// The index in [`SPECS`] of the specification of each list of [`genxml_tests::ROUND_TRIPS`].
const SPEC_OF_LIST: [usize; 4] = [0, 0, 1, 2];

/// Every generated container with its description.
fn containers(specs: &[Spec]) -> Vec<(&'static RoundTrip, &Spec, &Container)> {
    let mut described = BTreeMap::new();
    for (index, spec) in specs.iter().enumerate() {
        for container in &spec.containers {
            let unit = spec.files[container.file].unit.as_str();
            described.insert((index, unit, container.name.as_str()), container);
        }
    }
    let lists = genxml_tests::ROUND_TRIPS.iter().zip(SPEC_OF_LIST);
    let all: Vec<_> = lists
        .flat_map(|(trips, spec)| trips.iter().map(move |trip| (trip, spec)))
        .map(|(trip, spec)| {
            let found = described.get(&(spec, trip.info.unit, trip.info.name));
            let container = found.unwrap_or_else(|| panic!("{} is not in the XML", trip.info.name));
            (trip, &specs[spec], *container)
        })
        .collect();
    assert_eq!(genxml_tests::ROUND_TRIPS.len(), SPEC_OF_LIST.len());
    assert!(all.len() > 900, "only {} containers are listed", all.len());
    all
}

/// Checks a law for every field that `of` selects, with dwords in which the field exists. Leaves
/// out containers whose fields may overlap.
fn law(
    specs: &[Spec],
    of: impl Fn(&Flat) -> bool,
    law: impl Fn(&Flat, &[u32], &Sampler) -> Result<usize, String>,
) -> Found {
    let mut found = Found::default();
    for (trip, spec, container) in containers(specs) {
        if container.overlap_allowed {
            continue;
        }
        let fields = flat(spec, container);
        let mut sampler = Sampler::new(trip, &fields);
        for flat in fields.iter().filter(|flat| of(flat)) {
            let name = format!(
                "{}: {} (dw{} bit {})",
                container.name,
                flat.field.name,
                flat.start / 32,
                flat.start % 32
            );
            match sampler
                .sample(&flat.guards)
                .filter(|dwords| dwords.len() * 32 > flat.end() as usize)
            {
                Some(dwords) => match law(flat, &dwords, &sampler) {
                    Ok(checked) => found.checked += checked,
                    Err(broken) => found.broken.push(format!("{name}: {broken}")),
                },
                None => found.unreached.push(name),
            }
        }
    }
    found
}

/// A flipped must-be-zero or must-be-one bit is refused.
fn reserved_bits(specs: &[Spec]) -> Found {
    law(
        specs,
        |flat| matches!(flat.field.ty, Type::MustBeZero | Type::MustBeOne),
        |flat, dwords, sampler| {
            for bit in flat.start..=flat.end() {
                let mut flipped = dwords.to_vec();
                flipped[bit as usize / 32] ^= 1 << (bit % 32);
                match (sampler.trip.strict)(&flipped) {
                    Err(UnpackError::Fixed { .. } | UnpackError::Reserved { .. }) => {}
                    other => return Err(format!("bit {bit} flipped gives {other:?}")),
                }
            }
            Ok(flat.width() as usize)
        },
    )
}

/// Values just outside a range are refused; the least, the greatest and a middle value are
/// accepted.
fn ranges(specs: &[Spec]) -> Found {
    law(
        specs,
        |flat| !flat.field.opcode && !flat.field.length && limits(flat.field).is_some(),
        |flat, dwords, sampler| {
            let (min, max) = limits(flat.field).unwrap_or_default();
            let mask = mask(flat.field);
            let read = |value: u64| {
                let mut changed = dwords.to_vec();
                set(&mut changed, flat.start, flat.end(), value & mask);
                (sampler.trip.strict)(&changed)
            };
            let refused = |value: u64| matches!(read(value), Err(UnpackError::Range { start, .. }) if start == flat.start);
            let middle = min.wrapping_add((max.wrapping_sub(min) & mask) / 2);
            let mut checked = 0;
            for value in [min, middle, max] {
                // Other fields may start to exist, but this one is in its range.
                if flat.decides && refused(value) || !flat.decides && read(value).is_err() {
                    return Err(format!(
                        "{:#x} of {min:#x}..{max:#x}: {:?}",
                        value & mask,
                        read(value)
                    ));
                }
                checked += 1;
            }
            for value in [min.wrapping_sub(1), max.wrapping_add(1)] {
                // A range that covers the whole field has nothing outside.
                let inside = (value.wrapping_sub(min) & mask) <= (max.wrapping_sub(min) & mask);
                if !inside && !refused(value) {
                    return Err(format!(
                        "{:#x}, outside {min:#x}..{max:#x}: {:?}",
                        value & mask,
                        read(value)
                    ));
                }
                checked += usize::from(!inside);
            }
            Ok(checked)
        },
    )
}

/// A number without a name in the enumeration is read and written unchanged.
fn unknown_values(specs: &[Spec]) -> Found {
    law(
        specs,
        |flat| {
            matches!(flat.field.ty, Type::Enum(_))
                && !flat.field.opcode
                && limits(flat.field).is_none()
                && !flat.decides
        },
        |flat, dwords, sampler| {
            let Type::Enum(id) = flat.field.ty else { return Ok(0) };
            let list = specs.iter().find_map(|spec| {
                let list = spec.enums.get(id.0)?;
                spec.containers.iter().any(|c| c.name == sampler.trip.info.name).then_some(list)
            });
            let Some(list) = list else { return Err("no such enumeration".to_owned()) };
            let unknown = (0..=mask(flat.field)).rev().take(1 << 12);
            let Some(unknown) = unknown
                .into_iter()
                .find(|value| list.values.iter().all(|known| known.value != *value))
            else {
                return Ok(0);
            };
            let mut changed = dwords.to_vec();
            set(&mut changed, flat.start, flat.end(), unknown);
            if let Err(error) = (sampler.trip.strict)(&changed) {
                return Err(format!("{unknown:#x}: {error}"));
            }
            match sampler.repack(&changed).map(|dwords| get(&dwords, flat.start, flat.end())) {
                Ok(kept) if kept == unknown => Ok(1),
                other => Err(format!("{unknown:#x} becomes {other:x?}")),
            }
        },
    )
}

/// `new()` packs the defaults of the XML: for each field that exists, its default; zero elsewhere.
fn defaults(specs: &[Spec]) -> Found {
    let mut found = Found::default();
    for (trip, spec, container) in containers(specs) {
        let Some(pack) = trip.default else { continue };
        let mut dwords = [0; ROOM];
        let length = match pack(&mut dwords) {
            Ok(length) => length,
            // The length field cannot express an empty tail.
            Err(PackError::Length { .. }) => continue,
            Err(error) => {
                found.broken.push(format!("{}: {error}", container.name));
                continue;
            }
        };
        let mut expected = [0; ROOM];
        expect(spec, &container.fields, &container.groups, 0, &dwords, &mut expected);
        if let (Some(field), Kind::Instruction { bias, .. }) =
            (container.fields.iter().find(|field| field.length), &container.kind)
        {
            set(&mut expected, field.start, field.end, (length - *bias as usize) as u64);
        }
        if matches!(container.kind, Kind::Register { masked: true, .. }) {
            // The upper half of a masked register has the write enables of the lower half. It is
            // not compared.
            expected[0] = expected[0] & 0xffff | dwords[0] & 0xffff_0000;
        }
        found.checked += container.fields.iter().filter(|field| field.default.is_some()).count();
        for (at, (is, wanted)) in dwords.iter().zip(&expected).enumerate().take(length) {
            if is != wanted {
                let mut text =
                    format!("{}: dw{at} is {is:#010x}, by the XML {wanted:#010x}", container.name);
                for field in &container.fields {
                    if field.start / 32 == at as u32
                        && get(&dwords, field.start, field.end)
                            != get(&expected, field.start, field.end)
                    {
                        let _ = write!(text, " ({})", field.name);
                    }
                }
                found.broken.push(text);
            }
        }
    }
    found
}

/// Writes the defaults of the fields that exist in `dwords`.
fn expect(
    spec: &Spec,
    fields: &[Field],
    groups: &[Group],
    base: u32,
    dwords: &[u32],
    out: &mut [u32],
) {
    for flat in own(fields, base) {
        if !flat.exists(dwords) {
            continue;
        }
        let (start, end) = (flat.start, flat.end());
        match flat.field.ty {
            Type::MustBeOne => (start..=end).for_each(|bit| set(out, bit, bit, 1)),
            Type::Struct(id) if flat.field.default.is_none() => {
                let inner = &spec.containers[id.0];
                expect(spec, &inner.fields, &inner.groups, start, dwords, out);
            }
            _ => set(out, start, end.min(start + 63), flat.field.default.unwrap_or(0)),
        }
    }
    for group in groups {
        for element in 0..group.count {
            expect(
                spec,
                &group.fields,
                &group.groups,
                base + group.start + element * group.bits,
                dwords,
                out,
            );
        }
    }
}

fn holds(found: Found, least: usize) {
    println!(
        "{} checked, {} broken, {} not reached",
        found.checked,
        found.broken.len(),
        found.unreached.len()
    );
    assert!(found.broken.is_empty(), "{} broken\n{}", found.broken.len(), found.broken.join("\n"));
    assert!(
        found.unreached.is_empty(),
        "{} not reached\n{}",
        found.unreached.len(),
        found.unreached.join("\n")
    );
    assert!(found.checked >= least, "only {} checked", found.checked);
}

#[test]
fn reserved_bits_are_refused() {
    holds(reserved_bits(&*SPECS), 5000);
}

#[test]
fn ranges_are_enforced() {
    holds(ranges(&*SPECS), 500);
}

#[test]
fn unknown_values_are_kept() {
    holds(unknown_values(&*SPECS), 200);
}

#[test]
fn defaults_are_as_written() {
    holds(defaults(&*SPECS), 1000);
}

/// Each law breaks if the specification differs in one point from the one that the code was
/// generated from. This shows that the laws check something.
mod sanity {
    use super::*;
    use genxml_codegen::model::EnumId;

    /// The specification with a change to the first field that `change` accepts.
    fn changed(change: impl Fn(&mut Field) -> bool) -> (Vec<Spec>, String) {
        let mut specs = SPECS.to_vec();
        let containers = specs[0]
            .containers
            .iter_mut()
            .filter(|c| !c.partial && !c.overlap_allowed && c.bits > 64);
        for container in containers {
            if container.fields.iter_mut().any(&change) {
                let name = container.name.clone();
                return (specs, name);
            }
        }
        panic!("nothing to change");
    }

    fn breaks(found: &Found, container: &str) {
        let named = found.broken.iter().any(|broken| broken.starts_with(&format!("{container}:")));
        assert!(named, "{container} is changed, but only these break: {:?}", found.broken);
    }

    fn plain(field: &Field) -> bool {
        field.variant.is_none() && field.exists_if.is_none() && !field.opcode && !field.length
    }

    #[test]
    fn a_field_that_ought_to_be_reserved() {
        for ty in [Type::MustBeZero, Type::MustBeOne] {
            let (specs, name) = changed(|field| {
                let taken = field.ty == Type::Uint
                    && plain(field)
                    && field.range.is_none()
                    && !field.nonzero;
                if taken {
                    field.ty = ty.clone();
                }
                taken
            });
            breaks(&reserved_bits(&specs), &name);
        }
    }

    #[test]
    fn a_range_that_ought_to_be_narrower() {
        for lower in [false, true] {
            let (specs, name) = changed(|field| match &mut field.range {
                Some((min, max)) if *min < *max => {
                    if lower {
                        *min += 1;
                    } else {
                        *max -= 1;
                    }
                    true
                }
                _ => false,
            });
            breaks(&ranges(&specs), &name);
        }
    }

    #[test]
    fn a_range_that_ought_to_be_wider() {
        let (specs, name) = changed(|field| {
            let taken = plain(field);
            match &mut field.range {
                Some((_, max)) if taken && *max < (1 << (field.end - field.start)) => {
                    *max += 1;
                    true
                }
                _ => false,
            }
        });
        breaks(&ranges(&specs), &name);
    }

    #[test]
    fn an_enumeration_that_is_refused() {
        let (specs, name) = changed(|field| {
            let taken = field.ty == Type::MustBeZero && plain(field) && field.end - field.start > 7;
            if taken {
                field.ty = Type::Enum(EnumId(0));
            }
            taken
        });
        breaks(&unknown_values(&specs), &name);
    }

    #[test]
    fn another_default() {
        let (specs, name) = changed(|field| {
            let taken = plain(field)
                && field.ty == Type::Uint
                && field.default == Some(0)
                && field.start > 31;
            if taken {
                field.default = Some(1);
            }
            taken
        });
        breaks(&defaults(&specs), &name);
    }
}
