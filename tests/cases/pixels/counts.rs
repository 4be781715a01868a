//! Statistics of pixels. Oracle: the area of a rectangle; gen8_facts 2.7 (drivers divide
//! PS_INVOCATION_COUNT by 4).

use crate::pixels::edges::WHITE;
use crate::pixels::harness::{Draw, Vertex, model};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;

const PS_INVOCATION_COUNT: u32 = 0x2348;
const PS_DEPTH_COUNT: u32 = 0x2350;

#[test]
fn pixels_of_a_rectangle() {
    let mut model = model();
    let corners = [(20.0, 15.0), (10.0, 15.0), (10.0, 10.0)];
    let vertices = corners.map(|(x, y)| Vertex::at(x, y)).to_vec();
    let draw = Draw::new(Code::_3DPRIM_RECTLIST, vertices, WHITE);
    draw.run(&mut model).unwrap();
    let registers = &model.gpu.context_mut(model.context).state.registers;
    let [invocations, passed] =
        [PS_INVOCATION_COUNT, PS_DEPTH_COUNT].map(|at| registers.read_u64(at));
    assert_eq!((invocations, passed), (4 * 50, 50));
}
