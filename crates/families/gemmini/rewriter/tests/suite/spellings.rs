//! Spellings of kernels: `tests/spellings/*.c`.
//!
//! The comment at the head of each names its idiom, what it computes
//! (`product`: the product of its first two arrays in the third), the
//! transformations that must be proposed, and where it matters the entry, the
//! problem's signature and what is not understood.

use crate::interpreter::Machine;
use autocomp_gemmini_rewriter::HardwareLimits;
use autocomp_gemmini_rewriter::Vocabulary;
use autocomp_gemmini_rewriter::inside::Kernel;
use autocomp_gemmini_rewriter::inside::View;
use autocomp_gemmini_rewriter::inside::estimate;
use autocomp_gemmini_rewriter::inside::find;
use autocomp_gemmini_rewriter::inside::parse_with;
use autocomp_gemmini_rewriter::inside::print;
use autocomp_gemmini_rewriter::inside::{Event, Program};
use std::fs;
use std::path::PathBuf;

/// The fewest spellings that there must be.
const FEWEST: usize = 120;

fn field<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    let prefix = format!("// {name}: ");
    text.lines()
        .take_while(|line| line.starts_with("//"))
        .find_map(|line| line.strip_prefix(&prefix))
}

/// Returns the commands that a kernel issues, in order, each with its addresses.
fn trace(kernel: &Kernel) -> Option<Vec<String>> {
    let mut issued = Vec::new();
    Program::of(kernel)?.run(&mut { 1 << 20 }, &mut |event| {
        if let Event::Issue(issue) = event {
            let kind = std::mem::discriminant(issue.command);
            let (rows, place) = (issue.rows, issue.place);
            issued.push(format!("{kind:?} {rows:?} {} {place:?}", issue.overwrites));
        }
        Some(())
    })?;
    Some(issued)
}

/// Returns what is wrong with what the kernel computes.
fn wrong_product(kernel: &Kernel, limits: &HardwareLimits) -> Option<String> {
    let [a, b, c] = kernel.arrays.as_slice() else {
        return Some("it has other than three arrays".to_owned());
    };
    let mut machine = Machine::new(kernel, limits);
    let (left, right) = (
        machine.arrays[&a.name].clone(),
        machine.arrays[&b.name].clone(),
    );
    if machine.run(&kernel.body).is_none() {
        return Some("it does not run".to_owned());
    }
    let [rows, columns] = c.extents[..] else {
        return Some("its result is no matrix".to_owned());
    };
    let depth = a.extents[1];
    for i in 0..rows {
        for j in 0..columns {
            let sum: i32 = (0..depth)
                .map(|k| {
                    let one = left[(i * depth + k) as usize];
                    i32::from(one) * i32::from(right[(k * columns + j) as usize])
                })
                .sum();
            let found = machine.arrays[&c.name][(i * columns + j) as usize];
            if i32::from(found) != sum.clamp(-128, 127) {
                return Some(format!("C[{i}][{j}] is {found} and not {sum}"));
            }
        }
    }
    None
}

/// Returns what is wrong with how a spelling is read.
fn defects(text: &str) -> Vec<String> {
    let limits = HardwareLimits::gemmini_int8_16();
    let mut vocabulary = Vocabulary::of(&limits);
    if let Some(entry) = field(text, "entry") {
        entry.clone_into(&mut vocabulary.entry);
    }
    if let Some(signature) = field(text, "signature") {
        signature.clone_into(&mut vocabulary.signature);
    }
    let kernel = match parse_with(text, &vocabulary) {
        Ok(kernel) => kernel,
        Err(error) => return vec![error.to_string()],
    };
    let mut defects = Vec::new();
    let unread: Vec<String> = kernel
        .unread
        .iter()
        .map(|unread| format!("line {}: {}", unread.line, unread.reason))
        .collect();
    let expected: Vec<&str> = field(text, "unread").into_iter().collect();
    if unread != expected {
        defects.push(format!("not understood: {unread:?}"));
    }
    let printed = print(&kernel);
    match parse_with(&printed, &vocabulary) {
        Ok(again) => {
            if print(&again) != printed {
                defects.push(format!(
                    "printing is not stable:\n{printed}\n{}",
                    print(&again)
                ));
            }
            if trace(&again) != trace(&kernel) {
                defects.push("printing changes the commands".to_owned());
            }
        }
        Err(error) => defects.push(format!("what is printed does not parse: {error}")),
    }
    if field(text, "computes") == Some("product") {
        defects.extend(wrong_product(&kernel, &limits));
    }
    let names = field(text, "expects").unwrap_or_default();
    if !names.is_empty() && estimate(&kernel, &limits).is_none() {
        defects.push("it cannot be followed".to_owned());
    }
    let view = View::of(&kernel, &limits);
    for name in names.split(", ").filter(|name| !name.is_empty()) {
        let Some(transformation) = find(name) else {
            defects.push(format!("there is no transformation `{name}`"));
            continue;
        };
        let steps = transformation.steps(&view);
        let applies = |step| transformation.apply(&view, step).is_some();
        if !steps.iter().any(applies) {
            defects.push(format!("`{name}` does not apply"));
        }
    }
    if !defects.is_empty() {
        defects.push(printed);
    }
    defects
}

#[test]
fn every_spelling_is_understood() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/spellings");
    let mut count = 0;
    let mut failures = String::new();
    for entry in fs::read_dir(folder).expect("the folder of spellings") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a readable spelling");
        count += 1;
        let defects = defects(&text);
        if !defects.is_empty() {
            failures.push_str(&format!(
                "==== {}\n{}\n",
                path.display(),
                defects.join("\n")
            ));
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(FEWEST <= count, "there are only {count} spellings");
}
