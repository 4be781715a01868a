//! Surface states of real drivers: each state that a batch of the corpus uses can be resolved.
//!
//! Oracle: the drivers, whose surface states hardware accepts, and the memory that they allocated
//! for them.

use crate::surfaces::shared;
use genxml::capture::{Capture, Event, Playback};
use genxml::core::rule::{Role, Roles};
use genxml::decode::{Decoder, Kind, Memory, Options, Record, State, Tables};
use genxml::gen8::state::RenderSurfaceState;
use genxml_sim::surface::{Dimension, Surface, SurfaceKind};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Calls `meet` for each different surface state of each batch of a capture, with the uses of the
/// state and the memory at that batch.
fn each(path: &Path, mut meet: impl FnMut(&RenderSurfaceState, Roles, &dyn Memory)) {
    let capture = Capture::open(path).unwrap();
    let options = Options { every_draw: true, ..Options::default() };
    let decoder = Decoder::new(Tables::gen8(), options);
    let mut contexts: HashMap<u32, State> = HashMap::new();
    let mut playback = Playback::new(&capture);
    while let Some(event) = playback.step() {
        let Event::Exec(exec) = event else { continue };
        let memory = playback.memory(exec);
        let mut states = BTreeMap::new();
        let mut sink = |record: &Record| {
            if record.kind == Kind::Struct && record.name == "RENDER_SURFACE_STATE" {
                let roles: &mut Roles = states.entry(record.dwords.clone()).or_default();
                *roles = roles.and(record.uses.map_or(Roles::NONE, |uses| uses.roles));
            }
            Ok(())
        };
        let context = contexts.entry(exec.context).or_default();
        let (address, length) = (exec.batch_address, exec.batch_length);
        decoder.batch(context, exec.engine, &memory, address, length, &mut sink).unwrap();
        for (dwords, roles) in states {
            let Ok(dwords) = <[u32; RenderSurfaceState::DWORDS]>::try_from(&dwords[..]) else {
                continue;
            };
            meet(&RenderSurfaceState::unpack_lossy(&dwords), roles, &memory);
        }
    }
}

/// Graphics addresses of the first and the last texel of a buffer, or of each level of an image.
/// The last texel of a level is in the last slice and the last sample.
fn corners(surface: &Surface) -> Vec<u64> {
    if surface.kind != SurfaceKind::Image {
        let bytes = u64::from(surface.width - 1) * u64::from(surface.pitch);
        return vec![surface.base, surface.base + bytes];
    }
    let mut corners = Vec::new();
    let mut lod = 0;
    while let Some(level) = surface.level(lod) {
        let slices = match surface.layout.dimension {
            Dimension::Three => level.depth,
            _ => surface.first_slice + surface.slices,
        };
        corners.push(surface.texel(&level, surface.first_slice.min(slices - 1), 0, 0, 0));
        let (x, y, sample) = (level.width - 1, level.height - 1, surface.layout.samples - 1);
        corners.push(surface.texel(&level, slices - 1, x, y, sample));
        lod += 1;
    }
    corners
}

#[test]
fn surfaces_of_real_drivers_resolve() {
    let Some(shared) = shared() else { return };
    let (mut count, mut typed, mut kinds) = (0, 0, BTreeMap::new());
    for folder in ["drivers", "images"] {
        let mut captures: Vec<_> = std::fs::read_dir(shared.join("corpus").join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        captures.sort();
        for path in captures {
            each(&path, |state, roles, memory| {
                let surface = match Surface::resolve(state) {
                    Ok(surface) => surface,
                    Err(bad) => panic!("{}: {bad}", path.display()),
                };
                count += 1;
                *kinds.entry((surface.kind as u8, surface.tile_mode as u8)).or_insert(0) += 1;
                if surface.kind == SurfaceKind::Null {
                    return;
                }
                // Drivers use typed messages only with formats that hardware supports.
                let codec = surface.codec.unwrap();
                if roles.contains(Role::Typed) {
                    typed += 1;
                    let takes = match () {
                        () if roles.contains(Role::Atomic) => codec.typed_atomic(),
                        () if roles.contains(Role::Read) => codec.typed_read(),
                        () => codec.typed_write(),
                    };
                    assert!(
                        takes,
                        "{}: {} is used by typed messages",
                        path.display(),
                        codec.format().name
                    );
                }
                for address in corners(&surface) {
                    let there = !memory.tail(address).is_empty();
                    assert!(there, "{}: {address:#x} of {surface:#x?}", path.display());
                }
            });
        }
    }
    println!("{count} surface states, {typed} of them typed: {kinds:?}");
    assert!(count > 50 && typed > 0 && kinds.len() >= 5, "{count} {typed} {kinds:?}");
}
