//! Hardware stores the number of threads minus one: 0 is as illegal as too many.
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::packet;

fn main() {
    let none = packet! { ThreeDStateVs { maximum_number_of_threads: 0, .. } };
    let many = packet! { ThreeDStateVs { maximum_number_of_threads: 600, .. } };
    println!("{:?}", (none.pack(), many.pack()));
}
