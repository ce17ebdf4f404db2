//! The HTTP listener, and who may use it.
//!
//! - [`Site`] listens, on loopback unless the user says otherwise, and serves one path.
//! - [`ConnectionLimits`] bound what clients take up: connections, and the time for a request's head and body.
//! - [`Guard`] says who may ask: a page in a browser cannot (Host and Origin are looked at), and nobody without the [`Token`].
//!
//! It knows neither skills nor MCP: what answers at the path is a function. It reads no environment and prints nothing.
//!
//! ```
//! use metier_http::{ConnectionLimits, Guard, Site, Token};
//!
//! // Any port that is free, on this machine, for whoever brings the token.
//! let guard = Guard::new(Some(Token::random()?));
//! let site = Site::take("127.0.0.1:0".parse()?, guard, ConnectionLimits::default())?;
//! assert!(site.address().ip().is_loopback() && site.url("/mcp").ends_with("/mcp"));
//! // Without a token nobody outside of this machine is let near.
//! let open = Guard::new(None);
//! assert!(Site::take("0.0.0.0:0".parse()?, open, ConnectionLimits::default()).is_err());
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
pub use guard::Guard;
pub use site::{CLOSE_TIMEOUT, Site, SiteError};
pub use token::{Token, TokenError};
