//! An error in the syntax is reported where it is.
use genxml::gen8::blitter::XyColorBlt;
use genxml::packet;

fn main() {
    let _ = packet! {};
    let _ = packet!(XyColorBlt::new());
    let _ = packet! { XyColorBlt { clipping_enable true, .. } };
    let _ = packet! { XyColorBlt { solid_pattern_color: 3u32, .. } };
    let _ = packet! { XyColorBlt { solid_patern_color: 3, .. } };
}
