//! Launches: which kernel, how many threads, with what.

use super::block::{Block, Resident};
use super::delays::Delays;
use super::findings::{Fault, Finding, Refusal, Thread};
use super::memory::DeviceMemory;
use super::observer::{Nobody, Observer, Somebody, Witness};
use super::precedence::Precedence;
use super::shadow::Shadow;
use super::specials;
use super::warp::Warp;
use crate::decode::{BANKS, Kernel};
use crate::ptx::Line;

/// What a device accepts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// Bytes of shared memory that a block may have without asking for more.
    pub static_shared_bytes: u64,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Name of the kernel, mangled.
    pub kernel: String,
    /// Blocks in each direction.
    pub grid: [u32; 3],
    /// Threads of a block in each direction.
    pub block: [u32; 3],
    /// Bytes of shared memory beside those that the kernel declares.
    pub dynamic_shared: u32,
    /// Bytes of shared memory that the host allowed with `cudaFuncSetAttribute`.
    pub allowed_shared: u32,
    /// The arguments as they lie in memory.
    pub arguments: Vec<u8>,
}

/// In which order blocks run, and warps of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they are numbered.
    Forward,
    /// The last one first.
    Backward,
    /// By a number that this seed decides.
    Mixed(u64),
}

impl Order {
    /// Returns which of `all` has its turn in place `place`.
    pub(crate) fn number(self, place: u32, all: u32) -> u32 {
        match self {
            Self::Forward => place,
            Self::Backward => all - 1 - place,
            Self::Mixed(seed) => mixed(place, all, seed),
        }
    }
}

/// How a launch is run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Which blocks.
    pub order: Order,
    /// Whether races and reads of what nobody wrote are looked for.
    pub is_watched: bool,
    /// Steps of warps that it may take.
    pub most_steps: u64,
    /// What the device accepts.
    pub limits: Limits,
    /// How many blocks take turns; where somebody looks for races, one block ends before the next
    /// one begins.
    pub together: u32,
}

/// Bytes that registers and memory of blocks take that take turns.
const MOST_TOGETHER: usize = 64 << 20;

impl Launch {
    /// Returns the threads of a block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.block
            .iter()
            .fold(1_u32, |product, it| product.saturating_mul(*it))
    }

    /// Returns the number of blocks.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.grid
            .iter()
            .fold(1, |product, it| product * u64::from(*it))
    }

    /// Returns the index of the thread `number` of a block.
    pub(crate) fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.block.map(|it| it.max(1));
        [number % x, number / x % y, number / x / y]
    }

    /// Returns the index of the block `number`.
    pub(crate) fn block_position(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.grid.map(|it| it.max(1));
        [number % x, number / x % y, number / x / y]
    }

    /// Returns the bytes of shared memory of a block.
    #[must_use]
    pub fn shared_memory(&self, kernel: &Kernel) -> u64 {
        self.shared_bytes(kernel)
    }

    pub(crate) fn shared_bytes(&self, kernel: &Kernel) -> u64 {
        kernel.shared_bytes + u64::from(self.dynamic_shared)
    }

    /// Returns the bytes of shared memory with those between variables that are nobody's.
    pub(crate) fn shared_span(&self, kernel: &Kernel) -> u64 {
        // Without what aligns the variable behind a gap.
        let gaps = kernel.shared_gaps.iter().map(|it| it.len() as u64 / BANKS);
        self.shared_bytes(kernel) + BANKS * gaps.sum::<u64>()
    }

    /// Returns why no device accepts it, if that is so.
    fn refusal(&self, kernel: &Kernel, limits: Limits) -> Option<(Refusal, String)> {
        let threads = self.block.iter().map(|it| u64::from(*it)).product::<u64>();
        let [x, y, z] = self.grid;
        let shared = self.shared_bytes(kernel);
        if self.grid.contains(&0) || self.block.contains(&0) {
            return Some((
                Refusal::Nothing,
                format!("its grid is {x} x {y} x {z} blocks of {threads} threads"),
            ));
        }
        if 64 < self.block[2] {
            return Some((
                Refusal::Depth,
                format!(
                    "blocks of {} x {} x {} threads, which may be 64 threads deep",
                    self.block[0], self.block[1], self.block[2]
                ),
            ));
        }
        if u64::from(limits.threads) < threads {
            return Some((
                Refusal::Threads,
                format!(
                    "{threads} threads in a block, of which it may have {}",
                    limits.threads
                ),
            ));
        }
        if kernel.max_threads != 0 && u64::from(kernel.max_threads) < threads {
            return Some((
                Refusal::Bounds,
                format!(
                    "{threads} threads in a block, of which `__launch_bounds__` allows {}",
                    kernel.max_threads
                ),
            ));
        }
        if 0x7fff_ffff < x || 65_535 < y || 65_535 < z {
            return Some((
                Refusal::Grid,
                format!(
                    "a grid of {x} x {y} x {z} blocks, of which it may have 2147483647 x 65535 x 65535"
                ),
            ));
        }
        if u64::from(u32::MAX) <= self.blocks() {
            return Some((
                Refusal::Blocks,
                format!("{} blocks, which is more than is simulated", self.blocks()),
            ));
        }
        if limits.static_shared_bytes < kernel.shared_bytes {
            return Some((
                Refusal::StaticShared,
                format!(
                    "{} bytes of static shared memory, of which it may have {}",
                    kernel.shared_bytes, limits.static_shared_bytes
                ),
            ));
        }
        if limits.shared_bytes < shared {
            return Some((
                Refusal::Shared,
                format!(
                    "{shared} bytes of shared memory, of which it may have {}",
                    limits.shared_bytes
                ),
            ));
        }
        let allowed = u64::from(self.allowed_shared)
            .max(limits.static_shared_bytes - kernel.shared_bytes.min(limits.static_shared_bytes));
        if allowed < u64::from(self.dynamic_shared) {
            return Some((
                Refusal::DynamicShared,
                format!(
                    "{} bytes of dynamic shared memory without `cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, …)`",
                    self.dynamic_shared
                ),
            ));
        }
        if kernel.parameter_bytes() != self.arguments.len() as u64 {
            return Some((
                Refusal::Arguments,
                format!(
                    "{} bytes of arguments instead of {}",
                    self.arguments.len(),
                    kernel.parameter_bytes()
                ),
            ));
        }
        None
    }

    /// Runs the launch on `memory` and returns the steps that its warps took.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn run(
        &self,
        kernel: &Kernel,
        memory: &mut DeviceMemory,
        run: Run,
    ) -> Result<u64, Box<Finding>> {
        self.run_before(kernel, memory, &mut Nobody, run, None)
    }

    /// Does the same and tells `observer` of each step.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn run_observed(
        &self,
        kernel: &Kernel,
        memory: &mut DeviceMemory,
        observer: &mut dyn Observer,
        run: Run,
    ) -> Result<u64, Box<Finding>> {
        self.run_before(kernel, memory, &mut Somebody(observer), run, None)
    }

    /// Does the same with the blocks of these numbers only, in this order.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn run_blocks(
        &self,
        kernel: &Kernel,
        memory: &mut DeviceMemory,
        observer: &mut dyn Observer,
        run: Run,
        numbers: &[u32],
    ) -> Result<u64, Box<Finding>> {
        self.run_before(kernel, memory, &mut Somebody(observer), run, Some(numbers))
    }

    fn run_before<O: Witness>(
        &self,
        kernel: &Kernel,
        memory: &mut DeviceMemory,
        observer: &mut O,
        run: Run,
        numbers: Option<&[u32]>,
    ) -> Result<u64, Box<Finding>> {
        if let Some((refusal, reason)) = self.refusal(kernel, run.limits) {
            return Err(Box::new(Finding {
                fault: Fault::BadLaunch { refusal, reason },
                kernel: kernel.name.clone(),
                line: Line(0),
                thread: Thread::default(),
            }));
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.run_with_avx2(kernel, memory, observer, run, numbers) };
        }
        self.run_anywhere(kernel, memory, observer, run, numbers)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn run_with_avx2<O: Witness>(
        &self,
        kernel: &Kernel,
        memory: &mut DeviceMemory,
        observer: &mut O,
        run: Run,
        numbers: Option<&[u32]>,
    ) -> Result<u64, Box<Finding>> {
        self.run_anywhere(kernel, memory, observer, run, numbers)
    }

    #[inline(always)]
    fn run_anywhere<O: Witness>(
        &self,
        kernel: &Kernel,
        memory: &mut DeviceMemory,
        observer: &mut O,
        run: Run,
        numbers: Option<&[u32]>,
    ) -> Result<u64, Box<Finding>> {
        memory.begin_launch(run.is_watched, kernel.granules[1]);
        let blocks = self.blocks() as u32;
        let threads = self.threads();
        let unset = kernel.liveness.unset(kernel);
        let warps = || -> Vec<Warp> {
            let ready = (0..threads.div_ceil(32)).map(|number| {
                let mut warp = Warp::new(kernel, &unset, run.order, number, threads - number * 32);
                specials::fill(&mut warp, kernel, self);
                warp
            });
            ready.collect()
        };
        let mut block = Block {
            kernel,
            launch: self,
            memory,
            observer,
            shared: Vec::new(),
            shared_shadow: Shadow::default(),
            precedence: Precedence::default(),
            delays: (!run.is_watched && matches!(run.order, Order::Mixed(_))).then(Delays::default),
            number: 0,
            is_watched: run.is_watched,
            arrived: [0; 16],
            time: 0,
            most_steps: run.most_steps,
            is_over: false,
            turns: run.order,
        };
        let places = numbers.map_or(blocks, |it| it.len() as u32);
        let mut waiting = (0..places).map(|place| match run.order {
            _ if let Some(numbers) = numbers => numbers[place as usize],
            order => order.number(place, blocks),
        });
        let together = match run.is_watched {
            true => 1,
            false => run.together.max(1) as usize,
        };
        let mut residents: Vec<Resident> = Vec::new();
        let mut bytes = 0;
        while residents.len() < together
            && bytes <= MOST_TOGETHER
            && let Some(number) = waiting.next()
        {
            let mut resident = Resident::new(warps(), number);
            bytes += resident.bytes() + self.shared_span(kernel) as usize;
            block.begin(&mut resident);
            residents.push(resident);
        }
        let mut at = 0;
        while !residents.is_empty() {
            at %= residents.len();
            if block.go_on(&mut residents[at])? {
                match waiting.next() {
                    Some(number) => {
                        residents[at].number = number;
                        block.begin(&mut residents[at]);
                    }
                    None => {
                        residents.remove(at);
                        continue;
                    }
                }
            }
            at += 1;
        }
        Ok(block.time)
    }
}

/// Returns the number of the block that runs in place `place`: a permutation.
fn mixed(place: u32, blocks: u32, seed: u64) -> u32 {
    // A walk of a step that shares no factor with the number of blocks.
    let blocks = u64::from(blocks);
    let mut step = (seed | 1) % blocks.max(1);
    let shares = |step: u64| {
        let (mut a, mut b) = (step, blocks);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a != 1
    };
    if step == 0 {
        step = 1;
    }
    while shares(step) {
        step += 1;
    }
    ((u64::from(place) * step + (seed >> 32) % blocks) % blocks) as u32
}
