//! The lines of a search that goes on.

use autocomp::inside::LiveView;
use autocomp_core::{Usage, UsdMicros};
use autocomp_llm::Caps;
use autocomp_runner::{Limits, Notice, RunView, Running};
use std::path::Path;
use std::time::Duration;

/// What the view says at the end of a recorded run; every line fits.
#[test]
fn a_recorded_run_as_it_was_seen() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded-run");
    let view = RunView::open(Path::new(folder)).unwrap();
    let limits = Limits {
        max_wall: Some(Duration::from_secs(60)),
        ..Limits::default()
    };
    let mut live = LiveView::new(view.blobs().clone(), limits, Caps::default());
    let mut events = Vec::new();
    let (mut lines, mut coloured) = (Vec::new(), Vec::new());
    for stored in &view.events {
        events.push(stored.event.clone());
        let search = autocomp_search::Search::fold(&events).unwrap();
        let progress = search.progress();
        let notice = Notice {
            event: Some(stored),
            progress: &progress,
            running: Running {
                proposals: 1,
                evaluations: 2,
            },
            elapsed: Duration::from_millis(stored.elapsed_ms),
        };
        live.note(&notice);
        lines = live.lines(&notice, &[], 76, false);
        assert!(lines.iter().all(|line| line.chars().count() <= 76));
        coloured = live.lines(&notice, &[], 76, true);
    }
    let bare = |text: &str| {
        let parts = text.split('\x1b').enumerate();
        let seen = parts.map(|(place, it)| match place {
            0 => it,
            _ => it.split_once('m').unwrap().1,
        });
        seen.collect::<String>()
    };
    let seen: Vec<String> = coloured.iter().map(|it| bare(it)).collect();
    assert_eq!(seen, lines, "colours change no text");
    insta::assert_snapshot!(lines.join("\n"));
    insta::assert_snapshot!("in_colour", coloured.join("\n").replace('\x1b', "␛"));
}

/// Money, tokens and requests that are bounded have a bar each, the others are told.
#[test]
fn what_models_may_use_has_bars() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded-run");
    let view = RunView::open(Path::new(folder)).unwrap();
    let mut progress = view.search.progress();
    progress.usage = Usage {
        requests: 30,
        input_tokens: 40_000,
        output_tokens: 10_000,
        cost: UsdMicros(1_500_000),
        ..Usage::default()
    };
    let notice = Notice {
        event: None,
        progress: &progress,
        running: Running {
            proposals: 1,
            evaluations: 0,
        },
        elapsed: Duration::from_secs(9),
    };
    let lines = |caps| {
        let live = LiveView::new(view.blobs().clone(), Limits::default(), caps);
        live.lines(&notice, &[], 76, false)
    };
    let is_bar = |line: &String, title: &str, full: usize, end: &str| {
        let bar = "█".repeat(full) + &"░".repeat(20 - full);
        *line == format!("{title:<12}{bar} {end}")
    };
    let all = lines(Caps {
        cost: Some(UsdMicros(2_000_000)),
        tokens: Some(200_000),
        requests: Some(40),
    });
    let some = lines(Caps {
        requests: Some(30),
        ..Caps::default()
    });
    let lines = &all[all.len() - 3..];
    assert!(is_bar(&lines[0], "spent", 15, "$1.50/$2.00"), "{lines:?}");
    assert!(
        is_bar(&lines[1], "tokens", 5, "50,000/200,000"),
        "{lines:?}"
    );
    assert!(is_bar(&lines[2], "requests", 15, "30/40"), "{lines:?}");
    let lines = &some[some.len() - 2..];
    assert!(is_bar(&lines[0], "requests", 20, "30/30"), "{lines:?}");
    assert_eq!(lines[1], "used        $1.50, 50,000 tokens");
}
