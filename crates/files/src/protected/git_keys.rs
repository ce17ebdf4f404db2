//! Which settings of git name a program that it runs or a file that it obeys: the one table.
//!
//! Other values are names, numbers and addresses. A file that is called like one of them is not protected.

/// How git uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// More configuration, seen from the folder of the file that names it.
    Include,
    /// A folder of hooks.
    Hooks,
    /// A file or a folder that git reads and that decides what runs.
    Path,
    /// A command line, or a program.
    Command,
    /// A command line where it begins with `!`; else a word of git's own.
    Shell,
    /// An address, which names a command where it begins with `ext::`.
    Address,
}

/// A setting that counts.
#[derive(Debug)]
pub(super) struct Key {
    /// Section and key as git's manual writes them; a `*` between them stands for a name in quotes, one at the end for
    /// every key of the section.
    setting: &'static str,
    pub(super) used: Use,
    /// Why what it names is protected.
    pub(super) what: &'static str,
}

/// Rows with the same use, each called by its setting.
macro_rules! keys {
    ($($used:ident $says:literal { $($setting:literal)+ })+) => {
        &[$($(Key { setting: $setting, used: Use::$used, what: concat!($says, " (", $setting, ")") }),+),+]
    };
}

/// Sections count with and without a name in quotes: `[credential]` and `[credential "https://x"]`.
const KEYS: &[Key] = keys! {
    Hooks "git runs the hooks in it" { "core.hooksPath" }
    // It chooses between programs that the configuration names, in every repository at once.
    Path "git obeys it" { "core.attributesFile" }
    // Its hooks are copied into every new repository.
    Path "git copies hooks from it" { "init.templateDir" }
    Command "git runs it" {
        "core.fsmonitor" "core.editor" "core.pager" "core.sshCommand" "core.askPass" "core.gitProxy"
        "core.alternateRefsCommand" "sequence.editor"
        "diff.external" "diff.*.command" "diff.*.textconv"
        "difftool.*.cmd" "difftool.*.path" "mergetool.*.cmd" "mergetool.*.path" "guitool.*.cmd"
        "merge.*.driver" "filter.*.clean" "filter.*.smudge" "filter.*.process" "interactive.diffFilter"
        "credential.helper" "gpg.program" "gpg.ssh.defaultKeyCommand"
        "hook.*.command" "gc.recentObjectsHook" "uploadpack.packObjectsHook"
        "trailer.*.cmd" "trailer.*.command" "tar.*.command"
        "browser.*.cmd" "browser.*.path" "man.*.cmd" "man.*.path" "instaweb.httpd" "imap.tunnel"
        "sendemail.smtpServer" "sendemail.sendmailCmd" "sendemail.toCmd" "sendemail.ccCmd"
        "sendemail.headerCmd" "remote.*.uploadpack" "remote.*.receivepack"
    }
    Address "git runs it" { "remote.*.url" "remote.*.pushurl" "submodule.*.url" }
    Shell "git runs it" { "submodule.*.update" }
    // Git LFS reads its settings from the same files.
    Command "git lfs runs it" { "lfs.customtransfer.*.path" "lfs.extension.*.clean" "lfs.extension.*.smudge" }
};

/// Settings that are not told by their name.
const OTHER_KEYS: &[Key] = &[
    Key { setting: "include.path", used: Use::Include, what: "git's configuration includes it" },
    Key { setting: "includeIf.path", used: Use::Include, what: "git's configuration includes it" },
    Key { setting: "alias.*", used: Use::Shell, what: "git runs it (an alias)" },
    Key { setting: "pager.*", used: Use::Command, what: "git runs it (pager)" },
];

/// The row of a setting, if it counts. Upper and lower case do not matter, as to git.
pub(super) fn key_of(section: &str, name: &str) -> Option<&'static Key> {
    let is_meant = |row: &&Key| {
        let (own_section, rest) = row.setting.split_once('.').unwrap_or((row.setting, ""));
        let own_name = rest.rsplit('.').next().unwrap_or(rest);
        own_section.eq_ignore_ascii_case(section) && (own_name == "*" || own_name.eq_ignore_ascii_case(name))
    };
    KEYS.iter().chain(OTHER_KEYS).find(is_meant)
}

/// The hooks that git knows, for a folder of hooks that holds other things as well, such as the project itself.
pub(super) const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];
