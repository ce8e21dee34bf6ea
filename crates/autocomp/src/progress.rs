//! Live progress of a run on standard error: a few lines that are redrawn on a
//! terminal, plain lines elsewhere. Draws what the events say and decides nothing.

pub(crate) mod line;
pub(crate) mod live;

use crate::evaluation_text::spread_text;
use crate::model_usage::error_counts;
use crate::output::{BAD, BOLD, GOOD, Output, QUIET, Style, draw_above};
use autocomp_core::{Event, Outcome, TaskKey};
use autocomp_eval::text::{clock, dollars, grouped};
use autocomp_llm::{Availability, Caps, Connector, MemberHealth};
use autocomp_reports::change::times;
use autocomp_runner::{Limits, Notice, Observer};
use autocomp_store::Blobs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use live::LiveView;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Without a terminal, a line is printed at least this often while events arrive.
const SILENCE: Duration = Duration::from_secs(15);

/// Draws the progress of one session.
pub struct ProgressLines {
    output: Output,
    bar: Option<ProgressBar>,
    live: LiveView,
    best: Option<autocomp_core::Cost>,
    last_line: Duration,
    last_status: String,
    connector: Option<Arc<Connector>>,
}

impl ProgressLines {
    /// Begins to draw; what `connector` notices about budgets and models is told too.
    /// `texts` are the run's, `limits` where it stops, `elapsed` is how long it was worked on
    /// before.
    pub fn new(
        output: Output,
        connector: Option<Arc<Connector>>,
        texts: Blobs,
        limits: Limits,
        elapsed: Duration,
    ) -> Self {
        let budget = connector.as_ref().map(|connector| connector.budget());
        let caps = budget.map_or_else(Caps::default, |budget| budget.caps());
        let bar = output.is_interactive().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {elapsed_precise}  {msg}")
                .expect("the template is a constant");
            // The clock goes on while nothing happens.
            let bar = bar.with_elapsed(elapsed);
            bar.set_style(style);
            bar.set_message("measuring the kernel to start from");
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        draw_above(bar.clone());
        Self {
            output,
            live: LiveView::new(texts, limits, caps),
            bar,
            best: None,
            last_line: Duration::ZERO,
            last_status: String::new(),
            connector,
        }
    }

    /// Ends drawing and leaves the terminal clean.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            draw_above(None);
        }
    }

    /// Returns a line for each model that does not do well.
    fn troubled_models(&self) -> Vec<String> {
        let health = self
            .connector
            .as_ref()
            .map(|connector| connector.health())
            .unwrap_or_default();
        health
            .iter()
            .filter(|model| 0 < model.failed || model.availability != Availability::Available)
            .map(model_line)
            .collect()
    }

    fn line(&self, text: &str) {
        self.output.styled_message(text);
    }

    fn paint(&self, style: Style, text: &str) -> String {
        style.paint(text, self.output.is_message_coloured())
    }
}

impl Observer for ProgressLines {
    fn notice(&mut self, notice: &Notice<'_>) {
        let notices = self
            .connector
            .as_ref()
            .map(|connector| connector.take_notices());
        for text in notices.unwrap_or_default() {
            self.line(&format!("[{}] {text}", clock(notice.elapsed)));
        }
        if let Some(Event::Reserved(call)) = notice.event.map(|stored| &stored.event)
            && let Some(folder) = call.model.strip_prefix("mailbox::")
        {
            self.line(&format!(
                "[{}] waits for an answer in {folder} to {}-….request.md",
                clock(notice.elapsed),
                call.label,
            ));
        }
        if let Some(Event::Evaluated(it)) = notice.event.map(|stored| &stored.event)
            && it.evaluation.outcome == Outcome::Fault
            && let Some(found) = it.evaluation.diagnostics.first()
        {
            let clock = clock(notice.elapsed);
            self.line(&format!(
                "{} {}: {} could not be judged, the run goes on: {}",
                self.paint(QUIET, &format!("[{clock}]")),
                self.paint(BAD, "FAULT OF AUTOCOMP"),
                it.key,
                found.message
            ));
        }
        let status = status_line(notice);
        if let Some(bar) = &self.bar {
            let health = self
                .connector
                .as_ref()
                .map_or_else(Vec::new, |connector| connector.health());
            self.live.note(notice);
            let width = self.output.message_width().unwrap_or(80);
            let coloured = self.output.is_message_coloured();
            let lines = self
                .live
                .lines(notice, &health, width.saturating_sub(3), coloured);
            bar.set_message(crate::output::redacted(&lines.join("\n")));
        }
        let best = notice.progress.best.as_ref();
        let is_better = best.map(|best| best.cost) != self.best;
        let is_border = matches!(
            notice.event.map(|stored| &stored.event),
            Some(Event::IterationClosed(_) | Event::Resumed(_))
        );
        let is_overdue = SILENCE <= notice.elapsed.saturating_sub(self.last_line);
        if let (true, Some(best)) = (is_better, best) {
            let before = self.best.replace(best.cost);
            let speedup = notice.progress.speedup().unwrap_or(1.0);
            let (style, name) = match best.key {
                TaskKey::BASELINE => (BOLD, "baseline"),
                // A run that goes on.
                _ if before.is_none() => (BOLD, "best so far"),
                // Within the spread nothing is said of which one is faster.
                _ if before.is_some_and(|it| !best.cost.beats(it)) => (BOLD, "as good"),
                _ => (GOOD, "new best"),
            };
            let (value, unit) = (grouped(best.cost.value), best.cost.unit);
            let cost = format!("{value} {unit}{}", spread_text(best.cost.spread_ppm));
            self.line(&format!(
                "{} {} {}, {}x, {:.1} % of peak {}",
                self.paint(QUIET, &format!("[{}]", clock(notice.elapsed))),
                self.paint(style, name),
                self.paint(style, &cost),
                times(speedup),
                best.percent_of_peak,
                self.paint(QUIET, &format!("({})", task_of(&best.key))),
            ));
        }
        if is_border || (self.bar.is_none() && is_overdue && notice.event.is_some()) {
            self.last_line = notice.elapsed;
            if status != self.last_status {
                self.line(&self.paint(QUIET, &status));
                self.last_status = status;
            }
            if is_border {
                for text in self.troubled_models() {
                    self.line(&text);
                }
            }
        }
    }
}

/// Returns the name by which a kernel can be asked for while its iteration is open.
fn task_of(key: &TaskKey) -> String {
    let task = key.to_string();
    task.strip_suffix(".eval").unwrap_or(&task).to_owned()
}

/// Returns how a model fares in one line.
fn model_line(model: &MemberHealth) -> String {
    let errors = model
        .errors
        .iter()
        .map(|(kind, count)| (kind.name().to_owned(), *count))
        .collect();
    let mut line = format!(
        "  {}: {} answered, {} failed{}, {}",
        model.model,
        grouped(model.answered),
        grouped(model.failed),
        error_counts(&errors),
        dollars(model.cost.0),
    );
    match &model.availability {
        Availability::Available => {}
        Availability::SetAside { until, .. } => {
            let wait = until.saturating_duration_since(tokio::time::Instant::now());
            let _ = write!(line, " · set aside for {} s", wait.as_secs());
        }
        Availability::Lost { .. } => line.push_str(" · not asked any more"),
    }
    line
}

/// Returns the state of the run in one line.
fn status_line(notice: &Notice<'_>) -> String {
    let progress = notice.progress;
    let mut line = format!(
        "[{}] iteration {}/{}",
        clock(notice.elapsed),
        progress.iteration,
        progress.iterations
    );
    let _ = write!(line, " · {}", progress.evaluations);
    if let Some(most) = progress.max_evaluations {
        let _ = write!(line, "/{most}");
    }
    line.push_str(" evaluated");
    if 0 < notice.running.evaluations {
        let _ = write!(line, ", {} running", notice.running.evaluations);
    }
    if let Some(best) = &progress.best {
        let speedup = progress.speedup().unwrap_or(1.0);
        let _ = write!(
            line,
            " · best {} ({}x)",
            grouped(best.cost.value),
            times(speedup)
        );
    }
    let outcomes: Vec<String> = Outcome::ALL
        .iter()
        .filter_map(|outcome| {
            let count = *progress.outcomes.get(outcome)?;
            (0 < count).then(|| format!("{count} {outcome}"))
        })
        .collect();
    if !outcomes.is_empty() {
        let _ = write!(line, " · {}", outcomes.join(", "));
    }
    if 0 < progress.usage.requests {
        let tokens = progress.usage.input_tokens
            + progress.usage.cached_tokens
            + progress.usage.output_tokens;
        let _ = write!(
            line,
            " · spent {} ({} tokens)",
            dollars(progress.usage.cost.0),
            grouped(tokens)
        );
    }
    line
}
