//! MI_NOOP has no tail.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn main() {
    let data = [];
    let noop = packet! { MiNoop { data_dword: (&data).into(), .. } };
    println!("{noop:?}");
}
