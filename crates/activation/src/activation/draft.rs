//! A skill's file, read once, and what would be done with it.

use std::path::Path;
use std::sync::Arc;

use metier_catalog::{BundledError, Class, Entry, EntryId, NotBrought, NotRead, SkillFile, Snapshot, Wanted};
use metier_diagnostic::{Diagnostic, Severity, Span, counted};
use metier_exec::{
    ArgumentError, ExecEnv, MissingRequirement, SkillContext, StartDir, Variable, trust_of_copy,
};
use metier_files::{Error, FileDigest};
use metier_policy::{Action, Decision, Dialect, Gate, McpTools, Scope, Skill, Trust};
use metier_sandbox::Cancel;
use metier_skill::{Context, Manifest};

use super::content::content;
use super::envelope::wrap;
use super::invoker::{InvocationError, Invoker};
use super::session_activations::{RepeatedActivation, SessionActivations};
use super::{Activation, ActivationMode, resources};
use crate::code;
use crate::injection::{self, Evaluated, InjectionContext};
use crate::render::{Finding, RenderPlan, SkillArguments, TokenValues};
use crate::scope::SkillScope;
use crate::terms::{DisallowedTools, SkillTerms};

/// Which skill is activated, and where.
#[derive(Clone, Copy, Debug)]
pub struct ActivationContext<'a> {
    /// The skills.
    pub snapshot: &'a Snapshot,
    /// The one that is meant.
    pub id: EntryId,
    /// The same as the gate and its processes know it.
    pub context: &'a SkillContext<'a>,
    /// Where its commands start.
    pub start: StartDir<'a>,
    /// What it requires and is not here, as [`Requirements::check`](metier_exec::Requirements::check) finds it: it is noted.
    pub missing: &'a [MissingRequirement],
    /// The environment names that the configuration declares.
    pub environment: &'a [Variable],
    /// The tools of MCP servers, by which bare names in its lists are understood.
    pub servers: &'a McpTools,
    /// Whose rules its fence follows, unless it is a crew's.
    pub dialect: Dialect,
}

/// Who asks, with which arguments.
#[derive(Clone, Copy, Debug)]
pub struct ActivationRequest<'a> {
    /// Who.
    pub by: Invoker,
    /// With which.
    pub arguments: &'a SkillArguments,
}

/// Why a skill was not activated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActivationError {
    /// The snapshot has no such skill.
    #[error("there is no such skill any more")]
    Unknown,
    /// Its file cannot be read any more.
    #[error("the skill `{name}` cannot be read any more: {source}")]
    Gone {
        /// Its name.
        name: String,
        /// Why.
        source: Error,
    },
    /// It is a server's, and its file is not what the server listed.
    #[error(transparent)]
    NotBrought(#[from] NotBrought),
    /// Its file is none any more.
    #[error("the skill `{name}` has changed and does not load any more: {reason}")]
    Broken {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It seems to come with metier, and is not as it came.
    #[error("the skill `{name}` is not used: {source}")]
    NotAsItCame {
        /// Its name.
        name: String,
        /// What is other about it.
        source: BundledError,
    },
    /// This path has no way to it.
    #[error(transparent)]
    Closed(#[from] InvocationError),
    /// Its arguments cannot be taken.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Variables that it cannot do without are not set.
    #[error("the skill `{name}` needs {}, which {} not set", list(.names), if .names.len() == 1 { "is" } else { "are" })]
    Unset {
        /// Its name.
        name: String,
        /// All of them.
        names: Vec<String>,
    },
    /// It may not happen, or not without a yes: then the decision has the question.
    #[error("{decision}")]
    Gate {
        /// What was to happen.
        action: Box<Action>,
        /// What was decided about it.
        decision: Box<Decision>,
    },
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A skill that its invoker may have, read and not yet rendered.
#[derive(Debug)]
pub struct ActivationDraft<'a> {
    setting: &'a ActivationContext<'a>,
    request: ActivationRequest<'a>,
    entry: &'a Entry,
    /// The skill as the gate knows it, trusted by what was read here.
    skill: Skill,
    manifest: Manifest,
    /// The file's text, and where in it the body begins.
    source: String,
    body: usize,
    /// What the file is called.
    document: String,
    digest: FileDigest,
    /// What the parser said.
    diagnostics: Vec<Diagnostic>,
}

impl<'a> ActivationDraft<'a> {
    /// Reads the file and refuses what this path has no way to. Everything that follows is made of this one read.
    pub fn open(
        setting: &'a ActivationContext<'a>,
        request: ActivationRequest<'a>,
    ) -> Result<Self, ActivationError> {
        let entry = setting.snapshot.entry(setting.id).ok_or(ActivationError::Unknown)?;
        let name = || entry.name().to_string();
        // What comes with metier is trusted without a question, so it has to be what came.
        setting
            .snapshot
            .verify_bundled(entry)
            .map_err(|source| ActivationError::NotAsItCame { name: name(), source })?;
        let file = setting.snapshot.read_for_use(entry).map_err(|error| match error {
            NotRead::Remote(error) => ActivationError::NotBrought(error),
            NotRead::File(source) => ActivationError::Gone { name: name(), source },
            other => ActivationError::Broken { name: name(), reason: other.to_string() },
        })?;
        let mut skill = setting.context.skill.clone();
        if skill.trust == Trust::Trusted && setting.snapshot.root(entry).origin.class == Class::Project {
            // Whether it was trusted was found by an earlier read, and the file may be another one by now.
            skill.trust = trust_of_copy(setting.snapshot, entry, setting.context.folder, &file);
        }
        let digest = file.digest();
        let body = file.source.len() - file.body().len();
        let SkillFile { name: document, source, document: parsed, diagnostics, .. } = file;
        let Some(manifest) = parsed.map(|parsed| parsed.manifest) else {
            let error = diagnostics.iter().find(|found| found.severity() == Severity::Error);
            let reason = error.map_or_else(|| "it was refused".to_owned(), |found| found.message.clone());
            return Err(ActivationError::Broken { name: name(), reason });
        };
        request.by.check(entry, &manifest)?;
        let draft =
            Self { setting, request, entry, skill, manifest, source, body, document, digest, diagnostics };
        let unset: Vec<String> = draft.plan()?.unset().into_iter().map(str::to_owned).collect();
        if !unset.is_empty() {
            return Err(ActivationError::Unset { name: name(), names: unset });
        }
        Ok(draft)
    }

    /// What the file says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The digest of the file that was read.
    pub fn digest(&self) -> FileDigest {
        self.digest
    }

    /// The file as text, for those who show places in it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What would be replaced, and which commands would run.
    pub fn plan(&self) -> Result<RenderPlan<'_>, ArgumentError> {
        let containment = self.setting.context.containment;
        let values = TokenValues {
            arguments: self.request.arguments,
            declared: &self.manifest.more.arguments,
            skill: containment.skill,
            data: containment.data,
            plugin: containment.plugin,
            project: containment.project.map(metier_files::Survey::project),
            session: containment.session,
            environment: self.setting.environment,
        };
        RenderPlan::new(&self.source[self.body..], values)
    }

    /// Asks the gate whether the skill may be activated at all. Somebody who only looks at a skill that is not trusted asks
    /// nobody: nothing runs, and nothing goes to a model.
    pub fn may_start(&self, env: &ExecEnv<'_>) -> Result<(), ActivationError> {
        let skill = &self.skill;
        if self.request.by == Invoker::Viewer && skill.trust == Trust::Untrusted {
            return Ok(());
        }
        let action = Action::activate(skill.clone());
        let decision = env.gate.decide(&action);
        if decision.is_allowed() {
            return Ok(());
        }
        Err(ActivationError::Gate { action: Box::new(action), decision: Box::new(decision) })
    }

    /// What has to be asked before its commands can run. What is not answered with a yes stays as text.
    pub fn questions(&self, env: &ExecEnv<'_>) -> Result<Vec<(Action, Decision)>, ArgumentError> {
        let plan = self.plan()?;
        Ok(self.with_round(env, |round| injection::questions(round, plan.commands())))
    }

    /// What the gate has against each command of the plan, in their order: nothing, or its decision.
    pub fn objections(&self, env: &ExecEnv<'_>) -> Result<Vec<Option<Decision>>, ArgumentError> {
        let plan = self.plan()?;
        Ok(self.with_round(env, |round| injection::objections(round, plan.commands())))
    }

    /// The note, if this skill is in the conversation already with these arguments.
    pub fn again(&self, conversation: &SessionActivations) -> Option<RepeatedActivation> {
        let skill = &self.skill;
        let place = conversation.place(skill, self.request.arguments, self.digest)?;
        Some(RepeatedActivation::new(skill, self.scope(), place))
    }

    /// The scope that the activation opens.
    pub fn scope(&self) -> SkillScope {
        SkillScope::new(&self.skill, self.rules(DisallowedTools::Apply), &self.manifest)
    }

    /// Runs the commands and puts everything together.
    pub fn finish(&self, env: &ExecEnv<'_>, cancel: Option<&Cancel>) -> Result<Activation, ActivationError> {
        let plan = self.plan()?;
        let evaluated = match plan.commands() {
            [] => Evaluated::default(),
            commands => {
                // They may open whatever lies beside the text.
                self.setting.snapshot.bring(self.entry, Wanted::All)?;
                self.with_round(env, |round| injection::evaluate(round, commands, cancel))
            }
        };
        Ok(self.put_together(&plan, evaluated))
    }

    /// The activation with its commands left as text; for those who only want to look.
    pub fn preview(&self) -> Result<Activation, ActivationError> {
        let plan = self.plan()?;
        Ok(self.put_together(&plan, Evaluated::default()))
    }

    fn put_together(&self, plan: &RenderPlan<'_>, evaluated: Evaluated) -> Activation {
        let (skill, SkillContext { folder, containment, .. }) = (&self.skill, *self.setting.context);
        let rendered = plan.render(&evaluated.outputs);
        let scope = self.scope();
        let path: Arc<Path> = self.setting.snapshot.document_path(self.entry).into();
        let mut diagnostics = self.about_skill(&scope, &path);
        let findings = plan.findings().iter().chain(&evaluated.findings);
        let in_file = |finding: &Finding| finding.diagnostic(&self.source, self.body).in_file(&path);
        diagnostics.extend(findings.map(in_file));
        let missing = self.setting.missing.iter();
        let mut notes: Vec<String> = missing
            .map(|missing| format!("it requires what is not here: {}; {}", missing.what(), missing.help()))
            .collect();
        notes.extend(evaluated.notes);
        let listed = match self.entry.remote() {
            // Most of them are not here yet.
            Some(skill) => {
                Ok(resources::of_paths(skill.files.iter().map(|file| file.path.as_path()), &self.document))
            }
            None => resources::list(folder, &self.document),
        };
        let resources = listed.unwrap_or_else(|error| {
            notes.push(format!("the files of the skill could not be listed: {error}"));
            resources::Resources::default()
        });
        if resources.left_out > 0 || resources.is_partial {
            let message = if resources.is_partial {
                "the folder is too large to be listed whole".to_owned()
            } else {
                let files = counted(resources.left_out, "file of the skill is", "files of the skill are");
                format!("{files} not listed")
            };
            diagnostics.push(Diagnostic::new(&code::LISTING_CUT, message).in_file(&path));
        }
        let more = &self.manifest.more;
        let inside = content(&skill.name, &rendered, &more.context, containment.skill, &resources);
        let (text, content) = wrap(&skill.name, &skill.origin, self.digest, &inside);
        Activation {
            skill: skill.clone(),
            digest: self.digest,
            arguments: self.request.arguments.clone(),
            text,
            content,
            rendered,
            way: self.way(),
            scope,
            diagnostics,
            notes,
        }
    }

    fn way(&self) -> ActivationMode {
        let more = &self.manifest.more;
        if more.context != Context::Fork {
            return ActivationMode::Inline;
        }
        ActivationMode::Fork {
            agent: more.agent.as_ref().map(|agent| agent.value.clone()),
            background: more.background,
        }
    }

    /// What there is to say about the skill itself.
    fn about_skill(&self, scope: &SkillScope, path: &Arc<Path>) -> Vec<Diagnostic> {
        let grave = self.diagnostics.iter().filter(|found| found.severity() > Severity::Info);
        let mut diagnostics: Vec<Diagnostic> = grave.cloned().collect();
        let mut say = |found: Diagnostic| diagnostics.push(found.in_file(path));
        if scope.skill.trust == Trust::Untrusted {
            say(Diagnostic::new(
                &code::SKILL_UNTRUSTED,
                "the skill is not trusted: you see it and no model does",
            )
            .help("look at it and then run `metier trust`"));
        }
        for note in scope.rules.notes() {
            let found = Diagnostic::new(&code::TOOL_NEVER_MATCHES, note.clone());
            say(match self.place_of(note) {
                Some(span) => found.at(span, &self.source),
                None => found,
            });
        }
        diagnostics
    }

    /// Where in the file the entry of a tool list stands that a note is about: the longest one that the note names, else the
    /// first list.
    fn place_of(&self, note: &str) -> Option<Span> {
        let more = &self.manifest.more;
        let lists = [&more.allowed_tools, &more.tools, &more.disallowed_tools];
        let named = lists.iter().filter_map(|list| list.as_ref()).flat_map(|list| {
            list.value.iter().filter_map(|entry| {
                let text = entry.to_string();
                let at = list.span.of(&self.source).find(&text).filter(|_| note.contains(&text))?;
                let start = list.span.range().start + at;
                Some(Span::from(start..start + text.len()))
            })
        });
        let first = lists.iter().find_map(|list| list.as_ref().map(|list| list.span));
        named.max_by_key(|span| span.range().len()).or(first)
    }

    /// The fence and the grants.
    fn rules(&self, disallowed: DisallowedTools) -> Scope {
        let ActivationContext { snapshot, id, context, servers, dialect, .. } = *self.setting;
        let containment = context.containment;
        let terms = SkillTerms {
            snapshot,
            id,
            manifest: &self.manifest,
            skill: &self.skill,
            folder: containment.skill,
            data: containment.data,
            plugin: containment.plugin,
            project: containment.project.map(metier_files::Survey::project),
            servers,
            dialect,
        };
        terms.open(disallowed)
    }

    /// Does something with the gate as it is while the skill's own commands run: its grants hold already. What it takes away
    /// is about what is called once it is active, and its own text comes before.
    fn with_round<T>(&self, env: &ExecEnv<'_>, work: impl FnOnce(&InjectionContext<'_>) -> T) -> T {
        let mut scopes = env.gate.scopes.to_vec();
        scopes.push(self.rules(DisallowedTools::Ignore));
        let gate = Gate { scopes: &scopes, ..env.gate };
        let env = ExecEnv { gate, ..*env };
        work(&InjectionContext {
            env: &env,
            context: &SkillContext { skill: &self.skill, ..*self.setting.context },
            start: self.setting.start,
            shell: self.manifest.more.shell.as_ref().map(|shell| shell.value.as_str()),
        })
    }
}
