//! A store needs an address: it is an argument of `new`, so `..` does not supply it.
use genxml::gen8::mi::MiStoreDataImm;
use genxml::packet;

fn main() {
    let store = packet! { MiStoreDataImm { use_global_gtt: true, .. } };
    println!("{store:?}");
}
