//! How metier says what is wrong.
//!
//! One [`Diagnostic`] is made where a problem is found and carried as plain data to where it is shown. Text with the
//! source line underlined ([`render_text`]) and JSON ([`JsonDiagnostic`]) are views of it and know nothing else.
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
mod diagnostic;
mod edit;
mod json;
mod position;
mod text;

pub use code::{Code, Severity};
pub use diagnostic::Diagnostic;
pub use edit::{Edit, Fix, Patched, apply};
pub use json::JsonDiagnostic;
pub use position::{Place, Position, Span};
pub use text::{Paint, render_text};
