//! One clear answer about one name: where it was found, what became of it, why, and what to do.
//!
//! The answer is data. The program prints it for people and as JSON; neither says anything the other does not.

mod advice;
mod skill;

use crate::catalogue::CatalogueOptions;
use crate::entry::{EntryId, State};
use crate::lookup::Lookup;
use crate::origin::Origin;
use crate::place::below;
use crate::reference::Reference;
use crate::snapshot::{Failure, Snapshot};
use metier_diagnostic::Diagnostic;
use serde::Serialize;
use std::path::PathBuf;

pub use skill::{ExplainedSkill, InCatalogue, Parsing, Reason, Tools};

/// What there is to say about a name.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// What was asked.
    pub asked: String,
    /// What became of it.
    pub verdict: Verdict,
    /// The answer in one sentence.
    pub answer: String,
    /// The skill that is meant first, then the others that have to do with the name, by precedence.
    pub skills: Vec<ExplainedSkill>,
    /// Files that should be that skill and are none.
    pub failures: Vec<ExplainedFailure>,
    /// Names that may have been meant.
    pub nearest: Vec<String>,
    /// Where was looked, when nothing was found.
    pub searched: Vec<Searched>,
    /// What to do next, one sentence each.
    pub advice: Vec<String>,
}

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Its file was refused.
    Failed,
    /// There is no version that satisfies the requirement.
    NoVersion,
    /// Several skills are meant equally.
    Ambiguous,
    /// There is no such skill.
    NotFound,
    /// The text names no skill at all.
    Invalid,
    /// It is a skill that stands so.
    #[serde(untagged)]
    Stands(State),
}

/// A file that should be a skill and is none.
#[derive(Debug, Serialize)]
pub struct ExplainedFailure {
    /// Where it comes from.
    pub origin: Origin,
    /// Its folder.
    pub path: PathBuf,
    /// Why.
    pub diagnostics: Vec<Diagnostic>,
}

/// A root that was looked into.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// What its skills would come from.
    pub origin: Origin,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

impl Snapshot {
    /// Explains what becomes of a name. A skill may not fit into the model's catalogue, so that is made as `catalogue` says.
    pub fn explain(&self, asked: &str, catalogue: &CatalogueOptions<'_>) -> Explanation {
        let mut explanation = Explanation {
            asked: asked.to_owned(),
            verdict: Verdict::Invalid,
            answer: String::new(),
            skills: Vec::new(),
            failures: Vec::new(),
            nearest: Vec::new(),
            searched: Vec::new(),
            advice: Vec::new(),
        };
        let reference: Reference = match asked.parse() {
            Ok(reference) => reference,
            Err(error) => {
                explanation.answer = format!("{error}.");
                return explanation;
            }
        };
        let lookup = self.find(&reference);
        self.fill(&mut explanation, &lookup);
        let meant: Vec<EntryId> = match &lookup {
            Lookup::Found(id, _) | Lookup::Unusable(id, _) => vec![*id],
            Lookup::Ambiguous(several) => several.iter().map(|(id, _)| *id).collect(),
            Lookup::NoVersion(_) | Lookup::Failed(_) | Lookup::NotFound(_) => Vec::new(),
        };
        let mut related = meant.clone();
        let name = meant
            .first()
            .and_then(|id| self.entry(*id))
            .map_or(reference.name.as_str(), |entry| entry.name().as_str());
        related.extend(self.called(name).into_iter().filter(|id| !meant.contains(id)));
        let catalogue = self.catalogue(catalogue);
        for id in related {
            explanation.skills.extend(self.explain_skill(id, &catalogue.report));
        }
        explanation.failures =
            self.failures_called(&reference.name).map(|failure| self.explain_failure(failure)).collect();
        explanation.advice = advice::advice(self, &explanation, &lookup);
        explanation
    }

    fn fill(&self, explanation: &mut Explanation, lookup: &Lookup<'_>) {
        let asked = explanation.asked.clone();
        let says = self.in_words(lookup);
        (explanation.verdict, explanation.answer) = match lookup {
            Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => {
                let place = self.document_path(entry);
                let origin = &self.root(entry).origin;
                let state = advice::state_in_words(self, entry);
                (
                    Verdict::Stands(entry.state()),
                    format!("`{asked}` is `{}` ({origin}): {state}.", place.display()),
                )
            }
            Lookup::NoVersion(_) => (Verdict::NoVersion, format!("`{asked}`: {says}.")),
            Lookup::Ambiguous(_) => (Verdict::Ambiguous, format!("`{asked}` {says}.")),
            Lookup::Failed(failure) => {
                let folder = below(&self.layout().roots[failure.root].path, &failure.folder);
                (
                    Verdict::Failed,
                    format!("`{asked}` is in `{}` and could not be loaded: {says}.", folder.display()),
                )
            }
            Lookup::NotFound(nearest) => {
                explanation.nearest.clone_from(nearest);
                explanation.searched = self.searched();
                (Verdict::NotFound, format!("no skill is called `{asked}`."))
            }
        };
    }

    /// Where was looked for skills, those places included that are not there.
    pub fn searched(&self) -> Vec<Searched> {
        let roots = self.layout().roots.iter();
        let searched = roots.map(|root| Searched {
            origin: root.origin.clone(),
            path: root.path.clone(),
            exists: root.real.is_some(),
        });
        searched.collect()
    }

    fn explain_failure(&self, failure: &Failure) -> ExplainedFailure {
        let root = &self.layout().roots[failure.root];
        ExplainedFailure {
            origin: root.origin.clone(),
            path: below(&root.path, &failure.folder),
            diagnostics: failure.diagnostics.clone(),
        }
    }
}
