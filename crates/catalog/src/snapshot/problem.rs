//! What kept the sweep from finding what may be there, as failures and diagnostics.

use super::Failure;
use super::plan::Plan;
use crate::code;
use crate::layout::Layout;
use metier_diagnostic::{Code, Diagnostic};
use metier_files::Problem;
use std::path::Path;
use std::sync::Arc;

/// A document that cannot be read is a failed skill; everything else is said once, beside the list.
pub(super) fn sort_problems(
    problems: Vec<Problem>,
    plan: &Plan,
    layout: &Layout,
    failures: &mut Vec<Failure>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for problem in problems {
        let diagnostic = diagnostic_of(&problem);
        let path = diagnostic.path.clone();
        let root = problem.root().and_then(|root| plan.order.get(root).copied());
        match (&problem, root, path) {
            (Problem::UnreadableFile { .. } | Problem::NotAFile { .. }, Some(root), Some(path)) => {
                let folder = path.parent().unwrap_or(&path);
                let folder = folder.strip_prefix(&layout.roots[root].path).unwrap_or(folder);
                failures.push(Failure { root, folder: folder.into(), diagnostics: vec![diagnostic] });
            }
            _ => diagnostics.push(diagnostic),
        }
    }
    failures.sort_by(|a, b| (a.root, &a.folder).cmp(&(b.root, &b.folder)));
}

/// A problem as it is said.
pub(crate) fn diagnostic_of(problem: &Problem) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(problem_code(problem), problem.to_string());
    diagnostic.path = problem.path().map(Arc::<Path>::from);
    diagnostic.help = help(problem).map(str::to_owned);
    diagnostic
}

fn problem_code(problem: &Problem) -> &'static Code {
    match problem {
        Problem::NotAFile { .. } => &code::FILE_NOT_REGULAR,
        Problem::LinkOutside { .. } => &code::LINK_OUTSIDE,
        Problem::LinkBroken { .. } | Problem::LinkLoop { .. } => &code::LINK_BROKEN,
        Problem::DepthBound { .. } => &code::BOUND_DEPTH,
        Problem::EntryBound { .. } => &code::BOUND_ENTRIES,
        _ => &code::FOLDER_UNREADABLE,
    }
}

fn help(problem: &Problem) -> Option<&'static str> {
    match problem {
        Problem::LinkOutside { .. } => Some(
            "links of a project lead into the project; move what it leads to there, or name its folder as a root in your own `config.toml`",
        ),
        Problem::DepthBound { .. } => Some("raise `depth` on the root or in `[discovery]`"),
        Problem::EntryBound { .. } => Some("raise `entries` in `[discovery]`, or name narrower roots"),
        _ => None,
    }
}
