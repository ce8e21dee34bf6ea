//! Memory, its regions and origins.

use autocomp_riscv::{AccessKind, FaultKind, Memory, Region, RegionAccess};

#[test]
fn regions_decide_byte_by_byte_and_the_last_one_wins() {
    let mut memory = Memory::new(0x8000_0000, 0x4000);
    let guard = 0x8000_1000..0x8000_3000;
    memory.add_region(Region {
        name: "guard".into(),
        range: guard,
        access: RegionAccess::None,
    });
    let c = 0x8000_1800..0x8000_1900;
    memory.add_region(Region {
        name: "C".into(),
        range: c,
        access: RegionAccess::NoteWrites,
    });
    let mut check = |address, len| memory.check(address, len, AccessKind::Store, 4);
    assert!(check(0x8000_0000, 0x1000).is_ok());
    assert!(check(0x8000_1800, 0x100).is_ok());
    let fault = check(0x8000_18f8, 16).unwrap_err();
    assert_eq!(
        (fault.kind, fault.address),
        (FaultKind::OutOfBounds, Some(0x8000_1900))
    );
    assert_eq!(check(0x8000_3ff8, 16).unwrap_err().kind, FaultKind::Trap);
    assert_eq!(memory.first_write(1), Some((4, 0x8000_1800)));
}

#[test]
fn a_noted_region_is_open_after_its_first_write() {
    let mut memory = Memory::new(0x8000_0000, 0x8000);
    let range = 0x8000_0800..0x8000_3800;
    let access = RegionAccess::NoteWrites;
    memory.add_region(Region {
        name: "C".into(),
        range,
        access,
    });
    let last = 0x8000_3000..0x8000_3800;
    let access = RegionAccess::Read;
    memory.add_region(Region {
        name: "tail".into(),
        range: last,
        access,
    });
    assert_eq!(memory.load_open(0x8000_1000), Some([0u8; 8]));
    assert!(!memory.store_open(0x8000_1000, [1u8; 8]));
    for round in 1..3 {
        assert_eq!(memory.first_write(0), None);
        memory
            .write(0x8000_2000, 8, AccessKind::DmaWrite, round)
            .unwrap();
        memory.write(0x8000_1000, 8, AccessKind::Store, 9).unwrap();
        assert_eq!(memory.first_write(0), Some((round, 0x8000_2000)));
        // Pages wholly inside need no more checks, the others do.
        assert!(memory.store_open(0x8000_1000, [1u8; 8]));
        assert!(!memory.store_open(0x8000_0800, [1u8; 8]));
        assert!(memory.check(0x8000_3000, 1, AccessKind::Store, 9).is_err());
        memory.forget_first_writes();
    }
    memory.clear_regions();
    assert!(memory.store_open(0x8000_3000, [1u8; 8]));
}

#[test]
fn ranges_are_open_to_dma_unless_a_page_is_restricted() {
    let mut memory = Memory::new(0x8000_0000, 0x4000);
    memory.add_region(Region {
        name: "guard".into(),
        range: 0x8000_1000..0x8000_1001,
        access: RegionAccess::None,
    });
    memory.add_region(Region {
        name: "A".into(),
        range: 0x8000_2000..0x8000_2001,
        access: RegionAccess::Read,
    });
    memory.mark_code(0x8000_3000, 2);
    for (address, len, reads, writes) in [
        (0x8000_0000, 0x1000, true, true),
        (0x8000_0000, 0x1001, false, false),
        (0x8000_1fff, 1, false, false),
        (0x8000_2000, 0x1000, true, false),
        (0x8000_2000, 0x2000, true, false),
        (0x8000_3000, 0x1000, true, false),
        (0x8000_3000, 0x1001, false, false),
        (0x7fff_ffff, 1, false, false),
        (0x8000_1000, 0, true, true),
        (u64::MAX, usize::MAX, false, false),
    ] {
        assert_eq!(
            memory.is_open_to_dma(address, len, false),
            reads,
            "{address:#x}"
        );
        assert_eq!(
            memory.is_open_to_dma(address, len, true),
            writes,
            "{address:#x}"
        );
    }
}

#[test]
fn open_access_refuses_what_needs_a_check() {
    let mut memory = Memory::new(0x1000, 0x4000);
    memory.watch(0x2000..0x2001);
    memory.hook(0x3008);
    memory.mark_code(0x4000, 2);
    for (address, loads, stores) in [
        (0x1000, true, true),
        (0x1004, false, false),
        (0x2000, false, false),
        (0x3000, true, false),
        (0x4000, true, false),
        (0x5000, false, false),
        (0xff8, false, false),
        (u64::MAX, false, false),
    ] {
        assert_eq!(
            memory.load_open::<8>(address).is_some(),
            loads,
            "{address:#x}"
        );
        assert_eq!(memory.store_open(address, [0; 8]), stores, "{address:#x}");
    }
    assert!(!memory.take_code_changed() && !memory.take_hook_touched());
    memory.write(0x4002, 8, AccessKind::DmaWrite, 0).unwrap();
    memory.host_mut(0x1000, 0x3000).unwrap().fill(0);
    assert!(!memory.take_code_changed(), "beside the code");
    memory.write(0x4000, 1, AccessKind::DmaWrite, 0).unwrap();
    assert!(memory.take_code_changed() && !memory.take_code_changed());
    memory.mark_code(0x4000, 2);
    memory.host_mut(0x3ff8, 16).unwrap().fill(0);
    assert!(memory.take_code_changed());
    memory.write(0x3000, 1, AccessKind::Store, 0).unwrap();
    assert!(memory.take_hook_touched());
    memory.unwatch(0x2000..0x2001);
    memory.watch(0..8);
    memory.watch(0x5000..u64::MAX);
    assert!(memory.store_open(0x2000, [0; 8]));
}

#[test]
fn stores_beside_code_leave_it_as_it_is() {
    let base = 0x8000_0000;
    for (address, len) in [(0x100, 4), (0x17e, 2), (0x1ffe, 4), (0x3000, 2)] {
        let mut memory = Memory::new(base, 0x4000);
        memory.mark_code(base + address, len as usize);
        for at in 0..0x4000 {
            let touches = at + 1 > address && at < address + len;
            let in_page = (address >> 12..=(address + len - 1) >> 12).contains(&(at >> 12));
            let stored = memory.store_beside_code(base + at, [1u8]);
            assert_eq!(stored, in_page && !touches, "{at:#x}");
            memory.write(base + at, 1, AccessKind::Store, 0).unwrap();
            assert_eq!(memory.take_code_changed(), touches, "{at:#x}");
            memory.mark_code(base + address, len as usize);
            for halves in [1, 100, 0x900] {
                let end = (at + 2 * halves).min(0x4000);
                let host = memory.host_mut(base + at, (end - at) as usize);
                assert!(host.is_some());
                let touches = at < address + len && address < end;
                assert_eq!(memory.take_code_changed(), touches, "{at:#x} to {end:#x}");
                memory.mark_code(base + address, len as usize);
            }
        }
        assert!(!memory.store_beside_code(base + 0x4000, [1u8]));
    }
    let mut memory = Memory::new(base, 0x1000);
    memory.mark_code(base, 4);
    assert!(
        !memory.store_beside_code(base + 0x104, [1u8; 8]),
        "not aligned"
    );
    memory.watch(base..base + 1);
    assert!(!memory.store_beside_code(base + 0x100, [1u8; 8]), "watched");
}

#[test]
fn loads_from_pages_that_devices_wrote_and_code_that_may_change_are_noted() {
    let base = 0x8000_0000;
    let memory = || {
        let mut memory = Memory::new(base, 0x4000);
        memory.add_region(Region {
            name: "code".into(),
            range: base..base + 0x800,
            access: RegionAccess::Read,
        });
        memory.note_origins();
        memory.mark_code(base + 0x7fc, 4);
        memory.note_device_write(base + 0x1ff8, 16);
        memory
    };
    assert!(!Memory::new(base, 0x4000).core_stands_alone(), "not noted");
    let untouched = |memory: &mut Memory| {
        assert!(memory.load_open::<8>(base + 0x3000).is_some());
        assert!(memory.store_open(base + 0x1000, [0; 8]));
        memory
            .read(base + 0x1000, 8, AccessKind::DmaRead, 0)
            .is_ok()
    };
    let mut alone = memory();
    assert!(untouched(&mut alone) && alone.core_stands_alone());
    for address in [base + 0x1000, base + 0x2ff8] {
        let mut mixed = memory();
        assert_eq!(mixed.load_open::<8>(address), None, "not without a look");
        assert!(mixed.read(address, 8, AccessKind::Load, 0).is_ok());
        assert!(!mixed.core_stands_alone());
        assert!(mixed.load_open::<8>(address).is_some(), "fast from now on");
    }
    for address in [base + 0x7fe, base + 0x3000] {
        let mut mixed = memory();
        mixed.mark_code(address, 4);
        assert!(!mixed.core_stands_alone(), "{address:#x} may be written");
    }
}
