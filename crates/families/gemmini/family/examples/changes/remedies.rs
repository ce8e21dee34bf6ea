//! Does what profiles say to do gain what they promise?

use crate::workbench::{Drafts, Workbench, suites};
use autocomp_eval::Evaluator;
use autocomp_gemmini_family::Explained;
use autocomp_gemmini_family::profile::{Cause, Remedy};
use autocomp_gemmini_rewriter::Family;

/// Single changes of a kernel that are tried.
const SINGLE: usize = 6;
/// Schedules of a kernel that are tried.
const SCHEDULES: usize = 2;
/// Share of what is promised that must be gained.
const ENOUGH: f64 = 0.5;

/// Followed how, and the cycles then.
type Followed = Option<(String, u64)>;

/// Prints the table, and how many remedies keep what they promise.
pub fn report(parts: &[String]) {
    println!(
        "| problem | kernel | cycles | against | promised | a single change | a schedule anew | by hand | kept |"
    );
    println!("| --- | --- | ---: | --- | ---: | --- | --- | --- | --- |");
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
                    println!("| {problem} | {kernel} | {cycles} | | | | | | |");
                    continue;
                };
                let single = single(&bench, source, remedy, &mut drafts);
                let schedule = schedule(&bench, source, remedy, &mut drafts);
                let hand = by_hand(&bench, kernel, remedy.cause, &[&single, &schedule]);
                let gain = |followed: &Followed| {
                    followed
                        .as_ref()
                        .map_or(0, |(_, now)| cycles.saturating_sub(*now))
                };
                let best = [&single, &schedule, &hand].map(gain).into_iter().max();
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
                    "| {problem} | {kernel} | {cycles} | {} | {} | {} | {} | {} | {} |",
                    remedy.cause.name(),
                    percent(remedy.gain as f64),
                    told(&single),
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

fn carries_out(family: &Family, remedy: &Remedy) -> bool {
    let items = family.menu_items.iter();
    items
        .into_iter()
        .any(|item| remedy.menu.iter().any(|it| it == item))
}

/// Returns the best of the single changes that carry out a remedy.
fn single(bench: &Workbench, source: &str, remedy: &Remedy, drafts: &mut Drafts) -> Followed {
    let families = bench.families(source).into_iter();
    let fitting = families.filter(|it| !it.is_schedule && carries_out(it, remedy));
    best(bench, source, fitting, SINGLE, drafts)
}

/// Returns the best of the schedules anew, if that carries out a remedy.
fn schedule(bench: &Workbench, source: &str, remedy: &Remedy, drafts: &mut Drafts) -> Followed {
    let families = bench.families(source).into_iter();
    let fitting = families.filter(|it| it.is_schedule && carries_out(it, remedy));
    best(bench, source, fitting, SCHEDULES, drafts)
}

fn best(
    bench: &Workbench,
    source: &str,
    families: impl Iterator<Item = Family>,
    most: usize,
    drafts: &mut Drafts,
) -> Followed {
    let variants = families.filter_map(|family| family.variants.into_iter().next());
    let tried = variants.filter_map(|variant| {
        let evaluation = bench.tried(source, &variant.steps)?;
        let names = variant.steps.iter().map(|it| it.transformation.as_str());
        Some((names.collect::<Vec<_>>().join(" + "), evaluation))
    });
    tried
        .take(most)
        .filter_map(|(how, evaluation)| Some((how, drafts.count(&evaluation)?)))
        .min_by_key(|(_, cycles)| *cycles)
}

/// Returns the kernel of the problem in which somebody has done what can be done about it:
/// for the library's call that with the same loop unit and other extents, for operands that
/// leave most of the array without use the expert's, whose operands fill it, and for a
/// baseline that the rewriter has nothing for the expert's, too, which does more than that.
fn by_hand(bench: &Workbench, kernel: &str, cause: Cause, followed: &[&Followed]) -> Followed {
    let name = match kernel {
        _ if cause == Cause::Mesh => "expert",
        "library" => "fsm",
        "baseline" if followed.iter().all(|it| it.is_none()) => "expert",
        _ => return None,
    };
    let source = bench.problem.kernel(name).ok()?;
    let cost = bench.evaluator.evaluate(source).unwrap().cost()?;
    Some((name.to_owned(), cost.value))
}
