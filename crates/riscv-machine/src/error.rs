//! Errors of loading programs.

/// Why a program cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The bytes are no ELF file that the reader understands.
    #[error("not a readable ELF file: {0}")]
    Elf(String),
    /// The ELF file is for another machine.
    #[error("not a 64-bit little-endian RISC-V executable: {0}")]
    WrongMachine(String),
    /// The ELF file is an object file or a core dump.
    #[error("not an executable: an object file that no linker has placed, or a core dump")]
    NotLinked,
    /// No segment says what belongs into memory.
    #[error("no loadable segments (`PT_LOAD`): it would leave memory empty")]
    NoSegments,
    /// The first instruction is in no segment.
    #[error("it starts at {entry:#x}, where none of its loadable segments is ({segments})")]
    Entry {
        /// Address of the first instruction.
        entry: u64,
        /// Where the segments are.
        segments: String,
    },
    /// A segment lies outside the simulated memory.
    #[error(
        "segment at {address:#x} of {bytes} bytes does not fit into memory ({start:#x} to {end:#x})"
    )]
    Segment {
        /// Where the segment would go.
        address: u64,
        /// Its size.
        bytes: u64,
        /// First address of memory.
        start: u64,
        /// Last address of memory.
        end: u64,
    },
}
