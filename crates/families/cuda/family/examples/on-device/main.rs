//! What `benches/device/cuda.sh` runs where there is a GPU:
//! `on-device COMMAND cache=FOLDER [library=FILE] [ARGUMENT…]`. Each command writes rows of a
//! table to its standard output, and to its standard error what did not go as it should.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "an example: it tells, and panics where it is called wrongly"
)]

mod bundle;
mod corners;
mod faults;
mod kernels;
mod large;
mod pairs;
mod programs;
#[allow(dead_code, reason = "tests use all of it")]
#[path = "../../../sim/tests/suite/second.rs"]
mod second;
#[allow(dead_code, reason = "tests use all of it")]
#[path = "../../../sim/tests/suite/kernels.rs"]
mod small;

use autocomp_catalog::{Catalog, Problem, Target};
use autocomp_core::Seed;
use autocomp_cuda::inside::{Device, Ended, Failure, Session, Told, found, run};
use autocomp_eval::{EvaluatorSettings, Opening, Surroundings};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What all commands are told.
pub struct Place {
    cache: PathBuf,
    library: Option<PathBuf>,
    /// Kernels beside those of problems: `PROBLEM__NAME.cu`, without `cuda/`.
    kernels: Option<PathBuf>,
    /// What comes behind the command.
    pub words: Vec<String>,
}

impl Place {
    fn of(arguments: Vec<String>) -> Self {
        let mut place = Self {
            cache: std::env::temp_dir(),
            library: None,
            kernels: None,
            words: Vec::new(),
        };
        for word in arguments {
            match word.split_once('=') {
                Some(("cache", path)) => place.cache = path.into(),
                Some(("library", "")) => {}
                Some(("kernels", "")) => {}
                Some(("kernels", path)) => place.kernels = Some(path.into()),
                Some(("library", path)) => place.library = Some(path.into()),
                _ => place.words.push(word),
            }
        }
        place
    }

    /// Returns the kernels of a problem, and those that stand beside.
    pub fn kernels(&self, problem: &Problem) -> Vec<(String, String)> {
        let own = problem.kernels.iter();
        let mut all: Vec<_> = own
            .map(|(name, text)| (name.clone(), text.clone()))
            .collect();
        let start = format!("{}__", problem.name.trim_start_matches("cuda/"));
        for file in self
            .kernels
            .iter()
            .filter_map(|it| it.read_dir().ok())
            .flatten()
        {
            let Ok(file) = file else { continue };
            let name = file.file_name().to_string_lossy().into_owned();
            let name = name
                .strip_prefix(&start)
                .and_then(|it| it.strip_suffix(".cu"));
            if let (Some(name), Ok(text)) = (name, std::fs::read_to_string(file.path())) {
                all.push((name.to_owned(), text));
            }
        }
        all.sort();
        all
    }

    /// Returns the number that stands at a place among the arguments.
    pub fn number(&self, at: usize) -> u64 {
        self.words[at].parse().unwrap()
    }

    /// Returns what is known of the GPU.
    pub fn told(&self) -> Result<Told, String> {
        found(self.library.as_deref(), 0)
    }

    /// Returns the target for the GPU, whose machine `device` has the driver that is named.
    pub fn target(&self) -> Result<Target, String> {
        let told = self.told()?;
        let catalog = Catalog::built_in().map_err(|error| error.to_string())?;
        let name = format!("cuda-{}", told.architecture.replace('_', ""));
        let mut target = catalog.target(&name).map_err(|error| error.to_string())?;
        if let Some(library) = &self.library {
            let text = target.machines["device"].clone() + &format!("library = {library:?}\n");
            target.machines.insert("device".into(), text);
        }
        Ok(target)
    }

    /// Calls `open` with how a problem is opened on a machine.
    pub fn opening<T>(
        &self,
        (problem, target, machine): (&Problem, &Target, &str),
        open: impl FnOnce(Opening<'_>) -> T,
    ) -> T {
        let surroundings = Surroundings {
            install: false,
            ..Surroundings::installing(&self.cache, None)
        };
        open(Opening {
            problem,
            target,
            machine,
            settings: EvaluatorSettings {
                use_cache: false,
                seed: Seed(1),
                threads: 1,
                max_instructions: None,
                experiments: false,
            },
            surroundings: &surroundings,
            progress: &mut |line| eprintln!("{line}"),
        })
    }

    /// Has a worker do something with the device, and returns the text that it answers.
    pub fn work<'p>(
        &self,
        seconds: u64,
        problem: &'p Problem,
        job: impl FnOnce(&mut Session<'p>) -> Result<String, Failure>,
    ) -> String {
        let job = || {
            let answer = Device::open(self.library.as_deref(), 0)
                .map_err(Failure::Device)
                .and_then(|device| Session::new(device, problem, Seed(7)))
                .and_then(|mut session| job(&mut session));
            match answer {
                Ok(text) => text,
                Err(failure) => told(&failure),
            }
            .into_bytes()
        };
        match run(Duration::from_secs(seconds), job) {
            Ok(Ended::Answered(text)) => String::from_utf8_lossy(&text).into_owned(),
            Ok(Ended::Late) => "late".into(),
            Ok(Ended::Died(how)) => format!("died: {how}"),
            Err(error) => format!("not started: {error}"),
        }
    }
}

/// Says a failure in one line.
pub fn told(failure: &Failure) -> String {
    match failure {
        Failure::Kernel(outcome, found) => {
            format!("{outcome}: {}: {}", found.code, found.message)
        }
        Failure::Device(message) => format!("device: {message}"),
    }
}

/// Returns a problem with two buffers of so many words, for programs of no problem.
pub fn two_buffers(words: u64) -> Problem {
    let catalog = Catalog::built_in().unwrap();
    let mut problem = catalog.problem("cuda/vector-add-f32-1048576").unwrap();
    problem.buffers.remove(1);
    for buffer in &mut problem.buffers {
        buffer.shape = vec![words];
    }
    problem
}

fn environment(place: &Place) -> Result<(), String> {
    let told = place.told()?;
    println!("name\t{}", told.name);
    println!("architecture\t{}", told.architecture);
    println!("driver\t{}", told.driver);
    println!("sms\t{}", told.sms);
    println!("l2_bytes\t{}", told.l2_bytes);
    let problem = two_buffers(256);
    let clock = place.work(60, &problem, |session| {
        let clock = session.clock()?;
        let monitored = session.monitored_mhz();
        Ok(format!(
            "sm_mhz\t{:.0}\nsm_mhz_monitored\t{}\nclocks_differ_percent\t{:.2}",
            clock.mhz,
            monitored.map_or_else(|| "-".into(), |it| it.to_string()),
            clock.disagreement * 100.0
        ))
    });
    println!("{clock}");
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        eprintln!("on-device COMMAND cache=FOLDER [library=FILE] [ARGUMENT…]");
        return ExitCode::from(2);
    }
    let command = arguments.remove(0);
    let place = Place::of(arguments);
    let done = match command.as_str() {
        "environment" => environment(&place),
        "pack" => bundle::pack(&place),
        "pack-large" => large::pack(&place),
        "large" => large::large(&place),
        "plain" => bundle::plain(&place),
        "problems" => kernels::names(),
        "kernels" => kernels::check(&place),
        "programs" => programs::compare(&place),
        "text" => programs::text(&place),
        "special" => programs::special(&place),
        "corners" => corners::corners(&place),
        "pairs" => pairs::pairs(&place),
        "faults" => faults::faults(&place),
        _ => Err(format!("{command} is no command")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{command}: {message}");
            ExitCode::from(3)
        }
    }
}
