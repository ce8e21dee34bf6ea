//! Formulas as lines of text: `2^10`, `x_1`, `(a+b)/2`, `sqrt(2)`.

/// Formulas within each other whose parts are told from each other at most.
const MOST_FORMULAS: usize = 16;

/// Formulas that are open, the outermost first.
#[derive(Default)]
pub struct Formulas(Vec<Formula>);

/// A formula of several parts.
struct Formula {
    /// How many elements are open around it.
    around: usize,
    name: &'static str,
    /// Where its parts begin in the text.
    parts: Vec<usize>,
}

/// Formulas, with what stands before their second part and the third.
const MARKS: &[(&str, [&str; 2])] = &[
    ("msup", ["^", ""]),
    ("mover", ["^", ""]),
    ("msub", ["_", ""]),
    ("munder", ["_", ""]),
    ("msubsup", ["_", "^"]),
    ("munderover", ["_", "^"]),
    ("mfrac", ["/", ""]),
    ("msqrt", ["", ""]),
    ("mroot", [", ", ""]),
];

/// Returns whether a text ends with what an exponent, an index or a fraction may belong to.
fn ends_with_operand(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || ")∑∏∫".contains(c))
}

impl Formulas {
    /// Begins an element with `around` open ones around it, and writes what stands before it.
    pub fn begin(&mut self, name: &str, around: usize, text: &mut String) {
        self.0.retain(|it| it.around < around);
        if let Some(formula) = self.0.last_mut().filter(|it| it.around + 1 == around) {
            let marks = MARKS.iter().find(|it| it.0 == formula.name);
            let mark = match formula.parts.len() {
                0 => "",
                idx => marks.and_then(|it| it.1.get(idx - 1)).unwrap_or(&""),
            };
            if !matches!(mark, "^" | "_") || ends_with_operand(text) {
                text.push_str(mark);
            }
            formula.parts.push(text.len());
        }
        let mark = match name {
            "sup" => "^",
            "sub" => "_",
            _ => "",
        };
        if ends_with_operand(text) {
            text.push_str(mark);
        }
        let Some((name, _)) = MARKS.iter().find(|it| it.0 == name) else {
            return;
        };
        if MOST_FORMULAS <= self.0.len() {
            return;
        }
        if matches!(*name, "mfrac" | "msqrt" | "mroot") && ends_with_operand(text) {
            text.push(' ');
        }
        text.push_str(match *name {
            "msqrt" => "sqrt(",
            "mroot" => "root(",
            _ => "",
        });
        self.0.push(Formula {
            around,
            name,
            parts: Vec::new(),
        });
    }

    /// Ends an element with `around` open ones around it, and writes what stands behind it.
    pub fn end(&mut self, name: &str, around: usize, text: &mut String) {
        let ended = self
            .0
            .iter()
            .rposition(|it| it.around == around && it.name == name);
        let Some(formula) = ended.and_then(|ended| self.0.drain(ended..).next()) else {
            return;
        };
        match (name, formula.parts.as_slice()) {
            ("msqrt" | "mroot", _) => text.push(')'),
            // A part of several signs keeps together.
            ("mfrac", &[above, below]) => {
                let parts = text.get(above..below).zip(text.get(below..));
                let parts =
                    parts.and_then(|(above, below)| Some((above.strip_suffix('/')?, below)));
                let Some((upper, lower)) = parts else { return };
                let whole = format!("{}/{}", together(upper), together(lower));
                text.truncate(above);
                text.push_str(&whole);
            }
            _ => {}
        }
    }
}

/// Returns a part of a fraction, in parentheses if it is more than a number or a name.
fn together(part: &str) -> String {
    let part = part.trim();
    let is_simple = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
    match part.chars().all(is_simple) {
        true => part.to_owned(),
        false => format!("({part})"),
    }
}
