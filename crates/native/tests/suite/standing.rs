//! References that take long to start: the process that is kept for them.

use crate::scripts::{HONEST, numbers, problem, script};
use autocomp_catalog::Problem;
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_native::Script;
use std::path::Path;

/// Takes as long to start as a package that is large.
const SLOW: &str = "import os, time\nwhile time.process_time() < 0.6: pass\n";

/// A reference that starts slowly, with `more` before what it returns.
fn slow(more: &str) -> Problem {
    problem(&format!(
        "{SLOW}n = 0\n{}",
        HONEST.replace("    return", &format!("    {more}\n    return"))
    ))
}

/// Returns a case whose first element is `first`; another one for each of `idx`.
fn case(problem: &Problem, first: f64, idx: usize) -> Case {
    let drawn = (0..).map(|seed| Case::draw(problem, &problem.input_sets[0], Seed(seed)));
    let mut fitting = drawn.filter(|it| numbers(problem, &it.before)[0] == first);
    fitting.nth(idx).expect("there is no end of seeds")
}

fn answered(script: &Script, problem: &Problem, mut case: Case) -> Result<Vec<f64>, String> {
    match script.answer(problem, &mut [&mut case]) {
        Ok(()) => Ok(numbers(problem, &case.after)),
        Err(EvalError::Input { message, .. }) => Err(message),
        Err(other) => Err(other.to_string()),
    }
}

/// Returns what is right.
fn right(problem: &Problem, case: &Case) -> Vec<f64> {
    let given = numbers(problem, &case.before);
    let (x, mask) = given.split_at(6);
    let products = x.iter().enumerate().map(|(at, x)| 0.5 * x * mask[at % 3]);
    products.chain([mask.iter().sum()]).collect()
}

fn is_running(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|it| !it.contains(") Z "))
}

#[test]
fn one_process_answers_what_is_asked_for_later() {
    let cache = tempfile::tempdir().expect("a folder");
    // It is confined as the others are, and what it prints is no answer.
    let more = "print('\\0' * 99)
    for name in ('/etc/passwd', '/proc/self/environ'):
        try: open(name); y[0][0] += 9
        except OSError: pass
    try: os.fork(); y = None
    except OSError: pass";
    let problem = slow(more);
    let script = script(&problem, cache.path());
    let mut processes = Vec::new();
    for idx in 0..6 {
        let case = case(&problem, 3.0, idx);
        assert_eq!(
            answered(&script, &problem, case.clone()),
            Ok(right(&problem, &case)),
            "{idx}"
        );
        processes.push(script.standing_process());
    }
    // The first is asked for twice, of processes of its own.
    assert_eq!(processes[0], None);
    let process = processes[1].expect("a process");
    assert_eq!(processes[1..], [Some(process); 5]);
    assert!(is_running(process));
    drop(script);
    assert!(!is_running(process));
}

#[test]
fn none_is_kept_where_starting_takes_no_time() {
    let cache = tempfile::tempdir().expect("a folder");
    let quick = problem(HONEST);
    let busy = problem(&HONEST.replace(
        "    y =",
        "    import time\n    end = time.process_time() + 1\n    while time.process_time() < end: pass\n    y =",
    ));
    for problem in [quick, busy] {
        let script = script(&problem, cache.path());
        for idx in 0..2 {
            let case = case(&problem, 3.0, idx);
            let wanted = right(&problem, &case);
            assert_eq!(answered(&script, &problem, case), Ok(wanted));
        }
        assert_eq!(script.standing_process(), None);
    }
}

/// Whatever becomes of the process that is kept, what is wrong is told, and the next is answered.
#[test]
fn a_process_that_hangs_or_dies_is_replaced() {
    let cases = [
        ("while x[0][0] < 0: pass", "does not end within 2 s"),
        ("if x[0][0] < 0: os._exit(0)", "ended without an answer"),
        ("if x[0][0] < 0: 1 / 0", "ZeroDivisionError"),
        ("if x[0][0] < 0: y = [[200, 1]]", "`y` has 1 elements"),
        ("if x[0][0] < 0: y[1][1] = float('nan')", "gives no number"),
    ];
    for (more, wanted) in cases {
        let cache = tempfile::tempdir().expect("a folder");
        let problem = slow(more);
        let path = std::env::var_os("PATH");
        let script = Script::within(&problem, path.as_deref(), cache.path(), 1).expect("Python");
        let mut processes = Vec::new();
        for idx in 0..2 {
            let good = case(&problem, 3.0, idx);
            let wanted = right(&problem, &good);
            assert_eq!(answered(&script, &problem, good), Ok(wanted), "{more}");
            processes.push(script.standing_process());
        }
        let first = processes[1].expect("a process");
        let said = answered(&script, &problem, case(&problem, -1.5, 0)).expect_err(more);
        assert!(said.contains(wanted), "{more}: {said}");
        assert!(!is_running(first), "{more}");
        let good = case(&problem, 3.0, 2);
        let wanted = right(&problem, &good);
        assert_eq!(answered(&script, &problem, good), Ok(wanted), "{more}");
        assert!(script.standing_process().is_some_and(|it| it != first));
    }
}

#[test]
fn a_process_that_is_killed_from_outside_is_replaced() {
    let cache = tempfile::tempdir().expect("a folder");
    let problem = slow("pass");
    let script = script(&problem, cache.path());
    for idx in 0..4 {
        let case = case(&problem, 3.0, idx);
        let wanted = right(&problem, &case);
        assert_eq!(answered(&script, &problem, case), Ok(wanted));
        if let Some(process) = script.standing_process() {
            let pid = rustix::process::Pid::from_raw(process).expect("a process");
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
        }
    }
}

/// What begins to answer otherwise after calls that were right is found by what was asked before.
#[test]
fn a_process_that_keeps_something_contradicts_itself() {
    let cache = tempfile::tempdir().expect("a folder");
    let problem = slow("global n; n += 1; y[0][0] += n > 6");
    let script = script(&problem, cache.path());
    let mut told = Vec::new();
    for idx in 0..6 {
        told.push(answered(&script, &problem, case(&problem, 3.0, idx)));
    }
    // One case and the one from before at a time: the seventh call is the fourth of these.
    let first_wrong = told.iter().position(Result::is_err);
    assert_eq!(first_wrong, Some(4), "{told:?}");
    let said = told[4].as_ref().expect_err("it counts");
    assert!(said.contains("contradicts itself"), "{said}");
}

/// Kept by whom the process answers, not by who is asked.
#[test]
fn what_is_kept_is_no_reason_to_start_one() {
    let cache = tempfile::tempdir().expect("a folder");
    let problem = slow("pass");
    let ask = |cache: &Path| {
        let script = script(&problem, cache);
        let case = case(&problem, 3.0, 0);
        let wanted = right(&problem, &case);
        assert_eq!(answered(&script, &problem, case), Ok(wanted));
        script.standing_process()
    };
    assert_eq!(ask(cache.path()), None);
    assert_eq!(ask(cache.path()), None);
}
