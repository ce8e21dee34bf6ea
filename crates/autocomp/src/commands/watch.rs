//! `autocomp watch`: a run in the terminal, while it is going on or afterwards.

pub(crate) mod drawing;
pub(crate) mod screen;

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::run_errors::run_error;
use autocomp_reports::RunData;
use autocomp_runner::RunView;
use clap::Args;
use drawing::draw;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use screen::{Reaction, Screen};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often a run is looked at for news.
const PERIOD: Duration = Duration::from_millis(700);

/// Watch a run in the terminal: its tree, and the plan, code and profile of every kernel
///
/// The run may be going on or be over; watching changes nothing. `?` shows the keys.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run folder
    run: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut view = RunView::open(&arguments.run).map_err(|error| run_error(&error))?;
    if output.is_json() || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(
            CliError::usage("`watch` needs a terminal to draw on").hint(format!(
                "`autocomp show {}` prints how far the run is",
                arguments.run.display()
            )),
        );
    }
    let mut screen = Screen::new(RunData::of(&view));
    let mut terminal = ratatui::try_init().map_err(|error| {
        CliError::environment(format!("the terminal cannot be drawn on: {error}"))
    })?;
    let coloured = output.is_coloured();
    let mut looked_at = Instant::now();
    let mut is_stale = true;
    let ended = loop {
        if is_stale {
            let drawn = terminal.draw(|frame| draw(frame, &mut screen, coloured));
            if let Err(error) = drawn {
                break Err(terminal_error(&error));
            }
            is_stale = false;
        }
        match next_event() {
            Ok(Some(Event::Key(key))) if key.kind == KeyEventKind::Press => {
                if screen.press(key) == Reaction::Quit {
                    break Ok(exit_code::SUCCESS);
                }
                is_stale = true;
            }
            Ok(Some(Event::Resize(..))) => is_stale = true,
            Ok(_) => {}
            Err(error) => break Err(terminal_error(&error)),
        }
        if PERIOD <= looked_at.elapsed() {
            looked_at = Instant::now();
            match view.read_on() {
                Ok(0) if !screen.run.is_live() => {}
                Ok(_) => {
                    screen.update(&view);
                    is_stale = true;
                }
                Err(error) => break Err(run_error(&error)),
            }
        }
    };
    ratatui::restore();
    ended
}

fn terminal_error(error: &io::Error) -> CliError {
    CliError::environment(format!("the terminal cannot be drawn on: {error}"))
}

/// Waits for a key or another size of the terminal, for a moment.
fn next_event() -> io::Result<Option<Event>> {
    match event::poll(Duration::from_millis(200))? {
        true => event::read().map(Some),
        false => Ok(None),
    }
}
