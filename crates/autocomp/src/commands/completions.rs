//! `autocomp completions`: for shells, and the manual.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// Print completions for a shell, or the manual page
///
/// For instance `autocomp completions bash > ~/.local/share/bash-completion/completions/autocomp`
/// or `autocomp completions man > ~/.local/share/man/man1/autocomp.1`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What for
    target: Target,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Target {
    Bash,
    Zsh,
    Fish,
    Elvish,
    #[value(name = "powershell")]
    PowerShell,
    /// The manual page, with all commands
    Man,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut command = crate::command_line();
    let shell = match arguments.target {
        Target::Bash => Some(Shell::Bash),
        Target::Zsh => Some(Shell::Zsh),
        Target::Fish => Some(Shell::Fish),
        Target::Elvish => Some(Shell::Elvish),
        Target::PowerShell => Some(Shell::PowerShell),
        Target::Man => None,
    };
    let mut text = Vec::new();
    match shell {
        Some(shell) => clap_complete::generate(shell, &mut command, "autocomp", &mut text),
        None => manual(command, &mut text).map_err(CliError::internal)?,
    }
    output.file(&String::from_utf8_lossy(&text))?;
    Ok(exit_code::SUCCESS)
}

/// Writes the manual: the program, then each command.
fn manual(mut command: clap::Command, out: &mut Vec<u8>) -> std::io::Result<()> {
    command.build();
    clap_mangen::Man::new(command.clone()).render(out)?;
    sections(&command, "", out)
}

/// Writes a section for each command below `command`, whose own words are `path`.
fn sections(command: &clap::Command, path: &str, out: &mut Vec<u8>) -> std::io::Result<()> {
    for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        let words = format!("{path} {}", below.get_name());
        let man = clap_mangen::Man::new(below.clone());
        out.extend(format!(".SH {}\n", words.trim().to_uppercase()).bytes());
        man.render_description_section(out)?;
        man.render_options_section(out)?;
        // That of `help` lists all commands once more.
        if below.get_name() != "help" {
            sections(below, &words, out)?;
        }
    }
    Ok(())
}
