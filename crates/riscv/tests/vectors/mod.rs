//! Random programs of vector instructions, made from a seed, as images that run on the
//! interpreter and, with a header, under Linux on anything that emulates RISC-V.
//!
//! An image holds many programs, one behind the other, which share nothing but the arena. Each
//! loads all registers with random values of its own, executes some random instructions, and
//! stores all registers and control registers in a record of its own. An instruction that is
//! illegal is counted and left out by a handler. What an image leaves is the records and the
//! arena. Under Linux each record is written as soon as its program is over, so that what ends
//! the emulator itself costs one program.

/// Where the image lies.
pub const BASE: u64 = 0x1000_0000;
/// Bytes for code.
const CODE: usize = 1 << 20;
/// Bytes that instructions load from and store to; base registers point to its middle.
const ARENA: usize = 1 << 19;
/// Bytes of what a program begins with and leaves: scalars, then vector registers.
const SCALARS: usize = 1024;
/// Bytes of the stack on which signals are handled.
const STACK: usize = 1 << 16;

/// Bytes of the whole image for registers of `vlen` bits and so many programs.
pub fn image_bytes(vlen: usize, programs: usize) -> usize {
    (CODE + ARENA + 2 * programs * (SCALARS + 4 * vlen) + STACK + 4095) & !4095
}

/// Random numbers (SplitMix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// What handles illegal instructions, and ends the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Surroundings {
    /// Bare metal: `mtvec`; `ebreak` ends.
    Bare,
    /// Linux: a signal handler; the results are written to standard output.
    Linux,
}

/// An image as bytes from [`BASE`] on; it is entered at its first.
pub struct Image {
    pub image: Vec<u8>,
    /// Where the results lie in the image: records, then the arena.
    pub results: std::ops::Range<usize>,
}

/// Registers that no random instruction writes: the record of the program, scratch, the arena's
/// middle, an aligned place in it, a stride, and an index mask.
const RECORD: u32 = 31;
const SCRATCH: u32 = 30;
const SCRATCH_TOO: u32 = 29;
const MIDDLE: u32 = 28;
const STRIDE: u32 = 27;
const INDEX_MASK: u32 = 26;
/// Registers that random instructions may write.
const FREE: u64 = 24;

struct Writer {
    code: Vec<u32>,
}

impl Writer {
    fn put(&mut self, word: u32) {
        self.code.push(word);
    }

    fn addi(&mut self, rd: u32, rs1: u32, value: i32) {
        self.put((value as u32) << 20 | rs1 << 15 | rd << 7 | 0x13);
    }

    /// Loads a number of up to 31 bits.
    fn set(&mut self, rd: u32, value: i64) {
        let low = (value << 52 >> 52) as i32;
        let high = ((value - i64::from(low)) >> 12) as u32;
        self.put(high << 12 | rd << 7 | 0x37);
        self.put((low as u32) << 20 | rd << 15 | rd << 7 | 0x1b);
    }

    fn load(&mut self, rd: u32, rs1: u32, offset: u32) {
        self.put(offset << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x03);
    }

    fn store(&mut self, rs2: u32, rs1: u32, offset: u32) {
        self.put((offset >> 5) << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (offset & 31) << 7 | 0x23);
    }

    fn csrw(&mut self, csr: u32, rs1: u32) {
        self.put(csr << 20 | rs1 << 15 | 1 << 12 | 0x73);
    }

    fn csrr(&mut self, rd: u32, csr: u32) {
        self.put(csr << 20 | 2 << 12 | rd << 7 | 0x73);
    }

    fn vsetvl(&mut self, rd: u32, rs1: u32, rs2: u32) {
        self.put(0x40 << 25 | rs2 << 20 | rs1 << 15 | 7 << 12 | rd << 7 | 0x57);
    }
}

/// Control registers of a record, and where they are kept in it: `vl`, `vtype`, `vstart`,
/// `vcsr`, `fcsr`.
const CONTROLS: [(u32, u32); 5] = [
    (0xc20, 8),
    (0xc21, 16),
    (0x008, 24),
    (0x00f, 32),
    (0x003, 40),
];
/// Where scalar registers are kept: integer, floating-point.
const INTEGERS: u32 = 48;
const FLOATS: u32 = 304;

/// What an image is made from.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub seed: u64,
    /// Bits of a vector register.
    pub vlen: usize,
    /// The first program of the image, and the first that is not in it.
    pub programs: (usize, usize),
    /// Instructions of a program.
    pub length: usize,
    /// A program that has only so many of its instructions.
    pub cut: Option<(usize, usize)>,
    /// Whether half of the instructions are scalar ones of Zba, Zbb, Zbs and Zfh.
    pub scalars: bool,
}

impl Recipe {
    /// Returns the random numbers of a part of the image.
    fn numbers(&self, part: usize) -> Numbers {
        let mut numbers = Numbers(self.seed ^ (self.vlen as u64) << 48);
        Numbers(numbers.next() ^ (part as u64).wrapping_mul(0xd6e8_feb8_6659_fd93))
    }
}

/// Makes an image.
pub fn image(recipe: Recipe, to: Surroundings) -> Image {
    let (first, end_program) = recipe.programs;
    let count = end_program - first;
    let record = SCALARS + 4 * recipe.vlen;
    let outputs = CODE;
    let arena = outputs + count * record;
    let inputs = arena + ARENA;
    let mut image = vec![0; image_bytes(recipe.vlen, count)];
    let mut numbers = recipe.numbers(0);
    for byte in image[arena..inputs].chunks_exact_mut(8) {
        byte.copy_from_slice(&interesting(&mut numbers).to_le_bytes());
    }
    let mut writer = Writer { code: Vec::new() };
    let address = |place: usize| (BASE as usize + place) as i64;
    begin(&mut writer, to, address(image.len() - STACK));
    for idx in 0..count {
        let program = first + idx;
        let mut numbers = recipe.numbers(1 + program);
        let input = &mut image[inputs + idx * record..inputs + (idx + 1) * record];
        fill(input, &mut numbers);
        if recipe.scalars {
            box_halves(input, &mut numbers);
        }
        let kept = match recipe.cut {
            Some((cut, kept)) if cut == program => kept,
            _ => recipe.length,
        };
        let places = Places {
            input: address(inputs + idx * record),
            output: address(outputs + idx * record),
            middle: address(arena + ARENA / 2),
        };
        program_code(&mut writer, &mut numbers, &places, recipe, kept);
        if to == Surroundings::Linux {
            write_out(&mut writer, places.output, record as i64);
        }
    }
    if to == Surroundings::Linux {
        write_out(&mut writer, address(arena), ARENA as i64);
    }
    end(&mut writer, to);
    assert!(4 * writer.code.len() <= CODE, "the code is too long");
    for (place, word) in image.chunks_exact_mut(4).zip(&writer.code) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    Image {
        image,
        results: outputs..inputs,
    }
}

/// Eight bytes of which many are numbers at the edge of something.
fn interesting(numbers: &mut Numbers) -> u64 {
    let any = numbers.next();
    match numbers.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => any & 0x8000_8000_8080_8080 | 1,
        3 => 0x7f80_0001_ff80_0000 ^ (any & 0x8040_0000_0040_0001),
        4 => any & 0x807f_ffff_807f_ffff,
        5 => (any as u32 as f32).to_bits().into(),
        6 => ((any >> 40) as f64 - 1000.0).to_bits(),
        _ => any,
    }
}

/// Makes what a program begins with.
fn fill(input: &mut [u8], numbers: &mut Numbers) {
    for eight in input.chunks_exact_mut(8) {
        eight.copy_from_slice(&interesting(numbers).to_le_bytes());
    }
    // Numbers of single precision in some registers, which are boxed.
    for register in 0..32 {
        let place = FLOATS as usize + 8 * register;
        if numbers.one_in(2) {
            input[place + 4..place + 8].fill(0xff);
        }
    }
    let mut set = |place: u32, value: u64| {
        input[place as usize..place as usize + 8].copy_from_slice(&value.to_le_bytes());
    };
    // `vtype`, how many elements, `vcsr`, `fcsr`, stride.
    set(16, vtype(numbers));
    set(8, numbers.below(40) * numbers.below(8));
    // From the first element on: QEMU 7.2 leaves `vstart` as it is where it is not below `vl`.
    set(24, 0);
    set(32, numbers.below(8));
    set(40, numbers.below(5) << 5);
    set(0, (numbers.below(40) as i64 - 20) as u64);
}

fn vtype(numbers: &mut Numbers) -> u64 {
    let group = numbers.of(&[0, 0, 0, 0, 1, 1, 2, 3, 5, 6, 7]);
    let width = numbers.below(4);
    // Parts of registers hold narrow elements only; rarely a type is asked for that is illegal.
    let width = match group {
        5..=7 if !numbers.one_in(8) => width.min(group - 5),
        _ => width,
    };
    width << 3 | group | numbers.below(4) << 6
}

/// Writes how an image begins: a jump over the handler, the handler, and what installs it.
fn begin(writer: &mut Writer, to: Surroundings, stack: i64) {
    let handler_words = 8;
    let jump = 4 * (handler_words as u32 + 1);
    writer.put((jump >> 1 & 0x3ff) << 21 | 0x6f);
    let before = writer.code.len();
    match to {
        Surroundings::Bare => {
            writer.csrr(SCRATCH, 0x341);
            writer.addi(SCRATCH, SCRATCH, 4);
            writer.csrw(0x341, SCRATCH);
            writer.load(SCRATCH, RECORD, 0);
            writer.addi(SCRATCH, SCRATCH, 1);
            writer.store(SCRATCH, RECORD, 0);
            writer.put(0x3020_0073);
        }
        Surroundings::Linux => {
            // The context of the signal is the third argument; its registers, the program
            // counter first, are 176 bytes in.
            let (context, a, b) = (12, 5, 6);
            writer.load(a, context, 176);
            writer.addi(a, a, 4);
            writer.store(a, context, 176);
            writer.load(a, context, 176 + 8 * RECORD);
            writer.load(b, a, 0);
            writer.addi(b, b, 1);
            writer.store(b, a, 0);
            writer.put(0x0000_8067);
        }
    }
    while writer.code.len() < before + handler_words {
        writer.addi(0, 0, 0);
    }
    let handler = (BASE + 4) as i64;
    match to {
        Surroundings::Bare => {
            writer.set(SCRATCH, handler);
            writer.csrw(0x305, SCRATCH);
        }
        Surroundings::Linux => {
            // sigaltstack({stack, 0, bytes}, 0), since the stack pointer is any number later.
            writer.addi(2, 2, -64);
            writer.set(SCRATCH, stack);
            writer.store(SCRATCH, 2, 0);
            writer.store(0, 2, 8);
            writer.set(SCRATCH, STACK as i64);
            writer.store(SCRATCH, 2, 16);
            writer.addi(10, 2, 0);
            writer.addi(11, 0, 0);
            writer.addi(17, 0, 132);
            writer.put(0x73);
            // rt_sigaction(SIGILL, {handler, SA_ONSTACK, 0}, 0, 8).
            writer.set(SCRATCH, handler);
            writer.store(SCRATCH, 2, 0);
            writer.set(SCRATCH, 0x0800_0000);
            writer.store(SCRATCH, 2, 8);
            writer.store(0, 2, 16);
            writer.addi(10, 0, 4);
            writer.addi(11, 2, 0);
            writer.addi(12, 0, 0);
            writer.addi(13, 0, 8);
            writer.addi(17, 0, 134);
            writer.put(0x73);
        }
    }
}

/// Writes what writes so many bytes to standard output.
fn write_out(writer: &mut Writer, from: i64, bytes: i64) {
    writer.addi(10, 0, 1);
    writer.set(11, from);
    writer.set(12, bytes);
    writer.addi(17, 0, 64);
    writer.put(0x73);
}

fn end(writer: &mut Writer, to: Surroundings) {
    match to {
        Surroundings::Bare => {
            // No handler any more, so that this ends the run.
            writer.csrw(0x305, 0);
            writer.put(0x0010_0073);
        }
        Surroundings::Linux => {
            // exit(0).
            writer.addi(10, 0, 0);
            writer.addi(17, 0, 93);
            writer.put(0x73);
        }
    }
}

/// Where a program finds what it begins with, where it leaves its record, and the middle of the
/// arena.
struct Places {
    input: i64,
    output: i64,
    middle: i64,
}

/// Writes a program.
fn program_code(
    writer: &mut Writer,
    numbers: &mut Numbers,
    places: &Places,
    Recipe {
        length, scalars, ..
    }: Recipe,
    kept: usize,
) {
    writer.set(RECORD, places.input);
    whole_registers(writer, 0x07);
    writer.load(SCRATCH, RECORD, 40);
    writer.csrw(0x003, SCRATCH);
    writer.load(SCRATCH, RECORD, 32);
    writer.csrw(0x00f, SCRATCH);
    for register in 0..32 {
        // fld
        let offset = FLOATS + 8 * register;
        writer.put(offset << 20 | RECORD << 15 | 3 << 12 | register << 7 | 0x07);
    }
    for register in 1..=FREE as u32 {
        writer.load(register, RECORD, INTEGERS + 8 * register);
    }
    writer.load(STRIDE, RECORD, 0);
    writer.load(SCRATCH, RECORD, 8);
    writer.load(SCRATCH_TOO, RECORD, 16);
    writer.vsetvl(0, SCRATCH, SCRATCH_TOO);
    writer.load(SCRATCH, RECORD, 24);
    writer.csrw(0x008, SCRATCH);
    writer.set(MIDDLE, places.middle);
    writer.set(INDEX_MASK, 0xffff);
    writer.set(RECORD, places.output);
    for place in 0..length {
        let before = writer.code.len();
        if scalars && numbers.one_in(2) {
            writer.put(scalar(numbers));
        } else {
            instruction(writer, numbers);
        }
        if place >= kept {
            writer.code.truncate(before);
        }
    }
    for (csr, offset) in CONTROLS {
        writer.csrr(SCRATCH, csr);
        writer.store(SCRATCH, RECORD, offset);
    }
    for register in 1..=FREE as u32 {
        writer.store(register, RECORD, INTEGERS + 8 * register);
    }
    for register in 0..32 {
        // fsd
        let offset = FLOATS + 8 * register;
        writer.put(
            (offset >> 5) << 25
                | register << 20
                | RECORD << 15
                | 3 << 12
                | (offset & 31) << 7
                | 0x27,
        );
    }
    writer.csrw(0x008, 0);
    whole_registers(writer, 0x27);
}

/// Loads or stores all vector registers, behind the scalars of the record.
fn whole_registers(writer: &mut Writer, opcode: u32) {
    writer.addi(SCRATCH, RECORD, SCALARS as i32);
    writer.csrr(SCRATCH_TOO, 0xc22);
    // slli: the bytes of eight registers.
    writer.put(3 << 20 | SCRATCH_TOO << 15 | 1 << 12 | SCRATCH_TOO << 7 | 0x13);
    for register in [0, 8, 16, 24] {
        writer.put(7 << 29 | 1 << 25 | 8 << 20 | SCRATCH << 15 | register << 7 | opcode);
        writer.put(SCRATCH_TOO << 20 | SCRATCH << 15 | SCRATCH << 7 | 0x33);
    }
}

/// Writes one random instruction, or a few.
fn instruction(writer: &mut Writer, numbers: &mut Numbers) {
    match numbers.below(20) {
        0 | 1 => {
            // vsetvli, vsetivli or vsetvl with what is in a register.
            let (rd, rs1) = (
                numbers.below(FREE + 1) as u32,
                numbers.below(FREE + 1) as u32,
            );
            let bits = vtype(numbers) as u32;
            match numbers.below(3) {
                0 => {
                    writer.addi(SCRATCH, 0, bits as i32);
                    writer.vsetvl(rd, rs1, SCRATCH);
                }
                1 => writer.put(3 << 30 | bits << 20 | rs1 << 15 | 7 << 12 | rd << 7 | 0x57),
                _ => {
                    let any = numbers.below(70);
                    writer.addi(SCRATCH, 0, any as i32);
                    writer.put(bits << 20 | SCRATCH << 15 | 7 << 12 | rd << 7 | 0x57);
                }
            }
        }
        2..=5 => access(writer, numbers),
        _ => {
            let word = operation(numbers);
            let (funct3, funct6, vs1) = (word >> 12 & 7, word >> 26, word >> 15 & 31);
            // QEMU 7.2 moves whole registers whatever the type is, and ends itself where numbers
            // are rounded towards zero from or to elements of 8 bits.
            if (funct3, funct6) == (3, 0x27) || (funct3, funct6) == (1, 0x12) && vs1 & 6 == 6 {
                let bits = numbers.of(&[1, 2]) << 3;
                writer.put(3 << 30 | bits << 20 | 9 << 15 | 7 << 12 | 0x57);
            }
            writer.put(word);
        }
    }
}

/// Makes some registers hold numbers of half precision, which are boxed.
fn box_halves(input: &mut [u8], numbers: &mut Numbers) {
    for register in 0..32 {
        let place = FLOATS as usize + 8 * register;
        if numbers.one_in(2) {
            input[place + 2..place + 8].fill(0xff);
        }
    }
}

/// Opcode, funct7 and funct3 of what takes two integer registers (Zba, Zbb, Zbs).
const REGISTERS: [(u32, u32, u32); 26] = [
    (0x33, 0x10, 2),
    (0x33, 0x10, 4),
    (0x33, 0x10, 6),
    (0x33, 0x20, 4),
    (0x33, 0x20, 6),
    (0x33, 0x20, 7),
    (0x33, 5, 4),
    (0x33, 5, 5),
    (0x33, 5, 6),
    (0x33, 5, 7),
    (0x33, 0x30, 1),
    (0x33, 0x30, 5),
    (0x33, 0x24, 1),
    (0x33, 0x24, 5),
    (0x33, 0x34, 1),
    (0x33, 0x14, 1),
    (0x3b, 4, 0),
    (0x3b, 0x10, 2),
    (0x3b, 0x10, 4),
    (0x3b, 0x10, 6),
    (0x3b, 0x30, 1),
    (0x3b, 0x30, 5),
    // These two are no instructions.
    (0x33, 0x24, 2),
    (0x3b, 5, 4),
    (0x33, 1, 0),
    (0x3b, 0x20, 5),
];

/// Opcode, the upper six bits and funct3 of what takes a register and a distance.
const DISTANCES: [(u32, u32, u32); 9] = [
    (0x13, 0x12, 1),
    (0x13, 0x1a, 1),
    (0x13, 0x0a, 1),
    (0x13, 0x12, 5),
    (0x13, 0x1a, 5),
    (0x13, 0x18, 5),
    (0x13, 0x0a, 5),
    (0x1b, 0x02, 1),
    (0x1b, 0x18, 5),
];

/// Opcode, the upper twelve bits and funct3 of what takes one register; without `ctzw`, which
/// QEMU 7.2 counts beyond 32 bits.
const UNARY: [(u32, u32, u32); 10] = [
    (0x13, 0x600, 1),
    (0x13, 0x601, 1),
    (0x13, 0x602, 1),
    (0x13, 0x604, 1),
    (0x13, 0x605, 1),
    (0x13, 0x287, 5),
    (0x13, 0x6b8, 5),
    (0x1b, 0x600, 1),
    (0x1b, 0x602, 1),
    (0x3b, 0x080, 4),
];

/// Returns a random scalar instruction of Zba, Zbb, Zbs or Zfh.
fn scalar(numbers: &mut Numbers) -> u32 {
    let [rd, rs1, rs2] = [(); 3].map(|()| numbers.below(FREE + 1) as u32);
    let [fd, f1, f2, f3] = [(); 4].map(|()| numbers.below(32) as u32);
    let rounding = numbers.of(&[0, 0, 1, 2, 3, 4, 7, 7, 7]);
    let of = |opcode: u32, funct7: u32, funct3: u32, (rd, rs1, rs2): (u32, u32, u32)| {
        funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
    };
    let offset = numbers.below(32) as u32 * 2;
    match numbers.below(12) {
        0..=2 => {
            let (opcode, funct7, funct3) = numbers.of(&REGISTERS);
            of(opcode, funct7, funct3, (rd, rs1, rs2))
        }
        3 => {
            let (opcode, high, funct3) = numbers.of(&DISTANCES);
            let distance = numbers.below(64) as u32;
            high << 26 | distance << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
        }
        4 => {
            let (opcode, high, funct3) = numbers.of(&UNARY);
            high << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
        }
        5 => offset << 20 | MIDDLE << 15 | 1 << 12 | fd << 7 | 0x07,
        6 => (offset >> 5) << 25 | f2 << 20 | MIDDLE << 15 | 1 << 12 | (offset & 31) << 7 | 0x27,
        7 => {
            let opcode = numbers.of(&[0x43, 0x47, 0x4b, 0x4f]);
            of(opcode, f3 << 2 | 2, rounding, (fd, f1, f2))
        }
        8 | 9 => {
            let funct5 = numbers.of(&[0, 1, 2, 3, 4, 5]);
            let funct3 = match funct5 {
                4 | 5 => numbers.below(3) as u32,
                _ => rounding,
            };
            of(0x53, funct5 << 2 | 2, funct3, (fd, f1, f2))
        }
        10 => {
            // Between formats, from and to integers.
            let (funct7, source) = numbers.of(&[(0x22, 0), (0x22, 1), (0x20, 2), (0x21, 2)]);
            let kind = numbers.below(4) as u32;
            match numbers.below(3) {
                0 => of(0x53, 0x62, rounding, (rd, f1, kind)),
                1 => of(0x53, 0x6a, rounding, (fd, rs1, kind)),
                _ => of(0x53, funct7, rounding, (fd, f1, source)),
            }
        }
        _ => match numbers.below(5) {
            0 => of(0x53, 0x2e, rounding, (fd, f1, 0)),
            1 => of(0x53, 0x52, numbers.below(3) as u32, (rd, f1, f2)),
            2 => of(0x53, 0x72, 0, (rd, f1, 0)),
            3 => of(0x53, 0x72, 1, (rd, f1, 0)),
            _ => of(0x53, 0x7a, 0, (fd, rs1, 0)),
        },
    }
}

/// Returns a vector register, mostly one with which a group may begin.
fn register(numbers: &mut Numbers) -> u32 {
    let any = numbers.below(32) as u32;
    let step = numbers.of(&[1, 2, 4, 8, 8, 8]);
    any / step * step
}

fn operation(numbers: &mut Numbers) -> u32 {
    let funct3 = numbers.of(&[0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 5, 6]);
    let funct6 = numbers.below(64) as u32;
    // What has no masked form is reserved with one.
    let unmasked = matches!((funct3, funct6), (2, 0x17..=0x1f) | (1, 0x10) | (3, 0x27));
    let vm = u32::from(unmasked || !numbers.one_in(3));
    let mut vs1 = match funct3 {
        0..=2 => register(numbers),
        3 => numbers.below(32) as u32,
        5 => numbers.below(32) as u32,
        _ => numbers.below(FREE + 1) as u32,
    };
    let mut vs2 = register(numbers);
    // Here the field of a source says what is done.
    match (funct3, funct6) {
        (2, 0x10) => vs1 = numbers.of(&[0, 16, 17]),
        (2, 0x12) => vs1 = numbers.below(8) as u32,
        (2, 0x14) => vs1 = numbers.of(&[1, 2, 3, 16, 17]),
        (1, 0x10) => vs1 = 0,
        (1, 0x12) => vs1 = numbers.below(24) as u32,
        (1, 0x13) => vs1 = numbers.of(&[0, 4, 5, 16]),
        (3, 0x27) => vs1 = numbers.of(&[0, 1, 3, 7]),
        _ => {}
    }
    let is_move = matches!((funct3, funct6), (0 | 3 | 4 | 5, 0x17) if vm == 1)
        || matches!((funct3, funct6), (5 | 6, 0x10));
    if is_move || (funct3, funct6, vs1) == (2, 0x14, 17) {
        vs2 = 0;
    }
    let gives_scalar = matches!((funct3, funct6), (2, 0x10));
    let vd = if gives_scalar {
        numbers.below(FREE + 1) as u32
    } else {
        register(numbers)
    };
    funct6 << 26 | vm << 25 | vs2 << 20 | vs1 << 15 | funct3 << 12 | vd << 7 | 0x57
}

fn access(writer: &mut Writer, numbers: &mut Numbers) {
    let opcode = numbers.of(&[0x07, 0x07, 0x27]);
    let width = numbers.of(&[0, 5, 6, 7]);
    let vm = u32::from(!numbers.one_in(3));
    let count = if numbers.one_in(2) {
        0
    } else {
        numbers.below(8) as u32
    };
    let (vd, vs2) = (register(numbers), register(numbers));
    let of = |mode: u32, vs2: u32, count: u32, vm: u32, width: u32| {
        count << 29
            | mode << 26
            | vm << 25
            | vs2 << 20
            | MIDDLE << 15
            | width << 12
            | vd << 7
            | opcode
    };
    match numbers.below(6) {
        0 => writer.put(of(0, 0, count, vm, width)),
        1 => writer.put(of(2, STRIDE, count, vm, width)),
        2 => {
            // Indices of at most 16 bits stay in the arena; others are made so.
            let mode = numbers.of(&[1, 3]);
            if width >= 6 {
                // vand.vx, then the configuration is as it was.
                writer.csrr(SCRATCH, 0xc20);
                writer.csrr(SCRATCH_TOO, 0xc21);
                let sew = if width == 6 { 2 } else { 3 };
                let bits = sew << 3 | 3;
                let groups = vs2 & !7;
                writer.put(bits << 20 | 7 << 12 | SCRATCH << 7 | 0x57);
                writer.put(
                    0x09 << 26
                        | 1 << 25
                        | groups << 20
                        | INDEX_MASK << 15
                        | 4 << 12
                        | groups << 7
                        | 0x57,
                );
                // The number of elements is at most what fits, so that it is taken as it is.
                writer.csrr(SCRATCH, 0xc20);
                writer.vsetvl(0, SCRATCH, SCRATCH_TOO);
                writer.put(of(mode, groups, count, vm, width));
            } else {
                writer.put(of(mode, vs2, count, vm, width));
            }
        }
        3 => {
            // Aligned: QEMU 7.2 ends itself where they are not.
            let count = numbers.of(&[0, 1, 3, 7]);
            let width = if opcode == 0x27 { 0 } else { width };
            writer.put(of(0, 8, count, 1, width) & !(count << 7));
        }
        4 => writer.put(of(0, 11, 0, 1, 0)),
        _ => writer.put(of(0, if opcode == 0x07 { 16 } else { 0 }, count, vm, width)),
    }
}

/// Wraps an image for Linux into an executable file.
pub fn elf(image: &Image) -> Vec<u8> {
    let header = 4096u64;
    let mut file = vec![0; header as usize];
    let size = image.image.len() as u64;
    file[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    let mut at = 16;
    let mut put = |bytes: &[u8]| {
        file[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&2u16.to_le_bytes());
    put(&243u16.to_le_bytes());
    put(&1u32.to_le_bytes());
    for word in [BASE, 64, 0] {
        put(&word.to_le_bytes());
    }
    // RVC and double-precision floats in registers.
    put(&5u32.to_le_bytes());
    for half in [64u16, 56, 1, 64, 0, 0] {
        put(&half.to_le_bytes());
    }
    put(&1u32.to_le_bytes());
    put(&7u32.to_le_bytes());
    for word in [header, BASE, BASE, size, size, 4096] {
        put(&word.to_le_bytes());
    }
    file.extend_from_slice(&image.image);
    file
}

/// What a record holds, for people: the name of the place and its bytes.
pub fn describe(vlen: usize, place: usize) -> String {
    match place {
        0..8 => "count of illegal instructions".to_owned(),
        8..48 => ["vl", "vtype", "vstart", "vcsr", "fcsr"][(place - 8) / 8].to_owned(),
        48..304 => format!("x{}", (place - 48) / 8),
        304..560 => format!("f{}", (place - 304) / 8),
        SCALARS.. => {
            let byte = place - SCALARS;
            format!("v{} byte {}", byte / (vlen / 8), byte % (vlen / 8))
        }
        _ => "nothing".to_owned(),
    }
}

/// Bytes of a record.
pub fn record_bytes(vlen: usize) -> usize {
    SCALARS + 4 * vlen
}

/// Returns the first `kept` random instructions of a program as words.
pub fn program_words(recipe: Recipe, program: usize, kept: usize) -> Vec<u32> {
    let of = |kept| {
        let recipe = Recipe {
            programs: (program, program + 1),
            cut: Some((program, kept)),
            ..recipe
        };
        let image = image(recipe, Surroundings::Bare).image;
        let words = image[..CODE].chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect::<Vec<u32>>()
    };
    let (none, some) = (of(0), of(kept));
    let begin = none.iter().zip(&some).position(|(a, b)| a != b);
    let begin = begin.unwrap_or(0);
    let used = |code: &[u32]| code.iter().rposition(|word| *word != 0).unwrap_or(0);
    some[begin..begin + used(&some) - used(&none)].to_vec()
}
