//! What scripts make of a kernel.

use crate::workbench::Workbench;
use autocomp_core::Rewriter;
use autocomp_eval::Evaluator;

/// Prints the cycles of a kernel of a problem, and those after each of the scripts.
pub fn report(parts: &[String]) {
    let [problem, kernel, scripts @ ..] = parts else {
        println!("say which: PROBLEM KERNEL SCRIPT…");
        return;
    };
    let bench = Workbench::open(problem);
    let source = bench.problem.kernel(kernel).unwrap();
    let told = |name: &str, source: &str| {
        let evaluation = bench.evaluator.evaluate(source).unwrap();
        match evaluation.cost() {
            Some(cost) => println!("{cost}  {name}"),
            None => println!("{:?}  {name}", evaluation.outcome),
        }
    };
    told(kernel, source);
    for script in scripts {
        let payload = bench.rewriter.of_script(source, script);
        match payload.and_then(|it| bench.rewriter.implement(source, &it, 0)) {
            Ok(text) => told(script, &text),
            Err(error) => println!("{error}  {script}"),
        }
    }
}
