//! Programs of evolutionary searches, each made from another one: checkpoints of OpenEvolve, and
//! databases of ShinkaEvolve.

use crate::folder::{entries, last_lines, read, size};
use crate::tree::{Node, Tree};
use crate::{ImportError, OldRun, python_json};
use autocomp_store::{Cell, StoreError, read_table};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Programs that are read at most.
const MOST_PROGRAMS: usize = 20_000;

/// Programs that are named at most where something is told of several.
const MOST_NAMED: usize = 5;

/// A program.
#[derive(Debug, Default)]
struct Program {
    id: String,
    code: String,
    parent: Option<String>,
    /// The iteration that made it.
    iteration: u32,
    /// What it was measured to be.
    metrics: BTreeMap<String, f64>,
    /// Whether it is right, where that is told.
    is_right: Option<bool>,
    /// What was changed, in words.
    plan: Option<String>,
    /// What was said of it.
    feedback: String,
    model: Option<String>,
}

/// Metrics of OpenEvolve's evaluators that are 1 for a right program and less for others. It has
/// no field for that: each evaluator has names of its own.
const RIGHT: [&str; 11] = [
    "correct",
    "correctness",
    "correctness_score",
    "is_correct",
    "is_valid",
    "passed",
    "runs_successfully",
    "success",
    "tests_passed_rate",
    "valid",
    "validity",
];
/// Metrics that count, of which a right program has as many of the first as of the second.
const SHARES: [(&str, &str); 3] = [
    ("tests_passed", "tests_total"),
    ("passed_tests", "total_tests"),
    ("num_passed", "num_tests"),
];
/// Metrics that are 0 for a right program.
const FAILED: [&str; 4] = ["error", "failed", "invalid", "timeout"];

const UNTOLD: &str = "nothing says which programs are right: all that have a cost count as right";

/// Reads a checkpoint of OpenEvolve: a folder `checkpoint_N`, or one with such folders (of
/// which the last counts), or with `checkpoints`. `metric` is what a program costs, less being
/// better; `right` a metric that is 1 for right programs and less for others, if one is named:
/// else those that usually tell it count.
///
/// # Errors
/// There is no checkpoint, or a file of it is unusable.
pub fn read_openevolve(
    path: &Path,
    metric: &str,
    right: Option<&str>,
) -> Result<OldRun, ImportError> {
    let folder = checkpoint(path)?;
    let mut programs = Vec::new();
    let mut unmapped = Vec::new();
    let found = entries(&folder.join("programs"))?;
    for (name, file) in &found {
        if !name.ends_with(".json") {
            unmapped.push(format!("programs/{name}: not read"));
            continue;
        }
        match openevolve_program(name, file, right) {
            Ok(program) => programs.push(program),
            Err(why) => unmapped.push(format!("programs/{name}: {why}")),
        }
        check_count(&folder, programs.len())?;
    }
    unmapped.push("islands, features, prompts and the archive: not read".to_owned());
    if let Some(right) = right
        && !programs.iter().any(|it| it.metrics.contains_key(right))
    {
        return Err(ImportError::new(
            &folder,
            format!("no program has the metric `{right}`, which is to say what is right"),
        ));
    }
    if programs.iter().all(|it| it.is_right.is_none()) {
        unmapped.push(format!("{UNTOLD} (`--right` names such a metric)"));
    }
    run_of(&folder, programs, metric, unmapped)
}

/// Reads the file of a program, or says why it cannot be taken.
fn openevolve_program(name: &str, file: &Path, right: Option<&str>) -> Result<Program, String> {
    let content = read(file).map_err(|error| error.message)?;
    let value = python_json::value(&content).map_err(|error| error.to_string())?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let iteration = value.get("iteration_found").and_then(Value::as_u64);
    let plan = text("changes_description").or_else(|| {
        let changes = value.get("metadata")?.get("changes")?;
        changes.as_str().map(str::to_owned)
    });
    let metrics = metrics(value.get("metrics"));
    Ok(Program {
        id: text("id").unwrap_or_else(|| name.trim_end_matches(".json").to_owned()),
        code: text("code").ok_or("the program has no code")?,
        parent: text("parent_id"),
        iteration: u32::try_from(iteration.unwrap_or(0)).unwrap_or(u32::MAX),
        is_right: is_right(&metrics, right),
        metrics,
        plan: plan.filter(|it| !it.trim().is_empty() && it != "empty"),
        feedback: text("artifacts_json").unwrap_or_default(),
        model: None,
    })
}

/// Reads a database of ShinkaEvolve, or the one in a folder. `metric` is what a program costs,
/// less being better.
///
/// # Errors
/// There is no database, or it is unusable.
pub fn read_shinka(path: &Path, metric: &str) -> Result<OldRun, ImportError> {
    let path = match path.is_dir() {
        false => path.to_owned(),
        true => entries(path)?
            .into_iter()
            .filter(|(name, _)| name.ends_with(".sqlite") || name.ends_with(".db"))
            // Beside the programs lie prompts.
            .min_by_key(|(name, _)| (name != "programs.sqlite", name.contains("prompts")))
            .map(|it| it.1)
            .ok_or_else(|| ImportError::new(path, "it has no database (`*.sqlite`, `*.db`)"))?,
    };
    // A pipe would be waited for.
    size(&path)?;
    let columns = [
        "id",
        "code",
        "parent_id",
        "generation",
        "public_metrics",
        "private_metrics",
        "combined_score",
        "correct",
        "text_feedback",
        "metadata",
    ];
    let order = ("programs", ["generation", "timestamp", "id"].as_slice());
    let rows =
        read_table(&path, order, &columns, MOST_PROGRAMS + 1).map_err(|error| match error {
            StoreError::Corrupt { reason, .. } => {
                ImportError::new(&path, format!("it is no database, or damaged: {reason}"))
            }
            error => ImportError::new(&path, error.to_string()),
        })?;
    check_count(&path, rows.len())?;
    let is_told = rows.iter().any(|row| matches!(row[7], Cell::Number(_)));
    let mut programs = Vec::new();
    let mut n_both = 0;
    let mut damaged = Vec::new();
    for row in rows {
        let text = |idx: usize| match &row[idx] {
            Cell::Text(text) => Some(text.clone()),
            _ => None,
        };
        let number = |idx: usize| match row[idx] {
            Cell::Number(number) => Some(number),
            _ => None,
        };
        let object = |idx: usize| python_json::value(&text(idx)?).ok();
        let mut measured = metrics(object(5).as_ref());
        let public = metrics(object(4).as_ref());
        // What is no JSON, and what is no number there, is no cost.
        let is_damaged = |idx: usize| {
            let is_written = text(idx).is_some_and(|it| !it.trim().is_empty());
            match object(idx) {
                None => is_written,
                Some(it) => it.get(metric).is_some(),
            }
        };
        let is_measured = measured.contains_key(metric) || public.contains_key(metric);
        if !is_measured && (is_damaged(4) || is_damaged(5)) {
            damaged.push(text(0).unwrap_or_default());
        }
        n_both += usize::from(match (measured.get(metric), public.get(metric)) {
            (Some(private), Some(public)) => private != public,
            _ => false,
        });
        measured.extend(public);
        measured.extend(number(6).map(|it| ("combined_score".to_owned(), it)));
        let metadata = object(9).unwrap_or_default();
        let of_metadata = |name: &str| metadata.get(name)?.as_str().map(str::to_owned);
        programs.push(Program {
            id: text(0).unwrap_or_default(),
            code: text(1).unwrap_or_default(),
            parent: text(2),
            iteration: number(3).unwrap_or(0.0).clamp(0.0, 1e9) as u32,
            metrics: measured,
            is_right: is_told.then(|| number(7).is_some_and(|it| it != 0.0)),
            plan: of_metadata("patch_description").or_else(|| of_metadata("patch_name")),
            // Of what stopped before it was measured only this is known.
            feedback: text(8)
                .filter(|it| !it.trim().is_empty())
                .unwrap_or_else(|| {
                    let log = |name| of_metadata(name).unwrap_or_default();
                    last_lines(&log("stderr_log"), "")
                }),
            model: of_metadata("model_name").or_else(|| {
                let answer = metadata.get("llm_result")?.get("model_name")?;
                answer.as_str().map(str::to_owned)
            }),
        });
    }
    let mut unmapped = vec![
        "inspirations, islands, the archive, embeddings, prompts, logs, costs and attempts without a program: not read"
            .to_owned(),
    ];
    if !is_told {
        unmapped.push(UNTOLD.to_owned());
    }
    if !damaged.is_empty() {
        let names: Vec<&str> = damaged
            .iter()
            .take(MOST_NAMED)
            .map(String::as_str)
            .collect();
        let further = if names.len() < damaged.len() {
            ", …"
        } else {
            ""
        };
        unmapped.push(format!(
            "programs whose metrics are damaged, without a cost ({}): {}{further}",
            damaged.len(),
            names.join(", "),
        ));
    }
    if 0 < n_both {
        unmapped.push(format!(
            "the private metric `{metric}` of {n_both} programs whose public one is another"
        ));
    }
    run_of(&path, programs, metric, unmapped)
}

/// Returns whether a program is right by its metrics, if one of them tells.
fn is_right(metrics: &BTreeMap<String, f64>, right: Option<&str>) -> Option<bool> {
    if let Some(right) = right {
        // What has failed early has no such metric.
        return Some(metrics.get(right).is_some_and(|it| 1.0 <= *it));
    }
    let told = |names: &[&str], is_so: fn(f64) -> bool| -> Vec<bool> {
        let told = names.iter().filter_map(|it| metrics.get(*it));
        told.map(|it| is_so(*it)).collect()
    };
    let mut all = told(&RIGHT, |it| 1.0 <= it);
    all.extend(told(&FAILED, |it| it == 0.0));
    let shares = SHARES.iter();
    all.extend(shares.filter_map(|(some, all)| Some(metrics.get(*all)? <= metrics.get(*some)?)));
    (!all.is_empty()).then(|| all.iter().all(|it| *it))
}

/// Returns the folder of the last checkpoint.
fn checkpoint(path: &Path) -> Result<PathBuf, ImportError> {
    let is_one = |path: &Path| path.join("programs").is_dir();
    if is_one(path) {
        return Ok(path.to_owned());
    }
    let below = path.join("checkpoints");
    let folder = if below.is_dir() {
        below
    } else {
        path.to_owned()
    };
    let number = |name: &str| name.strip_prefix("checkpoint_")?.parse::<u64>().ok();
    let found = entries(&folder)?.into_iter();
    let found = found.filter_map(|(name, path)| Some((number(&name)?, path)));
    let last = found.filter(|it| is_one(&it.1)).max();
    last.map(|it| it.1).ok_or_else(|| {
        ImportError::new(
            path,
            "it has neither `programs` nor checkpoints with such a folder",
        )
    })
}

fn check_count(path: &Path, count: usize) -> Result<(), ImportError> {
    match MOST_PROGRAMS < count {
        true => Err(ImportError::new(
            path,
            format!("it has more than {MOST_PROGRAMS} programs"),
        )),
        false => Ok(()),
    }
}

/// Returns the numbers of an object; `true` is 1.
fn metrics(value: Option<&Value>) -> BTreeMap<String, f64> {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    let numbers = fields.filter_map(|(name, value)| {
        let number = value.as_f64().or(value.as_bool().map(f64::from))?;
        Some((name.clone(), number))
    });
    numbers.filter(|it| it.1.is_finite()).collect()
}

/// Makes a run of programs: parents first, all from one beginning.
fn run_of(
    path: &Path,
    mut programs: Vec<Program>,
    metric: &str,
    mut unmapped: Vec<String>,
) -> Result<OldRun, ImportError> {
    if metric == "combined_score" {
        return Err(ImportError::new(
            path,
            "more of `combined_score` is better, so it is no cost; name a metric that is one",
        ));
    }
    let n_all = programs.len();
    programs.retain(|it| !it.code.trim().is_empty());
    if programs.len() < n_all {
        let n_empty = n_all - programs.len();
        unmapped.push(format!("{n_empty} programs without code"));
    }
    let known: BTreeSet<&String> = programs.iter().flat_map(|it| it.metrics.keys()).collect();
    if programs.is_empty() {
        return Err(ImportError::new(path, "it has no program"));
    }
    if !known.contains(&metric.to_owned()) {
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        return Err(ImportError::new(
            path,
            format!(
                "no program has the metric `{metric}`; there are {}",
                known.join(", ")
            ),
        ));
    }
    let mut run = OldRun {
        unmapped,
        ..OldRun::default()
    };
    let order = ordered(&programs, &mut run.unmapped);
    let mut tree = Tree::default();
    let mut nodes: HashMap<&str, usize> = HashMap::new();
    let mut sources: HashMap<&str, usize> = HashMap::new();
    let mut n_equal = 0;
    for idx in order {
        let program = &programs[idx];
        if let Some(known) = sources.get(program.code.as_str()) {
            nodes.insert(&program.id, *known);
            n_equal += 1;
            let node = &mut tree.nodes[*known];
            node.score = node.score.or(program.metrics.get(metric).copied());
            if program.is_right == Some(false) && !node.is_wrong {
                node.is_wrong = true;
                node.failure = Some(program.feedback.clone());
            }
            continue;
        }
        let number = tree.nodes.len();
        let parent = program
            .parent
            .as_deref()
            .and_then(|it| nodes.get(it).copied());
        // What was made from nothing that is left is shown as made from the beginning.
        let parent = parent.or((number != 0).then_some(0));
        let after = parent.map_or(0, |it| tree.nodes[it].iteration + 1);
        let is_wrong = program.is_right == Some(false);
        let score = program.metrics.get(metric).copied();
        tree.nodes.push(Node {
            is_wrong,
            is_unbuilt: false,
            parent,
            plan: (number != 0).then(|| program.plan.clone().unwrap_or_default()),
            code: program.code.clone(),
            score,
            failure: (is_wrong || score.is_none()).then(|| program.feedback.clone()),
            planner: program.model.clone(),
            coder: program.model.clone(),
            iteration: if number == 0 {
                0
            } else {
                program.iteration.max(after)
            },
            feedback: program.feedback.clone(),
        });
        nodes.insert(&program.id, number);
        sources.insert(&program.code, number);
    }
    if 0 < n_equal {
        run.unmapped
            .push(format!("{n_equal} programs with the code of another one"));
    }
    close_gaps(&mut tree);
    run.tree = tree;
    let others: BTreeSet<&str> = programs
        .iter()
        .flat_map(|it| it.metrics.keys())
        .map(String::as_str)
        .filter(|it| *it != metric)
        .collect();
    if !others.is_empty() {
        let others: Vec<&str> = others.into_iter().collect();
        run.unmapped
            .push(format!("other metrics: {}", others.join(", ")));
    }
    Ok(run)
}

/// Returns the programs with parents before children, else by iteration and identifier. The
/// first is the earliest that was made from no other and has a cost.
fn ordered(programs: &[Program], unmapped: &mut Vec<String>) -> Vec<usize> {
    let by_id: HashMap<&str, usize> = programs
        .iter()
        .enumerate()
        .map(|(idx, it)| (it.id.as_str(), idx))
        .collect();
    let parent = |idx: usize| {
        let parent = programs[idx].parent.as_deref()?;
        by_id.get(parent).copied().filter(|it| *it != idx)
    };
    // How far each is from what was made from nothing that is left; circles end somewhere.
    let mut n_circles = 0;
    let mut depth: Vec<Option<u32>> = vec![None; programs.len()];
    for idx in 0..programs.len() {
        let mut chain = Vec::new();
        let mut at = Some(idx);
        let mut on_way = BTreeSet::new();
        while let Some(it) = at {
            if depth[it].is_some() {
                break;
            }
            if !on_way.insert(it) {
                n_circles += 1;
                break;
            }
            chain.push(it);
            at = parent(it);
        }
        let first = at.and_then(|it| depth[it]).map_or(0, |it| it + 1);
        for (below, it) in (first..).zip(chain.into_iter().rev()) {
            depth[it] = Some(below);
        }
    }
    let n_lost = (0..programs.len())
        .filter(|idx| programs[*idx].parent.is_some() && parent(*idx).is_none())
        .count();
    if 0 < n_circles {
        unmapped.push(format!(
            "{n_circles} circles of programs that were made from each other, opened somewhere"
        ));
    }
    if 0 < n_lost {
        unmapped.push(format!(
            "{n_lost} programs whose parent is gone, shown as made from the first program"
        ));
    }
    let mut order: Vec<usize> = (0..programs.len()).collect();
    order.sort_by_key(|idx| {
        let it = &programs[*idx];
        (
            depth[*idx],
            it.is_right == Some(false),
            it.iteration,
            &it.id,
        )
    });
    order
}

/// Numbers the iterations from 1 without gaps: islands leave iterations out in which nothing
/// stayed.
fn close_gaps(tree: &mut Tree) {
    let used: BTreeSet<u32> = tree.nodes.iter().map(|it| it.iteration).collect();
    let used: BTreeMap<u32, u32> = used.into_iter().zip(0..).collect();
    for node in &mut tree.nodes {
        node.iteration = used[&node.iteration];
    }
}
