//! Every code this crate can report, with the sentence for the reference page.

use metier_diagnostic::codes;

codes! {
    // Finding: what the walk over the roots met.
    Error {
        FOLDER_UNREADABLE "folder-unreadable" "A folder or file below a root could not be read. What is in it is missing from the list; everything else is there."
        FILE_NOT_REGULAR "file-not-regular" "`SKILL.md` is a folder, a FIFO, a socket or a device. It is never opened for reading, so it cannot make anybody wait."
        BOUND_DEPTH "bound-depth" "Folders below a root nest deeper than the bound; what lies deeper was not looked at. Raise `depth` on the root or in `[discovery]`."
        BOUND_ENTRIES "bound-entries" "There are more folders and files below the roots than the bound; the rest was not looked at. Raise `entries` in `[discovery]`."
    }
    Warning {
        LINK_OUTSIDE "link-outside" "A link in a project leads out of the project and of every root of yours. It was not followed, whether the project is trusted or not: a project could otherwise present any file of yours as a skill."
        LINK_BROKEN "link-broken" "A link leads nowhere, or in a circle."
        FILE_NAME_LOWER_CASE "file-name-lower-case" "The file is called `skill.md`. It loads here; most clients look for `SKILL.md` only."
        IGNORE_INVALID "ignore-invalid" "A pattern in a root's `ignore` is not a glob; it matches nothing."
    }
    Error {
        REMOTE_SKILL_REFUSED "remote-skill-refused" "An MCP server lists something as a skill that is none, or that could not be checked: an address outside of the skill, a missing digest, more than 512 files or 16 MiB. It is left out; the server's other skills are there."
    }
    // Names: who has the short name.
    Warning {
        NAME_SHADOWED "name-shadowed" "Another skill of the same name stands in a higher root, or before this one in the same root. This one is still reached as `origin:name`."
        NAME_CASE_CLASH "name-case-clash" "Two names differ only in case or Unicode form. On some systems they are one folder, and people and models mix them up."
        REMOTE_SKILL_CHANGED "remote-skill-changed" "An MCP server lists other files for this skill than those that were approved. Nothing of it is used until it is approved again."
        SLUG_CLASH "slug-clash" "Two different written names give the same call name; the later by path got a number behind it."
    }
    // Watching.
    Warning {
        KEPT_LAST_GOOD "kept-last-good" "While metier was watching, the file of this skill was changed to something that does not load. The skill stays as it was when it last loaded, until the file loads again or is removed; a program that starts now would not find it."
    }
    // Places and configuration.
    Error {
        CONFIG_SYNTAX "config-syntax" "The configuration file is not TOML at this place. The rest of the file is used as far as it could be read."
        CONFIG_INVALID "config-invalid" "A setting has a value it cannot take. The default counts for it; every other setting of the file holds."
        CONFIG_UNREADABLE "config-unreadable" "The configuration file is there and cannot be read, so none of its settings hold."
        TRUST_STORE_CORRUPT "trust-store-corrupt" "metier's record of trusted projects cannot be read. No project is trusted until it is mended or removed; it is never overwritten."
    }
    Warning {
        CONFIG_UNKNOWN_KEY "config-unknown-key" "metier knows no such setting; it has no effect."
        CONFIG_UNTRUSTED "config-untrusted" "The project is not trusted, so its `metier.toml` can hide skills and do nothing else."
        CONFIG_USER_ONLY "config-user-only" "A project's `metier.toml` names a provider of models, or an MCP server. Addresses, headers and keys are taken from the user's own `config.toml` only, whoever is trusted, so that no project can send a key elsewhere; a project's servers belong into its `.mcp.json`."
        NO_PROJECT "no-project" "The current folder is the home directory, an ancestor of it, `/` or the temporary folder: too wide to be a project. Nothing of it is used."
        DISABLED_FILE_CORRUPT "disabled-file-corrupt" "`.disabled.json` is not a JSON list of names, so it disables nothing. It is left as it is."
        CREW_FILE_INVALID "crew-file-invalid" "A crew file could not be read, so the skill folders it names are not looked at."
        ENV_MANIFEST_INVALID "env-manifest-invalid" "`.agents/env.yaml` or `env.json`, which declares environment names, could not be taken as it is. What of it can be read counts."
        CREW_FOLDER_OUTSIDE "crew-folder-outside" "A crew file names a folder outside the project, which is only looked at when the crew is trusted as it is."
        SOURCE_FILE_CORRUPT "source-file-corrupt" "`.source.json` is not a JSON object; where the skill came from is unknown."
        BUNDLED_CHANGED "bundled-changed" "What is kept in the cache of the skills that come with metier was not as metier wrote it. It was written anew; a skill that you want to change belongs into a root of your own."
        BUNDLED_UNAVAILABLE "bundled-unavailable" "The skills that come with metier could not be put into the cache folder, so they are missing from the list. Everything else is there."
        TRUST_CHANGED "trust-changed" "Something that this skill or file switches on is new or changed since the project was trusted. It is not used until the project is trusted again; `metier trust --diff` shows it."
    }
    Info {
        ROOT_MISSING "root-missing" "A root that the command line or the configuration names is not there, or is not a folder. That is no error: it holds no skills."
        CREW_FOLDER_MISSING "crew-folder-missing" "A crew file names a skill folder that does not exist."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        let mut names: Vec<_> = ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
        assert!(ALL.iter().all(|code| code.summary().ends_with('.')));
    }
}
