//! Memory of the device and of a block.

use super::findings::{Fault, Finding, LateRead, Thread};
use super::shadow::{Initialised, Shadow};
use crate::decode::{BUFFER_WINDOW, RANGE, VARIABLE_WINDOW};
use crate::ptx::{Line, Module, Space};

/// The number of the first buffer among the areas; before it are variables.
const FIRST_BUFFER: u64 = (BUFFER_WINDOW - VARIABLE_WINDOW) / RANGE;

/// What stands in place of a kernel in findings of calls of the host function.
pub const HOST: &str = "the host part";

/// One buffer, or one variable of the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Area {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_constant: bool,
    /// Whether the host function asked for it, and whether it gave it back.
    scratch: Scratch,
    /// Who used it in this launch.
    pub(crate) shadow: Option<Shadow>,
    /// What of it was written; nothing if all of it holds something.
    pub(crate) initialised: Option<Initialised>,
}

/// What the host function has to do with an area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scratch {
    /// It is not its own.
    #[default]
    No,
    /// It asked for it.
    Asked,
    /// It gave it back.
    Freed,
}

/// Memory of the device.
#[derive(Clone, Debug, Default)]
pub struct DeviceMemory {
    areas: Vec<Area>,
    /// The first read that got what was there before, in the mixed run.
    pub late_read: Option<LateRead>,
}

/// A place in an area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) area: usize,
    pub(crate) offset: usize,
}

impl DeviceMemory {
    /// Makes the memory of a device on which `module` is loaded.
    #[must_use]
    pub fn new(module: &Module) -> Self {
        let mut areas = Vec::new();
        areas.resize_with(FIRST_BUFFER as usize, Area::default);
        for ((variable, _), area) in module.outside().zip(&mut areas) {
            area.bytes = variable.initial.clone();
            area.bytes.resize(variable.bytes as usize, 0);
            area.is_constant = variable.space == Space::Const;
        }
        Self {
            areas,
            late_read: None,
        }
    }

    /// Adds a buffer and returns its number. `is_filled` says that its contents may be read
    /// before a kernel writes them.
    pub fn add_buffer(&mut self, bytes: Vec<u8>, is_filled: bool) -> u32 {
        let initialised = (!is_filled).then(|| Initialised::new(bytes.len()));
        self.push(Area {
            bytes,
            initialised,
            ..Area::default()
        })
    }

    /// Adds a buffer that may only be read and returns its number.
    pub fn add_input(&mut self, bytes: Vec<u8>) -> u32 {
        self.push(Area {
            bytes,
            is_constant: true,
            ..Area::default()
        })
    }

    /// Adds memory that the host function asks for, and returns the number of the buffer.
    pub fn add_scratch(&mut self, bytes: Vec<u8>) -> u32 {
        let number = self.add_buffer(bytes, false);
        if let Some(area) = self.areas.last_mut() {
            area.scratch = Scratch::Asked;
        }
        number
    }

    fn push(&mut self, area: Area) -> u32 {
        self.areas.push(area);
        (self.areas.len() as u64 - FIRST_BUFFER - 1) as u32
    }

    /// Takes memory back that the host function asked for.
    ///
    /// # Errors
    /// If no such piece begins at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), Box<Finding>> {
        let place = self.locate(address, 1, false).ok();
        let place = place.filter(|it| it.offset == 0);
        let area = place.and_then(|it| self.areas.get_mut(it.area));
        match area.filter(|it| it.scratch == Scratch::Asked) {
            Some(area) => {
                area.bytes.clear();
                area.scratch = Scratch::Freed;
                Ok(())
            }
            None => Err(of_host(Fault::BadFree { address })),
        }
    }

    /// Returns what the buffer `number` holds.
    #[must_use]
    pub fn buffer(&self, number: u32) -> &[u8] {
        let area = self.areas.get(FIRST_BUFFER as usize + number as usize);
        area.map_or(&[], |area| &area.bytes)
    }

    /// Sets `bytes` bytes from `to` on, as a call of the host does.
    ///
    /// # Errors
    /// What is outside.
    pub fn set(&mut self, to: u64, value: u8, bytes: u64) -> Result<(), Box<Finding>> {
        let (area, range) = self.span(to, bytes, true)?;
        let area = &mut self.areas[area];
        area.bytes[range.clone()].fill(value);
        if let Some(initialised) = &mut area.initialised {
            range.for_each(|at| initialised.mark(at, 1));
        }
        Ok(())
    }

    /// Copies `bytes` bytes, as a call of the host does, which may set what is constant for
    /// kernels.
    ///
    /// # Errors
    /// What is outside, or an input.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Box<Finding>> {
        let (source, range) = self.span(from, bytes, false)?;
        let content = self.areas[source].bytes[range.clone()].to_vec();
        let of_source = self.areas[source].initialised.clone();
        let is_written = |at: usize| of_source.as_ref().is_none_or(|it| it.is_written(at, 1));
        let (area, to) = self.own_span(to, bytes)?;
        let area = &mut self.areas[area];
        area.bytes[to.clone()].copy_from_slice(&content);
        if let Some(initialised) = &mut area.initialised {
            for (from, to) in range.zip(to) {
                match is_written(from) {
                    true => initialised.mark(to, 1),
                    false => initialised.unmark(to),
                }
            }
        }
        Ok(())
    }

    /// Puts bytes from the computer at `to`, as a call of the host does, which may set what is
    /// constant for kernels.
    ///
    /// # Errors
    /// What is outside, or an input.
    pub fn put(&mut self, to: u64, content: &[u8]) -> Result<(), Box<Finding>> {
        let bytes = content.len() as u64;
        let (area, range) = self.own_span(to, bytes)?;
        let area = &mut self.areas[area];
        area.bytes[range.clone()].copy_from_slice(content);
        if let Some(initialised) = &mut area.initialised {
            range.for_each(|at| initialised.mark(at, 1));
        }
        Ok(())
    }

    /// Returns where `bytes` bytes lie that the host may set: no input, but also what is constant
    /// for kernels.
    fn own_span(
        &self,
        address: u64,
        bytes: u64,
    ) -> Result<(usize, std::ops::Range<usize>), Box<Finding>> {
        let found = self.span(address, bytes, false)?;
        match FIRST_BUFFER <= found.0 as u64 {
            true => self.span(address, bytes, true),
            false => Ok(found),
        }
    }

    fn span(
        &self,
        address: u64,
        bytes: u64,
        write: bool,
    ) -> Result<(usize, std::ops::Range<usize>), Box<Finding>> {
        let place = self.locate(address, 1, write).map_err(of_host)?;
        if write && self.areas[place.area].is_constant {
            let area = Self::buffer_of(place.area);
            return Err(of_host(Fault::ReadOnly { area }));
        }
        let size = self.areas[place.area].bytes.len();
        let end = (place.offset as u64).saturating_add(bytes);
        if (size as u64) < end {
            let last = address.saturating_add(bytes.saturating_sub(1));
            return Err(of_host(self.wrong(last, 1, write)));
        }
        Ok((place.area, place.offset..end as usize))
    }

    /// Takes the variables of the module as a call of before has left them in `other`.
    pub fn take_variables(&mut self, other: &Self) {
        for (to, from) in self.variables(other) {
            to.clone_from(from);
        }
    }

    /// Returns whether variables of the module hold something else than in `other`.
    #[must_use]
    pub fn variables_differ(&self, other: &Self) -> bool {
        let both = self.areas.iter().zip(&other.areas);
        let mut both = both.take(FIRST_BUFFER as usize);
        both.any(|(a, b)| a.bytes != b.bytes)
    }

    /// Overwrites with `content` each aligned word of 4 bytes of variables of the module in which
    /// a byte differs from that in `other`.
    pub fn overwrite_changed(&mut self, other: &Self, mut content: impl FnMut() -> [u8; 4]) {
        for (to, from) in self.variables(other) {
            let words = to.chunks_mut(4).zip(from.chunks(4));
            for (to, _) in words.filter(|(to, from)| to != from) {
                to.copy_from_slice(&content()[..to.len()]);
            }
        }
    }

    /// Returns what variables of the module hold, here and in `other`.
    fn variables<'m>(
        &'m mut self,
        other: &'m Self,
    ) -> impl Iterator<Item = (&'m mut Vec<u8>, &'m Vec<u8>)> {
        let both = self.areas.iter_mut().zip(&other.areas);
        let variables = both.take(FIRST_BUFFER as usize);
        variables.map(|(a, b)| (&mut a.bytes, &b.bytes))
    }

    /// Begins a launch: nobody has used anything yet. `granule` is the width of the
    /// narrowest access.
    pub(crate) fn begin_launch(&mut self, is_watched: bool, granule: u32) {
        for area in &mut self.areas {
            area.shadow = None;
            if is_watched && !area.bytes.is_empty() && !area.is_constant {
                let mut shadow = Shadow::default();
                shadow.begin(area.bytes.len(), granule);
                area.shadow = Some(shadow);
            }
        }
    }

    pub(crate) fn area(&mut self, number: usize) -> &mut Area {
        &mut self.areas[number]
    }

    /// Returns the number of the buffer that an area is, if it is one.
    pub(crate) fn buffer_of(area: usize) -> Option<u32> {
        (area as u64).checked_sub(FIRST_BUFFER).map(|it| it as u32)
    }

    /// Finds what lies at `address`.
    #[inline(always)]
    pub(crate) fn locate(&self, address: u64, bytes: u32, write: bool) -> Result<Place, Fault> {
        let number = (address >> RANGE.trailing_zeros()).wrapping_sub(VARIABLE_WINDOW / RANGE);
        let offset = (address & (RANGE - 1)).wrapping_sub(RANGE / 2);
        match self.areas.get(number as usize) {
            Some(area)
                if offset.saturating_add(u64::from(bytes)) <= area.bytes.len() as u64
                    && offset.is_multiple_of(u64::from(bytes)) =>
            {
                Ok(Place {
                    area: number as usize,
                    offset: offset as usize,
                })
            }
            _ => Err(self.wrong(address, bytes, write)),
        }
    }

    #[cold]
    fn wrong(&self, address: u64, bytes: u32, write: bool) -> Fault {
        let number = (address >> RANGE.trailing_zeros()).wrapping_sub(VARIABLE_WINDOW / RANGE);
        let offset = (address & (RANGE - 1)).wrapping_sub(RANGE / 2) as i64;
        match self.areas.get(number as usize) {
            Some(area) if !area.bytes.is_empty() || FIRST_BUFFER <= number => {
                if area.scratch == Scratch::Freed {
                    let area = Self::buffer_of(number as usize);
                    return Fault::Freed { area, write };
                }
                if offset.rem_euclid(i64::from(bytes)) != 0 {
                    return Fault::Misaligned { address, bytes };
                }
                Fault::OutOfBounds {
                    space: if area.is_constant {
                        Space::Const
                    } else {
                        Space::Global
                    },
                    area: Self::buffer_of(number as usize),
                    size: area.bytes.len() as u64,
                    distance: if offset < 0 {
                        offset
                    } else {
                        offset - area.bytes.len() as i64
                    },
                    bytes,
                    write,
                }
            }
            _ => Fault::WildAddress {
                address,
                bytes,
                write,
            },
        }
    }

    /// Returns, by range of addresses, the bytes of the pieces of `each` bytes that begin at
    /// `addresses`, and how many all blocks touch if they touch `scale` times as many: no more
    /// of a buffer than there is.
    pub(crate) fn footprints(
        &self,
        addresses: impl Iterator<Item = u64>,
        each: u64,
        scale: f64,
    ) -> std::collections::BTreeMap<u64, (f64, f64)> {
        let mut touched = std::collections::BTreeMap::new();
        for address in addresses {
            *touched.entry(address / RANGE).or_insert(0_u64) += each;
        }
        let of_area = |number: u64| {
            let number = number.wrapping_sub(VARIABLE_WINDOW / RANGE);
            self.areas
                .get(number as usize)
                .map_or(0, |area| area.bytes.len())
        };
        let with_all = |(number, bytes): (u64, u64)| {
            let all = (bytes as f64 * scale).min(of_area(number) as f64);
            (number, (bytes as f64, all))
        };
        touched.into_iter().map(with_all).collect()
    }

    pub(crate) fn bytes(&self, area: usize) -> &[u8] {
        &self.areas[area].bytes
    }
}

/// Makes a finding of what a call of the host function did wrong.
fn of_host(fault: Fault) -> Box<Finding> {
    Box::new(Finding {
        fault,
        kernel: HOST.to_owned(),
        line: Line(0),
        thread: Thread::default(),
    })
}

/// Returns the value of up to 8 bytes.
#[inline(always)]
pub(crate) fn read_value(bytes: &[u8], at: usize, width: u32) -> u64 {
    match width {
        1 => u64::from(bytes[at]),
        2 => u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
        4 => {
            let mut value = [0; 4];
            value.copy_from_slice(&bytes[at..at + 4]);
            u64::from(u32::from_le_bytes(value))
        }
        _ => {
            let mut value = [0; 8];
            value.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(value)
        }
    }
}

/// Writes the lowest `width` bytes of a value.
#[inline(always)]
pub(crate) fn write_value(bytes: &mut [u8], at: usize, width: u32, value: u64) {
    match width {
        1 => bytes[at] = value as u8,
        2 => bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
        4 => bytes[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
        _ => bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
    }
}
