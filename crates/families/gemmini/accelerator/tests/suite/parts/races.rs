//! What is outstanding on memory, against a table of bytes.

use autocomp_gemmini::inside::Outstanding;
use autocomp_riscv::Memory;
use proptest::prelude::*;

const BASE: u64 = 0x8000_0000;

#[derive(Clone, Debug)]
enum Access {
    Load(u64, usize),
    Store(u64, usize, u32),
    Cpu(u64, u64, bool),
    Fence,
}

fn access() -> impl Strategy<Value = Access> {
    let near = || prop_oneof![0u64..300, 4000u64..4300, 8100u64..8200];
    prop_oneof![
        4 => (near(), 1usize..200).prop_map(|(at, len)| Access::Load(at, len)),
        4 => (near(), 1usize..200, 0u32..20).prop_map(|(at, len, after)| Access::Store(at, len, after)),
        4 => (near(), 1u64..16, any::<bool>()).prop_map(|(at, len, store)| Access::Cpu(at, len, store)),
        1 => Just(Access::Fence),
    ]
}

proptest! {
    /// Against one entry per byte.
    #[test]
    fn agrees_with_a_table_of_bytes(accesses in prop::collection::vec(access(), 1..60)) {
        let mut memory = Memory::new(BASE, 0x4000);
        let mut tracker = Outstanding::new();
        let mut read = vec![0u32; 0x4000];
        let mut written = vec![false; 0x4000];
        for (number, access) in accesses.into_iter().enumerate() {
            match access {
                Access::Load(at, len) => {
                    let load = tracker.next_load();
                    let bytes = at as usize..at as usize + len;
                    let expected = bytes.clone().find(|b| written[*b]);
                    let found = tracker.load(&mut memory, BASE + at, len, number as u64, load);
                    prop_assert_eq!(found.err().map(|c| (c.address - BASE) as usize), expected);
                    if expected.is_some() { break; }
                    read[bytes].fill(load);
                }
                Access::Store(at, len, after) => {
                    let bytes = at as usize..at as usize + len;
                    // One number is kept for each line: the newest load of any of its bytes.
                    let newest = |b: usize| read[b & !63..(b | 63) + 1].iter().copied().max().unwrap();
                    let expected = bytes.clone().find(|b| read[*b] != 0 && newest(*b) > after);
                    let found = tracker.store(&mut memory, BASE + at, len, number as u64, after);
                    prop_assert_eq!(found.err().map(|c| (c.address - BASE) as usize), expected);
                    if expected.is_some() { break; }
                    written[bytes].fill(true);
                }
                Access::Cpu(at, len, store) => {
                    let expected = (at..at + len).find(|b| written[*b as usize] || (store && read[*b as usize] != 0));
                    let found = tracker.cpu(BASE, BASE + at, len, store);
                    prop_assert_eq!(found.map(|c| c.address - BASE), expected);
                    if expected.is_some() { prop_assert!(memory.is_watched(BASE + at, len as usize)); }
                }
                Access::Fence => {
                    tracker.clear(&mut memory);
                    read.fill(0);
                    written.fill(false);
                    prop_assert!(!memory.is_watched(BASE, 0x4000));
                }
            }
        }
    }
}
