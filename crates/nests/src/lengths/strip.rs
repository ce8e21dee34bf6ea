//! What a strip of iterations computes, for one value of the variable of the loop around.

use super::code::{Code, LENGTH, Load, Value};
use super::kind::{Groups, Kind, Range, WORD};
use super::whole::range_of;
use crate::code::{Element, Expression, Named};
use crate::translation::{is_condition, is_whole_number, shifted, shifted_expression};
use autocomp_c_loops::affine::Affine;
use std::collections::{BTreeMap, BTreeSet};

/// A variable of an iteration.
#[derive(Clone, Debug)]
pub(crate) enum Local {
    /// Of this type, with this value, which nothing changes until it is needed.
    Later(String, Expression),
    /// Computed.
    Now(Value),
}

/// Translates what iterations of a loop do, as many at once as a vector has elements.
pub(crate) struct Strip<'p> {
    pub names: &'p BTreeMap<String, Named>,
    /// The variable of the loop.
    pub variable: &'p str,
    /// What is added to the variable of the loop around.
    pub shift: Option<(&'p str, i64)>,
    /// Whether to multiply by reciprocals instead of dividing.
    pub reciprocals: bool,
    pub code: Code,
    pub locals: BTreeMap<String, Local>,
    /// What was shifted to the right, by the names of results, and by how much.
    pub shifts: BTreeMap<String, (String, String)>,
    /// Lines in front of the loop.
    pub setup: Vec<String>,
    /// Groups of registers that powers are computed in.
    pub functions: BTreeSet<String>,
}

impl<'p> Strip<'p> {
    pub(crate) fn new(
        names: &'p BTreeMap<String, Named>,
        variable: &'p str,
        groups: Groups,
        reciprocals: bool,
    ) -> Self {
        Self {
            names,
            variable,
            shift: None,
            reciprocals,
            code: Code::new(groups),
            locals: BTreeMap::new(),
            shifts: BTreeMap::new(),
            setup: Vec::new(),
            functions: BTreeSet::new(),
        }
    }

    /// Returns an element as it is for the variable of the loop around.
    pub(crate) fn placed(&self, element: &Element) -> Option<Element> {
        shifted(element, self.shift.as_slice())
    }

    /// Returns how an element is loaded, or stored.
    pub(crate) fn access(&self, element: &Element) -> Option<Load> {
        let named = self.names.get(&element.name)?;
        let stride = element.stride(self.variable, &named.extents);
        Some(Load {
            first: self.placed(element)?,
            kind: Kind::of(&named.kind)?,
            stride: stride.filter(|it| *it != 0)?,
        })
    }

    fn varies(&self, expression: &Expression) -> bool {
        let mut reads = expression.reads().into_iter();
        expression.mentions(self.variable) || reads.any(|it| self.locals.contains_key(&it.name))
    }

    /// Translates an expression; nothing if there is no way to.
    pub(crate) fn value(&mut self, expression: &Expression) -> Option<Value> {
        if !self.varies(expression) {
            let text = shifted_expression(expression, self.shift.as_slice())?.to_c();
            return Some(Value {
                range: self.range(expression)?,
                text,
                kind: None,
            });
        }
        match expression {
            Expression::Number(_) => None,
            Expression::Element(element) => self.element(element),
            Expression::Index(affine) => self.indices(affine),
            Expression::Negative(inner) => {
                let value = self.value(inner)?;
                match value.is_float() {
                    _ if value.is_scalar() => self.both_scalars("-", &Value::of(0), &value),
                    true => {
                        let name = self.vector_of(&value, Kind::Float(32))?;
                        self.code.vector("vfneg_v", Kind::Float(32), &[&name], None)
                    }
                    false => self.whole("-", Value::of(0), value),
                }
            }
            Expression::Cast(to, inner) => {
                let value = self.value(inner)?;
                self.converted(value, Kind::of(to)?)
            }
            Expression::Binary(..) if is_condition(expression) => None,
            Expression::Binary(left, operator, right) => self.binary(left, operator, right),
            Expression::Choice(condition, one, other) => {
                self.choice(expression, condition, one, other)
            }
            Expression::Call(name, arguments) => {
                let values = arguments.iter().map(|it| self.value(it));
                let values: Vec<Value> = values.collect::<Option<_>>()?;
                match (name.as_str(), values.as_slice()) {
                    ("fmaxf" | "fmax", [one, other]) => self.extreme(true, one, other),
                    ("fminf" | "fmin", [one, other]) => self.extreme(false, one, other),
                    _ => self.function(name, &values),
                }
            }
        }
    }

    /// Returns the range of a number that is the same in all iterations; nothing within for floats.
    fn range(&self, expression: &Expression) -> Option<Option<Range>> {
        Some(match expression {
            Expression::Number(text) => match text.parse() {
                Ok(number) => Some((number, number)),
                Err(_) => is_whole_number(text).then_some(WORD),
            },
            Expression::Index(affine) => match affine.as_constant() {
                Some(constant) => Some((constant, constant)),
                None => Some(WORD),
            },
            Expression::Element(element) => {
                let kind = Kind::of(&self.names.get(&element.name)?.kind)?;
                (!kind.is_float()).then(|| kind.limits())
            }
            Expression::Negative(inner) => self.range(inner)?.map(|(a, b)| (-b, -a)),
            Expression::Cast(to, inner) => {
                self.range(inner)?;
                let kind = Kind::of(to)?;
                (!kind.is_float()).then(|| kind.limits())
            }
            Expression::Binary(left, operator, right) => {
                match (self.range(left)?, self.range(right)?) {
                    _ if is_condition(expression) => Some((0, 1)),
                    (Some(one), Some(other)) => {
                        Some(range_of(operator, one, other).unwrap_or(WORD))
                    }
                    _ => None,
                }
            }
            Expression::Choice(_, one, other) => match (self.range(one)?, self.range(other)?) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                _ => None,
            },
            Expression::Call(name, _) if name.starts_with("each_") => return None,
            Expression::Call(..) => None,
        })
    }

    /// Computes in C what is the same in all iterations.
    fn both_scalars(&self, operator: &str, one: &Value, other: &Value) -> Option<Value> {
        let range = match (one.range, other.range) {
            (Some(one), Some(other)) => Some(range_of(operator, one, other)?),
            _ => None,
        };
        Some(Value {
            text: format!("({}) {operator} ({})", one.text, other.text),
            kind: None,
            range,
        })
    }

    fn element(&mut self, element: &Element) -> Option<Value> {
        match self.locals.get(&element.name).cloned() {
            Some(Local::Now(value)) => return Some(value),
            Some(Local::Later(kind, value)) => {
                let value = self.value(&value)?;
                let value = self.converted(value, Kind::of(&kind)?)?;
                let now = Local::Now(value.clone());
                self.locals.insert(element.name.clone(), now);
                return Some(value);
            }
            None => {}
        }
        let load = self.access(element)?;
        self.code.load(load)
    }

    /// Translates a sum of loop variables as a value.
    fn indices(&mut self, affine: &Affine) -> Option<Value> {
        let next = Affine::variable(self.variable).plus_constant(1)?;
        let step = affine
            .substitute(self.variable, &next)?
            .minus(affine)?
            .as_constant()?;
        let first = Expression::Index(affine.clone());
        let first = shifted_expression(&first, self.shift.as_slice())?.to_c();
        let (word, unsigned) = (Kind::Signed(32), Kind::Unsigned(32));
        let suffix = self.code.groups.suffix(unsigned)?;
        let numbers = format!("__riscv_vid_v_{suffix}({LENGTH})");
        let numbers = self.code.called(unsigned, numbers, None)?;
        let numbers = self.reinterpreted(&numbers.text, unsigned, word)?;
        let steps = match step {
            1 => numbers,
            step => {
                let step = step.to_string();
                self.code
                    .vector("vmul_vx", word, &[&numbers.text, &step], None)?
            }
        };
        let first = format!("(int32_t)({first})");
        self.code
            .vector("vadd_vx", word, &[&steps.text, &first], Some(WORD))
    }

    /// Translates an operation; sums take products in one step.
    fn binary(&mut self, left: &Expression, operator: &str, right: &Expression) -> Option<Value> {
        let minus = operator == "-";
        if operator == "+" || minus {
            let turned = [(right, left)].into_iter().filter(|_| !minus);
            for (sum, product) in [(left, right)].into_iter().chain(turned) {
                if let Some((a, b)) = factors(product)
                    && let Some(made) = self.accumulated(sum, a, b, minus)
                {
                    return Some(made);
                }
            }
        }
        let (left, right) = (self.value(left)?, self.value(right)?);
        self.operation(operator, left, right)
    }

    fn operation(&mut self, operator: &str, left: Value, right: Value) -> Option<Value> {
        if left.is_scalar() && right.is_scalar() {
            return self.both_scalars(operator, &left, &right);
        }
        // A sum begins with zero.
        if operator == "+" && (left.constant() == Some(0) || left.text == "0.0f") {
            return Some(right);
        }
        match left.is_float() || right.is_float() {
            true => self.float(operator, &left, &right),
            false => self.whole(operator, left, right),
        }
    }

    /// Translates the sum of a value and a product, or the difference; nothing where the value is a
    /// number, or the product is none of vectors.
    fn accumulated(
        &mut self,
        sum: &Expression,
        one: &Expression,
        other: &Expression,
        minus: bool,
    ) -> Option<Value> {
        let sum = self.value(sum).filter(|it| !it.is_scalar())?;
        let (one, other) = (self.value(one)?, self.value(other)?);
        if one.is_scalar() && other.is_scalar() {
            return None;
        }
        let are_float = [&sum, &one, &other].map(Value::is_float);
        match are_float {
            [false, false, false] => self.whole_accumulated(&sum, &one, &other, minus),
            [_, false, false] => None,
            _ => self.float_accumulated(&sum, &one, &other, minus),
        }
    }

    /// Returns the name of an intrinsic that adds a product to sums of a type, and its operands.
    pub(crate) fn product(
        &mut self,
        kind: Kind,
        value: &Expression,
    ) -> Option<(String, [String; 2])> {
        let (one, other) = factors(value)?;
        let (one, other) = (self.value(one)?, self.value(other)?);
        match (kind.is_float(), one.is_float() || other.is_float()) {
            (true, true) => self.float_product(&one, &other, false),
            (false, false) => self.whole_product(kind, &one, &other, false),
            _ => None,
        }
    }
}

/// Returns the factors of a product.
fn factors(expression: &Expression) -> Option<(&Expression, &Expression)> {
    match expression {
        Expression::Binary(one, operator, other) if operator == "*" => Some((one, other)),
        // What a float is multiplied to is one.
        Expression::Cast(to, inner) if to == "float" => {
            factors(inner).filter(|(one, other)| is_float(one) || is_float(other))
        }
        _ => None,
    }
}

/// Returns whether an expression is converted to a float.
fn is_float(expression: &Expression) -> bool {
    matches!(expression, Expression::Cast(to, _) if to == "float")
}
