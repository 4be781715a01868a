//! Every form of text in both languages, without the corpus.

use genxml_eu::disasm::listing;
use genxml_eu::instruction::*;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Instruction, Opcode};

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Compares the text of instructions in both languages, and reports all differences at once.
fn check(cases: &[(Instruction, &str, &str)]) {
    let mut wrong = Vec::new();
    for (instruction, iga, mesa) in cases {
        for (syntax, expected) in [(Syntax::Iga, iga), (Syntax::Mesa, mesa)] {
            let text = squeeze(&instruction.display(syntax).to_string());
            if text != *expected {
                wrong.push(format!("expected {expected}\n     not {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn grf(number: u8, ty: DataType) -> Operand {
    Operand::Register(Source::new(Register::grf(number), ty, Region::packed(8)))
}

fn two(opcode: Opcode, ty: DataType) -> Instruction {
    let mut instruction = Instruction::new(opcode, 8);
    instruction.destination = Some(Destination::new(Register::grf(2), ty));
    instruction.sources = [grf(3, ty), grf(4, ty), Operand::None];
    instruction
}

fn one(opcode: Opcode, ty: DataType, source: Operand) -> Instruction {
    Instruction { sources: [source, Operand::None, Operand::None], ..two(opcode, ty) }
}

fn immediate(ty: DataType, bits: u64) -> Instruction {
    let to = match ty {
        DataType::V | DataType::Uv => DataType::W,
        DataType::Vf => DataType::F,
        ty => ty,
    };
    one(Opcode::Mov, to, Operand::Immediate(Immediate { ty, bits }))
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter.
#[test]
fn controls() {
    let predicate = |control, inverse| Some(Predicate { control, inverse });
    let add = two(Opcode::Add, DataType::F);
    let all = Instruction {
        exec_size: 16,
        channel_offset: 16,
        no_mask: true,
        predicate: predicate(PredicateControl::Any(4), true),
        flag: Flag { register: 1, subregister: 1 },
        condition: Some(Condition::GreaterEqual),
        saturate: true,
        acc_write: true,
        no_dd_check: true,
        no_dd_clear: true,
        breakpoint: true,
        thread_control: ThreadControl::Switch,
        ..add
    };
    let sel = Instruction { condition: Some(Condition::Less), ..two(Opcode::Sel, DataType::D) };
    let and = one(
        Opcode::Not,
        DataType::Ud,
        Operand::Register(Source {
            negate: true,
            ..Source::new(Register::grf(3), DataType::Ud, Region::SCALAR)
        }),
    );
    let nibble = Instruction {
        exec_size: 4,
        channel_offset: 12,
        predicate: predicate(PredicateControl::Sequential, false),
        ..add
    };
    check(&[
        (
            all,
            "(W&~f1.1.any4h) add (16|M16) (ge)f1.1 (sat)r2.0<1>:f r3.0<8;8,1>:f r4.0<8;8,1>:f {AccWrEn,Breakpoint,NoDDChk,NoDDClr,Switch}",
            "(-f1.1.any4h) add.sat.breakpoint.ge.f1.1(16) g2<1>F g3<8,8,1>F g4<8,8,1>F { align1 WE_all NoDDClr,NoDDChk 2H switch AccWrEnable };",
        ),
        (
            sel,
            "sel (8|M0) (lt)f0.0 r2.0<1>:d r3.0<8;8,1>:d r4.0<8;8,1>:d",
            "sel.l(8) g2<1>D g3<8,8,1>D g4<8,8,1>D { align1 1Q };",
        ),
        (
            and,
            "not (8|M0) r2.0<1>:ud ~r3.0<0;1,0>:ud",
            "not(8) g2<1>UD ~g3<0,1,0>UD { align1 1Q };",
        ),
        (
            nibble,
            "(f0.0) add (4|M12) r2.0<1>:f r3.0<8;8,1>:f r4.0<8;8,1>:f",
            "(+f0.0) add(4) g2<1>F g3<8,8,1>F g4<8,8,1>F { align1 4N };",
        ),
        (
            Instruction { exec_size: 32, thread_control: ThreadControl::Atomic, ..add },
            "add (32|M0) r2.0<1>:f r3.0<8;8,1>:f r4.0<8;8,1>:f {Atomic}",
            "add(32) g2<1>F g3<8,8,1>F g4<8,8,1>F { align1 atomic };",
        ),
    ]);
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter; numbers as C's printf writes
/// them.
#[test]
fn immediates() {
    check(&[
        (
            immediate(DataType::Ud, 0xff),
            "mov (8|M0) r2.0<1>:ud 0xFF:ud",
            "mov(8) g2<1>UD 0x000000ffUD { align1 1Q };",
        ),
        (
            immediate(DataType::D, 0xffff_fffe),
            "mov (8|M0) r2.0<1>:d -2:d",
            "mov(8) g2<1>D -2D { align1 1Q };",
        ),
        (
            immediate(DataType::Uw, 0xab),
            "mov (8|M0) r2.0<1>:uw 0xAB:uw",
            "mov(8) g2<1>UW 0x00abUW { align1 1Q };",
        ),
        (
            immediate(DataType::W, 0xffff),
            "mov (8|M0) r2.0<1>:w -1:w",
            "mov(8) g2<1>W -1W { align1 1Q };",
        ),
        (
            immediate(DataType::V, 0x7654_3210),
            "mov (8|M0) r2.0<1>:w 0x76543210:v",
            "mov(8) g2<1>W 0x76543210V { align1 1Q };",
        ),
        (
            immediate(DataType::Uv, 0x10),
            "mov (8|M0) r2.0<1>:w 0x10:uv",
            "mov(8) g2<1>W 0x00000010UV { align1 1Q };",
        ),
        (
            immediate(DataType::Vf, 0xb070_3000),
            "mov (8|M0) r2.0<1>:f 0xB0703000:vf",
            "mov(8) g2<1>F 0xb0703000VF /* [0F, 1F, 16F, -1F]VF */ { align1 1Q };",
        ),
        (
            immediate(DataType::F, 0x3f80_0000),
            "mov (8|M0) r2.0<1>:f 1.0:f",
            "mov(8) g2<1>F 0x3f800000F /* 1F */ { align1 1Q };",
        ),
        (
            immediate(DataType::F, 0xcb40_0000),
            "mov (8|M0) r2.0<1>:f -1.258291e+07:f".replace("-1.258291e+07", "0xCB400000").leak(),
            "mov(8) g2<1>F 0xcb400000F /* -1.25829e+07F */ { align1 1Q };",
        ),
        (
            immediate(DataType::F, 0xff80_0000),
            "mov (8|M0) r2.0<1>:f -inf:f",
            "mov(8) g2<1>F 0xff800000F /* -infF */ { align1 1Q };",
        ),
        (
            immediate(DataType::F, 0x7fc0_0001),
            "mov (8|M0) r2.0<1>:f qnan(0x1):f",
            "mov(8) g2<1>F 0x7fc00001F /* nanF */ { align1 1Q };",
        ),
        (
            immediate(DataType::Df, 0x3fe0_0000_0000_0000),
            "mov (8|M0) r2.0<1>:df 0.5:df",
            "mov(8) g2<1>DF 0x3fe0000000000000DF /* 0.5DF */ { align1 1Q };",
        ),
        (
            immediate(DataType::Q, u64::MAX),
            "mov (8|M0) r2.0<1>:q -1:q",
            "mov(8) g2<1>Q 0xffffffffffffffffQ { align1 1Q };",
        ),
        (
            immediate(DataType::Uq, 1),
            "mov (8|M0) r2.0<1>:uq 0x1:uq",
            "mov(8) g2<1>UQ 0x0000000000000001UQ { align1 1Q };",
        ),
        (
            immediate(DataType::Hf, 0x3c00),
            "mov (8|M0) r2.0<1>:hf 1.0:hf",
            "mov(8) g2<1>HF Half Float IMM { align1 1Q };",
        ),
    ]);
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter.
#[test]
fn architecture_registers() {
    let arf = |file, number, byte| Register::Arf { file, number, byte };
    let from = |register, ty| {
        one(Opcode::Mov, DataType::Ud, Operand::Register(Source::new(register, ty, Region::SCALAR)))
    };
    check(&[
        (
            from(arf(Arf::Control, 0, 4), DataType::Ud),
            "mov (8|M0) r2.0<1>:ud cr0.1<0;1,0>:ud",
            "mov(8) g2<1>UD cr0.1<0,1,0>UD { align1 1Q };",
        ),
        (
            from(arf(Arf::ChannelEnable, 0, 0), DataType::Ud),
            "mov (8|M0) r2.0<1>:ud ce0.0<0;1,0>:ud",
            "mov(8) g2<1>UD mask0<0,1,0>UD { align1 1Q };",
        ),
        (
            from(arf(Arf::ThreadDependency, 0, 0), DataType::Uw),
            "mov (8|M0) r2.0<1>:ud tdr0.0<0;1,0>:uw",
            "mov(8) g2<1>UD tdr0 { align1 1Q };",
        ),
        (
            from(arf(Arf::InstructionPointer, 0, 0), DataType::Ud),
            "mov (8|M0) r2.0<1>:ud ip<0;1,0>:ud",
            "mov(8) g2<1>UD ip { align1 1Q };",
        ),
        (
            from(arf(Arf::FlowControl, 1, 0), DataType::Ud),
            "mov (8|M0) r2.0<1>:ud fc1.0<0;1,0>:ud",
            "mov(8) g2<1>UD ARF209<0,1,0>UD { align1 1Q };",
        ),
    ]);
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter.
#[test]
fn indirect_registers() {
    let mut indirect = one(Opcode::Mov, DataType::Uw, Operand::None);
    indirect.destination = Some(Destination {
        stride: 2,
        ..Destination::new(Register::Indirect { address: 3, offset: -512 }, DataType::Uw)
    });
    let region = Region { vertical: Vertical::Addresses, width: 1, horizontal: 0 };
    let source = Source::new(Register::Indirect { address: 8, offset: 511 }, DataType::W, region);
    indirect.sources[0] = Operand::Register(Source { negate: true, absolute: true, ..source });
    check(&[(
        indirect,
        "mov (8|M0) r[a0.3,-512]<2>:uw -(abs)r[a0.8,511]<1,0>:w",
        "mov(8) g[a0.1 512]<2>UW -(abs)g[a0.8 511]<VxH,1,0>W { align1 1Q };",
    )]);
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter.
#[test]
fn operands_of_align16() {
    let mut align16 = one(Opcode::Mov, DataType::F, Operand::None);
    align16.access_mode = AccessMode::Align16;
    align16.predicate = Some(Predicate { control: PredicateControl::Replicate(2), inverse: false });
    let place = Destination::new(Register::Grf { number: 4, byte: 16 }, DataType::F);
    align16.destination = Some(Destination { write_mask: 0b0101, ..place });
    let region = Region { vertical: Vertical::Stride(4), width: 4, horizontal: 1 };
    let source = Source::new(Register::grf(9), DataType::F, region);
    align16.sources[0] = Operand::Register(Source { swizzle: [2, 1, 3, 2], ..source });
    let mut one_channel = align16;
    one_channel.sources[0] = Operand::Register(Source { swizzle: [3; 4], ..source });
    check(&[
        (
            align16,
            "(f0.0.z) mov (8|M0) r4.4<1>.xz:f r9.0<4>.zywz:f",
            "(+f0.0.z) mov(8) g4.4<1>.xzF g9<4>.zywzF { align16 1Q };",
        ),
        (
            one_channel,
            "(f0.0.z) mov (8|M0) r4.4<1>.xz:f r9.0<4>.wwww:f",
            "(+f0.0.z) mov(8) g4.4<1>.xzF g9<4>.wF { align16 1Q };",
        ),
    ]);
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter.
#[test]
fn operands_of_three_source_instructions() {
    let mut mad = Instruction::new(Opcode::Mad, 8);
    mad.access_mode = AccessMode::Align16;
    mad.destination =
        Some(Destination { write_mask: 0b0011, ..Destination::new(Register::grf(9), DataType::F) });
    let scalar = Source::new(Register::Grf { number: 10, byte: 16 }, DataType::F, Region::SCALAR);
    let vector = Source::new(Register::grf(11), DataType::F, Region::new(4, 4, 1));
    mad.sources = [
        Operand::Register(Source { replicate: true, negate: true, ..scalar }),
        Operand::Register(Source { swizzle: [0; 4], ..vector }),
        Operand::Register(Source { absolute: true, swizzle: [3, 2, 1, 0], ..vector }),
    ];
    // The second dword of a double is not an element.
    let mut doubles = mad;
    let half =
        Source::new(Register::Grf { number: 11, byte: 4 }, DataType::Df, Region::new(4, 4, 1));
    doubles.destination =
        Some(Destination::new(Register::Grf { number: 9, byte: 8 }, DataType::Df));
    doubles.sources = [Operand::Register(half); 3];
    check(&[
        (
            doubles,
            "mad (8|M0) r9.1<1>:df r11.0<2;1>:df r11.0<2;1>:df r11.0<1>:df",
            "mad(8) g9.1<1>DF g11<4,4,1>DF g11<4,4,1>DF g11<4,4,1>DF { align16 1Q };",
        ),
        (
            mad,
            "mad (8|M0) r9.0<1>.xy:f -r10.4<0;0>:f r11.0<2;1>.xxxx:f (abs)r11.0<1>.wzyx:f",
            "mad(8) g9<1>.xyF -g10.4<0,1,0>F g11<4,4,1>.xF (abs)g11<4,4,1>.wzyxF { align16 1Q };",
        ),
    ]);
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter.
#[test]
fn math_functions() {
    check(&[
        (
            Instruction {
                math: Some(MathFunction::Inverse),
                ..one(Opcode::Math, DataType::F, grf(3, DataType::F))
            },
            "math.inv (8|M0) r2.0<1>:f r3.0<8;8,1>:f",
            "math inv(8) g2<1>F g3<8,8,1>F null<0,1,0>UD { align1 1Q };",
        ),
        (
            Instruction { math: Some(MathFunction::IntQuotient), ..two(Opcode::Math, DataType::D) },
            "math.iqot (8|M0) r2.0<1>:d r3.0<8;8,1>:d r4.0<8;8,1>:d",
            "math intdiv(8) g2<1>D g3<8,8,1>D g4<8,8,1>D { align1 1Q };",
        ),
    ]);
}

/// Oracle: the source code of brw_disasm.c and of IGA's formatter. A jump without a position prints
/// distances in bytes.
#[test]
fn flow() {
    let jump = |opcode, jip, uip| Instruction {
        branch: Some(Branch { jip, uip }),
        ..Instruction::new(opcode, 8)
    };
    let mut jmpi = Instruction { no_mask: true, exec_size: 1, ..jump(Opcode::Jmpi, 0, None) };
    let back = jmpi;
    jmpi.branch = None;
    jmpi.sources[0] = Operand::Register(Source::new(Register::grf(5), DataType::D, Region::SCALAR));
    let mut wait = Instruction { no_mask: true, ..Instruction::new(Opcode::Wait, 1) };
    let notification = Register::Arf { file: Arf::Notification, number: 0, byte: 4 };
    wait.sources[0] = Operand::Register(Source::new(notification, DataType::Ud, Region::SCALAR));
    check(&[
        (
            Instruction { branch_ctrl: true, ..jump(Opcode::If, 32, Some(48)) },
            "if.b (8|M0) 32 48",
            "if(8) JIP: 32 UIP: 48 { align1 1Q BranchCtrl };",
        ),
        (jump(Opcode::While, -64, None), "while (8|M0) -64", "while(8) JIP: -64 { align1 1Q };"),
        (jump(Opcode::Goto, 16, Some(32)), "goto (8|M0) 16 32", "goto(8) { align1 1Q };"),
        (jump(Opcode::Join, 16, None), "join (8|M0) 16", "illegal(8) { align1 1Q };"),
        (back, "(W) jmpi 0", "jmpi(1) -16D { align1 WE_all 1N };"),
        (jmpi, "(W) jmpi r5.0", "jmpi(1) g5<0,1,0>D { align1 WE_all 1N };"),
        (wait, "(W) wait n0.1<0;1,0>:ud", "wait(1) n0.1<1>UD { align1 WE_all 1N };"),
        (Instruction::new(Opcode::Nop, 1), "nop", "nop ;"),
        (Instruction::new(Opcode::Illegal, 1), "illegal", "illegal(1) { align1 1N };"),
    ]);
}

/// Labels. IGA names them by byte offset, at the start, at targets and after the end of a block.
/// Mesa numbers them in the order in which jumps name them; UIP comes before JIP.
#[test]
fn labels() {
    let jump = |opcode, jip, uip| Instruction {
        branch: Some(Branch { jip, uip }),
        ..Instruction::new(opcode, 8)
    };
    let kernel = [
        jump(Opcode::If, 32, Some(48)),
        immediate(DataType::Ud, 1),
        jump(Opcode::Else, 16, Some(16)),
        jump(Opcode::Endif, 16, None),
    ];
    let bytes: Vec<u8> =
        kernel.iter().flat_map(|line| line.encode().unwrap()).flat_map(u32::to_le_bytes).collect();
    let lines = |syntax| {
        listing(&bytes, syntax)
            .lines()
            .map(squeeze)
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
    };
    let iga = [
        "L0:",
        "if (8|M0) L32 L48",
        "L16:",
        "mov (8|M0) r2.0<1>:ud 0x1:ud",
        "L32:",
        "else (8|M0) L48 L48",
        "L48:",
        "endif (8|M0) L64",
        "L64:",
    ];
    assert_eq!(lines(Syntax::Iga), iga);
    let mesa = [
        "if(8) JIP: LABEL1 UIP: LABEL0 { align1 1Q };",
        "mov(8) g2<1>UD 0x00000001UD { align1 1Q };",
        "LABEL1:",
        "else(8) JIP: LABEL0 UIP: LABEL0 { align1 1Q };",
        "LABEL0:",
        "endif(8) JIP: LABEL2 { align1 1Q };",
        // Mesa leaves this label out, and its assembler then cannot read the text.
        "LABEL2:",
    ];
    assert_eq!(lines(Syntax::Mesa), mesa);
    let cut = listing(&bytes[..8], Syntax::Mesa);
    assert!(
        cut.starts_with("// 00600022") && cut.contains("it takes 16 bytes, 8 are left"),
        "{cut}"
    );
}

fn send(function: SharedFunction, descriptor: Descriptor) -> Instruction {
    let mut send = Instruction::new(Opcode::Send, 8);
    send.destination = Some(Destination::new(Register::NULL, DataType::Ud));
    send.sources[0] = grf(112, DataType::Ud);
    let end_of_thread = function == SharedFunction::ThreadSpawner;
    send.send = Some(Send { function, descriptor, end_of_thread });
    send
}

/// Compares the comments of messages in IGA's listings and reports all differences at once. A case
/// has the shared function that receives the message, the descriptor, and the comment.
///
/// Oracle: the source code of IGA's message decoder and its names of shared functions on Haswell
/// and Broadwell. Some words are for later hardware; IGA's listings have them anyway.
fn check_comments(cases: &[(SharedFunction, u32, &str)]) {
    let comment = |function, descriptor| {
        let text = send(function, Descriptor::Immediate(descriptor)).to_string();
        squeeze(text.split_once("; ").map_or("", |(_, comment)| comment))
    };
    let cases = cases
        .iter()
        .map(|&(function, descriptor, expected)| (comment(function, descriptor), expected));
    let wrong: Vec<_> = cases.filter(|(text, expected)| text != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Messages to the sampler.
#[test]
fn comments_of_sampler_messages() {
    use SharedFunction::*;
    check_comments(&[
        (Sampler, 0x0284_0302, "sampler; simd16 sample using sampler index 3"),
        (Sampler, 0x0282_1302, "sampler; simd8 sample+LOD bias using sampler index 3"),
        (Sampler, 0x0282_4302, "sampler; simd8 sample gradient using sampler index 3"),
        (Sampler, 0x0282_5302, "sampler; simd8 sample compare+LOD bias using sampler index 3"),
        (Sampler, 0x0282_6302, "sampler; simd8 sample compare+override LOD using sampler index 3"),
        (Sampler, 0x4282_9302, "sampler; simd8 16b sample override lod using sampler index 3"),
        (Sampler, 0x0282_a302, "sampler; simd8 sample res info using sampler index 3"),
        (Sampler, 0x0282_c302, "sampler; simd8 sample+killpix using sampler index 3"),
        (Sampler, 0x0282_d302, "sampler; simd8 ? using sampler index 3"),
        (Sampler, 0x0283_0302, "sampler; simd8 sample gather4+compare using sampler index 3"),
        (Sampler, 0x0283_1302, "sampler; simd8 sample gather4+pixel offset using sampler index 3"),
        (
            Sampler,
            0x0283_2302,
            "sampler; simd8 sample gather4 pixel offset+compare using sampler index 3",
        ),
        (Sampler, 0x0283_4302, "sampler; simd8 sample derivatives+compare using sampler index 3"),
        (Sampler, 0x0283_6302, "sampler; simd8 sample min using sampler index 3"),
        (Sampler, 0x0283_7302, "sampler; simd8 sample max using sampler index 3"),
        (Sampler, 0x0283_8302, "sampler; simd8 sample with lod forced to 0 using sampler index 3"),
        (
            Sampler,
            0x0283_9302,
            "sampler; simd8 sample compare+with lod forced to 0 using sampler index 3",
        ),
        (
            Sampler,
            0x0283_a302,
            "sampler; simd8 sample load with lod forced to 0 using sampler index 3",
        ),
        (Sampler, 0x0283_e302, "sampler; simd8 sample load multi-sample using sampler index 3"),
        (
            Sampler,
            0x0283_f302,
            "sampler; simd8 sample multi-sample without mcs using sampler index 3",
        ),
        (Sampler, 0x0286_0000, "sampler; simd32/64 sample unorm using sampler index 0"),
        (Sampler, 0x0286_b000, "sampler; simd32/64 sample 8x8 using sampler index 0"),
        (Sampler, 0x0286_c000, "sampler; simd32/64 sample unorm for media using sampler index 0"),
        (Sampler, 0x0287_f000, "sampler; simd32/64 sampler cache flush using sampler index 0"),
        (Sampler, 0x0280_0000, "sampler; unknown simd mode sample using sampler index 0"),
        (Sampler, 0x2284_0000, "sampler; simd16 high sample using sampler index 0"),
    ]);
}

/// Messages to the render cache.
#[test]
fn comments_of_render_cache_messages() {
    use SharedFunction::*;
    check_comments(&[
        (
            DataPortRender,
            0x0803_0000,
            "hdc.rc; full-precision render target write SIMD16 to surface 0",
        ),
        (
            DataPortRender,
            0x0803_1c00,
            "hdc.rc; full-precision render target write SIMD8; last render target slot group high to surface 0",
        ),
        (
            DataPortRender,
            0x4803_2102,
            "hdc.rc; half-precision render target write replicated SIMD16 with Per-Sample Pixel PS outputs enable to surface 2",
        ),
        (
            DataPortRender,
            0x0803_0200,
            "hdc.rc; full-precision render target write of low SIMD8 to surface 0",
        ),
        (
            DataPortRender,
            0x0803_0300,
            "hdc.rc; full-precision render target write of high SIMD8 to surface 0",
        ),
        (
            DataPortRender,
            0x0803_4100,
            "hdc.rc; full-precision render target read SIMD8 to surface 0",
        ),
        (
            DataPortRender,
            0x0801_0003,
            "hdc.rc; full-precision unknown render target op to surface 3",
        ),
    ]);
}

/// Messages to data port 0.
#[test]
fn comments_of_data_port_0_messages() {
    use SharedFunction::*;
    check_comments(&[
        (DataPort0, 0x0218_0105, "hdc.dc0; oword block read x1H"),
        (DataPort0, 0x0218_4505, "hdc.dc0; oword aligned block read x0"),
        (DataPort0, 0x0218_8205, "hdc.dc0; oword dual block read"),
        (DataPort0, 0x0210_c205, "hdc.dc0; dword gathering read"),
        (DataPort0, 0x0210_ca05, "hdc.dc0; dword gathering read x4"),
        (DataPort0, 0x0202_c605, "hdc.dc0; dword scattering write x2"),
        (DataPort0, 0x040a_4205, "hdc.dc0; hword aligned block write x2"),
        (DataPort0, 0x0211_8705, "hdc.dc0; ?"),
        (DataPort0, 0x0219_e000, "hdc.dc0; synchronized global fence flushing"),
        (DataPort0, 0x0219_e100, "hdc.dc0; synchronized global fence flushing L1"),
        (DataPort0, 0x0219_e0fe, "hdc.dc0; synchronized SLM fence"),
        (DataPort0, 0x0219_e003, "hdc.dc0; synchronized"),
        (DataPort0, 0x0219_c003, "hdc.dc0; ?"),
        (DataPort0, 0x0201_c0fe, "hdc.dc0; SLM fence"),
        (DataPort0, 0x0201_fe00, "hdc.dc0; synchronized global fence flushing all L3 data"),
        (
            DataPort0,
            0x0201_d600,
            "hdc.dc0; global fence flushing L3 r/w data texture data, instruction data",
        ),
        (DataPort0, 0x040e_3005, "hdc.dc0; hword scratch block write x8"),
        (DataPort0, 0x021c_2005, "hdc.dc0; hword scratch block read x4"),
    ]);
}

/// Messages to data port 1.
#[test]
fn comments_of_data_port_1_messages() {
    use SharedFunction::*;
    check_comments(&[
        (DataPort1, 0x0218_0005, "hdc.dc1; ?"),
        (DataPort1, 0x0421_5805, "hdc.dc1; typed surface read with xyz; u,v"),
        (DataPort1, 0x0421_6805, "hdc.dc1; typed surface read (high slot group) with xyz; u,v"),
        (
            DataPort1,
            0x0429_0302,
            "hdc.dc1; media block read with vertical line stride override,skip, and offset",
        ),
        (DataPort1, 0x0429_0102, "hdc.dc1; media block read with vertical line stride and skip"),
        (DataPort1, 0x0400_a002, "hdc.dc1; untyped atomic int32 64b integer compare and swap"),
        (DataPort1, 0x0400_a902, "hdc.dc1; untyped atomic int32 commuted integer subtract"),
        (
            DataPort1,
            0x0400_af02,
            "hdc.dc1; untyped atomic int32 integer pre-decrement (returns pre-decrement value)",
        ),
        (DataPort1, 0x0400_c102, "hdc.dc1; ?"),
        (DataPort1, 0x0404_c102, "hdc.dc1; ?"),
        (DataPort1, 0x0401_8402, "hdc.dc1; typed atomic 32-bit integer store"),
        (
            DataPort1,
            0x0401_9402,
            "hdc.dc1; typed_sgh atomic 32-bit integer (slot group high) store",
        ),
        (
            DataPort1,
            0x0422_fe02,
            "hdc.dc1; typed atomic 32-bit counter integer compare and swap; u,v",
        ),
        (DataPort1, 0x0414_08ff, "hdc.dc1; a64 byte gathering read 32b"),
        (DataPort1, 0x0414_0cff, "hdc.dc1; a64 byte gathering read"),
        (DataPort1, 0x0414_09ff, "hdc.dc1; a64 dword gathering read"),
        (DataPort1, 0x021d_03ff, "hdc.dc1; a64 unaligned oword block read x4"),
        (DataPort1, 0x021d_0bff, "hdc.dc1; a64 aligned oword block read x4"),
        (DataPort1, 0x021d_18ff, "hdc.dc1; a64 unaligned hword block read x1"),
    ]);
}

/// Messages to shared functions other than the sampler, the render cache and the two data ports.
#[test]
fn comments_of_other_messages() {
    use SharedFunction::*;
    check_comments(&[
        (Null, 0x0200_0000, "null; ?"),
        (Gateway, 0x0200_0001, "gateway; signal event"),
        (Gateway, 0x0200_0002, "gateway; monitor event"),
        (Gateway, 0x0200_0003, "gateway; unmonitor event"),
        (Gateway, 0x0200_0004, "gateway; signal barrier"),
        (Gateway, 0x0200_0005, "gateway; ?"),
        (Gateway, 0x0200_0006, "gateway; wait for event"),
        (DataPortSampler, 0x0218_0205, "sampler; ?"),
        (DataPortConstant, 0x0218_0005, "hdc.ccdp; constant oword block read x1"),
        (DataPortConstant, 0x0218_0105, "hdc.ccdp; constant oword block read x1H"),
        (DataPortConstant, 0x0218_4305, "hdc.ccdp; constant aligned oword block read x4"),
        (DataPortConstant, 0x0218_8305, "hdc.ccdp; ?"),
        (DataPortConstant, 0x0218_c305, "hdc.ccdp; constant dword gathering read"),
        (Urb, 0x0a08_0011, "hdc.urb; ?"),
        (Urb, 0x0a08_0017, "hdc.urb; urb dword write"),
        (Urb, 0x0a0a_8017, "hdc.urb; urb dword masked write with per-slot offset enabled"),
        (Urb, 0x0218_0018, "hdc.urb; urb dword read"),
        (ThreadSpawner, 0x0200_0010, "spawner; end of thread"),
        (ThreadSpawner, 0x0200_0011, "spawner; ?"),
        (MotionEstimation, 0x0c78_4000, "vme; ?"),
        (CheckAndRefinement, 0x0c78_4000, "cre; ?"),
        (PixelInterpolator, 0x0220_1020, "pi; ?"),
        (Reserved(1), 0x0200_0000, "?; ?"),
        (Reserved(15), 0x0200_0000, "?; ?"),
    ]);
}

/// Oracle: the manual's message types. Unlike the comments in a listing, these words describe what
/// a message does on Gen8.
#[test]
fn words_of_messages() {
    use SharedFunction::*;
    let cases = [
        (Sampler, 0x0284_0302, "simd16 sample using sampler index 3"),
        (Gateway, 0x0200_0001, "close gateway"),
        (Gateway, 0x0200_0004, "signal barrier"),
        (Urb, 0x0a08_0011, "urb oword write"),
        (Urb, 0x0a0a_8017, "urb dword masked write with per-slot offset enabled"),
        (ThreadSpawner, 0x0200_0011, "spawn thread"),
        (PixelInterpolator, 0x0220_1020, "sample position"),
        (DataPortSampler, 0x0229_0005, "sampler cache media block read"),
        (DataPort1, 0x0218_0005, "transpose read"),
        (DataPort1, 0x0400_c102, "untyped simd4x2 atomic int32 logical AND"),
        (DataPort1, 0x021d_03ff, "a64 aligned oword block read x4"),
        (DataPort1, 0x021d_0bff, "a64 unaligned oword block read x4"),
        (DataPort1, 0x021d_1aff, "a64 hword block read x2"),
        (MotionEstimation, 0x0c78_4000, "?"),
    ];
    for (function, descriptor, expected) in cases {
        assert_eq!(genxml_eu::message::words(function, descriptor).to_string(), expected);
    }
}

/// Text of shared functions, their messages, and descriptors in a register. Oracle: the source code
/// of brw_disasm.c and of IGA's formatter.
#[test]
fn messages() {
    use SharedFunction::*;
    let mesa = |function, descriptor| {
        let text =
            send(function, Descriptor::Immediate(descriptor)).display(Syntax::Mesa).to_string();
        let second = squeeze(text.lines().nth(1).unwrap_or_default());
        second.split(" {").next().unwrap_or_default().to_string()
    };
    let cases = [
        (
            Sampler,
            0x0284_0302,
            "sampler MsgDesc: sample SIMD16 Surface = 2 Sampler = 3 mlen 1 rlen 8",
        ),
        (
            Sampler,
            0x0282_d302,
            "sampler MsgDesc:*** invalid sampler message value 13 SIMD8 Surface = 2 Sampler = 3 mlen 1 rlen 8",
        ),
        (Gateway, 0x0200_0003, "gateway MsgDesc: (get timestamp) mlen 1 rlen 0"),
        (DataPortSampler, 0x0229_4005, "dp_sampler MsgDesc: (5, 0, 5, 0) mlen 1 rlen 2"),
        (DataPortConstant, 0x0218_0205, "const MsgDesc: (5, 2, 0, 0) mlen 1 rlen 1"),
        (
            DataPortRender,
            0x0803_1c00,
            "render MsgDesc: RT write SIMD8 Hi LastRT Surface = 0 mlen 4 rlen 0",
        ),
        (
            DataPortRender,
            0x0201_0a01,
            "render MsgDesc: media block read MsgCtrl = 0x10 Surface = 1 mlen 1 rlen 0",
        ),
        (Urb, 0x0a0a_8017, "urb MsgDesc: 1 SIMD8 write per-slot masked mlen 5 rlen 0"),
        (Urb, 0x0a08_8020, "urb MsgDesc: 2 write HWord interleave mlen 5 rlen 0"),
        (ThreadSpawner, 0x0200_0010, "thread_spawner MsgDesc: mlen 1 rlen 0"),
        (
            MotionEstimation,
            0x0c78_4000,
            "rt accel MsgDesc:unsupported shared function ID 8 mlen 6 rlen 7",
        ),
        (
            CheckAndRefinement,
            0x1078_6000,
            "cre MsgDesc:unsupported shared function ID 13 mlen 8 rlen 7",
        ),
        (DataPort0, 0x0219_e000, "data MsgDesc: ( DC mfence, 0, 32) mlen 1 rlen 1"),
        (DataPort0, 0x0201_8705, "data MsgDesc: ( DC untyped atomic, 5, add) mlen 1 rlen 0"),
        (DataPort0, 0x040e_3005, "data MsgDesc: ( DC scratch block write, 8, 5) mlen 2 rlen 0"),
        (
            PixelInterpolator,
            0x0220_5020,
            "pixel interp MsgDesc: (linear, sample_position, 0x20) mlen 1 rlen 2",
        ),
        (
            DataPort1,
            0x0420_5e02,
            "dp data 1 MsgDesc: ( untyped surface read, Surface = 2, SIMD16, Mask = 0xe) mlen 2 rlen 2",
        ),
        (
            DataPort1,
            0x0400_9702,
            "dp data 1 MsgDesc: ( DC untyped atomic op, Surface = 2, SIMD8, add) mlen 2 rlen 0",
        ),
        (
            DataPort1,
            0x0404_85ff,
            "dp data 1 MsgDesc: ( DC A64 untyped atomic op, Surface = 255, inc) mlen 2 rlen 0",
        ),
        (
            DataPort1,
            0x0429_0002,
            "dp data 1 MsgDesc: ( DC media block read, Surface = 2, 0x0) mlen 2 rlen 2",
        ),
        (Null, 0x0200_0000, "null MsgDesc:unsupported shared function ID 0 mlen 1 rlen 0"),
    ];
    let wrong: Vec<String> = cases
        .into_iter()
        .map(|(function, descriptor, expected)| (mesa(function, descriptor), expected))
        .filter(|(text, expected)| text != expected)
        .map(|(text, expected)| format!("expected {expected}\n     not {text}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    check(&[
        (
            send(Sampler, Descriptor::Address(0)),
            "send (8|M0) null r112 0x2 a0.0 // wr:a0.0[28:25]+0, rd:a0.0[24:20]; sampler",
            "send(8) null<1>UD g112<8,8,1>UD a0<0,1,0>UD 0x00000200 sampler MsgDesc: indirect { align1 1Q };",
        ),
        (
            send(ThreadSpawner, Descriptor::Immediate(0x0200_0010)),
            "send (8|M0) null r112 0x27 0x02000010 {EOT} // wr:1+0, rd:0; spawner; end of thread",
            "send(8) null<1>UD g112<8,8,1>UD 0x82000010 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 1Q EOT };",
        ),
    ]);
}
