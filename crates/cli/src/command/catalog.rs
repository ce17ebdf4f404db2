//! `catalog`: exactly what a model would see first.

use crate::args::{Catalog, Format};
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{
    CatalogueOptions, Disclosure, Include, Report, SHORTLIST_BUDGET, SHORTLIST_LENGTH, Shortlist, budget,
};
use metier_diagnostic::counted;
use serde_json::json;

pub(crate) fn run(args: &Catalog, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let settings = &surroundings.layout.settings.catalog;
    let disclosure = match args.format {
        Some(Format::Markdown) => Disclosure::Markdown,
        Some(Format::Xml) => Disclosure::Xml,
        Some(Format::Eager) => Disclosure::Eager,
        None => settings.disclosure.unwrap_or_default(),
    };
    let budget = budget(args.budget.or(settings.budget), settings.window);
    let options = CatalogueOptions { disclosure, budget, ..CatalogueOptions::default() };
    let (catalogue, note) = match &args.request {
        Some(request) => {
            let finder = super::route::finder(surroundings, output)?;
            let route = finder.route(request, SHORTLIST_LENGTH);
            let note = Shortlist::new(finder.snapshot(), &route, SHORTLIST_BUDGET, options.search);
            (finder.snapshot().catalogue(&options), Some(note))
        }
        None => (surroundings.snapshot(Include::Usual).catalogue(&options), None),
    };
    let note = note.as_ref().map(|note| note.text.as_str());
    if output.is_json() {
        let mut json = json!({ "format": disclosure, "text": catalogue.text, "report": catalogue.report });
        if let Some(note) = note {
            json["note"] = json!(note);
        }
        return output.json(&json);
    }
    output.text(&catalogue.text)?;
    if let Some(note) = note.filter(|note| !note.is_empty()) {
        output.raw(b"\n")?;
        output.text(note)?;
    }
    output.flush()?;
    output.aside(&summary(&catalogue.report))
}

/// What the user is told beside the text: it goes to standard error, so that standard output is exactly the catalogue.
fn summary(report: &Report) -> String {
    if report.skills == 0 {
        return "no skill may be offered to a model from here; `metier list --all` says why".to_owned();
    }
    let mut text = format!(
        "{}, about {} of {} tokens",
        counted(report.skills, "skill", "skills"),
        report.tokens.0,
        report.budget.0
    );
    if report.named > 0 || report.counted > 0 {
        text.push_str(&format!(
            "; {} described, {} by name alone, {} only counted; raise the budget with `--budget` or `[catalog] budget`",
            report.described, report.named, report.counted
        ));
    }
    for (name, reason) in &report.unreadable {
        text.push_str(&format!("\n`{name}` is left out: {reason}"));
    }
    text
}
