//! What a kernel is on a device: its code, and the list that its host part wrote.

use crate::bench::{CudaBench, Ready};
use crate::requests::{Recording, Request, Target};
use autocomp_cuda_sim::machine::{DeviceMemory, Launch, Limits, Order, Run};
use autocomp_cuda_sim::ptx::Space;
use autocomp_cuda_sim::{Module, decode, parse};
use autocomp_eval::{EvalError, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a kernel is on a device.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) ptx: String,
    pub(super) recording: Recording,
    /// Global variables of the module and what they hold at first.
    pub(super) variables: Vec<(String, Vec<u8>)>,
}

impl Ready {
    /// Returns what a device is given.
    pub(super) fn program(&self) -> Program {
        Program::new(self.ptx.clone(), &self.module, self.recording.clone())
    }
}

impl CudaBench {
    /// Compiles a kernel and returns what a device is given.
    ///
    /// # Errors
    /// [`EvalError`] if the environment does not allow it.
    pub fn program(&self, source: &str) -> Result<Result<Program, Verdict>, EvalError> {
        Ok(self.prepare(source)?.map(|ready| ready.program()))
    }
}

/// Returns how a list names a place: its address, or the number of its variable, and the bytes
/// behind.
fn place(target: &Target, mut number: impl FnMut(&str) -> u64) -> (u64, u64) {
    match target {
        Target::Address(address) => (*address, 0),
        Target::Variable(name, offset) => (number(name), *offset),
    }
}

impl Program {
    fn new(ptx: String, module: &Module, recording: Recording) -> Self {
        let variables = module.variables.iter();
        let variables = variables.filter(|it| it.space == Space::Global).map(|it| {
            let mut content = it.initial.clone();
            content.resize(it.bytes as usize, 0);
            (it.name.clone(), content)
        });
        Self {
            ptx,
            variables: variables.collect(),
            recording,
        }
    }

    /// Makes a program of launches of kernels without variables.
    #[must_use]
    pub fn of_launches(ptx: String, launches: Vec<Launch>) -> Self {
        Self {
            ptx,
            recording: Recording {
                requests: launches.into_iter().map(Request::Launch).collect(),
                ..Recording::default()
            },
            variables: Vec::new(),
        }
    }

    /// Returns the code, and the list as the recorder writes it, behind a line with the names
    /// of kernels and variables, whose numbers stand for them.
    #[must_use]
    pub fn texts(&self) -> (&str, String) {
        let Recording {
            requests, memory, ..
        } = &self.recording;
        let mut names: Vec<String> = Vec::new();
        let mut list = String::new();
        for bytes in memory {
            let _ = writeln!(list, "memory {bytes}");
        }
        let mut number = |name: &'_ str| -> u64 {
            let known = names.iter().position(|it| *it == name);
            let number = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(name.to_owned());
            }
            number as u64
        };
        let digits = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|it| format!("{it:02x}"))
                .collect::<String>()
        };
        for request in requests {
            let _ = match request {
                Request::Launch(launch) => {
                    let number = number(&launch.kernel);
                    let [gx, gy, gz] = launch.grid;
                    let [bx, by, bz] = launch.block;
                    let (shared, allowed) = (launch.dynamic_shared, launch.allowed_shared);
                    writeln!(
                        list,
                        "attribute {number} 8 {allowed}\nlaunch {number} {gx} {gy} {gz} {bx} {by} {bz} {shared} x{}",
                        digits(&launch.arguments)
                    )
                }
                Request::Set { to, value, bytes } => writeln!(list, "set {to} {value} {bytes}"),
                Request::Copy { to, from, bytes } => {
                    let (to, behind) = place(to, &mut number);
                    let (from, skipped) = place(from, &mut number);
                    writeln!(list, "copy {to} {behind} {from} {skipped} {bytes}")
                }
                Request::Put { to, content } => {
                    let (to, offset) = place(to, &mut number);
                    writeln!(list, "put {to} {offset} x{}", digits(content))
                }
                Request::Free { address } => writeln!(list, "free {address}"),
            };
        }
        (&self.ptx, format!("{}\n{list}end\n", names.join(" ")))
    }

    /// Reads what [`texts`](Self::texts) returns.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(ptx: &str, list: &str) -> Result<Self, String> {
        let (names, list) = list.split_once('\n').ok_or("the list has no names")?;
        let names: BTreeMap<u64, String> = (0..).zip(names.split(' ').map(str::to_owned)).collect();
        let recording = Recording::parse(list, &names)?;
        let module = parse(ptx, "kernel.cu").map_err(|error| error.to_string())?;
        Ok(Self::new(ptx.to_owned(), &module, recording))
    }

    /// Returns what buffers with these contents hold after a run on a simulated GPU.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn simulated(&self, contents: &[Vec<u8>], limits: Limits) -> Result<Vec<Vec<u8>>, String> {
        let module = parse(&self.ptx, "kernel.cu").map_err(|error| error.to_string())?;
        let kernels = decode(&module).map_err(|error| error.to_string())?;
        let mut memory = DeviceMemory::new(&module);
        for content in contents {
            memory.add_buffer(content.clone(), true);
        }
        for bytes in &self.recording.memory {
            memory.add_scratch(vec![0; *bytes as usize]);
        }
        let run = Run {
            order: Order::Forward,
            is_watched: false,
            together: 1,
            most_steps: 1 << 30,
            limits,
        };
        let address = |it: &Target| it.address(&module).ok_or("there is no such variable");
        for request in &self.recording.requests {
            let done = match request {
                Request::Launch(launch) => {
                    let kernel = kernels.iter().find(|it| it.name == launch.kernel);
                    let kernel = kernel.ok_or("it launches what is no kernel")?;
                    launch.run(kernel, &mut memory, run).map(|_| ())
                }
                Request::Set { to, value, bytes } => memory.set(*to, *value, *bytes),
                Request::Copy { to, from, bytes } => {
                    memory.copy(address(to)?, address(from)?, *bytes)
                }
                Request::Put { to, content } => memory.put(address(to)?, content),
                Request::Free { address } => memory.free(*address),
            };
            done.map_err(|finding| format!("{finding:?}"))?;
        }
        let numbers = 0..contents.len() as u32;
        Ok(numbers.map(|it| memory.buffer(it).to_vec()).collect())
    }
}
