//! Instructions with encodings that are known without the corpus, and properties of random bits.

use genxml_eu::disasm::listing;
use genxml_eu::gen8::eu::{ControlIndex, EuOpcode};
use genxml_eu::instruction::*;
use genxml_eu::ops::OPS;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Instruction, Opcode, Problem, Refused, decode, expand, instructions};
use proptest::prelude::*;

fn text(dwords: &[u32]) -> String {
    let text = decode(dwords).unwrap().to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Oracle: EU_OPCODE of 2b p.16. Every number except those of `sends` and `sendsc` has a row with
/// the same name.
#[test]
fn operations_are_those_of_the_manual() {
    for (value, name) in EuOpcode::INFO.values {
        match Opcode::from_code(*value as u8) {
            Some(opcode) => assert_eq!(opcode.name(), *name),
            None => assert!(["sends", "sendsc"].contains(name), "{name}"),
        }
    }
    assert_eq!(OPS.len() + 2, EuOpcode::INFO.values.len());
}

/// Oracle: bits written by hand from the layout of 2d p.139-182.
#[test]
fn known_encodings() {
    let mut add = Instruction::new(Opcode::Add, 16);
    add.destination = Some(Destination::new(Register::grf(2), DataType::F));
    let source = Source::new(Register::grf(3), DataType::F, Region::packed(8));
    add.sources[0] = Operand::Register(source);
    add.sources[1] =
        Operand::Immediate(Immediate { ty: DataType::F, bits: 0.5f32.to_bits().into() });
    let dwords = add.encode().unwrap();
    let exec_16 = 4 << 21;
    assert_eq!(dwords[0], 0x40 | exec_16);
    // dst GRF :f, src0 GRF :f, dst r2.0<1>
    assert_eq!(dwords[1], 1 << 3 | 7 << 5 | 1 << 9 | 7 << 11 | 2 << 21 | 1 << 29);
    // src0 r3.0<8;8,1>, src1 immediate :f
    assert_eq!(dwords[2], 3 << 5 | 1 << 16 | 3 << 18 | 4 << 21 | 3 << 25 | 7 << 27);
    assert_eq!(dwords[3], 0x3f00_0000);
    assert_eq!(text(&dwords), "add (16|M0) r2.0<1>:f r3.0<8;8,1>:f 0.5:f");
}

/// Oracle: the end of thread of 2d p.494: message to the thread spawner, descriptor 0x02000000, bit
/// 127.
#[test]
fn end_of_thread() {
    let mut send = Instruction::new(Opcode::Send, 8);
    send.no_mask = true;
    send.destination = Some(Destination::new(Register::NULL, DataType::Ud));
    send.sources[0] =
        Operand::Register(Source::new(Register::grf(112), DataType::Ud, Region::packed(8)));
    send.send = Some(Send {
        function: SharedFunction::ThreadSpawner,
        descriptor: Descriptor::Immediate(0x0200_0000),
        end_of_thread: true,
    });
    let dwords = send.encode().unwrap();
    assert_eq!(dwords[3], 0x8200_0000);
    assert_eq!(dwords[0] >> 24, 7, "SFID");
    assert_eq!(decode(&dwords).unwrap(), send);
    let line =
        "(W) send (8|M0) null r112 0x27 0x02000000 {EOT} // wr:1+0, rd:0; spawner; end of thread";
    assert_eq!(text(&dwords), line);
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    assert_eq!(genxml_eu::length_until_eot(&bytes).unwrap(), 16);
}

/// Oracle: 2a jmpi: an index of -16 is an endless loop, because the instruction pointer is already
/// at the next instruction.
#[test]
fn jump_to_itself() {
    let mut jump = Instruction::new(Opcode::Jmpi, 1);
    jump.no_mask = true;
    jump.branch = Some(Branch { jip: 0, uip: None });
    let dwords = jump.encode().unwrap();
    assert_eq!(dwords[3] as i32, -16);
    assert_eq!(decode(&dwords).unwrap(), jump);
    assert_eq!(text(&dwords), "(W) jmpi 0");
}

/// Oracle: the descriptions in the tables of 2d p.153-155, whose bit columns are damaged: control
/// 22 is Align1 H1 (16) f0.0, type 18 r:f r:f r:f, subregisters 0 all zero, source 28 <8;8,1>.
#[test]
fn compact_forms() {
    let compact =
        0x40 | 22 << 8 | 18 << 13 | 1 << 29 | 28 << 30 | 28 << 35 | 5 << 40 | 6 << 48 | 7 << 56u64;
    let native = expand(compact).unwrap();
    assert_eq!(text(&native), "add (16|M0) r5.0<1>:f r6.0<8;8,1>:f r7.0<8;8,1>:f");
    let both = [compact as u32, (compact >> 32) as u32];
    assert_eq!(text(&both), "add (16|M0) r5.0<1>:f r6.0<8;8,1>:f r7.0<8;8,1>:f {Compacted}");
    // Immediates have 13 bits with sign; type 14 is r:d r:d i:d.
    let compact = 0x40
        | 22 << 8
        | 14 << 13
        | 1 << 29
        | 28 << 30
        | 0x1f << 35
        | 5 << 40
        | 6 << 48
        | 0xff << 56u64;
    assert_eq!(text(&expand(compact).unwrap()), "add (16|M0) r5.0<1>:d r6.0<8;8,1>:d -1:d");
    let mad = 0x5b | 2 << 8 | 1 << 10 | 9 << 12 | 1 << 29 | 10 << 43 | 11 << 50 | 12 << 57u64;
    assert_eq!(
        text(&expand(mad).unwrap()),
        "mad (16|M0) r9.0<1>:f -r10.0<2;1>:f r11.0<2;1>:f r12.0<1>:f"
    );
}

/// Every index of the table of compaction controls has a row.
#[test]
fn tables_are_whole() {
    assert!((0..32).all(|index| ControlIndex::from_bits(index).expansion().is_some()));
}

/// Align16, indirect addressing, predicates and wide immediates survive encoding and decoding, and
/// are printed correctly.
#[test]
fn forms_of_operands() {
    let mut mov = Instruction::new(Opcode::Mov, 8);
    mov.access_mode = AccessMode::Align16;
    mov.predicate = Some(Predicate { control: PredicateControl::Replicate(2), inverse: true });
    mov.flag = Flag { register: 1, subregister: 0 };
    let destination = Destination::new(Register::Grf { number: 4, byte: 16 }, DataType::F);
    mov.destination = Some(Destination { write_mask: 0b0101, ..destination });
    let region = Region { vertical: Vertical::Stride(4), width: 4, horizontal: 1 };
    let source = Source::new(Register::grf(9), DataType::F, region);
    mov.sources[0] = Operand::Register(Source { swizzle: [2, 1, 3, 2], absolute: true, ..source });
    let dwords = mov.encode().unwrap();
    assert_eq!(decode(&dwords).unwrap(), mov);
    assert_eq!(text(&dwords), "(~f1.0.z) mov (8|M0) r4.4<1>.xz:f (abs)r9.0<4>.zywz:f");

    let mut mov = Instruction::new(Opcode::Mov, 8);
    mov.channel_offset = 24;
    let register = Register::Indirect { address: 3, offset: -512 };
    mov.destination = Some(Destination { stride: 2, ..Destination::new(register, DataType::Uw) });
    let region = Region { vertical: Vertical::Addresses, width: 1, horizontal: 0 };
    let register = Register::Indirect { address: 8, offset: 511 };
    mov.sources[0] =
        Operand::Register(Source { negate: true, ..Source::new(register, DataType::W, region) });
    let dwords = mov.encode().unwrap();
    assert_eq!(decode(&dwords).unwrap(), mov);
    assert_eq!(text(&dwords), "mov (8|M24) r[a0.3,-512]<2>:uw -r[a0.8,511]<1,0>:w");

    let mut mov = Instruction::new(Opcode::Mov, 1);
    mov.destination = Some(Destination::new(Register::grf(1), DataType::Df));
    mov.sources[0] = Operand::Immediate(Immediate { ty: DataType::Df, bits: 0.1f64.to_bits() });
    let dwords = mov.encode().unwrap();
    assert_eq!(decode(&dwords).unwrap(), mov);
    assert_eq!(text(&dwords), "mov (1|M0) r1.0<1>:df 0.1:df");
}

/// Errors of decoding name the position and the dwords; errors of a field name the field and its
/// value.
#[test]
fn errors_have_position_and_value() {
    let error = decode(&[0x0000_0001, 0]).unwrap_err();
    assert_eq!(error.problem, Problem::Truncated { needed: 16, available: 8 });
    assert_eq!(
        error.to_string(),
        "instruction at byte 0x0 (00000001 00000000): it takes 16 bytes, 8 are left"
    );
    let error = decode(&[0x00e0_0001, 0, 0, 0]).unwrap_err();
    assert!(error.to_string().ends_with("mov: ExecSize holds 0x7, which is reserved"), "{error}");
    let mut add = Instruction::new(Opcode::Add, 3);
    add.destination = Some(Destination::new(Register::grf(1), DataType::F));
    let error = add.encode().unwrap_err();
    assert_eq!((error.field, error.value), ("Src0.RegFile", Refused::Missing));
    assert!(error.to_string().contains("Src0.RegFile has no value"), "{error}");
    let register = |region| {
        let source = Source::new(Register::grf(2), DataType::F, region);
        Operand::Register(source)
    };
    let refused = |change: &dyn Fn(&mut Instruction)| {
        let mut add = add;
        add.sources[0] = register(Region::new(8, 8, 1));
        add.sources[1] = register(Region::new(8, 8, 1));
        change(&mut add);
        add.encode().unwrap_err().to_string()
    };
    let error = refused(&|add| add.sources[0] = register(Region::new(3, 1, 0)));
    assert_eq!(error, "add: VertStride cannot hold 3");
    let error = refused(&|add| {
        add.access_mode = AccessMode::Align16;
        let at = Register::Indirect { address: 0, offset: -24 };
        add.sources[0] = Operand::Register(Source::new(at, DataType::F, Region::new(4, 4, 1)));
    });
    assert_eq!(error, "add: Source Address Immediate cannot hold -24");
    let error = refused(&|add| {
        add.destination = Some(Destination::new(Register::grf(1), DataType::V));
    });
    assert_eq!(error, "add: DstType cannot hold the type v");
}

/// An operation that does not exist decodes as `illegal` (2a illegal).
#[test]
fn unknown_operations_are_illegal() {
    let instruction = decode(&[0x7d, 0, 0, 0]).unwrap();
    assert_eq!((instruction.opcode, instruction.illegal_code), (Opcode::Illegal, 0x7d));
    assert_eq!(decode(&[0x81, 0, 0, 0]).unwrap().opcode, Opcode::Illegal, "bit 7 counts");
    assert_eq!(decode(&[0, 0, 0, 0]).unwrap().illegal_code, 0);
}

proptest! {
    /// Random bits never cause a panic. An instruction that can be decoded can be printed; if it
    /// can be encoded, its encoding decodes to the same instruction.
    #[test]
    fn random_instructions(mut dwords in any::<[u32; 4]>(), op in 0..OPS.len(), plain in any::<bool>()) {
        if plain {
            dwords[0] = dwords[0] & !0xff | u32::from(OPS[op].code);
        }
        if let Ok(instruction) = decode(&dwords) {
            prop_assert!(!instruction.to_string().is_empty());
            if let Ok(encoded) = instruction.encode() {
                let native = Instruction { compacted: false, ..instruction };
                prop_assert_eq!(decode(&encoded).unwrap(), native);
            }
        }
    }

    /// Iterating over random bytes terminates, and positions increase.
    #[test]
    fn random_kernels(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let mut last = 0;
        for located in instructions(&bytes) {
            let position = located.map_or_else(|error| error.position, |located| located.position);
            prop_assert!(position == 0 || position > last);
            last = position;
        }
        let _ = genxml_eu::length_until_eot(&bytes);
        prop_assert!(listing(&bytes, Syntax::Iga).starts_with("L0:"));
        prop_assert_eq!(listing(&bytes, Syntax::Mesa).is_empty(), bytes.len() < 4);
    }
}
