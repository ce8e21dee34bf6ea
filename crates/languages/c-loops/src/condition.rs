//! Conditions over loop variables: guards, and when a result overwrites.

use crate::affine::Affine;

/// How an expression compares with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Equal to zero.
    Zero,
    /// Different from zero.
    NonZero,
    /// Below zero.
    Negative,
    /// Zero or above.
    NonNegative,
}

/// A condition over loop variables, without side effects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// Always or never.
    Constant(bool),
    /// A comparison of an expression with zero.
    Compare(Affine, Relation),
    /// All of them.
    All(Vec<Condition>),
    /// At least one of them.
    Any(Vec<Condition>),
}

impl Condition {
    /// Returns the condition that `variable` equals `value`.
    #[must_use]
    pub fn equals(variable: &str, value: i64) -> Self {
        match Affine::variable(variable).plus_constant(value.wrapping_neg()) {
            Some(difference) => Self::compare(difference, Relation::Zero),
            None => Self::Constant(false),
        }
    }

    /// Returns the condition `expression relation 0`, folded if constant, and
    /// otherwise in the smallest numbers and with a positive first term, so
    /// that equal conditions are alike.
    #[must_use]
    pub fn compare(expression: Affine, relation: Relation) -> Self {
        if let Some(value) = expression.as_constant() {
            return Self::Constant(relation.holds(value));
        }
        Self::smallest(&expression, relation).unwrap_or(Self::Compare(expression, relation))
    }

    fn smallest(expression: &Affine, relation: Relation) -> Option<Self> {
        let (mut expression, mut relation) = (expression.clone(), relation);
        if expression.terms().next()?.1 < 0 {
            expression = expression.times(-1)?;
            // `-x < 0` is `x - 1 >= 0`.
            (expression, relation) = match relation {
                Relation::Negative => (expression.plus_constant(-1)?, Relation::NonNegative),
                Relation::NonNegative => (expression.plus_constant(-1)?, Relation::Negative),
                equality => (expression, equality),
            };
        }
        let divisor = expression.terms().fold(0, |divisor, (_, coefficient)| {
            greatest_common_divisor(divisor, coefficient)
        });
        if divisor <= 1 {
            return Some(Self::Compare(expression, relation));
        }
        let constant = expression.constant_part();
        if constant.rem_euclid(divisor) != 0 {
            match relation {
                Relation::Zero => return Some(Self::Constant(false)),
                Relation::NonZero => return Some(Self::Constant(true)),
                Relation::Negative | Relation::NonNegative => {}
            }
        }
        let whole = expression.plus_constant(-constant.rem_euclid(divisor))?;
        Some(Self::Compare(whole.divided_by(divisor)?, relation))
    }

    /// Returns the conjunction.
    #[must_use]
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut conjuncts = Vec::new();
        for part in parts {
            match part {
                Self::Constant(true) => {}
                Self::Constant(false) => return Self::Constant(false),
                Self::All(inner) => conjuncts.extend(inner),
                other => conjuncts.push(other),
            }
        }
        let mut unique = Vec::new();
        for part in conjuncts {
            if !unique.contains(&part) {
                unique.push(part);
            }
        }
        if unique.iter().any(|part| unique.contains(&part.negate())) {
            return Self::Constant(false);
        }
        match unique.len() {
            0 => Self::Constant(true),
            1 => unique.swap_remove(0),
            _ => Self::All(unique),
        }
    }

    /// Returns the disjunction.
    #[must_use]
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::all(parts.into_iter().map(|part| part.negate())).negate()
    }

    /// Returns the opposite.
    #[must_use]
    pub fn negate(&self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Compare(expression, relation) => {
                Self::Compare(expression.clone(), relation.opposite())
            }
            Self::All(parts) => Self::Any(parts.iter().map(Self::negate).collect()),
            Self::Any(parts) => Self::All(parts.iter().map(Self::negate).collect()),
        }
    }

    /// Returns whether the variable `name` occurs.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Compare(expression, _) => expression.mentions(name),
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.mentions(name)),
        }
    }

    /// Returns the condition with `value` in the place of the variable `name`, folded.
    #[must_use]
    pub fn substitute(&self, name: &str, value: &Affine) -> Option<Self> {
        Some(match self {
            Self::Constant(value) => Self::Constant(*value),
            Self::Compare(expression, relation) => {
                Self::compare(expression.substitute(name, value)?, *relation)
            }
            Self::All(parts) => Self::all(
                parts
                    .iter()
                    .map(|part| part.substitute(name, value))
                    .collect::<Option<Vec<_>>>()?,
            ),
            Self::Any(parts) => Self::any(
                parts
                    .iter()
                    .map(|part| part.substitute(name, value))
                    .collect::<Option<Vec<_>>>()?,
            ),
        })
    }

    /// Returns the C text.
    #[must_use]
    pub fn to_c(&self) -> String {
        match self {
            Self::Constant(value) => if *value { "1" } else { "0" }.to_owned(),
            Self::Compare(expression, relation) => compare_to_c(expression, *relation),
            Self::All(parts) => join(parts, " && "),
            Self::Any(parts) => join(parts, " || "),
        }
    }
}

fn join(parts: &[Condition], separator: &str) -> String {
    let texts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Condition::All(_) | Condition::Any(_) => format!("({})", part.to_c()),
            other => other.to_c(),
        })
        .collect();
    texts.join(separator)
}

fn compare_to_c(expression: &Affine, relation: Relation) -> String {
    // Negative terms and the constant go to the right, where people expect them.
    let mut left = Affine::default();
    let mut right = Affine::constant(0);
    for (atom, coefficient) in expression.terms() {
        let side = if 0 < coefficient {
            &mut left
        } else {
            &mut right
        };
        side.push(atom.clone(), coefficient.saturating_abs());
    }
    let constant = expression.constant_part();
    let (left, right) = if left.as_constant().is_some() {
        // Only negative terms: keep the constant on the left.
        (Affine::constant(constant), right)
    } else {
        (
            left,
            right
                .plus_constant(constant.wrapping_neg())
                .unwrap_or_default(),
        )
    };
    let operator = match relation {
        Relation::Zero => "==",
        Relation::NonZero => "!=",
        Relation::Negative => "<",
        Relation::NonNegative => ">=",
    };
    format!("{} {operator} {}", left.to_c(), right.to_c())
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Relation {
    /// Returns whether a value compares with zero like this.
    #[must_use]
    pub fn holds(self, value: i64) -> bool {
        match self {
            Self::Zero => value == 0,
            Self::NonZero => value != 0,
            Self::Negative => value < 0,
            Self::NonNegative => 0 <= value,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Zero => Self::NonZero,
            Self::NonZero => Self::Zero,
            Self::Negative => Self::NonNegative,
            Self::NonNegative => Self::Negative,
        }
    }
}
