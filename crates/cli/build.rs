//! How the program is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // A program that can be loaded anywhere has twenty thousand pointers to be corrected at every start, which is a third
    // of the time of a short command. At a fixed address there are none. What is given up is that an attacker who can
    // already corrupt memory does not know where this program's own code lies; nearly all of it is safe Rust, and
    // libraries, heap and stacks stay where chance puts them. Programs in Go are linked like this as a rule.
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
