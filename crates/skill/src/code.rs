//! Every code this crate can report, with the sentence for the reference page.

use metier_diagnostic::{Code, codes};

codes! {
    // Refusals: the file gives no skill.
    Error {
        NOT_TEXT "not-text" "The file is not text: RTF, UTF-16, an archive or another binary. Save it as plain UTF-8 text."
        TOO_SMALL "too-small" "The file has no frontmatter and fewer than 20 bytes, so there is nothing to offer."
        FRONTMATTER_ENGINE "frontmatter-engine" "The opening line asks for another language, such as `---js`. Some loaders would run it as code; metier never does."
        FRONTMATTER_BROKEN "frontmatter-broken" "The frontmatter is not YAML, no repair helps, and no name and description can be read from it."
        FRONTMATTER_NOT_A_MAPPING "frontmatter-not-a-mapping" "The frontmatter must be a mapping of keys to values; a list or a lone text says nothing a loader could use."
        FRONTMATTER_TOO_LARGE "frontmatter-too-large" "The frontmatter is larger than 64 KiB."
        FRONTMATTER_TOO_COMPLEX "frontmatter-too-complex" "The frontmatter nests deeper than 16 levels, has more than 2,000 values or more than 16 aliases: the shape of an attack on its reader."
        CUSTOM_TAG "custom-tag" "A YAML tag such as `!!python/object` asks a loader to build something by name. It is refused and never repaired."
        TEMPLATE_PLACEHOLDER "template-placeholder" "The name or description is still the placeholder of a template, such as `[TODO]` or `{skill-name}`."
        NAME_EMPTY "name-empty" "`name` is there and empty. Leave the key out to use the folder's name."
        NAME_NOT_TEXT "name-not-text" "`name` is a list or a mapping."
        NAME_CONTROL_CHARACTER "name-control-character" "The name contains a control character, which could forge lines wherever the name is shown."
        NAME_PATH_STEP "name-path-step" "The name is a step of a path (`.` or `..`)."
        NAME_UNUSABLE "name-unusable" "No letter or digit is left of the name once everything else is taken away."
    }
    // Errors that leave a skill standing.
    Error {
        DUPLICATE_KEY "duplicate-key" "A key stands twice. The first one counts."
        KEY_DROPPED "key-dropped" "A key could not be read and was left out."
        TOOLS_UNBALANCED "tools-unbalanced" "A parenthesis in a tool list is not closed. What the author meant is unknown, so the list allows nothing."
    }
    // Repairs: the strict parse failed and the text was mended in memory.
    Warning {
        FRONTMATTER_MISSING "frontmatter-missing" "There is no frontmatter: the skill is for the user only, its name is the folder's and its description the first paragraph."
        FRONTMATTER_EMPTY "frontmatter-empty" "The frontmatter is empty; it counts as missing."
        DELIMITER_LATE "delimiter-late" "Something stands before the opening `---`: blank lines, a comment, a heading or a code fence. Most loaders see no frontmatter there."
        DELIMITER_OPEN "delimiter-open" "The opening `---` is missing or not alone on its line."
        DELIMITER_CLOSE "delimiter-close" "The closing line is not exactly `---`."
        UNQUOTED_COLON "unquoted-colon" "A value contains `: ` and needs quotes; to YAML it begins another mapping."
        UNQUOTED_INDICATOR "unquoted-indicator" "A value begins with a character that means something in YAML (`[ { @ * & % > |`, a backtick, a comma) and needs quotes."
        TEXT_AFTER_QUOTE "text-after-quote" "Text follows a closing quote, so YAML cannot tell where the value ends."
        UNCLOSED_QUOTE "unclosed-quote" "A value begins with a quote that is never closed."
        INNER_QUOTES "inner-quotes" "A quoted value contains the same quotes again."
        UNCLOSED_BRACKET "unclosed-bracket" "A list or mapping is opened with a bracket and never closed."
        TAB_INDENT "tab-indent" "A line is indented with a tab or a no-break space, which YAML forbids."
        BAD_ESCAPE "bad-escape" "A quoted value contains an escape that YAML does not know."
        UNINDENTED_TEXT "unindented-text" "A value goes on in the next line without being indented."
        FRONTMATTER_SALVAGED "frontmatter-salvaged" "The frontmatter is broken beyond a narrow repair; name and description were read from it and what could not be read was left out."
        CONTROL_CHARACTERS "control-characters" "Control characters were dropped."
        INVALID_UTF8 "invalid-utf8" "Bytes that are not UTF-8 were replaced."
    }
    // What loads here and not everywhere, or not as meant.
    Warning {
        NAME_NOT_CANONICAL "name-not-canonical" "The name is not 1-64 of `a-z`, `0-9` and single inner hyphens. It works here; stricter clients refuse it."
        NAME_SLUGGED "name-slugged" "The name cannot be called as it is. It is kept as the title, and the skill is called by a name made from it."
        NAME_DIFFERS_FROM_FOLDER "name-differs-from-folder" "The name is not the folder's. Both resolve here; several clients require them to be equal."
        DESCRIPTION_DERIVED "description-derived" "There is no description; the first paragraph of the body stands in for it."
        DESCRIPTION_MISSING "description-missing" "There is no description and no paragraph to take one from: the skill is for the user only."
        DESCRIPTION_TOO_LONG "description-too-long" "The description has more than 1,024 characters. It is kept; other clients cut or refuse it."
        COMPATIBILITY_TOO_LONG "compatibility-too-long" "`compatibility` has more than 500 characters."
        WRONG_TYPE "wrong-type" "A key has a value of another type than it takes; the value is kept and not acted on."
        NOT_A_BOOLEAN "not-a-boolean" "The value is none of `true`, `false`, `yes`, `no`, `on`, `off`, `1`, `0`; the default counts."
        MAX_TURNS_INVALID "max-turns-invalid" "`maxTurns` is not a whole number of at least 1; the default counts."
        NUMBER_IN_QUOTES "number-in-quotes" "A number is written in quotes. It counts here; stricter clients see a text."
        ARGUMENT_HINT_LIST "argument-hint-list" "`argument-hint` is an unquoted `[…]`, which YAML reads as a list. It is shown as written."
        TOOLS_WILDCARD "tools-wildcard" "`*` in a tool list neither restricts nor permits anything."
        TOOLS_TWICE "tools-twice" "`tools` and `allowed-tools` are both given; what both name is what counts."
        ALIAS_TWICE "alias-twice" "Two spellings of one key are given. The first one counts."
        UNREACHABLE "unreachable" "Neither the model nor a slash command may start this skill; only `metier use` does."
    }
    // More than anybody would read.
    Warning {
        MORE_PROBLEMS "more-problems" "The file has more problems than are worth listing one by one; the rest are only counted."
    }
    Info {
        UNKNOWN_KEY "unknown-key" "The key is not one metier knows. It is kept as it is and passed on."
    }
    // What another client makes of the file; only where that client was asked about.
    Error {
        NOT_LOADED_THERE "not-loaded-there" "Another client does not load the skill, for this reason."
    }
    Warning {
        MEANS_SOMETHING_ELSE_THERE "means-something-else-there" "Another client loads the skill and reads something else in it, or does not hold it to a restriction it asks for."
    }
    Info {
        WORTH_KNOWING_THERE "worth-knowing-there" "Another client means the same by this, and there is something to know: its documents say so and its code does otherwise, or it does it in another way."
        IGNORED_THERE "ignored-there" "Another client does not act on this. The skill works there without it."
    }
}

/// The codes that mean that a file gives no skill.
pub static REFUSALS: &[&Code] = &[
    &NOT_TEXT,
    &TOO_SMALL,
    &FRONTMATTER_ENGINE,
    &FRONTMATTER_BROKEN,
    &FRONTMATTER_NOT_A_MAPPING,
    &FRONTMATTER_TOO_LARGE,
    &FRONTMATTER_TOO_COMPLEX,
    &CUSTOM_TAG,
    &TEMPLATE_PLACEHOLDER,
    &NAME_EMPTY,
    &NAME_NOT_TEXT,
    &NAME_CONTROL_CHARACTER,
    &NAME_PATH_STEP,
    &NAME_UNUSABLE,
];

/// The codes that mean that the text was mended in memory before it was read.
pub static REPAIRS: &[&Code] = &[
    &DELIMITER_LATE,
    &DELIMITER_OPEN,
    &DELIMITER_CLOSE,
    &UNQUOTED_COLON,
    &UNQUOTED_INDICATOR,
    &TEXT_AFTER_QUOTE,
    &UNCLOSED_QUOTE,
    &INNER_QUOTES,
    &UNCLOSED_BRACKET,
    &TAB_INDENT,
    &BAD_ESCAPE,
    &UNINDENTED_TEXT,
    &FRONTMATTER_SALVAGED,
    &KEY_DROPPED,
    &CONTROL_CHARACTERS,
    &INVALID_UTF8,
];
