//! The model of a recorded run says what `show` says, and more.

use super::{made_up_run, recorded_run};
use autocomp_core::Outcome;
use autocomp_reports::change::{LineKind, difference, figure_changes, times};
use autocomp_reports::{Reference, RunData, references, write_references};
use autocomp_runner::RunView;

#[test]
fn kernels_have_names_parents_and_gains() {
    let (_place, run) = recorded_run();
    assert_eq!(run.kernels.len(), 12);
    let chain: Vec<&str> = run
        .chain
        .iter()
        .map(|it| run.kernels[*it].name.as_str())
        .collect();
    assert_eq!(chain, ["c0", "c1", "c6"]);
    let best = run.kernel("c6").unwrap();
    assert_eq!(run.kernel("best").unwrap().name, "c6");
    assert_eq!(run.parent(best).unwrap().name, "c1");
    assert_eq!(best.menu_item.as_deref(), Some("double-buffer"));
    assert!((best.gain.unwrap() - 83_138.0 / 74_703.0).abs() < 1e-9);
    assert_eq!(run.kernel(&best.task).unwrap().name, "c6");
    assert!(
        run.texts
            .plan(best)
            .unwrap()
            .starts_with("Interchange the loops")
    );
    assert!(run.kernel("c99").is_none());
    // Steps downwards, from the baseline to the best.
    let costs: Vec<u64> = run
        .improvements
        .iter()
        .map(|it| it.cost.unwrap().value)
        .collect();
    assert_eq!(
        (costs.first(), costs.last()),
        (Some(&225_108), Some(&74_703))
    );
    assert!(costs.is_sorted_by(|a, b| a > b));
}

#[test]
fn steps_say_what_they_changed() {
    let (_place, run) = recorded_run();
    let (c0, c1) = (run.kernel("c0").unwrap(), run.kernel("c1").unwrap());
    let changes = figure_changes(&c0.evaluation, &c1.evaluation, 6);
    let texts: Vec<String> = changes.iter().map(|it| it.text()).collect();
    insta::assert_snapshot!(texts.join("\n"));
    let source = |kernel| run.texts.source(kernel).unwrap();
    let lines = difference(&source(c0), &source(c1), false, Some(1));
    let count = |kind| lines.iter().filter(|line| line.kind == kind).count();
    assert!(0 < count(LineKind::Added) && 0 < count(LineKind::Removed));
    // Everything that is not left out makes up the second text again.
    let whole = difference(&source(c0), &source(c1), false, None);
    let again: Vec<&str> = whole
        .iter()
        .filter(|line| line.new.is_some())
        .map(|line| line.text.as_str())
        .collect();
    assert_eq!(again, source(c1).lines().collect::<Vec<_>>());
}

#[test]
fn yields_add_up() {
    let (_place, run) = made_up_run(300, "words");
    let kernels: u32 = run.menu_items.iter().map(|it| it.kernels).sum();
    assert_eq!(kernels as usize, run.kernels.len() - 1);
    let steps: u32 = run.menu_items.iter().map(|it| it.in_chain).sum();
    assert_eq!(steps as usize, run.chain.len() - 1);
    let factor: f64 = run.menu_items.iter().map(|it| it.factor).product();
    assert!((factor / run.report.speedup.unwrap() - 1.0).abs() < 1e-9);
    let wrong = run.kernels.iter().filter(|it| it.outcome == Outcome::Wrong);
    assert!(
        wrong
            .clone()
            .all(|it| it.id.is_none() && it.name.contains(".p"))
    );
    assert_eq!(
        run.outcomes(),
        [
            (
                Outcome::Ok,
                run.kernels.len() as u32 - wrong.clone().count() as u32
            ),
            (Outcome::Wrong, wrong.count() as u32)
        ]
    );
    for it in &run.iterations {
        assert!(
            it.beam
                .iter()
                .all(|place| run.kernels[*place].beams.contains(&it.number))
        );
    }
}

#[test]
fn references_are_kept_beside_the_run() {
    let (place, run) = recorded_run();
    assert!(run.references.is_empty());
    let folder = place.path().join("recorded-run");
    let lines = [("expert", 70_000), ("library", 90_000)].map(|(kernel, value)| Reference {
        kernel: kernel.to_owned(),
        cost: autocomp_core::Cost::nanoseconds(value, 0),
    });
    write_references(&folder, &lines).unwrap();
    let read = RunData::open(&folder).unwrap().references;
    assert_eq!(
        read.iter().map(|it| it.kernel.as_str()).collect::<Vec<_>>(),
        ["library", "expert"]
    );
    std::fs::write(folder.join("references.json"), "no JSON").unwrap();
    assert!(references(&folder).is_empty());
}

/// A run that is taken in while it is written is the same as one that is read at its end.
#[test]
fn news_lead_to_what_the_whole_journal_says() {
    let place = tempfile::TempDir::new().unwrap();
    let folder = place.path().join("run");
    let shape = super::synthetic::Shape {
        evaluations: 150,
        text: "words".to_owned(),
        seed: 5,
    };
    let mut live = None;
    let mut n_looks = 0;
    super::synthetic::write_run_watched(&folder, &shape, |_| {
        let (view, run) = live.get_or_insert_with(|| {
            let view = RunView::open(&folder).unwrap();
            let run = RunData::of(&view);
            (view, run)
        });
        view.read_on().unwrap();
        run.update(view);
        n_looks += 1;
        let whole = RunData::open(&folder).unwrap();
        let text = |run: &RunData| serde_json::to_string_pretty(run).unwrap();
        assert_eq!(text(run), text(&whole));
    });
    assert!(5 < n_looks);
}

/// A line that moves out of a loop changes a kernel where indentation means something, and
/// nothing where it does not.
#[test]
fn indentation_counts_where_the_language_says_so() {
    let inside = "def f():\n    for i in r:\n        a(i)\n        b()\n    c()\n";
    let outside = "def f():\n    for i in r:\n        a(i)\n    b()\n    c()\n";
    let changed = |meaningful: bool, new: &str| -> Vec<(char, String)> {
        let lines = difference(inside, new, meaningful, Some(0)).into_iter();
        let lines = lines.map(|line| (line.sign(), line.text));
        lines.filter(|(sign, _)| "+-".contains(*sign)).collect()
    };
    let moved = |sign, text: &str| (sign, text.to_owned());
    assert_eq!(
        changed(true, outside),
        [moved('-', "        b()"), moved('+', "    b()")]
    );
    assert_eq!(changed(false, outside), []);
    // Other white space means nothing in either.
    let spaced = inside.replace("a(i)", "a(i)  ").replace("for i", "for  i");
    assert_eq!(changed(true, &spaced), []);
}

#[test]
fn factors_are_never_rounded_to_nothing() {
    for (factor, text) in [
        (0.0, "0.00"),
        (0.000_034_6, "0.000035"),
        (0.003_4, "0.0034"),
        (0.05, "0.050"),
        (0.0999, "0.100"),
        (0.1, "0.10"),
        (0.94, "0.94"),
        (0.996, "0.996"),
        (1.0, "1.00"),
        (1.004, "1.004"),
        (12.346, "12.35"),
    ] {
        assert_eq!(times(factor), text, "{factor}");
    }
}
