//! Gathered constants in the pool.

use crate::streamer::packets::{
    Gather, PS, Pick, STAGES, VS, edit, gather, gather_pool, table_pool,
};
use crate::streamer::{BUFFERS, GATHERED, GATHERED_BYTES, map, model, put_buffer, refused, run};
use genxml::gen8::mi::PipelineSelectPipelineSelection;
use genxml::gen8::render3d_constants::ThreeDStateGatherPoolAlloc;
use genxml::gen8::state::StateBaseAddress;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateExtent, SurfaceFormat, SurfaceType,
};
use genxml_cases::{Model, Random, SURFACE_STATE, at, minus_one, packets, select, u};

/// Packets that set the bases and enable the pools.
pub fn prepare() -> Vec<u32> {
    let bases = select(PipelineSelectPipelineSelection::_3D, StateBaseAddress::new());
    [bases, packets![table_pool(), gather_pool()]].concat()
}

/// The dwords that a gather table takes. `buffers` has the dwords of each constant buffer. A dword
/// after the end of a buffer is 0.
pub fn gathered(buffers: &[Vec<u32>], picks: &[Pick]) -> Vec<u32> {
    let mut dwords = Vec::new();
    for pick in picks {
        for channel in 0..4 {
            if pick.mask & 1 << channel != 0 {
                let index = 4 * pick.vector as usize + channel;
                dwords.push(buffers[pick.buffer as usize].get(index).copied().unwrap_or(0));
            }
        }
    }
    dwords
}

/// Sixteen constant buffers with random sizes and data, at entry 16 * `block` of the table of
/// `stage`. Returns the packets that bind them, and their dwords.
pub fn buffers(
    model: &mut Model,
    random: &mut Random,
    stage: usize,
    block: u64,
) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut all = Vec::new();
    let mut entries = Vec::new();
    for buffer in 0..16 {
        let count = 1 + random.index(1024);
        let dwords = random.dwords(count);
        let address = BUFFERS + 4096 * buffer;
        let state = 0x4000 + 64 * buffer;
        model.put(address, &dwords);
        put_buffer(model, state, address, 4 * dwords.len() as u64);
        entries.push((16 * block + buffer, state));
        all.push(dwords);
    }
    (edit(stage, 0, &entries), all)
}

/// A random gather table for buffers that are valid. Some entries have no channels.
pub fn picks(random: &mut Random, valid: u64, count: u64) -> Vec<Pick> {
    let used: Vec<u64> = (0..16).filter(|buffer| valid & 1 << buffer != 0).collect();
    (0..count)
        .map(|_| Pick {
            buffer: random.pick(&used),
            vector: random.below(256),
            mask: random.below(16),
        })
        .collect()
}

/// Random gather tables of all stages: dwords without gaps, in the order of entries and channels.
/// The bytes around them stay as they are.
#[test]
fn random_tables() {
    let mut model = model();
    let mut random = Random::new(0x52);
    run(&mut model, &prepare()).unwrap();
    for round in 0..1000 {
        let (stage, block) = (random.index(STAGES), random.below(16));
        let (mut batch, buffers) = buffers(&mut model, &mut random, stage, block);
        let valid = 1 + random.below(0xffff);
        let count = if random.one_in(30) { 254 } else { random.below(40) };
        let picks = picks(&mut random, valid, count);
        let offset = 64 * random.below((GATHERED_BYTES - 4096) / 64 + 1);
        let table = Gather { valid, block, offset, dx9: false, picks };
        batch.extend(gather(stage, &table));
        let mut expected = model.read(GATHERED, GATHERED_BYTES as usize);
        run(&mut model, &batch).unwrap();
        let dwords = gathered(&buffers, &table.picks);
        let bytes = bytemuck::cast_slice(&dwords);
        expected[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        let found = model.read(GATHERED, GATHERED_BYTES as usize);
        assert!(expected == found, "round {round}, stage {stage}: {table:?}");
    }
}

/// A gather table of one vector.
fn one(buffer: u64) -> Gather {
    let pick = Pick { buffer, vector: 1, mask: 15 };
    Gather { valid: 1 << buffer, block: 2, offset: 0, dx9: false, picks: vec![pick] }
}

/// Nothing is gathered if no buffer is valid, or if the pool is disabled.
#[test]
fn nothing() {
    let mut model = model();
    let mut random = Random::new(0x53);
    let (bind, _) = buffers(&mut model, &mut random, VS, 2);
    let off = ThreeDStateGatherPoolAlloc { gather_pool_enable: false, ..gather_pool() };
    let unused = Gather { valid: 0, ..one(3) };
    for (pool, table, without_effect) in [(gather_pool(), &unused, 0), (off, &one(3), 1)] {
        let batch = [prepare(), packets![pool], bind.clone(), gather(VS, table)].concat();
        assert_eq!(run(&mut model, &batch).unwrap().without_effect, without_effect);
        assert_eq!(model.get(GATHERED, 8), [0; 8]);
    }
    // The same table gathers if its buffer is valid and the pool is enabled.
    let batch = [prepare(), bind, gather(VS, &one(3))].concat();
    run(&mut model, &batch).unwrap();
    assert_ne!(model.get(GATHERED, 4), [0; 4]);
}

/// The end of a buffer of vectors limits what is read. A null surface has no limit.
#[test]
fn ends_of_buffers() {
    let mut model = model();
    map(&mut model);
    let data: Vec<u32> = (1..=4096).collect();
    model.put(BUFFERS, &data);
    let vectors = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_BUFFER,
        surface_format: SurfaceFormat::R32G32B32A32_FLOAT,
        surface_base_address: at(BUFFERS),
        surface_pitch: minus_one(16),
        // Three vectors.
        extent: RenderSurfaceStateExtent::Buffer { width: u(2), height: u(0), depth: u(0) },
        ..RenderSurfaceState::new()
    };
    let null = RenderSurfaceState { surface_type: SurfaceType::SURFTYPE_NULL, ..vectors };
    model.put(SURFACE_STATE + 64, &vectors.pack());
    model.put(SURFACE_STATE + 128, &null.pack());
    let pick = |buffer, vector| Pick { buffer, vector, mask: 15 };
    let table = Gather {
        valid: 3,
        block: 0,
        offset: 64,
        dx9: false,
        picks: vec![pick(0, 2), pick(0, 3), pick(0, 255), pick(1, 2), pick(1, 3), pick(1, 255)],
    };
    let batch = [prepare(), edit(PS, 0, &[(0, 64), (1, 128)]), gather(PS, &table)].concat();
    run(&mut model, &batch).unwrap();
    let vector = |n: u32| [4 * n + 1, 4 * n + 2, 4 * n + 3, 4 * n + 4];
    let expected = [vector(2), [0; 4], [0; 4], vector(2), vector(3), vector(255)].concat();
    assert_eq!(model.get(GATHERED + 64, 24), expected);
}

/// The second half of a buffer of DX9 is 4 KiB after the first.
#[test]
fn halves() {
    let mut model = model();
    model.put(BUFFERS, &(0..2048).collect::<Vec<u32>>());
    put_buffer(&mut model, 64, BUFFERS, 8192);
    let pick = |buffer, vector, mask| Pick { buffer, vector, mask };
    for stage in [VS, PS] {
        let table = Gather {
            valid: 1,
            block: 15,
            offset: 0,
            dx9: true,
            picks: vec![pick(0, 1, 15), pick(1, 0, 9), pick(1, 255, 4), pick(0, 255, 8)],
        };
        let bind = [prepare(), edit(stage, 0, &[(240, 64)])].concat();
        run(&mut model, &[bind.clone(), gather(stage, &table)].concat()).unwrap();
        assert_eq!(model.get(GATHERED, 8), [4, 5, 6, 7, 1024, 1027, 2046, 1023]);
        let third = Gather { valid: 7, picks: vec![pick(2, 0, 1)], ..table };
        let text = refused(&mut model, &[bind, gather(stage, &third)].concat());
        assert!(text.contains("Binding Table Index Offset = 0x2"), "{text}");
    }
}

/// Values that the manual forbids, and memory that does not exist.
#[test]
fn forbidden() {
    let mut model = model();
    let mut random = Random::new(0x54);
    let (bind, _) = buffers(&mut model, &mut random, VS, 2);
    let mut refuse = |packets: &[Vec<u32>], text: &str| {
        let fault = refused(&mut model, &packets.concat());
        assert!(fault.contains(text), "{fault}");
    };
    let bound = [prepare(), bind].concat();
    let unused = Gather { valid: 0xfff7, ..one(3) };
    refuse(&[bound.clone(), gather(VS, &unused)], "bit 3 of Constant Buffer Valid is 0");
    let late = Gather { offset: GATHERED_BYTES, ..one(3) };
    refuse(&[bound.clone(), gather(VS, &late)], "16 gathered bytes do not fit into the pool");
    let off = genxml::gen8::render3d_binding::ThreeDStateBindingTablePoolAlloc::new();
    refuse(&[bound.clone(), packets![off], gather(VS, &one(3))], "Binding Table Pool Enable");
    refuse(&[packets![off, gather_pool()]], "the pool needs the streamer's binding tables");
    let empty = ThreeDStateGatherPoolAlloc { gather_pool_buffer_size: u(0), ..gather_pool() };
    refuse(&[packets![empty]], "Gather Pool Buffer Size");
    let image = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R32G32B32A32_FLOAT,
        ..RenderSurfaceState::new()
    };
    let far = genxml_cases::raw_buffer(0x7000_0000, 64);
    model.put(SURFACE_STATE + 64, &image.pack());
    model.put(SURFACE_STATE + 128, &far.pack());
    let mut refuse = |packets: &[Vec<u32>], text: &str| {
        let fault = refused(&mut model, &packets.concat());
        assert!(fault.contains(text), "{fault}");
    };
    let bind = |state| edit(VS, 0, &[(35, state)]);
    refuse(&[bound.clone(), bind(64), gather(VS, &one(3))], "constants gathered from an image");
    refuse(&[bound.clone(), bind(128), gather(VS, &one(3))], "gathered constant buffer 3");
    refuse(
        &[bound, bind(0x3f_ffc0), gather(VS, &one(3))],
        "surface state of binding table entry 35",
    );
}
