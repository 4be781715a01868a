//! The bias has a sign, four integer bits and eight fraction bits; the line width has no sign.
use genxml::gen8::render3d_raster::ThreeDStateSf;
use genxml::gen8::state::SamplerState;
use genxml::packet;

fn main() {
    let sampler = packet! { SamplerState { texture_lod_bias: 16.5, .. } };
    let sf = packet! { ThreeDStateSf { line_width: -1, .. } };
    println!("{:?}", (sampler.pack(), sf.pack()));
}
