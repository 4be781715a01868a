//! On a host the program is linked with the C library, which starts it and copies memory.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os != "none") {
        println!("cargo:rustc-link-arg-bins=-lc");
    }
}
