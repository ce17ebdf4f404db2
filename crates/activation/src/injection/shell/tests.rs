//! Commands and what a shell gets of them.

use std::path::Path;

use metier_exec::{Variable, VariableValue};
use metier_skill::Argument;

use super::*;
use crate::render::{SkillArguments, TokenValues};

fn with<T>(arguments: &SkillArguments, work: impl FnOnce(&Resolver<'_>) -> T) -> T {
    let declared = [Argument { name: "name".to_owned(), description: None, default: Some("it".to_owned()) }];
    let environment = [
        Variable { name: "KEY".to_owned(), value: VariableValue::Sensitive },
        Variable { name: "LEVEL".to_owned(), value: VariableValue::Text("3".to_owned()) },
    ];
    let values = TokenValues {
        arguments,
        declared: &declared,
        skill: Path::new("/my skill"),
        data: None,
        plugin: None,
        project: None,
        session: "s-1",
        environment: &environment,
    };
    work(&Resolver::new(values).unwrap())
}

fn line(command: &str, arguments: &[&str]) -> Result<ShellLine, UnsafeCommand> {
    let arguments = SkillArguments::Words(arguments.iter().map(ToString::to_string).collect());
    with(&arguments, |resolver| read(command, resolver))
}

/// Variables are `%0`, `%1`, … here, to keep lines readable.
fn check(command: &str, arguments: &[&str], text: &str, judged: &str) {
    let line = line(command, arguments).unwrap_or_else(|error| panic!("{command}: {error}"));
    let short = line.text.replace("${METIER_VALUE_", "%").replace('}', "");
    let short = if line.text.contains("METIER_VALUE_") { short } else { line.text.clone() };
    assert_eq!((short.as_str(), line.judged.as_str()), (text, judged), "{command}");
}

#[test]
fn values_are_variables_and_stay_the_words_they_are() {
    let two = &["a b", "$(id)"][..];
    check("echo $ARGUMENTS", two, r#"echo "%0" "%1""#, "echo 'a b' '$(id)'");
    check(r#"echo "<$ARGUMENTS>""#, two, r#"echo "<%0>""#, r#"echo "<a b \$(id)>""#);
    check("echo $0 $1 $2", two, r#"echo "%0" "%1" $2"#, "echo 'a b' '$(id)' $2");
    check("echo $ARGUMENTS[1] $name", two, r#"echo "%0" "%1""#, "echo '$(id)' 'a b'");
    check("x --from=$ARGUMENTS", two, r#"x --from="%0" "%1""#, "x --from='a b' '$(id)'");
    check("echo $ARGUMENTS $name", &[], r#"echo  "%0""#, "echo  it");
    check("ls ${SKILL_DIR}/a {baseDir}", &[], r#"ls "%0"/a "%1""#, "ls '/my skill'/a '/my skill'");
    check("echo ${env:LEVEL}", &[], r#"echo "%0""#, "echo 3");
}

#[test]
fn what_the_shell_does_not_split_is_one_word() {
    let two = &["a b", "c"][..];
    check("x=$ARGUMENTS y=$0 run", two, r#"x="%0" y="%1" run"#, "x='a b c' y='a b' run");
    check("cat < $ARGUMENTS", two, r#"cat < "%0""#, "cat < 'a b c'");
    check("ls >| $ARGUMENTS", two, r#"ls >| "%0""#, "ls >| 'a b c'");
    check("cat <<< $ARGUMENTS", two, r#"cat <<< "%0""#, "cat <<< 'a b c'");
    check("[[ $ARGUMENTS == x ]]", two, r#"[[ "%0" == x ]]"#, "[[ 'a b c' == x ]]");
    check(
        "case $ARGUMENTS in x) ls;; esac",
        two,
        r#"case "%0" in x) ls;; esac"#,
        "case 'a b c' in x) ls;; esac",
    );
}

#[test]
fn nested_commands_are_followed() {
    let one = &["v"][..];
    check("echo \"$(cat \"$0\")\" $0", one, "echo \"$(cat \"%0\")\" \"%1\"", "echo \"$(cat \"v\")\" v");
    check(
        "if test -f $0; then cat $0; fi",
        one,
        "if test -f \"%0\"; then cat \"%1\"; fi",
        "if test -f v; then cat v; fi",
    );
    check(
        "ls 2>&1 | grep $0 &>/dev/null",
        one,
        "ls 2>&1 | grep \"%0\" &>/dev/null",
        "ls 2>&1 | grep v &>/dev/null",
    );
    check("(cd x && ls $0)", one, "(cd x && ls \"%0\")", "(cd x && ls v)");
    check(
        "for f in $ARGUMENTS; do echo $f; done",
        one,
        "for f in \"%0\"; do echo $f; done",
        "for f in v; do echo $f; done",
    );
    check("echo \"${HOME}\" $0 # $0", one, "echo \"${HOME\" \"%0\" # $0", "echo \"${HOME}\" v # $0");
}

#[test]
fn single_quotes_and_backslashes_keep_their_text() {
    let command = r#"awk '{print $0}' '\$0' "\$0" \$0 $'$0\'' $ARGUMENTS"#;
    let found = line(command, &["v"]).unwrap();
    let quoted: Vec<_> = found.in_single_quotes.iter().map(|range| &command[range.clone()]).collect();
    assert_eq!(quoted, ["$0", "$0"]);
    assert_eq!(found.judged, r#"awk '{print $0}' '\$0' "\$0" \$0 $'$0\'' v"#);
    check(
        "echo \"\\{baseDir} \\\\{baseDir}\"",
        &[],
        r#"echo "\{baseDir \\%0""#,
        r#"echo "\{baseDir} \\/my skill""#,
    );
    assert!(
        line("awk '{print $1}'", &["v"]).unwrap().in_single_quotes.is_empty(),
        "there is no second argument"
    );
}

#[test]
fn a_sensitive_variable_is_called_by_its_name_and_never_written_down() {
    let found = line("curl -H ${env:KEY} \"${env:KEY}\"", &[]).unwrap();
    assert_eq!(found.text, "curl -H \"${KEY}\" \"${KEY}\"");
    assert_eq!(found.variables, []);
}

#[test]
fn where_a_value_would_be_a_program_the_command_is_refused() {
    let refused = |command: &str, expect: UnsafeCommand| {
        assert_eq!(line(command, &["v"]).unwrap_err(), expect, "{command}");
    };
    let evaluated = |name: &str| UnsafeCommand::Evaluated(name.to_owned());
    let nested = |name: &str| UnsafeCommand::NestedProgram(name.to_owned());
    refused("eval $ARGUMENTS", evaluated("eval"));
    refused("x=$0; eval \"$x\"", evaluated("eval"));
    refused("sh -c \"ls $0\"", nested("sh"));
    refused("echo $0 | bash", nested("bash"));
    refused("echo $(sh -c \"ls $0\")", nested("sh"));
    refused("bash <<< $0", nested("bash"));
    refused("xargs sh -c 'echo $1' _ $0", nested("sh"));
    refused("python3 -c \"print('$0')\"", nested("python3"));
    refused("echo $(($0 + 1))", UnsafeCommand::Arithmetic);
    refused("n=$0; echo $((n + 1))", UnsafeCommand::Arithmetic);
    refused("((x = $0))", UnsafeCommand::Arithmetic);
    refused("echo $[ $0 ]", UnsafeCommand::Arithmetic);
    refused("[[ $0 -gt 3 ]]", UnsafeCommand::Arithmetic);
    refused("a[$0]=1", UnsafeCommand::Program);
    refused("i=$0; a[i]=1", UnsafeCommand::Arithmetic);
    refused("i=$0; echo ${list[i]}", UnsafeCommand::Arithmetic);
    refused("i=$0; echo ${x:i}", UnsafeCommand::Arithmetic);
    refused("echo ${x:-$0}", UnsafeCommand::Expansion);
    refused("echo `cat $0`", UnsafeCommand::Backticks);
    refused("cat <<EOF\n$0\nEOF", UnsafeCommand::HereDocument);
    refused("$0 --version", UnsafeCommand::Program);
    refused("ls; $ARGUMENTS", UnsafeCommand::Program);
    refused("ls && \"$0\"", UnsafeCommand::Program);
    refused("export $ARGUMENTS", evaluated("export"));
    refused("test -v $0", evaluated("test"));
    refused("echo \"$0", UnsafeCommand::Unreadable);
    refused("echo '$0' $0 'x", UnsafeCommand::Unreadable);
    refused("echo \"$(case x in a) echo $0;; esac)\"", UnsafeCommand::Unreadable);
    refused("sh -c \"ls ${SKILL_DIR}\"", nested("sh"));
    // A backslash joins lines, also inside a word, so the next line starts no program.
    refused("ls && \\\n  $0", UnsafeCommand::Program);
    refused("e\\\nval $0", evaluated("eval"));
    refused("ls\\\n\t; \"e\\\nval\" $0", evaluated("eval"));
    // `<(…)` expands to one word. The word after it is an ordinary argument.
    refused("xargs -a <(ls) sh -c \"$0\"", UnsafeCommand::Unknown);
    refused("git <(ls) sh -c \"$0\"", nested("sh"));
    refused("<(ls) $0", UnsafeCommand::Unknown);
    refused("cat <<'EOF'\n$0\nEOF", UnsafeCommand::HereDocument);
    refused("echo $((1)) $0", UnsafeCommand::Arithmetic);
    refused(&format!("{}$0", "$(ls ".repeat(65)), UnsafeCommand::Unreadable);
}

#[test]
fn without_a_value_every_command_is_its_authors() {
    for command in [
        "eval ls",
        "sh -c 'git status'",
        "echo $((1 + 2)) $1 ${x:-y} `date`",
        "cat <<EOF\nx\nEOF",
        "echo \"unclosed",
        "awk '{print $1}'",
        "",
        "é ` $( \" ' ${",
    ] {
        let found = line(command, &[]).unwrap();
        assert_eq!((found.text.as_str(), found.judged.as_str()), (command, command));
        assert_eq!(found.variables, []);
    }
}

#[test]
fn a_skills_own_programs_can_be_named_by_their_folder() {
    check("${SKILL_DIR}/scripts/a.sh $0", &["v"], "\"%0\"/scripts/a.sh \"%1\"", "'/my skill'/scripts/a.sh v");
    check("bash ${SKILL_DIR}/a.sh $0", &["v"], "bash \"%0\"/a.sh \"%1\"", "bash '/my skill'/a.sh v");
    check(
        "python3 -c 'import sys' $0",
        &["v"],
        "python3 -c 'import sys' \"%0\"",
        "python3 -c 'import sys' v",
    );
}
