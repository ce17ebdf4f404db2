//! Injected commands, run in the real sandbox.

use std::time::{Duration, Instant};

use metier_activation::{Activation, Invoker, RenderPlan, SkillArguments};
use metier_exec::StartDir;
use metier_policy::{Asking, List, Trust};
use metier_secret::Secret;
use metier_skill::Argument;
use metier_testkit::Workspace;
use proptest::prelude::*;

use crate::activating::{Stage, codes};
use crate::bench::Bench;
use crate::render_invariant::values;

/// A bench whose skill has this body.
fn bench(body: &str) -> Bench {
    let mut bench = Bench::new(Workspace::new());
    bench.workspace =
        bench.workspace.file("skill/SKILL.md", format!("---\nname: demo\ndescription: d\n---\n{body}"));
    bench
}

fn words(words: &[&str]) -> SkillArguments {
    SkillArguments::Words(words.iter().map(ToString::to_string).collect())
}

fn activation(bench: &Bench, arguments: &SkillArguments) -> Activation {
    Stage::of(bench).by(Invoker::User).activation(arguments).unwrap()
}

fn check(body: &str, arguments: &[&str], expect: &str) {
    let activation = activation(&bench(body), &words(arguments));
    assert_eq!(activation.rendered.text(), expect, "{body} {:?}", activation.diagnostics);
}

#[test]
fn output_stands_in_the_place_of_its_command() {
    check("Branch: !`echo ' main '`.", &[], "Branch: main.");
    check("```!\necho one\necho two\n```\nx", &[], "one\ntwo\nx");
    check("!`exit 0`|", &[], "|");
    check("!`echo out; echo err >&2; exit 3`", &[], "out\n[stderr: err]\n[exit code: 3]");
    check("!`exit 3` rest", &[], "[exit code: 3] rest");
    check("!`printf 'a\\377b'`", &[], "a\u{fffd}b");
    check("!`` wow!`id`", &[], "!`` wow!`id`");
    let found = activation(&bench("A !`no-such-program-here` B"), &SkillArguments::default());
    assert!(
        found.rendered.text().starts_with("A [stderr: ")
            && found.rendered.text().ends_with("[exit code: 127] B")
    );
    assert_eq!(codes(&found), ["command-failed"]);
}

#[test]
fn values_reach_the_shell_as_words_and_never_as_text() {
    let hostile = &["a b", "$(touch marker)", "; id", "it's \"x\"", "`id`", "*", "!`id`", "$0"][..];
    let lines: Vec<String> = hostile.iter().map(|word| format!("<{word}>")).collect();
    check("!`printf '<%s>\\n' $ARGUMENTS`", hostile, &lines.join("\n"));
    check("!`printf '<%s>' \"$ARGUMENTS\"`", hostile, &format!("<{}>", hostile.join(" ")));
    check(
        "!`printf '<%s>' $0 \"$1\" $ARGUMENTS[2] pre-$3`",
        hostile,
        "<a b><$(touch marker)><; id><pre-it's \"x\">",
    );
    check("!`x=$ARGUMENTS; printf '<%s>' \"$x\"`", &["a", "id"], "<a id>");
    check("!`printf '<%s>' $ARGUMENTS`", &[], "<>");
    check("!`echo '$0'` $0", &["v"], "$0 v");
}

#[test]
fn a_command_that_would_run_a_value_stays() {
    let bench = bench("!`eval $ARGUMENTS` !`sh -c \"$ARGUMENTS\"` !`echo $(($0))`");
    let found = activation(&bench, &words(&["touch \"$SKILL_DATA/marker\""]));
    assert!(
        found
            .rendered
            .text()
            .starts_with("!`eval $ARGUMENTS` !`sh -c \"$ARGUMENTS\"` !`echo $(($0))`\nARGUMENTS: ")
    );
    assert_eq!(codes(&found), ["command-unsafe"; 3]);
    assert!(!bench.workspace.join("data/user/demo/marker").exists());
}

#[test]
fn commands_start_in_the_project_unless_their_authors_expect_the_skill() {
    let bench = bench("!`pwd`");
    let found = activation(&bench, &SkillArguments::default());
    assert_eq!(found.rendered.text(), bench.workspace.join("project").display().to_string());
    let found = Stage::of(&bench).start(StartDir::Skill).activation(&SkillArguments::default()).unwrap();
    assert_eq!(found.rendered.text(), bench.workspace.join("skill").display().to_string());
}

#[test]
fn nothing_runs_for_an_untrusted_skill_or_without_leave() {
    let body = "A !`touch \"$SKILL_DATA/marker\"` B";
    let mut untrusted = bench(body);
    untrusted.skill.trust = Trust::Untrusted;
    let found = Stage::of(&untrusted).by(Invoker::Viewer).activation(&SkillArguments::default()).unwrap();
    assert_eq!(found.rendered.text(), body);
    assert_eq!(codes(&found), ["skill-untrusted", "command-untrusted"]);

    let mut changed = bench(body);
    changed.skill.trust = Trust::Changed;
    let denied = bench(body).deny("skill:demo/inject");
    for bench in [&changed, &denied] {
        let found = activation(bench, &SkillArguments::default());
        assert_eq!(found.rendered.text(), body);
        assert_eq!(codes(&found), ["command-not-allowed"]);
    }
    for bench in [&untrusted, &changed, &denied] {
        assert!(!bench.workspace.join("data/user/demo/marker").exists());
    }
    // What a deny rule names is denied in any form.
    let found = activation(&bench("!`touch $0`").deny("command:touch:*"), &words(&["x"]));
    assert_eq!(codes(&found), ["command-not-allowed"]);
}

#[test]
fn a_question_is_asked_before_anything_runs() {
    let mut bench = bench("!`echo a` !`echo b` !`echo a`").with_rules(List::Ask, &["skill:demo/inject"]);
    bench.asking = Asking::Terminal;
    Stage::of(&bench).with(&SkillArguments::default(), |draft, workbench| {
        let questions = draft.unwrap().questions(workbench).unwrap();
        assert_eq!(questions.len(), 2, "the same command is one question");
    });
    let found = activation(&bench, &SkillArguments::default());
    assert_eq!(found.rendered.text(), "!`echo a` !`echo b` !`echo a`", "nobody said yes");
}

#[test]
fn a_command_that_takes_too_long_is_ended_and_says_so() {
    let begin = Instant::now();
    check("!`echo begun; sleep 60` after", &[], "[command timed out: echo begun; sleep 60] after");
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn commands_that_share_nothing_run_side_by_side() {
    let begin = Instant::now();
    check("!`sleep 2; echo a` !`sleep 2; echo b` !`sleep 2; echo c`", &[], "a b c");
    assert!(begin.elapsed() < Duration::from_secs(6), "{:?}", begin.elapsed());
    check("!`echo 1 > \"$SKILL_DATA/n\"` !`cat \"$SKILL_DATA/n\"`", &[], " 1");
}

#[test]
fn long_output_is_cut_with_a_marker() {
    let found = activation(&bench("!`head -c 300000 /dev/zero | tr '\\0' x`"), &SkillArguments::default());
    let text = found.rendered.text();
    assert!(text.len() < metier_activation::COMMAND_OUTPUT + 100, "{}", text.len());
    assert!(text.contains("\n[... 234464 bytes left out ...]\n"));
}

#[test]
fn secrets_are_for_processes_and_not_for_the_text() {
    let mut bench = bench("!`echo \"key: $API_KEY\"; test -n \"$API_KEY\" && echo set`");
    bench.grants.variable("API_KEY".parse().unwrap(), Some(Secret::new("s3cr3t-value-1".into()).unwrap()));
    let refused = activation(&bench, &SkillArguments::default());
    assert!(refused.rendered.text().starts_with("key:\n[exit code: 1]"), "{}", refused.rendered.text());
    let bench = bench.allow(&["skill:demo/secret:API_KEY"]);
    let text = activation(&bench, &SkillArguments::default()).rendered.text().to_owned();
    assert!(text.ends_with("\nset") && !text.contains("s3cr3t"), "{text}");
}

#[test]
fn another_shell_is_one_whose_quotes_are_known() {
    let with_shell = |shell: &str| {
        let mut bench = bench("");
        let text = format!("---\nname: demo\ndescription: d\nshell: {shell}\n---\n!`echo $0`");
        bench.workspace = bench.workspace.file("skill/SKILL.md", text);
        activation(&bench, &words(&["a b"]))
    };
    assert_eq!(with_shell("sh").rendered.text(), "a b");
    let refused = with_shell("powershell");
    assert!(refused.rendered.text().starts_with("!`echo $0`"));
    assert_eq!(codes(&refused), ["command-not-run"]);
}

/// Pieces of commands in which a value could be taken for a program. None of them starts one: there is no search path.
fn command() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "$ARGUMENTS",
        "$ARGUMENTS",
        "$0",
        "$1",
        "$name",
        "echo ",
        "printf '%s\\n' ",
        "eval ",
        "let ",
        "export ",
        "declare ",
        "read ",
        "trap ",
        "test -v ",
        "test ",
        "[[ ",
        " ]]",
        " -eq 1",
        "case ",
        " in ",
        "a) ",
        ";; esac",
        "if ",
        "then ",
        "fi",
        "for i in ",
        "do ",
        "done",
        "x=",
        "$x",
        "\"$x\"",
        "a[",
        "]=1",
        "${x:-",
        "${x[",
        "${x:",
        "}",
        "$((",
        "))",
        "((",
        "$[",
        "]",
        "$(",
        "(",
        ")",
        "`",
        "'",
        "\"",
        "$'",
        "\\",
        "#",
        ";",
        "&&",
        "|",
        " ",
        " ",
        "\n",
        "<<<",
        "<<E\n",
        "\nE\n",
        "{ ",
        "}",
        "!",
        "y",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 1..14).prop_map(|pieces| pieces.concat())
}

/// Arguments that say something where they are run, and only there.
const TELLTALES: &[&str] = &[
    "$(printf X%sX RAN)",
    "`printf X%sX RAN`",
    "a[$(printf X%sX RAN >&2)]",
    ";printf X%sX RAN;",
    "' ;printf X%sX RAN; '",
    "\" ;printf X%sX RAN; \"",
    "$((a[$(printf X%sX RAN >&2)]))",
    "x[$(printf X%sX RAN >&2)]=1",
    ") ;printf X%sX RAN",
    "\nprintf X%sX RAN\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_argument_is_run_by_a_real_bash(
        command in command(),
        first in prop::sample::select(TELLTALES),
        second in prop::sample::select(TELLTALES),
    ) {
        let arguments = words(&[first, second]);
        let declared = [Argument { name: "name".into(), description: None, default: None }];
        let block = format!("```!\n{command}\n```\n");
        let plan = RenderPlan::new(&block, values(&arguments, &declared)).unwrap();
        for planned in plan.commands() {
            let Ok(line) = &planned.line else { continue };
            let mut bash = std::process::Command::new("/bin/bash");
            bash.args(["--noprofile", "--norc", "-c", &line.text]).env_clear().env("PATH", "/nonexistent");
            bash.envs(line.variables.iter().cloned()).current_dir("/").stdin(std::process::Stdio::null());
            let output = bash.output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            prop_assert!(!said.contains("XRANX"), "{:?} ran {:?} {:?}: {said}", line.text, first, second);
        }
    }
}
