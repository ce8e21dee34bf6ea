//! Kernels with one place changed, by kinds of mistakes.

/// What is replaced by what, by kind; each place of a kernel where it stands makes a mutant.
const REPLACED: &[(&str, &[(&str, &str)])] = &[
    (
        "operator",
        &[
            ("nl.add(", "nl.subtract("),
            ("nl.multiply(", "nl.add("),
            ("nl.subtract(", "nl.add("),
            ("nl.divide(", "nl.multiply("),
            ("np.add", "np.maximum"),
            ("np.multiply", "np.add"),
            ("=nl.add", "=nl.subtract"),
            ("=nl.multiply", "=nl.add"),
            ("=nl.subtract", "=nl.add"),
            ("=nl.maximum", "=nl.minimum"),
            (" + ", " - "),
            (" - ", " + "),
            (" / ", " * "),
        ],
    ),
    (
        "function",
        &[
            ("nl.max(", "nl.min("),
            ("nl.sum(", "nl.max("),
            ("nl.mean(", "nl.sum("),
            ("nl.rsqrt", "nl.sqrt"),
            ("nl.exp", "nl.square"),
            ("nl.square", "nl.exp"),
            ("nl.silu", "nl.sigmoid"),
            ("nl.sigmoid", "nl.tanh"),
            ("nl.reciprocal", "nl.square"),
        ],
    ),
    (
        "index",
        &[
            ("i * ", "0 * "),
            ("j * ", "0 * "),
            ("k * ", "0 * "),
            ("[i,", "[0,"),
            ("[i]", "[0]"),
            ("[:, 0:1]", "[:, 1:2]"),
            ("1:2]", "0:1]"),
            ("0:half", "half:d"),
            ("half:d", "0:half"),
        ],
    ),
    (
        "bound",
        &[
            ("(i + 1)", "(i + 2)"),
            ("(j + 1)", "(j + 2)"),
            ("(k + 1)", "(k + 2)"),
            ("// 128)", "// 256)"),
            ("// 512)", "// 1024)"),
            ("_range(", "_range(1, "),
            ("+ 128", "+ 127"),
            ("- 1", "- 2"),
        ],
    ),
    (
        "size",
        &[
            ("(128, ", "(64, "),
            ("par_dim(128)", "par_dim(64)"),
            (" * 128", " * 64"),
            (" * 512", " * 256"),
            (", 512)", ", 256)"),
        ],
    ),
    (
        "dtype",
        &[
            ("dtype=nl.float32", "dtype=nl.int8"),
            ("nl.float32, buffer", "nl.uint8, buffer"),
            (".dtype,", ".dtype and nl.int8,"),
        ],
    ),
    (
        "memory",
        &[
            ("buffer=nl.psum", "buffer=nl.hbm"),
            ("buffer=nl.shared_hbm", "buffer=nl.sbuf"),
            ("buffer=nl.sbuf", "buffer=nl.hbm"),
        ],
    ),
    (
        "axis",
        &[
            ("axis=1", "axis=0"),
            ("axis=[1]", "axis=[0]"),
            ("axis=(1,)", "axis=(0,)"),
            ("[None, :]", "[:, None]"),
        ],
    ),
    ("sum", &[("+= ", "= ")]),
    (
        "number",
        &[
            ("1.0", "1.5"),
            ("2.0", "3.0"),
            ("0.5", "0.25"),
            ("0.0", "1.0"),
            ("1e-", "1e+"),
            ("scale=", "scale=2.0 * "),
        ],
    ),
    ("mask", &[("mask=", "mask=None and ")]),
    ("result", &[("return ", "return None and ")]),
];
/// Lines that are left out.
const DROPPED: &[(&str, &[&str])] = &[
    ("dropped store", &["nl.store("]),
    ("dropped transfer", &["nisa.dma_copy("]),
    ("dropped product", &["nisa.nc_matmul(", "nl.matmul("]),
    (
        "dropped operation",
        &[
            "nisa.tensor_tensor(",
            "nisa.tensor_scalar(",
            "nisa.activation(",
            "nisa.tensor_copy(",
            "nisa.memset(",
        ],
    ),
];

/// A kernel with one place changed.
pub struct Mutant {
    /// Kind of the mistake.
    pub kind: &'static str,
    /// Line and change.
    pub place: String,
    /// The text.
    pub source: String,
}

/// Every mutant of a kernel, in the order of kinds and places.
pub fn mutants(source: &str) -> Vec<Mutant> {
    let mut found = Vec::new();
    for (kind, changes) in REPLACED {
        for (from, to) in *changes {
            for (at, _) in source.match_indices(from) {
                let line = source[..at].lines().count();
                let text = source.lines().nth(line.saturating_sub(1)).unwrap_or("");
                // Imports and comments change nothing.
                if text.trim_start().starts_with('#') || text.starts_with("import") {
                    continue;
                }
                found.push(Mutant {
                    kind,
                    place: format!("line {line}: {from} -> {to}"),
                    source: format!("{}{to}{}", &source[..at], &source[at + from.len()..]),
                });
            }
        }
    }
    for (kind, calls) in DROPPED {
        for (number, text) in source.lines().enumerate() {
            // One statement on one line: what goes on over lines stays.
            let balanced = text.matches('(').count() == text.matches(')').count();
            if balanced && calls.iter().any(|call| text.trim_start().starts_with(call)) {
                let indent = text.len() - text.trim_start().len();
                let pass = format!("{}pass", &text[..indent]);
                let mut lines: Vec<&str> = source.lines().collect();
                lines[number] = &pass;
                found.push(Mutant {
                    kind,
                    place: format!("line {}: {}", number + 1, text.trim()),
                    source: lines.join("\n") + "\n",
                });
            }
        }
    }
    found
}
