//! Every class of repair, on files as people write them. The files and what must come of them are data.

use crate::case_file::cases;
use crate::summary::summary;

/// Holds all cases of a class; fails with what came out instead, ready to be judged.
fn check(class: &str, data: &str) {
    let cases = cases(data);
    assert!(cases.len() >= 3, "{class}: at least three files for each class");
    let mut wrong = Vec::new();
    for case in &cases {
        let found = summary(&case.file, Some("x"));
        let found: Vec<&str> =
            found.iter().map(String::as_str).filter(|line| !is_about_folder(line)).collect();
        if found != case.expect {
            wrong.push(format!("=== {}\n>>> found\n{}\n", case.title, found.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{class}: {} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// The files have no folder of their own, so that their names differ from it says nothing.
fn is_about_folder(line: &str) -> bool {
    line.starts_with("warning: name-differs-from-folder")
}

macro_rules! classes {
    ($($test:ident $class:literal)+) => {
        $(
            #[test]
            fn $test() {
                check($class, include_str!(concat!("../data/repair/", $class, ".txt")));
            }
        )+
    };
}

classes! {
    something_before_the_opening "late-opening"
    an_opening_that_is_missing "missing-opening"
    a_closing_line_that_is_not_exact "odd-closing"
    a_colon_in_an_unquoted_value "unquoted-colon"
    a_value_that_begins_with_an_indicator "indicator"
    a_list_item_that_begins_with_an_indicator "indicator-in-list"
    a_bracket_that_is_never_closed "unclosed-bracket"
    text_after_a_closing_quote "text-after-quote"
    quotes_inside_quotes "inner-quotes"
    a_tab_as_indent "tab-indent"
    an_escape_that_yaml_does_not_know "bad-escape"
    a_colon_in_a_line_that_goes_on "continued-colon"
    text_that_goes_on_without_indent "unindented-text"
    keys_that_cannot_be_read "salvage"
    frontmatter_that_is_not_closed "unclosed"
    control_characters "control-characters"
    bytes_that_are_not_text "invalid-utf8"
}

#[test]
fn control_characters_of_a_body_are_said_where_a_file_is_judged_whole_and_go_where_it_is_used() {
    let file = "---\nname: x\ndescription: d\n---\nOne\r\n\ttwo § é\n\u{1b}[31mthree\0\u{85}\n";
    let parsed = metier_skill::parse_whole(file.as_bytes(), None);
    let found: Vec<_> =
        parsed.diagnostics.iter().map(|found| (found.code.name(), found.line(), found.column())).collect();
    assert_eq!(found, [("control-characters", Some(7), Some(1))]);
    let body = &file[parsed.document.expect("it loads").body as usize..];
    let used = metier_skill::without_controls(body);
    assert_eq!(used, "One\r\n\ttwo § é\n[31mthree\n");
    let fix = parsed.diagnostics[0].fix.as_ref().expect("they can be taken out");
    assert!(metier_diagnostic::apply(file, &fix.edits).ends_with(&*used));
    // A listing does not judge a body.
    assert!(metier_skill::parse(file.as_bytes(), None).diagnostics.is_empty());
    let plain = "nothing § of the kind\r\n";
    assert!(matches!(metier_skill::without_controls(plain), std::borrow::Cow::Owned(text) if text == plain));
    assert!(matches!(metier_skill::without_controls("plain\n"), std::borrow::Cow::Borrowed(_)));
}
