//! Four bits hold 15, but the manual allows only 2^11 KiB of scratch space, and LODs up to 14.
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::state::SamplerState;
use genxml::packet;

fn main() {
    let vs = packet! { ThreeDStateVs { per_thread_scratch_space: 12, .. } };
    let sampler = packet! { SamplerState { base_mip_level: 14.5, .. } };
    println!("{:?}", (vs.pack(), sampler.pack()));
}
