//! A jump to a label that does not exist.

use genxml::eu;

const KERNEL: [u32; 8] = eu! {
    loop: add (8|M0) (eq)f0.0 r4.0<1>:d r4.0<8;8,1>:d -1:w
    (W&~f0.0.any8h) jmpi lop
};

fn main() {}
