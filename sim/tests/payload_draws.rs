//! Messages of `genxml::eu::payload` in shaders of a draw: the URB and render targets. Oracle: the
//! colour and the pixels that the shaders are written to produce.

use genxml::batch::{Batch, Buffer};
use genxml::engine::Render;
use genxml::eu::asm::{Options, assemble};
use genxml::eu::instruction::Register;
use genxml::eu::payload::*;
use genxml::eu::syntax::Syntax;
use genxml::gen8::enums::ThreeDPrimTopoType;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::state::SurfaceFormat;
use genxml::setup::{Draw, Heaps, Surface, element, initial};
use genxml_core::lit;
use genxml_sim::Gpu;

const TARGET: u64 = 0x100_0000;
/// Width and height of the target.
const SIZE: u32 = 16;
const OLD: [u8; 4] = [1, 2, 3, 4];
const NEW: [u8; 4] = [51, 102, 153, 204];

fn kernel(text: &str) -> Vec<u32> {
    let kernel = assemble(text, Syntax::Iga, &Options::default());
    kernel.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0])).dwords()
}

/// The pixels after a triangle that covers the target.
fn drawn(vertex: Option<&str>, pixel: &str, simd: Simd) -> Vec<[u8; 4]> {
    let (vertex, pixel) = (vertex.map(kernel), kernel(pixel));
    let target = Buffer::with_values("target", TARGET, &[OLD; (SIZE * SIZE) as usize]).unwrap();
    let corners = [[-1.0f32, -1.0], [3.0, -1.0], [-1.0, 3.0]];
    let vertices = Buffer::with_values("vertices", 0x200_0000, corners.as_flattened()).unwrap();
    let mut heaps = Heaps::new(0x20_0000).unwrap();
    let image = Surface::image(SurfaceFormat::R8G8B8A8_UNORM, SIZE, SIZE);
    let surfaces = vec![heaps.surface(&target, &image).unwrap()];
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096).unwrap().select_3d().unwrap();
    initial(&mut batch, &mut heaps, SIZE, SIZE).unwrap();
    let position = element(SurfaceFormat::R32G32_FLOAT, 2, 0).unwrap();
    // Without a vertex shader, the first element is the header of the vertex.
    let header = element(SurfaceFormat::R32G32B32A32_FLOAT, 0, 0).unwrap();
    let draw = Draw {
        surfaces,
        elements: if vertex.is_some() { vec![position] } else { vec![header, position] },
        vertex: vertex.as_deref(),
        ..Draw::new(ThreeDPrimTopoType::_3DPRIM_TRILIST, &vertices, 8, 3, &pixel)
    };
    draw.fetch(&mut batch).unwrap();
    draw.vertex_shader(&mut batch, &mut heaps).unwrap();
    draw.interpolation(&mut batch).unwrap();
    draw.pixel_shader(&mut batch, &mut heaps).unwrap();
    if simd == Simd::Sixteen {
        let kernel = heaps.instructions.kernel(&pixel).unwrap();
        batch
            .emit(&ThreeDStatePs {
                kernel_start_pointer_0: kernel,
                _16_pixel_dispatch_enable: true,
                maximum_number_of_threads_per_psd: lit!(62),
                dispatch_grf_start_register_for_constant_setup_data_0: lit!(2),
                ..ThreeDStatePs::new()
            })
            .unwrap();
    }
    batch.emit(&draw.primitive()).unwrap();
    batch
        .emit(&PipeControl {
            render_target_cache_flush_enable: true,
            command_streamer_stall_enable: true,
            ..PipeControl::new()
        })
        .unwrap();
    let buffers = heaps.finish().into_iter().chain([target, vertices]);
    let submission = batch.finish().unwrap().submit(buffers).unwrap();
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.execute(context, &submission).unwrap();
    gpu.values(context, TARGET, (SIZE * SIZE) as usize).unwrap()
}

/// The pixels after a draw with a shader that writes the colour `NEW`.
fn drawn_with(vertex: Option<&str>, write: &RenderTarget) -> Vec<[u8; 4]> {
    let message = render_target_write(write).ends_thread().place(112, None).unwrap();
    let mut text = String::new();
    let parts = [Part::Red, Part::Green, Part::Blue, Part::Alpha, Part::Source0Alpha];
    for (part, value) in parts.into_iter().zip(["0.2", "0.4", "0.6", "0.8", "0.8"]) {
        if let Some(register) = message.register(part) {
            text += &format!("mov ({}|M0) r{register}.0<1>:f {value}:f\n", write.simd.channels());
        }
    }
    drawn(vertex, &format!("{text}{message}"), write.simd)
}

/// The pixels that have the new colour.
fn covered(pixels: &[[u8; 4]]) -> Vec<bool> {
    assert!(pixels.iter().all(|pixel| [OLD, NEW].contains(pixel)), "{pixels:?}");
    pixels.iter().map(|pixel| *pixel == NEW).collect()
}

#[test]
fn headers_of_render_targets() {
    for simd in [Simd::Eight, Simd::Sixteen] {
        let plain = RenderTarget::new(simd);
        for write in [
            plain,
            RenderTarget { header: true, ..plain },
            RenderTarget { source_0_alpha: true, ..plain },
            RenderTarget { index: lit!(1), ..plain },
            // The word of the pixels that the thread received.
            RenderTarget { pixels: Some(Register::Grf { number: 1, byte: 28 }.into()), ..plain },
            RenderTarget { pixels: Some(0xffff.into()), ..plain },
        ] {
            assert!(covered(&drawn_with(None, &write)).iter().all(|new| *new), "{write:?}");
        }
        let none = RenderTarget { pixels: Some(0.into()), ..plain };
        assert!(covered(&drawn_with(None, &none)).iter().all(|new| !new));
        // Bits 3:0 of each eight are the left half of four columns by two rows.
        let half = RenderTarget { pixels: Some(0x0f0f.into()), ..plain };
        for (n, new) in covered(&drawn_with(None, &half)).into_iter().enumerate() {
            assert_eq!(new, n % 4 < 2, "pixel {n}");
        }
    }
}

/// The shader writes a position that does not cover the target, reads it back, corrects it, and
/// writes it again.
#[test]
fn vertices_in_the_urb() {
    let first = urb_write(&Urb::new(1, 8)).place(20, None).unwrap();
    let read = Urb { offset: lit!(1), ..Urb::new(1, 4) };
    for (global, slots, masks) in
        [(lit!(1), None, false), (lit!(0), Some(1), false), (lit!(1), None, true)]
    {
        let read = Urb { offset: global, slot_offsets: slots.is_some(), ..read };
        let write = Urb { masks, ..read };
        let read = urb_read(&read).unwrap().place(40, Some(50)).unwrap();
        let write = urb_write(&write).ends_thread().place(112, None).unwrap();
        let at = |message: &Placed, part| message.register(part);
        let mut text = String::new();
        let data = at(&first, Part::Data).unwrap();
        for n in 0..8 {
            // Four dwords of the vertex header, then the position.
            text += &match n {
                0..4 => format!("mov (8|M0) r{}.0<1>:ud 0:ud\n", data + n),
                _ => format!("add (8|M0) r{}.0<1>:f r{}.0<8;8,1>:f 8.0:f\n", data + n, n - 2),
            };
        }
        text += &format!("{first}\n");
        for register in [at(&read, Part::Offset), at(&write, Part::Offset)].into_iter().flatten() {
            text += &format!("mov (8|M0) r{register}.0<1>:ud {}:ud\n", slots.unwrap());
        }
        if let Some(mask) = at(&write, Part::Mask) {
            // All four components: bits 19:16.
            text += &format!("mov (8|M0) r{mask}.0<1>:ud 0xf0000:ud\n");
        }
        text += &format!("{read}\n");
        let (from, to) = (read.reply(Part::Data).unwrap(), at(&write, Part::Data).unwrap());
        for n in 0..4 {
            text += &format!("add (8|M0) r{}.0<1>:f r{}.0<8;8,1>:f -8.0:f\n", to + n, from + n);
        }
        text += &write.to_string();
        let pixels = drawn_with(Some(&text), &RenderTarget::new(Simd::Eight));
        assert!(covered(&pixels).iter().all(|new| *new), "{slots:?} {masks}: {text}");
    }
}
