//! Compaction and expansion.

use genxml_eu::instruction::*;
use genxml_eu::kernel::Located;
use genxml_eu::{
    CompactError, Instruction, Opcode, compact, compact_kernel, decode, expand, expand_kernel,
    instructions,
};
use genxml_testkit::corpus;
use genxml_testkit::text::{dwords, hex};
use std::collections::BTreeMap;

fn bytes(forms: &[&[u32]]) -> Vec<u8> {
    forms.iter().flat_map(|form| form.iter().flat_map(|dword| dword.to_le_bytes())).collect()
}

fn expanded(compact: [u32; 2]) -> [u32; 4] {
    expand(u64::from(compact[0]) | u64::from(compact[1]) << 32).unwrap()
}

/// The instruction `mov (8|M0) r<to>.0<1>:ud r1.0<8;8,1>:ud`.
fn mov(to: u8) -> Instruction {
    let mut mov = Instruction::new(Opcode::Mov, 8);
    mov.destination = Some(Destination::new(Register::grf(to), DataType::Ud));
    mov.sources[0] =
        Operand::Register(Source::new(Register::grf(1), DataType::Ud, Region::packed(8)));
    mov
}

fn mov_immediate(ty: DataType, bits: u64) -> Instruction {
    let mut mov = Instruction::new(Opcode::Mov, 8);
    mov.destination = Some(Destination::new(Register::grf(3), ty));
    mov.sources[0] = Operand::Immediate(Immediate { ty, bits });
    mov
}

fn jump(opcode: Opcode, jip: i32, uip: Option<i32>) -> Instruction {
    let mut jump = Instruction::new(opcode, if opcode == Opcode::Jmpi { 1 } else { 8 });
    jump.no_mask = opcode == Opcode::Jmpi;
    jump.branch = Some(Branch { jip, uip });
    jump
}

/// Oracle: the rows of 2d p.153-155 by their descriptions, as in `own.rs`.
#[test]
fn known_form() {
    let form =
        0x40 | 22 << 8 | 18 << 13 | 1 << 29 | 28 << 30 | 28 << 35 | 5 << 40 | 6 << 48 | 7 << 56u64;
    let native = expand(form).unwrap();
    assert_eq!(compact(&native), Some([form as u32, (form >> 32) as u32]));
    // The compact form cannot express bit 11, NibCtrl.
    assert_eq!(compact(&[native[0] | 1 << 11, native[1], native[2], native[3]]), None);
    assert_eq!(compact(&[0x7e, 0, 0, 0]), None, "nop");
    assert_eq!(compact(&[0x7d, 0, 0, 0]), None, "no operation");
}

/// Bit 7 of the compact form is the breakpoint (Mesa brw_inst.h), which is bit 30 of the native
/// one.
#[test]
fn breakpoints() {
    let stop = Instruction { breakpoint: true, ..mov(2) };
    let form = stop.compact().unwrap();
    assert_eq!(form[0] & 0xff, 0x81);
    assert_eq!(decode(&form).unwrap(), Instruction { compacted: true, ..stop });
    let nop = decode(&[0x2000_00fe, 0]).unwrap();
    assert_eq!((nop.opcode, nop.breakpoint), (Opcode::Nop, true));
}

/// 13 bits with sign hold -4096 to 4095.
#[test]
fn immediates_have_13_bits() {
    let mut add = mov(2);
    add.opcode = Opcode::Add;
    if let Operand::Register(source) = &mut add.sources[0] {
        source.ty = DataType::D;
    }
    add.destination = Some(Destination::new(Register::grf(2), DataType::D));
    for (value, fits) in
        [(0, true), (4095, true), (4096, false), (-1, true), (-4096, true), (-4097, false)]
    {
        add.sources[1] =
            Operand::Immediate(Immediate { ty: DataType::D, bits: u64::from(value as u32) });
        let form = add.compact();
        assert_eq!(form.is_some(), fits, "{value}");
        if let Some(form) = form {
            assert_eq!(expanded(form), add.encode().unwrap());
        }
    }
}

/// If the tables have no row for the types of a `mov`, types with the same result are used; nothing
/// else is changed.
#[test]
fn other_types_of_moves() {
    let read = |form: [u32; 2]| decode(&form).unwrap().sources[0];
    let zero = mov_immediate(DataType::F, 0);
    let vector = Operand::Immediate(Immediate { ty: DataType::Vf, bits: 0 });
    assert_eq!(zero.compact().map(read), Some(vector));
    assert_eq!(compact(&zero.encode().unwrap()), None, "there is no row for the original types");
    let dword = mov_immediate(DataType::D, 5);
    let unsigned = Operand::Immediate(Immediate { ty: DataType::Ud, bits: 5 });
    assert_eq!(dword.compact().map(read), Some(unsigned));
    let minus_zero = mov_immediate(DataType::F, 0x8000_0000);
    assert_eq!(minus_zero.compact(), None);
    let saturated = Instruction { saturate: true, ..mov_immediate(DataType::D, 5) };
    assert_eq!(saturated.for_compaction(), saturated);
}

/// The end of thread has no compact form, although its last dword, -4096, fits 13 bits with sign.
#[test]
fn end_of_thread() {
    let mut send = Instruction::new(Opcode::Send, 8);
    send.no_mask = true;
    send.destination = Some(Destination::new(Register::NULL, DataType::Ud));
    send.sources[0] =
        Operand::Register(Source::new(Register::grf(112), DataType::Ud, Region::packed(8)));
    let message = Send {
        function: SharedFunction::ThreadSpawner,
        descriptor: Descriptor::Immediate(0x7fff_f000),
        end_of_thread: true,
    };
    send.send = Some(message);
    assert_eq!(send.compact(), None);
    let alive = Instruction { send: Some(Send { end_of_thread: false, ..message }), ..send };
    assert_eq!(alive.compact(), None, "too wide");
}

/// Jumps keep their targets when the instructions between shrink, and when they grow back.
#[test]
fn jumps_follow() {
    let native = |instruction: Instruction| instruction.encode().unwrap();
    // Byte offsets: 0 if (JIP 48, UIP 64), 16 mov, 32 mov, 48 jmpi to 16, 64 endif to the next
    // instruction, 80 end of the kernel.
    let kernel = bytes(&[
        &native(jump(Opcode::If, 48, Some(64))),
        &native(mov(4)),
        &native(mov(5)),
        &native(jump(Opcode::Jmpi, -32, None)),
        &native(jump(Opcode::Endif, 16, None)),
    ]);
    let small = compact_kernel(&kernel).unwrap();
    let read: Vec<Located> = instructions(&small).map(Result::unwrap).collect();
    let at: Vec<(u64, u32)> =
        read.iter().map(|line| (line.position, line.instruction.length())).collect();
    assert_eq!(at[..4], [(0, 16), (16, 8), (24, 8), (32, at[3].1)]);
    let end = small.len() as i32;
    let endif = at[4].0 as i32;
    assert_eq!(read[0].instruction.branch, Some(Branch { jip: 32, uip: Some(endif) }));
    assert_eq!(read[3].instruction.branch, Some(Branch { jip: -16, uip: None }));
    assert_eq!(read[4].instruction.branch, Some(Branch { jip: end - endif, uip: None }));
    assert_eq!(expand_kernel(&small).unwrap(), kernel);
    assert_eq!(compact_kernel(&small).unwrap(), small);
}

/// A `jmpi` over 4096 bytes or more has no compact form; this moves the instructions after it.
#[test]
fn far_jumps_stay_wide() {
    let short = mov(4).compact().unwrap();
    // The compaction tables give the instruction pointer other types than `Instruction::encode`.
    let [low, high] = jump(Opcode::Jmpi, 64, None).compact().unwrap();
    let near = expand(u64::from(high) << 32 | u64::from(low)).unwrap();
    for count in [510, 511, 512, 513] {
        // The last dword is the distance from the next instruction.
        let jump = [near[0], near[1], near[2], count as u32 * 8];
        let forms: Vec<&[u32]> =
            std::iter::once(&jump[..]).chain((0..count).map(|_| &short[..])).collect();
        let small = compact_kernel(&bytes(&forms)).unwrap();
        let first = instructions(&small).next().unwrap().unwrap();
        assert_eq!(first.instruction.branch.unwrap().jip as usize, small.len());
        assert_eq!(first.instruction.compacted, count * 8 <= 4095, "{count}");
    }
}

/// An opcode without an operation has no compact form. When eight bytes with such an opcode are
/// expanded, the bit that marks the 8-byte form must be cleared.
#[test]
fn unknown_operations_grow() {
    let small = bytes(&[&[0xffff_ffff, 0x0aff_ffff], &mov(4).compact().unwrap()]);
    let wide = expand_kernel(&small).unwrap();
    assert_eq!(wide.len(), 32);
    let read: Vec<Opcode> =
        instructions(&wide).map(|line| line.unwrap().instruction.opcode).collect();
    assert_eq!(read, [Opcode::Illegal, Opcode::Mov]);
    assert_eq!(expand_kernel(&compact_kernel(&small).unwrap()).unwrap(), wide);
}

/// A kernel whose jumps cannot be corrected is an error.
#[test]
fn kernels_that_are_refused() {
    let native = |instruction: Instruction| instruction.encode().unwrap();
    let lost = bytes(&[&native(jump(Opcode::Endif, 8, None)), &native(mov(1))]);
    let error = compact_kernel(&lost).unwrap_err();
    assert_eq!(error, CompactError::Target { position: 0, operation: Opcode::Endif, target: 8 });
    assert_eq!(
        error.to_string(),
        "endif at byte 0x0 jumps to byte 0x8, which is not the start of an instruction"
    );
    let mut reads = mov(1);
    let pointer = Register::Arf { file: Arf::InstructionPointer, number: 0, byte: 0 };
    reads.sources[0] = Operand::Register(Source::new(pointer, DataType::Ud, Region::SCALAR));
    let error = compact_kernel(&bytes(&[&native(mov(1)), &native(reads)])).unwrap_err();
    assert_eq!(error, CompactError::Position { position: 16, operation: Opcode::Mov });
    assert!(matches!(compact_kernel(&[1, 0, 0, 0]), Err(CompactError::Decode(_))));
    assert_eq!(compact_kernel(&[]), Ok(Vec::new()));
}

/// Oracle: compact and full forms of instructions in real kernels, from Mesa. Each full form
/// compacts to the compact form in its row of the table.
#[test]
fn table_of_forms() {
    let Some(corpus) = corpus::folder() else { return };
    let table = std::fs::read_to_string(corpus.join("eu/compaction.tsv")).unwrap();
    let (mut rows, mut bad, mut typed) = (0, Vec::new(), 0);
    for row in table.lines().skip(1) {
        let mut columns = row.split('\t');
        let form = dwords(&hex(columns.next().unwrap()));
        let full: [u32; 4] = dwords(&hex(columns.next().unwrap())).try_into().unwrap();
        rows += 1;
        if compact(&full).map(Vec::from).as_ref() != Some(&form) {
            bad.push(row.to_string());
        }
        typed +=
            usize::from(decode(&full).unwrap().compact().map(Vec::from).as_ref() == Some(&form));
    }
    println!(
        "{} of {rows} rows give their form; {typed} by way of a typed instruction",
        rows - bad.len()
    );
    assert!(rows >= 3_600);
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(typed * 1000 >= rows * 999, "{typed}");
}

/// Oracle: the choices of Intel's and Beignet's compilers between the two forms of each
/// instruction, in kernels that have compact instructions.
#[test]
fn forms_chosen_as_in_kernels() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut total, mut same, mut typed) = (0, 0, 0);
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (path, bytes) in corpus::kernels(&corpus) {
        let lines: Vec<Located> = instructions(&bytes).map(Result::unwrap).collect();
        if !lines.iter().any(|line| line.instruction.compacted) {
            continue;
        }
        for Located { position, instruction } in lines {
            let at = position as usize;
            let found = dwords(&bytes[at..at + instruction.length() as usize]);
            let native = match found[..] {
                [a, b] => expanded([a, b]),
                _ => found[..].try_into().unwrap(),
            };
            let form = |form: Option<[u32; 2]>| form.map_or(native.to_vec(), Vec::from);
            total += 1;
            same += usize::from(form(compact(&native)) == found);
            if form(instruction.compact()) == found {
                typed += 1;
            } else {
                let entry = kinds.entry(instruction.opcode.to_string()).or_default();
                entry.0 += 1;
                entry.1 = format!("{}: {instruction}", path.display());
            }
        }
    }
    println!(
        "{same} of {total} have the form that their bits give, {typed} that of a typed instruction; others:"
    );
    for (kind, (count, example)) in &kinds {
        println!("{count:6} {kind}, as in {example}");
    }
    assert!(total > 34_000);
    assert_eq!(same, total);
}

/// Oracle: the kernels themselves. A kernel with compact instructions equals the original after
/// it is expanded and compacted again, jumps included. Kernels that compute with the instruction
/// pointer are refused.
#[test]
fn kernels_come_back() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut same, mut compacted, mut wide_bytes, mut small_bytes) = (0, 0, 0, 0);
    let (mut refused, mut others) = (Vec::new(), Vec::new());
    for (path, bytes) in corpus::kernels(&corpus) {
        let name = path.display();
        let wide = match expand_kernel(&bytes) {
            Ok(wide) => wide,
            Err(error) => {
                assert!(matches!(error, CompactError::Position { .. }), "{name}: {error}");
                refused.push(format!("{name}: {error}"));
                continue;
            }
        };
        let small = compact_kernel(&wide).unwrap();
        assert_eq!(expand_kernel(&small).unwrap(), wide, "{name}");
        if wide.len() == bytes.len() {
            // This kernel has no compact instructions.
            assert_eq!(wide, bytes, "{name}");
            wide_bytes += wide.len();
            small_bytes += small.len();
            continue;
        }
        compacted += 1;
        if small == bytes {
            same += 1;
        } else {
            others.push(name.to_string());
        }
    }
    println!(
        "{same} of {compacted} compact kernels come back, {wide_bytes} bytes of others become {small_bytes}"
    );
    println!("{} kernels compute with the instruction pointer:", refused.len());
    refused.iter().for_each(|line| println!("    {line}"));
    assert!(others.is_empty(), "{others:?}");
    assert!(compacted > 280 && refused.len() < 10);
}
