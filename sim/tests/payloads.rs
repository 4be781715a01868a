//! Messages of `genxml::eu::payload`, in kernels that the model runs. Oracle: the same computation
//! on the host.

use genxml::batch::{Batch, Buffer};
use genxml::engine::Render;
use genxml::eu::asm::{Options, assemble};
use genxml::eu::instruction::Register;
use genxml::eu::payload::MessageDescriptorSamplingEngineMessageType as Type;
use genxml::eu::payload::*;
use genxml::eu::syntax::Syntax;
use genxml::gen8::media::GpgpuWalkerSimdSize;
use genxml::gen8::state::{SurfaceFormat, TextureCoordinateMode};
use genxml::setup::{Dispatch, Filter, Heaps, Surface, sampler};
use genxml_core::lit;
use genxml_sim::Gpu;

const IN: u64 = 0x100_0000;
const OUT: u64 = 0x120_0000;
/// Dwords of a buffer.
const COUNT: usize = 64;

fn kernel(text: &str) -> Vec<u32> {
    let kernel = assemble(text, Syntax::Iga, &Options::default());
    kernel.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0])).dwords()
}

fn end() -> Placed {
    end_of_thread().place(112, None).unwrap()
}

/// Runs one thread per group. Surface 0 is `input`, surface 1 `output`, whose dwords are returned.
/// r1 has the numbers 0 to 7, r2 the numbers 8 to 15.
fn run(
    text: &str,
    (input, input_surface): (&[u32], Surface),
    (output, output_surface): (&[u32], Surface),
    groups: u32,
) -> Vec<u32> {
    let kernel = kernel(text);
    let input = Buffer::with_values("in", IN, input).unwrap();
    let out = Buffer::with_values("out", OUT, output).unwrap();
    let mut heaps = Heaps::new(0x20_0000).unwrap();
    let dispatch = Dispatch {
        surfaces: vec![
            heaps.surface(&input, &input_surface).unwrap(),
            heaps.surface(&out, &output_surface).unwrap(),
        ],
        samplers: vec![sampler(Filter::Nearest, TextureCoordinateMode::CLAMP)],
        groups: [groups, 1, 1],
        simd: GpgpuWalkerSimdSize::SIMD16,
        shared_constants: (0..16).collect(),
        ..Dispatch::new(&kernel)
    };
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096).unwrap().select_gpgpu().unwrap();
    batch.emit(&heaps.bases(&batch).unwrap()).unwrap();
    dispatch.emit(&mut batch, &mut heaps).unwrap();
    let buffers = heaps.finish().into_iter().chain([input, out]);
    let submission = batch.finish().unwrap().submit(buffers).unwrap();
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.execute(context, &submission).unwrap();
    gpu.values(context, OUT, output.len()).unwrap()
}

/// Runs a kernel on buffers without a format.
fn run_raw(text: &str, input: &[u32], output: &[u32], groups: u32) -> Vec<u32> {
    let raw = |values: &[u32]| Surface::raw(4 * values.len() as u32);
    run(text, (input, raw(input)), (output, raw(output)), groups)
}

fn numbers() -> Vec<u32> {
    (0..COUNT as u32).map(|n| n * 0x0101_0107 + 3).collect()
}

#[test]
fn oword_blocks() {
    let offset = Value::from(Register::grf(9));
    for (blocks, dwords) in [(MdcDbOw::OW2, 8), (MdcDbOw::OW4, 16), (MdcDbOw::OW8, 32)] {
        let read = oword_block_read(0, blocks, offset).unwrap().place(10, Some(20)).unwrap();
        let write = oword_block_write(1, blocks, offset).unwrap().place(30, None).unwrap();
        let (from, to) = (read.reply(Part::Data).unwrap(), write.register(Part::Data).unwrap());
        let copies: String = (0..dwords / 8)
            .map(|n| format!("(W) add (8|M0) r{}.0<1>:ud r{}.0<8;8,1>:ud 7:ud\n", to + n, from + n))
            .collect();
        let text = format!(
            "(W) mul (1|M0) r9.0<1>:ud r0.1<0;1,0>:ud {}:uw\n{read}\n{copies}{write}\n{}",
            dwords / 4,
            end()
        );
        let out = run_raw(&text, &numbers(), &[0; COUNT], (COUNT / dwords as usize) as u32);
        assert_eq!(out, numbers().iter().map(|n| n + 7).collect::<Vec<_>>(), "{blocks:?}");
    }
    // One oword at a constant offset: the upper half of the register.
    let read = oword_block_read(0, MdcDbOw::OW1U, 5.into()).unwrap().place(10, Some(20)).unwrap();
    let write = oword_block_write(1, MdcDbOw::OW1U, 2.into()).unwrap().place(30, None).unwrap();
    let text = format!("{read}\n(W) mov (8|M0) r31.0<1>:ud r20.0<8;8,1>:ud\n{write}\n{}", end());
    let mut expected = vec![0; COUNT];
    expected[8..12].copy_from_slice(&numbers()[20..24]);
    assert_eq!(run_raw(&text, &numbers(), &[0; COUNT], 1), expected);
}

/// Lines that write `index * factor + term` of each channel to a part, for 8 or 16 channels.
fn indices(simd: Simd, register: u8, factor: u32, term: u32) -> String {
    let n = simd.channels();
    format!(
        "mul ({n}|M0) r{register}.0<1>:ud r1.0<8;8,1>:ud {factor}:uw\n\
         add ({n}|M0) r{register}.0<1>:ud r{register}.0<8;8,1>:ud {term}:ud\n"
    )
}

#[test]
fn scattered_dwords() {
    for simd in [Simd::Eight, Simd::Sixteen] {
        let n = simd.channels();
        for base in [0, 4] {
            let value = (base != 0).then_some(Value::Constant(base));
            let read = dword_scattered_read(0, simd, value).place(10, Some(20)).unwrap();
            let write = dword_scattered_write(1, simd, value).place(30, None).unwrap();
            let text = format!(
                "{}{}{read}\nadd ({n}|M0) r{}.0<1>:ud r{}.0<8;8,1>:ud 1:ud\n{write}\n{}",
                indices(simd, read.register(Part::Offset).unwrap(), 3, 1),
                indices(simd, write.register(Part::Offset).unwrap(), 2, 0),
                write.register(Part::Data).unwrap(),
                read.reply(Part::Data).unwrap(),
                end()
            );
            let mut expected = vec![0; COUNT];
            for channel in 0..usize::from(n) {
                let base = base as usize;
                expected[2 * channel + base] = numbers()[3 * channel + 1 + base] + 1;
            }
            assert_eq!(run_raw(&text, &numbers(), &[0; COUNT], 1), expected, "{simd:?} {base}");
        }
    }
}

#[test]
fn scattered_bytes() {
    let bytes: Vec<u8> = numbers().iter().flat_map(|n| n.to_le_bytes()).collect();
    for simd in [Simd::Eight, Simd::Sixteen] {
        let n = simd.channels();
        for (size, width) in [(MdcDs::B, 1), (MdcDs::W, 2), (MdcDs::DW, 4)] {
            let read = byte_scattered_read(0, simd, size, Some(8.into())).unwrap();
            let read = read.place(10, Some(20)).unwrap();
            let write = byte_scattered_write(1, simd, size, None).unwrap().place(30, None).unwrap();
            let text = format!(
                "{}{}{read}\nmov ({n}|M0) r{}.0<1>:ud r{}.0<8;8,1>:ud\n{write}\n{}",
                indices(simd, read.register(Part::Offset).unwrap(), 5, 1),
                indices(simd, write.register(Part::Offset).unwrap(), 4, 1),
                write.register(Part::Data).unwrap(),
                read.reply(Part::Data).unwrap(),
                end()
            );
            let mut expected = vec![0u8; 4 * COUNT];
            for channel in 0..usize::from(n) {
                let from = 8 + 5 * channel + 1;
                let to = 4 * channel + 1;
                expected[to..to + width].copy_from_slice(&bytes[from..from + width]);
            }
            let out = run_raw(&text, &numbers(), &[0; COUNT], 1);
            let out: Vec<u8> = out.iter().flat_map(|n| n.to_le_bytes()).collect();
            assert_eq!(out, expected, "{simd:?} {size:?}");
        }
    }
}

/// Reads x and z of each vector, and writes them to y and w.
#[test]
fn untyped_components() {
    for (simd, mask) in [(Simd::Eight, 0xff), (Simd::Eight, 0x5a)] {
        let n = simd.channels();
        let value = (mask != 0xff).then_some(Value::Constant(mask));
        let read = untyped_read(0, simd, MdcCmask::RB, None).unwrap().place(10, Some(20)).unwrap();
        let write = untyped_write(1, simd, MdcCmask::GA, value).unwrap().place(30, None).unwrap();
        let parts = [(Part::Green, Part::Red), (Part::Alpha, Part::Blue)].map(|(to, from)| {
            let (to, from) = (write.register(to).unwrap(), read.reply(from).unwrap());
            format!("mov ({n}|M0) r{to}.0<1>:ud r{from}.0<8;8,1>:ud\n")
        });
        let text = format!(
            "{}{}{read}\n{}{write}\n{}",
            indices(simd, read.register(Part::Offset).unwrap(), 16, 0),
            indices(simd, write.register(Part::Offset).unwrap(), 16, 0),
            parts.concat(),
            end()
        );
        let mut expected = vec![0; COUNT];
        for channel in (0..usize::from(n)).filter(|channel| mask >> channel & 1 == 1) {
            expected[4 * channel + 1] = numbers()[4 * channel];
            expected[4 * channel + 3] = numbers()[4 * channel + 2];
        }
        assert_eq!(run_raw(&text, &numbers(), &[0; COUNT], 1), expected, "{simd:?} {mask:#x}");
    }
}

#[test]
fn untyped_in_sixteen_channels() {
    let simd = Simd::Sixteen;
    let read = untyped_read(0, simd, MdcCmask::RGB, None).unwrap().place(10, Some(20)).unwrap();
    let write = untyped_write(1, simd, MdcCmask::R, None).unwrap().place(30, None).unwrap();
    let text = format!(
        "{}{}{read}\nmov (16|M0) r{}.0<1>:ud r{}.0<8;8,1>:ud\n{write}\n{}",
        indices(simd, read.register(Part::Offset).unwrap(), 12, 0),
        indices(simd, write.register(Part::Offset).unwrap(), 4, 0),
        write.register(Part::Red).unwrap(),
        read.reply(Part::Blue).unwrap(),
        end()
    );
    let mut expected = vec![0; COUNT];
    for (channel, value) in expected[..16].iter_mut().enumerate() {
        *value = numbers()[3 * channel + 2];
    }
    assert_eq!(run_raw(&text, &numbers(), &[0; COUNT], 1), expected);
}

/// Each channel adds to its own dword, then channels 1 and up exchange a value that is there, or is
/// not there.
#[test]
fn atomics() {
    for simd in [Simd::Eight, Simd::Sixteen] {
        let n = simd.channels();
        let add = untyped_atomic(1, simd, MdcAop::AOP_ADD, true, None).unwrap();
        let add = add.place(10, Some(20)).unwrap();
        let swap = untyped_atomic(1, simd, MdcAop::AOP_CMPWR, false, None).unwrap();
        let swap = swap.place(30, None).unwrap();
        let count = untyped_atomic(1, simd, MdcAop::AOP_INC, false, None).unwrap();
        let count = count.place(40, None).unwrap();
        let write = untyped_write(0, simd, MdcCmask::R, None).unwrap().place(50, None).unwrap();
        let text = format!(
            "{}{}{add}\n{}{}{}{swap}\n{}{count}\n{}mov ({n}|M0) r{}.0<1>:ud r{}.0<8;8,1>:ud\n{write}\n{}",
            indices(simd, add.register(Part::Offset).unwrap(), 4, 0),
            indices(simd, add.register(Part::Operand0).unwrap(), 1, 100),
            indices(simd, swap.register(Part::Offset).unwrap(), 4, 0),
            // The sum is 1000 + 3 * channel + 100: only that of channel 4 is 1112.
            indices(simd, swap.register(Part::Operand0).unwrap(), 0, 1112),
            indices(simd, swap.register(Part::Operand1).unwrap(), 1, 7000),
            indices(simd, count.register(Part::Offset).unwrap(), 0, 4 * 20),
            indices(simd, write.register(Part::Offset).unwrap(), 4, 0),
            write.register(Part::Red).unwrap(),
            add.reply(Part::Data).unwrap(),
            end()
        );
        let before: Vec<u32> = (0..COUNT as u32).map(|n| 1000 + 2 * n).collect();
        let mut expected = before.clone();
        for (channel, value) in (0..).zip(&mut expected[..usize::from(n)]) {
            *value += 100 + channel;
        }
        expected[4] = 7004;
        expected[20] += u32::from(n);
        assert_eq!(run_raw(&text, &numbers(), &before, 1), expected, "{simd:?}");
    }
}

/// Copies an image with the coordinates swapped. The upper channels have their own messages.
#[test]
fn typed_images() {
    const SIZE: u32 = 8;
    let image = || Surface::image(SurfaceFormat::R32_UINT, SIZE, SIZE);
    let mut text = String::new();
    for slots in [MdcSg3::SG8L, MdcSg3::SG8U] {
        let upper = slots == MdcSg3::SG8U;
        let read = typed_read(0, slots, Coordinates::Two, MdcCmask::R, None).unwrap();
        let read = read.place(10, Some(20)).unwrap();
        let write = typed_write(1, slots, Coordinates::Two, MdcCmask::R, Some(0xfff7.into()));
        let write = write.unwrap().place(30, None).unwrap();
        let (row, channels) = if upper { ("2:ud", "M8") } else { ("0:ud", "M0") };
        // Channel n is at column n of row 2 * group + upper * 2.
        let reg = |message: &Placed, part| message.register(part).unwrap();
        text += &format!(
            "mov (8|{channels}) r{}.0<1>:ud r1.0<8;8,1>:ud\n\
             mov (8|{channels}) r{}.0<1>:ud {row}\n{read}\n\
             mov (8|{channels}) r{}.0<1>:ud {row}\n\
             mov (8|{channels}) r{}.0<1>:ud r1.0<8;8,1>:ud\n\
             add (8|{channels}) r{}.0<1>:ud r{}.0<8;8,1>:ud 9:ud\n{write}\n",
            reg(&read, Part::CoordinateU),
            reg(&read, Part::CoordinateV),
            reg(&write, Part::CoordinateU),
            reg(&write, Part::CoordinateV),
            reg(&write, Part::Red),
            read.reply(Part::Red).unwrap(),
        );
    }
    text += &end().to_string();
    let out = run(&text, (&numbers(), image()), (&[0; COUNT], image()), 1);
    let mut expected = vec![0; COUNT];
    for row in [0, 2] {
        for column in 0..8 {
            // The mask leaves out channel 3.
            if (row, column) != (0, 3) {
                expected[8 * column + row] = numbers()[8 * row + column] + 9;
            }
        }
    }
    assert_eq!(out, expected);
}

/// Channels 0 to 7 and 8 to 15 add 0 to 7 to the pixels of row 1, and the old values to row 3.
#[test]
fn typed_sums() {
    let mut text = String::new();
    for (slots, at) in [(MdcSg2::SG8L, "M0"), (MdcSg2::SG8U, "M8")] {
        let add = typed_atomic(1, slots, Coordinates::Two, MdcAop::AOP_ADD, true, None).unwrap();
        let add = add.place(10, Some(20)).unwrap();
        let [u, v, operand] = [Part::CoordinateU, Part::CoordinateV, Part::Operand0]
            .map(|part| add.register(part).unwrap());
        // The old value is added to row 3.
        text += &format!(
            "mov (8|{at}) r{u}.0<1>:ud r1.0<8;8,1>:ud\n\
             mov (8|{at}) r{v}.0<1>:ud 1:ud\n\
             mov (8|{at}) r{operand}.0<1>:ud r1.0<8;8,1>:ud\n{add}\n\
             mov (8|{at}) r{v}.0<1>:ud 3:ud\n\
             mov (8|{at}) r{operand}.0<1>:ud r{}.0<8;8,1>:ud\n{add}\n",
            add.reply(Part::Data).unwrap()
        );
    }
    text += &end().to_string();
    let image = || Surface::image(SurfaceFormat::R32_UINT, 8, 8);
    let out = run(&text, (&numbers(), image()), (&[5; COUNT], image()), 1);
    let mut expected = vec![5; COUNT];
    for column in 0..8 {
        expected[8 + column] = 5 + 2 * column as u32;
        // The old values of both: 5, and 5 plus the number.
        expected[24 + column] = 5 + 5 + 5 + column as u32;
    }
    assert_eq!(out, expected);
}

/// Reads a texel of an image for each channel, with `ld` and with `sample_l`.
#[test]
fn texels() {
    const SIZE: u32 = 8;
    for simd in [Simd::Eight, Simd::Sixteen] {
        let n = simd.channels();
        let write = untyped_write(1, simd, MdcCmask::RGBA, None).unwrap().place(80, None).unwrap();
        // Writes the texels as integers, which the sampler returned as values of `ty`.
        let store = |from: &Placed, ty: &str, factor: &str| {
            let offset = indices(simd, write.register(Part::Offset).unwrap(), 16, 0);
            let colors = [Part::Red, Part::Green, Part::Blue, Part::Alpha].map(|part| {
                let (to, from) = (write.register(part).unwrap(), from.reply(part).unwrap());
                format!(
                    "mul ({n}|M0) r{from}.0<1>:{ty} r{from}.0<8;8,1>:{ty} {factor}\n\
                     mov ({n}|M0) r{to}.0<1>:ud r{from}.0<8;8,1>:{ty}\n"
                )
            });
            format!("{offset}{}{write}\n{}", colors.concat(), end())
        };
        let run = |text: &str, format| {
            let image = Surface::image(format, SIZE, SIZE);
            run(text, (&numbers(), image), (&[0; COUNT], Surface::raw(256)), 1)
        };
        // Column n % 8 of row 5.
        let mut expected: Vec<u32> = (0..usize::from(n))
            .flat_map(|n| numbers()[8 * 5 + n % 8].to_le_bytes().map(u32::from))
            .collect();
        expected.resize(COUNT, 0);

        // The header moves each texel by one to the left.
        let header = SamplerMessageHeader { u_offset: lit!(-1), ..SamplerMessageHeader::new() };
        let load = Sample { header: Some(header), ..Sample::new(Type::LD, simd, Coordinates::Two) };
        let load = sample(&load).unwrap().place(10, Some(60)).unwrap();
        let [u, lod, v] = [Part::CoordinateU, Part::Lod, Part::CoordinateV]
            .map(|part| load.register(part).unwrap());
        let text = format!(
            "and ({n}|M0) r{u}.0<1>:ud r1.0<8;8,1>:ud 7:ud\n\
             add ({n}|M0) r{u}.0<1>:ud r{u}.0<8;8,1>:ud 1:ud\n\
             mov ({n}|M0) r{v}.0<1>:ud 5:ud\nmov ({n}|M0) r{lod}.0<1>:ud 0:ud\n{load}\n{}",
            store(&load, "ud", "1:uw")
        );
        assert_eq!(run(&text, SurfaceFormat::R8G8B8A8_UINT), expected, "ld {simd:?}");

        let level = Sample::new(Type::SAMPLE_L, simd, Coordinates::Two);
        let level = sample(&level).unwrap().place(10, Some(60)).unwrap();
        let [u, lod, v] = [Part::CoordinateU, Part::Lod, Part::CoordinateV]
            .map(|part| level.register(part).unwrap());
        let text = format!(
            "and ({n}|M0) r{u}.0<1>:ud r1.0<8;8,1>:ud 7:ud\n\
             mov ({n}|M0) r{u}.0<1>:f r{u}.0<8;8,1>:ud\n\
             add ({n}|M0) r{u}.0<1>:f r{u}.0<8;8,1>:f 0.5:f\n\
             mul ({n}|M0) r{u}.0<1>:f r{u}.0<8;8,1>:f 0.125:f\n\
             mov ({n}|M0) r{v}.0<1>:f 0.6875:f\nmov ({n}|M0) r{lod}.0<1>:f 0.0:f\n{level}\n{}",
            store(&level, "f", "255.25:f")
        );
        assert_eq!(run(&text, SurfaceFormat::R8G8B8A8_UNORM), expected, "sample_l {simd:?}");
    }
}
