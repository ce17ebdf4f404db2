//! Skills that the user names in a message: `$name`. They come into the conversation with it; see [`Talk::say_skill`] for `/name`.

use metier_store::By;

use super::{Answer, Company, Talk, TalkError};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::halt::Halt;
use crate::tools::Setting;

impl Talk {
    /// Begins a conversation with a message that names its skills: no others are offered for it. [`Talk::work_with`] and
    /// [`Talk::work_naming`] go on.
    pub fn begin_naming(
        agent: &Agent,
        setting: Setting,
        request: &str,
        company: Company,
    ) -> Result<Self, TalkError> {
        Self::open(agent, setting, request, company)
    }

    /// The user says something more, and names skills in it.
    pub fn say_naming(&mut self, text: &str, names: &[String]) -> Result<Answer, TalkError> {
        self.recall()?;
        self.take_words(text, By::User)?;
        self.work_naming(names)
    }

    /// Puts the skills that the user named into the conversation, and works on it. Where one of them cannot be had nothing is
    /// asked: a request without the skill that it is about is another request.
    pub fn work_naming(&mut self, names: &[String]) -> Result<Answer, TalkError> {
        self.recall()?;
        for name in names {
            if let Err(error) = self.put_in(By::User, name, "") {
                return self.not_used(error);
            }
        }
        self.work()
    }

    /// Stops what comes next with this, and not with what stopped it before: each message of the user has its own.
    pub fn halt_with(&mut self, halt: Halt) {
        lock(&self.session).cancel_with(halt.cancel().clone());
        self.halt = halt;
    }
}
