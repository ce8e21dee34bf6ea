//! Whether what a kernel keeps on the chip at once can be there.
//!
//! Facts (the vendor's pages on the memory hierarchy, on direct allocation and on `nc_matmul`, and
//! messages of its compiler): what is live and does not fit is spilled to the next memory, in both
//! dialects; the operands of one instruction must be there together (GCA035); sums that are under
//! way cannot leave the accumulators, since a product adds only to what a product has begun; what
//! the kernel places itself stays where it is.

use crate::api::{PSUM_BANK, PSUM_BYTES};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::number_maps::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Operation, Region, Tensor, Tile, Trace};

/// Most tensors that a message names.
const NAMED: usize = 6;

/// Checks a run whose tiles may take `sbuf` bytes of each partition.
///
/// # Errors
/// `sbuf-overflow`, `psum-overflow` or `allocation-overlap`, with the line, what is live and its
/// bytes.
pub(crate) fn check(trace: &Trace, sbuf: u64) -> Outcome<()> {
    for instruction in trace.instructions.iter() {
        operands(trace, instruction, Buffer::Sbuf, sbuf)?;
        operands(trace, instruction, Buffer::Psum, PSUM_BYTES as u64)?;
    }
    sums_under_way(trace)?;
    if trace.tensors.iter().any(|tensor| tensor.places.is_some()) {
        overwritten(trace)?;
    }
    Ok(())
}

/// The tensor of a region, if it lies in `buffer`.
fn within<'t>(trace: &'t Trace, region: &Region, buffer: Buffer) -> Option<&'t Tensor> {
    let tensor = trace.tensors.get(region.tile.tensor as usize);
    tensor.filter(|tensor| tensor.buffer == buffer)
}

/// Lists tiles with their lines and bytes.
fn listed(trace: &Trace, tiles: &[Tile]) -> String {
    let mut lines: Vec<(u32, u64, u64)> = Vec::new();
    for tile in tiles {
        let tensor = &trace.tensors[tile.tensor as usize];
        match lines
            .iter_mut()
            .find(|(line, bytes, _)| (*line, *bytes) == (tensor.line, tensor.bytes))
        {
            Some((_, _, count)) => *count += 1,
            None => lines.push((tensor.line, tensor.bytes, 1)),
        }
    }
    let more = lines.len().saturating_sub(NAMED);
    let text = lines
        .iter()
        .take(NAMED)
        .map(|(line, bytes, count)| match count {
            1 => format!("{bytes} made at line {line}"),
            _ => format!("{count} of {bytes} made at line {line}"),
        });
    let mut text: Vec<String> = text.collect();
    if more > 0 {
        text.push(format!("those of {more} more lines"));
    }
    text.join(", ")
}

fn operands(trace: &Trace, instruction: &Instruction, buffer: Buffer, limit: u64) -> Outcome<()> {
    let regions = || instruction.reads.iter().chain(&instruction.writes);
    let bytes = |region: &Region| within(trace, region, buffer).map_or(0, |it| it.bytes);
    if regions().map(bytes).sum::<u64>() <= limit {
        return Ok(());
    }
    let mut tiles: Vec<Tile> = Vec::new();
    for region in regions() {
        if within(trace, region, buffer).is_some() && !tiles.contains(&region.tile) {
            tiles.push(region.tile);
        }
    }
    let bytes: u64 = tiles
        .iter()
        .map(|tile| trace.tensors[tile.tensor as usize].bytes)
        .sum();
    if bytes <= limit {
        return Ok(());
    }
    let (code, name) = match buffer {
        Buffer::Psum => ("psum-overflow", "PSUM"),
        _ => ("sbuf-overflow", "SBUF"),
    };
    Err(Failure::new(
        FailureKind::Rejected,
        code,
        format!(
            "GCA035: {} needs {bytes} bytes of {name} in each partition at once, of {limit}: {}",
            instruction.operation.name(),
            listed(trace, &tiles)
        ),
        "tile the free dimension, or write into one of the operands; spilling cannot help, as all operands must be there together",
    )
    .at(instruction.line))
}

/// Sums of products that are begun and not finished, instruction by instruction.
fn sums_under_way(trace: &Trace) -> Outcome<()> {
    let product = |it: &Instruction| it.operation == Operation::Matmul && !it.features.inserted;
    // By the place that is written: where the sum was begun and last added to.
    let mut sums: Keyed<(u32, u32), (Tile, u32, u32)> = Keyed::default();
    let mut done: Vec<(Tile, u32, u32)> = Vec::new();
    for (position, instruction) in (0u32..).zip(trace.instructions.iter()) {
        if !product(instruction) {
            continue;
        }
        for region in &instruction.writes {
            let Some(_) = within(trace, region, Buffer::Psum) else {
                continue;
            };
            let key = (
                region.tile.number,
                region.span.0 | u32::from(region.partitions.0) << 16,
            );
            let begun = (region.tile, position, position);
            match sums.get_mut(&key) {
                Some((_, _, last)) if instruction.features.accumulate => *last = position,
                Some(sum) => done.push(std::mem::replace(sum, begun)),
                None => drop(sums.insert(key, begun)),
            }
        }
    }
    done.extend(sums.into_values());
    let total: u64 = done
        .iter()
        .map(|(tile, ..)| trace.tensors[tile.tensor as usize].bytes)
        .sum();
    if total <= PSUM_BYTES as u64 {
        return Ok(());
    }
    // Ends come before beginnings at one place: an instruction that ends a sum frees its tile.
    let mut events: Vec<(u32, bool, Tile)> = Vec::with_capacity(2 * done.len());
    for (tile, first, last) in done {
        events.push((first, true, tile));
        events.push((last, false, tile));
    }
    events.sort_unstable_by_key(|(position, begins, tile)| (*position, *begins, tile.number));
    // A sum of one product is over when it begins.
    let mut open: Keyed<u32, (Tile, i64)> = Keyed::default();
    let mut level = 0u64;
    for (position, begins, tile) in events {
        let bytes = trace.tensors[tile.tensor as usize].bytes;
        let (_, count) = open.entry(tile.number).or_insert((tile, 0));
        let before = *count;
        *count += if begins { 1 } else { -1 };
        match (before > 0, *count > 0) {
            (false, true) => level += bytes,
            (true, false) => level -= bytes,
            _ => {}
        }
        if level > PSUM_BYTES as u64 {
            let mut tiles: Vec<Tile> = open
                .into_values()
                .filter(|(_, count)| *count > 0)
                .map(|(tile, _)| tile)
                .collect();
            tiles.sort_unstable();
            let line = trace
                .instructions
                .get(position as usize)
                .map_or(0, |it| it.line);
            return Err(Failure::new(
                FailureKind::Rejected,
                "psum-overflow",
                format!(
                    "sums of products under way take {level} bytes of PSUM in each partition, of {PSUM_BYTES} in 8 banks of {PSUM_BANK}: {}",
                    listed(trace, &tiles)
                ),
                "finish sums of 8 banks at most before others begin, and copy each out to SBUF; a sum that is under way cannot leave PSUM",
            )
            .at(line));
        }
    }
    Ok(())
}

/// Who wrote a byte of a memory last.
struct Owners {
    /// Bytes of a partition.
    bytes: usize,
    /// For each quarter of the partitions and each byte: the number of the tile and one, and the line.
    last: Vec<(u32, u32)>,
}

/// Partitions of a quarter: no engine starts elsewhere.
const QUARTER: usize = 32;

impl Owners {
    fn new(bytes: usize) -> Self {
        Self {
            bytes,
            last: vec![(0, 0); 4 * bytes],
        }
    }

    /// The bytes of a region of a tile at a place, in each quarter that it touches.
    fn parts(
        &self,
        place: (usize, usize),
        region: &Region,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let first = place.0 + usize::from(region.partitions.0);
        let last = place.0 + usize::from(region.partitions.1.max(1)) - 1;
        let bytes = self.bytes;
        let low = (place.1 + region.span.0 as usize).min(bytes);
        let high = (place.1 + region.span.1 as usize).min(bytes);
        let quarters = first / QUARTER..=(last / QUARTER).min(3);
        quarters.map(move |quarter| quarter * bytes + low..quarter * bytes + high)
    }
}

/// Finds reads of tiles of which another tile at the same address has taken a part.
fn overwritten(trace: &Trace) -> Outcome<()> {
    let most = trace
        .tensors
        .iter()
        .filter_map(|it| it.places.as_ref().map(|all| (it, all)));
    let ends = most.flat_map(|(it, all)| all.iter().map(|place| u64::from(place.byte) + it.bytes));
    let bytes = ends.max().unwrap_or(0) as usize;
    let mut memories = [
        (Buffer::Sbuf, Owners::new(bytes)),
        (Buffer::Psum, Owners::new(bytes)),
    ];
    let place = |region: &Region| {
        let tensor = trace.tensors.get(region.tile.tensor as usize)?;
        let place = tensor.places.as_ref()?.get(region.tile.block as usize)?;
        Some((tensor, (usize::from(place.partition), place.byte as usize)))
    };
    for instruction in trace.instructions.iter() {
        for region in &instruction.reads {
            let Some((tensor, at)) = place(region) else {
                continue;
            };
            let memory = memories.iter().find(|(buffer, _)| *buffer == tensor.buffer);
            let Some((_, owners)) = memory else { continue };
            let own = region.tile.number + 1;
            let foreign = owners.parts(at, region).find_map(|part| {
                let mut all = owners.last[part].iter();
                all.find(|(owner, _)| *owner != own && *owner != 0).copied()
            });
            if let Some((owner, line)) = foreign {
                let others = trace.instructions.iter().flat_map(|it| &it.writes);
                let other = others.map(|it| it.tile).find(|it| it.number + 1 == owner);
                let other = other.and_then(|it| trace.tensors.get(it.tensor as usize));
                return Err(Failure::new(
                    FailureKind::Rejected,
                    "allocation-overlap",
                    format!(
                        "the tile at byte {} of {} (made at line {}) is read after line {line} has written another to the same bytes (made at line {})",
                        at.1,
                        tensor.buffer.name(),
                        tensor.line,
                        other.map_or(0, |it| it.line)
                    ),
                    "give tiles that are live together addresses of their own, or more blocks places of their own (num_free_tiles, num_bank_tiles)",
                )
                .at(instruction.line));
            }
        }
        for region in &instruction.writes {
            let Some((tensor, at)) = place(region) else {
                continue;
            };
            let memory = memories
                .iter_mut()
                .find(|(buffer, _)| *buffer == tensor.buffer);
            let Some((_, owners)) = memory else { continue };
            for part in owners.parts(at, region) {
                owners.last[part].fill((region.tile.number + 1, instruction.line));
            }
        }
    }
    Ok(())
}
