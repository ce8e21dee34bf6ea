//! What a run came to, in sentences and figures, and what to mind before believing it.

use super::cost_text;
use crate::change::times;
use crate::confirmation::confirmed_text;
use crate::references::Reference;
use crate::run::RunData;
use autocomp_core::{Measurement, Outcome};
use autocomp_eval::text::{clock, dollars, grouped};
use std::time::Duration;

/// Returns the reference that costs least.
fn best_reference(run: &RunData) -> Option<&Reference> {
    run.references.iter().min_by_key(|it| it.cost)
}

/// Returns the outcome in a few sentences.
pub(crate) fn summary(run: &RunData) -> String {
    let progress = &run.report.progress;
    let (Some(baseline), Some(best)) = (progress.baseline_cost, &progress.best) else {
        return "No kernel was found to be right yet.".to_owned();
    };
    if let Some(nothing) = &run.report.nothing_faster {
        return format!(
            "Nothing faster than the kernel to start from was found, which takes {} ({:.1} % of peak), in {} evaluations and {}: {}. What next: {}.",
            cost_text(baseline),
            best.percent_of_peak,
            grouped(u64::from(progress.evaluations)),
            clock(Duration::from_millis(run.report.elapsed_ms)),
            nothing.reasons.join("; "),
            nothing.next.join("; ").replace("RUN", &run.name),
        );
    }
    let mut out = format!(
        "From {} to {}: {} times faster{}, {:.1} % of peak, after {} evaluations in {}.",
        cost_text(baseline),
        cost_text(best.cost),
        times(best.cost.times(baseline)),
        match run.report.is_tie {
            true => " (a tie, within what costs may be off)",
            false => "",
        },
        best.percent_of_peak,
        grouped(u64::from(progress.evaluations)),
        clock(Duration::from_millis(run.report.elapsed_ms)),
    );
    if let Some(little) = &run.report.little_faster {
        out += &format!(
            " No more was gained: {}. What next: {}.",
            little.reasons.join("; "),
            little.next.join("; ").replace("RUN", &run.name),
        );
    }
    if let Some(reference) = best_reference(run) {
        let factor = best.cost.times(reference.cost);
        let verdict = if best.cost.beats(reference.cost) {
            format!("the best kernel found is {} times faster", times(factor))
        } else if reference.cost.beats(best.cost) {
            format!(
                "the best kernel found is {:.1} % slower",
                100.0 * (1.0 / factor - 1.0)
            )
        } else {
            "the best kernel found is as fast".to_owned()
        };
        out += &format!(
            " The fastest other kernel of the problem, {}, takes {}: {verdict}.",
            reference.kernel,
            cost_text(reference.cost)
        );
    }
    out
}

pub(super) fn facts(run: &RunData) -> Vec<(String, String, String)> {
    let progress = &run.report.progress;
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String, note: String| {
        facts.push((name.to_owned(), value, note));
    };
    if let (Some(baseline), Some(best)) = (progress.baseline_cost, &progress.best) {
        let unit = best.cost.unit.to_string();
        add("best", grouped(best.cost.value), unit);
        let from = format!("from {}", grouped(baseline.value));
        add(
            "speed-up",
            format!("{}×", times(best.cost.times(baseline))),
            from,
        );
        // What the hardware could do is not known of costs that were measured elsewhere.
        if let Some(floor) = run.floor {
            let floor = format!("floor {}", grouped(floor.value));
            add("of peak", format!("{:.1} %", best.percent_of_peak), floor);
        }
    }
    let outcomes = progress.outcomes.iter();
    let right = outcomes.filter(|(outcome, _)| outcome.is_right());
    let right: u32 = right.map(|(_, count)| count).sum();
    let cut = progress.outcomes.get(&Outcome::Cut).copied().unwrap_or(0);
    let cut = match cut {
        0 => String::new(),
        cut => format!(", {} of them cut", grouped(u64::from(cut))),
    };
    add(
        "evaluations",
        grouped(u64::from(progress.evaluations)),
        format!("{} right{cut}", grouped(u64::from(right))),
    );
    add(
        "time",
        clock(Duration::from_millis(run.report.elapsed_ms)),
        format!("{} iterations", progress.iteration),
    );
    if 0 < progress.usage.requests {
        add(
            "models",
            dollars(progress.usage.cost.0),
            format!("{} tokens", grouped(progress.usage.tokens())),
        );
    }
    facts
}

/// Returns what a reader must know before believing the figures.
pub(super) fn caveats(run: &RunData) -> Vec<String> {
    let progress = &run.report.progress;
    let mut caveats = Vec::new();
    let best = run.best().and_then(|it| it.evaluation.measurement.as_ref());
    if let Some(best) = best {
        if best.engine == Measurement::ELSEWHERE {
            caveats.push(
                "Costs are what another program measured; nothing was measured here.".to_owned(),
            );
        } else if best.cost.spread_ppm == 0 {
            caveats.push(format!(
                "Costs come from “{}”: they are repeatable to the last digit, and as right as its \
                 model of the machine. Confirm the best kernel on hardware before you rely on it.",
                best.engine
            ));
        } else {
            caveats.push(format!(
                "Costs are those of “{}”; that of the best kernel is uncertain by ±{:.2} %, and \
                 differences below that mean nothing.",
                best.engine,
                f64::from(best.cost.spread_ppm) / 1e4
            ));
        }
    }
    caveats.extend(run.report.confirmations.iter().map(|it| {
        let (kernel, by, what) = (it.id, &it.by, confirmed_text(it));
        format!("{kernel} was evaluated once more, on {by}: {what}.")
    }));
    caveats.push(format!(
        "This is one run with one seed ({}); another seed may end better or worse.",
        run.started.seed
    ));
    if run.references.is_empty() {
        caveats.push(
            "The problem's other kernels were not measured with this run, so the speed-up is over \
             its baseline alone, which may be naive."
                .to_owned(),
        );
    }
    if progress.finish.is_none() {
        caveats.push("The run has not come to its end; more may be found.".to_owned());
    }
    if 0 < progress.lost.requests {
        caveats.push(format!(
            "{} calls of models were cut off; they are counted with the most that they may have \
             cost, up to {}.",
            progress.lost.requests,
            dollars(progress.lost.cost.0)
        ));
    }
    if run.kernels.iter().any(|it| it.outcome == Outcome::Fault) {
        caveats.push("Some kernels could not be judged, which is a fault of autocomp.".to_owned());
    }
    caveats
}
