//! Where program and buffers lie in memory, and what lies between them.

use crate::image::Image;
use autocomp_catalog::{Buffer, Role};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::comparison::place;
use autocomp_riscv::{Memory, Region, RegionAccess};
use autocomp_riscv_machine::MEMORY_BASE;
use std::ops::Range;

const PAGE: u64 = 4096;

/// Least distance between two buffers, bytes.
const MIN_GAP: u64 = 2 * PAGE;

/// Greatest random addition to a gap, bytes.
const GAP_SPREAD: u64 = 16 * PAGE;

/// Least gap behind the last buffer: a kernel that runs past its end, by any
/// index that is still sensible, is caught in a guard zone.
const LAST_GAP: u64 = 1 << 20;

/// The places of everything in memory.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Address of each buffer, in the problem's order.
    pub addresses: Vec<u64>,
    /// Size of memory.
    pub memory_bytes: usize,
    /// The stack.
    pub stack: Range<u64>,
    code: Range<u64>,
    constants: Range<u64>,
    /// What may not be written: the code and all behind it up to the variables.
    read_only: Range<u64>,
    variables: Range<u64>,
    below_stack: Range<u64>,
    /// First page behind the program.
    program_end: u64,
}

impl Layout {
    /// Places `buffers` behind `image` in an order and at distances that
    /// `seed` decides.
    ///
    /// # Errors
    /// If they do not fit into any memory.
    pub fn new(image: &Image, buffers: &[Buffer], mut seed: Seed) -> Result<Self, EvalError> {
        let too_large = || EvalError::Fault("the buffers do not fit into any memory".into());
        let program_end = image.end();
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        for idx in (1..order.len()).rev() {
            order.swap(idx, seed.below(idx + 1));
        }
        let mut addresses = vec![0; buffers.len()];
        let mut at = program_end;
        for idx in order {
            let alignment = buffers[idx].alignment.max(1);
            let gap = MIN_GAP + seed.next_u64() % GAP_SPREAD;
            addresses[idx] = at
                .checked_add(gap)
                .and_then(|at| at.checked_next_multiple_of(alignment))
                .ok_or_else(too_large)?;
            at = addresses[idx]
                .checked_add(buffers[idx].bytes() as u64)
                .ok_or_else(too_large)?;
        }
        let largest = buffers
            .iter()
            .map(|buffer| buffer.bytes() as u64)
            .max()
            .unwrap_or(0);
        let bytes = at
            .checked_add(largest.max(LAST_GAP))
            .and_then(|end| end.checked_next_multiple_of(PAGE))
            .and_then(|end| usize::try_from(end - MEMORY_BASE).ok());
        Ok(Self {
            addresses,
            memory_bytes: bytes.ok_or_else(too_large)?,
            stack: image.stack.clone(),
            code: image.code.clone(),
            constants: image.constants.clone(),
            read_only: image.code.start..image.variables,
            variables: image.variables..image.data_end,
            below_stack: image.data_end..image.stack.start,
            program_end,
        })
    }

    /// Puts guard zones around everything and makes code and constants read-only.
    ///
    /// With `note_writes`, the first write to each input is remembered; the
    /// result is then the index of the region of each buffer.
    pub fn protect(
        &self,
        memory: &mut Memory,
        buffers: &[Buffer],
        note_writes: bool,
    ) -> Vec<Option<usize>> {
        memory.clear_regions();
        let mut add = |name: String, range: Range<u64>, access: RegionAccess| {
            memory.add_region(Region {
                name,
                range,
                access,
            });
            memory.regions().len() - 1
        };
        let mut placed: Vec<Range<u64>> = self
            .addresses
            .iter()
            .zip(buffers)
            .map(|(address, buffer)| *address..address + buffer.bytes() as u64)
            .collect();
        placed.sort_by_key(|range| range.start);
        let mut free_from = self.program_end;
        for range in placed {
            add(
                "a guard zone".into(),
                free_from..range.start,
                RegionAccess::None,
            );
            free_from = range.end;
        }
        add(
            "a guard zone".into(),
            free_from..MEMORY_BASE + self.memory_bytes as u64,
            RegionAccess::None,
        );
        add(
            "a guard zone".into(),
            self.below_stack.clone(),
            RegionAccess::None,
        );
        add(
            "code and constants".into(),
            self.read_only.clone(),
            RegionAccess::Read,
        );
        buffers
            .iter()
            .zip(&self.addresses)
            .map(|(buffer, address)| {
                let range = *address..address + buffer.bytes() as u64;
                (note_writes && buffer.role == Role::Input)
                    .then(|| add(buffer.name.clone(), range, RegionAccess::NoteWrites))
            })
            .collect()
    }

    /// Returns the code of a diagnostic about a write to what is read-only.
    pub fn read_only_code(&self, address: u64) -> &'static str {
        match self.code.contains(&address) {
            true => "write-to-code",
            false => "write-to-constant",
        }
    }

    /// Says where an address lies, in the kernel's terms.
    pub fn describe(&self, address: u64, buffers: &[Buffer], line: Option<&str>) -> String {
        if self.code.contains(&address) {
            return "the program's code".into();
        }
        if self.constants.contains(&address) {
            return "a read-only constant of the kernel".into();
        }
        if self.read_only.contains(&address) {
            return "unused memory behind the program's code".into();
        }
        if self.variables.contains(&address) {
            return "the kernel's static variables".into();
        }
        let past = address.saturating_sub(self.variables.end);
        let is_nearer = past < self.stack.start.saturating_sub(address);
        if self.below_stack.contains(&address) && !self.variables.is_empty() && is_nearer {
            return match past {
                0 => "the first byte past the kernel's static variables".to_owned(),
                _ => format!("{} past the kernel's static variables", bytes(past)),
            };
        }
        if self.below_stack.contains(&address) {
            return format!(
                "{} bytes below the stack (overflow)",
                self.stack.start - address
            );
        }
        if self.stack.contains(&address) {
            return match self.variables.is_empty() {
                true => "the stack".to_owned(),
                false => format!(
                    "the stack, {} past the kernel's static variables",
                    bytes(past)
                ),
            };
        }
        let mut best: Option<(u64, String)> = None;
        if (self.stack.end..self.program_end + MIN_GAP).contains(&address) {
            let past = address - self.stack.end;
            let text = match past {
                0 => "the first byte past the top of the stack".to_owned(),
                _ => format!("{} past the top of the stack", bytes(past)),
            };
            best = Some((past, text));
        }
        // What a line names is meant, however far from it the address is.
        let words = || {
            line.unwrap_or_default()
                .split(|c: char| !c.is_alphanumeric() && c != '_')
        };
        let named = |buffer: &Buffer| words().any(|word| word == buffer.name);
        let is_clear = buffers.iter().filter(|buffer| named(buffer)).count() == 1;
        if is_clear {
            best = None;
        }
        for (buffer, start) in buffers.iter().zip(&self.addresses) {
            if is_clear && !named(buffer) {
                continue;
            }
            let end = start + buffer.bytes() as u64;
            let name = shape(buffer);
            let (distance, text) = if address < *start {
                (
                    start - address,
                    format!("{} before the start of {name}", bytes(start - address)),
                )
            } else if address < end {
                let element = ((address - start) as usize) / buffer.dtype.bytes();
                (0, format!("{} of {name}", place(buffer, element)))
            } else {
                let past = address - end;
                let element = ((address - start) as usize) / buffer.dtype.bytes();
                let what = match past {
                    0 => format!("the first byte past the end of {name}"),
                    _ => format!("{} past the end of {name}", bytes(past)),
                };
                (
                    past + 1,
                    format!("{what}, where {} would be", beyond(buffer, element)),
                )
            };
            if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                best = Some((distance, text));
            }
        }
        best.map_or_else(|| format!("{address:#x}"), |(_, text)| text)
    }
}

fn bytes(count: u64) -> String {
    if count == 1 {
        "1 byte".into()
    } else {
        format!("{count} bytes")
    }
}

/// Returns `C[512][512]`.
fn shape(buffer: &Buffer) -> String {
    let extents: Vec<String> = buffer
        .shape
        .iter()
        .map(|extent| format!("[{extent}]"))
        .collect();
    format!("{}{}", buffer.name, extents.concat())
}

/// Returns the element at a linear index past the end: the outermost index
/// leaves its range.
fn beyond(buffer: &Buffer, element: usize) -> String {
    let inner: usize = buffer.shape[1..].iter().product::<u64>() as usize;
    let within = Buffer {
        shape: [&[u64::MAX], &buffer.shape[1..]].concat(),
        ..buffer.clone()
    };
    if inner == 0 {
        buffer.name.clone()
    } else {
        place(&within, element)
    }
}
