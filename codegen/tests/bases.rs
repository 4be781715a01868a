//! Bases and targets of addresses in files of Mesa's form. Oracle: the base addresses that Intel's
//! manuals name for these fields.

use genxml_codegen::model::{Spec, Type};
use genxml_codegen::{GEN8, bases, load_texts};

const MESA: &str = r#"<?xml version="1.0"?>
<genxml name="SKL" gen="9">
  <struct name="INTERFACE_DESCRIPTOR_DATA" length="8">
    <field name="Kernel Start Pointer" start="6" end="47" type="offset"/>
    <field name="Sampler State Pointer" start="101" end="127" type="offset"/>
    <field name="Binding Table Pointer" start="133" end="143" type="offset"/>
  </struct>
  <struct name="SAMPLER_STATE" length="4">
    <field name="Border Color Pointer" start="70" end="87" type="offset"/>
  </struct>
  <struct name="VERTEX_ELEMENT_STATE" length="2">
    <field name="Source Element Format" start="16" end="24" type="uint"/>
  </struct>
  <struct name="VS_STATE" length="8">
    <field name="Kernel Start Pointer" start="6" end="31" type="offset"/>
    <field name="Secret Offset" start="32" end="63" type="offset"/>
    <field name="Format of Nothing" start="64" end="72" type="uint"/>
  </struct>
  <instruction name="MEDIA_CURBE_LOAD" bias="2" length="4" engine="render">
    <field name="DWord Length" start="0" end="15" type="uint" default="2"/>
    <field name="Command Type" start="29" end="31" type="uint" default="3"/>
    <field name="CURBE Total Data Length" start="64" end="80" type="uint"/>
    <field name="CURBE Data Start Address" start="96" end="127" type="uint"/>
  </instruction>
  <instruction name="3DSTATE_PIPELINED_POINTERS" bias="2" length="7" engine="render">
    <field name="DWord Length" start="0" end="7" type="uint" default="5"/>
    <field name="3D Command Sub Opcode" start="16" end="23" type="uint" default="0"/>
    <field name="Command Type" start="29" end="31" type="uint" default="3"/>
    <field name="Pointer to VS State" start="37" end="63" type="address"/>
  </instruction>
  <register name="SO_WRITE_OFFSET0" length="1" num="0x5280">
    <field name="Write Offset" start="2" end="31" type="offset"/>
  </register>
</genxml>
"#;

/// Base and target of a field, and whether it is an enumeration.
fn meaning(spec: &Spec, container: &str, field: &str) -> (String, String) {
    let found = spec.containers.iter().find(|found| found.name == container).unwrap();
    let field = found.fields.iter().find(|found| found.name == field).unwrap();
    match &field.ty {
        Type::Address { space, target, .. } => (space.clone(), target.clone()),
        Type::Enum(id) => ("enum".to_owned(), spec.enums[id.0].name.clone()),
        other => (format!("{other:?}"), String::new()),
    }
}

#[test]
fn bases_by_name() {
    let known = load_texts(GEN8).unwrap();
    let mut spec = load_texts(&[("gen9.xml", MESA)]).unwrap();
    let plain = |text: &str| text.to_owned();
    assert_eq!(
        meaning(&spec, "INTERFACE_DESCRIPTOR_DATA", "Kernel Start Pointer"),
        (plain("unknown"), plain(""))
    );
    bases::bind(&mut spec, 90, &known);
    for (container, field, base, target) in [
        ("INTERFACE_DESCRIPTOR_DATA", "Kernel Start Pointer", "instruction", ""),
        (
            "INTERFACE_DESCRIPTOR_DATA",
            "Binding Table Pointer",
            "surface-state",
            "BINDING_TABLE_STATE",
        ),
        ("SAMPLER_STATE", "Border Color Pointer", "dynamic-state", "SAMPLER_BORDER_COLOR_STATE"),
        ("VS_STATE", "Kernel Start Pointer", "instruction", ""),
        ("3DSTATE_PIPELINED_POINTERS", "Pointer to VS State", "general-state", "VS_STATE"),
        // Names that say nothing stay without a base.
        ("VS_STATE", "Secret Offset", "unknown", ""),
        ("SO_WRITE_OFFSET0", "Write Offset", "unknown", ""),
        ("VERTEX_ELEMENT_STATE", "Source Element Format", "enum", "SURFACE_FORMAT"),
        ("VS_STATE", "Format of Nothing", "Uint", ""),
        ("MEDIA_CURBE_LOAD", "CURBE Data Start Address", "dynamic-state", ""),
        ("MEDIA_CURBE_LOAD", "CURBE Total Data Length", "Uint", ""),
    ] {
        let found = meaning(&spec, container, field);
        assert_eq!((&*found.0, &*found.1), (base, target), "{container} {field}");
    }
    let (base, _) = meaning(&spec, "INTERFACE_DESCRIPTOR_DATA", "Sampler State Pointer");
    assert_eq!(base, "dynamic-state");
    // From Gen11 on, binding tables may be in a pool.
    let mut spec = load_texts(&[("gen11.xml", MESA)]).unwrap();
    bases::bind(&mut spec, 110, &known);
    let (base, _) = meaning(&spec, "INTERFACE_DESCRIPTOR_DATA", "Binding Table Pointer");
    assert_eq!(base, "unknown");
}

/// The project's own specification does not change.
#[test]
fn own_specification() {
    let known = load_texts(GEN8).unwrap();
    let mut spec = known.clone();
    bases::bind(&mut spec, 80, &known);
    for (before, after) in known.containers.iter().zip(&spec.containers) {
        for (before, after) in before.fields.iter().zip(&after.fields) {
            assert_eq!(before.ty, after.ty, "{}", before.name);
        }
    }
}
