//! Errors of the assembler: position, text and message. Also checks that no text causes a panic.

use genxml_eu::asm::{Options, assemble};
use genxml_eu::syntax::Syntax::{self, Iga, Mesa};
use genxml_testkit::{Random, corpus};
use proptest::prelude::*;

/// The errors of `source`, each as `line:column text | message`.
fn errors(source: &str, syntax: Syntax) -> Vec<String> {
    let errors = assemble(source, syntax, &Options::default()).expect_err(source);
    for error in &errors {
        assert_eq!(&source[error.span.clone()], error.text);
    }
    let line = |error: &genxml_eu::asm::AsmError| {
        let message = error.to_string();
        let message = message.splitn(3, ':').nth(2).unwrap().trim().to_string();
        format!("{}:{} `{}` {message}", error.line, error.column, error.text)
    };
    errors.iter().map(line).collect()
}

#[track_caller]
fn error(source: &str, syntax: Syntax, expected: &str) {
    assert_eq!(errors(source, syntax), [expected], "{source}");
}

#[test]
fn of_words() {
    for (source, expected) in [
        ("mvo (8|M0) r1:d r2:d", "1:1 `mvo` `mvo` is not an operation; did you mean `mov`?"),
        ("qqqq (8|M0) r1:d r2:d", "1:1 `qqqq` `qqqq` is not an operation"),
        ("(W) 8", "1:5 `8` unexpected `8`, expected an operation"),
        (
            "sends (8|M0) r1 r2 r3 0x0 0x0",
            "1:1 `sends` `sends` is not an operation; split sends exist from Gen9 on; put the payloads into consecutive registers",
        ),
        (
            "math (8|M0) r1:f r2:f",
            "1:6 `(` unexpected `(`, expected `.` and a function, as in math.inv",
        ),
        (
            "math.sqrt (8|M0) r1:f r2:f",
            "1:6 `sqrt` `sqrt` is not a math function; did you mean `sqt`?",
        ),
        (
            "add.sat (8|M0) r1:f r2:f r3:f",
            "1:5 `sat` `add` has no suffix `sat`; write the saturation before the destination: (sat)r1.0",
        ),
        (
            "add.z (8|M0) r1:f r2:f r3:f",
            "1:5 `z` `add` has no suffix `z`; write the condition after the size: (eq)f0.0",
        ),
        (
            "mov r1:d r2:d",
            "1:5 `r1` unexpected `r1`, expected the size and the first channel, as in (8|M0)",
        ),
        (
            "mov (9|M0) r1:d r2:d",
            "1:6 `9` 9 is not an execution size, expected 1, 2, 4, 8, 16 or 32",
        ),
        (
            "mov (8|M3) r1:d r2:d",
            "1:8 `M3` `M3` is not a first channel, expected M0, M4, M8 to M28",
        ),
        (
            "add (8|M0) (gg)f0.0 r1:d r2:d r3:d",
            "1:13 `gg` `gg` is not a condition; did you mean `gt`?",
        ),
        (
            "(f0.0) add (8|M0) (gt)f0.1 r1:d r2:d r3:d",
            "1:23 `f0` predicate and condition use different flags, expected f0.0, because an instruction has only one flag",
        ),
        ("(f2.0) mov (8|M0) r1:d r2:d", "1:2 `f2` `f2` is not a flag register, expected f0 or f1"),
        ("(f0.2) mov (8|M0) r1:d r2:d", "1:5 `2` 2 is not a flag subregister, expected 0 or 1"),
        (
            "(f0.0.any6h) mov (8|M0) r1:d r2:d",
            "1:7 `any6h` `any6h` is not a predicate control; did you mean `any2h`?",
        ),
        ("(W+f0.0) nop", "1:3 `+` unexpected `+`, expected `)` or `&` and a flag"),
        (
            "mov (8|M0) r1:d r2:d {Compactd}",
            "1:23 `Compactd` `Compactd` is not an option; did you mean `Compacted`?",
        ),
        ("mov (8|M0) r1:d r2:d {EOT}", "1:23 `EOT` only messages end a thread"),
        ("mov (8|M0) r1:d r2:d {Switch", "1:29 `` the instruction ends here, expected `,` or `}`"),
        ("mov (8|M0) r1:x r2:d", "1:15 `x` `x` is not a type"),
        ("mov (8|M0) r1:d r2:uf", "1:20 `uf` `uf` is not a type; did you mean `ub`?"),
        (
            "mov (8|M0) r1:vf r2:d",
            "1:15 `vf` registers have no type vf; packed vectors are immediates",
        ),
        ("mov (8|M0) r1 r2:d", "1:15 `r2` unexpected `r2`, expected `:` and a type"),
        (
            "mov (8|M0) r1:d r2:d r3:d",
            "1:22 `r3` unexpected `r3`, expected options in braces or the end of the line",
        ),
        ("add (8|M0) r1:d r2:d", "1:21 `` the instruction ends here, expected a register"),
        ("nop 5", "1:5 `5` unexpected `5`, expected options in braces or the end of the line"),
        ("mov (8|M0) r1:d r2:d {} x", "1:25 `x` unexpected `x`, expected the end of the line"),
        ("nop /* open", "1:5 `/*` the comment has no end, expected `*/`"),
        ("mov (8|M0) r1:d ü", "1:17 `ü` unexpected `ü`, expected a register"),
    ] {
        error(source, Iga, expected);
    }
}

#[test]
fn of_registers_and_regions() {
    for (source, expected) in [
        (
            "mov (8|M0) r128:d r2:d",
            "1:12 `r128` there is no general register 128, expected r0 to r127",
        ),
        (
            "mov (8|M0) g1:d r2:d",
            "1:12 `g1` `g1` is not a register; general registers are written r0 to r127",
        ),
        (
            "mov (8|M0) m1:d r2:d",
            "1:12 `m1` `m1` is not a register; Gen8 has no message registers; send messages from general registers",
        ),
        ("mov (8|M0) ac0:d r2:d", "1:12 `ac0` `ac0` is not a register; did you mean `acc`?"),
        ("mov (8|M0) acc16:d r2:d", "1:12 `acc16` there is no register acc16"),
        ("mov (8|M0) acc:d r2:d", "1:12 `acc` there is no register acc"),
        ("mov (8|M0) null0:d r2:d", "1:12 `null0` there is no register null0"),
        (
            "mov (8|M0) r1.16:w r2:d",
            "1:15 `16` a register has no element 16 of type w, expected 0 to 15",
        ),
        (
            "mov (8|M0) r1.8:f r2:d",
            "1:15 `8` a register has no element 8 of type f, expected 0 to 7",
        ),
        (
            "mov (8|M0) r1<3>:d r2:d",
            "1:15 `3` 3 is not a destination stride, expected 0, 1, 2 or 4",
        ),
        (
            "mov (8|M0) r1<8;8,1>:d r2:d",
            "1:15 `8` 8 is not a destination stride, expected 0, 1, 2 or 4",
        ),
        (
            "mov (8|M0) r1:d r2<64;8,1>:d",
            "1:20 `64` 64 is not a stride, expected 0, 1, 2, 4, 8, 16 or 32",
        ),
        ("mov (8|M0) r1:d r2<8;3,1>:d", "1:22 `3` 3 is not a width, expected 1, 2, 4, 8 or 16"),
        (
            "mov (8|M0) r1:d r2<8;8,3>:d",
            "1:24 `3` 3 is not a horizontal stride, expected 0, 1, 2 or 4",
        ),
        (
            "mov (8|M0) r1:d r2<8 8,1>:d",
            "1:22 `8` unexpected `8`, expected `;` and the width, as in <8;8,1>",
        ),
        (
            "mad (8|M0) r1:f r2<4;2>:f r3:f r4:f",
            "1:20 `4;2` three-source instructions do not have this region, expected <2;1> or <0;0>, for the last source <1> or <0>",
        ),
        (
            "mad (8|M0) r1:f r2<8;8,1>:f r3:f r4:f",
            "1:20 `8;8,1` three-source instructions do not have this region, expected <2;1> or <0;0>, for the last source <1> or <0>",
        ),
        ("mov (8|M0) r[a1.0]:d r2:d", "1:14 `a1` `a1` is not an address register, expected a0"),
        (
            "mov (8|M0) r[a0.16]:d r2:d",
            "1:17 `16` 16 is too large for a word of a0, expected 0 to 15",
        ),
        (
            "mov (8|M0) r[a0.0,512]:d r2:d",
            "1:19 `512` the offset 512 does not fit its ten bits, expected -512 to 511",
        ),
        (
            "mov (8|M0) r[a0.0,x]:d r2:d",
            "1:19 `x` unexpected `x`, expected an offset in bytes or `]`",
        ),
        ("mov (8|M0) r1:d ~r2:d", "1:17 `~` sources of `mov` have no modifier ~, expected `-`"),
        ("not (8|M0) r1:d -r2:d", "1:17 `-` sources of `not` have no modifier -, expected `~`"),
        ("mov (8|M0) r1:d (neg)r2:d", "1:18 `neg` `neg` is not a source modifier, expected abs"),
        (
            "mov (8|M0) r1<1>.yx:d r2:d",
            "1:18 `yx` `yx` is not a write mask, expected channels in the order x, y, z, w",
        ),
        (
            "mov (8|M0) r1:d r2<4>.xy:d",
            "1:23 `xy` `xy` is not a swizzle, expected one channel or four",
        ),
        (
            "mov (8|M0) r1:d r2<4>.xq:d",
            "1:23 `xq` `xq` is not a list of channels, expected up to four of x, y, z, w",
        ),
    ] {
        error(source, Iga, expected);
    }
}

#[test]
fn of_immediates() {
    for (source, expected) in [
        (
            "mov (8|M0) r1:d 32768:w",
            "1:17 `32768` 32768 does not fit the type w, expected -32768 to 32767",
        ),
        (
            "mov (8|M0) r1:d 0x10000:w",
            "1:17 `0x10000` 0x10000 does not fit the type w, expected -32768 to 32767",
        ),
        (
            "mov (8|M0) r1:d -1:ud",
            "1:17 `-1` -1 does not fit the type ud, expected 0 to 4294967295",
        ),
        ("mov (8|M0) r1:d 1.5:d", "1:17 `1.5` 1.5 cannot be of type d, expected an integer"),
        (
            "mov (8|M0) r1:d 1:ub",
            "1:17 `1` there are no immediates of type ub; use a word; the destination may still be bytes",
        ),
        ("mov (8|M0) r1:f 1e39:f", "1:17 `1e39` 1e39 is not a number of type f"),
        ("mov (8|M0) r1:f 70000:hf", "1:17 `70000` 70000 is not a number of type hf"),
        (
            "mov (8|M0) r1:f 0x123456789:f",
            "1:17 `0x123456789` 0x123456789 is not a number of type f",
        ),
        (
            "mov (8|M0) r1:f -0x1:f",
            "1:17 `-0x1` -0x1 cannot be of type f, expected a decimal number, or its bits without a sign",
        ),
        ("mov (8|M0) r1:f snan(0x0):f", "1:17 `snan` snan is not a number of type f"),
        (
            "mov (8|M0) r1:f 0x123456789:v",
            "1:17 `0x123456789` 0x123456789 does not fit the type v, expected 0 to 4294967295",
        ),
        (
            "mov (8|M0) r1:f 1.0:vf",
            "1:17 `1.0` 1.0 cannot be of type vf, expected eight hexadecimal digits",
        ),
        (
            "mov (8|M0) r1:f [0.1, 0, 0, 0]:vf",
            "1:18 `0.1` `0.1` is not a restricted float, expected 0, or ±1 to 31/16 times 1/8 to 16",
        ),
        ("mov (8|M0) r1:f [0, 0, 0, 0]:f", "1:30 `f` four packed floats are of type vf"),
        ("mov (8|M0) r1:d 12ab:d", "1:17 `12ab` `12ab` is not a number"),
        (
            "mov (8|M0) r1:d 5",
            "1:18 `` the instruction ends here, expected `:` and the immediate's type",
        ),
        (
            "add (8|M0) r1:d 5:d r2:d",
            "1:17 `5:d` only the last source can be an immediate; exchange the sources or use a register",
        ),
        (
            "mad (8|M0) r1:f 5:f r2:f r3:f",
            "1:17 `5:f` three-source instructions accept only registers; move the number to a register and read it with <0;0>",
        ),
    ] {
        error(source, Iga, expected);
    }
}

#[test]
fn of_mesa() {
    for (source, expected) in [
        ("mvo(8) g1<1>D g2<8,8,1>D;", "1:1 `mvo` `mvo` is not an operation; did you mean `mov`?"),
        (
            "dim(1) g1<1>DF 0F;",
            "1:1 `dim` `dim` is not an operation; only Gen7.5 has it; mov accepts immediates of type df",
        ),
        (
            "mov(8) g1<1>D 0xFFD;",
            "1:15 `0xFFD` `0xFFD` is not a number; write hexadecimal digits in lower case; the type starts with a capital",
        ),
        (
            "mov(8) g1<1>D 5d;",
            "1:15 `5d` `5d` is not a number; write a type in capitals after the digits: 1D, 0x00ffUW",
        ),
        ("mov(8) g1<1>D 5;", "1:16 `;` unexpected `;`, expected a type"),
        ("mov(8) g1<1>D 5DD;", "1:16 `DD` `DD` is not a type; did you mean `D`?"),
        (
            "mov(8) g1<1>V g2<8,8,1>D;",
            "1:13 `V` registers have no type v; packed vectors are immediates",
        ),
        ("mov(8) g128<1>D 1D;", "1:8 `g128` there is no general register 128, expected g0 to g127"),
        ("mov(8) g1<1>D g2<8,3,1>D;", "1:20 `3` 3 is not a width, expected 1, 2, 4, 8 or 16"),
        ("mov(8) g1<1>D g2<8,0,1>D;", "1:20 `0` 0 is not a width, expected 1, 2, 4, 8 or 16"),
        ("mov(8) g1<1>D g2<32,1>D;", "1:18 `32` 32 is not a width, expected 1, 2, 4, 8 or 16"),
        (
            "mov(8) g1<1>D g2<8 8,1>D;",
            "1:20 `8` unexpected `8`, expected `,` and the width, as in <8,8,1>",
        ),
        ("mov.q(8) g1<1>D 1D;", "1:5 `q` `q` is not a condition"),
        ("math.z inv(8) g1<1>F g2<8,8,1>F;", "1:6 `z` `math` has no condition"),
        (
            "mov(8) g1<1>D 1D { align1 compr };",
            "1:27 `compr` `compr` is not an option; Gen6 and later name the channels: 1Q, 2Q, 1H, 2H",
        ),
        (
            "mov(8) g1<1>D 1D { align2 };",
            "1:20 `align2` `align2` is not an option; did you mean `align1`?",
        ),
        (
            "mad(8) g1<1>F g2<4,4,1>F g3<4,4,1>F g4<4,4,1>F { align1 };",
            "1:1 `mad(8) ` `mad` needs Align16, expected `align16` among the options",
        ),
        (
            "goto(16) { align1 1H };",
            "1:10 `{` `goto` lacks its targets, expected `JIP: LABEL0 UIP: LABEL1`; Mesa's disassembler leaves that out of some branches",
        ),
        (
            "ret(16) { align1 1H };",
            "1:9 `{` `ret` lacks a source, expected `g125<2,2,1>UD`; Mesa's disassembler leaves that out of some branches",
        ),
        (
            "mov(8) g1<1>UD Indirect align16 address mode not supported { align16 1Q };",
            "1:16 `Indirect` the operand is missing; Mesa's disassembler does not print indirect operands of Align16",
        ),
        ("if(8) JIP: a;\na:", "1:13 `;` unexpected `;`, expected `UIP:` and a target"),
        (
            "send(8) null<1>UD g2<8,8,1>UD 0x02000010 thread_spwaner;",
            "1:42 `thread_spwaner` `thread_spwaner` is not a shared function; did you mean `thread_spawner`?",
        ),
        (
            "send(8) null<1>UD g2<8,8,1>UD 0x102000010 urb;",
            "1:31 `0x102000010` 0x102000010 is too large for the message descriptor, expected 0 to 4294967295",
        ),
        (
            "mov(8) g[a0.8]<1>UW g2<8,8,1>UW;",
            "1:8 `g[a0.8]` there is no word 16 in a0; for destinations Mesa prints the word of a0 divided by the size of the type, 2",
        ),
        ("mov(8) g1<1>D 1D { align1 }", "1:28 `` the instruction ends here, expected `;`"),
        (
            "cmp(8) null<1>D g1<8,8,1>D ~g2<8,8,1>D;",
            "1:28 `~` sources of `cmp` have no modifier ~, expected `-`",
        ),
    ] {
        error(source, Mesa, expected);
    }
}

#[test]
fn of_labels_and_encodings() {
    for (source, expected) in [
        ("loop:\njmpi lop", "2:6 `lop` there is no label `lop`; did you mean `loop`?"),
        ("jmpi nowhere", "1:6 `nowhere` there is no label `nowhere`"),
        ("a: nop\nnop\na: nop", "3:1 `a` the label `a` is already defined in line 1"),
        ("if (8|M0) 0 x", "1:13 `x` there is no label `x`"),
        ("mad (8|M0) r1:f acc0:f r3:f r4:f", "1:17 `acc0` `mad` takes general registers only"),
        (
            "mad (8|M0) r1:f r[a0.0]:f r3:f r4:f",
            "1:17 `r[a0.0]` `mad` takes general registers only",
        ),
        ("mad (8|M0) null:f r2:f r3:f r4:f", "1:12 `null` `mad` takes general registers only"),
        // Errors of the encoder.
        (
            "mov (8|M0) r1:q r2:d {Compacted}",
            "1:23 `Compacted` this `mov` has no 8-byte form; leave the option out",
        ),
        (
            "mad (8|M0) r1:f r2:f r3:hf r4:f",
            "1:25 `hf` the sources of `mad` must have the same type, expected f",
        ),
        (
            "mov (8|M0) r1.1<1>.x:f r2:f",
            "1:1 `mov (8|M0) r1.1<1>.x:f r2:f` mov: Destination Subregister Number cannot hold 4",
        ),
    ] {
        error(source, Iga, expected);
    }
    let moved = "nop\nif (8|M0) 20 32\nmov (8|M0) r4.0<1>:ud r2.0<8;8,1>:ud\nendif (8|M0) 16";
    let options = Options { compaction: genxml_eu::asm::Compaction::All, ..Options::default() };
    let errors = assemble(moved, Iga, &options).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "2:11: no instruction starts 20 bytes from here; compaction moves instructions, name the target with a label"
    );
}

/// Each line of IGA's syntax and each statement of Mesa's is parsed separately; a missing semicolon
/// causes one error.
#[test]
fn several_in_a_run() {
    let iga = "mvo (8|M0) r1:d r2:d\nmov (8|M0) r1:d r2:d\nmov (8|M0) r1:x r2:d\nadd (8|M0) r1:d";
    assert_eq!(
        errors(iga, Iga),
        [
            "1:1 `mvo` `mvo` is not an operation; did you mean `mov`?",
            "3:15 `x` `x` is not a type",
            "4:16 `` the instruction ends here, expected a register",
        ]
    );
    let mesa = "mvo(8) g1<1>D 1D;\nmov(8) g1<1>D 1D { align1 1Q }\nmov(8) g1<1>X 1D;\n nop;";
    assert_eq!(
        errors(mesa, Mesa),
        [
            "1:1 `mvo` `mvo` is not an operation; did you mean `mov`?",
            "3:1 `mov` unexpected `mov`, expected `;`",
            "3:13 `X` `X` is not a type",
        ]
    );
    let many = "x\n".repeat(1000);
    assert_eq!(assemble(&many, Iga, &Options::default()).unwrap_err().len(), 50);
}

fn survives(source: &str) {
    for syntax in [Iga, Mesa] {
        for compaction in [genxml_eu::asm::Compaction::AsWritten, genxml_eu::asm::Compaction::All] {
            match assemble(source, syntax, &Options { compaction, ..Options::default() }) {
                Ok(kernel) => assert_eq!(kernel.bytes.len() % 8, 0),
                Err(errors) => {
                    assert!(!errors.is_empty());
                    errors
                        .iter()
                        .for_each(|error| assert_eq!(source[error.span.clone()], *error.text));
                }
            }
        }
    }
    Syntax::detect(source);
}

/// Words of both languages, for random text that passes the first checks of the parser.
const PIECES: &[&str] = &[
    "add",
    "mov",
    "mad",
    "send",
    "jmpi",
    "if",
    "goto",
    "math",
    ".inv",
    "call",
    "ret",
    "wait",
    "brd",
    "madm",
    "(8|M0)",
    "(8)",
    "(W)",
    "(+f0.0)",
    "r4.0<1>",
    "g4<1>",
    ":f",
    ":ud",
    "F",
    "UD",
    "r2.0<8;8,1>",
    "g2<8,8,1>",
    "r[a0.3,-32]",
    "g[a0.15",
    "16]",
    "<VxH,1,0>",
    "<1,0>",
    ".mme3",
    ".xyzw",
    "1",
    "-1",
    "0x7fffffff",
    "1.5e3",
    ":vf",
    "[1,2,3,4]",
    "inf",
    "qnan(0x1)",
    "0x27",
    "0x82000010",
    "a0.0",
    "null",
    "acc0",
    "{",
    "}",
    "Compacted",
    "EOT",
    "align16",
    "1Q",
    "JIP:",
    "UIP:",
    "L0",
    "L0:",
    ";",
    "\n",
    "(eq)f0.0",
    ".z.f0.0",
    "(sat)",
    "(abs)",
    "~",
    "-",
    "(",
    ")",
    ",",
    "//",
    "/*",
    "*/",
    "#",
    "MsgDesc:",
    "ARF208",
    "arf9.1.2",
    "99999999999999999999",
    "0x",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_survived(source in "\\PC{0,120}") {
        survives(&source);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words_are_survived(
        words in prop::collection::vec((prop::sample::select(PIECES), any::<bool>()), 0..30),
    ) {
        let source: String = words.into_iter().flat_map(|(word, space)| [word, if space { " " } else { "" }]).collect();
        survives(&source);
    }
}

/// Lines of real kernels with one character changed, removed or doubled.
#[test]
fn damaged_lines_are_survived() {
    let Some(corpus) = corpus::folder() else { return };
    let mut random = Random::new(1);
    let mut damaged = 0;
    for (path, _) in corpus::kernels(&corpus).into_iter().step_by(7) {
        for extension in ["iga.asm", "mesa.asm"] {
            let text = std::fs::read_to_string(path.with_extension(extension)).unwrap();
            for line in text.lines().step_by(11) {
                let mut letters: Vec<char> = line.chars().collect();
                if letters.is_empty() {
                    continue;
                }
                let at = random.index(letters.len());
                match random.below(3) {
                    0 => letters[at] = char::from(33 + random.below(94) as u8),
                    1 => drop(letters.remove(at)),
                    _ => letters.insert(at, letters[at]),
                }
                survives(&letters.into_iter().collect::<String>());
                damaged += 1;
            }
        }
    }
    println!("{damaged} damaged lines");
    assert!(damaged > 1000);
}
