//! A run on the screen.

use autocomp::inside::{Screen, draw};
use autocomp_reports::RunData;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::Path;

/// Every side of a recorded run is drawn, in wide and narrow terminals.
#[test]
fn a_recorded_run_on_the_screen() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded-run");
    let run = RunData::open(Path::new(folder)).unwrap();
    let mut screen = Screen::new(run);
    let drawn = |screen: &mut Screen, width, height| {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, screen, false)).unwrap();
        terminal.backend().to_string()
    };
    insta::assert_snapshot!(drawn(&mut screen, 110, 26));
    let mut press = |code| {
        screen.press(KeyEvent::new(code, KeyModifiers::NONE));
        drawn(&mut screen, 80, 24)
    };
    assert!(press(KeyCode::Char('2')).contains(" + "));
    assert!(press(KeyCode::Char('3')).contains("void solution"));
    assert!(press(KeyCode::Char('4')).contains('█'));
    assert!(press(KeyCode::Char('5')).contains("nothing to complain"));
    assert!(press(KeyCode::Char('6')).contains("no model was asked"));
    assert!(press(KeyCode::Char('p')).contains("c1"));
    assert!(press(KeyCode::Char('t')).contains("way to the best (3)"));
    assert!(press(KeyCode::Char('?')).contains("the run goes on"));
    // As small as it may get.
    drawn(&mut screen, 10, 4);
}
