//! Speed of decoding and printing instructions on one thread, in instructions per second. Uses the
//! real kernels of the corpus, or, without the corpus, a mix of the most frequent instructions of
//! compilers.

use divan::Bencher;
use divan::counter::ItemsCount;
use genxml_eu::disasm::write_listing;
use genxml_eu::instruction::*;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Instruction, Opcode, compact, instructions, natives};
use genxml_testkit::corpus;

fn main() {
    divan::main();
}

/// The kernels of the corpus, about a megabyte, or the mix if there is no corpus.
fn kernels() -> Vec<Vec<u8>> {
    let found = corpus::folder().map_or(Vec::new(), |corpus| corpus::kernels(&corpus));
    let found: Vec<Vec<u8>> = found.into_iter().map(|(_, bytes)| bytes).collect();
    if found.is_empty() { vec![mix()] } else { found }
}

fn mix() -> Vec<u8> {
    let float = |number| {
        Operand::Register(Source::new(Register::grf(number), DataType::F, Region::packed(8)))
    };
    let mut add = Instruction::new(Opcode::Add, 8);
    add.destination = Some(Destination::new(Register::grf(4), DataType::F));
    add.sources = [float(2), float(3), Operand::None];
    let mut mov = Instruction { opcode: Opcode::Mov, ..add };
    mov.sources = [
        Operand::Immediate(Immediate { ty: DataType::F, bits: 0x3fc0_0000 }),
        Operand::None,
        Operand::None,
    ];
    let mut send = Instruction::new(Opcode::Send, 8);
    send.destination = Some(Destination::new(Register::grf(10), DataType::Ud));
    send.sources[0] = float(4);
    let descriptor = Descriptor::Immediate(0x0411_4e01);
    send.send =
        Some(Send { function: SharedFunction::DataPort1, descriptor, end_of_thread: false });
    let forms = [add, mov, add, add, send]
        .map(|instruction| instruction.encode().expect("a plain instruction"));
    (0..2000).flat_map(|_| forms).flatten().flat_map(u32::to_le_bytes).collect()
}

fn print(bencher: Bencher<'_, '_>, syntax: Syntax) {
    let kernels = kernels();
    let count: usize = kernels.iter().map(|bytes| instructions(bytes).count()).sum();
    let mut text = String::new();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        for kernel in &kernels {
            text.clear();
            // Writing to a string cannot fail.
            let _ = write_listing(&mut text, kernel, syntax);
        }
        text.len()
    });
}

#[divan::bench]
fn listing_iga(bencher: Bencher<'_, '_>) {
    print(bencher, Syntax::Iga);
}

#[divan::bench]
fn listing_mesa(bencher: Bencher<'_, '_>) {
    print(bencher, Syntax::Mesa);
}

#[divan::bench]
fn decode(bencher: Bencher<'_, '_>) {
    let kernels = kernels();
    let count: usize = kernels.iter().map(|bytes| instructions(bytes).count()).sum();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        kernels
            .iter()
            .map(|kernel| instructions(kernel).flatten().filter(|line| line.position > 0).count())
            .sum::<usize>()
    });
}

#[divan::bench]
fn compact_natives(bencher: Bencher<'_, '_>) {
    let kernels = kernels();
    let forms: Vec<[u32; 4]> =
        kernels.iter().flat_map(|kernel| natives(kernel)).map(|native| native.dwords).collect();
    bencher
        .counter(ItemsCount::new(forms.len()))
        .bench_local(|| forms.iter().filter(|native| compact(native).is_some()).count());
}
