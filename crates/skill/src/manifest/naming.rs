//! The name of a skill: from its frontmatter, else from its folder.

use super::Spanned;
use super::placeholder::is_placeholder;
use super::typing::Typing;
use super::value::shorten;
use crate::code;
use crate::name::{NameRefusal, Naming, SkillName, judge, normal_form, trimmed};
use metier_diagnostic::{Code, Span};
use std::borrow::Cow;

/// The name a skill is called by and the one it was given, where that cannot be called.
pub(super) struct Named {
    pub(super) name: SkillName,
    pub(super) title: Option<String>,
}

impl Typing<'_, '_> {
    /// Settles the name; `None` when it is refused.
    pub(super) fn settle_name(
        &mut self,
        written: Option<&Spanned<Cow<'_, str>>>,
        folder: Option<&str>,
    ) -> Option<Named> {
        let place = written.map_or(Span::default(), |name| name.span);
        let text = written.map_or(folder.unwrap_or_default(), |name| trimmed(&name.value));
        if written.is_some() && is_placeholder(text) {
            let message = format!("the name is still the placeholder `{}`", shorten(text));
            self.refuse(&code::TEMPLATE_PLACEHOLDER, place, message, "write the skill's name");
            return None;
        }
        let (name, title) = match judge(text) {
            Naming::Canonical(name) => (name, None),
            Naming::Accepted(name, oddities) => {
                let message = format!("the name `{}` has {}", shorten(name.as_str()), oddities.join(", "));
                let help = "use lower-case letters, digits and single hyphens, at most 64";
                self.reading.report(&code::NAME_NOT_CANONICAL, place, message, help);
                (name, None)
            }
            Naming::Slugged { name, title } => {
                let message = format!("`{}` cannot be called; the skill is called `{name}`", shorten(&title));
                self.reading.report(&code::NAME_SLUGGED, place, message, format!("write `name: {name}`"));
                (name, Some(title))
            }
            Naming::Refused(why) => {
                self.refuse_name(why, text, place);
                return None;
            }
        };
        if let (Some(_), Some(folder)) = (written, folder)
            && name.as_str() != folder
            && name.as_str() != normal_form(folder)
        {
            let called = shorten(name.as_str());
            let message = format!("the name `{called}` is not the folder's, `{folder}`; both are understood");
            let help = format!("rename the folder to `{called}`, or write `name: {folder}`");
            self.reading.report(&code::NAME_DIFFERS_FROM_FOLDER, place, message, help);
        }
        Some(Named { name, title })
    }

    fn refuse_name(&mut self, why: NameRefusal, text: &str, place: Span) {
        let text = shorten(text);
        let (code, message): (&'static Code, _) = match why {
            NameRefusal::Empty => (&code::NAME_EMPTY, "the name is empty".to_owned()),
            NameRefusal::ControlCharacter => {
                (&code::NAME_CONTROL_CHARACTER, "the name contains a control character".to_owned())
            }
            NameRefusal::PathStep => {
                (&code::NAME_PATH_STEP, format!("`{text}` is a step of a path, not a name"))
            }
            NameRefusal::Unusable => {
                (&code::NAME_UNUSABLE, format!("no letter or digit is left of the name `{text}`"))
            }
        };
        self.refuse(code, place, message, "give it a `name` of lower-case letters, digits and hyphens");
    }
}
