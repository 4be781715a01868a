//! `eu!`: its constants are equal to the output of the assembler at run time, in both languages.
//! Oracle of the dwords: the layout of 2d p.139-182, by hand.

use genxml::eu;
use genxml::eu::asm::{Options, assemble};
use genxml::eu::syntax::Syntax;

/// Adds 1.0 to eight floats, and ends the thread.
const TOKENS: [u32; 8] = eu! {
    add (8|M0)       r4.0<1>:f  r2.0<8;8,1>:f  1.0:f     // comments are Rust's
    (W) send (8|M0)  null       r127  0x27  0x02000010   {EOT}
};

const STRINGS: [u32; 8] = eu!(
    "add (8|M0)       r4.0<1>:f  r2.0<8;8,1>:f  1.0:f",
    "(W) send (8|M0)  null       r127  0x27  0x02000010   {EOT} # comments of both languages",
);

const MESA: [u32; 8] = eu! {
    #![mesa]
    add(8)          g4<1>F          g2<8,8,1>F      0x3f800000F     /* 1F */ { align1 1Q };
    send(8)         null<1>UD       g127<8,8,1>UD   0x82000010
                    thread_spawner MsgDesc: mlen 1 rlen 0           { align1 WE_all 1Q EOT };
};

#[test]
fn constants_are_the_instructions() {
    assert_eq!(TOKENS[..4], [0x0060_0040, 0x2080_3ae8, 0x3e8d_0040, 0x3f80_0000]);
    assert_eq!((TOKENS[4], TOKENS[7]), (0x0760_0031, 0x8200_0010));
    assert_eq!(STRINGS, TOKENS);
    assert_eq!(MESA, TOKENS);
}

/// Text that Rust splits into several tokens: fractions, labels that are keywords, brackets,
/// negative numbers.
#[test]
fn tokens_are_the_text() {
    let constant = eu! {
        loop: add (8|M0) (eq)f0.0 r4.0<1>:d r4.0<8;8,1>:d -1:w
              (W&~f0.0.any8h) jmpi loop
              mad (8|M0) r9.0<1>:f -r3.0<2;1>:f (abs)r4.0<2;1>:f r5.2<0>:f; mov (8|M0) r2.0<1>:f qnan(0x1):f
              mov (4|M0) r10.0<1>:f [1.0, -0.5, 2, 31]:vf
              mul (8|M0) r10.0<1>:f r11.0<8;8,1>:f 1.175e-07:f {NoDDClr,Switch}
              mov (8|M0) r[a0.3,-32]<2>:ub r[a0.4,511]<1,0>:ub
              if (8|M0) no end
              else (8|M0) end end
        no:   mov (8|M0) r12.0<1>:f r13.0<8;8,1>:f
        end:  endif (8|M0) 16
              (W) send (8|M0) null r127 0x27 0x02000010 {EOT}
    };
    let text = "
        loop: add (8|M0) (eq)f0.0 r4.0<1>:d r4.0<8;8,1>:d -1:w
              (W&~f0.0.any8h) jmpi loop
              mad (8|M0) r9.0<1>:f -r3.0<2;1>:f (abs)r4.0<2;1>:f r5.2<0>:f; mov (8|M0) r2.0<1>:f qnan(0x1):f
              mov (4|M0) r10.0<1>:f [1.0, -0.5, 2, 31]:vf
              mul (8|M0) r10.0<1>:f r11.0<8;8,1>:f 1.175e-07:f {NoDDClr,Switch}
              mov (8|M0) r[a0.3,-32]<2>:ub r[a0.4,511]<1,0>:ub
              if (8|M0) no end
              else (8|M0) end end
        no:   mov (8|M0) r12.0<1>:f r13.0<8;8,1>:f
        end:  endif (8|M0) 16
              (W) send (8|M0) null r127 0x27 0x02000010 {EOT}
    ";
    let kernel = assemble(text, Syntax::Iga, &Options::default()).unwrap();
    assert_eq!(constant[..], kernel.dwords());
}

/// A kernel of G45 has its own fields, options and rules; jumps count in units of 16 bytes.
#[test]
fn kernels_of_g45() {
    const LOOP: [u32; 12] = eu! {
        #![g45]
        add(16)         m4<1>F          g2<8,8,1>F      g4<8,8,1>F      { align1 compr4 };
        (+f0.0) while(8) Jump: -1                                       { align1 };
        pop(1)          ms0<1>UD        1UD                             { align1 };
    };
    let text = "
        add(16)         m4<1>F          g2<8,8,1>F      g4<8,8,1>F      { align1 compr4 };
        (+f0.0) while(8) Jump: -1                                       { align1 };
        pop(1)          ms0<1>UD        1UD                             { align1 };
    ";
    let options = Options { generation: eu::Generation::Gen45, ..Options::default() };
    let kernel = assemble(text, Syntax::Mesa, &options).unwrap();
    assert_eq!(LOOP[..], kernel.dwords());
    // Opcode, compression and size; the count of the jump (003:9799-9844, 13663).
    assert_eq!((LOOP[0], LOOP[7] & 0xffff), (0x0080_2040, 0xffff));
}

#[test]
fn compacted_on_request() {
    const WIDE: [u32; 8] = eu! {
        mov (8|M0)  r4.0<1>:ud  r2.0<8;8,1>:ud
        (W) send (8|M0) null r127 0x27 0x02000010 {EOT}
    };
    const SMALL: [u32; 6] = eu! {
        #![compact]
        mov (8|M0)  r4.0<1>:ud  r2.0<8;8,1>:ud
        (W) send (8|M0) null r127 0x27 0x02000010 {EOT}
    };
    assert_eq!(SMALL[2..], WIDE[4..]);
    let expanded = eu::expand(u64::from(SMALL[1]) << 32 | u64::from(SMALL[0]));
    assert_eq!(expanded.unwrap(), WIDE[..4]);
}

/// A kernel may come from a macro of the program.
#[test]
fn within_macro_rules() {
    macro_rules! ends_with {
        ($register:ident, $descriptor:expr) => {
            eu! {
                (W) send (8|M0) null $register 0x27 $descriptor {EOT}
            }
        };
    }
    let kernel: [u32; 4] = ends_with!(r127, 0x02000010);
    assert_eq!(kernel, TOKENS[4..]);
}
