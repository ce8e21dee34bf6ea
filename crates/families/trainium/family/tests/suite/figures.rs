//! What texts of targets say in numbers is what machine files and the simulator say.

use autocomp_catalog::{Catalog, Target};
use autocomp_eval::Family;
use autocomp_trainium_family::Trainium;
use autocomp_trainium_sim::Dialect;
use autocomp_trainium_sim::timing::Machine;
use std::collections::BTreeMap;

fn targets() -> Vec<(Target, Machine, BTreeMap<String, String>)> {
    let catalog = Catalog::built_in().unwrap();
    let targets = catalog
        .target_names()
        .map(|name| catalog.target(name).unwrap());
    let ours = targets.filter(|target| target.family == Trainium.name());
    let read = ours.map(|target| {
        let machine = Machine::parse(target.machine(None).unwrap()).unwrap();
        let is_first = machine.generation < 3;
        let machine = machine.for_dialect(if is_first { Dialect::V1 } else { Dialect::V2 });
        let figures = Trainium.figures(&target, &target.default_machine).unwrap();
        (target, machine, figures)
    });
    read.collect()
}

/// Returns the cells of the row of a table that begins with `engine` and `words`.
fn row(table: &str, engine: &str, words: &str) -> Vec<f64> {
    let head = format!("| {engine} | {words} |");
    let line = table.lines().find(|line| line.starts_with(&head));
    let line = line.unwrap_or_else(|| panic!("no row {head} in\n{table}"));
    let cells = line[head.len()..].split('|').map(str::trim);
    cells.filter_map(|cell| cell.parse().ok()).collect()
}

/// Every number in a text is a figure of the machine, or belongs to the shape of all cores:
/// partitions, columns of a product, of a block to turn, of a bank and of the tables, a bank's KiB, dialects, and bits
/// that types keep.
#[test]
fn texts_hold_no_numbers_of_their_own() {
    let shapes = [
        "0", "1", "2", "32", "32x32", "128", "128x128", "512", "2048", "8192", "8", "11", "16",
        "24",
    ];
    for (target, _, figures) in targets() {
        let isa = target.isa.iter().map(|section| &section.text);
        let rules = &target.rules;
        let rules = [&rules.general, &rules.plan, &rules.code, &rules.schedule];
        let menu = target.menu.iter().map(|item| &item.text);
        let texts = [&target.architecture, &target.description].into_iter();
        let texts = texts
            .chain(isa)
            .chain(menu)
            .chain(rules.into_iter().flatten());
        for text in texts {
            let mut bare = text.clone();
            for name in figures.keys() {
                bare = bare.replace(&format!("{{{{ {name} }}}}"), "");
            }
            assert!(!bare.contains("{{"), "{}: {bare}", target.name);
            let words = bare.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_'));
            let numbers = words
                .map(|word| word.trim_matches('.'))
                .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            for number in numbers {
                assert!(
                    shapes.contains(&number),
                    "{}: {number} in {text}",
                    target.name
                );
            }
        }
    }
}

#[test]
fn figures_are_those_of_the_machine() {
    for (target, machine, figures) in targets() {
        let roofline = target.roofline.unwrap();
        let bytes = machine.dma.queues as f64 * machine.dma.bytes_per_ns;
        let bytes = bytes.min(machine.dma.hbm_bytes_per_ns);
        let close = |left: f64, right: f64| (left - right).abs() < 1e-6 * right;
        assert!(close(roofline.bytes, bytes), "{}", target.name);
        let macs = 128.0 * 128.0 * machine.tensor.ghz;
        assert!(close(roofline.peak_macs, macs), "{}", target.name);
        assert_eq!(figures["hbm_gbs"], bytes.to_string());
        assert_eq!(figures["sbuf_kib"], (machine.sbuf_bytes / 1024).to_string());
        assert_eq!(
            figures["launch_us"],
            (machine.launch_ns / 1000.0).to_string()
        );
        // Transfers that start one after the other are told of, too.
        let starts = target.architecture.contains("{{ start_ns }} ns to start");
        assert_eq!(starts, 0.0 < machine.dma.dynamic_ns, "{}", target.name);
        // Engines that exclude each other are told of, and no others.
        let excludes = target.architecture.contains("at the same time, nor");
        assert_eq!(excludes, machine.exclusions, "{}", target.name);
    }
}

/// What the texts say of rates, of every machine.
#[test]
fn sentences_on_rates_hold() {
    for (target, machine, figures) in targets() {
        let table = &figures["instruction_costs"];
        let cost = |engine: &str, words: &str| row(table, engine, words);
        // Two operands in SBUF take as much longer than one, or than one in PSUM, as is said.
        let both = cost("vector", "tensor_tensor, float32, both operands in SBUF");
        let one = cost("vector", "tensor_scalar, tensor_copy, float32");
        let psum = &table[table.find("both operands in SBUF").unwrap()..];
        let psum = row(psum, "vector", "the same, one operand in PSUM");
        let factor = machine.rates.two_operands;
        let found = both[2] / one[2] / factor;
        assert!((0.9..1.05).contains(&found), "{}", target.name);
        assert_eq!(
            target.architecture.contains("take the vector engine twice"),
            1.0 < factor
        );
        assert!(
            psum[1] * (1.0 + 0.4 * (factor - 1.0)) < both[1],
            "{}: {psum:?} {both:?}",
            target.name
        );
        // Float32 operands take the matrix engine longer; half of that if one is all zeros
        // and ones.
        let narrow = cost("tensor", "nc_matmul, bfloat16, K = M = 128");
        let wide = cost("tensor", "nc_matmul, float32");
        let said = cost(
            "tensor",
            "the same, one operand of zeros and ones, said with is_moving_onezero=True or is_stationary_onezero=True",
        );
        assert!(3.0 * narrow[1] < wide[1], "{}", target.name);
        assert!((said[1] / wide[1] - 0.5).abs() < 0.02, "{}", target.name);
        // One row takes longer than 128 of the same bytes in all.
        let transfers = &figures["transfer_costs"];
        assert_eq!(transfers.lines().count(), 6);
        for line in table.lines().skip(2) {
            let cells = line.split('|').map(str::trim);
            let measured = cells.filter(|cell| cell.parse::<f64>().is_ok());
            let least = if line.contains("nc_transpose") { 1 } else { 2 };
            assert!(least <= measured.count(), "{}: {line}", target.name);
        }
        for line in table.lines().chain(transfers.lines()).skip(2) {
            assert!(!line.contains(" 0 |") && !line.contains(" 0 ns"), "{line}");
        }
    }
}
