use std::path::Path;

use metier_diagnostic::Span;
use metier_skill::Spanned;

use super::*;

fn command(name: &str, file: &str, text: &str) -> SlashCommand {
    let spanned = |value: &str| Spanned { value: value.to_owned(), span: Span::empty(0) };
    let file = Spanned { value: Path::new("/crew/commands").join(file), span: Span::empty(0) };
    SlashCommand::unread(spanned(name), file).filled(text).0
}

fn commands() -> Vec<SlashCommand> {
    vec![
        command(
            "translate",
            "french.command.md",
            "---\ndescription: Speaks\n  French.\n---\nIn French: $ARGUMENTS\n",
        ),
        command(
            "ask",
            "ask.command.md",
            "---\ndescription: Asks.\nagent: researcher\n---\nFind $ARGUMENTS.\n",
        ),
        command("brief", "brief.command.md", "---\ndescription: Posts.\nlane: job\n---\n"),
        command("skills", "mine.command.md", "---\ndescription: Never reached by this name.\n---\nMine.\n"),
    ]
}

fn read(line: &str) -> SlashInput {
    let commands = commands();
    SlashCommands { commands: &commands, is_skill: &|name| name == "deploy" }.parse(line)
}

fn words(text: &str) -> SlashInput {
    SlashInput::Expanded(ExpandedCommand { text: text.to_owned(), agent: None })
}

#[test]
fn a_line_is_a_message_a_command_or_a_skill() {
    assert_eq!(read("  "), SlashInput::Nothing);
    assert_eq!(read("hello /help"), SlashInput::Message("hello /help".to_owned()));
    assert_eq!(read("?"), SlashInput::BuiltIn(BuiltinCommand::Help, String::new()));
    assert_eq!(read("/?"), SlashInput::BuiltIn(BuiltinCommand::Help, String::new()));
    assert_eq!(read("/compact info"), SlashInput::BuiltIn(BuiltinCommand::Compact, "info".to_owned()));
    assert_eq!(read("/skills"), SlashInput::BuiltIn(BuiltinCommand::Skills, String::new()));
    assert_eq!(
        read("/deploy to  the moon "),
        SlashInput::Skill { name: "deploy".to_owned(), arguments: "to  the moon".to_owned() }
    );
}

#[test]
fn e16_an_unknown_command_has_the_exact_answer_of_the_first_system() {
    let text = "Unknown command: **nope**. Type /help to list commands.";
    assert_eq!(read("/nope now"), SlashInput::Answer(text.to_owned()));
    assert_eq!(unknown_command("a\n- **b**"), "Unknown command: **a - **b****. Type /help to list commands.");
}

#[test]
fn a_command_is_found_by_its_yaml_name_and_by_its_file_name() {
    assert_eq!(read("/translate hello world"), words("In French: hello world"));
    assert_eq!(read("/french"), words("In French: "));
    assert_eq!(read("/mine"), words("Mine."));
}

#[test]
fn arguments_are_text_and_nothing_else() {
    assert_eq!(read("/translate cost $& $$ $ARGUMENTS"), words("In French: cost $& $$ $ARGUMENTS"));
}

#[test]
fn a_command_for_a_role_says_for_whom_it_is() {
    let SlashInput::Expanded(expanded) = read("/ask the news") else { panic!("it is a command") };
    assert_eq!((expanded.text.as_str(), expanded.agent.as_deref()), ("Find the news.", Some("researcher")));
    assert_eq!(expanded.message(), "[Use the researcher agent]\nFind the news.");
}

#[test]
fn a_command_for_a_board_of_jobs_is_answered_without_a_model() {
    let SlashInput::Answer(text) = read("/brief rust") else { panic!("it is an answer") };
    assert!(text.contains("'job' lane"), "{text}");
}

#[test]
fn help_lists_what_is_built_in_and_what_the_crew_brings_and_no_description_forges_a_line() {
    let mut commands = commands();
    commands[1].description = "x\n- **/evil**: y".to_owned();
    let page = SlashCommands { commands: &commands, is_skill: &|_| false }.help();
    assert!(page.starts_with("# Available commands:\n- **/help**: Lists the commands\n"), "{page}");
    assert!(page.contains("\n- **/translate**: Speaks French.\n"), "{page}");
    assert_eq!(page.lines().count(), 1 + BuiltinCommand::all().count() + commands.len(), "{page}");
}

#[test]
fn skills_are_listed_as_the_first_system_lists_them() {
    assert_eq!(
        skills_page([("a", "Does a.\nWell."), ("b", "Does b.")]),
        "# Available skills:\n- **a**: Does a. Well.\n- **b**: Does b.\n"
    );
}

#[test]
fn a_command_without_a_description_is_said() {
    let spanned = |value: &str| Spanned { value: value.to_owned(), span: Span::empty(0) };
    let file = Spanned { value: "/c/x.command.md".into(), span: Span::empty(0) };
    let (_, found) = SlashCommand::unread(spanned("x"), file).filled("---\nagent: a\n---\nDo.\n");
    assert_eq!(found.iter().map(|found| found.code.name()).collect::<Vec<_>>(), ["agent-command"]);
}
