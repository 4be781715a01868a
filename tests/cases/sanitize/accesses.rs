//! The accesses that an observer gets. Oracle: what each packet accesses, counted by hand; and
//! memory that an observer without accesses leaves.

use crate::screen::scene::{Scene, TARGETS, VERTICES, on_screen};
use genxml::engine::EngineId;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::mi::{MiCopyMemMem, MiStoreDataImm};
use genxml_cases::{BATCH, KERNELS, Model, SCRATCH, SURFACE_STATE, at, packets, u};
use genxml_sim::machine::events::WithAccesses;
use genxml_sim::mem::{Access, Client};
use genxml_sim::{Event, Now};

/// Packet and access.
type Seen = (&'static str, Access);

fn accesses(model: &mut Model, batch: &[u32]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let observer = |_: Now, event: &Event<'_>| {
        if let Event::Accesses { at, list, .. } = event {
            seen.extend(list.iter().map(|access| (at.packet, *access)));
        }
    };
    model.submit_observed(EngineId::Render, batch, &mut WithAccesses(observer)).unwrap();
    seen
}

#[test]
fn accesses_of_the_command_streamer() {
    let mut model = Model::new();
    let batch = packets![
        MiStoreDataImm { data_dword: (&[u(7)]).into(), ..MiStoreDataImm::new(at(SCRATCH + 0xffc)) },
        MiCopyMemMem {
            source_memory_address: at(SCRATCH + 0xffc),
            destination_memory_address: at(SCRATCH + 0x1000),
            ..MiCopyMemMem::new()
        },
    ];
    let physical = model.gpu.vm(model.context).physical(SCRATCH).unwrap();
    let of = |packet, address, bytes, write| {
        let physical = physical + (address - SCRATCH);
        let client = Client::CommandStreamer;
        (packet, Access { address, physical, bytes, write, client })
    };
    let seen = accesses(&mut model, &batch);
    // Headers and other dwords of packets come first.
    assert!(seen.iter().any(|(packet, access)| {
        *packet == "MI_STORE_DATA_IMM" && access.address == BATCH && !access.write
    }));
    let data: Vec<Seen> = seen.into_iter().filter(|(_, a)| a.address >= SCRATCH).collect();
    assert_eq!(
        data,
        [
            of("MI_STORE_DATA_IMM", SCRATCH + 0xffc, 4, true),
            of("MI_COPY_MEM_MEM", SCRATCH + 0xffc, 4, false),
            of("MI_COPY_MEM_MEM", SCRATCH + 0x1000, 4, true),
        ]
    );
}

/// A triangle of three pixels. Each client has the addresses that belong to it, and writes exactly
/// the covered pixels.
#[test]
fn clients_of_a_draw() {
    let vertices = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0)].map(|(x, y)| on_screen(x, y, 7)).to_vec();
    let scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices);
    let mut model = scene.model();
    let batch = scene.batch(&mut model);
    let seen = accesses(&mut model, &batch);
    for (packet, access) in &seen {
        let regions = match access.client {
            Client::Vertices => VERTICES..VERTICES + 0x1000,
            Client::Instructions => KERNELS..KERNELS + 0x1000,
            Client::State => SURFACE_STATE..KERNELS,
            Client::RenderTarget => TARGETS..TARGETS + 0x1000,
            Client::CommandStreamer => BATCH..BATCH + 0x1000,
            client => panic!("{packet}: {client:?} {access:x?}"),
        };
        assert!(regions.contains(&access.address), "{packet}: {access:x?}");
    }
    let mut pixels: Vec<u64> = seen
        .iter()
        .filter(|(_, access)| access.write)
        .flat_map(|(_, access)| (0..u64::from(access.bytes / 4)).map(|n| access.address + 4 * n))
        .collect();
    pixels.sort_unstable();
    // Rows are 64 bytes apart. The centres of the pixels (0, 0), (1, 0) and (0, 1) are inside or
    // on the left or upper edge; (1, 0) and (0, 1) are on the long edge, which is not drawn.
    assert_eq!(pixels, [TARGETS]);
    let words = model.get(TARGETS, 64);
    let mut plain = scene.model();
    let batch = scene.batch(&mut plain);
    plain.render(&batch).unwrap();
    assert_eq!(words, plain.get(TARGETS, 64));
    let drawn: Vec<usize> = (0..64).filter(|&n| words[n] != 0).collect();
    assert_eq!(drawn, [0]);
}
