//! Code generated from files in Mesa's schema. Oracle: dwords written by hand from the XML.

use genxml::packet;
use genxml_core::lit;
use genxml_tests::foreign::gen75::{Basket, Fruit, ToyNoop};
use genxml_tests::foreign::gen80::{ToyStack, ToyStackMode};

#[test]
fn packets_of_mesas_schema() {
    let mut stack = ToyStack::new();
    stack.enable = true;
    stack.mode = ToyStackMode::FAST;
    stack.pointer = lit!(0x1_0000_0040);
    let dwords = [0x7805_0004, 1 | 3 << 1 | 1 << 8, 0, 0, 0x40, 1];
    assert_eq!(stack.pack(), dwords);
    assert_eq!(ToyStack::unpack(&dwords), Ok(stack));
    let basket = packet! { Basket { fruit: Fruit::PEAR, weight: 2.5, drift: -1 } };
    assert_eq!(basket.pack(), [2 | 40 << 4 | 0xf8 << 16]);
    assert_eq!((ToyNoop::new().pack(), ToyNoop::NAME), ([0], "TOY_NOOP"));
}
