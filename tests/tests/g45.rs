//! Packets of G45. Oracle: dwords written by hand from Linux's and Mesa's headers, and the batches
//! of the corpus, which Mesa's driver crocus made.

use genxml::capture::{Capture, Event, Playback};
use genxml::core::lit;
use genxml::decode::Tables;
use genxml::engine::EngineId;
use genxml::gen45::RenderPacket;
use genxml::gen45::commands_3d::{
    ThreeDPrimitive, ThreeDStateDrawingRectangle, ThreeDStateVertexBuffers,
};
use genxml::gen45::commands_common::{PipelineSelect, PipelineSelectPipelineSelection};
use genxml::gen45::commands_mi::{MiBatchBufferEnd, MiFlush};
use genxml::gen45::enums::ThreeDPrimTopoType;
use genxml_core::read::EnginePacket;
use genxml_testkit::corpus;

#[test]
fn packets_by_hand() {
    assert_eq!(MiFlush::new().pack(), [4 << 23]);
    assert_eq!(MiBatchBufferEnd::new().pack(), [10 << 23]);
    let media = PipelineSelect { pipeline_selection: PipelineSelectPipelineSelection::MEDIA };
    assert_eq!(media.pack(), [0x6904_0001]);
    let rectangle = ThreeDStateDrawingRectangle {
        clipped_drawing_rectangle_x_max: lit!(319),
        clipped_drawing_rectangle_y_max: lit!(239),
        drawing_rectangle_origin_y: lit!(-2),
        ..ThreeDStateDrawingRectangle::new()
    };
    assert_eq!(rectangle.pack(), [0x7900_0002, 0, 239 << 16 | 319, 0xfffe_0000]);
    let draw = ThreeDPrimitive {
        primitive_topology_type: ThreeDPrimTopoType::_3DPRIM_TRILIST,
        vertex_count_per_instance: lit!(3),
        base_vertex_location: lit!(-1),
        ..ThreeDPrimitive::new()
    };
    assert_eq!(draw.pack(), [0x7b00_0004 | 4 << 10, 3, 0, 1, 0, u32::MAX]);
    assert_eq!(ThreeDPrimitive::unpack(&draw.pack()), Ok(draw));
}

/// Batches of the corpus: the typed packets read all dwords, strictly, and write them again. The
/// decoder's tables find the same packets.
#[test]
fn batches_of_crocus() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut packets, mut draws) = (0, 0);
    for entry in std::fs::read_dir(corpus.join("gen45/captures")).unwrap() {
        let path = entry.unwrap().path();
        let capture = Capture::open(&path).unwrap();
        assert_eq!(capture.device().generation, 45);
        let mut playback = Playback::new(&capture);
        while let Some(event) = playback.step() {
            let Event::Exec(exec) = event else { continue };
            let batch = playback.memory(exec).tail(exec.batch_address);
            let batch = &batch[..batch.len().min(exec.batch_length as usize) & !3];
            let dwords: Vec<u32> = genxml::read::dwords(batch).unwrap().to_vec();
            for item in RenderPacket::iter(&dwords).strict() {
                let item = item.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let header = item.dwords[0];
                let found = Tables::gen45().instruction(EngineId::Render, header).unwrap();
                let typed = RenderPacket::lookup(header).unwrap();
                assert_eq!(found.name, RenderPacket::INSTRUCTIONS[typed.position].name);
                match item.packet {
                    RenderPacket::ThreeDStateVertexBuffers(lazy) => {
                        let state: ThreeDStateVertexBuffers<'_> = lazy.unpack().unwrap();
                        assert!(state.vertex_buffer_state.len() <= 17);
                    }
                    RenderPacket::ThreeDPrimitive(lazy) => {
                        let draw = lazy.unpack().unwrap();
                        assert_eq!(draw.pack(), item.dwords);
                        draws += 1;
                    }
                    RenderPacket::MiBatchBufferEnd(_) => break,
                    _ => {}
                }
                packets += 1;
            }
        }
    }
    println!("{packets} packets, {draws} draws");
    assert!(packets > 900 && draws > 50, "{packets} packets, {draws} draws");
}
