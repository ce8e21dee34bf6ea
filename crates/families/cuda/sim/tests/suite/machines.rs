//! Files of machines.

use autocomp_cuda_sim::timing::Machine;

const H100: &str = include_str!("../../../../../../targets/cuda-sm90/machines/h100-sxm.toml");

/// Tables of the file.
const TABLES: [&str; 5] = ["barrier", "caches", "atomics", "overlap", "latencies"];

/// Returns the lines of the tables that have figures, each with the key as messages name it.
fn figures() -> Vec<(usize, String, String)> {
    let mut table = "";
    let mut found = Vec::new();
    for (at, line) in H100.lines().enumerate() {
        match (line.strip_prefix('['), line.split_once(" = ")) {
            (Some(name), _) => table = name.trim_end_matches(']'),
            (_, Some((key, _))) if !table.is_empty() && !line.starts_with('#') => {
                found.push((at, table.to_owned(), key.to_owned()));
            }
            _ => {}
        }
    }
    found
}

/// Returns what is said of the file with another line in place of one.
fn refusal(at: usize, line: &str) -> String {
    let lines = H100.lines().enumerate();
    let lines: Vec<&str> = lines
        .map(|(idx, own)| if idx == at { line } else { own })
        .collect();
    Machine::parse(&lines.join("\n")).expect_err(line)
}

#[test]
fn figures_that_no_machine_has_are_refused_by_key() {
    let figures = figures();
    assert_eq!(figures.len(), 30);
    for (at, table, key) in figures {
        let values: &[&str] = match &key[..] {
            // A whole number.
            "granule_bytes" => &["0", "48", "1000000000"],
            _ => &["-1.0", "nan", "inf", "1e9"],
        };
        for value in values {
            let said = refusal(at, &format!("{key} = {value}"));
            let name = format!("`{table}.{key}` is ");
            assert!(said.contains(&name), "{said}");
        }
    }
}

#[test]
fn figures_that_are_missing_are_named() {
    for (at, table, key) in figures() {
        let said = refusal(at, "");
        assert!(said.contains(&format!("missing field `{key}`")), "{said}");
        assert!(TABLES.contains(&&table[..]), "{table}");
    }
    for name in TABLES {
        let text = H100.replace(&format!("[{name}]"), "[another]");
        let said = Machine::parse(&text).expect_err(name);
        assert!(said.contains("another"), "{said}");
        let before = H100.split(&format!("[{name}]")).next().expect("a begin");
        let said = Machine::parse(before).expect_err(name);
        assert!(said.contains("missing field"), "{said}");
    }
}

#[test]
fn limits_never_add_up_to_more_than_one_after_the_other() {
    let text = H100.replace("\ntogether = 1.3", "\ntogether = 2.5");
    let said = Machine::parse(&text).expect_err("power below one");
    let line = 1 + H100
        .lines()
        .take_while(|it| *it != "together = 1.3")
        .count();
    assert_eq!(
        said,
        format!("line {line}: `overlap.together` is 2.5 and must be from 0 to 2")
    );
}

/// Returns the line, from 1, that sets a key outside of tables.
fn line_of(key: &str) -> usize {
    let mut lines = H100.lines();
    let at = lines.position(|line| line.starts_with(&format!("{key} = ")));
    1 + at.unwrap_or_else(|| panic!("{key}"))
}

#[test]
fn figures_outside_of_tables_are_refused_by_line_key_and_range() {
    let absurd = [
        ("sms", "0"),
        ("sms", "132000"),
        ("clock_mhz", "0.0"),
        ("clock_mhz", "-1980.0"),
        ("clock_mhz", "1980000000.0"),
        ("matrix_clock_mhz", "1.815"),
        ("fp32_lanes", "0.0"),
        ("fp64_lanes", "nan"),
        ("tensor_macs", "inf"),
        ("warps", "640"),
        ("blocks", "0"),
        ("registers", "7"),
        ("registers", "65536000"),
        ("shared_bytes", "228"),
        ("block_shared_bytes", "0"),
        ("l1_bytes", "256"),
        ("l2_bytes", "50"),
        ("l2_copies", "0.0"),
        ("l2_bytes_per_ns", "-7184.0"),
        ("l2_write_bytes_per_ns", "0.0"),
        ("dram_bytes_per_ns", "0.0"),
        ("dram_write_bytes_per_ns", "-1.0"),
        ("dram_peak_bytes_per_ns", "3350000000000.0"),
        ("shared_latency", "0.0"),
        ("launch_ns", "2400000000.0"),
        ("spread_percent", "150.0"),
    ];
    for (key, value) in absurd {
        let line = line_of(key);
        let said = refusal(line - 1, &format!("{key} = {value}"));
        assert!(
            said.starts_with(&format!("line {line}: `{key}` is ")),
            "{said}"
        );
        assert!(said.contains(" and must be from "), "{said}");
    }
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let contradictions = [
        ("dram_bytes_per_ns", "3351.0", "dram_peak_bytes_per_ns"),
        (
            "dram_write_bytes_per_ns",
            "3351.0",
            "dram_peak_bytes_per_ns",
        ),
        ("block_shared_bytes", "233473", "shared_bytes"),
        ("shared_bytes", "262145", "l1_bytes"),
        ("l1_latency", "291.0", "l2_latency"),
        ("l2_latency", "807.0", "dram_latency"),
    ];
    for (key, value, other) in contradictions {
        let line = line_of(key);
        let said = refusal(line - 1, &format!("{key} = {value}"));
        let begin = format!("line {line}: `{key}` is {}", value.trim_end_matches(".0"));
        assert!(said.starts_with(&begin), "{said}");
        assert!(said.contains(&format!("more than `{other}`")), "{said}");
    }
}

#[test]
fn architectures_that_kernels_are_not_compiled_for_are_refused() {
    let line = line_of("architecture");
    for value in ["sm_banana", "sm_75", "sm_900", "90", ""] {
        let said = refusal(line - 1, &format!("architecture = {value:?}"));
        let begin = format!("line {line}: `architecture` is {value:?} and must be one of sm_80, ");
        assert!(said.starts_with(&begin), "{said}");
    }
}

#[test]
fn lines_that_are_no_toml_are_named() {
    let line = line_of("sms");
    for value in ["-3", "\"x", "12.5"] {
        let said = refusal(line - 1, &format!("sms = {value}"));
        assert!(said.starts_with(&format!("line {line}: ")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
