//! Reports of runs as HTML, Markdown, JSON and CSV.
//!
//! The HTML is one file that loads nothing and runs nothing: its policy allows neither
//! scripts nor requests, and every text that is not ours is escaped by the templates.

use crate::page::Page;
use crate::run::RunData;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

const HTML: &str = include_str!("../templates/report.html");
const MARKDOWN: &str = include_str!("../templates/report.md");
const STYLE: &str = include_str!("../templates/style.css");

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// A page that stands by itself.
    Html,
    /// Text with tables.
    Markdown,
    /// The whole model.
    Json,
    /// One row for each kernel.
    Csv,
}

impl ReportFormat {
    /// Every format with its name, which is also the end of its files' names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("html", Self::Html),
        ("md", Self::Markdown),
        ("json", Self::Json),
        ("csv", Self::Csv),
    ];

    /// Returns the format with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|it| it.0 == name);
        found.map(|it| it.1)
    }
}

/// A report could not be written, which is a mistake in its template.
#[derive(Debug, thiserror::Error)]
#[error("the report could not be written: {0}")]
pub struct ReportError(String);

impl From<minijinja::Error> for ReportError {
    fn from(error: minijinja::Error) -> Self {
        Self(format!("{error:#}"))
    }
}

/// Writes the report of some runs.
///
/// # Errors
/// A mistake in the templates.
pub fn report(runs: &[RunData], format: ReportFormat) -> Result<String, ReportError> {
    match format {
        ReportFormat::Html => page(runs, "report.html", HTML),
        // Whoever looks at it in a terminal sees what stands there.
        ReportFormat::Markdown => Ok(autocomp_eval::text::spelled_out(&page(
            runs,
            "report.md",
            MARKDOWN,
        )?)),
        ReportFormat::Json => {
            #[derive(Serialize)]
            struct Runs<'a> {
                runs: &'a [RunData],
            }
            let json = serde_json::to_string_pretty(&Runs { runs });
            json.map(|json| json + "\n")
                .map_err(|error| ReportError(error.to_string()))
        }
        ReportFormat::Csv => Ok(crate::export::csv(runs)),
    }
}

fn page(runs: &[RunData], name: &str, template: &str) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|name| match name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    environment.add_filter("md", |text: String| markdown(&text));
    environment.add_template(name, template)?;
    let values = Values {
        style: STYLE,
        comparison_head: [
            "run",
            "problem",
            "proposers",
            "seed",
            "baseline",
            "best",
            "speed-up",
            "of peak",
            "evaluations",
            "time",
            "models",
        ],
        yield_head: [
            "",
            "kernels",
            "right",
            "faster than parent",
            "largest gain",
            "in the best",
            "models",
        ],
        page: Page::of(runs),
    };
    Ok(environment.get_template(name)?.render(Serde(&values))?)
}

#[derive(Serialize)]
struct Values {
    style: &'static str,
    comparison_head: [&'static str; 11],
    yield_head: [&'static str; 7],
    #[serde(flatten)]
    page: Page,
}

/// Escapes a text so that Markdown shows it as it is, in one line.
fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\r' | '\t' => out.push(' '),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
