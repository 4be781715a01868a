//! Oracle: each sample of the buffers, by its address. The minimum of the rectangle is inclusive,
//! the maximum is exclusive (2a p.284-285).

use super::*;
use crate::gpu::Gpu;
use genxml::core::{Address, MinusOne, Shifted, U};
use genxml::gen8::render3d_depth::ThreeDStateDepthBufferSurfaceFormat as Format;
use genxml::gen8::state::{NumberOfMultisamples, SurfaceType};

const DEPTH: u64 = 0x100_0000;
const STENCIL: u64 = 0x200_0000;

#[test]
fn rectangles() {
    for (format, element) in [
        (Format::D32_FLOAT, &[0u8, 0, 0, 0x3f][..]),
        (Format::D24_UNORM_X8_UINT, &[0, 0, 0x80, 0]),
        (Format::D16_UNORM, &[0, 0x80]),
    ] {
        for log in 0..4 {
            let samples = NumberOfMultisamples::from_bits(log);
            let mut depth = ThreeDStateDepthBuffer::new();
            depth.surface_type = SurfaceType::SURFTYPE_2D;
            depth.surface_format = format;
            depth.surface_base_address = Address::new(DEPTH).unwrap();
            depth.surface_pitch = MinusOne::new(1024).unwrap();
            depth.width = MinusOne::new(50).unwrap();
            depth.height = MinusOne::new(40).unwrap();
            depth.depth = MinusOne::new(2).unwrap();
            depth.minimum_array_element = U::new(1).unwrap();
            depth.surface_qpitch = Shifted::new(128).unwrap();
            let mut stencil = ThreeDStateStencilBuffer::new();
            stencil.stencil_buffer_enable = true;
            stencil.surface_base_address = Address::new(STENCIL).unwrap();
            stencil.surface_pitch = MinusOne::new(512).unwrap();
            stencil.surface_qpitch = Shifted::new(128).unwrap();
            let mut operation = ThreeDStateWmHzOp::new();
            operation.clear_rectangle_x_min = U::new(3).unwrap();
            operation.clear_rectangle_x_max = U::new(60).unwrap();
            operation.clear_rectangle_y_min = U::new(7).unwrap();
            operation.clear_rectangle_y_max = U::new(33).unwrap();
            let mask = 0b1010_0101;
            let mut gpu = Gpu::new();
            let context = gpu.create_context().unwrap();
            gpu.load(context, DEPTH, &vec![0x11; 400 << 10]).unwrap();
            gpu.load(context, STENCIL, &vec![0x22; 256 << 10]).unwrap();
            let (depth_plane, _) = depth_plane(&depth, samples).unwrap().unwrap();
            let stencil_plane = stencil_plane(&stencil, &depth, samples).unwrap().unwrap();
            for (plane, element) in [(&depth_plane, element), (&stencil_plane, &[0x77])] {
                let rectangle = Rectangle::of(&operation, None, plane);
                assert_eq!(rectangle.area(), 47 * 26);
                rectangle.fill(&mut gpu.vm(context), plane, mask, element).unwrap();
                let mut changed = 0;
                for slice in 1..3 {
                    for y in 0..40 {
                        for x in 0..50 {
                            for sample in 0..1 << log {
                                let mut found = vec![0; element.len()];
                                let at = plane.surface.texel(&plane.level, slice, x, y, sample);
                                gpu.vm(context).read(at, &mut found).unwrap();
                                let inside = slice == 1 && x >= 3 && (7..33).contains(&y);
                                let expected = inside && mask >> sample & 1 == 1;
                                assert_eq!(
                                    found == element,
                                    expected,
                                    "{format:?} {log}: {slice} {x} {y} {sample}"
                                );
                                changed += usize::from(expected) * element.len();
                            }
                        }
                    }
                }
                // No other byte has changed.
                let (base, old, length) = match element.len() {
                    1 => (STENCIL, 0x22, 256 << 10),
                    _ => (DEPTH, 0x11, 400 << 10),
                };
                let mut all = vec![0; length];
                gpu.vm(context).read(base, &mut all).unwrap();
                assert_eq!(all.iter().filter(|&&byte| byte != old).count(), changed);
            }
        }
    }
}
