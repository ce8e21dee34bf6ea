//! Compiled kernels in a folder, so that whoever has the GPU needs no compiler:
//! `pack FOLDER`, and `plain FOLDER PROBLEM…`, where the simulator gives right answers.

use crate::Place;
use crate::pairs;
use autocomp_catalog::{Catalog, Problem, Target};
use autocomp_core::Seed;
use autocomp_cuda::inside::{CudaBench, Program};
use autocomp_cuda_sim::timing::Machine;
use autocomp_eval::inputs::Case;
use autocomp_measuring::statistics::median;
use std::path::Path;

/// Calls of which the median is told.
const CALLS: usize = 30;

fn files(folder: &Path, name: &str) -> [std::path::PathBuf; 2] {
    let name = name.replace('/', "_");
    ["ptx", "list"].map(|ending| folder.join(format!("{name}.{ending}")))
}

/// Reads a program.
pub fn read(folder: &Path, name: &str) -> Result<Program, String> {
    let text = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let [ptx, list] = files(folder, name);
    Program::read(&text(&ptx)?, &text(&list)?)
}

/// Returns the customary machine of a target.
pub fn machine(target: &Target) -> Result<Machine, String> {
    let text = target.machine(None).map_err(|error| error.to_string())?;
    Machine::parse(text).map_err(|error| error.to_string())
}

/// Compiles kernels of a problem into files of a folder.
pub fn compile(
    place: &Place,
    (problem, target, machine): (&Problem, &Target, Machine),
    sources: Vec<(String, String)>,
    folder: &Path,
) -> Result<(), String> {
    let bench = place
        .opening((problem, target, &target.default_machine), |it| {
            CudaBench::open(it, machine)
        })
        .map_err(|error| error.to_string())?;
    for (name, source) in sources {
        let program = bench.program(&source).map_err(|error| error.to_string())?;
        let program = program.map_err(|it| format!("{name}: {:?}", it.diagnostics))?;
        let (code, list) = program.texts();
        let [ptx, requests] = files(folder, &name);
        std::fs::write(ptx, code).map_err(|error| error.to_string())?;
        std::fs::write(requests, list).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// `pack FOLDER TARGET`: compiles all kernels, and those that are measured in pairs.
pub fn pack(place: &Place) -> Result<(), String> {
    let folder = Path::new(&place.words[0]);
    let catalog = Catalog::built_in().map_err(|error| error.to_string())?;
    let target = catalog
        .target(&place.words[1])
        .map_err(|error| error.to_string())?;
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for name in catalog.problem_names().filter(|it| it.starts_with("cuda/")) {
        let problem = catalog.problem(name).map_err(|error| error.to_string())?;
        let mut sources: Vec<(String, String)> = problem
            .kernels
            .iter()
            .map(|(kernel, source)| (format!("{name}__{kernel}"), source.clone()))
            .collect();
        if name == pairs::PROBLEM {
            sources.push((pairs::MORE_NAME.into(), pairs::more(&problem)));
        }
        compile(
            place,
            (&problem, &target, machine(&target)?),
            sources,
            folder,
        )?;
    }
    Ok(())
}

/// Returns a case whose right answers are those of the simulator.
pub fn answered(
    problem: &Problem,
    target: &Target,
    program: &Program,
    seed: Seed,
) -> Result<Case, String> {
    let set = problem.timed_set().ok_or("no input set")?;
    let mut case = Case::draw(problem, set, seed);
    let contents = case.clone().poisoned(problem, seed).before;
    let contents: Vec<Vec<u8>> = contents
        .into_iter()
        .map(Option::unwrap_or_default)
        .collect();
    let after = program.simulated(&contents, machine(target)?.limits())?;
    for (number, (buffer, content)) in problem.buffers.iter().zip(after).enumerate() {
        case.after[number] = buffer.is_written().then_some(content);
    }
    Ok(case)
}

/// Runs kernels from a folder on the device, and compares with what the simulator computes.
pub fn plain(place: &Place) -> Result<(), String> {
    let (folder, names) = place.words.split_first().ok_or("no folder")?;
    let target = place.target()?;
    let catalog = Catalog::built_in().map_err(|error| error.to_string())?;
    for name in names {
        let problem = catalog.problem(name).map_err(|error| error.to_string())?;
        for kernel in problem.kernels.keys() {
            let row = || -> Result<String, String> {
                let program = read(Path::new(folder), &format!("{name}__{kernel}"))?;
                let case = answered(&problem, &target, &program, Seed(1))?;
                Ok(place.work(60, &problem, |session| {
                    let program: &'static Program = Box::leak(Box::new(program.clone()));
                    let case: &'static Case = Box::leak(Box::new(case.clone()));
                    let mut loaded = session.load(program)?;
                    let uploaded = session.upload(case, Seed(4))?;
                    session.test(&mut loaded, &uploaded)?;
                    let clock = session.clock()?;
                    let mut times = Vec::new();
                    for _ in 0..CALLS {
                        times.push(session.time(&mut loaded, &uploaded)?);
                    }
                    Ok(format!(
                        "as the simulator\t{:.0}\t{:.0}\t{}",
                        median(&times),
                        clock.mhz,
                        session.registers(&loaded)
                    ))
                }))
            };
            let row = row().unwrap_or_else(|message| format!("error: {message}"));
            println!("{name}\t{kernel}\t{}", row.replace('\n', " "));
        }
    }
    Ok(())
}
