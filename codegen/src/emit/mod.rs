//! Generates Rust text from the checked model.
//!
//! [`rust`] returns the files of one module tree: `mod.rs`, the types and tables of each unit (file
//! of the specification), the packet enums, and a table for the rules. The text uses `genxml_core`
//! and two modules that the including crate provides:
//!
//! * `engine`: the marker traits `RenderCommand`, `BlitterCommand`, `VideoCommand` and
//!   `VideoEnhanceCommand`;
//! * `pipeline`: the trait `InPipeline` and the types `ThreeD`, `Media` and `Gpgpu`.
//!
//! The modules of the generator:
//!
//! * [`names`]: the mapping from the manual's names
//! * `plan`: the types and members
//! * `field`: one field's type, default, reading and writing; `flags`: packing of many flags
//! * `container`, `enumeration`, `packets`, `latch`, `tables`, `rules`, `checks`: the items
//! * `docs`: doc comments; `text`: formatting

mod checks;
mod common;
mod condition;
mod container;
mod docs;
mod emitter;
mod enumeration;
mod field;
mod fixed;
mod flags;
mod latch;
mod members;
pub mod names;
mod packets;
mod plan;
mod rules;
mod slots;
mod tables;
mod text;
mod types;
mod variable;

use crate::model::{ContainerId, EngineBase, Field, Kind, Spec, Stored, Type};
use field::ident;
use plan::Plan;
pub use plan::{length_field, opcode};
use proc_macro2::TokenStream;
use quote::quote;
pub use text::home;

/// Returns the files of the module tree as pairs of name and formatted text. `mod.rs` declares the
/// others. `enabled` returns true for features that are on. A unit whose feature is off has only
/// tables, unless a unit with types uses one of its types.
pub fn rust(spec: &Spec, enabled: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
    let spec = prepare(spec);
    let plan = Plan::new(&spec, enabled);
    let lasts = rules::Lasts::new(&spec);
    let mut files = Vec::new();
    let mut modules = Vec::new();
    for (file, unit) in plan.units.iter().enumerate() {
        let containers: Vec<ContainerId> = (0..spec.containers.len())
            .filter(|index| spec.containers[*index].file == file)
            .map(ContainerId)
            .collect();
        let enums: Vec<usize> =
            (0..spec.enums.len()).filter(|index| spec.enums[*index].file == file).collect();
        if containers.is_empty() && enums.is_empty() {
            continue;
        }
        let tables = format!("{unit}_tables");
        let typed = plan.has_types(file);
        let types = enums.iter().map(|index| {
            enumeration::enumeration(&spec.enums[*index], &plan.enums[*index], &tables)
        });
        if typed {
            let serial = serial(&plan, &containers);
            let types: Vec<_> = containers
                .iter()
                .map(|id| container::container(&plan, *id))
                .chain(types)
                .chain([serial])
                .collect();
            let doc =
                format!("Unit `{}`, {} {}.", spec.files[file].unit, spec.name, spec.generation);
            files.push((format!("{unit}.rs"), text::file(&spec, Some(&doc), quote!(#(#types)*))));
        }
        let statics = containers.iter().map(|id| {
            tables::container(&plan, &lasts, &spec.containers[id.0], &plan.containers[id.0])
        });
        let statics: Vec<_> = statics
            .chain(
                enums
                    .iter()
                    .map(|index| tables::enumeration(&spec.enums[*index], &plan.enums[*index])),
            )
            .collect();
        let doc = format!("Tables of unit `{}`.", spec.files[file].unit);
        files.push((format!("{tables}.rs"), text::file(&spec, Some(&doc), quote!(#(#statics)*))));
        let (unit, tables) = (ident(unit), ident(&tables));
        let types = typed.then(|| quote!(pub mod #unit;));
        modules.push(quote!(#types #[doc(hidden)] pub mod #tables;));
    }
    let (packets, names) = packets::packets(&plan);
    let engines = (!names.is_empty()).then(|| {
        files.push((
            "packets.rs".into(),
            text::file(&spec, Some("The instructions of each engine."), packets),
        ));
        quote!(pub mod packets; pub use packets::{#(#names),*};)
    });
    // No file has the index `usize::MAX`, so every name is generated with its path.
    let last = rules::Rules { plan: &plan, lasts: &lasts, file: usize::MAX }.lasts();
    files.push((
        "rule_tables.rs".into(),
        text::file(&spec, Some("Earlier packets that rules refer to with `last`."), last),
    ));
    let table = |name: &String, file: usize| {
        let (module, name) = (ident(&format!("{}_tables", plan.units[file])), ident(name));
        quote!(&#module::#name)
    };
    let containers =
        plan.containers.iter().zip(&spec.containers).map(|(name, c)| table(name, c.file));
    let enums = plan.enums.iter().zip(&spec.enums).map(|(name, e)| table(name, e.file));
    let registers = registers(&spec);
    let latches = latch::size(&plan);
    let root = quote! {
        #(#modules)*
        #[doc(hidden)]
        pub mod rule_tables;
        pub use rule_tables::LASTS;
        #engines
        #registers
        #latches
        /// Every structure, instruction and register.
        pub static CONTAINERS: &[&genxml_core::reflect::Container] = &[#(#containers),*];
        /// Every enumeration.
        pub static ENUMS: &[&genxml_core::reflect::Enumeration] = &[#(#enums),*];
    };
    files.push(("mod.rs".into(), text::file(&spec, None, root)));
    files
}

/// The code of one container, for `#[derive(Packet)]`.
pub struct One {
    /// Names of the types of the other containers and enumerations, in the order of
    /// [`Spec::containers`] and [`Spec::enums`].
    pub others: (Vec<String>, Vec<String>),
    /// The type with its implementations. Names that [`home`] resolves have no path. All other
    /// names have the paths that they have in [`rust`]'s modules: `super::unit_tables::Name`,
    /// `super::unit::Name`, `super::engine::RenderCommand`, `super::pipeline::InPipeline`.
    pub types: TokenStream,
    /// The static that describes the container.
    pub table: TokenStream,
}

/// Generates one container of a checked specification. Its type and its static are called `name`.
pub fn one(spec: &Spec, id: ContainerId, name: &str) -> One {
    let spec = prepare(spec);
    let mut plan = Plan::new(&spec, &|_| true);
    plan.containers[id.0] = name.to_owned();
    plan.bodies[id.0].block.name = name.to_owned();
    let lasts = rules::Lasts::new(&spec);
    let types = container::container(&plan, id);
    let table = tables::container(&plan, &lasts, &spec.containers[id.0], name);
    One { others: (plan.containers.clone(), plan.enums.clone()), types, table }
}

/// The macro call that implements the traits of `serde` for the containers, if that feature is on.
fn serial(plan: &Plan, containers: &[ContainerId]) -> TokenStream {
    let types = containers.iter().filter(|id| plan.is_typed(plan.bodies[id.0].container));
    let (variable, fixed): (Vec<_>, Vec<_>) =
        types.partition(|id| plan.bodies[id.0].tail.is_some());
    let name = |id: &ContainerId| ident(&plan.containers[id.0]);
    let (variable, fixed) = (variable.into_iter().map(name), fixed.into_iter().map(name));
    quote!(genxml_core::serial! { #(#fixed)*; #(#variable)* })
}

/// The engines that have registers of their own, as a table and as constants; `None` if there is
/// no such engine.
fn registers(spec: &Spec) -> Option<TokenStream> {
    let engine = |engine: &EngineBase| {
        let (name, base) = (&engine.name, field::pattern(u64::from(engine.base)));
        quote!(genxml_core::reflect::EngineBase { name: #name, base: #base })
    };
    let table = spec.engines.iter().map(engine);
    let constants = spec.engines.iter().map(|e| {
        let (name, value, doc) =
            (ident(&names::value_name(&e.name)), engine(e), docs::doc(&docs::engine(e)));
        quote!(#doc pub const #name: genxml_core::reflect::EngineBase = #value;)
    });
    (!spec.engines.is_empty()).then(|| {
        quote! {
            /// The base of each engine's registers, for the `offset` functions of registers.
            pub mod engines { #(#constants)* }
            /// The engines that have registers of their own.
            pub static ENGINES: &[genxml_core::reflect::EngineBase] = &[#(#table),*];
        }
    })
}

/// Returns the text of an array with a call of `genxml_core::round_trip!` for every generated
/// container, for a property test. `module` is the path of the generated modules. The elements are
/// of type `genxml_core::round_trip::RoundTrip`.
pub fn round_trips(spec: &Spec, module: &str) -> String {
    let spec = prepare(spec);
    let plan = Plan::new(&spec, &|_| true);
    let mut text = String::from("&[\n");
    for (index, body) in plan.bodies.iter().enumerate() {
        if !plan.is_typed(body.container) {
            continue;
        }
        let path =
            format!("{module}::{}::{}", plan.units[body.container.file], plan.containers[index]);
        let kind = if body.tail.is_some() { "variable" } else { "fixed" };
        let default = if plan.needs_arguments(ContainerId(index)) { "" } else { " default" };
        text.push_str(&format!("    ::genxml_core::round_trip!({kind}{default} {path}),\n"));
    }
    text.push(']');
    text
}

/// Returns the text of `one_of_each! { path, ... }` with every container of fixed size, for a
/// benchmark that packs one of each. `module` is the path of the generated modules.
pub fn one_of_each(spec: &Spec, module: &str) -> String {
    let spec = prepare(spec);
    let plan = Plan::new(&spec, &|_| true);
    let mut text = String::from("one_of_each! {\n");
    for (index, body) in plan.bodies.iter().enumerate() {
        if plan.is_typed(body.container) && body.tail.is_none() {
            let (unit, name) = (&plan.units[body.container.file], &plan.containers[index]);
            text.push_str(&format!("    c{index} {module}::{unit}::{name},\n"));
        }
    }
    text.push('}');
    text
}

/// Sets the default of the write enables of masked registers (bits 31:16) to the enables of all
/// fields, so that packing writes every field. A default in the XML stays. Adds a field for the
/// enables if the XML describes none of these bits.
fn prepare(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    for container in &mut spec.containers {
        let Kind::Register { masked: true, .. } = container.kind else { continue };
        let used = container.fields.iter().filter(|field| field.end < 16 && plan::is_member(field));
        let used = used.fold(0, |mask, field| {
            mask | (u64::MAX >> (63 - (field.end - field.start))) << field.start
        });
        if let Some(enables) =
            container.fields.iter_mut().find(|field| field.start == 16 && field.end == 31)
        {
            enables.default = enables.default.or(Some(used));
            continue;
        }
        if container.fields.iter().any(|field| field.end > 15 && field.start < 32) {
            continue;
        }
        container.fields.push(Field {
            name: "Mask".into(),
            start: 16,
            end: 31,
            ty: Type::Uint,
            stored: Stored::Plain,
            default: Some(used),
            range: None,
            opcode: false,
            length: false,
            required: false,
            nonzero: false,
            exists_if: None,
            variant: None,
            unit: String::new(),
            doc: "Which of bits 15:0 a write changes".into(),
            source: String::new(),
            doubt: String::new(),
            span: container.span.clone(),
        });
        container.fields.sort_by_key(|field| field.start);
    }
    spec
}
