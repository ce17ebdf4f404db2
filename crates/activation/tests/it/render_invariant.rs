//! What holds for every body and every value. The property tests and the fuzzer share it.

use std::path::Path;

use metier_activation::{PieceSource, PlannedToken, RenderPlan, Rendered, SkillArguments, TokenValues};
use metier_skill::Argument;

/// The values of a test, with these arguments.
pub(crate) fn values<'a>(arguments: &'a SkillArguments, declared: &'a [Argument]) -> TokenValues<'a> {
    TokenValues {
        arguments,
        declared,
        skill: Path::new("/skills/demo"),
        data: Some(Path::new("/data/demo")),
        plugin: None,
        project: Some(Path::new("/project")),
        session: "s-1",
        environment: &[],
    }
}

/// Renders a body whose commands all write `output`, and checks everything that holds for any of them.
pub(crate) fn holds(body: &str, arguments: &[String], output: &str) {
    let declared = [Argument { name: "name".to_owned(), description: None, default: Some("it".to_owned()) }];
    let list = SkillArguments::List(arguments.to_vec());
    let Ok(plan) = RenderPlan::new(body, values(&list, &declared)) else { return };
    let outputs: Vec<Option<String>> = plan.commands().iter().map(|_| Some(output.to_owned())).collect();
    let rendered = plan.render(&outputs);
    pieces_are_the_text(body, &rendered);
    values_are_bytes_as_given(&rendered, arguments, output);
    // The same body with as many harmless arguments is replaced in the same places: no byte of a value was read.
    let harmless = SkillArguments::List(vec!["x".to_owned(); arguments.len()]);
    let other = RenderPlan::new(body, values(&harmless, &declared)).unwrap();
    let places =
        |plan: &RenderPlan<'_>| plan.tokens().map(|PlannedToken { span, .. }| span).collect::<Vec<_>>();
    assert_eq!(places(&plan), places(&other), "{body:?} {arguments:?}");
    let quiet: Vec<Option<String>> = other.commands().iter().map(|_| Some(String::new())).collect();
    let sources = |rendered: &Rendered| -> Vec<_> {
        rendered.pieces().iter().map(|piece| (piece.span, piece.source)).collect()
    };
    assert_eq!(sources(&rendered), sources(&other.render(&quiet)), "{body:?} {arguments:?}");
    // A value never reaches the text of a command.
    for (command, harmless) in plan.commands().iter().zip(other.commands()) {
        let text = |planned: &metier_activation::PlannedCommand| {
            planned.line.as_ref().map(|line| line.text.clone()).map_err(Clone::clone)
        };
        assert_eq!(text(command), text(harmless), "{body:?} {arguments:?}");
    }
}

fn pieces_are_the_text(body: &str, rendered: &Rendered) {
    let mut end = 0;
    for piece in rendered.pieces() {
        assert_eq!(piece.range.start, end, "pieces follow each other");
        end = piece.range.end;
        let (written, text) = (piece.span.of(body), rendered.of(piece));
        match piece.source {
            PieceSource::Body => assert_eq!(text, written),
            PieceSource::Escape => assert_eq!(Some(text), written.strip_prefix('\\')),
            _ => {}
        }
    }
    assert_eq!(end, rendered.text().len());
}

fn values_are_bytes_as_given(rendered: &Rendered, arguments: &[String], output: &str) {
    for piece in rendered.pieces() {
        let text = rendered.of(piece);
        match piece.source {
            PieceSource::Arguments => assert_eq!(text, arguments.join("\n")),
            PieceSource::Argument(place) => assert_eq!(text, arguments.get(place).map_or("", String::as_str)),
            PieceSource::Command(_) => assert_eq!(text, output),
            PieceSource::Appended => {
                assert_eq!(text.trim_start_matches('\n'), format!("ARGUMENTS: {}", arguments.join("\n")));
            }
            _ => {}
        }
    }
}
