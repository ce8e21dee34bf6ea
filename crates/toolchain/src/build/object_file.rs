//! What a compiled kernel may hand to the linker: code, data, and what describes them.
//!
//! An object file can tell a linker far more than that: libraries and options to link
//! with, groups that replace each other, code to be run before the entry, addresses for
//! symbols of others. Whatever way a kernel finds to make the compiler write such
//! things, they end here. Source of the format: System V ABI, "Object Files"; RISC-V ELF
//! psABI, "Relocations"; the extensions of LLVM ("Extensions", `.deplibs`).

use autocomp_c::is_runtime_name;
use object::LittleEndian;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};

/// Greatest alignment of a section, bytes: that of the accelerator's whole local memory.
const MOST_ALIGNMENT: u64 = 1 << 20;

/// Sections of code and data as compilers name them on their own.
const PLACED: &[&str] = &[
    ".text",
    ".text.unlikely",
    ".text.unlikely.",
    ".text.hot",
    ".text.hot.",
    ".text.startup",
    ".rodata",
    ".srodata",
    ".data",
    ".sdata",
    ".bss",
    ".sbss",
];

/// Beginnings of names of sections with constants, followed by their size.
const CONSTANTS: &[&str] = &[".rodata.cst", ".rodata.str", ".srodata.cst", ".srodata.str"];

/// Sections that describe, by name and type.
const DESCRIBING: &[(&str, u32)] = &[
    ("", elf::SHT_NULL.0),
    (".strtab", elf::SHT_STRTAB.0),
    (".shstrtab", elf::SHT_STRTAB.0),
    (".symtab", elf::SHT_SYMTAB.0),
    (".comment", elf::SHT_PROGBITS.0),
    (".note.GNU-stack", elf::SHT_PROGBITS.0),
    (".riscv.attributes", elf::SHT_RISCV_ATTRIBUTES.0),
    // Which symbols have their address taken; linkers only use it to fold code, if told.
    (".llvm_addrsig", 0x6fff_4c03),
];

/// Relocations of code and data at fixed addresses: absolute, relative to the program
/// counter, differences. None that is dynamic, or about tables of offsets or threads.
fn is_plain_relocation(kind: u32) -> bool {
    matches!(kind, 0..=2 | 16..=19 | 23..=28 | 33..=40 | 43..=45 | 51..=57 | 60..=61)
}

/// Returns why an object file may not be linked, in words that follow "the compiled
/// kernel"; nothing if it may.
pub(crate) fn refusal(file: &[u8]) -> Option<String> {
    check(file).err()
}

/// What of an object file is loaded into memory.
pub(crate) struct Loaded {
    /// Bytes of all sections that are.
    pub bytes: u64,
    /// Names and bytes of its variables, the largest first.
    pub largest: Vec<(String, u64)>,
}

impl Loaded {
    /// Reads an object file; nothing if it cannot be read.
    pub(crate) fn of(file: &[u8]) -> Option<Self> {
        let endian = LittleEndian;
        let parsed = ElfFile64::<LittleEndian>::parse(file).ok()?;
        let sections = parsed.elf_section_table().iter();
        let loaded = sections.filter(|it| it.sh_flags(endian).0 & elf::SHF_ALLOC.0 != 0);
        let bytes = loaded.fold(0_u64, |sum, it| sum.saturating_add(it.sh_size(endian)));
        let symbols = parsed.elf_symbol_table();
        let objects = symbols.iter().filter(|it| it.st_type() == elf::STT_OBJECT);
        let mut largest: Vec<(String, u64)> = objects
            .filter_map(|it| {
                let name = it.name(endian, symbols.strings()).ok()?;
                let name = String::from_utf8_lossy(name);
                // A variable of a function has its name beside its own, or a number.
                let is_number = |part: &&str| part.bytes().all(|it| it.is_ascii_digit());
                let own = name.rsplit('.').find(|part| !is_number(part))?;
                Some((own.to_owned(), it.st_size(endian)))
            })
            .collect();
        largest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Some(Self { bytes, largest })
    }
}

fn check(file: &[u8]) -> Result<(), String> {
    let endian = LittleEndian;
    let unreadable = |error: object::Error| format!("cannot be read: {error}");
    let parsed = ElfFile64::<LittleEndian>::parse(file).map_err(unreadable)?;
    let header = parsed.elf_header();
    let kind = (header.e_type(endian), header.e_machine(endian));
    if kind != (elf::ET_REL, elf::EM_RISCV) || header.e_phnum.get(endian) != 0 {
        return Err("is no object file for this machine".into());
    }
    let table = parsed.elf_section_table();
    for section in table.iter() {
        let name = table.section_name(endian, section).map_err(unreadable)?;
        let name = String::from_utf8_lossy(name);
        check_section(&name, section)?;
        if section.sh_type(endian) == elf::SHT_RELA {
            let relocations = section.rela(endian, file).map_err(unreadable)?;
            for relocation in relocations.map_or(&[][..], |(entries, _)| entries) {
                let kind = relocation.r_type(endian, false);
                if !is_plain_relocation(kind.0) {
                    return Err(format!("has a relocation of kind {} in {name}", kind.0));
                }
            }
        }
    }
    let symbols = parsed.elf_symbol_table();
    for symbol in symbols.iter() {
        let name = symbol.name(endian, symbols.strings()).map_err(unreadable)?;
        check_symbol(&String::from_utf8_lossy(name), symbol)?;
    }
    Ok(())
}

fn check_section(name: &str, section: &elf::SectionHeader64<LittleEndian>) -> Result<(), String> {
    let endian = LittleEndian;
    let (kind, flags) = (section.sh_type(endian), section.sh_flags(endian).0);
    let foreign = || {
        Err(format!(
            "has a section {name:?} (kind {:#x}, flags {flags:#x})",
            kind.0
        ))
    };
    let only = |allowed: u64| flags & !allowed == 0;
    let (write, alloc, code) = (elf::SHF_WRITE.0, elf::SHF_ALLOC.0, elf::SHF_EXECINSTR.0);
    let merge = elf::SHF_MERGE.0 | elf::SHF_STRINGS.0;
    let is_constants = CONSTANTS.iter().any(|start| {
        let size = name.strip_prefix(start);
        size.is_some_and(|size| {
            !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        })
    });
    if is_constants || PLACED.contains(&name) {
        let allowed = match name {
            _ if name.starts_with(".text") => alloc | code,
            _ if name.contains("rodata") => alloc | merge,
            _ => alloc | write,
        };
        let is_data = kind == elf::SHT_PROGBITS || kind == elf::SHT_NOBITS;
        if !is_data || !only(allowed) || flags & alloc == 0 {
            return foreign();
        }
        let alignment = section.sh_addralign(endian);
        if MOST_ALIGNMENT < alignment {
            return Err(format!(
                "wants its section {name} aligned to {alignment} bytes; at most {MOST_ALIGNMENT} are possible"
            ));
        }
        return Ok(());
    }
    let describes = DESCRIBING.contains(&(name, kind.0)) && flags & (alloc | write) == 0;
    let is_debug = |name: &str| name.starts_with(".debug_");
    let debugs = is_debug(name) && kind == elf::SHT_PROGBITS && only(merge);
    let relocates = kind == elf::SHT_RELA
        && only(elf::SHF_INFO_LINK.0)
        && name
            .strip_prefix(".rela")
            .is_some_and(|of| is_debug(of) || PLACED.contains(&of));
    match describes || debugs || relocates {
        true => Ok(()),
        false => foreign(),
    }
}

fn check_symbol(name: &str, symbol: &elf::Sym64<LittleEndian>) -> Result<(), String> {
    let endian = LittleEndian;
    let (kind, bind) = (symbol.st_type(), symbol.st_bind());
    let is_plain = match bind {
        elf::STB_LOCAL => matches!(
            kind,
            elf::STT_NOTYPE | elf::STT_OBJECT | elf::STT_FUNC | elf::STT_SECTION | elf::STT_FILE
        ),
        elf::STB_GLOBAL => matches!(kind, elf::STT_NOTYPE | elf::STT_OBJECT | elf::STT_FUNC),
        _ => false,
    };
    if !is_plain {
        return Err(format!(
            "has the symbol {name:?} of kind {} and binding {}",
            kind.0, bind.0
        ));
    }
    // The two lowest bits are the visibility, which is nobody's business in one program.
    if symbol.st_other().0 & !3 != 0 {
        return Err(format!(
            "has the symbol {name:?} with a calling convention of its own"
        ));
    }
    let place = symbol.st_shndx(endian);
    let is_file = kind == elf::STT_FILE && place == elf::SHN_ABS;
    if elf::SHN_LORESERVE <= place.0 && !is_file {
        return Err(format!("gives the symbol {name:?} an address of its own"));
    }
    if kind != elf::STT_FILE && is_runtime_name(name) {
        return Err(format!("uses the runtime's name {name:?}"));
    }
    Ok(())
}
