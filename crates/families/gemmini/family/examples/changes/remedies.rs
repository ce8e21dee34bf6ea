//! Does what profiles say to do gain what they promise?

use crate::workbench::{Drafts, Workbench, suites};
use autocomp_eval::Evaluator;
use autocomp_gemmini_family::Explained;
use autocomp_gemmini_family::profile::{Cause, Remedy};
use autocomp_gemmini_rewriter::Proposal;

/// Schedules of a kernel that are tried.
const SCHEDULES: usize = 2;
/// Share of what is promised that must be gained.
const ENOUGH: f64 = 0.5;

/// Followed how, and the cycles then.
type Followed = Option<(String, u64)>;

/// Prints the table, and how many remedies keep what they promise.
pub fn report(parts: &[String]) {
    println!(
        "| problem | kernel | cycles | against | promised | a schedule anew | by hand | kept |"
    );
    println!("| --- | --- | ---: | --- | ---: | --- | --- | --- |");
    let (mut kept, mut all, mut kernels) = (0, 0, 0);
    let mut drafts = Drafts::default();
    for suite in suites(parts) {
        for problem in &suite.problems {
            let bench = Workbench::open(problem);
            for kernel in &suite.kernels {
                let Ok(source) = bench.problem.kernel(kernel) else {
                    continue;
                };
                let explained = bench.evaluator.explain(source).unwrap();
                let Explained::Right { profile, .. } = explained else {
                    panic!("{kernel} of {problem} is wrong");
                };
                kernels += 1;
                let cycles = profile.cycles;
                let Some(remedy) = &profile.remedy else {
                    println!("| {problem} | {kernel} | {cycles} | | | | | |");
                    continue;
                };
                let schedule = schedule(&bench, source, remedy, &mut drafts);
                let hand = by_hand(&bench, kernel, remedy.cause, schedule.is_some());
                let gain = |followed: &Followed| {
                    followed
                        .as_ref()
                        .map_or(0, |(_, now)| cycles.saturating_sub(*now))
                };
                let best = [&schedule, &hand].map(gain).into_iter().max();
                let is_kept = ENOUGH * remedy.gain as f64 <= best.unwrap_or(0) as f64;
                all += 1;
                kept += u32::from(is_kept);
                let percent = |gain: f64| format!("{:.1} %", 100.0 * gain / cycles as f64);
                let told = |followed: &Followed| {
                    followed.as_ref().map_or_else(String::new, |(how, now)| {
                        format!("{} {how}", percent(cycles as f64 - *now as f64))
                    })
                };
                println!(
                    "| {problem} | {kernel} | {cycles} | {} | {} | {} | {} | {} |",
                    remedy.cause.name(),
                    percent(remedy.gain as f64),
                    told(&schedule),
                    told(&hand),
                    if is_kept { "yes" } else { "no" },
                );
            }
        }
    }
    println!("\n{kernels} kernels, {all} remedies, {kept} gain at least half of what they promise");
    drafts.print();
}

/// Returns the best of the first schedules, if they carry out a remedy.
fn schedule(bench: &Workbench, source: &str, remedy: &Remedy, drafts: &mut Drafts) -> Followed {
    let carries_out = |it: &Proposal| {
        let mut items = it.menu_items.iter();
        items.any(|item| remedy.menu.iter().any(|it| it == item))
    };
    let proposals = bench.rewriter.proposals(source).unwrap_or_default();
    let fitting = proposals.iter().filter(|it| carries_out(it));
    let tried = fitting.filter_map(|it| {
        let text = bench.rewriter.offered(source, &it.parameters).ok()?;
        Some(bench.evaluator.evaluate(&text).unwrap())
    });
    let cycles = tried
        .take(SCHEDULES)
        .filter_map(|it| drafts.count(&it))
        .min()?;
    Some(("reschedule".to_owned(), cycles))
}

/// Returns the kernel of the problem in which somebody has done what can be done about it:
/// for the library's call that with the same loop unit and other extents, for operands that
/// leave most of the array without use the expert's, whose operands fill it, and for a
/// baseline that the rewriter has nothing for the expert's, too, which does more than that.
fn by_hand(bench: &Workbench, kernel: &str, cause: Cause, is_scheduled: bool) -> Followed {
    let name = match kernel {
        _ if cause == Cause::Mesh => "expert",
        "library" => "fsm",
        "baseline" if !is_scheduled => "expert",
        _ => return None,
    };
    let source = bench.problem.kernel(name).ok()?;
    let cost = bench.evaluator.evaluate(source).unwrap().cost()?;
    Some((name.to_owned(), cost.value))
}
