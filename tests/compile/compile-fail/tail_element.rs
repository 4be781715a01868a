//! The elements of this tail are vertex elements, not numbers.
use genxml::core::U;
use genxml::gen8::render3d_fetch::ThreeDStateVertexElements;
use genxml::packet;

fn main() {
    let elements = [U::<32>::ZERO; 2];
    let packet = packet! { ThreeDStateVertexElements { element: (&elements).into(), .. } };
    println!("{packet:?}");
}
