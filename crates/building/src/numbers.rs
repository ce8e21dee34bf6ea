//! Numbers of a statement, which must be those of its quotations.

use crate::quotation::Citation;

/// Words for numbers.
const WORDS: [(&str, u64); 31] = [
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("thousand", 1000),
    ("million", 1_000_000),
];
/// Words that name a number beside other things: whoever quotes them may say it.
const QUOTED_WORDS: [(&str, u64); 6] = [
    ("once", 1),
    ("single", 1),
    ("twice", 2),
    ("both", 2),
    ("double", 2),
    ("pair", 2),
];

/// Units, in small letters and the singular; two by two those that mean the same.
const UNITS: [(&str, &str); 30] = [
    ("b", "byte"),
    ("byte", "byte"),
    ("bit", "bit"),
    ("kb", "kb"),
    ("kib", "kib"),
    ("mb", "mb"),
    ("mib", "mib"),
    ("gb", "gb"),
    ("gib", "gib"),
    ("kbit", "kbit"),
    ("mbit", "mbit"),
    ("gbit", "gbit"),
    ("cycle", "cycle"),
    ("clock", "cycle"),
    ("ns", "ns"),
    ("nanosecond", "ns"),
    ("us", "us"),
    ("\u{b5}s", "us"),
    ("\u{3bc}s", "us"),
    ("microsecond", "us"),
    ("ms", "ms"),
    ("millisecond", "ms"),
    ("second", "second"),
    ("hz", "hz"),
    ("khz", "khz"),
    ("mhz", "mhz"),
    ("ghz", "ghz"),
    ("%", "percent"),
    ("percent", "percent"),
    ("row", "row"),
];

/// Words that end like many of a thing and are not.
const NO_THINGS: [&str; 12] = [
    "across", "always", "as", "does", "has", "is", "its", "less", "plus", "this", "thus", "was",
];

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Unit(&'static str),
    /// Things that are counted: `banks`.
    Things,
    /// Nothing that is told behind it.
    Anything,
}

impl Of {
    fn may_be(self, other: Self) -> bool {
        self == other || self == Self::Anything || other == Self::Anything
    }
}

/// A number, and what it is of.
#[derive(Clone, Debug, PartialEq)]
struct Number {
    digits: String,
    of: Of,
    /// Whether it is a word, such as `one`, that stands in many sentences which mean no number.
    is_common: bool,
}

/// Returns whether each number in `text` stands in one of the quotations, and with no other unit
/// there: what are things in one is no unit in the other. `one` and `two` are numbers where they
/// are of a unit, `two` also where it is of things.
#[must_use]
pub fn numbers_stand(text: &str, citations: &[Citation]) -> bool {
    let quoted = citations.iter().flat_map(|it| {
        let of_words = words(&it.quote).into_iter().filter_map(|word| {
            let word = word.trim_end_matches(['.', ',']).to_ascii_lowercase();
            let (_, value) = QUOTED_WORDS.iter().find(|it| it.0 == word)?;
            Some(Number {
                digits: value.to_string(),
                of: Of::Anything,
                is_common: false,
            })
        });
        numbers(&it.quote)
            .into_iter()
            .chain(of_words.collect::<Vec<_>>())
    });
    let known: Vec<Number> = quoted.collect();
    let is_none = |it: &Number| {
        let is_of_unit = matches!(it.of, Of::Unit(_));
        it.is_common && !is_of_unit && (it.digits == "1" || it.of == Of::Anything)
    };
    let stands = |it: &Number| {
        known
            .iter()
            .any(|quoted| it.digits == quoted.digits && it.of.may_be(quoted.of))
    };
    numbers(text).iter().all(|it| is_none(it) || stands(it))
}

/// Returns a text with the digits that everybody writes: those of other widths and heights, and
/// fractions of one sign, become them.
fn usual(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_raised = false;
    for c in text.chars() {
        if let Some(digit) = raised(c) {
            if !std::mem::replace(&mut is_raised, true) {
                out.push('^');
            }
            out.push(digit);
            continue;
        }
        is_raised = false;
        match c {
            '\u{ff10}'..='\u{ff19}' => {
                out.push(char::from(b'0' + (u32::from(c) - 0xff10) as u8));
            }
            '\u{bc}' => out.push_str(" 0.25 "),
            '\u{bd}' => out.push_str(" 0.5 "),
            '\u{be}' => out.push_str(" 0.75 "),
            '%' => out.push_str(" % "),
            c => out.push(c),
        }
    }
    out.replace("**", "^")
}

/// Returns the digit that a character shows above the line.
fn raised(c: char) -> Option<char> {
    let digit = match c {
        '\u{b9}' => 1,
        '\u{b2}' => 2,
        '\u{b3}' => 3,
        '\u{2070}' | '\u{2074}'..='\u{2079}' => u32::from(c) - 0x2070,
        _ => return None,
    };
    char::from_digit(digit, 10)
}

/// Returns the words of a text, and its numbers; `16x16` is two of them.
fn words(text: &str) -> Vec<String> {
    let text = usual(text);
    let is_word =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | '^' | '%' | '\u{b5}');
    let words = text
        .split(|c: char| !is_word(c))
        .filter(|it| !it.is_empty());
    words
        .flat_map(|it| {
            let is_number = it.starts_with(|c: char| c.is_ascii_digit());
            match is_number && !is_hexadecimal(it) {
                true => it.split(['x', 'X', '\u{d7}']).map(str::to_owned).collect(),
                false => vec![it.to_owned()],
            }
        })
        .collect()
}

/// Returns the number that a word names.
fn named(word: &str) -> Option<u64> {
    let word = word.trim_end_matches(['.', ',']).to_ascii_lowercase();
    let found = WORDS.iter().find(|it| it.0 == word);
    found.map(|it| it.1)
}

/// Returns the numbers of a text: those that do not go on a name.
fn numbers(text: &str) -> Vec<Number> {
    let words = words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let mut left = words.as_slice();
    while let Some((word, mut behind)) = left.split_first() {
        left = behind;
        let named_here = named(word);
        let (digits, rest) = match named_here {
            // `sixty-four` is one of them.
            Some(tens @ 20..=90)
                if let Some(ones @ 1..=9) = behind.first().and_then(|it| named(it)) =>
            {
                behind = &behind[1..];
                left = behind;
                ((tens + ones).to_string(), "")
            }
            Some(value) => (value.to_string(), ""),
            None if word.starts_with(|c: char| c.is_ascii_digit()) => number(word),
            None => continue,
        };
        let of = match rest {
            "" => of_words(behind),
            rest => unit_of(rest).map_or(Of::Anything, Of::Unit),
        };
        found.push(Number {
            digits,
            of,
            is_common: matches!(named_here, Some(1 | 2)),
        });
    }
    found
}

fn is_hexadecimal(word: &str) -> bool {
    word.starts_with("0x") || word.starts_with("0X")
}

/// Returns what a number is of that stands before these words.
fn of_words(words: &[&str]) -> Of {
    let first = words.first().copied().unwrap_or_default();
    if let Some(unit) = unit_of(first) {
        return Of::Unit(unit);
    }
    let word = first.trim_end_matches(['.', ',']);
    if !word.chars().all(char::is_alphabetic) {
        return Of::Anything;
    }
    let is_many = 3 < word.len() && word.ends_with('s');
    if is_many && !NO_THINGS.contains(&word.to_lowercase().as_str()) {
        return Of::Things;
    }
    // The unit may be the second word.
    let second = words.get(1).and_then(|it| unit_of(it));
    let is_end = word.len() < first.len();
    second.filter(|_| !is_end).map_or(Of::Anything, Of::Unit)
}

fn unit_of(word: &str) -> Option<&'static str> {
    let word = word.trim_end_matches(['.', ',']).to_lowercase();
    let find = |word: &str| UNITS.iter().find(|it| it.0 == word).map(|it| it.1);
    find(&word).or_else(|| find(word.strip_suffix('s')?))
}

/// Returns the number that a word begins with, and what stands behind it.
fn number(word: &str) -> (String, &str) {
    if is_hexadecimal(word) {
        return (word.replace('_', "").to_ascii_lowercase(), "");
    }
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '_');
    let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
    let (digits, rest) = word.split_at(end);
    let digits = digits.replace([',', '_'], "");
    let digits = digits.trim_end_matches('.').to_owned();
    // `2^9` and `5e3` are what they come to.
    let of_sign = |sign: char| {
        let power = rest.strip_prefix(sign)?;
        let end = power
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(power.len());
        let (power, rest) = power.split_at(end);
        Some((
            digits.parse::<u64>().ok()?,
            power.parse::<u32>().ok()?,
            rest,
        ))
    };
    if let Some((base, power, rest)) = of_sign('^')
        && let Some(value) = base.checked_pow(power)
    {
        return (value.to_string(), rest);
    }
    if let Some((base, power, rest)) = of_sign('e')
        && let Some(value) = 10_u64
            .checked_pow(power)
            .and_then(|it| base.checked_mul(it))
    {
        return (value.to_string(), rest);
    }
    (digits, rest)
}
