//! A store without an address makes no sense: `new` asks for it, and `..` does not stand for it.
use genxml::gen8::mi::MiStoreDataImm;
use genxml::packet;

fn main() {
    let store = packet! { MiStoreDataImm { use_global_gtt: true, .. } };
    println!("{store:?}");
}
