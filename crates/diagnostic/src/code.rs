//! A code names one kind of problem for good: people search for it, configuration refers to it.

use serde::Serialize;
use std::fmt;

crate::words! {
    /// How much a problem matters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// Worth knowing; nothing needs to change.
        Info = "info",
        /// Works here and may not elsewhere, or not as its author meant.
        Warning = "warning",
        /// Wrong: something was refused or left out.
        Error = "error",
    }
}

/// One kind of problem: a stable kebab-case name, how much it matters, and a sentence for the reference page.
///
/// Codes are statics of the crate that finds the problem, so a diagnostic carries a pointer and the reference page is
/// generated from the same place.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Code {
    name: &'static str,
    severity: Severity,
    summary: &'static str,
}

impl Code {
    /// A code; `summary` is one or two sentences: what it means and why anybody should care.
    pub const fn new(name: &'static str, severity: Severity, summary: &'static str) -> Self {
        Self { name, severity, summary }
    }

    /// The stable name, such as `description-too-long`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How much a problem of this kind matters.
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// What it means, for the reference page.
    pub const fn summary(&self) -> &'static str {
        self.summary
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Declares the codes of a crate: a static for each, and `ALL` in the order of the reference page.
///
/// ```
/// metier_diagnostic::codes! {
///     Warning {
///         SHOUTING "shouting" "A name is written in capitals."
///     }
/// }
///
/// fn main() {
///     assert_eq!(ALL[0].name(), "shouting");
/// }
/// ```
#[macro_export]
macro_rules! codes {
    ($($severity:ident { $($ident:ident $name:literal $summary:literal)+ })+) => {
        $($(
            #[doc = $summary]
            pub static $ident: $crate::Code = $crate::Code::new($name, $crate::Severity::$severity, $summary);
        )+)+
        /// All codes of this crate, in the order of the reference page.
        pub static ALL: &[&$crate::Code] = &[$($(&$ident),+),+];
    };
}

/// Declares an enum with a word for each variant beside it, which `word` gives and by which it is shown.
///
/// ```
/// metier_diagnostic::words! {
///     /// How something went.
///     #[derive(Clone, Copy, Debug)]
///     pub enum Outcome {
///         /// As it should.
///         Good = "good",
///         /// It broke off.
///         Broken = "broken off",
///     }
/// }
///
/// fn main() {
///     assert_eq!(Outcome::Broken.to_string(), "broken off");
/// }
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$outer:meta])* $vis:vis enum $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$outer])*
        $vis enum $name {
            $($(#[$inner])* $variant,)+
        }

        impl $name {
            /// The word users see.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
