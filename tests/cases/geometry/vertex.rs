//! Vertex fetch and vertex shaders. Oracle: exact rationals for the formats; the sums of OpenGL 4.6
//! 10.5 and 10.4 for instances and indices; gen8_facts 3.2 for the payloads of threads.

use crate::geometry::harness::{Draw, INDICES, VERTICES, firsts, model, register, written};
use genxml::eu;
use genxml::gen8::enums::{ThreeDPrimTopoType as Code, ThreeDVertexComponentControl as Component};
use genxml::gen8::mi::{MiLoadRegisterImm, MiLoadRegisterImmRegister};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateVertexBuffers,
    ThreeDStateVertexElements, ThreeDStateVf, ThreeDStateVfInstancing, VertexBufferState,
    VertexElementState,
};
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::state::SurfaceFormat as Format;
use genxml_cases::{KERNELS, Model, at, minus_one, push, u};
use genxml_core::S;

/// Dwords of a 3DPRIMITIVE, the last packet of a draw.
const PRIMITIVE: usize = 7;

/// Sets one element of a format at the start of each vertex of `pitch` bytes.
fn element(stages: &mut Vec<u32>, format: Format, pitch: u64) {
    let buffers = [VertexBufferState {
        buffer_pitch: u(pitch),
        address_modify_enable: true,
        buffer_starting_address: at(VERTICES),
        buffer_size: u(64 << 10),
        ..VertexBufferState::new()
    }];
    let elements = [VertexElementState {
        valid: true,
        source_element_format: format,
        component_0_control: Component::VFCOMP_STORE_SRC,
        component_1_control: Component::VFCOMP_STORE_SRC,
        component_2_control: Component::VFCOMP_STORE_SRC,
        component_3_control: Component::VFCOMP_STORE_SRC,
        ..VertexElementState::new()
    }];
    push(stages, &ThreeDStateVertexBuffers { vertex_buffer_state: buffers[..].into() });
    push(stages, &ThreeDStateVertexElements { element: elements[..].into() });
}

/// Channels of a format as its name says: the bits of each from bit 0 on, and how they are
/// converted.
#[test]
fn formats() {
    #[derive(Clone, Copy, PartialEq)]
    enum As {
        Unorm,
        Snorm,
        Uint,
        Sint,
        Uscaled,
        Sscaled,
        Float,
        Fixed,
    }
    use As::{Fixed, Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};
    let list: [(Format, As, &[u32]); 26] = [
        (Format::R8_UNORM, Unorm, &[8]),
        (Format::R8G8_SNORM, Snorm, &[8, 8]),
        (Format::R8G8B8_UNORM, Unorm, &[8, 8, 8]),
        (Format::R8G8B8A8_UNORM, Unorm, &[8, 8, 8, 8]),
        (Format::R8G8B8A8_SNORM, Snorm, &[8, 8, 8, 8]),
        (Format::R8G8B8A8_UINT, Uint, &[8, 8, 8, 8]),
        (Format::R8G8B8A8_SINT, Sint, &[8, 8, 8, 8]),
        (Format::R8G8B8A8_USCALED, Uscaled, &[8, 8, 8, 8]),
        (Format::R8G8B8A8_SSCALED, Sscaled, &[8, 8, 8, 8]),
        (Format::R10G10B10A2_UNORM, Unorm, &[10, 10, 10, 2]),
        (Format::R10G10B10A2_SNORM, Snorm, &[10, 10, 10, 2]),
        (Format::R10G10B10A2_UINT, Uint, &[10, 10, 10, 2]),
        (Format::R10G10B10A2_SSCALED, Sscaled, &[10, 10, 10, 2]),
        (Format::R16_UINT, Uint, &[16]),
        (Format::R16G16_SNORM, Snorm, &[16, 16]),
        (Format::R16G16_USCALED, Uscaled, &[16, 16]),
        (Format::R16G16B16_SINT, Sint, &[16, 16, 16]),
        (Format::R16G16B16A16_UNORM, Unorm, &[16, 16, 16, 16]),
        (Format::R16G16B16A16_SSCALED, Sscaled, &[16, 16, 16, 16]),
        (Format::R32_SINT, Sint, &[32]),
        (Format::R32G32_UINT, Uint, &[32, 32]),
        (Format::R32G32B32_FLOAT, Float, &[32, 32, 32]),
        (Format::R32G32B32A32_SINT, Sint, &[32, 32, 32, 32]),
        (Format::R32G32_SFIXED, Fixed, &[32, 32]),
        (Format::R32G32B32A32_USCALED, Uscaled, &[32, 32, 32, 32]),
        (Format::R32_FLOAT, Float, &[32]),
    ];
    let mut model = model();
    for (format, kind, channels) in list {
        let bytes = u64::from(channels.iter().sum::<u32>()) / 8;
        let mut draw = Draw::new(Code::_3DPRIM_POINTLIST, 64);
        element(&mut draw.stages, format, bytes);
        let batch = draw.batch(&mut model);
        let mut random = genxml_cases::Random::new(bytes);
        let mut data: Vec<u8> = (0..64 * bytes).map(|_| random.below(256) as u8).collect();
        // Extreme values: all zeros, all ones, and only the highest bit of the last channel.
        data[..2 * bytes as usize].fill(0);
        data[bytes as usize..2 * bytes as usize].fill(0xff);
        data[2 * bytes as usize..3 * bytes as usize].fill(0);
        data[3 * bytes as usize - 1] = 0x80;
        model.write(VERTICES, &data);
        model.render(&batch).unwrap();
        for (n, found) in written(&mut model, 0).into_iter().enumerate() {
            let vertex = &data[n * bytes as usize..][..bytes as usize];
            let all = vertex.iter().rev().fold(0_u128, |bits, &byte| bits << 8 | u128::from(byte));
            let mut first = 0;
            let mut want = [0, 0, 0, if matches!(kind, Uint | Sint) { 1 } else { 1f32.to_bits() }];
            for (to, &width) in want.iter_mut().zip(channels) {
                let raw = (all >> first) as u64 & (u64::MAX >> (64 - width));
                first += width;
                let signed = (raw as i64) << (64 - width) >> (64 - width);
                let unit = |bits: u32| ((1_u64 << bits) - 1) as f64;
                *to = match kind {
                    Unorm => ((raw as f64 / unit(width)) as f32).to_bits(),
                    Snorm => ((signed as f64 / unit(width - 1)).max(-1.0) as f32).to_bits(),
                    Uint | Float => raw as u32,
                    Sint => signed as u32,
                    Uscaled => (raw as f32).to_bits(),
                    Sscaled => (signed as f32).to_bits(),
                    Fixed => ((signed as f64 / 65536.0) as f32).to_bits(),
                };
            }
            // Signalling NaNs may become quiet.
            let nan = |bits: u32| kind == Float && f32::from_bits(bits).is_nan();
            let same = found
                .iter()
                .zip(want)
                .all(|(&a, b)| a == b || nan(a) && nan(b) || (a ^ b) == 1 << 31 && a << 1 == 0);
            assert!(same, "{format:?} vertex {n}: {found:x?} instead of {want:x?}");
        }
    }
}

/// Instanced elements: instance i has index start + i / rate, whatever the vertex. With rate 0 the
/// index is always start.
#[test]
fn instances() {
    let mut model = model();
    for (rate, start) in [(0, 3), (1, 0), (1, 7), (2, 1), (3, 5), (u32::MAX, 4)] {
        let mut draw = Draw::new(Code::_3DPRIM_POINTLIST, 40);
        let instancing = ThreeDStateVfInstancing {
            vertex_element_index: u(0),
            instancing_enable: true,
            instance_data_step_rate: u(rate.into()),
        };
        push(&mut draw.stages, &instancing);
        let mut batch = draw.batch(&mut model);
        batch.truncate(batch.len() - PRIMITIVE);
        let primitive = ThreeDPrimitive {
            vertex_count_per_instance: u(2),
            instance_count: u(7),
            start_instance_location: u(start.into()),
            ..ThreeDPrimitive::new()
        };
        push(&mut batch, &primitive);
        model.render(&batch).unwrap();
        let want: Vec<u32> =
            (0..14).map(|n| start + (n / 2_u32).checked_div(rate).unwrap_or(0)).collect();
        assert_eq!(firsts(&written(&mut model, 0)), want, "rate {rate} start {start}");
    }
}

/// Indices of each size, from the start and with an offset. If cuts are enabled, an index of all
/// ones in its size ends a strip.
#[test]
fn index_sizes_and_cuts() {
    let mut model = model();
    let indices = [5, 3, 9, u32::MAX, 1, 2, u32::MAX, 4, u32::MAX, 7, 6, 8];
    for (format, bytes) in [(IndexFormat::BYTE, 1), (IndexFormat::WORD, 2), (IndexFormat::DWORD, 4)]
    {
        for (first, base, cut) in [(0, 0, true), (2, 10, true), (4, -1, true), (9, 0, false)] {
            let mut batch = Draw::new(Code::_3DPRIM_LINESTRIP, 32).batch(&mut model);
            batch.truncate(batch.len() - PRIMITIVE);
            let raw: Vec<u8> =
                indices.iter().flat_map(|index| index.to_le_bytes()[..bytes].to_vec()).collect();
            model.write(INDICES, &raw);
            let buffer = ThreeDStateIndexBuffer {
                index_format: format,
                buffer_starting_address: at(INDICES),
                buffer_size: u(raw.len() as u64),
                ..ThreeDStateIndexBuffer::new()
            };
            push(&mut batch, &buffer);
            let cut_index = u(u32::MAX.into());
            push(&mut batch, &ThreeDStateVf { indexed_draw_cut_index_enable: cut, cut_index });
            let primitive = ThreeDPrimitive {
                vertex_access_type: Access::RANDOM,
                vertex_count_per_instance: u(12 - first as u64),
                instance_count: u(1),
                start_vertex_location: u(first as u64),
                base_vertex_location: S::new(base).unwrap(),
                ..ThreeDPrimitive::new()
            };
            push(&mut batch, &primitive);
            model.render(&batch).unwrap();
            let strips = indices[first..].split(|&index| index == u32::MAX);
            let lines = strips.flat_map(|strip| {
                strip.windows(2).flat_map(|line| line.to_vec()).collect::<Vec<_>>()
            });
            let want: Vec<u32> =
                lines.map(|index| index.wrapping_add_signed(base as i32)).collect();
            assert_eq!(
                firsts(&written(&mut model, 0)),
                want,
                "{bytes} bytes from {first} base {base}"
            );
        }
    }
}

/// A draw takes its counts and starts from registers, which MI_LOAD_REGISTER_IMM sets.
#[test]
fn parameters_from_registers() {
    let mut model = model();
    let mut batch = Draw::new(Code::_3DPRIM_POINTLIST, 40).batch(&mut model);
    batch.truncate(batch.len() - PRIMITIVE);
    // 3DPRIM_START_VERTEX, VERTEX_COUNT, INSTANCE_COUNT, START_INSTANCE, BASE_VERTEX (gen8_facts
    // 2.7).
    let values = [(0x2430, 6), (0x2434, 3), (0x2438, 2), (0x243c, 0), (0x2440, 0)];
    let register = values.map(|(offset, value)| MiLoadRegisterImmRegister {
        register_offset: at(offset),
        data_dword: u(value),
    });
    push(
        &mut batch,
        &MiLoadRegisterImm { register: register[..].into(), ..MiLoadRegisterImm::new() },
    );
    push(
        &mut batch,
        &ThreeDPrimitive { indirect_parameter_enable: true, ..ThreeDPrimitive::new() },
    );
    model.render(&batch).unwrap();
    assert_eq!(firsts(&written(&mut model, 0)), [6, 7, 8, 6, 7, 8]);
}

/// Eight vertices per thread: r1 has their handles, r2 to r5 their first slot. Adds 100 to the
/// first two components.
const EIGHT: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r1.0<8;8,1>:ud
    add (8|M0)       r113.0<1>:ud  r2.0<8;8,1>:ud  100:ud
    add (8|M0)       r114.0<1>:ud  r3.0<8;8,1>:ud  100:ud
    mov (8|M0)       r115.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r116.0<1>:ud  r5.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT}
};

/// Two vertices per thread, one in each half of the registers: r0 has their handles, r1 their first
/// slot. Adds 100 to all components.
const TWO: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    add (8|M0)       r113.0<1>:ud  r1.0<8;8,1>:ud  100:ud
    send (8|M0)      null  r112  0x26  0x04088001  {EOT}
};

fn shaded(model: &mut Model, kernel: &[u32], vs: ThreeDStateVs, count: u32) -> Vec<[u32; 4]> {
    model.put(KERNELS, kernel);
    let mut draw = Draw::new(Code::_3DPRIM_POINTLIST, count);
    let vs = ThreeDStateVs {
        function_enable: true,
        statistics_enable: true,
        vertex_urb_entry_read_length: u(1),
        maximum_number_of_threads: minus_one(8),
        ..vs
    };
    push(&mut draw.stages, &vs);
    draw.run(model).unwrap()
}

/// Numbers of vertices that fill the threads, and numbers that do not.
#[test]
fn dispatch_modes() {
    let mut model = model();
    let eight = ThreeDStateVs {
        simd8_dispatch_enable: true,
        dispatch_grf_start_register_for_urb_data: u(2),
        ..ThreeDStateVs::new()
    };
    let two =
        ThreeDStateVs { dispatch_grf_start_register_for_urb_data: u(1), ..ThreeDStateVs::new() };
    let mut total = 0;
    for count in [1, 2, 7, 8, 9, 31] {
        let want: Vec<[u32; 4]> =
            (0..count).map(|n| [100 + n, 1100 + n, 2000 + n, 3000 + n]).collect();
        let threads = model.counters()[1];
        assert_eq!(shaded(&mut model, EIGHT, eight, count), want);
        assert_eq!(model.counters()[1] - threads, u64::from(count.div_ceil(8)));
        let want: Vec<[u32; 4]> =
            (0..count).map(|n| [100 + n, 1100 + n, 2100 + n, 3100 + n]).collect();
        assert_eq!(shaded(&mut model, TWO, two, count), want);
        total += 2 * count;
        // Register 0x2320 is VS_INVOCATION_COUNT.
        assert_eq!(register(&mut model, 0x2320), total);
    }
}

/// Without vertex cache, a vertex is shaded each time that its index appears, also after a cut (2a
/// p.258-267, Vertex Cache Disable). Vertices of a strip are shared without cache, too.
#[test]
fn vertex_cache() {
    let list: &[u32] = &[0, 1, 2, 2, 1, 3];
    let strip: &[u32] = &[0, 1, 2, 3, u32::MAX, 2, 1, 0];
    for (code, indices, each) in
        [(Code::_3DPRIM_TRILIST, list, 6), (Code::_3DPRIM_TRISTRIP, strip, 7)]
    {
        for (disabled, want) in [(false, 4), (true, each)] {
            let mut model = model();
            model.put(KERNELS, EIGHT);
            let mut draw = Draw { indices: Some(indices.to_vec()), ..Draw::new(code, 4) };
            let vs = ThreeDStateVs {
                function_enable: true,
                statistics_enable: true,
                simd8_dispatch_enable: true,
                vertex_cache_disable: disabled,
                vertex_urb_entry_read_length: u(1),
                dispatch_grf_start_register_for_urb_data: u(2),
                maximum_number_of_threads: minus_one(8),
                ..ThreeDStateVs::new()
            };
            push(&mut draw.stages, &vs);
            let order: &[u32] = match code {
                Code::_3DPRIM_TRILIST => list,
                _ => &[0, 1, 2, 1, 3, 2, 2, 1, 0],
            };
            let expected: Vec<u32> = order.iter().map(|n| 100 + n).collect();
            assert_eq!(firsts(&draw.run(&mut model).unwrap()), expected, "{code:?} {disabled}");
            // VS_INVOCATION_COUNT.
            assert_eq!(register(&mut model, 0x2320), want, "{code:?} {disabled}");
        }
    }
}
