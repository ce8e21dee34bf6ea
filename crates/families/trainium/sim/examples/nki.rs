//! Runs one kernel file: `nki FILE ENTRY INPUTS [--shapes] [--generation N] [--dump FOLDER]`.
//!
//! Prints what the kernel returned or why it failed; with `--dump`, inputs and outputs are
//! written as raw single-precision numbers, to be compared with another implementation.

use std::io::Write as _;

use autocomp_trainium_sim::timing::{Machine, Passes, time_cores};
use autocomp_trainium_sim::{Input, Options, evaluate, parse_inputs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = Options::default();
    let mut dump = None;
    let mut position = 0;
    while position < arguments.len() {
        match arguments[position].as_str() {
            "--shapes" => {
                options.functional = false;
                arguments.remove(position);
            }
            "--generation" => {
                options.generation = arguments.remove(position + 1).parse()?;
                arguments.remove(position);
            }
            "--dump" => {
                dump = Some(arguments.remove(position + 1));
                arguments.remove(position);
            }
            _ => position += 1,
        }
    }
    let [file, entry, inputs] = &arguments[..] else {
        return Err("usage: nki FILE ENTRY INPUTS".into());
    };
    let source = std::fs::read_to_string(file)?;
    let inputs = parse_inputs(inputs, options.functional.then_some(1))?;
    let raw = |name: String, data: &[f32]| -> std::io::Result<()> {
        if let Some(folder) = &dump {
            let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
            std::fs::write(std::path::Path::new(folder).join(name), bytes)?;
        }
        Ok(())
    };
    for (name, input) in &inputs {
        if let Input::Array(array) = input {
            raw(format!("in_{name}.f32"), &array.data)?;
        }
    }
    let start = std::time::Instant::now();
    let mut out = std::io::stdout().lock();
    match evaluate(&source, entry, &inputs, &options) {
        Ok(evaluation) => {
            let seconds = start.elapsed().as_secs_f64();
            let shapes: Vec<_> = evaluation
                .outputs
                .iter()
                .map(|o| format!("{}{:?}", o.dtype.name(), o.shape))
                .collect();
            writeln!(
                out,
                "ok {} instructions, {} steps, {} unwritten, {seconds:.2} s, {}",
                evaluation.trace.len(),
                evaluation.steps,
                evaluation.unwritten,
                shapes.join(" ")
            )?;
            let machine =
                Machine::built_in(["trn1", "trn2", "trn3"][usize::from(options.generation - 2)])?;
            let start = std::time::Instant::now();
            let cores = time_cores(&evaluation, &machine, Passes::of(&evaluation));
            let slowest = cores.slowest;
            let timeline = cores.into_slowest();
            writeln!(
                out,
                "time {:.3} us (scheduled in {:.2} s), {} loads cached, {} bytes spilled, {} merged",
                timeline.latency_ns / 1000.0,
                start.elapsed().as_secs_f64(),
                timeline.cached_loads,
                timeline.spill_bytes,
                timeline.merged
            )?;
            if std::env::var_os("NKI_REPORT").is_some() {
                let trace = evaluation
                    .traces()
                    .nth(slowest)
                    .unwrap_or(&evaluation.trace);
                let report = autocomp_trainium_sim::feedback::report(trace, &timeline, &machine);
                writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
            }
            for remark in &evaluation.remarks {
                writeln!(
                    out,
                    "remark line {}: {} [{}]",
                    remark.line, remark.message, remark.code
                )?;
            }
            for (position, output) in evaluation.outputs.iter().enumerate() {
                raw(format!("out_{position}.f32"), &output.data)?;
            }
        }
        Err(failure) => writeln!(out, "FAILED {failure}")?,
    }
    Ok(())
}
