//! Shell texts as tokens.
//!
//! [`ShellTokens`] splits any text the way bash would and never fails: what it cannot follow is still some token. It is for
//! pointing at what a text says and for putting values into it. It must not decide what may run: for that, metier-policy has
//! a strict parser that refuses whatever it does not know. Both share [`is_reserved`].
//!
//! ```
//! use metier_shell::{ShellTokenKind, ShellTokens};
//!
//! let text = "cat 'a b' 2>/dev/null # both";
//! let tokens: Vec<_> = ShellTokens::new(text).filter(|token| token.kind != ShellTokenKind::Blank).collect();
//! let written: Vec<_> = tokens.iter().map(|token| token.text(text)).collect();
//! assert_eq!(written, ["cat", "'a b'", "2>", "/dev/null", "# both"]);
//! assert_eq!(tokens[1].literal(text), Some("a b"));
//! ```

mod grammar;
mod here_document;
mod token;
mod tokens;

pub use grammar::{assignment, is_reserved, is_variable_name, precedes_command, starts_program};
pub use token::{Nesting, ShellToken, ShellTokenKind};
pub use tokens::ShellTokens;
