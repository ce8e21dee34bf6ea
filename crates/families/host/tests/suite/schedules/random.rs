//! Loop nests drawn at random: whatever is proposed for them compiles and computes the same.

use super::{CLOSE, REAL, choice, menu, own_rewriter, problem};
use crate::support;

use autocomp_core::{Rewriter, Seed};
use std::collections::BTreeSet;

/// Nests that are drawn, and plans that are carried out for each.
const NESTS: usize = 9;
const PLANS: u32 = 5;

/// Draws the text of nests over `x[19][37]`, `w[37]` and `y[19][37]`.
struct Drawn {
    seed: Seed,
    floats: Vec<String>,
    places: Vec<String>,
    text: String,
}

impl Drawn {
    fn below(&mut self, limit: usize) -> usize {
        self.seed.below(limit)
    }

    fn one_of(&mut self, all: &[&str]) -> String {
        all[self.below(all.len())].to_owned()
    }

    /// A place along the second dimension that lies inside of it.
    fn place(&mut self) -> String {
        let known = self.places.len();
        match self.below(2 + known) {
            0 => "j".to_owned(),
            1 => "36 - j".to_owned(),
            other => self.places[other - 2].clone(),
        }
    }

    fn operand(&mut self) -> String {
        let known = self.floats.len();
        match self.below(4 + 2 * known) {
            0 => format!("x[i][{}]", self.place()),
            1 => format!("w[{}]", self.place()),
            2 => self.one_of(&["0.5f", "1.25f", "(float)j", "(i + 0.5f)"]),
            3 => format!("fabsf(x[i][{}])", self.place()),
            other => self.floats[(other - 4) / 2].clone(),
        }
    }

    fn value(&mut self) -> String {
        let (one, other, last) = (self.operand(), self.operand(), self.operand());
        match self.below(5) {
            0 => format!("{one} * {other} + {last}"),
            1 => format!("{one} - {other}"),
            2 => format!("{one} > {other} ? {one} : {last}"),
            3 => format!("{one} + 0.25f * {other}"),
            _ => one,
        }
    }

    /// Declares a number, or a place that is kept inside its array by an `if`.
    fn local(&mut self, depth: usize, inner: &str) {
        let indent = "  ".repeat(depth);
        let name = format!("l{}", self.floats.len() + self.places.len());
        if self.below(3) == 0 {
            let shift = self.one_of(&["j - 2", "j + 3", inner]);
            self.text += &format!("{indent}int {name} = {shift};\n");
            self.text += &format!("{indent}if ({name} < 0) {name} = 0;\n");
            self.text += &format!("{indent}if ({name} > 36) {name} = 36;\n");
            self.places.push(name);
            return;
        }
        let value = self.value();
        self.text += &format!("{indent}float {name} = {value};\n");
        if self.below(3) == 0 {
            let (limit, value) = (self.operand(), self.value());
            self.text += &format!("{indent}if ({name} < {limit}) {name} = {value};\n");
        }
        self.floats.push(name);
    }

    fn nest(seed: Seed) -> String {
        let mut it = Self {
            seed,
            floats: Vec::new(),
            places: Vec::new(),
            text: "void solution(float x[19][37], float w[37], float y[19][37]) {\n".to_owned(),
        };
        it.text += "  for (int i = 0; i < 19; i++)\n    for (int j = 0; j < 37; j++) {\n";
        for _ in 0..1 + it.below(3) {
            it.local(3, "j / 2");
        }
        let mut result = "s".to_owned();
        match it.below(3) {
            0 => result = it.value(),
            kind => {
                it.text += "      float s = 0.0f;\n";
                let trips = it.one_of(&["3", "5", "37"]);
                it.text += &format!("      for (int k = 0; k < {trips}; k++) {{\n");
                let outside = (it.floats.len(), it.places.len());
                it.local(4, "j + k");
                it.local(4, "k");
                it.places.push("k".to_owned());
                let value = it.value();
                it.text += &match kind {
                    1 => format!("        s += {value};\n"),
                    _ => format!("        float t = {value};\n        if (t > s) s = t;\n"),
                };
                it.text += "      }\n";
                it.floats.truncate(outside.0);
                it.places.truncate(outside.1);
            }
        }
        let factor = it.operand();
        it.text += &format!("      y[i][j] = {result} + {factor};\n    }}\n}}\n");
        it.text
    }
}

#[test]
fn drafts_for_random_nests_compile_and_stay_right() {
    let buffers = [
        ("x", "float32", "19, 37", "input"),
        ("w", "float32", "37", "input"),
        ("y", "float32", "19, 37", "output"),
    ];
    let signature = "float x[19][37], float w[37], float y[19][37]";
    let fills = format!("fill.x = {REAL}\nfill.w = {REAL}");
    let description = problem(signature, CLOSE, &buffers, &fills);
    let (menu, rewriter) = (menu(), own_rewriter());
    let mut changed = 0;
    for nest in 0..NESTS {
        let plain = Drawn::nest(Seed(41).derive(&nest.to_string()));
        let Some(bench) = support::bench_of(&description, &plain) else {
            return;
        };
        let mut made = BTreeSet::from([plain.clone()]);
        for plan in 0..PLANS {
            let Ok(planned) = rewriter.plan(&plain, choice(&menu, 1, plan)) else {
                break;
            };
            let source = rewriter.implement(&plain, &planned.payload, 0);
            let source = source.unwrap_or_else(|why| panic!("{why}: {}\n{plain}", planned.text));
            if made.insert(source.clone()) {
                support::assert_right(&bench, &source, &planned.text);
                changed += 1;
            }
        }
    }
    assert!(NESTS * 2 <= changed, "{changed} drafts");
}
