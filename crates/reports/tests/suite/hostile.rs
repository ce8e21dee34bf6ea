//! Journals with right chains and hostile contents: whatever looks at a run says what is wrong or
//! shows what is there. Nothing panics, has no end, or takes memory that the journal does not.

use super::synthetic::{Shape, write_run};
use autocomp_core::Event;
use autocomp_reports::{
    ReportFormat, RunData, csv, json_lines, parquet, report, spans, write_mlflow,
};
use autocomp_runner::{Extension, RecordedRun, RunSession, RunView};
use autocomp_store::{RunReader, RunWriter, history_hash};
use serde_json::{Number, Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Journals that are made up.
const JOURNALS: u64 = 120;

/// A small generator of numbers, so that equal seeds give equal journals.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

fn hostile_numbers() -> Vec<Number> {
    let whole = [
        0,
        1,
        2,
        1 << 16,
        (1 << 31) - 1,
        1 << 31,
        u64::from(u32::MAX),
        1 << 53,
        i64::MAX as u64,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    let broken = [-1.0, 0.5, 1e-308, f64::MAX, f64::MIN, -0.0];
    let whole = whole.into_iter().map(Number::from);
    whole
        .chain(broken.into_iter().filter_map(Number::from_f64))
        .collect()
}

fn hostile_texts() -> Vec<String> {
    vec![
        String::new(),
        "\u{1b}[2J\u{1b}]52;c;QQ==\u{7}\u{9b}31m".to_owned(),
        "<script>alert(1)</script><img src=x onerror=alert(1)>".to_owned(),
        "../../../../etc/passwd".to_owned(),
        "/dev/zero\0nul".to_owned(),
        "\u{202e}gnp.exe\u{2066}".to_owned(),
        "a,\"b\"\r\n=cmd|'/c calc'!A1".to_owned(),
        "{{ 7 * 7 }}{% include 'x' %}".to_owned(),
        "%s%n%x\u{0}".to_owned(),
        "x".repeat(20_000),
        "\n".repeat(2_000),
        "🂡".repeat(1_000),
        "e\u{301}".repeat(1_000),
        "0".repeat(64),
        "f".repeat(64),
    ]
}

/// Parts of paths to what decides whether events follow from each other.
const DECISIVE: [&str; 10] = [
    "/key/",
    "/id",
    "/parent",
    "/source",
    "/event",
    "/slots",
    "/beam",
    "/outcome",
    "/settings/",
    "/iteration",
];

/// The leaves of a value, as paths.
fn leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                leaves(
                    value,
                    &format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")),
                    out,
                );
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (idx, value) in items.iter().enumerate() {
                leaves(value, &format!("{path}/{idx}"), out);
            }
        }
        _ => out.push(path.to_owned()),
    }
}

/// Changes something; what comes out need not be a journal any more.
fn change(events: &mut Vec<Value>, numbers: &mut Numbers) {
    let at = numbers.below(events.len());
    match numbers.below(14) {
        0 if numbers.below(3) == 0 => {
            let other = numbers.below(events.len());
            events.swap(at, other);
        }
        1 if numbers.below(3) == 0 => drop(events.remove(at)),
        2 if numbers.below(3) == 0 => {
            let copy = events[at].clone();
            let place = numbers.below(events.len());
            events.insert(place, copy);
        }
        3 => events.truncate(at.max(1)),
        // Parents that do not exist, that come later, that are the kernel itself.
        4 => {
            let id = *numbers.one_of(&[0_u64, 1, 2, 3, 7, 1 << 20, u64::from(u32::MAX)]);
            for event in events.iter_mut() {
                let mut paths = Vec::new();
                leaves(event, "", &mut paths);
                for path in paths.iter().filter(|it| it.ends_with("/parent") || it.ends_with("/id")) {
                    *event.pointer_mut(path).unwrap() = json!(id);
                }
            }
        }
        // An iteration with more places than anybody can fill.
        5 => {
            if let Some(opened) = events.iter_mut().find(|it| it["event"] == "iteration_opened") {
                let n = *numbers.one_of(&[u64::from(u32::MAX), 1 << 20, 0]);
                opened["slots"] = json!([[n, n], [n]]);
                opened["parents"] = json!([0, 0]);
                opened["repairs"] = json!(u32::MAX);
                opened["kinds"] = json!([]);
            }
        }
        6 => events.insert(
            at,
            json!({"event": "extended", "iteration": 1, "after_end": true, "iterations": u32::MAX,
                "max_evaluations": u32::MAX, "patience": u32::MAX}),
        ),
        7 => events.insert(
            at,
            json!({"event": "stopped", "reason": "cost", "message": numbers.one_of(&hostile_texts()), "exchanges": []}),
        ),
        8 => events[at]["event"] = json!("invented_by_a_newer_program"),
        9 => events[0]["format"] = json!(*numbers.one_of(&[0_u64, 1, 4, 9999])),
        10 => {
            let reused = json!([{"menu_item": "x", "proposer": "y", "plan": "0".repeat(64)}]);
            events[0]["reused"] = reused;
        }
        _ => {
            for _ in 0..=numbers.below(2) {
                let at = numbers.below(events.len());
                let mut paths = Vec::new();
                leaves(&events[at], "", &mut paths);
                // Numbers of kernels, keys and hashes decide whether events follow from each
                // other; most changes are elsewhere, so that many journals are taken for runs.
                paths.retain(|it| numbers.below(8) == 0 || !DECISIVE.iter().any(|name| it.contains(name)));
                if paths.is_empty() {
                    continue;
                }
                let path = numbers.one_of(&paths).clone();
                let Some(leaf) = events[at].pointer_mut(&path) else {
                    continue;
                };
                *leaf = match leaf {
                    Value::Number(_) => Value::Number(numbers.one_of(&hostile_numbers()).clone()),
                    Value::String(_) => Value::String(numbers.one_of(&hostile_texts()).clone()),
                    Value::Bool(it) => Value::Bool(!*it),
                    Value::Array(_) => json!([1, "x", null]),
                    _ => Value::Null,
                };
            }
        }
    }
}

/// Writes a run folder with these events and with the texts of another one; the store makes the
/// chain. Returns how many events are understood.
fn write(folder: &Path, texts: &Path, events: &[Value]) -> usize {
    fs::create_dir_all(folder.join("blobs")).unwrap();
    fs::copy(texts.join("blobs/pack"), folder.join("blobs/pack")).unwrap();
    let mut writer = RunWriter::create(folder).unwrap();
    let mut n_written = 0;
    for (idx, event) in events.iter().enumerate() {
        if let Ok(event) = serde_json::from_value::<Event>(event.clone()) {
            writer.append_later(event, idx as u64).unwrap();
            n_written += 1;
        }
    }
    writer.commit().unwrap();
    n_written
}

/// Does with a run folder what the commands do. Returns whether it was taken for a run.
fn look(folder: &Path, place: &Path) -> bool {
    let Ok(view) = RunView::open(folder) else {
        // Resuming cuts off what has lost its texts, and may find a run before that.
        let _ = RunSession::resume(folder, "0.1.0").map(RunSession::close);
        let _ = RecordedRun::open(folder);
        return false;
    };
    let _ = view.whole_report();
    let _ = view.contributions();
    let _ = view.lessons();
    let _ = view.to_new_run();
    for more in [1, 1000, u32::MAX] {
        let extension = Extension {
            iterations: Some(more),
            max_evaluations: Some(more),
            patience: Some(more),
        };
        let _ = extension.of(&view.search);
    }
    let _ = history_hash(view.events.iter().map(|stored| &stored.event));
    let _ = spans(&view);
    let _ = RecordedRun::open(folder);
    let runs = [RunData::open_with_history(folder).unwrap()];
    for format in ReportFormat::ALL {
        let text = report(&runs, format.1).unwrap();
        // What others have written is text there, whatever it is.
        assert!(
            !text.contains("<script>alert") || !text.starts_with("<!"),
            "{}",
            format.0
        );
    }
    let _ = csv(&runs);
    let _ = json_lines(&runs);
    let _ = parquet(&runs);
    let _ = write_mlflow(&runs, &place.join("mlflow"));
    for kernel in &runs[0].kernels {
        let _ = runs[0].texts.source(kernel);
        let _ = runs[0].texts.plan(kernel);
    }
    let _ = RunSession::resume(folder, "0.1.0").map(RunSession::close);
    true
}

/// Returns how long this thread has computed.
fn computed() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(spent.tv_sec as u64, spent.tv_nsec as u32)
}

#[test]
fn no_content_of_a_journal_with_a_right_chain_does_harm() {
    let place = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let base = place.path().join("base");
    let shape = Shape {
        evaluations: 6,
        text: "a text".to_owned(),
        seed: 3,
    };
    write_run(&base, &shape);
    let events = RunReader::open(&base).unwrap().read_on().unwrap();
    let events: Vec<Value> = events
        .iter()
        .map(|stored| serde_json::to_value(&stored.event).unwrap())
        .collect();
    let began = Instant::now();
    let (mut n_runs, mut n_refused, mut n_events) = (0, 0, 0);
    for seed in 0..JOURNALS {
        let mut numbers = Numbers(seed);
        let mut events = events.clone();
        for _ in 0..=numbers.below(3) {
            change(&mut events, &mut numbers);
            if events.is_empty() {
                break;
            }
        }
        let folder = place.path().join(seed.to_string());
        n_events += write(&folder, &base, &events);
        let began = computed();
        match look(&folder, place.path()) {
            true => n_runs += 1,
            false => n_refused += 1,
        }
        // Of this thread's processor: a busy machine takes no more of it.
        let took = computed() - began;
        assert!(took < Duration::from_secs(60), "journal {seed}: {took:?}");
        fs::remove_dir_all(&folder).unwrap();
    }
    eprintln!(
        "{n_runs} shown, {n_refused} refused, {n_events} events, {:?}",
        began.elapsed()
    );
    // Both ways are taken often.
    assert!(
        JOURNALS / 8 < n_runs && JOURNALS / 8 < n_refused,
        "{n_runs} {n_refused}"
    );
}
