//! What a step changed: lines of the source, and figures of the profile.

use autocomp_core::{Evaluation, Unit};
use serde::Serialize;
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline, group_diff_ops};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Returns how many times as fast something is, as people read it: near 1 with a third digit,
/// since two would not tell which of both is faster, and below a tenth with two digits that are
/// not zero.
#[must_use]
pub fn times(factor: f64) -> String {
    if 0.0 < factor && factor < 0.1 {
        let place = (-factor.log10().floor()).min(11.0) as usize;
        format!("{factor:.*}", place + 1)
    } else if factor != 1.0 && (0.95..1.05).contains(&factor) {
        format!("{factor:.3}")
    } else {
        format!("{factor:.2}")
    }
}

/// Unchanged lines shown around changed ones.
pub const CONTEXT: usize = 3;
/// Longest time that is spent on looking for the smallest difference; a larger one that is
/// found then is right all the same.
const MOST_TIME: Duration = Duration::from_secs(2);

/// What a line of a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// In both texts.
    Same,
    /// Only in the first.
    Removed,
    /// Only in the second.
    Added,
    /// Stands for lines that are left out.
    Gap,
}

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is.
    pub kind: LineKind,
    /// Its number in the first text, from 1.
    pub old: Option<usize>,
    /// Its number in the second text, from 1.
    pub new: Option<usize>,
    /// The text, without its line end.
    pub text: String,
}

impl Line {
    /// Returns the sign that it begins with in a unified difference.
    #[must_use]
    pub fn sign(&self) -> char {
        match self.kind {
            LineKind::Same => ' ',
            LineKind::Removed => '-',
            LineKind::Added => '+',
            LineKind::Gap => '@',
        }
    }
}

/// Returns the difference of two texts by lines; `context` unchanged lines stay around
/// changed ones, all of them if there is no number.
///
/// Lines that differ in white space alone count as equal and are shown as in the second
/// text: whoever wraps a loop around a kernel indents all of it. Where the language gives
/// the beginning of a line a meaning, `meaningful_indentation` keeps that apart.
#[must_use]
pub fn difference(
    old: &str,
    new: &str,
    meaningful_indentation: bool,
    context: Option<usize>,
) -> Vec<Line> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let bare = |lines: &[&str]| -> Vec<String> {
        let lines = lines.iter().map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_indented = meaningful_indentation && !words.is_empty();
            let indentation = line.len() - line.trim_start().len();
            let kept = if is_indented {
                &line[..indentation]
            } else {
                ""
            };
            kept.to_owned() + &words.join(" ")
        });
        lines.collect()
    };
    let deadline = Instant::now() + MOST_TIME;
    let ops =
        capture_diff_slices_deadline(Algorithm::Myers, &bare(&old), &bare(&new), Some(deadline));
    let groups = match context {
        Some(context) => group_diff_ops(ops, context),
        None => vec![ops],
    };
    let mut lines = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        let begins_late = group.first().is_some_and(|op| 0 < op.old_range().start);
        if 0 < place || (begins_late && context.is_some()) {
            let at = group.first().map_or(0, |op| op.new_range().start);
            lines.push(Line {
                kind: LineKind::Gap,
                old: None,
                new: None,
                text: format!("line {}", at + 1),
            });
        }
        for op in group {
            let (_, before, after) = op.as_tag_tuple();
            if op.tag() == DiffTag::Equal {
                let pairs = before.zip(after);
                lines
                    .extend(pairs.map(|(was, is)| line(LineKind::Same, Some(was), Some(is), &new)));
                continue;
            }
            lines.extend(before.map(|was| line(LineKind::Removed, Some(was), None, &old)));
            lines.extend(after.map(|is| line(LineKind::Added, None, Some(is), &new)));
        }
    }
    lines
}

fn line(kind: LineKind, old: Option<usize>, new: Option<usize>, texts: &[&str]) -> Line {
    let text = new.or(old).and_then(|idx| texts.get(idx)).copied();
    Line {
        kind,
        old: old.map(|idx| idx + 1),
        new: new.map(|idx| idx + 1),
        text: text.unwrap_or_default().to_owned(),
    }
}

/// A figure of the profile that a step changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureChange {
    /// What it counts, in words.
    pub name: String,
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
    /// Percent of the cost before and after, if it is counted in the unit of the cost.
    pub shares: Option<(f64, f64)>,
}

impl FigureChange {
    /// Returns it as people read it: `bank conflict 27 % → 0 %`.
    #[must_use]
    pub fn text(&self) -> String {
        match self.shares {
            Some((before, after)) => {
                format!("{} {} → {}", self.name, percent(before), percent(after))
            }
            None => format!(
                "{} {} → {}",
                self.name,
                short(self.before),
                short(self.after)
            ),
        }
    }
}

/// Returns a share with as many digits as it is worth.
fn percent(share: f64) -> String {
    if share == 0.0 || 9.95 <= share {
        format!("{share:.0} %")
    } else {
        format!("{share:.1} %")
    }
}

/// Returns a number with three digits and a unit prefix.
#[must_use]
pub fn short(value: f64) -> String {
    let (scaled, prefix) = match value.abs() {
        it if 1e9 <= it => (value / 1e9, " G"),
        it if 1e6 <= it => (value / 1e6, " M"),
        it if 1e4 <= it => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        it if it.fract() == 0.0 && prefix.is_empty() => 0,
        it if 100.0 <= it => 0,
        it if 10.0 <= it => 1,
        _ => 2,
    };
    format!("{scaled:.digits$}{prefix}")
}

/// Returns the figures that changed most from one kernel to another, at most `most`:
/// those in the unit of the cost first, by how much, then others that changed by a fifth
/// or more, by what factor.
///
/// Figures that are more than half of the cost in both (as the time during which anything
/// at all goes on) say little and are left out.
#[must_use]
pub fn figure_changes(before: &Evaluation, after: &Evaluation, most: usize) -> Vec<FigureChange> {
    let (Some(old), Some(new)) = (&before.feedback, &after.feedback) else {
        return Vec::new();
    };
    let (Some(old_cost), Some(new_cost)) = (before.cost(), after.cost()) else {
        return Vec::new();
    };
    let names: BTreeSet<&String> = old.counters.keys().chain(new.counters.keys()).collect();
    let (mut timed, mut counted) = (Vec::new(), Vec::new());
    for name in names {
        let of = |counters: &std::collections::BTreeMap<String, f64>| {
            counters.get(name).copied().unwrap_or(0.0)
        };
        let (was, is) = (of(&old.counters), of(&new.counters));
        if let Some(words) = in_unit(name, new_cost.unit) {
            let share = |value: f64, cost: u64| 100.0 * value / cost.max(1) as f64;
            let shares = (share(was, old_cost.value), share(is, new_cost.value));
            let is_everything = 50.0 < shares.0 && 50.0 < shares.1;
            if 1.0 <= (shares.0 - shares.1).abs() && !is_everything {
                timed.push(FigureChange {
                    name: words,
                    before: was,
                    after: is,
                    shares: Some(shares),
                });
            }
        } else if was != is && !(0.8..=1.25).contains(&(is / was)) {
            counted.push(FigureChange {
                name: name.replace('_', " "),
                before: was,
                after: is,
                shares: None,
            });
        }
    }
    timed.sort_by(|a, b| {
        (b.before - b.after)
            .abs()
            .total_cmp(&(a.before - a.after).abs())
    });
    let factor = |it: &FigureChange| (it.after.max(1.0) / it.before.max(1.0)).ln().abs();
    counted.sort_by(|a, b| factor(b).total_cmp(&factor(a)));
    timed.truncate(most.div_ceil(2));
    counted.truncate(most - timed.len());
    timed.extend(counted);
    timed
}

/// Returns a figure's name in words without its unit, if that is the cost's.
fn in_unit(name: &str, unit: Unit) -> Option<String> {
    let bare = name.strip_suffix(unit.name())?.strip_suffix('_')?;
    Some(bare.replace('_', " "))
}
