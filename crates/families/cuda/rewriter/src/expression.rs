//! Values that the threads of a launch compute.

use autocomp_c_loops::affine::{Affine, Atom};

/// A value. Whole numbers that follow from where a thread stands are [`Expression::Index`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expression {
    /// A sum of coordinates and counters.
    Index(Affine),
    /// A number or a constant as it is written, or a piece of finished text.
    Text(String),
    /// A variable of the thread.
    Scalar(String),
    /// An element of an array.
    Load(String, Box<Expression>),
    /// `-a` or `!a`.
    Sign(char, Box<Expression>),
    /// Two operands and an operator of C.
    Binary(Box<Expression>, String, Box<Expression>),
    /// One of two values.
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// The value of a function.
    Call(String, Vec<Expression>),
    /// A conversion.
    Cast(String, Box<Expression>),
}

impl Expression {
    pub(crate) fn constant(value: i64) -> Self {
        Self::Index(Affine::constant(value))
    }

    pub(crate) fn binary(left: Self, operator: &str, right: Self) -> Self {
        Self::Binary(Box::new(left), operator.to_owned(), Box::new(right))
    }

    /// Returns the index if it is one.
    pub(crate) fn as_index(&self) -> Option<&Affine> {
        match self {
            Self::Index(affine) => Some(affine),
            _ => None,
        }
    }

    /// Returns the operands.
    fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Index(_) | Self::Text(_) | Self::Scalar(_) => Vec::new(),
            Self::Load(_, inner) | Self::Sign(_, inner) | Self::Cast(_, inner) => vec![inner],
            Self::Binary(left, _, right) => vec![left, right],
            Self::Choice(condition, one, other) => vec![condition, one, other],
            Self::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// Calls `see` with this and everything in it, the outermost first.
    pub(crate) fn walk<'e>(&'e self, see: &mut dyn FnMut(&'e Self)) {
        see(self);
        for operand in self.operands() {
            operand.walk(see);
        }
    }

    /// Returns it with every part replaced that `change` has something for, the outermost first.
    pub(crate) fn map(&self, change: &dyn Fn(&Self) -> Option<Self>) -> Self {
        if let Some(changed) = change(self) {
            return changed;
        }
        let of = |it: &Self| Box::new(it.map(change));
        match self {
            Self::Index(_) | Self::Text(_) | Self::Scalar(_) => self.clone(),
            Self::Load(array, index) => Self::Load(array.clone(), of(index)),
            Self::Sign(sign, inner) => Self::Sign(*sign, of(inner)),
            Self::Cast(kind, inner) => Self::Cast(kind.clone(), of(inner)),
            Self::Binary(left, operator, right) => folded(*of(left), operator, *of(right)),
            Self::Choice(condition, one, other) => Self::Choice(of(condition), of(one), of(other)),
            Self::Call(name, arguments) => {
                Self::Call(name.clone(), arguments.iter().map(|it| *of(it)).collect())
            }
        }
    }

    /// Returns it with `value` in place of a coordinate or counter.
    pub(crate) fn with_index(&self, name: &str, value: &Affine) -> Self {
        self.map(&|it| match it {
            Self::Index(affine) if affine.mentions(name) => {
                affine.substitute(name, value).map(Self::Index)
            }
            _ => None,
        })
    }

    /// Returns whether a coordinate or counter occurs.
    pub(crate) fn mentions_index(&self, name: &str) -> bool {
        self.any(&|it| matches!(it, Self::Index(affine) if affine.mentions(name)))
    }

    /// Returns whether a variable occurs.
    pub(crate) fn mentions_scalar(&self, name: &str) -> bool {
        self.any(&|it| matches!(it, Self::Scalar(found) if found == name))
    }

    /// Returns whether an array is read.
    pub(crate) fn reads(&self, array: &str) -> bool {
        self.any(&|it| matches!(it, Self::Load(found, _) if found == array))
    }

    pub(crate) fn any(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |it| found |= is(it));
        found
    }

    /// Returns the elements that are read: array and index.
    pub(crate) fn loads(&self) -> Vec<(&String, &Self)> {
        let mut found = Vec::new();
        self.walk(&mut |it| {
            if let Self::Load(array, index) = it {
                found.push((array, &**index));
            }
        });
        found
    }

    /// Returns the text in C.
    pub(crate) fn to_c(&self) -> String {
        match self {
            Self::Index(affine) => affine.to_c(),
            Self::Text(text) | Self::Scalar(text) => text.clone(),
            Self::Load(array, index) => format!("{array}[{}]", index.to_c()),
            Self::Sign(sign, inner) => format!("{sign}{}", inner.operand()),
            Self::Binary(left, operator, right) => {
                format!("{} {operator} {}", left.operand(), right.operand())
            }
            Self::Choice(condition, one, other) => {
                format!(
                    "{} ? {} : {}",
                    condition.operand(),
                    one.operand(),
                    other.operand()
                )
            }
            Self::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Self::to_c).collect();
                format!("{name}({})", arguments.join(", "))
            }
            Self::Cast(kind, inner) => format!("({kind}){}", inner.operand()),
        }
    }

    fn operand(&self) -> String {
        match self {
            Self::Index(affine) => affine.to_c_operand(),
            Self::Binary(..) | Self::Choice(..) | Self::Sign(..) => format!("({})", self.to_c()),
            _ => self.to_c(),
        }
    }
}

/// Returns two operands under an operator; whole numbers that are known from where a thread
/// stands stay in their normal form.
pub(crate) fn folded(left: Expression, operator: &str, right: Expression) -> Expression {
    if let (Some(a), Some(b)) = (left.as_index(), right.as_index()) {
        let made = match operator {
            "+" => a.plus(b),
            "-" => a.minus(b),
            "*" => match (a.as_constant(), b.as_constant()) {
                (Some(factor), _) => b.times(factor),
                (_, Some(factor)) => a.times(factor),
                _ => None,
            },
            "/" => b
                .as_constant()
                .filter(|_| is_not_negative(a))
                .and_then(|it| a.divided_by(it)),
            "%" => b
                .as_constant()
                .filter(|_| is_not_negative(a))
                .and_then(|it| a.remainder_by(it)),
            "<<" => b
                .as_constant()
                .filter(|it| (0..31).contains(it))
                .and_then(|it| a.times(1 << it)),
            ">>" => b
                .as_constant()
                .filter(|it| (0..31).contains(it) && is_not_negative(a))
                .and_then(|it| a.divided_by(1 << it)),
            _ => None,
        };
        if let Some(made) = made {
            return Expression::Index(made);
        }
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            let holds = match operator {
                "<" => Some(x < y),
                "<=" => Some(x <= y),
                ">" => Some(x > y),
                ">=" => Some(x >= y),
                "==" => Some(x == y),
                "!=" => Some(x != y),
                _ => None,
            };
            if let Some(holds) = holds {
                return Expression::constant(i64::from(holds));
            }
        }
    }
    Expression::binary(left, operator, right)
}

/// Returns whether a sum of coordinates, which are never negative, is seen not to be negative.
fn is_not_negative(affine: &Affine) -> bool {
    0 <= affine.constant_part() && affine.terms().all(|(_, coefficient)| 0 <= coefficient)
}

/// How an index goes on along one coordinate, in steps of so many elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// The elements of a step are the same.
    Same,
    /// They lie side by side, and the first at a multiple of their count.
    Beside,
    /// Neither.
    Apart,
}

/// Returns how an index goes on along `variable`, which is below `extent`, in steps of `width`.
pub(crate) fn along(index: &Affine, variable: &str, extent: i64, width: i64) -> Along {
    /// Values that are looked at one by one, at most.
    const MOST: i64 = 1 << 14;
    if !index.mentions(variable) {
        return Along::Same;
    }
    let mut own = Affine::default();
    let mut base_fits = true;
    for (atom, coefficient) in index.terms() {
        let mut names = Vec::new();
        let mut single = Affine::default();
        single.push(atom.clone(), coefficient);
        single.collect_variables(&mut names);
        if names.iter().any(|it| it == variable) {
            if 1 < names.len() {
                return Along::Apart;
            }
            own.push(atom.clone(), coefficient);
        } else {
            base_fits &= coefficient % width == 0;
        }
    }
    let constant = index.constant_part();
    let linear =
        matches!(own.terms().next(), Some((Atom::Variable(_), 1)) if own.terms().count() == 1);
    if linear {
        return match base_fits && constant % width == 0 {
            true => Along::Beside,
            false => Along::Apart,
        };
    }
    if MOST < extent {
        return Along::Apart;
    }
    let value = |at: i64| own.evaluate(&|_| Some(at));
    let (mut same, mut beside) = (true, true);
    for first in (0..extent).step_by(width.unsigned_abs().max(1) as usize) {
        let Some(base) = value(first) else {
            return Along::Apart;
        };
        beside &= (base + constant) % width == 0;
        for e in 1..width.min(extent - first) {
            let Some(at) = value(first + e) else {
                return Along::Apart;
            };
            same &= at == base;
            beside &= at == base + e;
        }
    }
    match (same, beside && base_fits) {
        (true, _) => Along::Same,
        (_, true) => Along::Beside,
        _ => Along::Apart,
    }
}

/// Returns the coefficient of a variable that occurs in no quotient or remainder.
pub(crate) fn coefficient(index: &Affine, variable: &str) -> Option<i64> {
    let mut found = 0;
    for (atom, coefficient) in index.terms() {
        match atom {
            Atom::Variable(name) if name == variable => found = coefficient,
            Atom::Variable(_) => {}
            Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => {
                if inner.mentions(variable) {
                    return None;
                }
            }
        }
    }
    Some(found)
}
