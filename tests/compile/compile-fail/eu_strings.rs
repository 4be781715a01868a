//! Text in string literals: the message quotes the line and points to its literal.

use genxml::eu;

const KERNEL: [u32; 8] = eu!(
    "(W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud",
    "(W) snd (8|M0)   null  r127  0x27  0x02000010  {EOT}",
);

const MESA: [u32; 4] = eu! { #![mesa] add(8) g4<1>F g2<8,8,1>F 0x3f80000F { align2 }; };

fn main() {}
