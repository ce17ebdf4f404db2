//! The findings of the security assessment, one module each. Every test drives the real program.
//!
//! `METIER_BIN` names another build to try: `cargo xtask findings --binary OLD` shows that each test fails there.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests start the program, look at what it wrote, and fail loudly"
)]

#[allow(dead_code, reason = "shared with the tests in `it`, which use the rest")]
#[path = "../it/binary.rs"]
mod binary;
mod mcp_client;
#[allow(dead_code, reason = "shared with the tests in `it`, which use the rest")]
#[path = "../it/model_server.rs"]
mod model_server;
mod ordinary_user;
#[allow(dead_code, reason = "shared with the tests in `it`, which use the rest")]
#[path = "../it/typist.rs"]
mod typist;

mod c1;
mod d1;
mod d2;
mod d5;
mod h1;
mod h2;
mod h3;
mod h4;
mod h5;
mod h6;
mod h7;
mod h8;
mod l1;
mod l10;
mod l11;
mod l12;
mod l2;
mod l3;
mod l4;
mod l5;
mod l6;
mod l7;
mod l8;
mod l9;
mod m1;
mod m2;
mod m3;
mod m4;
mod m5;
mod m6;
mod m7;
mod m8;
mod m9;
