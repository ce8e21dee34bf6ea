//! Values of constant expressions.

/// How many parentheses may stand in one another.
const DEPTH: usize = 64;

/// Returns the value of an expression of whole numbers, in which no name is left. What an `int`
/// does not hold has none.
pub(super) fn value(text: &str) -> Option<i64> {
    let mut expression = Expression {
        rest: text,
        depth: 0,
    };
    let value = expression.equality()?;
    expression.rest.trim().is_empty().then_some(value)
}

/// What is left of an expression.
struct Expression<'a> {
    rest: &'a str,
    depth: usize,
}

impl Expression<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn equality(&mut self) -> Option<i64> {
        let mut value = self.shift()?;
        while self.takes("==") {
            value = i64::from(value == self.shift()?);
        }
        Some(value)
    }

    fn shift(&mut self) -> Option<i64> {
        let mut value = self.sum()?;
        while self.takes("<<") {
            let by = u32::try_from(self.sum()?).ok().filter(|it| *it < 31)?;
            value = held(value * (1 << by))?;
        }
        Some(value)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            value = if self.takes("+") {
                held(value + self.product()?)?
            } else if self.takes("-") {
                held(value - self.product()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        loop {
            value = if self.takes("*") {
                held(value * self.atom()?)?
            } else if self.takes("/") {
                value.checked_div(self.atom()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn atom(&mut self) -> Option<i64> {
        if self.takes("(") {
            self.depth += 1;
            if DEPTH < self.depth {
                return None;
            }
            let value = self.equality()?;
            self.depth -= 1;
            return self.takes(")").then_some(value);
        }
        let text = self.rest.trim_start();
        let end = text.find(|c| !super::is_part(c)).unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        self.rest = rest;
        // In C a zero in front means eight digits.
        let is_decimal = number == "0" || !number.starts_with('0');
        held(number.parse().ok().filter(|_| is_decimal)?)
    }
}

fn held(value: i64) -> Option<i64> {
    i32::try_from(value).ok().map(i64::from)
}
