//! Tables for the decoder from a specification that is read at run time.
//!
//! The decoder's tables link to each other by `&'static`, as the generated tables do. The tables
//! that this module makes are leaked, because a command reads only one specification.

use genxml::decode::Tables;
use genxml::error_state::Platform;
use genxml_codegen::emit::{length_field, opcode};
use genxml_codegen::model::{self, ContainerId, EnumId, Spec};
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{
    Access, Container, EngineBase, Engines, Enumeration, Expr, Field, Group, Kind, Pipelines,
    Stored, Type,
};

/// The tables of a specification without errors.
pub fn tables(spec: &Spec) -> &'static Tables {
    let mut builder = Builder {
        spec,
        containers: vec![State::Unseen; spec.containers.len()],
        enums: spec.enums.iter().map(enumeration).collect(),
    };
    let all = (0..spec.containers.len()).filter_map(|index| builder.container(ContainerId(index)));
    let all: Vec<&'static Container> = all.collect();
    let base =
        |engine: &model::EngineBase| EngineBase { name: text(&engine.name), base: engine.base };
    let engines = list(spec.engines.iter().map(base).collect());
    let is_foreign = spec.files.iter().any(|file| file.foreign);
    let new = if is_foreign { Tables::with_partial_lists } else { Tables::new };
    leak(new(list(all), engines, generation(&spec.generation)))
}

/// The generation times ten, from the text in a file: `7.5` is 75, `125` and `12.5` are 125. 0 if
/// it is no such number.
pub fn generation(text: &str) -> u32 {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let number = |text: &str| text.parse::<u32>().ok();
    match (number(whole), part) {
        (Some(whole), "") if whole > 40 => whole,
        (Some(whole), "") => whole * 10,
        (Some(whole), part) => number(part).filter(|part| *part < 10).map_or(0, |p| whole * 10 + p),
        (None, _) => 0,
    }
}

/// Parses the value of --gen to a generation, times ten.
pub fn gpu(text: &str) -> Result<u32, String> {
    let digits = text.to_ascii_lowercase();
    let number = generation(digits.trim_start_matches("gfx").trim_start_matches("gen"));
    if number != 0 {
        return Ok(number);
    }
    let named = Platform::of_name(text).map(|platform| platform.generation);
    named.ok_or_else(|| "neither a generation, like 9 or 12.5, nor the name of a GPU".to_owned())
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn list<T>(values: Vec<T>) -> &'static [T] {
    values.leak()
}

fn text(text: &str) -> &'static str {
    text.to_owned().leak()
}

#[derive(Clone, Copy)]
enum State {
    Unseen,
    /// The container's fields are being read. A field of this type would make the container contain
    /// itself; the checks refuse that.
    Open,
    Done(&'static Container),
}

struct Builder<'a> {
    spec: &'a Spec,
    containers: Vec<State>,
    enums: Vec<&'static Enumeration>,
}

impl Builder<'_> {
    fn container(&mut self, id: ContainerId) -> Option<&'static Container> {
        match *self.containers.get(id.0)? {
            State::Done(container) => return Some(container),
            State::Open => return None,
            State::Unseen => self.containers[id.0] = State::Open,
        }
        let container = &self.spec.containers[id.0];
        let unit = self.spec.files.get(container.file).map_or("", |file| text(&file.unit));
        let built = leak(Container {
            name: text(&container.name),
            rust_name: "",
            unit,
            kind: kind(container),
            bits: container.bits,
            fields: self.fields(&container.fields),
            groups: self.groups(&container.groups),
            // The decoder does not use views and rules.
            views: &[],
            rules: &[],
            partial: container.partial,
            doc: text(&container.doc),
            source: text(&container.source),
        });
        self.containers[id.0] = State::Done(built);
        Some(built)
    }

    fn fields(&mut self, fields: &[model::Field]) -> &'static [Field] {
        list(fields.iter().map(|field| self.field(field)).collect())
    }

    fn groups(&mut self, groups: &[model::Group]) -> &'static [Group] {
        let build = |group: &model::Group| Group {
            name: text(&group.name),
            start: group.start,
            bits: group.bits,
            count: group.count,
            fields: self.fields(&group.fields),
            groups: self.groups(&group.groups),
        };
        list(groups.iter().map(build).collect())
    }

    fn field(&mut self, field: &model::Field) -> Field {
        Field {
            name: text(&field.name),
            start: field.start,
            end: field.end,
            ty: self.ty(&field.ty),
            stored: match field.stored {
                model::Stored::Plain => Stored::Plain,
                model::Stored::MinusOne => Stored::MinusOne,
                model::Stored::Shifted(by) => Stored::Shifted(by),
                model::Stored::Log2 => Stored::Log2,
            },
            default: field.default,
            required: field.required && field.variant.is_none(),
            range: field.range,
            exists_if: field.exists_if.as_ref().map(expr),
            alternative: field.variant.as_ref().map(|(set, name)| (text(set), text(name))),
            unit: text(&field.unit),
            doc: text(&field.doc),
            source: text(&field.source),
        }
    }

    fn ty(&mut self, ty: &model::Type) -> Type {
        match ty {
            model::Type::Uint => Type::Uint,
            model::Type::Int => Type::Int,
            model::Type::Bool => Type::Bool,
            model::Type::Float => Type::Float,
            model::Type::UFixed { frac, .. } => Type::UFixed(*frac),
            model::Type::SFixed { frac, .. } => Type::SFixed(*frac),
            model::Type::Address { space, align, target } => Type::Address {
                space: SpaceKind::ALL
                    .iter()
                    .copied()
                    .find(|kind| kind.name() == space)
                    .unwrap_or(SpaceKind::Unknown),
                align: *align,
                target: text(target),
            },
            model::Type::Enum(EnumId(id)) => {
                self.enums.get(*id).map_or(Type::Uint, |list| Type::Enum(list))
            }
            model::Type::Struct(id) => self.container(*id).map_or(Type::Reserved, Type::Struct),
            model::Type::MustBeZero => Type::MustBeZero,
            model::Type::MustBeOne => Type::MustBeOne,
            model::Type::Reserved => Type::Reserved,
        }
    }
}

fn enumeration(e: &model::Enum) -> &'static Enumeration {
    let mut values: Vec<(u64, &'static str)> =
        e.values.iter().map(|value| (value.value, text(&value.name))).collect();
    values.sort_by_key(|(value, _)| *value);
    values.dedup_by_key(|(value, _)| *value);
    let mut bits: Vec<(u64, u16)> =
        e.values.iter().filter_map(|v| Some((v.value, u16::try_from(v.bits?).ok()?))).collect();
    bits.sort_unstable();
    bits.dedup_by_key(|(value, _)| *value);
    leak(Enumeration {
        name: text(&e.name),
        values: list(values),
        bits: list(bits),
        // The decoder does not use the other members.
        ..Enumeration::EMPTY
    })
}

fn kind(container: &model::Container) -> Kind {
    match container.kind {
        model::Kind::Struct { align } => Kind::Struct { align: align.max(1) },
        model::Kind::Instruction { engines, pipelines, bias } => {
            let (opcode_mask, opcode) = opcode(container);
            Kind::Instruction {
                engines: Engines(engines),
                pipelines: Pipelines(pipelines),
                bias,
                opcode_mask,
                opcode,
                length_field: length_field(container)
                    .filter(|field| field.end < 32)
                    .map(|field| (field.start, field.end)),
                variable: container.is_variable(),
            }
        }
        model::Kind::Register { offset, per_engine, count, stride, masked, access, .. } => {
            Kind::Register {
                offset,
                per_engine,
                count,
                stride,
                masked,
                access: match access {
                    model::Access::ReadWrite => Access::ReadWrite,
                    model::Access::ReadOnly => Access::ReadOnly,
                    model::Access::WriteOnly => Access::WriteOnly,
                },
            }
        }
    }
}

fn expr(e: &model::Expr) -> &'static Expr {
    leak(match e {
        model::Expr::Number(value) => Expr::Number(*value),
        model::Expr::Field { name, start, end } => {
            Expr::Field { name: text(name), start: *start, end: *end }
        }
        model::Expr::Not(inner) => Expr::Not(expr(inner)),
        model::Expr::Binary(op, left, right) => Expr::Binary(*op, expr(left), expr(right)),
    })
}
