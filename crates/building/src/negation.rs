//! Statements that deny what their passage says, or say what it denies: found by words of negation,
//! as far as both use the same words.

/// Words that negate what follows.
const NEGATIONS: [&str; 9] = [
    "not", "no", "never", "cannot", "without", "none", "neither", "nor", "lacks",
];
/// Words after which a negation says when something holds, and not that it does not.
const CONDITIONS: [&str; 13] = [
    "if",
    "unless",
    "when",
    "where",
    "while",
    "until",
    "that",
    "which",
    "who",
    "whose",
    "or",
    "otherwise",
    "than",
];
/// Words that deny something without a negation: with one of them nothing is compared.
const ADVERSE: [&str; 15] = [
    "illegal",
    "invalid",
    "undefined",
    "wrong",
    "error",
    "errors",
    "fault",
    "faults",
    "fails",
    "forbidden",
    "avoid",
    "avoids",
    "unsupported",
    "only",
    "impossible",
];
/// Words without which a sentence says the same here.
const EMPTY: [&str; 34] = [
    "a", "an", "the", "of", "to", "in", "on", "by", "with", "for", "any", "it", "its", "is", "are",
    "be", "been", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "may",
    "might", "will", "would", "shall", "should", "must",
];

/// Words that make a passive voice of what follows.
const COPULAS: [&str; 6] = ["is", "are", "was", "were", "be", "been"];

/// What ends a sentence, or an item of a list.
const ENDS: [&str; 5] = [". ", "; ", "! ", "? ", " - "];

/// A pair of words that follow each other, or would in the active voice, and whether a negation stands before or between them.
struct Pair {
    words: [String; 2],
    is_negated: bool,
}

/// Returns whether a statement and `sentences`, which it rests on, contradict each other: two words
/// follow each other in both, and are negated everywhere in one and nowhere in the other.
#[must_use]
pub fn contradicts(statement: &str, sentences: &[&str]) -> bool {
    let said = pairs(statement);
    let rests: Vec<Pair> = sentences.iter().flat_map(|it| pairs(it)).collect();
    said.iter().any(|pair| {
        let all = |among: &[Pair], is_negated: bool| {
            let mut same = among.iter().filter(|it| it.words == pair.words).peekable();
            same.peek().is_some() && same.all(|it| it.is_negated == is_negated)
        };
        all(&said, pair.is_negated) && all(&rests, !pair.is_negated)
    })
}

/// Returns the sentences of `text` in which `part` stands first; nothing if it does not.
#[must_use]
pub fn around<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    let start = text.find(part)?;
    let end = start + part.len();
    // Items of lists end as sentences do.
    let ends = || ENDS.iter().flat_map(|it| text.match_indices(it));
    let first = ends().map(|(at, mark)| at + mark.len());
    let first = first.filter(|it| *it <= start).max();
    let last = ends().map(|it| it.0).filter(|it| end <= it + 1).min();
    Some(&text[first.unwrap_or(0)..last.unwrap_or(text.len()).max(end)])
}

/// Returns the pairs of a text, those of clauses of which nothing can be said left out.
fn pairs(text: &str) -> Vec<Pair> {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let clauses = text.split([';', ':', ',', '(', ')']);
    let clauses = clauses.flat_map(|it| it.split(". "));
    let clauses = clauses.flat_map(|it| it.split(" - "));
    clauses.flat_map(pairs_of_clause).collect()
}

fn pairs_of_clause(clause: &str) -> Vec<Pair> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'');
    let words: Vec<&str> = clause
        .split(|c: char| !is_part(c))
        .filter(|it| !it.is_empty())
        .collect();
    let is_negation = |it: &&&str| NEGATIONS.contains(*it) || it.ends_with("n't");
    let is_conditional = words.iter().any(|it| CONDITIONS.contains(it));
    let negations = words.iter().filter(is_negation).count();
    let is_clear = negations <= 1 && !words.iter().any(|it| ADVERSE.contains(it));
    if !is_clear || negations == 1 && is_conditional {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    let mut last: Option<String> = None;
    // How many words of content ago the negation was.
    let mut since: Option<usize> = None;
    let mut is_passive = false;
    for (at, word) in words.iter().enumerate() {
        is_passive |= COPULAS.contains(&word.trim_end_matches("n't"));
        if is_negation(&word) {
            since = Some(0);
            continue;
        }
        if EMPTY.contains(word) {
            continue;
        }
        is_passive &= word.ends_with("ed");
        let stem = stem(word);
        let is_negated = since.is_some_and(|it| it <= 1);
        if let Some(last) = last.replace(stem.clone()) {
            // "Strides are supported" says what "supports strides" says, unless it is said by whom.
            if is_passive && words.get(at + 1) != Some(&"by") {
                pairs.push(Pair {
                    words: [stem.clone(), last.clone()],
                    is_negated,
                });
            }
            pairs.push(Pair {
                words: [last, stem],
                is_negated,
            });
        }
        is_passive = false;
        since = since.map(|it| it + 1);
    }
    pairs
}

/// Returns a word without the endings that it has in one sentence and not in another.
fn stem(word: &str) -> String {
    let endings = ["ing", "es", "ed", "s", "e"];
    let stem = endings.iter().find_map(|it| word.strip_suffix(it));
    stem.filter(|it| 3 <= it.len()).unwrap_or(word).to_owned()
}
