//! What a message of the compiler says was misused, for families that know what helps.

use autocomp_core::Diagnostic;

/// Bytes before a place in which the name of the called function is looked for.
const MOST_BYTES_OF_CALL: usize = 2000;

/// What is wrong with a source, as far as remedies differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse<'a> {
    /// A function is called that nothing declares.
    Undeclared(&'a str),
    /// A function is called with more arguments than it has.
    TooManyArguments(&'a str),
    /// A function is called with fewer arguments than it has.
    TooFewArguments(&'a str),
    /// There is assembly that the target's headers do not have.
    Assembly,
}

impl<'a> Misuse<'a> {
    /// Returns what `found` says of `source`, if it is one of these.
    #[must_use]
    pub fn of(found: &'a Diagnostic, source: &'a str) -> Option<Self> {
        let says = |words: &str| found.message.contains(words);
        let quoted = || found.message.split(['\'', '`', '‘', '’']).nth(1);
        let called = || quoted().or_else(|| called(found, source));
        if found.code == "inline-assembly" {
            return Some(Self::Assembly);
        }
        if says("undeclared") || says("implicit declaration") {
            return quoted().map(Self::Undeclared);
        }
        if says("too many arguments to function") {
            return called().map(Self::TooManyArguments);
        }
        if says("too few arguments to function") {
            return called().map(Self::TooFewArguments);
        }
        None
    }
}

/// Returns the function whose arguments stand at the place of `found`.
fn called<'s>(found: &Diagnostic, source: &'s str) -> Option<&'s str> {
    let place = found.location.as_ref()?;
    let lines = place.line.checked_sub(1)? as usize;
    let line: usize = source.split_inclusive('\n').take(lines).map(str::len).sum();
    let at = line + place.column?.checked_sub(1)? as usize;
    let before = source.as_bytes().get(..at)?;
    let least = at.saturating_sub(MOST_BYTES_OF_CALL);
    let mut depth = 0_usize;
    for (idx, byte) in before.iter().enumerate().skip(least).rev() {
        match byte {
            b')' => depth += 1,
            b'(' if depth == 0 => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let length = before[..idx]
                    .iter()
                    .rev()
                    .take_while(|it| is_part(it))
                    .count();
                return source
                    .get(idx - length..idx)
                    .filter(|name| !name.is_empty());
            }
            b'(' => depth -= 1,
            _ => {}
        }
    }
    None
}
