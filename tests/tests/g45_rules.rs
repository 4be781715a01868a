//! Rules of G45: each has state that keeps it and state that breaks it, and the batches of crocus
//! break none. Oracle: the manual and the drivers, as the sources of the rules say.

use genxml::capture::Capture;
use genxml::check::{self, Rules};
use genxml::core::bits;
use genxml::core::reflect::{Field, Group, Kind, Type};
use genxml::core::rule::Frame;
use genxml::decode::Tables;
use genxml::engine::EngineId;
use genxml_testkit::corpus;
use std::collections::{BTreeMap, BTreeSet};

type Fields = &'static [(&'static str, u64)];

/// A rule about one packet or structure: its name, fields that keep it, fields that break it.
const OWN: &[(&str, &str, Fields, Fields)] = &[
    (
        "G45-DEPTH-TILED",
        "3DSTATE_DEPTH_BUFFER",
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Tile Walk", 1)],
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Tile Walk", 0)],
    ),
    (
        "G45-DEPTH-ALIGN",
        "3DSTATE_DEPTH_BUFFER",
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Surface Base Address", 0x3000)],
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Surface Base Address", 0x3800)],
    ),
    (
        "G45-DEPTH-PITCH",
        "3DSTATE_DEPTH_BUFFER",
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Tile Walk", 1), ("Surface Pitch", 255)],
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Tile Walk", 0), ("Surface Pitch", 255)],
    ),
    (
        "G45-DEPTH-LINEAR-OFFSET",
        "3DSTATE_DEPTH_BUFFER",
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Depth Coordinate Offset Y", 2)],
        &[("Surface Type", 1), ("Tiled Surface", 0), ("Depth Coordinate Offset Y", 2)],
    ),
    (
        "G45-IB-ALIGN",
        "3DSTATE_INDEX_BUFFER",
        &[("Index Format", 1), ("Buffer Starting Address", 0x1002)],
        &[("Index Format", 2), ("Buffer Starting Address", 0x1002)],
    ),
    (
        "G45-IB-END",
        "3DSTATE_INDEX_BUFFER",
        &[("Buffer Starting Address", 0x1000), ("Buffer Ending Address", 0x1000)],
        &[("Buffer Starting Address", 0x1000), ("Buffer Ending Address", 0xfff)],
    ),
    (
        "G45-RECTANGLE-ORDER",
        "3DSTATE_DRAWING_RECTANGLE",
        &[("Clipped Drawing Rectangle X Min", 5), ("Clipped Drawing Rectangle X Max", 5)],
        &[("Clipped Drawing Rectangle Y Min", 6), ("Clipped Drawing Rectangle Y Max", 5)],
    ),
    (
        "G45-STIPPLE-INVERSE",
        "3DSTATE_LINE_STIPPLE",
        &[("Line Stipple Repeat Count", 3), ("Line Stipple Inverse Repeat Count", 8192 / 3)],
        &[("Line Stipple Repeat Count", 3), ("Line Stipple Inverse Repeat Count", 8192 / 2)],
    ),
    ("G45-VB-LENGTH", "3DSTATE_VERTEX_BUFFERS", &[("DWord Length", 7)], &[("DWord Length", 6)]),
    ("G45-VE-LENGTH", "3DSTATE_VERTEX_ELEMENTS", &[("DWord Length", 3)], &[("DWord Length", 4)]),
    (
        "G45-XY-SETUP-ALIGN",
        "XY_SETUP_BLT",
        &[("Tiling Enable", 1), ("Destination Base Address", 0x2000)],
        &[("Tiling Enable", 1), ("Destination Base Address", 0x2040)],
    ),
    (
        "G45-XY-SETUP-PITCH",
        "XY_SETUP_BLT",
        &[("Tiling Enable", 1), ("Destination Pitch", 256)],
        &[("Tiling Enable", 1), ("Destination Pitch", 64)],
    ),
    (
        "G45-XY-COLOR-ALIGN",
        "XY_COLOR_BLT",
        &[("Tiling Enable", 0), ("Destination Base Address", 0x2040)],
        &[("Tiling Enable", 1), ("Destination Base Address", 0x2040)],
    ),
    (
        "G45-XY-COLOR-PITCH",
        "XY_COLOR_BLT",
        &[("Tiling Enable", 0), ("Destination Pitch", 64)],
        &[("Tiling Enable", 1), ("Destination Pitch", 64)],
    ),
    (
        "G45-XY-COPY-DST-ALIGN",
        "XY_SRC_COPY_BLT",
        &[("Destination Tiling Enable", 1), ("Destination Base Address", 0x2000)],
        &[("Destination Tiling Enable", 1), ("Destination Base Address", 0x2040)],
    ),
    (
        "G45-XY-COPY-SRC-ALIGN",
        "XY_SRC_COPY_BLT",
        &[("Source Tiling Enable", 1), ("Source Base Address", 0x2000)],
        &[("Source Tiling Enable", 1), ("Source Base Address", 0x2040)],
    ),
    (
        "G45-XY-COPY-DST-PITCH",
        "XY_SRC_COPY_BLT",
        &[("Destination Tiling Enable", 1), ("Destination Pitch", 128)],
        &[("Destination Tiling Enable", 1), ("Destination Pitch", 100)],
    ),
    (
        "G45-XY-COPY-SRC-PITCH",
        "XY_SRC_COPY_BLT",
        &[("Source Tiling Enable", 1), ("Source Pitch", 128)],
        &[("Source Tiling Enable", 1), ("Source Pitch", 100)],
    ),
    (
        "G45-URB-ORDER",
        "URB_FENCE",
        &[("VS Fence", 1), ("GS Fence", 2), ("CLIP Fence", 3), ("SF Fence", 4), ("CS Fence", 5)],
        &[("VS Fence", 2), ("GS Fence", 1), ("CLIP Fence", 3), ("SF Fence", 4), ("CS Fence", 5)],
    ),
    ("G45-URB-SIZE", "URB_FENCE", &[("CS Fence", 384)], &[("CS Fence", 385)]),
    (
        "G45-PC-ADDRESS",
        "PIPE_CONTROL",
        &[("Post Sync Operation", 1), ("Destination Address Type", 1)],
        &[("Post Sync Operation", 1), ("Destination Address Type", 0)],
    ),
    (
        "G45-PC-DEPTH-COUNT",
        "PIPE_CONTROL",
        &[("Post Sync Operation", 2), ("Depth Stall Enable", 1)],
        &[("Post Sync Operation", 2), ("Depth Stall Enable", 0)],
    ),
    ("G45-SDI-LENGTH", "MI_STORE_DATA_IMM", &[("DWord Length", 3)], &[("DWord Length", 4)]),
    (
        "G45-SDI-QWORD",
        "MI_STORE_DATA_IMM",
        &[("DWord Length", 3), ("Address", 2)],
        &[("DWord Length", 3), ("Address", 3)],
    ),
    (
        "G45-VS-THREADS",
        "VS_STATE",
        &[("Maximum Number of Threads", 31)],
        &[("Maximum Number of Threads", 32)],
    ),
    (
        "G45-GS-THREADS",
        "GS_STATE",
        &[("Maximum Number of Threads", 1)],
        &[("Maximum Number of Threads", 2)],
    ),
    (
        "G45-CLIP-THREADS",
        "CLIP_STATE",
        &[("Maximum Number of Threads", 1)],
        &[("Maximum Number of Threads", 2)],
    ),
    (
        "G45-SF-THREADS",
        "SF_STATE",
        &[("Maximum Number of Threads", 23)],
        &[("Maximum Number of Threads", 24)],
    ),
    (
        "G45-WM-THREADS",
        "WM_STATE",
        &[("Maximum Number of Threads", 49)],
        &[("Maximum Number of Threads", 50)],
    ),
    (
        "G45-VS-ENTRY-SIZE",
        "VS_STATE",
        &[("URB Entry Allocation Size", 4)],
        &[("URB Entry Allocation Size", 5)],
    ),
    (
        "G45-SF-ENTRY-SIZE",
        "SF_STATE",
        &[("URB Entry Allocation Size", 11)],
        &[("URB Entry Allocation Size", 12)],
    ),
    (
        "G45-VS-CONSTANTS",
        "VS_STATE",
        &[("Enable", 1), ("Constant URB Entry Read Length", 1)],
        &[("Enable", 1), ("Constant URB Entry Read Length", 0)],
    ),
    (
        "G45-WM-DISPATCH",
        "WM_STATE",
        &[("Thread Dispatch Enable", 1), ("8 Pixel Dispatch Enable", 1)],
        &[("Thread Dispatch Enable", 1)],
    ),
    (
        "G45-WM-ONE-KERNEL",
        "WM_STATE",
        &[("16 Pixel Dispatch Enable", 1)],
        &[("16 Pixel Dispatch Enable", 1), ("8 Pixel Dispatch Enable", 1)],
    ),
    (
        "G45-CC-LOGIC-BLEND",
        "COLOR_CALC_STATE",
        &[("Logic Op Enable", 1)],
        &[("Logic Op Enable", 1), ("Color Buffer Blend Enable", 1)],
    ),
    (
        "G45-SS-NULL-TILED",
        "SURFACE_STATE",
        &[("Surface Type", 7), ("Tiled Surface", 1)],
        &[("Surface Type", 7), ("Tiled Surface", 0)],
    ),
    (
        "G45-SS-BUFFER-LINEAR",
        "SURFACE_STATE",
        &[("Surface Type", 4), ("Tiled Surface", 0)],
        &[("Surface Type", 4), ("Tiled Surface", 1)],
    ),
    (
        "G45-SS-TILED-ALIGN",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Surface Base Address", 0x3000)],
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Surface Base Address", 0x3200)],
    ),
    (
        "G45-SS-TILED-PITCH",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Tile Walk", 1), ("Surface Pitch", 127)],
        &[("Surface Type", 1), ("Tiled Surface", 1), ("Tile Walk", 0), ("Surface Pitch", 127)],
    ),
    (
        "G45-SS-LINEAR-OFFSET",
        "SURFACE_STATE",
        &[("Tiled Surface", 1), ("X Offset", 1)],
        &[("Tiled Surface", 0), ("X Offset", 1)],
    ),
    (
        "G45-SS-CUBE-ARRAY",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("Depth", 5)],
        &[("Surface Type", 3), ("Depth", 5)],
    ),
    (
        "G45-SS-RIGHT-2D",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("MIP Map Layout Mode", 1)],
        &[("Surface Type", 2), ("MIP Map Layout Mode", 1)],
    ),
    (
        "G45-SS-STRIDE-COMPRESSED",
        "SURFACE_STATE",
        &[("Surface Format", 0xc0), ("Vertical Line Stride", 1)],
        &[("Surface Format", 0x186), ("Vertical Line Stride", 1)],
    ),
    (
        "G45-SS-STRIDE-2D",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("Vertical Line Stride", 1)],
        &[("Surface Type", 1), ("Vertical Line Stride", 1), ("Depth", 1)],
    ),
    (
        "G45-SS-1D-HEIGHT",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("Height", 1)],
        &[("Surface Type", 0), ("Height", 1)],
    ),
    (
        "G45-SS-3D-SIZE",
        "SURFACE_STATE",
        &[("Surface Type", 2), ("Width", 2047), ("Height", 2047)],
        &[("Surface Type", 2), ("Width", 2047), ("Height", 2048)],
    ),
    (
        "G45-SS-CUBE-SQUARE",
        "SURFACE_STATE",
        &[("Surface Type", 3), ("Width", 31), ("Height", 31)],
        &[("Surface Type", 3), ("Width", 31), ("Height", 30)],
    ),
    (
        "G45-SS-ARRAY-SIZE",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("Depth", 511)],
        &[("Surface Type", 1), ("Depth", 512)],
    ),
    (
        "G45-SS-BUFFER-PITCH",
        "SURFACE_STATE",
        &[("Surface Type", 4), ("Surface Pitch", 2047)],
        &[("Surface Type", 4), ("Surface Pitch", 2048)],
    ),
    (
        "G45-SS-BUFFER-ZERO",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("MIP Count / LOD", 1)],
        &[("Surface Type", 4), ("MIP Count / LOD", 1)],
    ),
    (
        "G45-SS-OFFSET-FORMAT",
        "SURFACE_STATE",
        // B8G8R8A8_UNORM, R32G32B32_FLOAT
        &[("Surface Format", 0xc0), ("X Offset", 1)],
        &[("Surface Format", 0x40), ("X Offset", 1)],
    ),
    (
        "G45-SS-X-OFFSET",
        "SURFACE_STATE",
        &[("Tiled Surface", 1), ("Surface Format", 0xc0), ("X Offset", 31)],
        &[("Tiled Surface", 1), ("Surface Format", 0xc0), ("X Offset", 32)],
    ),
    (
        "G45-SS-Y-OFFSET",
        "SURFACE_STATE",
        &[("Tiled Surface", 1), ("Tile Walk", 1), ("Y Offset", 4)],
        &[("Tiled Surface", 1), ("Tile Walk", 0), ("Y Offset", 4)],
    ),
    (
        "G45-SS-MONO8",
        "SURFACE_STATE",
        &[("Surface Type", 1), ("Surface Format", 0x18e), ("Width", 63)],
        &[("Surface Type", 1), ("Surface Format", 0x18e), ("Width", 47)],
    ),
    (
        "G45-SAMP-MONO-BOTH",
        "SAMPLER_STATE",
        &[("Mag Mode Filter", 6), ("Min Mode Filter", 6)],
        &[("Mag Mode Filter", 6), ("Min Mode Filter", 0)],
    ),
    (
        "G45-SAMP-MONO-MODES",
        "SAMPLER_STATE",
        &[
            ("Mag Mode Filter", 6),
            ("TCX Address Control Mode", 4),
            ("TCY Address Control Mode", 4),
            ("TCZ Address Control Mode", 4),
        ],
        &[("Mag Mode Filter", 6)],
    ),
    (
        "G45-SAMP-MONO-SIZE",
        "SAMPLER_STATE",
        &[("Mag Mode Filter", 6), ("Monochrome Filter Height", 1), ("Monochrome Filter Width", 7)],
        &[("Mag Mode Filter", 6), ("Monochrome Filter Height", 1)],
    ),
    (
        "G45-SAMP-LOD-ORDER",
        "SAMPLER_STATE",
        &[("Min LOD", 64), ("Max LOD", 64)],
        &[("Min LOD", 65), ("Max LOD", 64)],
    ),
    (
        "G45-SAMP-CHROMA-KEY",
        "SAMPLER_STATE",
        &[("ChromaKey Enable", 1), ("Mag Mode Filter", 1)],
        &[("ChromaKey Enable", 1), ("Mag Mode Filter", 2)],
    ),
    (
        "G45-SAMP-CUBE-MODES",
        "SAMPLER_STATE",
        &[
            ("TCX Address Control Mode", 3),
            ("TCY Address Control Mode", 3),
            ("TCZ Address Control Mode", 3),
        ],
        &[("TCX Address Control Mode", 3), ("TCY Address Control Mode", 3)],
    ),
];

/// A packet or structure with these stored values. Opcode and length are set.
fn make(name: &str, dwords: usize, fields: &[(&str, u64)]) -> Vec<u32> {
    let container = Tables::gen45().container(name).unwrap_or_else(|| panic!("no {name}"));
    let mut out = vec![0; dwords.max(container.dwords())];
    if let Kind::Instruction { opcode, length_field, bias, .. } = container.kind {
        out[0] = opcode;
        if let Some((start, end)) = length_field {
            let length = (out.len() as u64).saturating_sub(bias.into());
            bits::put(&mut out, start, end, length);
        }
    }
    for (path, value) in fields {
        let (start, end) = find(container.fields, container.groups, path)
            .unwrap_or_else(|| panic!("{name} has no {path}"));
        bits::put(&mut out, start, end, *value);
    }
    out
}

/// First and last bit of the field with a path: `Field`, `Struct/Field` or `Group/2/Field`.
fn find(fields: &[Field], groups: &[Group], path: &str) -> Option<(u32, u32)> {
    if let Some(field) = fields.iter().find(|field| field.name == path) {
        return Some((field.start, field.end));
    }
    let (head, rest) = path.split_once('/')?;
    if let Some(field) = fields.iter().find(|field| field.name == head)
        && let Type::Struct(inner) = field.ty
    {
        return find(inner.fields, inner.groups, rest)
            .map(|(start, end)| (field.start + start, field.start + end));
    }
    let group = groups.iter().find(|group| group.name == head)?;
    let (index, rest) = rest.split_once('/')?;
    let at = group.start + group.bits * index.parse::<u32>().ok()?;
    find(group.fields, group.groups, rest).map(|(start, end)| (at + start, at + end))
}

#[test]
fn each_rule_is_kept_and_broken() {
    let rules = Rules::gen45();
    for (id, name, good, bad) in OWN {
        let (_, rule) = rules.find(id).unwrap_or_else(|| panic!("no rule {id}"));
        let eval = |fields| rule.require.eval(&Frame::new(&make(name, 0, fields)), &());
        assert_eq!(eval(good), Some(1), "{id}: {good:?}");
        assert_eq!(eval(bad), Some(0), "{id}: {bad:?}");
    }
}

/// Address of the batches, and value of the bases.
const BASE: u64 = 0x10000;

/// Offsets of unit states from [`BASE`].
const VS: u64 = 0x400;
const GS: u64 = 0x440;
const CLIP: u64 = 0x480;
const SF: u64 = 0x4c0;

/// A batch of packets, and unit states.
#[derive(Clone, Default)]
struct Scene {
    packets: Vec<Vec<u32>>,
    states: Vec<(u64, Vec<u32>)>,
}

impl Scene {
    fn new() -> Scene {
        Scene::default()
    }

    fn packet(mut self, name: &str, fields: &[(&str, u64)]) -> Scene {
        self.packets.push(make(name, 0, fields));
        self
    }

    /// STATE_BASE_ADDRESS.
    fn bases(self) -> Scene {
        let base = BASE >> 12;
        self.packet(
            "STATE_BASE_ADDRESS",
            &[
                ("General State Base Address", base),
                ("General State Base Address Modify Enable", 1),
                ("Surface State Base Address", base),
                ("Surface State Base Address Modify Enable", 1),
            ],
        )
    }

    /// 3DSTATE_PIPELINED_POINTERS with GS and CLIP.
    fn pointers(self) -> Scene {
        self.packet(
            "3DSTATE_PIPELINED_POINTERS",
            &[
                ("Pointer to VS State", VS >> 5),
                ("Pointer to GS State", GS >> 5),
                ("GS Enable", 1),
                ("Pointer to CLIP State", CLIP >> 5),
                ("Clip Enable", 1),
                ("Pointer to SF State", SF >> 5),
            ],
        )
    }

    fn state(mut self, offset: u64, name: &str, fields: &[(&str, u64)]) -> Scene {
        self.states.push((offset, make(name, 0, fields)));
        self
    }

    /// Number of findings of the rule.
    fn fires(&self, id: &str) -> usize {
        let rules = Rules::gen45();
        assert!(rules.find(id).is_some(), "no rule {id}");
        let mut dwords = self.packets.concat();
        dwords.extend(make("MI_BATCH_BUFFER_END", 0, &[]));
        for (offset, state) in &self.states {
            let at = *offset as usize / 4;
            dwords.resize(dwords.len().max(at + state.len()), 0);
            dwords[at..at + state.len()].copy_from_slice(state);
        }
        let mut count = 0;
        check::raw(EngineId::Render, BASE, &dwords, &rules, &mut |finding| {
            count += usize::from(finding.rule.id == id);
        });
        count
    }
}

#[test]
fn order_of_packets() {
    let draw = |scene: Scene| scene.packet("3DPRIMITIVE", &[]);
    let tables = |scene: Scene| scene.packet("3DSTATE_BINDING_TABLE_POINTERS", &[]);

    let id = "G45-3DPRIM-POINTERS";
    assert_eq!(draw(Scene::new().bases().pointers()).fires(id), 0);
    assert_eq!(draw(Scene::new().pointers().bases()).fires(id), 1);
    assert_eq!(draw(Scene::new()).fires(id), 0, "state of an earlier batch");

    let id = "G45-3DPRIM-TABLES";
    assert_eq!(draw(tables(Scene::new().bases())).fires(id), 0);
    assert_eq!(draw(tables(Scene::new()).bases()).fires(id), 1);

    let id = "G45-3DPRIM-CS-URB";
    let fence = |scene: Scene, cs| {
        scene.packet("URB_FENCE", &[("CS Unit URB Reallocation Request", cs), ("CS Fence", 384)])
    };
    let cs = |scene: Scene| scene.packet("CS_URB_STATE", &[]);
    assert_eq!(draw(cs(fence(Scene::new(), 1))).fires(id), 0);
    assert_eq!(draw(fence(cs(Scene::new()), 1)).fires(id), 1);
    assert_eq!(draw(fence(cs(Scene::new()), 0)).fires(id), 0);

    let id = "G45-3DPRIM-PIPELINE";
    let select =
        |pipeline| Scene::new().packet("PIPELINE_SELECT", &[("Pipeline Selection", pipeline)]);
    assert_eq!(draw(select(0)).fires(id), 0);
    assert_eq!(draw(select(1)).fires(id), 1);

    let id = "G45-3DPRIM-QUADS";
    let quads = |gs| {
        let scene = Scene::new().packet("3DSTATE_PIPELINED_POINTERS", &[("GS Enable", gs)]);
        scene.packet("3DPRIMITIVE", &[("Primitive Topology Type", 7)])
    };
    assert_eq!(quads(1).fires(id), 0);
    assert_eq!(quads(0).fires(id), 1);

    let id = "G45-3DPRIM-INDEX-BUFFER";
    let indexed = |scene: Scene| scene.packet("3DPRIMITIVE", &[("Vertex Access Type", 1)]);
    assert_eq!(indexed(Scene::new().packet("3DSTATE_INDEX_BUFFER", &[])).fires(id), 0);
    assert_eq!(indexed(Scene::new()).fires(id), 1);
}

#[test]
fn constants_fit_their_entry() {
    let load = |entries, size, length| {
        let fields = [("Number of URB Entries", entries), ("URB Entry Allocation Size", size)];
        let scene = Scene::new().packet("CS_URB_STATE", &fields);
        scene.packet("CONSTANT_BUFFER", &[("Valid", 1), ("Buffer Length", length)])
    };
    assert_eq!(load(1, 3, 3).fires("G45-CB-SIZE"), 0);
    assert_eq!(load(1, 3, 4).fires("G45-CB-SIZE"), 1);
    assert_eq!(load(1, 3, 3).fires("G45-CB-ENTRIES"), 0);
    assert_eq!(load(0, 3, 3).fires("G45-CB-ENTRIES"), 1);
}

/// Sections of the URB hold the entries of their units.
#[test]
fn entries_fit_their_sections() {
    // Each unit has four entries of two rows.
    let draw = |fences: [u64; 5]| {
        let unit = |scene: Scene, offset, name| {
            let fields = [("Number of URB Entries", 4), ("URB Entry Allocation Size", 1)];
            scene.state(offset, name, &fields)
        };
        let mut scene = Scene::new().bases();
        for (offset, name) in
            [(VS, "VS_STATE"), (GS, "GS_STATE"), (CLIP, "CLIP_STATE"), (SF, "SF_STATE")]
        {
            scene = unit(scene, offset, name);
        }
        let [vs, gs, clip, sf, cs] = fences;
        scene
            .pointers()
            .packet(
                "URB_FENCE",
                &[
                    ("VS Unit URB Reallocation Request", 1),
                    ("GS Unit URB Reallocation Request", 1),
                    ("CLIP Unit URB Reallocation Request", 1),
                    ("SF Unit URB Reallocation Request", 1),
                    ("CS Unit URB Reallocation Request", 1),
                    ("VS Fence", vs),
                    ("GS Fence", gs),
                    ("CLIP Fence", clip),
                    ("SF Fence", sf),
                    ("CS Fence", cs),
                ],
            )
            .packet(
                "CS_URB_STATE",
                &[("Number of URB Entries", 4), ("URB Entry Allocation Size", 1)],
            )
            .packet("3DPRIMITIVE", &[])
    };
    let ids = [
        "G45-3DPRIM-VS-URB",
        "G45-3DPRIM-GS-URB",
        "G45-3DPRIM-CLIP-URB",
        "G45-3DPRIM-SF-URB",
        "G45-3DPRIM-CURBE",
    ];
    for (number, id) in ids.into_iter().enumerate() {
        assert_eq!(draw([8, 16, 24, 32, 40]).fires(id), 0, "{id}");
        // One row less for this unit.
        let fences = [8, 16, 24, 32, 40];
        let fences = std::array::from_fn(|n| fences[n] - u64::from(n >= number));
        assert_eq!(draw(fences).fires(id), 1, "{id}");
    }
    for (id, offset, name) in
        [("G45-GS-ENTRY-SIZE", GS, "GS_STATE"), ("G45-CLIP-ENTRY-SIZE", CLIP, "CLIP_STATE")]
    {
        let size = |size| {
            let scene = Scene::new().bases().pointers();
            let scene = scene.state(VS, "VS_STATE", &[("URB Entry Allocation Size", 2)]);
            scene.state(offset, name, &[("URB Entry Allocation Size", size)])
        };
        assert_eq!(size(2).fires(id), 0, "{id}");
        assert_eq!(size(1).fires(id), 1, "{id}");
    }
}

/// Every rule of packets and states of G45 has a case here.
#[test]
fn every_rule_has_a_case() {
    let text = include_str!("g45_rules.rs");
    let named: BTreeSet<&str> = text.split('"').filter(|word| word.starts_with("G45-")).collect();
    let containers = genxml::gen45::CONTAINERS.iter();
    let ids = containers.flat_map(|container| container.rules).map(|rule| rule.id);
    let ids: BTreeSet<&str> = ids.filter(|id| id.starts_with("G45-")).collect();
    println!("{} rules", ids.len());
    let missing: Vec<_> = ids.difference(&named).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Oracle: crocus works on hardware, so its batches break no rule, not even a warning.
#[test]
fn crocus_breaks_no_rule() {
    let Some(corpus) = corpus::folder() else { return };
    let rules = Rules::gen45();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut packets = 0;
    for entry in std::fs::read_dir(corpus.join("gen45/captures")).unwrap() {
        let capture = Capture::open(entry.unwrap().path()).unwrap();
        let summary = check::dump(&mut &capture, &rules, &mut |finding| {
            *found.entry(format!("{finding}")).or_default() += 1;
        });
        packets += summary.packets;
    }
    println!("{packets} packets: {found:#?}");
    assert!(packets > 1000);
    assert!(found.is_empty(), "{found:#?}");
}
