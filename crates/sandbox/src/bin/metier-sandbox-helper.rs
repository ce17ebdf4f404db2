//! The helper as a program of its own, for programs that embed `metier-sandbox` and cannot call
//! [`metier_sandbox::helper`] first thing in their `main`; the tests of this crate are such.

fn main() {
    metier_sandbox::helper(std::env::args_os());
}
