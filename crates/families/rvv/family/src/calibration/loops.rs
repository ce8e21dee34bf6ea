//! Loops that are timed as they were on the hardware.

use crate::Machine;
use autocomp_riscv::{Exit, FirstLoads, Hart, Limits, Memory, Mode};
use autocomp_riscv_machine::NoAccelerator;

const BASE: u64 = 0x8000_0000;
const BYTES: usize = 8 << 20;
/// Where loops read and write.
const FROM: u64 = BASE + (1 << 20);
const TO: u64 = BASE + (4 << 20);
/// Instructions between two branches, and how often they are executed.
const UNROLLED: u32 = 64;
const ROUNDS: u32 = 50;

const EBREAK: u32 = 0x0010_0073;

/// A core with some memory that stands alone.
pub(super) struct Loops {
    hart: Hart,
    memory: Memory,
}

impl Loops {
    pub fn new(machine: &Machine) -> Self {
        Self {
            hart: machine.hart(Mode::Timed, machine.vlen(), FirstLoads::Whole),
            memory: Memory::new(BASE, BYTES),
        }
    }

    /// Runs words and `ebreak`; returns the cycles.
    fn run(&mut self, words: &[u32]) -> f64 {
        let code: Vec<u8> = words
            .iter()
            .chain(&[EBREAK])
            .flat_map(|it| it.to_le_bytes())
            .collect();
        if let Some(place) = self.memory.host_mut(BASE, code.len()) {
            place.copy_from_slice(&code);
        }
        self.hart.set_pc(BASE);
        let limits = Limits {
            instructions: u64::MAX,
            cycles: u64::MAX,
        };
        let begun = self.hart.cycle();
        let exit = self
            .hart
            .run(&mut self.memory, &mut NoAccelerator::default(), limits);
        match exit {
            Exit::Fault(fault) if fault.rule == "ebreak" => (self.hart.cycle() - begun) as f64,
            // Not a number of cycles, which is seen in the table.
            _ => f64::NAN,
        }
    }

    /// Returns the cycles of an instruction on elements of `sew` bits, or a scalar one, in groups
    /// of 2 to the power of `log` registers.
    pub fn instruction(&mut self, word: u32, sew: u32, log: u32) -> f64 {
        for register in 5..32 {
            self.hart.set_register(register, 3);
        }
        self.hart.set_register(10, FROM);
        self.hart.set_register(11, 8);
        self.hart.set_register(9, ROUNDS.into());
        let mut words = Vec::new();
        if sew > 0 {
            // vsetvli x6, x0, type
            let vtype = (sew / 8).ilog2() << 3 | log;
            words.push(vtype << 20 | 7 << 12 | 6 << 7 | 0x57);
        }
        let begin = words.len();
        for idx in 0..UNROLLED {
            words.push(self.varied(word, idx, sew, log));
        }
        // addi x9, x9, -1; bnez x9
        words.push(0xfff4_8493);
        words.push(branch_back(9, (words.len() - begin) as u32));
        self.run(&words);
        self.hart.set_register(9, ROUNDS.into());
        let cycles = self.run(&words);
        cycles / f64::from(UNROLLED * ROUNDS)
    }

    /// Returns the instruction with another destination, so that none waits for the one before.
    fn varied(&self, word: u32, idx: u32, sew: u32, log: u32) -> u32 {
        let is_access = word & 0x7f != 0x57;
        let gives_scalar = !is_access && matches!(word >> 12 & 7, 1 | 2) && word >> 26 == 0x10;
        let has_fields = is_access && word >> 29 > 0;
        let moves_registers = !is_access && word >> 12 & 7 == 3 && word >> 26 == 0x27;
        if sew == 0 || gives_scalar || has_fields || moves_registers {
            return word;
        }
        // Four registers are enough to hide any latency; groups lie from v8 on.
        let step = 1 << log;
        let wide = match !is_access && (word >> 26 >= 0x30 || word >> 26 == 0x12) {
            true => 2 * step,
            false => step,
        };
        let count = (8 / wide).max(1);
        word & !(31 << 7) | (8 + wide * (idx % count)) << 7
    }

    /// Returns the cycles of the second call of a product of matrices of 64 KiB each.
    pub fn kernel(&mut self, words: &[u32]) -> f64 {
        let mut cycles = 0.0;
        for _ in 0..2 {
            for (register, buffer) in (10..13).zip(0..) {
                self.hart.set_register(register, FROM + (buffer << 16));
            }
            cycles = self.run(words);
        }
        cycles
    }

    /// Returns the bytes of a cycle that a loop copies or fills.
    pub fn curve(&mut self, copies: bool, lmul: u32, bytes: usize) -> f64 {
        // vsetvli t0, a2, e8, m, ta, ma
        let configure = (0xc0 | lmul.ilog2()) << 20 | 12 << 15 | 7 << 12 | 5 << 7 | 0x57;
        let mut words = vec![configure];
        if copies {
            // vle8.v v8, (a1); add a1, a1, t0
            words.extend([0x0205_8407, 0x0055_85b3]);
        }
        // sub a2, a2, t0; vse8.v v8, (a0); add a0, a0, t0
        words.extend([0x4056_0633, 0x0205_0427, 0x0055_0533]);
        words.push(branch_back(12, words.len() as u32));
        let mut cycles = 0.0;
        for _ in 0..2 {
            self.hart.set_register(10, TO);
            self.hart.set_register(11, FROM);
            self.hart.set_register(12, bytes as u64);
            cycles = self.run(&words);
        }
        bytes as f64 / cycles
    }
}

/// Returns a branch so many instructions back while a register is not 0.
fn branch_back(register: u32, words: u32) -> u32 {
    let offset = (4 * words).wrapping_neg();
    (offset >> 12 & 1) << 31
        | (offset >> 5 & 0x3f) << 25
        | register << 15
        | 1 << 12
        | (offset >> 1 & 15) << 8
        | (offset >> 11 & 1) << 7
        | 0x63
}
