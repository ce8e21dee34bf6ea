//! The simulator by itself: programs that end well, badly or never, and suites
//! with mistakes in them.

use super::program::Place;
use std::fs;

const BASE: u64 = 0x8000_0000;
const TOHOST: u64 = BASE + 0x40;

/// `jal zero, 0`
const FOR_EVER: u32 = 0x0000_006f;
/// Stores 1 to `tohost`: the exit with code 0.
const EXIT: [u32; 4] = [
    0x0000_0297, // auipc t0, 0
    0x0010_0313, // addi t1, zero, 1
    0x0462_b023, // sd t1, 0x40(t0)
    FOR_EVER,
];

/// Returns an executable of one segment, with the symbols `tohost` and `main` if wanted.
fn elf(code: &[u32], with_symbols: bool) -> Vec<u8> {
    const CODE_AT: u64 = 0x1000;
    let mut image: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    image.resize(0x100, 0);
    let names = b"\0tohost\0main\0";
    let mut symbols = vec![0u8; 24];
    if with_symbols {
        // Global and absolute; `main` is a function, `tohost` has no type.
        for (name, kind, address, size) in [(1u32, 0x10, TOHOST, 8), (8, 0x12, BASE, 4)] {
            symbols.extend(name.to_le_bytes());
            symbols.extend([kind, 0, 0xf1, 0xff]);
            symbols.extend(address.to_le_bytes());
            symbols.extend((size as u64).to_le_bytes());
        }
    }
    let symbols_at = CODE_AT + image.len() as u64;
    let names_at = symbols_at + symbols.len() as u64;
    let sections_at = names_at + names.len() as u64;

    let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    out.resize(16, 0);
    out.extend([2u16, 243].iter().flat_map(|it| it.to_le_bytes()));
    out.extend(1u32.to_le_bytes());
    out.extend(
        [BASE, 64, sections_at]
            .iter()
            .flat_map(|it| it.to_le_bytes()),
    );
    out.extend(0u32.to_le_bytes());
    out.extend(
        [64u16, 56, 1, 64, 3, 2]
            .iter()
            .flat_map(|it| it.to_le_bytes()),
    );
    out.extend([1u32, 7].iter().flat_map(|it| it.to_le_bytes()));
    let size = image.len() as u64;
    out.extend(
        [CODE_AT, BASE, BASE, size, size, 0x1000]
            .iter()
            .flat_map(|it| it.to_le_bytes()),
    );
    out.resize(CODE_AT as usize, 0);
    out.extend(&image);
    out.extend(&symbols);
    out.extend(names);
    let sections = [
        (0u32, 0, 0, 0, 0),
        (2, symbols_at, symbols.len() as u64, 2, 24),
        (3, names_at, names.len() as u64, 0, 0),
    ];
    for (kind, at, size, link, entry_size) in sections {
        out.extend([0, kind].iter().flat_map(|it| it.to_le_bytes()));
        out.extend([0, 0, at, size].iter().flat_map(|it| it.to_le_bytes()));
        out.extend([link, 1u32].iter().flat_map(|it| it.to_le_bytes()));
        out.extend([8, entry_size].iter().flat_map(|it: &u64| it.to_le_bytes()));
    }
    out
}

/// What was run and what came of it, without the time that it took.
fn transcript(place: &Place, arguments: &[&str]) -> String {
    let text = place.call(arguments).transcript();
    let lines = text.lines().map(|line| match line.split_once(" cycles, ") {
        Some((before, _)) => format!("{before} cycles, [TIME]\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn programs() {
    let place = Place::new();
    let mut object = elf(&EXIT, true);
    object[16] = 1;
    let mut nothing_to_load = elf(&EXIT, true);
    // The number of program headers.
    nothing_to_load[56] = 0;
    let mut starts_elsewhere = elf(&EXIT, true);
    starts_elsewhere[24..32].copy_from_slice(&(BASE + 0x1000).to_le_bytes());
    for (name, program) in [
        ("exits", elf(&EXIT, true)),
        ("never-ends", elf(&[FOR_EVER], true)),
        ("stripped", elf(&EXIT, false)),
        ("illegal", elf(&[0xffff_ffff], true)),
        ("never-ends-stripped", elf(&[FOR_EVER], false)),
        ("object-file", object),
        ("nothing-to-load", nothing_to_load),
        ("starts-elsewhere", starts_elsewhere),
    ] {
        place.file("a.elf", program);
        let arguments = [
            "sim",
            "run",
            "a.elf",
            "--functional",
            "--max-instructions",
            "1000",
        ];
        insta::assert_snapshot!(format!("program-{name}"), transcript(&place, &arguments));
    }
}

#[test]
fn suites_with_mistakes() {
    const HEADER: &str = "elf\tcase\trep\tissue_cycles\ttotal_cycles\n";
    let place = Place::new();
    fs::create_dir_all(place.path().join("suite/elf")).unwrap();
    place.file("suite/elf/endless.elf", elf(&[0xffff_ffff], true));
    let counts = |rows: &[&str]| format!("{HEADER}{}\n", rows.join("\n").replace(' ', "\t"));
    for (name, table) in [
        (
            "header",
            "elf,case,rep,issue_cycles,total_cycles\n".to_owned(),
        ),
        ("number", counts(&["a.elf b 1 ten 11"])),
        ("fields", counts(&["a.elf b 1"])),
        ("repetition", counts(&["a.elf b 3 10 11"])),
        (
            "twice",
            counts(&["a.elf b 1 10 11", "a.elf b 2 10 11", "a.elf b 1 12 13"]),
        ),
        ("no-cycles", counts(&["a.elf b 1 0 0"])),
        (
            "too-many-cycles",
            counts(&["a.elf b 1 10 18446744073709551615"]),
        ),
        ("issue-longer", counts(&["a.elf b 1 12 11"])),
        (
            "does-not-run",
            counts(&["endless.elf b 1 10 11", "endless.elf b 2 10 11"]),
        ),
    ] {
        place.file("suite/cycles.tsv", table);
        insta::assert_snapshot!(
            format!("suite-{name}"),
            transcript(&place, &["sim", "calibrate", "--suite", "suite"])
        );
    }
}

#[test]
fn a_suite_without_some_programs_says_which() {
    let place = Place::new();
    let suite = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../families/gemmini/sim/calibration/gemmini-rtl"
    );
    fs::create_dir_all(place.path().join("suite/elf")).unwrap();
    let table = fs::read_to_string(format!("{suite}/cycles.tsv")).unwrap();
    let program = fs::read(format!("{suite}/elf/micro_grid.elf")).unwrap();
    place.file("suite/elf/micro_grid.elf", program);
    let of = |elf: &str| {
        table
            .lines()
            .filter(|line| line.starts_with(elf))
            .collect::<Vec<_>>()
    };
    let mut rows = of("elf\t");
    rows.extend(of("micro_grid"));
    rows.extend([
        "micro_grid.elf\tunheard_of\t1\t5\t6",
        "micro_grid.elf\tunheard_of\t2\t5\t6",
    ]);
    rows.extend(of("kern_conv"));
    place.file("suite/cycles.tsv", rows.join("\n"));
    let ended = place.call(&["sim", "calibrate", "--suite", "suite"]);
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stdout.contains("kernels: no cases\n"),
        "{}",
        ended.stdout
    );
    insta::assert_snapshot!(ended.stderr);
}

#[test]
fn rows_of_a_table_name_no_file_outside_its_folder() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("suite")).unwrap();
    place.file("outside.py", "def solution(a):\n    return a\n");
    let absolute = place.path().join("outside.py").display().to_string();
    std::os::unix::fs::symlink("../outside.py", place.path().join("suite/link.py")).unwrap();
    for file in [absolute.as_str(), "../outside.py", "link.py", ""] {
        place.file(
            "suite/latencies.tsv",
            format!(
                "id\tfile\tentry\tinputs\tmachine\tlatency_us\tgroup\n\
                 d\t{file}\tsolution\ta:f32[128,512]\ttrn1\t10\tdouble\n"
            ),
        );
        let said = transcript(&place, &["sim", "calibrate", "--suite", "suite"]);
        assert!(
            said.contains("no path within the folder of the table"),
            "{file}: {said}"
        );
    }
}
