//! Packets as dwords, numbers and addresses for their fields.

use genxml_core::{Address, Instruction, MinusOne, Space, U};

/// Appends a packet to a batch.
///
/// # Panics
/// If a field of the packet has a value that cannot be packed.
pub fn push<I: Instruction>(batch: &mut Vec<u32>, packet: &I) {
    let start = batch.len();
    batch.resize(start + packet.dwords(), 0);
    packet.pack_into(&mut batch[start..]).expect("room for all of it");
}

/// A batch of packets, as dwords.
#[macro_export]
macro_rules! packets {
    ($($packet:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut batch: Vec<u32> = Vec::new();
        $($crate::packet::push(&mut batch, &$packet);)*
        batch
    }};
}

/// An address for a field.
///
/// # Panics
/// If it does not fit the field.
pub fn at<SP: Space, const ALIGN: u64, const N: u32>(address: u64) -> Address<SP, ALIGN, N> {
    Address::new(address).expect("an address that fits")
}

/// A number for a field.
///
/// # Panics
/// If it does not fit the field.
pub fn u<const N: u32>(value: u64) -> U<N> {
    U::new(value).expect("a number that fits")
}

/// A number for a field that stores the number minus one.
///
/// # Panics
/// If it does not fit the field.
pub fn minus_one<const N: u32>(value: u64) -> MinusOne<N> {
    MinusOne::new(value).expect("a number that fits")
}
