//! How metier says what is wrong.
//!
//! One [`Diagnostic`] is made where a problem is found and carried as plain data to where it is shown. The views know
//! nothing but diagnostics and source texts:
//!
//! | view | for |
//! |---|---|
//! | [`render_text`], [`render_report`] | a person: the source line underlined, the next step |
//! | [`JsonDiagnostic`] | a program: one flat object |
//! | [`Sarif`] | code scanning and editors: one SARIF 2.1.0 document of a whole run |
//! | [`render_github`] | a GitHub workflow: one command that annotates the changed lines |
//! | [`Diff`] | whoever looks at what a fix changes, or applies it: a unified diff |
//!
//! Messages and sources are strangers' texts; [`visible()`] is how every view for people makes them harmless.
//!
//! What this crate is not: it finds nothing, reads no file, prints nothing, and knows neither skills nor terminals.
//!
//! ```
//! use metier_diagnostic::{Code, Diagnostic, Severity, Span, render_text, Paint};
//!
//! static SHOUTING: Code = Code::new("shouting", Severity::Warning, "A name is written in capitals.");
//!
//! let source = "name: PDF\n";
//! let found = Diagnostic::new(&SHOUTING, "the name `PDF` is in capitals")
//!     .at(Span::new(6, 9), source)
//!     .help("write `pdf`");
//!
//! assert_eq!((found.line(), found.column()), (Some(1), Some(7)));
//! assert!(render_text(&found, Some(source), Paint::Plain).contains("warning[shouting]"));
//! ```

mod code;
mod counted;
mod diagnostic;
mod diff;
mod edit;
mod excerpt;
mod fingerprint;
mod github;
mod json;
mod name;
mod position;
mod sarif;
mod sources;
mod text;
mod uri;
mod visible;

pub use code::{Code, Severity};
pub use counted::{counted, grouped};
pub use diagnostic::Diagnostic;
pub use diff::Diff;
pub use edit::{Edit, Fix, Patched, apply};
pub use github::render_github;
pub use json::JsonDiagnostic;
pub use name::{escaped_name, name_escape, unescaped_name};
pub use position::{Place, Position, Span};
pub use sarif::{Sarif, SarifTool};
pub use text::{Paint, render_report, render_text};
pub use visible::{acts, visible};
