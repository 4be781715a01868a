//! Sets the cfg `unoptimised` if the crate is compiled without full optimisation. An instruction
//! then takes up to a microsecond, so the watchdog has a smaller limit.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if !matches!(std::env::var("OPT_LEVEL").as_deref(), Ok("2" | "3")) {
        println!("cargo::rustc-cfg=unoptimised");
    }
}
