//! State that draws and descriptors use: which kernels, surfaces, samplers and blend states are
//! checked, and when.

use super::{findings, make, packet};
use genxml::check::{self, Rules};
use genxml::core::bits;
use genxml::decode::{Decoder, Kind, Options, Record, State, Tables};
use genxml::engine::EngineId;
use genxml::eu::instruction::SharedFunction;
use genxml::eu::surface;
use std::collections::BTreeSet;

/// Address of the batch, and value of the bases unless a test sets another one.
const BASE: u64 = 0x10000;

/// A batch and its structures, at offsets from [`BASE`].
#[derive(Clone, Default)]
struct Scene {
    packets: Vec<Vec<u32>>,
    structures: Vec<(usize, Vec<u32>)>,
}

impl Scene {
    fn new(packets: Vec<Vec<u32>>) -> Scene {
        Scene { packets: [vec![bases(BASE)], packets].concat(), structures: Vec::new() }
    }

    fn with(mut self, offset: usize, dwords: Vec<u32>) -> Scene {
        self.structures.push((offset, dwords));
        self
    }

    fn dwords(&self) -> Vec<u32> {
        let mut all = self.packets.concat();
        all.extend(packet("MI_BATCH_BUFFER_END", &[]));
        for (offset, dwords) in &self.structures {
            let at = offset / 4;
            all.resize(all.len().max(at + dwords.len()), 0);
            assert!(
                all[at..at + dwords.len()].iter().all(|dword| *dword == 0),
                "structures overlap"
            );
            all[at..at + dwords.len()].copy_from_slice(dwords);
        }
        all
    }

    /// Number of findings of the rule.
    fn fires(&self, rule: &str) -> usize {
        assert!(Rules::gen8().find(rule).is_some(), "no rule {rule}");
        let mut count = 0;
        check::raw(EngineId::Render, BASE, &self.dwords(), &Rules::gen8(), &mut |finding| {
            count += usize::from(finding.rule.id == rule);
        });
        count
    }

    /// Name and address of everything that the decoder shows; notes by their text.
    fn shown(&self) -> Vec<(String, u64)> {
        let bytes: Vec<u8> = self.dwords().iter().flat_map(|dword| dword.to_le_bytes()).collect();
        let mut shown = Vec::new();
        let mut sink = |record: &Record| {
            let name = if record.kind == Kind::Note {
                record.note.clone()
            } else {
                record.name.to_owned()
            };
            shown.push((name, record.address));
            Ok(())
        };
        let decoder = Decoder::new(Tables::gen8(), Options::default());
        let length = bytes.len() as u64;
        decoder
            .batch(
                &mut State::default(),
                EngineId::Render,
                &(BASE, &bytes[..]),
                BASE,
                length,
                &mut sink,
            )
            .unwrap();
        shown
    }

    /// Offsets of the structures or kernels with this name.
    fn places(&self, name: &str) -> Vec<u64> {
        self.shown().iter().filter(|shown| shown.0 == name).map(|shown| shown.1 - BASE).collect()
    }
}

/// STATE_BASE_ADDRESS that sets the bases of surface state, dynamic state and instructions to
/// `base`.
fn bases(base: u64) -> Vec<u32> {
    let names = ["Surface State", "Dynamic State", "Instruction"];
    let fields: Vec<(String, u64)> = names
        .iter()
        .flat_map(|name| {
            [
                (format!("{name} Base Address"), base >> 12),
                (format!("{name} Base Address Modify Enable"), 1),
            ]
        })
        .collect();
    let fields: Vec<(&str, u64)> =
        fields.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    packet("STATE_BASE_ADDRESS", &fields)
}

/// `send` of one register to this function with this descriptor, as the manual lays it out (2a
/// p.620): opcode 0x31 in bits 6:0, the function in 27:24, null as destination, a general register
/// as source, the descriptor as an immediate in the last dword, with message length 1.
fn send(function: u32, descriptor: u32) -> Vec<u32> {
    let mut words = vec![0x31 | function << 24, 0x2000_0a40, 0x0e00_0e00, descriptor];
    bits::put(&mut words, 96 + 25, 96 + 28, 1);
    words
}

/// A kernel that sends these messages and ends.
pub fn kernel(messages: &[(u32, u32)]) -> Vec<u32> {
    let end = [0x0780_0031, 0x2000_0a40, 0x0e00_0e00, 0x8200_0010];
    messages
        .iter()
        .flat_map(|(function, descriptor)| send(*function, *descriptor))
        .chain(end)
        .collect()
}

const SAMPLER: u32 = 2;
const RENDER: u32 = 5;
const DATA_PORT_0: u32 = 10;

/// A sampler message: message type in bits 16:12, sampler in 11:8, surface in 7:0, SIMD8 in 18:17.
pub fn sampler(message_type: u32, sampler: u32, surface: u32) -> (u32, u32) {
    (SAMPLER, 1 << 17 | message_type << 12 | sampler << 8 | surface)
}

/// Render target write, message type 12 in bits 17:14.
fn target(surface: u32) -> (u32, u32) {
    (RENDER, 12 << 14 | surface)
}

/// A pixel shader of width 8 whose kernel is at this offset.
fn pixel(kernel: u64) -> Vec<u32> {
    packet("3DSTATE_PS", &[("Kernel Start Pointer 0", kernel >> 6), ("8 Pixel Dispatch Enable", 1)])
}

fn table(offset: u64) -> Vec<u32> {
    packet("3DSTATE_BINDING_TABLE_POINTERS_PS", &[("Pointer to PS Binding Table", offset >> 5)])
}

fn samplers(offset: u64) -> Vec<u32> {
    packet("3DSTATE_SAMPLER_STATE_POINTERS_PS", &[("Pointer to PS Sampler State", offset >> 5)])
}

fn draw() -> Vec<u32> {
    packet("3DPRIMITIVE", &[])
}

fn surface(fields: &[(&str, u64)]) -> Vec<u32> {
    let plain = [
        ("Surface Type", 1),
        ("Surface Vertical Alignment", 1),
        ("Surface Horizontal Alignment", 1),
    ];
    packet("RENDER_SURFACE_STATE", &[&plain, fields].concat())
}

/// Oracle: 2d p.114 (bits 18 and 17:14 of the descriptor for data port 0), p.257-258, and Mesa's
/// names of the sampler's messages.
#[test]
fn messages_name_only_what_they_use() {
    let port = |descriptor| surface::binding_table_index(SharedFunction::DataPort0, descriptor);
    assert_eq!(port(1 << 18 | 0x21), None, "a scratch block has an offset in these bits");
    assert_eq!(port(7 << 14), None, "a fence does not use these bits");
    assert_eq!(port(8 << 14 | 3), Some(3));
    assert_eq!(port(8 << 14 | 255), None, "stateless");
    let index = |message_type: u32, mode: u32| {
        surface::sampler_index(
            SharedFunction::Sampler,
            mode << 17 | message_type << 12 | 5 << 8 | 1,
        )
    };
    for mode in 0..3 {
        for message_type in [0x07, 0x0a, 0x0b, 0x1d, 0x1e, 0x1f] {
            assert_eq!(index(message_type, mode), None, "{message_type:#x}");
        }
        for message_type in [0x00, 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x10, 0x14] {
            assert_eq!(index(message_type, mode), Some(5), "{message_type:#x}");
        }
    }
    assert_eq!(index(0x0b, 3), Some(5), "sample_8x8");
    assert_eq!(surface::sampler_index(SharedFunction::DataPort1, 5 << 8), None);

    // Offsets that no message uses are not followed.
    let messages = [(DATA_PORT_0, 1 << 18 | 0x9), (DATA_PORT_0, 7 << 14), sampler(0x07, 0, 1)];
    let scene = Scene::new(vec![pixel(0x400), table(0x600), samplers(0x700), draw()])
        .with(0x400, kernel(&messages))
        .with(0x600, vec![0, 0x800, 0, 0, 0, 0, 0, 0, 0, 0x900])
        .with(0x700, vec![u32::MAX; 4])
        .with(0x800, surface(&[]));
    assert!(scene.places("SAMPLER_STATE").is_empty());
    assert_eq!(scene.places("BINDING_TABLE_STATE"), [0x604]);
}

#[test]
fn a_draw_with_other_bases_uses_other_tables() {
    const SECOND: u64 = 0x1000;
    let state = [pixel(0x400), table(0x600), draw(), draw(), bases(BASE + SECOND), draw()];
    let kernel = kernel(&[target(0)]);
    let scene = Scene::new(state.to_vec())
        .with(0x400, kernel.clone())
        .with(0x600, vec![0x800])
        .with(0x800, surface(&[]))
        .with(0x1400, kernel)
        .with(0x1600, vec![0x900])
        .with(0x1900, surface(&[]));
    assert_eq!(scene.places("BINDING_TABLE_STATE"), [0x600, 0x1600]);
    assert_eq!(scene.places("RENDER_SURFACE_STATE"), [0x800, 0x1900]);
    assert_eq!(scene.places("kernel"), [0x400, 0x1400]);
}

#[test]
fn every_draw_is_held_against_the_state_before_it() {
    let samples = |log2| packet("3DSTATE_MULTISAMPLE", &[("Number of Multisamples", log2)]);
    let scene = |log2: &[u64]| {
        let mut packets = vec![pixel(0x400), table(0x600)];
        for log2 in log2 {
            packets.extend([samples(*log2), draw()]);
        }
        Scene::new(packets)
            .with(0x400, kernel(&[target(0)]))
            .with(0x600, vec![0x800])
            .with(0x800, surface(&[]))
    };
    let rule = "RSS-RT-SAMPLES";
    assert_eq!(scene(&[0, 0]).fires(rule), 0);
    assert_eq!(scene(&[2]).fires(rule), 1);
    assert_eq!(scene(&[0, 2]).fires(rule), 1, "the second draw");
    assert_eq!(scene(&[2, 2, 2]).fires(rule), 1, "reported once");
    // The decoder shows each surface once.
    assert_eq!(scene(&[0, 2]).places("RENDER_SURFACE_STATE"), [0x800]);
}

#[test]
fn a_surface_that_no_message_uses_may_have_samples() {
    let scene = |message| {
        let count = ("Binding Table Entry Count", 2);
        let fields =
            [("Kernel Start Pointer 0", 0x400 >> 6), ("8 Pixel Dispatch Enable", 1), count];
        let many = surface(&[("Number of Multisamples", 2)]);
        Scene::new(vec![packet("3DSTATE_PS", &fields), table(0x600), draw()])
            .with(0x400, kernel(&[message]))
            .with(0x600, vec![0x800, 0x900])
            .with(0x800, surface(&[]))
            .with(0x900, many)
    };
    assert_eq!(scene(target(0)).places("RENDER_SURFACE_STATE"), [0x800, 0x900]);
    assert_eq!(scene(target(0)).fires("RSS-MS-USE"), 0);
    // Oword block read, message type 0 of data port 0.
    assert_eq!(scene((DATA_PORT_0, 1)).fires("RSS-MS-USE"), 1);
}

/// Drivers allocate a BLEND_STATE of one dword, and two more dwords for each render target.
#[test]
fn blend_states_are_as_long_as_there_are_targets() {
    let entry = |both| {
        packet(
            "BLEND_STATE_ENTRY",
            &[("Logic Op Enable", both), ("Color Buffer Blend Enable", both)],
        )
    };
    let pointer = packet(
        "3DSTATE_BLEND_STATE_POINTERS",
        &[("Blend State Pointer", 0xa00 >> 6), ("Blend State Pointer Valid", 1)],
    );
    // BLEND_STATE has a dword and then its entries. The third entry breaks the rule.
    let state = [vec![0], entry(0), entry(0), entry(1)].concat();
    let scene = |targets: u32| {
        let messages: Vec<_> = (0..targets).map(target).collect();
        Scene::new(vec![pixel(0x400), table(0x600), pointer.clone(), draw(), draw()])
            .with(0x400, kernel(&messages))
            .with(0x600, vec![0x800; 3])
            .with(0x800, surface(&[]))
            .with(0xa00, state.clone())
    };
    let rule = "BLEND-LOGIC-OP";
    assert_eq!(scene(1).fires(rule), 0);
    assert_eq!(scene(2).fires(rule), 0);
    assert_eq!(scene(3).fires(rule), 1);
    assert_eq!(scene(1).places("BLEND_STATE"), [0xa00]);
    assert_eq!(
        scene(2).places("BLEND_STATE"),
        [0xa00, 0xa00],
        "the first entry with the pointer, both with the draw"
    );
    // Without a draw, only the first entry is checked.
    let alone = Scene::new(vec![pointer]).with(0xa00, [vec![0], entry(1), entry(1)].concat());
    assert_eq!(alone.fires(rule), 1);
}

/// Oracle: Mesa's `intel_fs_simd_width_for_ksp`, for the kernel of each width.
#[test]
fn kernels_that_a_pixel_shader_does_not_have_are_left_out() {
    let shown = |widths: [u64; 3], pointers: [u64; 3]| {
        let ps = packet(
            "3DSTATE_PS",
            &[
                ("8 Pixel Dispatch Enable", widths[0]),
                ("16 Pixel Dispatch Enable", widths[1]),
                ("32 Pixel Dispatch Enable", widths[2]),
                ("Kernel Start Pointer 0", pointers[0] >> 6),
                ("Kernel Start Pointer 1", pointers[1] >> 6),
                ("Kernel Start Pointer 2", pointers[2] >> 6),
            ],
        );
        let end = kernel(&[]);
        let scene = Scene::new(vec![ps, draw()]).with(0x400, end.clone()).with(0x440, end.clone());
        scene.with(0x480, end).places("kernel")
    };
    let all = [0x400, 0x440, 0x480];
    assert!(shown([0, 0, 0], all).is_empty());
    assert_eq!(shown([1, 0, 0], all), [0x400]);
    assert_eq!(shown([0, 1, 0], all), [0x400]);
    assert_eq!(shown([0, 0, 1], all), [0x400]);
    assert_eq!(shown([1, 1, 0], all), [0x400, 0x480]);
    assert_eq!(shown([1, 0, 1], all), [0x400, 0x440]);
    assert_eq!(shown([0, 1, 1], all), [0x440, 0x480]);
    assert_eq!(shown([1, 1, 1], all), all);
    // Kernel pointers 1 and 2 are 0, where the batch is. The batch is not shown as a kernel.
    assert_eq!(shown([1, 0, 0], [0x400, 0, 0]), [0x400]);
}

#[test]
fn samplers_are_held_against_the_surface_that_they_meet() {
    let sampler_state = |level| packet("SAMPLER_STATE", &[("Base Mip Level", level)]);
    let scene = |message, levels: [u64; 2]| {
        Scene::new(vec![pixel(0x400), table(0x600), samplers(0x700), draw()])
            .with(0x400, kernel(&[message]))
            .with(0x600, vec![0, 0x800])
            .with(0x700, sampler_state(levels[0]))
            .with(0x800, surface(&[("Base Mip Level", levels[1])]))
    };
    let rule = "SAMP-BASE-MIP-BOTH";
    assert_eq!(scene(sampler(0, 0, 1), [1, 1]).fires(rule), 1);
    assert_eq!(scene(sampler(0, 0, 1), [1, 0]).fires(rule), 0);
    assert_eq!(scene(sampler(0, 0, 1), [0, 1]).fires(rule), 0);
    // A sampler of another stage is not combined with this surface.
    let mut two = scene(sampler(0, 0, 1), [0, 1]);
    let vertex = [
        packet("3DSTATE_VS", &[("Function Enable", 1), ("Kernel Start Pointer", 0x500 >> 6)]),
        packet("3DSTATE_BINDING_TABLE_POINTERS_VS", &[("Pointer to VS Binding Table", 0x900 >> 5)]),
        packet("3DSTATE_SAMPLER_STATE_POINTERS_VS", &[("Pointer to VS Sampler State", 0x720 >> 5)]),
    ];
    two.packets.splice(1..1, vertex);
    let two = two
        .with(0x500, kernel(&[sampler(0, 0, 0)]))
        .with(0x900, vec![0xa00])
        .with(0xa00, surface(&[]))
        .with(0x720, sampler_state(1));
    assert_eq!(two.places("SAMPLER_STATE"), [0x720, 0x700]);
    assert_eq!(two.fires(rule), 0);
    // A render target is not combined with a sampler.
    let written = scene(sampler(0, 0, 0), [1, 1]);
    let written = Scene { structures: written.structures[1..].to_vec(), ..written };
    let written = written.with(0x400, kernel(&[sampler(0, 0, 0), target(1)]));
    assert_eq!(written.fires(rule), 0);

    // Two interface descriptors, one after the other.
    let descriptor = |table: u64, samplers: u64| {
        let fields = [
            ("Kernel Start Pointer", 0x400 >> 6),
            ("Binding Table Pointer", table >> 5),
            ("Sampler State Pointer", samplers >> 5),
        ];
        packet("INTERFACE_DESCRIPTOR_DATA", &fields)
    };
    let load = packet(
        "MEDIA_INTERFACE_DESCRIPTOR_LOAD",
        &[
            ("Interface Descriptor Total Length", 64),
            ("Interface Descriptor Data Start Address", 0xc00),
        ],
    );
    let media = |levels: [[u64; 2]; 2]| {
        Scene::new(vec![load.clone()])
            .with(0x400, kernel(&[sampler(0, 0, 0)]))
            .with(0x600, vec![0x800])
            .with(0x640, vec![0x900])
            .with(0x700, sampler_state(levels[0][0]))
            .with(0x720, sampler_state(levels[1][0]))
            .with(0x800, surface(&[("Base Mip Level", levels[0][1])]))
            .with(0x900, surface(&[("Base Mip Level", levels[1][1])]))
            .with(0xc00, descriptor(0x600, 0x700))
            .with(0xc20, descriptor(0x640, 0x720))
    };
    assert_eq!(
        media([[0, 1], [1, 0]]).fires(rule),
        0,
        "samplers are not combined with surfaces of the other descriptor"
    );
    assert_eq!(media([[1, 1], [0, 1]]).fires(rule), 1);
    assert_eq!(media([[0, 0], [1, 1]]).fires(rule), 1);
}

#[test]
fn an_instance_count_may_change_before_the_first_draw() {
    let hs = |instances| packet("3DSTATE_HS", &[("Enable", 1), ("Instance Count", instances)]);
    let rule = "HS-INSTANCE-STALL";
    let count = |packets: &[Vec<u32>]| {
        let found = findings(EngineId::Render, packets);
        found.iter().filter(|finding| finding.rule.id == rule).count()
    };
    assert_eq!(count(&[hs(0), hs(1)]), 0);
    assert_eq!(count(&[hs(0), draw(), hs(1)]), 1);
    let stall = packet("PIPE_CONTROL", &[("Command Streamer Stall Enable", 1)]);
    assert_eq!(count(&[hs(0), draw(), stall, hs(1)]), 0);
}

/// intel-vaapi-driver writes zero to all fields of an area of interest that it does not use.
#[test]
fn an_area_of_interest_that_is_not_used_is_no_error() {
    let names = |x, y| [("AOI Max X", x), ("AOI Max Y", y)];
    let state = |fields: &[(&str, u64)]| make("VEBOX_ALPHA_AOI_STATE", 0, fields);
    let (_, rule) =
        Rules::gen8().find("VEBOX-AOI-MAX").map(|found| (found.0, &found.1.require)).unwrap();
    let holds = |words: &[u32]| rule.eval(&genxml::core::rule::Frame::new(words), &());
    assert_eq!(holds(&state(&[])), Some(1));
    assert_eq!(holds(&state(&names(3, 7))), Some(1));
    assert_eq!(holds(&state(&names(0, 3))), Some(0));
    assert_eq!(holds(&state(&[("AOI Min X", 4)])), Some(0));
}

/// Every field of a group's elements is shown. This includes fields whose bits in the element are
/// those that the opcode has in the packet's header.
#[test]
fn fields_of_elements_are_all_there() {
    let dwords = [0x7834_0002, 0x0001_0000, 0, 0x0002_0001, 0x0500_0000];
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword: &u32| dword.to_le_bytes()).collect();
    let mut stored = BTreeSet::new();
    let mut sink = |record: &Record| {
        stored.extend(record.items.iter().map(|item| (item.start, item.end, item.stored)));
        Ok(())
    };
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    decoder
        .batch(&mut State::default(), EngineId::Render, &(0, &bytes[..]), 0, 0, &mut sink)
        .unwrap();
    for field in [(48, 63, 1), (96, 99, 1), (112, 115, 2)] {
        assert!(stored.contains(&field), "{field:?} is not in {stored:?}");
    }
}
