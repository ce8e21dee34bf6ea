//! One problem on one GPU that is there: kernels are checked on the simulated one, and only
//! what is right there runs and is timed on the device.

use super::calls::{Device, Told};
use super::program::Program;
use super::session::{Clock, Failure, Session};
use super::settings::Settings;
use super::worker::{Ended, run};
use super::{Comparison, Entry};
use crate::bench::{CudaBench, Ready};
use crate::texts::TEXTS;
use autocomp_catalog::{Ranking, Target};
use autocomp_core::{ContentHash, Cost, Diagnostic, Outcome, Seed, Stage};
use autocomp_cuda_sim::timing::Machine;
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::Profile;
use autocomp_eval::{Bench, EvalError, Opening, TierClock, Verdict};
use autocomp_measuring::statistics::median;
use autocomp_measuring::{
    Compared, Effort, Lease, Side, Twin, TwinBench, clock_changed, measured_profile,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Hash of what works the device.
const SOURCES: &str = env!("AUTOCOMP_CUDA_DEVICE");
/// How long a worker may take to say what GPU there is.
const LOOK: Duration = Duration::from_secs(60);
/// Share of what the simulated machine needs at least that is certain on a device: clocks rise
/// above those of data sheets, and what is written may stay in the L2.
const CERTAIN: f64 = 0.5;
/// A device is quieter than a computer with others on it: fewer rounds are enough.
const EFFORT: Effort = Effort {
    least_rounds: 9,
    most_rounds: 20,
    wall: Duration::from_secs(2),
    half_width: 0.01,
    confidence: 0.99,
    confirmation: 1,
    far: 2.0,
};
/// Cases that timed calls draw from.
const TIMED_CASES: u32 = 2;

/// Returns what is known of GPU `number`, found out by a process of its own.
///
/// # Errors
/// Why there is none, in words.
pub fn found(library: Option<&Path>, number: u32) -> Result<Told, String> {
    let look = || serde_json::to_vec(&super::find(library, number)).unwrap_or_default();
    match run(LOOK, look).map_err(|error| error.to_string())? {
        Ended::Answered(answer) => serde_json::from_slice(&answer)
            .map_err(|error| format!("what a process says of it is not understood: {error}"))?,
        Ended::Late => Err(format!(
            "the driver does not answer within {} seconds",
            LOOK.as_secs()
        )),
        Ended::Died(how) => Err(format!("the driver ends the process that calls it ({how})")),
    }
}

/// Returns the simulated machine of a target that has the name which the driver gives.
fn named(target: &Target, told: &Told) -> Option<Machine> {
    let machines = target.machines.values();
    let mut machines = machines.filter_map(|text| Machine::parse(text).ok());
    machines.find(|machine| machine.driver_names.contains(&told.name))
}

/// What a worker found out about a kernel.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Right(Measured),
    /// What the kernel did.
    Failed(Failure),
    /// What the problem's own kernel did.
    Base(Failure),
}

/// How long a right kernel takes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    comparison: Comparison,
    before: Clock,
    after: Clock,
    monitored_mhz: Option<u32>,
    registers: u32,
    /// What the simulated machine says of the same, nanoseconds.
    #[serde(default)]
    simulated_ns: u64,
}

impl Measured {
    fn compared(&self) -> Compared<'_> {
        Compared {
            candidate_ns: &self.comparison.candidate_ns,
            ratio: self.comparison.ratio,
        }
    }
}

/// One problem on one device.
#[derive(Debug)]
pub(crate) struct DeviceBench {
    /// Checks kernels before they may run on the device.
    simulated: CudaBench,
    settings: Settings,
    /// Which GPU it is, counted from the one that the machine file names.
    number: u32,
    told: Told,
    cache_folder: PathBuf,
    /// The problem's own kernel.
    base: OnceLock<Arc<Program>>,
}

impl DeviceBench {
    pub(crate) fn open(
        opening: Opening<'_>,
        mut settings: Settings,
    ) -> Result<TwinBench<Self>, EvalError> {
        let number = opening.surroundings.device;
        settings.device = settings.device.saturating_add(number);
        let (target, name) = (opening.target, opening.machine);
        let machine = crate::machine_of(target, name)?;
        let told = found(settings.library.as_deref(), settings.device).map_err(|reason| {
            EvalError::Environment {
                message: format!(
                    "machine {name} of target {} needs a GPU of NVIDIA, and there is none that can be used: {reason}",
                    target.name
                ),
                remedies: vec![
                    format!("take a simulated machine: --machine {}", settings.simulated),
                    "install the driver of the GPU; `autocomp doctor` says what is found".into(),
                ],
            }
        })?;
        if told.architecture != machine.architecture {
            return Err(EvalError::Environment {
                message: format!(
                    "target {} is for {}, and the GPU of this computer, {}, is {}",
                    target.name, machine.architecture, told.name, told.architecture
                ),
                remedies: vec![format!(
                    "take --target cuda-{}, if there is one",
                    told.architecture.replace('_', "")
                )],
            });
        }
        let (stands, machine) = match named(target, &told) {
            Some(machine) => (machine.name.clone(), machine),
            None => (settings.simulated.clone(), machine),
        };
        let text = target.machine(Some(name)).unwrap_or_default().to_owned();
        let use_cache = opening.settings.use_cache;
        let cache_folder = opening.surroundings.cache_folder.clone();
        let engine = format!("device {} machine={name} on {}", target.name, told.name);
        let simulated = CudaBench::open(
            Opening {
                problem: opening.problem,
                target,
                machine: &stands,
                settings: opening.settings,
                surroundings: opening.surroundings,
                progress: &mut *opening.progress,
            },
            machine,
        )?;
        let of_device = [&*text, &*told.name, &*told.driver, SOURCES];
        let of_device = ("evaluation on a GPU", &of_device[..]);
        let device = Self {
            simulated,
            settings,
            number,
            told: told.clone(),
            cache_folder,
            base: OnceLock::new(),
        };
        Ok(TwinBench::new(device, engine, of_device, use_cache))
    }

    /// Returns the problem's own kernel, ready for the device.
    fn base(&self) -> Result<Arc<Program>, EvalError> {
        if let Some(base) = self.base.get() {
            return Ok(Arc::clone(base));
        }
        let problem = self.simulated.problem();
        let wrong = |what: &str| EvalError::Input {
            message: format!("baseline.cu of {} is not right: {what}", problem.name),
            remedies: vec!["correct baseline.cu, reference.c or the tolerance".into()],
        };
        let source = problem
            .kernel("baseline")
            .map_err(|error| EvalError::Input {
                message: error.to_string(),
                remedies: vec!["add baseline.cu to the problem".into()],
            })?;
        match self
            .simulated
            .judge(source, &mut TierClock::default(), false)?
        {
            Ok((_, ready)) => Ok(Arc::clone(
                self.base.get_or_init(|| Arc::new(ready.program())),
            )),
            Err(verdict) => {
                let found = verdict.diagnostics.first();
                Err(wrong(found.map_or("it fails", |it| &it.message)))
            }
        }
    }

    fn measure(
        &self,
        source: &str,
        ready: &Ready,
        base: &Program,
    ) -> Result<Result<Measured, Verdict>, EvalError> {
        // Nobody's to know.
        let own = Seed(RandomState::new().build_hasher().finish());
        let reference = self.simulated.reference();
        let tested: Vec<Arc<Case>> = reference
            .cases(source, self.simulated.seed())?
            .collect::<Result<_, _>>()?;
        let set = self.simulated.problem().timed_set();
        let mut timed = Vec::new();
        for number in 0..TIMED_CASES {
            let seed = own.derive(&format!("timed {number}"));
            timed.extend(set.map(|set| reference.case(set, seed)).transpose()?);
        }
        let program = ready.program();
        let time = Duration::from_secs(self.settings.seconds);
        let lease = Lease::take(&self.cache_folder, &format!("gpu{}", self.settings.device))?;
        let job = || {
            let answer = self.work(&program, base, (&tested, &timed), lease.seed());
            serde_json::to_vec(&answer).unwrap_or_default()
        };
        let ended = run(time, job).map_err(|error| EvalError::Environment {
            message: format!("no process can be started for the device: {error}"),
            remedies: vec!["make memory free: other programs may have it".into()],
        })?;
        drop(lease);
        let answer = match ended {
            Ended::Answered(answer) => serde_json::from_slice(&answer).map_err(|error| {
                EvalError::Fault(format!(
                    "what was measured on the device is not understood: {error}"
                ))
            })?,
            Ended::Late => {
                let found = Diagnostic {
                    notes: vec!["the simulator accepts this kernel".to_owned()],
                    remedy: TEXTS.remedy("device-hang"),
                    ..Diagnostic::error(
                        Stage::Test,
                        "device-hang",
                        format!(
                            "its runs on the device had not ended after {} seconds",
                            time.as_secs()
                        ),
                    )
                };
                return Ok(Err(Verdict::failed(Outcome::TimedOut, vec![found])));
            }
            Ended::Died(how) => {
                return Err(EvalError::Fault(format!(
                    "the process that used the device ended without an answer ({how})"
                )));
            }
        };
        let unusable = |message: String| {
            EvalError::Environment {
            message,
            remedies: vec![
                "see with `nvidia-smi` whether others use the GPU, and take a simulated machine until it is free".into(),
            ],
        }
        };
        match answer {
            Answer::Right(measured) => Ok(Ok(measured)),
            Answer::Failed(Failure::Kernel(outcome, found)) => {
                Ok(Err(Verdict::failed(outcome, vec![*found])))
            }
            Answer::Base(Failure::Kernel(_, found)) => Err(EvalError::Input {
                message: format!(
                    "baseline.cu of {} is right on the simulator and not on the device: {}",
                    self.simulated.problem().name,
                    found.message
                ),
                remedies: vec!["correct baseline.cu".into()],
            }),
            Answer::Failed(Failure::Device(message)) | Answer::Base(Failure::Device(message)) => {
                Err(unusable(message))
            }
        }
    }

    /// Tests and times a kernel. In a worker.
    fn work(
        &self,
        program: &Program,
        base: &Program,
        (tested, timed): (&[Arc<Case>], &[Case]),
        seed: Seed,
    ) -> Answer {
        let Settings {
            library, device, ..
        } = &self.settings;
        let device = match Device::open(library.as_deref(), *device) {
            Ok(device) => device,
            Err(message) => return Answer::Failed(Failure::Device(message)),
        };
        let poison = self.simulated.seed().derive("poison of a device");
        let test = || -> Result<_, Failure> {
            let mut session = Session::new(device, self.simulated.problem(), seed)?;
            let mut candidate = session.load(program)?;
            for case in tested {
                let case = session.upload(case, poison)?;
                session.test(&mut candidate, &case)?;
            }
            let timed: Result<Vec<_>, _> =
                timed.iter().map(|it| session.upload(it, poison)).collect();
            let before = session.clock()?;
            Ok((session, candidate, timed?, before))
        };
        let (mut session, mut candidate, timed, before) = match test() {
            Ok(ready) => ready,
            Err(failure) => return Answer::Failed(failure),
        };
        let mut base = match session.load(base) {
            Ok(base) => base,
            Err(failure) => return Answer::Base(failure),
        };
        let sides = (&mut candidate, &mut base);
        let comparison = session.compare(sides, &timed, seed, EFFORT);
        let comparison = match comparison {
            Ok(comparison) => comparison,
            Err(Entry(Side::Candidate, failure)) => return Answer::Failed(failure),
            Err(Entry(Side::Base, failure)) => return Answer::Base(failure),
        };
        let after = match session.clock() {
            Ok(clock) => clock,
            Err(failure) => return Answer::Failed(failure),
        };
        Answer::Right(Measured {
            comparison,
            before,
            after,
            monitored_mhz: session.monitored_mhz(),
            registers: session.registers(&candidate),
            simulated_ns: 0,
        })
    }

    /// Returns the verdict on a kernel that takes less time than its work takes on any such device.
    fn disbelief(&self, measured: &Measured) -> Option<Verdict> {
        let ns = median(&measured.comparison.candidate_ns);
        let floor = self.floor().value;
        if floor as f64 <= ns {
            return None;
        }
        let found = Diagnostic {
            remedy: TEXTS.remedy("device-too-fast"),
            ..Diagnostic::error(
                Stage::Time,
                "device-too-fast",
                format!(
                    "it takes {ns:.0} ns on the device, and its work takes {floor} ns at least there: that time is not believed"
                ),
            )
        };
        Some(Verdict::failed(Outcome::Wrong, vec![found]))
    }

    fn words(&self, measured: &Measured) -> String {
        let l2 = match self.simulated.problem().ranking {
            Ranking::Cold => "device-cold",
            Ranking::Warm => "device-warm",
        };
        let mhz = format!("{:.0}", measured.before.mhz);
        let figures: [(_, &dyn Display); 2] = [("device", &self.told.name), ("mhz", &mhz)];
        let device = TEXTS.sentences.filled(l2, &figures);
        let simulated_ns = measured.simulated_ns as f64;
        let compared = measured.compared();
        compared.words(&device, simulated_ns, &self.settings.simulated)
    }
}

impl Twin for DeviceBench {
    type Measured = Measured;

    fn simulated(&self) -> &dyn Bench {
        &self.simulated
    }

    fn number(&self) -> u32 {
        self.number
    }

    fn floor(&self) -> Cost {
        let floor = self.simulated.facts().floor.value as f64 * CERTAIN;
        Cost::nanoseconds(floor as u64, 0)
    }

    fn judge(
        &self,
        source: &str,
        _: ContentHash,
        clock: &mut TierClock,
    ) -> Result<Result<Measured, Verdict>, EvalError> {
        let (timed, ready) = match self.simulated.judge(source, clock, false)? {
            Ok(right) => right,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let base = self.base()?;
        let measured = clock.measure("device", || self.measure(source, &ready, &base))?;
        let simulated_ns = self.simulated.cost(&timed).value;
        let measured = match measured {
            Ok(measured) => measured,
            Err(verdict) => return Ok(Err(verdict)),
        };
        if let Some(verdict) = self.disbelief(&measured) {
            return Ok(Err(verdict));
        }
        Ok(Ok(Measured {
            simulated_ns,
            ..measured
        }))
    }

    fn verdict(&self, measured: &Measured, engine: &str) -> Verdict {
        let Measured { before, after, .. } = measured;
        let told = clock_changed("the SMs", before.mhz, after.mhz);
        let mut figures = BTreeMap::from([
            ("registers".to_owned(), u64::from(measured.registers)),
            ("sm_mhz".to_owned(), before.mhz.round() as u64),
            ("sm_mhz_after".to_owned(), after.mhz.round() as u64),
            ("simulated_ns".to_owned(), measured.simulated_ns),
        ]);
        if let Some(mhz) = measured.monitored_mhz {
            figures.insert("sm_mhz_monitored".to_owned(), mhz.into());
        }
        let compiler = self.simulated.compiler().to_owned();
        measured.compared().verdict(
            engine,
            (self.floor(), compiler),
            figures,
            (self.words(measured), told.into_iter().collect()),
        )
    }

    fn profile(&self, measured: &Measured) -> Profile {
        let data = serde_json::to_value(measured).unwrap_or_default();
        measured_profile(&self.words(measured), data)
    }
}
