//! Pixel shaders for eight pixels. Unless a kernel says otherwise, r2 and r3 are barycentrics; r4
//! and r5 are the setup of attribute 0, with four dwords for each component: two differences, an
//! unused dword, and the value at the first vertex.

use genxml::eu;

/// Writes the value of the attribute at the provoking vertex.
pub const FLAT: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r113.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r5.7<0;1,0>:ud
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// Like [`FLAT`], for attribute 16.
pub const FLAT_16: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r36.3<0;1,0>:ud
    mov (8|M0)       r113.0<1>:ud  r36.7<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r37.3<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r37.7<0;1,0>:ud
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// Writes the interpolated attribute.
pub const PLANES: &[u32] = &eu! {
    pln (8|M0)       r112.0<1>:f   r4.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (8|M0)       r113.0<1>:f   r4.4<0;1,0>:f  r2.0<8;8,1>:f
    pln (8|M0)       r114.0<1>:f   r5.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (8|M0)       r115.0<1>:f   r5.4<0;1,0>:f  r2.0<8;8,1>:f
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// Like [`PLANES`], for sixteen pixels: barycentrics in r2 to r5, the setup in r6 and r7.
pub const PLANES_16: &[u32] = &eu! {
    pln (16|M0)      r112.0<1>:f   r6.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (16|M0)      r114.0<1>:f   r6.4<0;1,0>:f  r2.0<8;8,1>:f
    pln (16|M0)      r116.0<1>:f   r7.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (16|M0)      r118.0<1>:f   r7.4<0;1,0>:f  r2.0<8;8,1>:f
    sendc (16|M0)    null  r112  0x25  0x10031000  {EOT}
};

/// Writes r2 to r5 unchanged: two barycentrics and the next two registers. The setup begins at r6
/// or later.
pub const PAYLOAD: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r2.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r3.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r115.0<1>:ud  r5.0<8;8,1>:ud
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// Writes the attribute, and its first component as depth.
pub const WITH_DEPTH: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r113.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r5.7<0;1,0>:ud
    mov (8|M0)       r116.0<1>:f   r4.3<0;1,0>:f
    sendc (8|M0)     null  r112  0x25  0x0A031400  {EOT}
};

/// Writes the fourth component as the sample mask, and the attribute.
pub const WITH_MASK: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:uw  r5.14<0;1,0>:uw
    mov (8|M0)       r113.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r116.0<1>:ud  r5.7<0;1,0>:ud
    sendc (8|M0)     null  r112  0x25  0x0A031400  {EOT}
};

/// Writes two colours for one target: attributes 0 and 1.
pub const TWO_COLORS: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r113.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r5.7<0;1,0>:ud
    mov (8|M0)       r116.0<1>:ud  r6.3<0;1,0>:ud
    mov (8|M0)       r117.0<1>:ud  r6.7<0;1,0>:ud
    mov (8|M0)       r118.0<1>:ud  r7.3<0;1,0>:ud
    mov (8|M0)       r119.0<1>:ud  r7.7<0;1,0>:ud
    sendc (8|M0)     null  r112  0x25  0x10031200  {EOT}
};

/// Writes the attribute to eight targets, with a header that names the entry of the blend state.
/// The first component grows by one with each target.
pub const EIGHT_TARGETS: &[u32] = &eu! {
    (W) mov (8|M0)   r120.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (8|M0)   r121.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r122.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r123.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r124.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r125.0<1>:ud  r5.7<0;1,0>:ud
    (W) mov (1|M0)   r120.2<1>:ud  0:ud
    sendc (8|M0)     null  r120  0x5  0x0C0B0400
    add (8|M0)       r122.0<1>:ud  r122.0<8;8,1>:ud  1:ud
    (W) mov (1|M0)   r120.2<1>:ud  1:ud
    send (8|M0)      null  r120  0x5  0x0C0B0401
    add (8|M0)       r122.0<1>:ud  r122.0<8;8,1>:ud  1:ud
    (W) mov (1|M0)   r120.2<1>:ud  2:ud
    send (8|M0)      null  r120  0x5  0x0C0B0402
    add (8|M0)       r122.0<1>:ud  r122.0<8;8,1>:ud  1:ud
    (W) mov (1|M0)   r120.2<1>:ud  3:ud
    send (8|M0)      null  r120  0x5  0x0C0B0403
    add (8|M0)       r122.0<1>:ud  r122.0<8;8,1>:ud  1:ud
    (W) mov (1|M0)   r120.2<1>:ud  4:ud
    send (8|M0)      null  r120  0x5  0x0C0B0404
    add (8|M0)       r122.0<1>:ud  r122.0<8;8,1>:ud  1:ud
    (W) mov (1|M0)   r120.2<1>:ud  5:ud
    send (8|M0)      null  r120  0x5  0x0C0B0405
    add (8|M0)       r122.0<1>:ud  r122.0<8;8,1>:ud  1:ud
    (W) mov (1|M0)   r120.2<1>:ud  6:ud
    send (8|M0)      null  r120  0x5  0x0C0B0406
    add (8|M0)       r122.0<1>:ud  r122.0<8;8,1>:ud  1:ud
    (W) mov (1|M0)   r120.2<1>:ud  7:ud
    send (8|M0)      null  r120  0x25  0x0C0B1407  {EOT}
};

/// Never ends.
pub const ENDLESS: &[u32] = &eu! {
    again:
    mov (8|M0)       r112.0<1>:ud  0:ud
    (W) jmpi again
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// Writes the sample masks of the payload, which follow the barycentrics.
pub const COVERAGE: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r115.0<1>:ud  r4.0<8;8,1>:ud
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};
