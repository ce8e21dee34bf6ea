//! Kernels run on a device: what they leave is compared, and how long they take is told by the
//! device's events and, beside them, by the clock of this computer. In a worker.

use super::calls::{Device, Refusal};
use super::memory::{Arena, Places};
use super::program::Program;
use super::vendor::Handle;
use crate::bench::compared;
use crate::requests::Request;
use crate::texts::TEXTS;
use autocomp_catalog::{Problem, Ranking};
use autocomp_core::{Diagnostic, Outcome, Seed, Stage};
use autocomp_eval::inputs::Case;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Kernels of ours: one that tells the clock, one that reads memory.
const HELPERS: &str = include_str!("helpers.ptx");
/// How long the clock is looked at, nanoseconds.
const LOOK_NS: u64 = 2_000_000;
/// How long the device is kept busy while a call is handed over, nanoseconds.
const BUSY_NS: u64 = 30_000;
/// Share by which the two clocks may differ on [`LOOK_NS`]; so often it is tried.
const CLOCKS_AGREE: f64 = 0.1;
const LOOKS: usize = 20;
/// Bytes that are written and read between calls, as a multiple of the L2.
const FLUSH: u64 = 4;

/// What went wrong on a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Failure {
    /// What the kernel did.
    Kernel(Outcome, Box<Diagnostic>),
    /// The device or its driver cannot be used.
    Device(String),
}

/// A failure of the stage at which the device refused something.
fn blamed(stage: Stage, refusal: &Refusal) -> Failure {
    let Refusal {
        function,
        status,
        name,
        log,
    } = refusal;
    let (outcome, code, what) = match status {
        700 => (
            Outcome::Illegal,
            "device-illegal-address",
            "the kernel accesses an address where nothing is",
        ),
        716 => (
            Outcome::Illegal,
            "device-misaligned",
            "the kernel accesses an address that the width does not divide",
        ),
        702 => (
            Outcome::TimedOut,
            "device-hang",
            "the driver ended a kernel that took too long",
        ),
        1 | 701 if function == "cuLaunchKernel" => (
            Outcome::Illegal,
            "device-launch",
            "the device does not accept a launch",
        ),
        200 | 209 | 218 | 300 | 500 => (
            Outcome::BuildFailed,
            "device-build",
            "the driver does not accept the compiled kernel",
        ),
        710 | 714 | 715 | 717 | 718 | 719 => (
            Outcome::Crashed,
            "device-fault",
            "the kernel ends with a fault on the device",
        ),
        _ => {
            return Failure::Device(format!("the driver refuses {function} ({name}, {status})"));
        }
    };
    let notes = log.lines().filter(|line| !line.trim().is_empty());
    Failure::Kernel(
        outcome,
        Box::new(Diagnostic {
            notes: notes.take(12).map(str::to_owned).collect(),
            remedy: TEXTS.remedy(match status {
                702 => "device-hang-of-driver",
                _ => code,
            }),
            ..Diagnostic::error(stage, code, format!("{what} ({name} from {function})"))
        }),
    )
}

fn of_test(refusal: Refusal) -> Failure {
    blamed(Stage::Test, &refusal)
}

/// The clocks of a device, as they were found.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Clock {
    /// The SM's clock, MHz: its cycles over its nanoseconds.
    pub mhz: f64,
    /// The greatest share by which events and the clock of this computer differed.
    pub disagreement: f64,
}

/// A device in use for kernels of one problem.
#[derive(Debug)]
pub struct Session<'p> {
    pub(super) device: Device,
    problem: &'p Problem,
    clock: Handle,
    read: Handle,
    /// For the answers of the clock, 16 bytes, and behind them what is flushed.
    own: u64,
    flushed: (u64, u64),
    events: [Handle; 2],
    seed: Seed,
    /// Time of the device in timed calls, nanoseconds.
    pub(super) spent_ns: f64,
}

/// A program that the driver has compiled, with memory for its buffers.
#[derive(Debug)]
pub struct Loaded<'p> {
    pub(super) program: &'p Program,
    pub(super) module: Handle,
    pub(super) functions: BTreeMap<String, Handle>,
    /// Variables that are filled anew before each call, and where they are.
    variables: Vec<(u64, &'p [u8])>,
    /// Whether there are variables that the driver does not name: the module is loaded anew.
    is_reloaded: bool,
    arena: Arena,
}

/// A case whose contents the device holds.
#[derive(Debug)]
pub struct Uploaded<'p> {
    case: &'p Case,
    /// What the buffers hold before a call, outputs poisoned.
    before: Vec<Vec<u8>>,
    copies: Vec<u64>,
}

/// What a call is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Everything that it leaves is looked at.
    Test,
    /// Its time is taken; inputs are not looked at.
    Time,
}

impl<'p> Session<'p> {
    /// Prepares `device` for kernels of `problem`.
    ///
    /// # Errors
    /// What the driver refuses.
    pub fn new(device: Device, problem: &'p Problem, seed: Seed) -> Result<Self, Failure> {
        let unusable = |refusal: Refusal| {
            Failure::Device(match blamed(Stage::Build, &refusal) {
                Failure::Device(message) => message,
                Failure::Kernel(_, found) => format!("{} {}", found.message, found.notes.join(" ")),
            })
        };
        let begin = || -> Result<_, Refusal> {
            let helpers = device.load(HELPERS)?;
            let flushed = (FLUSH * device.told.l2_bytes).max(1 << 20);
            Ok((
                device.function(helpers, "autocomp_clock")?,
                device.function(helpers, "autocomp_read")?,
                (device.allocate(16)?, device.allocate(flushed as usize)?),
                flushed,
                [device.event()?, device.event()?],
            ))
        };
        let (clock, read, (own, start), flushed, events) = begin().map_err(unusable)?;
        Ok(Self {
            device,
            problem,
            clock,
            read,
            own,
            flushed: (start, flushed),
            events,
            seed,
            spent_ns: 0.0,
        })
    }

    /// Has the driver compile a program.
    ///
    /// # Errors
    /// What it says of the code, or that there is no memory.
    pub fn load(&self, program: &'p Program) -> Result<Loaded<'p>, Failure> {
        let of_build = |refusal: Refusal| blamed(Stage::Build, &refusal);
        let buffers = self.problem.buffers.iter().map(|it| it.bytes() as u64);
        let sizes = buffers.chain(program.recording.memory.iter().copied());
        let module = self.device.load(&program.ptx).map_err(of_build)?;
        let mut loaded = Loaded {
            program,
            module,
            functions: BTreeMap::new(),
            variables: Vec::new(),
            is_reloaded: false,
            arena: Arena::new(&self.device, sizes.collect()).map_err(of_test)?,
        };
        self.look_up(&mut loaded).map_err(of_build)?;
        Ok(loaded)
    }

    fn look_up(&self, loaded: &mut Loaded<'p>) -> Result<(), Refusal> {
        let program = loaded.program;
        loaded.functions.clear();
        for request in &program.recording.requests {
            let Request::Launch(launch) = request else {
                continue;
            };
            let function = self.device.function(loaded.module, &launch.kernel)?;
            if 0 < launch.allowed_shared {
                self.device.allow_shared(function, launch.allowed_shared)?;
            }
            loaded.functions.insert(launch.kernel.clone(), function);
        }
        loaded.variables.clear();
        for (name, content) in &program.variables {
            match self.device.variable(loaded.module, name) {
                Some((address, bytes)) if bytes == content.len() => {
                    loaded.variables.push((address, content));
                }
                _ => loaded.is_reloaded = true,
            }
        }
        Ok(())
    }

    /// Puts a case on the device, from where it is copied into place for each call.
    ///
    /// # Errors
    /// That there is no memory.
    pub fn upload(&self, case: &'p Case, poison: Seed) -> Result<Uploaded<'p>, Failure> {
        let poisoned = case.clone().poisoned(self.problem, poison);
        let before = poisoned.before.into_iter().map(Option::unwrap_or_default);
        let before: Vec<Vec<u8>> = before.collect();
        let mut copies = Vec::new();
        for content in &before {
            let copy = self
                .device
                .allocate(content.len().max(1))
                .map_err(of_test)?;
            self.device.put(copy, content).map_err(of_test)?;
            copies.push(copy);
        }
        Ok(Uploaded {
            case,
            before,
            copies,
        })
    }

    /// Returns the registers that each thread of a kernel has.
    #[must_use]
    pub fn registers(&self, loaded: &Loaded<'_>) -> u32 {
        let functions = loaded.functions.values();
        let registers = functions.filter_map(|it| self.device.registers(*it));
        registers.max().unwrap_or(0)
    }

    /// Runs a program on a case and compares all that it leaves.
    ///
    /// # Errors
    /// What it did.
    pub fn test(&mut self, loaded: &mut Loaded<'p>, case: &Uploaded<'_>) -> Result<(), Failure> {
        self.call(loaded, case, Purpose::Test).map(|_| ())
    }

    /// Runs a program on a case, compares what it computed, and returns how long it took,
    /// nanoseconds.
    ///
    /// # Errors
    /// What it did.
    pub fn time(&mut self, loaded: &mut Loaded<'p>, case: &Uploaded<'_>) -> Result<f64, Failure> {
        let ns = self.call(loaded, case, Purpose::Time)?;
        self.spent_ns += ns;
        Ok(ns)
    }

    /// Runs a program on contents and returns what its buffers hold afterwards.
    ///
    /// # Errors
    /// What it did.
    pub fn run(
        &mut self,
        loaded: &mut Loaded<'p>,
        contents: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let mut run = || -> Result<Vec<Vec<u8>>, Refusal> {
            let places = loaded.arena.places(&self.device, &mut self.seed)?;
            for (start, content) in places.starts.iter().zip(contents) {
                self.device.put(*start, content)?;
            }
            self.requests(loaded, &places)?;
            self.device.wait()?;
            let left = places.starts.iter().zip(contents);
            left.map(|(start, content)| self.device.get(*start, content.len()))
                .collect()
        };
        run().map_err(of_test)
    }

    fn call(
        &mut self,
        loaded: &mut Loaded<'p>,
        case: &Uploaded<'_>,
        purpose: Purpose,
    ) -> Result<f64, Failure> {
        let places = loaded
            .arena
            .places(&self.device, &mut self.seed)
            .map_err(of_test)?;
        self.fill(loaded, case, &places).map_err(of_test)?;
        let ns = match purpose {
            Purpose::Test => {
                self.requests(loaded, &places).map_err(of_test)?;
                self.device.wait().map_err(of_test)?;
                0.0
            }
            Purpose::Time => self.timed(loaded, case, &places)?,
        };
        if let Some(number) = places.broken_guard(&self.device).map_err(of_test)? {
            let name = match self.problem.buffers.get(number) {
                Some(buffer) => buffer.name.clone(),
                None => "memory that `solution` asked for".to_owned(),
            };
            let found = Diagnostic {
                notes: vec![format!("input set: {}", case.case.name)],
                remedy: TEXTS.remedy("device-out-of-bounds"),
                ..Diagnostic::error(
                    Stage::Test,
                    "device-out-of-bounds",
                    format!("the kernel writes outside its buffers on the device: beside {name}"),
                )
            };
            return Err(Failure::Kernel(Outcome::Illegal, Box::new(found)));
        }
        let mut contents = Vec::new();
        for (buffer, start) in self.problem.buffers.iter().zip(&places.starts) {
            let is_looked_at = purpose == Purpose::Test || buffer.is_written();
            let content = is_looked_at.then(|| self.device.get(*start, buffer.bytes()));
            contents.push(content.transpose().map_err(of_test)?);
        }
        let got = |number: usize| contents[number].as_deref();
        if let Some(mut found) = compared(self.problem, case.case, &case.before, got) {
            found
                .notes
                .insert(0, format!("input set: {}, on the device", case.case.name));
            return Err(Failure::Kernel(Outcome::Wrong, Box::new(found)));
        }
        Ok(ns)
    }

    /// Puts contents into place, and something into everything else that a kernel may read.
    fn fill(
        &mut self,
        loaded: &mut Loaded<'p>,
        case: &Uploaded<'_>,
        places: &Places,
    ) -> Result<(), Refusal> {
        let contents = case.copies.iter().zip(&case.before);
        for ((copy, content), start) in contents.zip(&places.starts) {
            self.device.copy(*start, *copy, content.len() as u64)?;
        }
        let own = places.starts.iter().skip(case.copies.len());
        for (start, bytes) in own.zip(&loaded.program.recording.memory) {
            let value = self.seed.next_u64() as u32;
            self.device.fill(*start, value, bytes / 4)?;
        }
        self.reset(loaded)
    }

    /// Makes variables of the module hold what they hold at first.
    fn reset(&self, loaded: &mut Loaded<'p>) -> Result<(), Refusal> {
        if loaded.is_reloaded {
            self.device.wait()?;
            self.device.unload(loaded.module)?;
            loaded.module = self.device.load(&loaded.program.ptx)?;
            return self.look_up(loaded);
        }
        for (address, content) in &loaded.variables {
            self.device.put(*address, content)?;
        }
        Ok(())
    }

    /// Returns how long the requests took, nanoseconds.
    fn timed(
        &mut self,
        loaded: &mut Loaded<'p>,
        case: &Uploaded<'_>,
        places: &Places,
    ) -> Result<f64, Failure> {
        let mut call = || -> Result<(f64, f64), Refusal> {
            if self.problem.ranking == Ranking::Warm {
                self.requests(loaded, places)?;
                for (number, buffer) in self.problem.buffers.iter().enumerate() {
                    if buffer.is_written() {
                        let bytes = case.before[number].len() as u64;
                        self.device
                            .copy(places.starts[number], case.copies[number], bytes)?;
                    }
                }
                self.reset(loaded)?;
                self.spin(BUSY_NS)?;
            } else {
                self.flush()?;
            }
            let began = Instant::now();
            self.device.record(self.events[0])?;
            self.requests(loaded, places)?;
            self.device.record(self.events[1])?;
            let ns = self.device.elapsed_ns(self.events[0], self.events[1])?;
            Ok((ns, began.elapsed().as_secs_f64() * 1e9))
        };
        let (ns, by_host) = call().map_err(of_test)?;
        // What lies between two events lies between the two looks at the other clock.
        if !ns.is_finite() || by_host * (1.0 + CLOCKS_AGREE) + 1e4 < ns {
            return Err(Failure::Device(format!(
                "the clocks of device and computer contradict each other: {ns:.0} ns of the device within {by_host:.0} ns"
            )));
        }
        Ok(ns.max(1.0))
    }

    /// Takes everything out of the L2, and leaves nothing there that is still to be written.
    fn flush(&mut self) -> Result<(), Refusal> {
        let (start, bytes) = self.flushed;
        let words = bytes / 4;
        self.device
            .fill(start, self.seed.next_u64() as u32, words)?;
        let arguments = [start.to_le_bytes(), words.to_le_bytes()].concat();
        let blocks = 8 * self.device.told.sms.max(1);
        self.device
            .launch(self.read, ([blocks, 1, 1], [256, 1, 1]), 0, &arguments)
    }

    fn spin(&self, ns: u64) -> Result<(), Refusal> {
        let arguments = [self.own.to_le_bytes(), ns.to_le_bytes()].concat();
        self.device
            .launch(self.clock, ([1; 3], [1; 3]), 0, &arguments)
    }

    /// Keeps the device busy until its clock no longer rises, and returns that clock. Events and
    /// the clock of this computer must tell the same of a kernel of known length.
    ///
    /// # Errors
    /// That they do not.
    pub fn clock(&mut self) -> Result<Clock, Failure> {
        let mut clock = Clock {
            mhz: 0.0,
            disagreement: f64::INFINITY,
        };
        for look in 0..LOOKS {
            let (mhz, disagreement) = self.look().map_err(of_test)?;
            let is_steady = (mhz / clock.mhz - 1.0).abs() < 0.01;
            clock.mhz = mhz;
            // Whatever else runs on this computer makes its clock late, sometimes.
            clock.disagreement = clock.disagreement.min(disagreement);
            if is_steady && clock.disagreement < CLOCKS_AGREE && 4 < look {
                break;
            }
        }
        if CLOCKS_AGREE <= clock.disagreement || !clock.mhz.is_finite() || clock.mhz <= 0.0 {
            return Err(Failure::Device(format!(
                "the clocks of device and computer differ by {:.0} % on {LOOK_NS} ns; nothing can be timed here",
                clock.disagreement * 100.0
            )));
        }
        Ok(clock)
    }

    fn look(&self) -> Result<(f64, f64), Refusal> {
        self.device.wait()?;
        let began = Instant::now();
        self.device.record(self.events[0])?;
        self.spin(LOOK_NS)?;
        self.device.record(self.events[1])?;
        let by_event = self.device.elapsed_ns(self.events[0], self.events[1])?;
        let by_host = began.elapsed().as_secs_f64() * 1e9;
        let told = self.device.get(self.own, 16)?;
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&told[at..at + 8]);
            u64::from_le_bytes(bytes) as f64
        };
        Ok((1e3 * word(0) / word(8), (by_host / by_event - 1.0).abs()))
    }

    /// Returns the clock that the driver's monitor tells, MHz.
    #[must_use]
    pub fn monitored_mhz(&self) -> Option<u32> {
        self.device.monitored_mhz()
    }
}
