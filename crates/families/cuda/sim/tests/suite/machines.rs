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
    assert_eq!(said, "`overlap.together` is 2.5 and must be from 0 to 2");
}
