//! Linked programs, and the one shape that they may have.
//!
//! Where the stack is, what is cleared between calls and where buffers go follows from
//! constants of this file and from the extent of sections that lie where they must. No
//! symbol of the program decides about any of it: a kernel may have had a hand in those.
//! Source of the format: System V ABI, "Object Files"; RISC-V ELF psABI.

use autocomp_core::{ContentHash, ContentHasher};
use autocomp_riscv::{FloatFormats, float_formats};
use autocomp_riscv_machine::{MEMORY_BASE, Program, ProgramError};
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol};
use std::ops::{Deref, Range};

/// Bytes of a page: sections of different kinds begin at pages of their own.
const PAGE: u64 = 4096;

/// Most bytes that code and data of a program may take. Fully unrolled kernels
/// have one, and their tables another.
pub const PROGRAM_BYTES: u64 = 32 << 20;

/// Bytes of the stack.
pub const STACK_BYTES: u64 = 128 << 10;

/// The sections that are loaded, in their order. A program may lack some.
const LOADED: [&str; 5] = [".text", ".rodata", ".data", ".bss", ".tohost"];

/// Sections that are not loaded, besides debug information.
const DESCRIBING: [&str; 6] = [
    "",
    ".symtab",
    ".strtab",
    ".shstrtab",
    ".comment",
    ".riscv.attributes",
];

/// Kinds of segments beside those that are loaded.
const UNLOADED_SEGMENTS: [elf::ProgramType; 2] = [elf::PT_GNU_STACK, elf::PT_RISCV_ATTRIBUTES];

/// Why a linked program is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// It takes more memory than programs get.
    #[error("code and data take {bytes} bytes; at most {PROGRAM_BYTES} are there for them")]
    TooLarge {
        /// Bytes from the beginning of the first section to the end of the last.
        bytes: u64,
    },
    /// It is not what the linker makes of code and data alone.
    #[error("the linked program has an unexpected shape: {0}")]
    Shape(String),
}

/// A program that may be run, and where it lies.
#[derive(Debug)]
pub struct Image {
    program: Program,
    /// Address of the function that is called.
    entry_function: u64,
    /// The instructions.
    pub code: Range<u64>,
    /// Constants, which begin behind the code.
    pub constants: Range<u64>,
    /// First byte of what a program may write.
    pub variables: u64,
    /// First byte behind its data.
    pub data_end: u64,
    /// The stack, whole pages behind everything that is loaded.
    pub stack: Range<u64>,
}

impl Deref for Image {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl Image {
    /// Reads a linked program whose start code calls the function `entry`.
    ///
    /// # Errors
    /// If it is anything but code and data at the beginning of memory, with the symbols of
    /// the linker script where the sections say that they are.
    pub fn read(file: &[u8], entry: &str) -> Result<Self, ImageError> {
        let unreadable = |error: object::Error| shape(error.to_string());
        let parsed = ElfFile64::<LittleEndian>::parse(file).map_err(unreadable)?;
        let header = parsed.elf_header();
        if header.e_type(LittleEndian) != elf::ET_EXEC {
            return Err(shape("it is no executable".into()));
        }
        let sections = loaded_sections(&parsed)?;
        let loaded_end = sections
            .iter()
            .map(|section| section.range.end)
            .max()
            .unwrap_or(MEMORY_BASE);
        let bytes = loaded_end - MEMORY_BASE;
        if PROGRAM_BYTES < bytes {
            return Err(ImageError::TooLarge { bytes });
        }
        check_segments(&parsed, loaded_end)?;
        let range = |name: &str| {
            let section = sections.iter().find(|section| section.name == name);
            section.map(|section| section.range.clone())
        };
        let code = range(".text").ok_or_else(|| shape("it has no code".into()))?;
        let constants = range(".rodata").unwrap_or(code.end..code.end);
        let variables = [".data", ".bss"].into_iter().filter_map(range);
        let data_end = variables.clone().map(|range| range.end).max();
        let data_end = data_end.unwrap_or(constants.end);
        let variables = variables.map(|range| range.start).min();
        // Neither sum can overflow: the program is far below the end of addresses.
        let stack_start = loaded_end.next_multiple_of(PAGE);
        let stack = stack_start..stack_start + STACK_BYTES;
        let entry_function = check_symbols(&parsed, entry, &code, range(".bss"), &stack)?;
        let program =
            Program::parse(file).map_err(|error: ProgramError| shape(error.to_string()))?;
        if program.entry != MEMORY_BASE {
            return Err(shape(format!("it starts at {:#x}", program.entry)));
        }
        Ok(Self {
            program,
            entry_function,
            code,
            constants,
            variables: variables.unwrap_or(data_end),
            data_end,
            stack,
        })
    }

    /// Returns the address of the function that is called.
    pub fn entry_function(&self) -> u64 {
        self.entry_function
    }

    /// Returns the formats of floating-point numbers that the function computes with that is called.
    pub fn float_formats(&self) -> FloatFormats {
        let segment = self.program.segments.iter().find(|segment| {
            let end = segment.address + segment.bytes.len() as u64;
            segment.address <= self.code.start && self.code.end <= end
        });
        let code = segment.map_or(&[][..], |segment| {
            let start = (self.code.start - segment.address) as usize;
            &segment.bytes[start..start + (self.code.end - self.code.start) as usize]
        });
        float_formats(code, self.code.start, self.entry_function)
    }

    /// Returns the first page behind the program and its stack.
    pub fn end(&self) -> u64 {
        self.stack.end
    }
}

/// Returns a hash of all that is loaded of a program that [`Image::read`] accepts: where
/// each section lies, and what is in it. Nothing if the file is none.
pub fn code_hash(file: &[u8]) -> Option<ContentHash> {
    let parsed = ElfFile64::<LittleEndian>::parse(file).ok()?;
    let mut hasher = ContentHasher::new("machine code of a kernel");
    for name in LOADED {
        let Some(section) = parsed.section_by_name(name) else {
            continue;
        };
        hasher.update(name.as_bytes());
        hasher.update(&section.address().to_le_bytes());
        hasher.update(&section.size().to_le_bytes());
        hasher.update(section.data().ok()?);
    }
    Some(hasher.finish())
}

fn shape(what: String) -> ImageError {
    ImageError::Shape(what)
}

struct Loaded<'f> {
    name: &'f str,
    range: Range<u64>,
}

/// Returns the sections that are loaded, if they are those that programs may have, in
/// their order from the beginning of memory, and nothing else is there.
fn loaded_sections<'f>(file: &ElfFile64<'f, LittleEndian>) -> Result<Vec<Loaded<'f>>, ImageError> {
    let endian = LittleEndian;
    let table = file.elf_section_table();
    let mut found: Vec<Loaded<'f>> = Vec::new();
    for section in table.iter() {
        let name = table.section_name(endian, section);
        let name = name.ok().and_then(|name| std::str::from_utf8(name).ok());
        let name = name.ok_or_else(|| shape("a section has no name".into()))?;
        let flags = section.sh_flags(endian).0;
        if flags & elf::SHF_ALLOC.0 == 0 {
            if DESCRIBING.contains(&name) || name.starts_with(".debug_") {
                continue;
            }
            return Err(shape(format!("section {name:?} is foreign")));
        }
        let allowed = elf::SHF_ALLOC.0
            | elf::SHF_WRITE.0
            | elf::SHF_EXECINSTR.0
            | elf::SHF_MERGE.0
            | elf::SHF_STRINGS.0;
        let is_plain = matches!(section.sh_type(endian), elf::SHT_PROGBITS | elf::SHT_NOBITS)
            && flags & !allowed == 0
            && (flags & elf::SHF_EXECINSTR.0 == 0 || name == ".text");
        if !LOADED.contains(&name) || !is_plain {
            return Err(shape(format!("section {name:?} is foreign")));
        }
        let start = section.sh_addr(endian);
        let range = start
            .checked_add(section.sh_size(endian))
            .map(|end| start..end)
            .ok_or_else(|| shape(format!("section {name} ends nowhere")))?;
        let follows = match found.last() {
            None => start == MEMORY_BASE && name == ".text",
            Some(last) => rank(last.name) < rank(name) && last.range.end <= start,
        };
        if !follows {
            return Err(shape(format!("section {name} is at {start:#x}")));
        }
        found.push(Loaded { name, range });
    }
    Ok(found)
}

fn rank(name: &str) -> Option<usize> {
    LOADED.iter().position(|known| *known == name)
}

/// Checks that what is loaded lies between the beginning of memory and `loaded_end`, and
/// that nothing else asks for the loader's attention.
fn check_segments(file: &ElfFile64<'_, LittleEndian>, loaded_end: u64) -> Result<(), ImageError> {
    let endian = LittleEndian;
    let mut free_from = MEMORY_BASE;
    for segment in file.elf_program_headers() {
        let kind = segment.p_type(endian);
        if UNLOADED_SEGMENTS.contains(&kind) {
            continue;
        }
        let (start, size) = (segment.p_vaddr(endian), segment.p_memsz(endian));
        let end = start.checked_add(size);
        let is_plain = kind == elf::PT_LOAD
            && segment.p_paddr(endian) == start
            && segment.p_filesz(endian) <= size
            && free_from <= start
            && end.is_some_and(|end| end <= loaded_end.next_multiple_of(PAGE));
        if !is_plain {
            return Err(shape(format!(
                "segment of kind {:#x} at {start:#x}, {size} bytes",
                kind.0
            )));
        }
        free_from = end.unwrap_or(u64::MAX);
    }
    Ok(())
}

/// Checks that the symbols of start code and linker script say what the sections say;
/// returns the address of the function `entry`.
fn check_symbols(
    file: &ElfFile64<'_, LittleEndian>,
    entry: &str,
    code: &Range<u64>,
    bss: Option<Range<u64>>,
    stack: &Range<u64>,
) -> Result<u64, ImageError> {
    let value = |name: &str| {
        let mut named = file
            .symbols()
            .filter(|symbol| symbol.is_global() && symbol.name() == Ok(name));
        match (named.next(), named.next()) {
            (Some(symbol), None) => Ok(symbol.address()),
            (None, _) => Err(shape(format!("it lacks the symbol {name}"))),
            _ => Err(shape(format!("it has two symbols {name}"))),
        }
    };
    let mut expected = vec![
        ("__stack_bottom", stack.start),
        ("__stack_top", stack.end),
        ("_end", stack.end),
    ];
    if let Some(bss) = bss {
        expected.extend([("__bss_start", bss.start), ("__bss_end", bss.end)]);
    }
    for (name, right) in expected {
        let found = value(name)?;
        if found != right {
            return Err(shape(format!("{name} is {found:#x} instead of {right:#x}")));
        }
    }
    let entry_at = value(entry)?;
    // A function whose end can never be reached may have no instruction, behind all others.
    if !(code.start..=code.end).contains(&entry_at) {
        return Err(shape(format!("{entry} is not code")));
    }
    Ok(entry_at)
}
