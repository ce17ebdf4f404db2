//! `completions`: for shells, and manual pages.

use crate::args::{Cli, Completions};
use crate::output::Output;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use metier_files::{Mode, write_atomic};
use std::path::Path;

pub(crate) fn run(args: &Completions, output: &mut Output) -> Result<()> {
    let Ok(shell) = args.target.parse::<Shell>() else {
        return manual(args.out.as_deref().unwrap_or(Path::new(".")), output);
    };
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "metier", &mut script);
    output.raw(&script)
}

/// One page for the program and one for each command.
fn manual(folder: &Path, output: &mut Output) -> Result<()> {
    let mut program = Cli::command();
    program.build();
    let mut pages = vec![("metier".to_owned(), program.clone())];
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("metier-{}", command.get_name());
        pages.push((name.clone(), command.clone().name(name).version(env!("CARGO_PKG_VERSION"))));
    }
    for (name, command) in pages {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        let path = folder.join(format!("{name}.1"));
        write_atomic(&path, &page, Mode::Shared)
            .with_context(|| format!("cannot write {}", path.display()))?;
        output.line(path.display())?;
    }
    Ok(())
}
