//! Substitution: bodies and what they become.

use std::fmt::Write as _;
use std::path::Path;

use metier_activation::{PieceSource, RenderPlan, SkillArguments, TokenValues};
use metier_exec::{ArgumentError, SkillGroup, SkillGroupKind, Variable, VariableValue};
use metier_skill::Argument;
use proptest::prelude::*;

use crate::render_invariant::{holds, values};

fn text(arguments: &str) -> SkillArguments {
    SkillArguments::Text(arguments.to_owned())
}

fn argument(name: &str, default: Option<&str>) -> Argument {
    Argument { name: name.to_owned(), description: None, default: default.map(str::to_owned) }
}

/// Renders with an argument text, and gives the text and the codes of what there is to say.
fn render(body: &str, arguments: &SkillArguments, declared: &[Argument]) -> (String, Vec<&'static str>) {
    let plan = RenderPlan::new(body, values(arguments, declared)).unwrap();
    let codes = plan.diagnostics().iter().map(|found| found.code.name()).collect();
    (plan.render(&[]).text().to_owned(), codes)
}

fn check(body: &str, arguments: &str, expect: &str) {
    assert_eq!(
        render(body, &text(arguments), &[]),
        (expect.to_owned(), Vec::new()),
        "{body:?} {arguments:?}"
    );
}

#[test]
fn arguments_are_put_in_whole_and_one_by_one() {
    check("Analyze #$ARGUMENTS.", "123", "Analyze #123.");
    check("$ARGUMENTS[0] and $ARGUMENTS[1]", "main develop", "main and develop");
    check("[$ARGUMENTS[0]] [$ARGUMENTS[1]] $ARGUMENTS", "'a b' c", "[a b] [c] 'a b' c");
    check("$0 $1", "x y", "x y");
    check("$ARGUMENTS[12]|$ARGUMENTS", "a", "|a");
    check("$ARGUMENTS[x] $ARGUMENTS[", "a", "a[x] a[");
    check("$ARGUMENTS", "  two  blanks\n", "  two  blanks\n");
    check("$0$1$0", "a b", "aba");
    check("$ARGUMENTS", "", "");
}

#[test]
fn what_is_no_argument_stays() {
    for body in [
        "awk '{print $1}'",
        "costs $5.00 and $1,000",
        "$10 $1abc $1_",
        "$ARGUMENTSX",
        "$HOME $x",
        "100 $",
        "a\\b",
    ] {
        check(body, "", body);
    }
    check("$5.00 and $0.99, $ARGUMENTS", "one", "$5.00 and $0.99, one");
    check("$0 $1", "only", "only $1");
}

#[test]
fn a_backslash_keeps_a_token_and_nothing_else() {
    check(r"\$0 \$ARGUMENTS \$ARGUMENTS[0] $0", "x", "$0 $ARGUMENTS $ARGUMENTS[0] x");
    check(
        r"\${SKILL_DIR} \{baseDir} \{{SKILL_DIR}} \${env:X}",
        "",
        "${SKILL_DIR} {baseDir} {{SKILL_DIR}} ${env:X}",
    );
    check(r"\$5", "", "$5");
    check(r"\\$0 $0", "x", r"\$0 x");
    check(r"\n \$HOME \${HOME} \${env:my-var", "", r"\n \$HOME \${HOME} \${env:my-var");
    check("\\!`id $0` $0", "x", "!`id $0` x");
    check("a\\!`id` \\!`` \\!`x", "", "a\\!`id` \\!`` \\!`x");
    check("\\```!\nls $0\n```\n$0", "x", "```!\nls $0\n```\nx");
    check("  \\```!\n\n```\n", "", "  \\```!\n\n```\n");
    check("x \\```!\nls\n```\n", "", "x \\```!\nls\n```\n");
}

#[test]
fn inserted_text_is_never_looked_at_again() {
    for hostile in
        ["$0", "$ARGUMENTS[0]", "${SKILL_DIR}", "!`touch marker`", "\\$0", "```!\nid\n```", "$ARGUMENTS"]
    {
        check("<$ARGUMENTS>", hostile, &format!("<{hostile}>"));
        let list = SkillArguments::List(vec![hostile.to_owned()]);
        assert_eq!(render("<$0>", &list, &[]).0, format!("<{hostile}>"));
    }
    let arguments = text("");
    let plan = RenderPlan::new("A !`x` B", values(&arguments, &[])).unwrap();
    let rendered = plan.render(&[Some("$0 !`id` ${SKILL_DIR}".to_owned())]);
    assert_eq!(rendered.text(), "A $0 !`id` ${SKILL_DIR} B");
    let sources: Vec<_> = rendered.pieces().iter().map(|piece| piece.source).collect();
    assert_eq!(sources, [PieceSource::Body, PieceSource::Command(0), PieceSource::Body]);
}

#[test]
fn declared_arguments_have_values_defaults_or_nothing() {
    let declared = [argument("from", None), argument("to", Some("main")), argument("why", None)];
    let check = |arguments: &str, expect: &str| {
        assert_eq!(render("$from..$to ($why) $whyever", &text(arguments), &declared).0, expect);
    };
    check("a b c", "a..b (c) $whyever");
    check("a", "a..main () $whyever");
    check("", "..main () $whyever");
}

#[test]
fn arguments_that_nobody_put_in_are_the_last_line() {
    check("Do it.", "x y", "Do it.\nARGUMENTS: x y");
    check("Do it.\n", "x y", "Do it.\nARGUMENTS: x y");
    check("", "x", "ARGUMENTS: x");
    check("Do it.\n", "  ", "Do it.\n");
    check("\\$0", "x", "$0\nARGUMENTS: x");
    check("$ARGUMENTS[7]", "x", "\nARGUMENTS: x".trim_start());
    let declared = [argument("a", None), argument("b", Some("d"))];
    assert_eq!(render("$b", &text("x"), &declared).0, "d\nARGUMENTS: x", "a default is no argument");
    let list = SkillArguments::List(vec!["a".into(), "b c".into()]);
    assert_eq!(render("Do.", &list, &[]).0, "Do.\nARGUMENTS: a\nb c");
    let words = SkillArguments::of_command_line(vec!["a".into(), "b c".into()]);
    assert_eq!(render("$ARGUMENTS|$1", &words, &[]).0, "a b c|b c");
}

#[test]
fn a_command_that_ran_with_an_argument_has_put_it_in() {
    let arguments = text("7");
    let plan = RenderPlan::new("!`gh pr view $0`", values(&arguments, &[])).unwrap();
    assert_eq!(plan.render(&[Some("out".to_owned())]).text(), "out");
    assert_eq!(plan.render(&[]).text(), "!`gh pr view $0`\nARGUMENTS: 7");
}

#[test]
fn folders_and_the_session_have_all_their_names() {
    let body = "${SKILL_DIR} ${CLAUDE_SKILL_DIR} ${CLAUDE_SKILL_ROOT} {baseDir} {{SKILL_DIR}} ${SKILL_DATA} \
                ${CLAUDE_PLUGIN_DATA} ${CLAUDE_PLUGIN_ROOT} ${PROJECT_DIR} ${CLAUDE_PROJECT_DIR} ${SESSION_ID} \
                ${CLAUDE_SESSION_ID}";
    let arguments = text("");
    let plugin =
        SkillGroup { folder: "/plugin".into(), data: Some("/shared".into()), kind: SkillGroupKind::Plugin };
    let values = TokenValues {
        skill: Path::new("/my \"skills\"/it's"),
        plugin: Some(&plugin),
        ..values(&arguments, &[])
    };
    let plan = RenderPlan::new(body, values).unwrap();
    assert_eq!(plan.diagnostics(), []);
    let skill = "/my \"skills\"/it's";
    assert_eq!(
        plan.render(&[]).text(),
        format!(
            "{skill} {skill} {skill} {skill} {skill} /data/demo /shared /plugin /project /project s-1 s-1"
        )
    );
}

#[test]
fn what_has_no_value_stays_and_is_said() {
    let arguments = text("");
    let values = TokenValues { data: None, project: None, ..values(&arguments, &[]) };
    let body = "${CLAUDE_PLUGIN_ROOT} ${SKILL_DATA} ${PROJECT_DIR} ${env:A} ${env:my-var} ${HOME} ${HOME} ${baseDir} ${1}";
    let plan = RenderPlan::new(body, values).unwrap();
    assert_eq!(plan.render(&[]).text(), body);
    let found: Vec<_> = plan
        .diagnostics()
        .iter()
        .map(|found| (found.code.name(), found.place.unwrap().span.of(body).to_owned()))
        .collect();
    let expect = [
        ("folder-missing", "${CLAUDE_PLUGIN_ROOT}"),
        ("folder-missing", "${SKILL_DATA}"),
        ("folder-missing", "${PROJECT_DIR}"),
        ("environment-undeclared", "${env:A}"),
        ("environment-undeclared", "${env:my-var}"),
        ("unknown-variable", "${HOME}"),
        ("unknown-variable", "${baseDir}"),
    ];
    assert_eq!(found, expect.map(|(code, text)| (code, text.to_owned())));
    let plan = RenderPlan::new("${ARGUMENTS}", values).unwrap();
    assert_eq!(plan.diagnostics()[0].help.as_deref(), Some("write `$ARGUMENTS`"));
}

#[test]
fn declared_variables_are_text_unless_they_are_sensitive() {
    let variable = |name: &str, value| Variable { name: name.to_owned(), value };
    let environment = [
        variable("TEXT", VariableValue::Text("value".into())),
        variable("UNSET", VariableValue::Unset),
        variable("KEY", VariableValue::Sensitive),
        variable("MUST", VariableValue::Required),
        variable("ALSO", VariableValue::Required),
    ];
    let arguments = text("");
    let values = TokenValues { environment: &environment, ..values(&arguments, &[]) };
    let plan = RenderPlan::new("[${env:TEXT}] [${env:UNSET}] [${env:KEY}] [${env:OTHER}]", values).unwrap();
    assert_eq!(plan.render(&[]).text(), "[value] [] [${env:KEY}] [${env:OTHER}]");
    let codes: Vec<_> = plan.diagnostics().iter().map(|found| found.code.name()).collect();
    assert_eq!(codes, ["environment-sensitive", "environment-undeclared"]);
    let plan = RenderPlan::new("${env:MUST} ${env:ALSO} ${env:MUST} !`echo ${env:ALSO}`", values).unwrap();
    assert_eq!(plan.unset(), ["MUST", "ALSO"]);
}

#[test]
fn unbalanced_quotes_are_split_at_white_space_with_a_warning() {
    assert_eq!(
        render("$ARGUMENTS[1]", &text("what's new"), &[]),
        ("new".to_owned(), vec!["arguments-unbalanced"])
    );
    assert_eq!(render("$ARGUMENTS", &text("what's new"), &[]).1, [""; 0], "nothing had to be split");
}

#[test]
fn what_no_process_could_take_is_refused() {
    let refused = |arguments: SkillArguments| RenderPlan::new("$0", values(&arguments, &[])).unwrap_err();
    assert_eq!(refused(text("a\0b")), ArgumentError::Nul { at: 2 });
    assert_eq!(refused(text(&"a".repeat(1 << 20))), ArgumentError::TooLong { bytes: 1 << 20 });
    assert!(matches!(
        refused(SkillArguments::List(vec!["a".repeat(1 << 20)])),
        ArgumentError::TooLong { .. }
    ));
}

#[test]
fn a_plan_says_what_would_happen_and_runs_nothing() {
    let arguments = text("7");
    let body = "# $0 of \\$1\n!`gh pr view $0`\n```!\ngit log\n```\n";
    let plan = RenderPlan::new(body, values(&arguments, &[])).unwrap();
    let tokens: Vec<_> = plan.tokens().map(|token| (token.token, token.becomes.map(String::from))).collect();
    assert_eq!(tokens, [("$0", Some("7".to_owned())), ("\\$1", Some("$1".to_owned()))]);
    let commands: Vec<_> = plan.commands().iter().map(|command| command.command.as_str()).collect();
    assert_eq!(commands, ["gh pr view $0", "git log"]);
    assert_eq!(plan.commands()[0].line.as_ref().unwrap().judged, "gh pr view 7");
}

#[test]
fn commands_beyond_the_bound_stay_as_text() {
    let body = "!`a` ".repeat(40);
    let arguments = text("");
    let plan = RenderPlan::new(&body, values(&arguments, &[])).unwrap();
    assert_eq!(plan.commands().len(), metier_activation::MAX_COMMANDS);
    let codes: Vec<_> = plan.diagnostics().iter().map(|found| found.code.name()).collect();
    assert_eq!(codes, ["commands-too-many"]);
    let outputs = vec![Some(String::new()); plan.commands().len()];
    assert_eq!(plan.render(&outputs).text().matches("!`a`").count(), 40 - metier_activation::MAX_COMMANDS);
}

#[test]
fn hostile_bodies_take_no_more_than_their_length() {
    // Each of these was, or could be, quadratic: a megabyte must not take seconds.
    for piece in
        ["\\!`", "\\```!\n", "\\```!", "!`", "${a}", "$ARGUMENTS[", "\\${a", "```!\n", "{{", "${env:"]
    {
        let mut body = String::new();
        while body.len() < 1 << 20 {
            write!(body, "{piece}").unwrap();
        }
        let arguments = text("x");
        let begin = std::time::Instant::now();
        RenderPlan::new(&body, values(&arguments, &[])).unwrap().render(&[]);
        assert!(begin.elapsed().as_secs() < 5, "{piece:?} took {:?}", begin.elapsed());
    }
}

/// Bodies made of what means something and of what nearly does.
fn body() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("$ARGUMENTS"),
        Just("$ARGUMENTS[0]"),
        Just("$ARGUMENTS[1"),
        Just("$0"),
        Just("$1"),
        Just("$name"),
        Just("${SKILL_DIR}"),
        Just("{baseDir}"),
        Just("${X}"),
        Just("${env:A}"),
        Just("\\"),
        Just("!`"),
        Just("`"),
        Just("```!\n"),
        Just("\n```\n"),
        Just("'"),
        Just("\""),
        Just("("),
        Just(")"),
        Just("$("),
        Just(" "),
        Just("\n"),
        Just("x"),
        Just("é"),
        Just("$"),
        Just("{"),
        Just("="),
        Just(";"),
        Just("<"),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![body(), "[^\0]{0,12}"]
}

proptest! {
    #[test]
    fn no_byte_of_a_value_is_interpreted(
        body in body(),
        arguments in prop::collection::vec(word(), 0..4),
        output in word(),
    ) {
        holds(&body, &arguments, &output);
    }

    #[test]
    fn any_text_can_be_a_body(body in any::<String>(), arguments in prop::collection::vec("[^\0]{0,8}", 0..3)) {
        holds(&body, &arguments, "out");
    }

    #[test]
    fn a_body_without_tokens_and_arguments_comes_back_as_it_is(body in "[^$\\\\!`{]{0,200}") {
        prop_assert_eq!(render(&body, &text(""), &[]), (body, Vec::new()));
    }
}
