//! HTTP: MCP for hosts that do not start a program of their own.
//!
//! - [`Site`] listens, on this machine alone unless somebody says otherwise, and serves MCP at `/mcp`.
//! - [`Guard`] says who may ask: a page in a browser cannot (Host and Origin are looked at), and nobody without the [`Token`].
//!
//! What this crate is not: it knows nothing of skills; what is asked and answered is `metier-mcp`'s. It reads no environment and
//! prints nothing.

mod guard;
mod site;
mod token;

pub use guard::{Door, Guard};
pub use site::{Site, SiteError};
pub use token::{Keep, Token, TokenError};
