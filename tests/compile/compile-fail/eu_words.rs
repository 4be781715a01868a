//! Misspelt words, registers and types that do not exist: each error is at its token.

use genxml::eu;

const KERNEL: [u32; 16] = eu! {
    (W) mvo (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (8|M0)   r128.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (8|M0)   r12.0<1>:udd  r0.8<8;8,1>:ud
    (W) mov (8|M0)   r12.0<1>:ud   r0.0<8;7,1>:ud {Compactd}
    (W) mov (8|M0)   r12.0<1>:uw   65536:uw
    add (8|M0)       r12.0<1>:f    r13.0<8;8,1>:f
};

fn main() {}
