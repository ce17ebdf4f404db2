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
    section: &'static str,
    /// In lower case; `*` for every key of the section.
    name: &'static str,
    pub(super) used: Use,
    /// Why what it names is protected.
    pub(super) what: &'static str,
}

const fn key(section: &'static str, name: &'static str, used: Use, what: &'static str) -> Key {
    Key { section, name, used, what }
}

/// Sections count with and without a name in quotes: `[credential]` and `[credential "https://x"]`.
const KEYS: &[Key] = &[
    key("include", "path", Use::Include, "git's configuration includes it"),
    key("includeif", "path", Use::Include, "git's configuration includes it"),
    key("core", "hookspath", Use::Hooks, "git runs the hooks in it (core.hooksPath)"),
    // It chooses between programs that the configuration names, in every repository at once.
    key("core", "attributesfile", Use::Path, "git obeys it (core.attributesFile)"),
    key("core", "fsmonitor", Use::Command, "git runs it (core.fsmonitor)"),
    key("core", "editor", Use::Command, "git runs it (core.editor)"),
    key("core", "pager", Use::Command, "git runs it (core.pager)"),
    key("core", "sshcommand", Use::Command, "git runs it (core.sshCommand)"),
    key("core", "askpass", Use::Command, "git runs it (core.askPass)"),
    key("core", "gitproxy", Use::Command, "git runs it (core.gitProxy)"),
    key("core", "alternaterefscommand", Use::Command, "git runs it (core.alternateRefsCommand)"),
    // Its hooks are copied into every new repository.
    key("init", "templatedir", Use::Path, "git copies hooks from it (init.templateDir)"),
    key("sequence", "editor", Use::Command, "git runs it (sequence.editor)"),
    key("alias", "*", Use::Shell, "git runs it (an alias)"),
    key("pager", "*", Use::Command, "git runs it (pager)"),
    key("diff", "external", Use::Command, "git runs it (diff.external)"),
    key("diff", "command", Use::Command, "git runs it (diff.*.command)"),
    key("diff", "textconv", Use::Command, "git runs it (diff.*.textconv)"),
    key("difftool", "cmd", Use::Command, "git runs it (difftool.*.cmd)"),
    key("difftool", "path", Use::Command, "git runs it (difftool.*.path)"),
    key("mergetool", "cmd", Use::Command, "git runs it (mergetool.*.cmd)"),
    key("mergetool", "path", Use::Command, "git runs it (mergetool.*.path)"),
    key("guitool", "cmd", Use::Command, "git runs it (guitool.*.cmd)"),
    key("merge", "driver", Use::Command, "git runs it (merge.*.driver)"),
    key("filter", "clean", Use::Command, "git runs it (filter.*.clean)"),
    key("filter", "smudge", Use::Command, "git runs it (filter.*.smudge)"),
    key("filter", "process", Use::Command, "git runs it (filter.*.process)"),
    key("interactive", "difffilter", Use::Command, "git runs it (interactive.diffFilter)"),
    key("credential", "helper", Use::Command, "git runs it (credential.helper)"),
    key("gpg", "program", Use::Command, "git runs it (gpg.program)"),
    key("gpg", "defaultkeycommand", Use::Command, "git runs it (gpg.ssh.defaultKeyCommand)"),
    key("hook", "command", Use::Command, "git runs it (hook.*.command)"),
    key("gc", "recentobjectshook", Use::Command, "git runs it (gc.recentObjectsHook)"),
    key("uploadpack", "packobjectshook", Use::Command, "git runs it (uploadpack.packObjectsHook)"),
    key("trailer", "cmd", Use::Command, "git runs it (trailer.*.cmd)"),
    key("trailer", "command", Use::Command, "git runs it (trailer.*.command)"),
    key("tar", "command", Use::Command, "git runs it (tar.*.command)"),
    key("browser", "cmd", Use::Command, "git runs it (browser.*.cmd)"),
    key("browser", "path", Use::Command, "git runs it (browser.*.path)"),
    key("man", "cmd", Use::Command, "git runs it (man.*.cmd)"),
    key("man", "path", Use::Command, "git runs it (man.*.path)"),
    key("instaweb", "httpd", Use::Command, "git runs it (instaweb.httpd)"),
    key("imap", "tunnel", Use::Command, "git runs it (imap.tunnel)"),
    key("sendemail", "smtpserver", Use::Command, "git runs it (sendemail.smtpServer)"),
    key("sendemail", "sendmailcmd", Use::Command, "git runs it (sendemail.sendmailCmd)"),
    key("sendemail", "tocmd", Use::Command, "git runs it (sendemail.toCmd)"),
    key("sendemail", "cccmd", Use::Command, "git runs it (sendemail.ccCmd)"),
    key("sendemail", "headercmd", Use::Command, "git runs it (sendemail.headerCmd)"),
    key("remote", "uploadpack", Use::Command, "git runs it (remote.*.uploadpack)"),
    key("remote", "receivepack", Use::Command, "git runs it (remote.*.receivepack)"),
    key("remote", "url", Use::Address, "git runs it (remote.*.url)"),
    key("remote", "pushurl", Use::Address, "git runs it (remote.*.pushurl)"),
    key("submodule", "update", Use::Shell, "git runs it (submodule.*.update)"),
    key("submodule", "url", Use::Address, "git runs it (submodule.*.url)"),
    // Git LFS reads its settings from the same files.
    key("lfs", "path", Use::Command, "git lfs runs it (lfs.customtransfer.*.path)"),
    key("lfs", "clean", Use::Command, "git lfs runs it (lfs.extension.*.clean)"),
    key("lfs", "smudge", Use::Command, "git lfs runs it (lfs.extension.*.smudge)"),
];

/// The row of a setting, if it counts. Both words are in lower case.
pub(super) fn key_of(section: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|row| row.section == section && (row.name == name || row.name == "*"))
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
