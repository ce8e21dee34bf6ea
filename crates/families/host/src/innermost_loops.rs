//! The innermost loops of a kernel's assembly, and what they consist of.
//!
//! Which of them takes most of the time is not in the assembly: trip counts are not, and a
//! call counts as one instruction.

use serde::Serialize;

/// A loop that holds no other one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InnermostLoop {
    /// Line of the kernel that most of its instructions belong to.
    pub line: Option<u32>,
    /// Instructions.
    pub instructions: usize,
    /// Arithmetic on vectors.
    pub arithmetic: usize,
    /// Instructions that read memory.
    pub loads: usize,
    /// Instructions that write memory.
    pub stores: usize,
    /// Moves of data between the lanes of vectors.
    pub shuffles: usize,
    /// Arithmetic on single floating-point numbers.
    pub scalar: usize,
    /// Accesses to the stack.
    pub spills: usize,
    /// Calls of functions.
    pub calls: usize,
    /// Bits of its widest vectors; 0 without any.
    pub width: u32,
    /// Its instructions, one per line.
    pub text: String,
}

/// Words of names that shuffle on x86-64 and Arm.
const SHUFFLES: &[&str] = &[
    "shuf",
    "perm",
    "unpck",
    "unpack",
    "pack",
    "broadcast",
    "blend",
    "align",
    "insert",
    "extract",
    "zip",
    "uzp",
    "trn",
    "ext",
    "tbl",
    "dup",
];
/// Words of names that do arithmetic.
const ARITHMETIC: &[&str] = &[
    "add", "sub", "mul", "div", "fma", "fmls", "fmla", "madd", "dp", "dot", "max", "min", "sqrt",
    "tdp", "sad", "mla", "and", "or", "xor", "cmp", "cvt", "rcp", "rsqrt",
];

/// Returns the innermost loops of a function in the compiler's assembly, in its order.
#[must_use]
pub fn innermost_loops(assembly: &str, entry: &str) -> Vec<InnermostLoop> {
    let Some(lines) = function(assembly, entry) else {
        return Vec::new();
    };
    let mut loops = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(label) = label(line) else {
            continue;
        };
        let jumps_back = |(_, line): &(usize, &&str)| is_jump_to(line, label);
        let Some((end, _)) = lines.iter().enumerate().skip(start + 1).rfind(jumps_back) else {
            continue;
        };
        let body = &lines[start..=end];
        // A loop that holds another one is not the innermost.
        let inner_label = |line: &&&str| {
            self::label(line).is_some_and(|it| {
                it != label && body.iter().any(|other| is_jump_back(other, it, body))
            })
        };
        if body.iter().any(|line| inner_label(&line)) {
            continue;
        }
        loops.push(describe(body));
    }
    loops
}

/// Returns the lines of a function.
fn function<'a>(assembly: &'a str, entry: &str) -> Option<Vec<&'a str>> {
    let start = format!("{entry}:");
    let lines = assembly
        .lines()
        .skip_while(|line| !line.starts_with(&start));
    let lines: Vec<&str> = lines
        .take_while(|line| !line.starts_with(".Lfunc_end"))
        .collect();
    (!lines.is_empty()).then_some(lines)
}

fn label(line: &str) -> Option<&str> {
    let (label, _) = line.split_once(':')?;
    (label.starts_with(".LBB") && !label.contains(char::is_whitespace)).then_some(label)
}

fn is_jump_to(line: &str, label: &str) -> bool {
    let mut words = line.split_whitespace();
    let Some(name) = words.next() else {
        return false;
    };
    let is_jump = name.starts_with('j')
        || name.starts_with("b.")
        || ["b", "cbz", "cbnz", "tbz", "tbnz"].contains(&name);
    is_jump && words.any(|word| word.trim_end_matches(',') == label)
}

/// Returns whether `line` jumps back to `label` within `body`.
fn is_jump_back(line: &str, label: &str, body: &[&str]) -> bool {
    let at = body.iter().position(|other| std::ptr::eq(*other, line));
    let target = body
        .iter()
        .position(|other| self::label(other) == Some(label));
    is_jump_to(line, label) && matches!((at, target), (Some(at), Some(target)) if target < at)
}

fn describe(body: &[&str]) -> InnermostLoop {
    let mut found = InnermostLoop::default();
    let mut places: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    let mut line = None;
    for text in body {
        let code = text.split(['#', ';']).next().unwrap_or("").trim();
        if let Some(place) = code.strip_prefix(".loc") {
            let mut numbers = place.split_whitespace();
            // The first file is the kernel's own.
            line = match (numbers.next(), numbers.next()) {
                (Some("0" | "1"), Some(number)) => number.parse().ok(),
                _ => None,
            };
            continue;
        }
        if code.is_empty() || code.starts_with('.') || code.ends_with(':') {
            continue;
        }
        if let Some(line) = line {
            *places.entry(line).or_default() += 1;
        }
        found.text += code;
        found.text.push('\n');
        instruction(code, &mut found);
    }
    found.line = places
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(line, _)| line);
    found
}

fn instruction(code: &str, found: &mut InnermostLoop) {
    let (name, operands) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
    found.instructions += 1;
    let width = width(operands);
    found.width = found.width.max(width);
    let is_vector = 0 < width;
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let is_scalar = name.starts_with('v') && (name.ends_with("ss") || name.ends_with("sd"));
    let is_lea = name.starts_with("lea");
    let memory = operands.find(['(', '[']).filter(|_| !is_lea);
    let is_move = name.contains("mov") || name.starts_with("st") || name.starts_with("ldr");
    let is_shuffle = is_vector && !is_move && has(SHUFFLES);
    if name.starts_with("call") || name == "bl" {
        found.calls += 1;
    }
    if let Some(at) = memory {
        // In this notation the target comes last on x86-64.
        let last_is_memory =
            operands[at..].trim_end().ends_with([')', ']']) && !operands[at..].contains("),");
        let stores = (is_move || has(&["extract"])) && last_is_memory && name != "ldr"
            || name.starts_with("st");
        match stores && !name.starts_with("ld") {
            true => found.stores += 1,
            false => found.loads += 1,
        }
        if operands.contains("(%rsp") || operands.contains("(%rbp") || operands.contains("[sp") {
            found.spills += 1;
        }
    }
    if is_scalar && has(ARITHMETIC) {
        found.scalar += 1;
    } else if is_shuffle {
        found.shuffles += 1;
    } else if is_vector && !is_move && has(ARITHMETIC) {
        found.arithmetic += 1;
    }
}

/// Returns the bits of the widest vector register that is named.
fn width(operands: &str) -> u32 {
    if operands.contains("zmm") || operands.contains("tmm") {
        512
    } else if operands.contains("ymm") {
        256
    } else if operands.contains("xmm")
        || operands.contains(".4s")
        || operands.contains(".16b")
        || operands.contains(".8h")
    {
        128
    } else {
        0
    }
}
