//! The pipeline as a type parameter (PIPELINE_SELECT).

use genxml::batch::Batch;
use genxml::engine::{EngineId, Render};
use genxml::gen8::media::{GpgpuWalker, MediaObject, MediaStateFlush};
use genxml::gen8::mi::{PipeControl, PipelineSelect, PipelineSelectPipelineSelection as Selection};
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use genxml::gen8::render3d_pixel::ThreeDStateCcStatePointers;
use genxml::gen8::{CONTAINERS, RenderPacket};
use genxml::pipeline::{Gpgpu, Media};

fn batch() -> Batch<Render> {
    Batch::new("batch", 0x1000, 4096).unwrap()
}

/// Splits dwords into packets.
fn packets(mut dwords: &[u32]) -> Vec<&[u32]> {
    let mut packets = Vec::new();
    while let [header, ..] = dwords {
        let (packet, rest) = dwords.split_at(RenderPacket::length(*header).unwrap());
        packets.push(packet);
        dwords = rest;
    }
    packets
}

#[test]
fn each_pipeline_takes_its_commands() {
    let mut three_d = batch().select_3d().unwrap();
    three_d.emit(&ThreeDPrimitive::new()).unwrap();
    let mut media = three_d.select_media().unwrap();
    media.emit(&MediaObject::new()).unwrap();
    media.emit(&MediaStateFlush::new()).unwrap();
    let mut gpgpu = media.select_gpgpu().unwrap();
    gpgpu.emit(&GpgpuWalker::new()).unwrap();
    gpgpu.emit(&MediaStateFlush::new()).unwrap();
    let selections: Vec<Selection> = packets(gpgpu.dwords())
        .into_iter()
        .filter_map(|packet| {
            Some(PipelineSelect::unpack(packet.try_into().ok()?).ok()?.pipeline_selection)
        })
        .collect();
    assert_eq!(selections, [Selection::_3D, Selection::MEDIA, Selection::GPGPU]);
}

/// Oracle: the packets that hasvk emits before it selects GPGPU (corpus/drivers/vk_saxpy), without
/// its post-sync write and VF invalidation.
#[test]
fn caches_are_flushed_and_invalidated_before_the_choice() {
    let batch = batch().select_gpgpu().unwrap();
    let flush = PipeControl {
        render_target_cache_flush_enable: true,
        depth_cache_flush_enable: true,
        dc_flush_enable: true,
        command_streamer_stall_enable: true,
        ..PipeControl::new()
    };
    let invalidate = PipeControl {
        texture_cache_invalidation_enable: true,
        constant_cache_invalidation_enable: true,
        state_cache_invalidation_enable: true,
        instruction_cache_invalidate_enable: true,
        ..PipeControl::new()
    };
    let select = PipelineSelect { pipeline_selection: Selection::GPGPU };
    let expected = [
        &ThreeDStateCcStatePointers::new().pack()[..],
        &flush.pack(),
        &invalidate.pack(),
        &select.pack(),
    ];
    assert_eq!(packets(batch.dwords()), expected);
}

#[test]
fn choosing_again_and_assuming_emit_nothing() {
    let media = batch().select_media().unwrap();
    let length = media.dwords().len();
    let media = media.select_media().unwrap();
    assert_eq!(media.dwords().len(), length);
    assert!(batch().assume::<Gpgpu>().select_gpgpu().unwrap().dwords().is_empty());
    assert!(!batch().assume::<Media>().select_gpgpu().unwrap().dwords().is_empty());
}

/// The specification names pipelines for every render command with a 3D or media opcode except
/// PIPE_CONTROL, for 3DSTATE_VF_STATISTICS, and for no other command.
#[test]
fn every_render_command_has_its_pipelines() {
    use genxml::core::reflect::{Kind, Pipelines};
    let mut count = [0; 2];
    for container in CONTAINERS {
        let Kind::Instruction { engines, pipelines, opcode, .. } = container.kind else { continue };
        if engines != EngineId::Render.set() || opcode >> 29 != 3 {
            assert_eq!(pipelines, Pipelines::ALL, "{}", container.name);
            continue;
        }
        match (opcode >> 27 & 3, container.name) {
            (3, "PIPE_CONTROL") => assert_eq!(pipelines, Pipelines::ALL),
            (3, name) | (1, name @ "3DSTATE_VF_STATISTICS") => {
                assert_eq!(pipelines, Pipelines::THREE_D, "{name}");
                count[0] += 1;
            }
            (2, name) => {
                assert!(!pipelines.intersects(Pipelines::THREE_D), "{name}");
                count[1] += 1;
            }
            (_, name) => assert_eq!(pipelines, Pipelines::ALL, "{name}"),
        }
    }
    assert_eq!(count, [97, 11]);
}
