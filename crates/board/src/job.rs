//! What the runner is given: a program and the contents of its buffers, and where they lie.

use autocomp_bare_metal::{Image, Layout};
use autocomp_catalog::Problem;
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::{Case, poison_output};
use autocomp_riscv_machine::MEMORY_BASE;

const MAGIC: &[u8; 8] = b"oardjob1";

/// Registers in which kernels get the addresses of their buffers.
const ARGUMENTS: usize = 8;

const READ: u64 = 1;
const WRITE: u64 = 2;
const EXECUTE: u64 = 4;

/// A kernel with one input set, as the runner reads it (`struct job` of `runner.c`).
#[derive(Debug)]
pub(crate) struct Job {
    pub bytes: Vec<u8>,
    /// What each output holds before a call, in the order of the buffers.
    pub poisons: Vec<Vec<u8>>,
}

/// A range of memory with what it holds.
struct Piece<'c> {
    address: u64,
    content: &'c [u8],
    bytes: u64,
    rights: u64,
    /// Whether its content is put there before each call.
    is_restored: bool,
    /// Whether it is a result.
    is_compared: bool,
}

impl Job {
    /// Makes the job of a kernel for one input set; `seed` decides where buffers lie and what
    /// outputs hold.
    pub fn new(
        image: &Image,
        problem: &Problem,
        case: &Case,
        seed: Seed,
    ) -> Result<Self, EvalError> {
        let layout = Layout::new(image, &problem.buffers, seed)?;
        let mut pieces: Vec<Piece<'_>> = image
            .segments
            .iter()
            .map(|segment| Piece {
                address: segment.address,
                content: &segment.bytes,
                bytes: segment.size,
                rights: match segment.address {
                    address if address < image.code.end => READ | EXECUTE,
                    address if address < image.variables => READ,
                    _ => READ | WRITE,
                },
                is_restored: image.variables <= segment.address,
                is_compared: false,
            })
            .collect();
        pieces.push(Piece {
            address: image.stack.start,
            content: &[],
            bytes: image.stack.end - image.stack.start,
            rights: READ | WRITE,
            is_restored: false,
            is_compared: false,
        });
        let mut poisons = Vec::new();
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            if buffer.is_written() {
                let mut content = vec![0; buffer.bytes()];
                match &case.before[idx] {
                    Some(before) => content.copy_from_slice(before),
                    None => {
                        let right = case.after[idx].as_deref().unwrap_or_default();
                        poison_output(&mut content, right, seed.derive(&buffer.name));
                    }
                }
                poisons.push(content);
            }
        }
        let mut written = poisons.iter();
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            let is_written = buffer.is_written();
            let content = match is_written {
                true => written.next(),
                false => case.before[idx].as_ref(),
            };
            pieces.push(Piece {
                address: layout.addresses[idx],
                content: content.map_or(&[], Vec::as_slice),
                bytes: buffer.bytes() as u64,
                rights: if is_written { READ | WRITE } else { READ },
                is_restored: is_written,
                is_compared: is_written,
            });
        }
        let bytes = written_out(image, &layout, &pieces);
        Ok(Self { bytes, poisons })
    }
}

fn written_out(image: &Image, layout: &Layout, pieces: &[Piece<'_>]) -> Vec<u8> {
    let mut words = vec![
        u64::from_le_bytes(*MAGIC),
        MEMORY_BASE,
        layout.memory_bytes as u64,
        image.entry_function(),
        layout.stack.end,
        layout.addresses.len() as u64,
        pieces.len() as u64,
    ];
    words.extend(&layout.addresses);
    words.resize(7 + ARGUMENTS, 0);
    for piece in pieces {
        words.extend([
            piece.address,
            piece.content.len() as u64,
            piece.bytes,
            piece.rights,
            piece.is_restored.into(),
            piece.is_compared.into(),
        ]);
    }
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    for piece in pieces {
        bytes.extend_from_slice(piece.content);
    }
    bytes
}

/// Returns the digest that the runner prints of results.
pub(crate) fn digest(results: &[u8]) -> u64 {
    results.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
