//! Reports in all forms, of recorded, made-up and hostile runs.

use super::{made_up_run, recorded_run};
use autocomp_reports::{COLUMNS, ReportFormat, json_lines, parquet, report, spans, write_mlflow};
use autocomp_runner::RunView;
use std::collections::BTreeSet;
use std::slice::from_ref;

/// A text that tries to leave every place that it may be put into.
const HOSTILE: &str = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>\
    \"' onmouseover='alert(3)' ``` {{ 7 * 7 }} {% raw %} <!-- ]]> &lt; \u{202e} =cmd()";

/// Returns the names of all elements of a page.
fn elements(html: &str) -> BTreeSet<String> {
    html.split('<')
        .skip(1)
        .map(|rest| rest.trim_start_matches(['/', '!']))
        .map(|rest| {
            rest.chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect()
        })
        .collect()
}

#[test]
fn hostile_texts_are_texts() {
    let (_place, run) = made_up_run(60, HOSTILE);
    let (_other, plain) = made_up_run(60, "words");
    let hostile = report(from_ref(&run), ReportFormat::Html).unwrap();
    let harmless = report(&[plain], ReportFormat::Html).unwrap();
    assert!(hostile.contains("&lt;script&gt;alert(1)"));
    // Not one element that a harmless run has not, of which no attribute is an event's.
    assert_eq!(elements(&hostile), elements(&harmless));
    assert!(!elements(&hostile).contains("script") && !elements(&hostile).contains("img"));
    assert!(!hostile.contains(" onerror=alert(2)>") && hostile.contains("{{ 7 * 7 }}"));
    let tags = hostile
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split('>').next());
    for tag in tags {
        assert!(!tag.contains(" on") || tag.starts_with("title"), "{tag}");
    }
    assert_eq!(hostile.matches("<meta http-equiv").count(), 1);
    assert!(hostile.contains("default-src 'none'"));

    let markdown = report(from_ref(&run), ReportFormat::Markdown).unwrap();
    let outside: String = markdown.split("````").step_by(2).collect();
    assert!(!outside.contains('<'), "{outside}");
    // Nothing that a terminal obeys, or that turns writing round.
    assert!(!markdown.contains('\u{202e}') && markdown.contains("\\u{202e}"));

    let csv = report(&[run], ReportFormat::Csv).unwrap();
    assert!(csv.starts_with(&COLUMNS.join(",")) && !csv.contains(",=cmd"));
}

#[test]
fn a_page_loads_nothing() {
    let (_place, run) = recorded_run();
    let html = report(&[run], ReportFormat::Html).unwrap();
    for word in ["http://", "https://", "src=", "@import", "url(", "<script"] {
        assert!(!html.contains(word), "{word}");
    }
    for word in [
        "3.01 times faster",
        "double-buffer",
        "beam tree",
        "--replay",
        "Confirm the best",
    ] {
        assert!(html.contains(word), "{word}");
    }
}

#[test]
fn markdown_of_a_recorded_run() {
    let (_place, run) = recorded_run();
    let text = report(&[run], ReportFormat::Markdown).unwrap();
    let command = text.lines().find(|line| line.contains("--replay")).unwrap();
    let text = text.replace(command, "autocomp optimize --replay RUN");
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn several_runs_are_compared() {
    let (_a, first) = made_up_run(80, "words");
    let mut second = first.clone();
    second.name = "second".to_owned();
    let html = report(&[first.clone(), second.clone()], ReportFormat::Html).unwrap();
    assert!(html.contains("2 runs compared") && html.contains("differ in their seed only"));
    assert!(html.contains("curve-1"));
    let (_b, other) = recorded_run();
    let html = report(&[first, other], ReportFormat::Html).unwrap();
    assert!(html.contains("percent of the baseline"));
}

#[test]
fn data_for_other_programs() {
    let (_place, run) = recorded_run();
    let runs = [run];
    let json: serde_json::Value =
        serde_json::from_str(&report(&runs, ReportFormat::Json).unwrap()).unwrap();
    assert_eq!(json["runs"][0]["kernels"][0]["name"], "c0");
    assert_eq!(json["runs"][0]["floor"]["value"], 65_536);
    let lines = json_lines(&runs);
    assert_eq!(lines.lines().count(), 12);
    for line in lines.lines() {
        let kernel: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            kernel["code"]
                .as_str()
                .is_some_and(|code| code.contains("void"))
        );
    }
    let csv = report(&runs, ReportFormat::Csv).unwrap();
    assert_eq!(csv.lines().count(), 13);
}

#[test]
fn a_parquet_file_has_a_row_for_each_kernel() {
    let (_place, run) = made_up_run(60, HOSTILE);
    let bytes = parquet(&[run.clone(), run]);
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    // The length of what is before it at its end, and names in it.
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    let about = String::from_utf8_lossy(&bytes[end - length..end]).into_owned();
    assert!(COLUMNS.iter().all(|column| about.contains(column)));
}

#[test]
fn spans_lie_in_their_parents() {
    let (place, _run) = made_up_run(60, HOSTILE);
    let view = RunView::open(&place.path().join("run")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&spans(&view)).unwrap();
    let spans = &trace["resourceSpans"][0]["scopeSpans"][0]["spans"];
    let spans = spans.as_array().unwrap();
    let ids: BTreeSet<&str> = spans
        .iter()
        .map(|it| it["spanId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), spans.len());
    let n_roots = spans.iter().filter(|it| it["parentSpanId"] == "").count();
    assert_eq!(n_roots, 1);
    for span in spans {
        let parent = span["parentSpanId"].as_str().unwrap();
        assert!(parent.is_empty() || ids.contains(parent));
        let at = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(at("startTimeUnixNano") <= at("endTimeUnixNano"));
    }
    assert!(spans.iter().any(|it| it["name"] == "call"));
}

#[test]
fn a_file_store_has_metrics_parameters_and_the_best_kernel() {
    let (_place, run) = recorded_run();
    let store = tempfile::TempDir::new().unwrap();
    let runs = [run];
    // Twice: the second time it is written anew.
    write_mlflow(&runs, store.path()).unwrap();
    write_mlflow(&runs, store.path()).unwrap();
    let only = |folder: &std::path::Path| -> std::path::PathBuf {
        let entries = std::fs::read_dir(folder).unwrap();
        let folders = entries
            .map(|it| it.unwrap().path())
            .filter(|it| it.is_dir());
        let folders: Vec<_> = folders.collect();
        assert_eq!(folders.len(), 1);
        folders[0].clone()
    };
    let run = only(&only(store.path()));
    let read = |name: &str| std::fs::read_to_string(run.join(name)).unwrap();
    let last = read("metrics/best_cost");
    let last: Vec<&str> = last.lines().last().unwrap().split(' ').collect();
    assert_eq!(last[1], "74703");
    assert_eq!(read("metrics/cost").lines().count(), 12);
    assert_eq!(read("params/seed"), runs[0].report.seed.to_string());
    assert!(read("artifacts/best-kernel.txt").contains("void"));
    assert!(read("meta.yaml").contains("status: 3"));
}
