//! ELF programs: segments, symbols, and source lines from DWARF.

use crate::error::ProgramError;
use autocomp_riscv::Memory;
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A piece of a program in memory.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Physical address.
    pub address: u64,
    /// Bytes from the file.
    pub bytes: Vec<u8>,
    /// Size in memory; what the file lacks is zero.
    pub size: u64,
}

/// A source position of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// File as the compiler was told.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Name of the function, if known.
    pub function: Option<String>,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A parsed executable.
pub struct Program {
    /// Address of the first instruction.
    pub entry: u64,
    /// Loadable segments.
    pub segments: Vec<Segment>,
    symbols: BTreeMap<String, u64>,
    functions: Vec<(u64, u64, String)>,
    /// Parsed when asked for, and so behind a lock.
    lines: Option<Mutex<addr2line::Context<Reader>>>,
}

type Reader = gimli::EndianArcSlice<gimli::RunTimeEndian>;

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("entry", &format_args!("{:#x}", self.entry))
            .field("segments", &self.segments.len())
            .field("symbols", &self.symbols.len())
            .finish()
    }
}

impl Program {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// If the bytes are no 64-bit little-endian RISC-V ELF file, one that no
    /// linker has made into an executable, or one with nothing to load where it
    /// starts. Unreadable debug information is no error: there are then no source
    /// lines.
    pub fn parse(elf: &[u8]) -> Result<Self, ProgramError> {
        let file =
            object::File::parse(elf).map_err(|error| ProgramError::Elf(error.to_string()))?;
        if file.architecture() != object::Architecture::Riscv64 || !file.is_little_endian() {
            let found = format!("{:?}", file.architecture());
            return Err(ProgramError::WrongMachine(found));
        }
        if !matches!(
            file.kind(),
            object::ObjectKind::Executable | object::ObjectKind::Dynamic
        ) {
            return Err(ProgramError::NotLinked);
        }
        let segments = segments(&file, elf)?;
        check_entry(file.entry(), &segments)?;
        let mut symbols = BTreeMap::new();
        let mut functions = Vec::new();
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if name.is_empty() || symbol.is_undefined() {
                continue;
            }
            symbols.insert(name.to_owned(), symbol.address());
            if symbol.kind() == object::SymbolKind::Text {
                functions.push((symbol.address(), symbol.size(), name.to_owned()));
            }
        }
        functions.sort();
        Ok(Self {
            entry: file.entry(),
            segments,
            symbols,
            functions,
            lines: read_lines(&file).map(Mutex::new),
        })
    }

    /// Makes a program of one segment at `address`, where it starts, without
    /// debug information.
    #[must_use]
    pub fn from_bytes(address: u64, bytes: Vec<u8>, symbols: BTreeMap<String, u64>) -> Self {
        Self {
            entry: address,
            segments: vec![Segment {
                address,
                size: bytes.len() as u64,
                bytes,
            }],
            symbols,
            functions: Vec::new(),
            lines: None,
        }
    }

    /// Returns the address of a symbol.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).copied()
    }

    /// Returns the name of the function that contains `pc`, from the symbol table.
    #[must_use]
    pub fn function(&self, pc: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(start, ..)| *start <= pc);
        let (start, size, name) = self.functions.get(after.checked_sub(1)?)?;
        (*size == 0 || pc - start < *size).then_some(name)
    }

    /// Returns where `pc` comes from: the innermost position first, then, for
    /// code inlined there, the callers outwards. Empty without debug information.
    #[must_use]
    pub fn frames(&self, pc: u64) -> Vec<SourceLine> {
        let Some(context) = &self.lines else {
            return Vec::new();
        };
        // What a panic leaves behind is at worst a part not parsed yet.
        let context = context.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(mut frames) = context.find_frames(pc).skip_all_loads() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else {
                continue;
            };
            let (Some(file), Some(line)) = (location.file, location.line) else {
                continue;
            };
            let function = frame
                .function
                .and_then(|function| function.raw_name().ok().map(std::borrow::Cow::into_owned));
            found.push(SourceLine {
                file: file.to_owned(),
                line,
                function,
            });
        }
        found
    }

    /// Returns the source line of `pc`: the innermost frame whose file is not
    /// one for which `skip` holds (headers of wrappers), or the innermost of all.
    #[must_use]
    pub fn line(&self, pc: u64, skip: impl Fn(&str) -> bool) -> Option<SourceLine> {
        let frames = self.frames(pc);
        let chosen = frames
            .iter()
            .position(|frame| !skip(&frame.file))
            .unwrap_or(0);
        frames.into_iter().nth(chosen)
    }

    /// Returns where `pc` comes from in words: its innermost source line, or the
    /// address itself without debug information, with the function if it is known.
    #[must_use]
    pub fn place(&self, pc: u64) -> String {
        match (self.line(pc, |_| false), self.function(pc)) {
            (Some(line), _) => line.to_string(),
            (None, Some(function)) => format!("pc {pc:#x} in {function}"),
            (None, None) => format!("pc {pc:#x}"),
        }
    }

    /// Copies the segments into memory.
    ///
    /// # Errors
    /// If a segment lies outside memory.
    pub fn load(&self, memory: &mut Memory) -> Result<(), ProgramError> {
        for segment in &self.segments {
            let outside = ProgramError::Segment {
                address: segment.address,
                bytes: segment.size,
                start: memory.base(),
                end: memory.base() + memory.size() as u64 - 1,
            };
            let Some(target) = usize::try_from(segment.size)
                .ok()
                .and_then(|size| memory.host_mut(segment.address, size))
            else {
                return Err(outside);
            };
            let stored = segment.bytes.len().min(target.len());
            target[..stored].copy_from_slice(&segment.bytes[..stored]);
            target[stored..].fill(0);
        }
        Ok(())
    }
}

/// Returns what is to be loaded, at physical addresses: start code may itself
/// move data from where it was loaded to where it is used.
fn segments(file: &object::File<'_>, elf: &[u8]) -> Result<Vec<Segment>, ProgramError> {
    let object::File::Elf64(headers) = file else {
        return Err(ProgramError::WrongMachine("no 64-bit ELF file".to_owned()));
    };
    let endian = headers.endian();
    let mut segments = Vec::new();
    for header in headers.elf_program_headers() {
        let size = header.p_memsz(endian);
        if header.p_type(endian) != object::elf::PT_LOAD || size == 0 {
            continue;
        }
        let bytes = header
            .data(endian, elf)
            .map_err(|()| ProgramError::Elf("a segment lies outside the file".to_owned()))?;
        segments.push(Segment {
            address: header.p_paddr(endian),
            bytes: bytes.to_vec(),
            size,
        });
    }
    Ok(segments)
}

/// Segments named at most in a message; programs have two to four.
const NAMED_SEGMENTS: usize = 4;

/// Checks that the first instruction comes from the file: memory that nothing was
/// loaded into holds an illegal one, which says nothing about the reason.
fn check_entry(entry: u64, segments: &[Segment]) -> Result<(), ProgramError> {
    if segments.is_empty() {
        return Err(ProgramError::NoSegments);
    }
    let holds = |it: &Segment| entry.checked_sub(it.address).is_some_and(|at| at < it.size);
    if segments.iter().any(holds) {
        return Ok(());
    }
    let range = |it: &Segment| {
        let last = it.address.saturating_add(it.size - 1);
        format!("{:#x} to {last:#x}", it.address)
    };
    let mut ranges: Vec<String> = segments.iter().take(NAMED_SEGMENTS).map(range).collect();
    if NAMED_SEGMENTS < segments.len() {
        ranges.push(format!("{} more", segments.len() - NAMED_SEGMENTS));
    }
    Err(ProgramError::Entry {
        entry,
        segments: ranges.join(", "),
    })
}

fn read_lines(file: &object::File<'_>) -> Option<addr2line::Context<Reader>> {
    let load = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let bytes = file
            .section_by_name(id.name())
            .and_then(|section| section.uncompressed_data().ok())
            .unwrap_or_default();
        Ok(Reader::new(bytes.into(), gimli::RunTimeEndian::Little))
    };
    let dwarf = gimli::Dwarf::load(load).ok()?;
    addr2line::Context::from_dwarf(dwarf).ok()
}
