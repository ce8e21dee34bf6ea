//! Kernels on shapes that no simulator runs in full, against the naive kernel on the device:
//! `large COMPILED_FOLDER PROBLEM_FOLDER…`.

use crate::Place;
use crate::bundle::{compile, machine, read};
use autocomp_catalog::{Catalog, Problem};
use autocomp_core::Seed;
use autocomp_cuda::inside::Program;
use autocomp_eval::inputs::Case;
use autocomp_measuring::statistics::median;
use std::path::Path;

/// Time of a kernel from which on few calls are enough, nanoseconds.
const LONG_NS: f64 = 10e6;

/// Returns a problem of a folder.
fn problem_in(folder: &str) -> Result<Problem, String> {
    let mut catalog = Catalog::built_in().map_err(|error| error.to_string())?;
    let added = catalog.add_folder(Path::new(folder));
    let added = added.map_err(|error| error.to_string())?;
    let name = added.problems.first().ok_or("no problem in the folder")?;
    catalog.problem(name).map_err(|error| error.to_string())
}

/// `pack-large COMPILED_FOLDER TARGET PROBLEM_FOLDER…`: compiles all kernels of problems.
pub fn pack(place: &Place) -> Result<(), String> {
    let [folder, target, problems @ ..] = &*place.words else {
        return Err("pack-large FOLDER TARGET PROBLEM_FOLDER…".into());
    };
    let catalog = Catalog::built_in().map_err(|error| error.to_string())?;
    let target = catalog.target(target).map_err(|error| error.to_string())?;
    for path in problems {
        let problem = problem_in(path)?;
        let sources: Vec<(String, String)> = problem
            .kernels
            .iter()
            .map(|(kernel, source)| (format!("{}__{kernel}", problem.name), source.clone()))
            .collect();
        for source in sources {
            let machine = machine(&target)?;
            let packed = compile(
                place,
                (&problem, &target, machine),
                vec![source],
                folder.as_ref(),
            );
            if let Err(message) = packed {
                eprintln!("{path}: {message}");
            }
        }
    }
    Ok(())
}

/// Runs all kernels of a problem, the naive one first, and times those that compute the same.
fn rows(place: &Place, folder: &Path, problem: &Problem) -> Result<String, String> {
    let set = problem.timed_set().ok_or("no input set")?;
    let case = Case::draw(problem, set, Seed(3));
    let baseline = read(folder, &format!("{}__baseline", problem.name))?;
    let programs: Vec<(&String, Program)> = problem
        .kernels
        .keys()
        .filter_map(|kernel| {
            let program = read(folder, &format!("{}__{kernel}", problem.name));
            Some((kernel, program.ok()?))
        })
        .collect();
    Ok(place.work(100, problem, |session| {
        let mut case = case;
        let contents = case.clone().poisoned(problem, Seed(3)).before;
        let contents: Vec<Vec<u8>> = contents
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect();
        let naive: &'static Program = Box::leak(Box::new(baseline));
        let left = session.run(&mut session.load(naive)?, &contents)?;
        for (number, (buffer, content)) in problem.buffers.iter().zip(left).enumerate() {
            case.after[number] = buffer.is_written().then_some(content);
        }
        let case: &'static Case = Box::leak(Box::new(case));
        let uploaded = session.upload(case, Seed(4))?;
        let mut rows = String::new();
        for (kernel, program) in programs {
            let program: &'static Program = Box::leak(Box::new(program));
            let mut loaded = session.load(program)?;
            let row = match session.test(&mut loaded, &uploaded) {
                Err(failure) => crate::told(&failure),
                Ok(()) => {
                    let mut times = vec![session.time(&mut loaded, &uploaded)?];
                    let count = if LONG_NS < times[0] { 3 } else { 21 };
                    for _ in 1..count {
                        times.push(session.time(&mut loaded, &uploaded)?);
                    }
                    let clock = session.clock()?;
                    format!(
                        "ok\t{:.0}\t{:.0}\t{}",
                        median(&times),
                        clock.mhz,
                        session.registers(&loaded)
                    )
                }
            };
            rows += &format!("{}\t{kernel}\t{}\n", problem.name, row.replace('\n', " "));
        }
        Ok(rows)
    }))
}

/// `large COMPILED_FOLDER PROBLEM_FOLDER…`: times of all kernels that agree with the naive one.
pub fn large(place: &Place) -> Result<(), String> {
    let (folder, problems) = place.words.split_first().ok_or("no folder")?;
    place.told()?;
    for path in problems {
        let rows = problem_in(path).and_then(|it| rows(place, Path::new(folder), &it));
        match rows {
            Ok(rows) => println!("{}", rows.trim_end()),
            Err(message) => println!("{path}\t-\terror\t{}", message.replace('\n', " ")),
        }
    }
    Ok(())
}
