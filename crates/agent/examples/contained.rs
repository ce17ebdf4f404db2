//! Contains what it is told to run, and nothing else: the helper of this crate's tests.

fn main() {
    metier_runtime::begin(std::env::args_os());
}
