//! Instructions that can be encoded but break rules.

use genxml::eu;

const REGION: [u32; 8] = eu! {
    mov (8|M0)       r6.0<1>:w  r4.0<4;8,1>:w
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

const ALLOWED: [u32; 8] = eu! {
    #![allow("EU-REGION-VSTRIDE")]
    mov (8|M0)       r6.0<1>:w  r4.0<4;8,1>:w
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

const UNKNOWN: [u32; 4] = eu! {
    #![allow("EU-NOTHING")]
    nop
};

const ATTRIBUTE: [u32; 4] = eu! {
    #![gen9]
    nop
};

fn main() {}
