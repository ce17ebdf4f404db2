//! HTTP: MCP for hosts that do not start a program of their own.
//!
//! - [`Site`] listens, on this machine alone unless somebody says otherwise, and serves MCP at `/mcp`.
//! - [`ConnectionLimits`] bound what clients take up: connections, and the time for a request's head and body.
//! - [`Guard`] says who may ask: a page in a browser cannot (Host and Origin are looked at), and nobody without the [`Token`].
//!
//! What this crate is not: it knows nothing of skills; what is asked and answered is `metier-mcp`'s. It reads no environment and
//! prints nothing.
//!
//! ```
//! use metier_http::{Door, Guard, Site, Token};
//!
//! // Any port that is free, on this machine, for whoever brings the token.
//! let guard = Guard::new(Door::Token(Token::random()?));
//! let site = Site::take("127.0.0.1:0".parse()?, guard)?;
//! assert!(site.address().ip().is_loopback() && site.url().ends_with("/mcp"));
//! // Without a token nobody outside of this machine is let near.
//! assert!(Site::take("0.0.0.0:0".parse()?, Guard::new(Door::Open)).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod connections;
mod guard;
mod site;
mod token;

pub use connections::{
    ConnectionLimits, DEFAULT_BODY_TIMEOUT, DEFAULT_CONNECTIONS, DEFAULT_HEAD_TIMEOUT, DEFAULT_PER_ADDRESS,
};
pub use guard::{Door, Guard};
pub use site::{Site, SiteError};
pub use token::{Keep, Token, TokenError};
