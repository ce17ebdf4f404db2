//! Makes a skill's text for a session: substitution, injected commands, the envelope, and the scope that it opens.
//!
//! - [`RenderPlan`] is what one scan of a body found, [`Rendered`] the body with its tokens replaced.
//! - [`ShellLine`] is an injected command with its values as shell variables; `metier-exec` runs it.
//! - [`ActivationDraft`] is a skill's file, read once, and makes an [`Activation`] of it.
//! - [`SkillTerms`] makes the fence and the grants of a skill; [`Scopes`] are those that are open in a session.
//! - [`SessionActivations`] knows which texts are in the session already.
//!
//! This crate makes no decisions (`metier-policy` does), asks no person and keeps no session: the caller asks the questions
//! of a draft, and puts the text into its own session.
//!
//! ```
//! use metier_activation::{RenderPlan, SkillArguments, TokenValues};
//!
//! let values = TokenValues {
//!     arguments: &SkillArguments::Text("Ada".to_owned()),
//!     declared: &[],
//!     skill: "/skills/greet".as_ref(),
//!     data: None,
//!     plugin: None,
//!     project: None,
//!     session: "s-1",
//!     environment: &[],
//! };
//! let plan = RenderPlan::new("Greet $ARGUMENTS as ${SKILL_DIR}/style.md says.", values)?;
//! assert_eq!(plan.render(&[]).text(), "Greet Ada as /skills/greet/style.md says.");
//! # Ok::<(), metier_exec::ArgumentError>(())
//! ```

mod activation;
pub mod code;
mod injection;
mod render;
mod scope;
mod terms;

pub use activation::{
    Activation, ActivationContext, ActivationDraft, ActivationError, ActivationMode, ActivationOutcome,
    ActivationRequest, InvocationError, Invoker, RepeatedActivation, RestoredText, SessionActivations,
    TRAILER, attribute, breadcrumb, neutral,
};
pub use injection::{COMMAND_OUTPUT, MAX_COMMANDS, ShellLine, UnsafeCommand, injection_start};
pub use render::{
    PieceSource, PlannedCommand, PlannedToken, RenderPlan, Rendered, RenderedPiece, SkillArguments,
    TokenValues,
};
pub use scope::{ScopeEnd, ScopeId, Scopes, SkillScope};
pub use terms::{DisallowedTools, SkillTerms};
