//! Expressions on vectors: the same step for several values of a loop variable.

use super::code::{Element, Expression, Named};
use autocomp_c_loops::affine::Affine;
use std::collections::{BTreeMap, BTreeSet};

/// C that stands in front of a kernel: types of vectors, and functions on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Preamble {
    types: BTreeSet<(u32, String)>,
    narrow: BTreeSet<(u32, String)>,
    functions: BTreeSet<(u32, &'static str)>,
}

/// Text of the functions on vectors; `LANES` stands for their number.
const FUNCTIONS: &[(&str, &str, &[&str])] = &[
    ("chosen", include_str!("functions/chosen.c"), &[]),
    ("larger", include_str!("functions/larger.c"), &["chosen"]),
    ("smaller", include_str!("functions/smaller.c"), &["chosen"]),
    ("sqrtf", include_str!("functions/sqrtf.c"), &[]),
    ("fabsf", include_str!("functions/fabsf.c"), &[]),
    ("expf", include_str!("functions/expf.c"), &["chosen"]),
    (
        "tanhf",
        include_str!("functions/tanhf.c"),
        &["chosen", "expf", "fabsf"],
    ),
    ("erff", include_str!("functions/erff.c"), &["chosen"]),
];

impl Preamble {
    /// Returns the name of the type of `lanes` elements of type `kind`.
    pub(super) fn vector(&mut self, lanes: u32, kind: &str) -> String {
        self.types.insert((lanes, kind.to_owned()));
        type_name(lanes, kind)
    }

    /// Returns the name of the type of narrower elements in memory.
    pub(super) fn narrow(&mut self, lanes: u32, kind: &str) -> String {
        self.narrow.insert((lanes, kind.to_owned()));
        format!("narrow_{kind}_{lanes}")
    }

    /// Returns the name of a function on vectors of floats.
    pub(super) fn function(&mut self, lanes: u32, name: &str) -> Option<String> {
        let (name, _, needed) = FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
        self.types.insert((lanes, "float".into()));
        self.types.insert((lanes, "int32_t".into()));
        for name in needed.iter().chain([name]) {
            self.functions.insert((lanes, name));
        }
        Some(format!("each_{name}_{lanes}"))
    }

    /// Returns everything that was asked for as C.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (lanes, kind) in &self.types {
            let (name, bytes) = (type_name(*lanes, kind), 4 * lanes);
            text += &format!(
                "typedef {kind} {name} __attribute__((vector_size({bytes})));\n\
                 typedef {kind} {name}_anywhere __attribute__((vector_size({bytes}), aligned(4), may_alias));\n"
            );
        }
        for (lanes, kind) in &self.narrow {
            let bytes = lanes * bytes_of(kind);
            text += &format!(
                "typedef {kind} narrow_{kind}_{lanes} __attribute__((vector_size({bytes}), aligned(1), may_alias));\n"
            );
        }
        // In the order of the list, so that each stands behind what it needs.
        for (name, body, _) in FUNCTIONS {
            for (lanes, _) in self.functions.iter().filter(|(_, wanted)| wanted == name) {
                text += &body.replace("LANES", &lanes.to_string());
            }
        }
        text
    }
}

fn type_name(lanes: u32, kind: &str) -> String {
    match kind {
        "float" => format!("vector_f{lanes}"),
        _ => format!("vector_i{lanes}"),
    }
}

/// Returns the size of an element.
pub(super) fn bytes_of(kind: &str) -> u32 {
    match kind {
        "int8_t" | "uint8_t" => 1,
        "int16_t" | "uint16_t" => 2,
        _ => 4,
    }
}

/// Translates expressions for `lanes` values of a variable side by side.
pub(super) struct Vectors<'p> {
    pub preamble: &'p mut Preamble,
    pub names: &'p BTreeMap<String, Named>,
    pub lanes: u32,
    /// Type of the elements: `float` or `int32_t`.
    pub kind: &'p str,
    pub variable: &'p str,
    /// What is added to variables.
    pub shifts: &'p [(&'p str, i64)],
    /// Variables that hold vectors, with what they are called.
    pub locals: &'p BTreeMap<String, String>,
}

/// A translated expression.
pub(super) enum Value {
    /// The same in all lanes.
    Scalar(String),
    /// A vector.
    Vector(String),
}

impl Vectors<'_> {
    /// Returns whether a type can be taken for that of the elements.
    fn fits(&self, kind: &str) -> bool {
        match self.kind {
            "float" => ["float", "int8_t", "uint8_t", "int16_t", "int32_t"].contains(&kind),
            _ => ["int8_t", "uint8_t", "int16_t", "int32_t"].contains(&kind),
        }
    }

    /// Returns an expression that is a vector in any case.
    pub(super) fn vector(&mut self, expression: &Expression) -> Option<String> {
        Some(match self.value(expression)? {
            Value::Vector(text) => text,
            Value::Scalar(text) => self.spread(&text),
        })
    }

    /// Returns a vector with the same number in all lanes.
    pub(super) fn spread(&mut self, text: &str) -> String {
        let vector = self.preamble.vector(self.lanes, self.kind);
        format!("(({vector}){{0}} + {text})")
    }

    /// Translates an expression; nothing if there is no way to.
    pub(super) fn value(&mut self, expression: &Expression) -> Option<Value> {
        let varies = expression.mentions(self.variable)
            || expression
                .reads()
                .iter()
                .any(|it| self.locals.contains_key(&it.name));
        if !varies {
            let reads = expression.reads();
            let known = reads.iter().all(|it| match self.names.get(&it.name) {
                Some(named) => self.fits(&named.kind),
                None => false,
            });
            let whole = self.kind == "float" || is_whole(expression);
            let text = shifted_expression(expression, self.shifts)?.to_c();
            let kind = self.kind;
            return (known && whole).then(|| Value::Scalar(format!("({kind})({text})")));
        }
        let text = match expression {
            Expression::Number(_) | Expression::Index(_) => return None,
            Expression::Element(element) => self.load(element)?,
            Expression::Negative(inner) => format!("(-{})", self.vector(inner)?),
            Expression::Cast(kind, inner) if kind == self.kind => return self.value(inner),
            // Rounded earlier than it is written; tests decide whether that is right.
            Expression::Cast(kind, inner) if kind == "double" && self.kind == "float" => {
                return self.value(inner);
            }
            Expression::Cast(..) => return None,
            Expression::Binary(left, operator, right) => {
                if !["+", "-", "*", "/"].contains(&operator.as_str()) {
                    return None;
                }
                let side = |value| match value {
                    Value::Scalar(text) | Value::Vector(text) => text,
                };
                let (left, right) = (side(self.value(left)?), side(self.value(right)?));
                format!("({left} {operator} {right})")
            }
            Expression::Choice(condition, one, other) => {
                let mask = self.mask(condition)?;
                let (one, other) = (self.vector(one)?, self.vector(other)?);
                match self.kind {
                    "float" => {
                        let chosen = self.preamble.function(self.lanes, "chosen")?;
                        format!("{chosen}({mask}, {one}, {other})")
                    }
                    _ => format!("(({mask} & {one}) | (~{mask} & {other}))"),
                }
            }
            Expression::Call(name, arguments) => {
                if self.kind != "float" {
                    return None;
                }
                let name = match name.as_str() {
                    "fmaxf" | "fmax" => "larger",
                    "fminf" | "fmin" => "smaller",
                    "exp" => "expf",
                    "erf" => "erff",
                    "tanh" => "tanhf",
                    "sqrt" => "sqrtf",
                    "fabs" => "fabsf",
                    name => name,
                };
                let function = self.preamble.function(self.lanes, name)?;
                let arguments = arguments.iter().map(|it| self.vector(it));
                let arguments: Vec<String> = arguments.collect::<Option<_>>()?;
                format!("{function}({})", arguments.join(", "))
            }
        };
        Some(Value::Vector(text))
    }

    /// Translates a condition: all bits of a lane are set where it holds.
    fn mask(&mut self, condition: &Expression) -> Option<String> {
        let integers = self.preamble.vector(self.lanes, "int32_t");
        let varies = condition.mentions(self.variable)
            || condition
                .reads()
                .iter()
                .any(|it| self.locals.contains_key(&it.name));
        if !varies {
            let text = shifted_expression(condition, self.shifts)?.to_c();
            return Some(format!("(({integers}){{0}} - ({text}))"));
        }
        let Expression::Binary(left, operator, right) = condition else {
            return None;
        };
        match operator.as_str() {
            "&&" => Some(format!("({} & {})", self.mask(left)?, self.mask(right)?)),
            "||" => Some(format!("({} | {})", self.mask(left)?, self.mask(right)?)),
            // `!c`
            "==" if is_condition(left) && **right == Expression::Number("0".into()) => {
                Some(format!("(~{})", self.mask(left)?))
            }
            "<" | ">" | "<=" | ">=" | "==" | "!=" => {
                let (left, right) = match (self.indices(left), self.indices(right)) {
                    (Some(left), Some(right)) => (left, right),
                    _ => (self.vector(left)?, self.vector(right)?),
                };
                Some(format!("({left} {operator} {right})"))
            }
            _ => None,
        }
    }

    /// Returns a vector of indices; nothing for what is no index.
    fn indices(&mut self, expression: &Expression) -> Option<String> {
        let affine = match expression {
            Expression::Index(affine) => affine.clone(),
            Expression::Number(text) => Affine::constant(text.parse().ok()?),
            Expression::Negative(inner) => match &**inner {
                Expression::Number(text) => {
                    Affine::constant(text.parse::<i64>().ok()?.checked_neg()?)
                }
                _ => return None,
            },
            _ => return None,
        };
        let next = Affine::variable(self.variable).plus_constant(1)?;
        let step = affine
            .substitute(self.variable, &next)?
            .minus(&affine)?
            .as_constant()?;
        let first = shifted_expression(&Expression::Index(affine), self.shifts)?.to_c();
        let vector = self.preamble.vector(self.lanes, "int32_t");
        let steps: Vec<String> = (0..i64::from(self.lanes))
            .map(|lane| (lane * step).to_string())
            .collect();
        Some(format!("(({vector}){{{}}} + ({first}))", steps.join(", ")))
    }

    fn load(&mut self, element: &Element) -> Option<String> {
        if let Some(local) = self.locals.get(&element.name) {
            return Some(local.clone());
        }
        let named = self.names.get(&element.name)?;
        if !self.fits(&named.kind) {
            return None;
        }
        let first = shifted(element, self.shifts)?;
        let vector = self.preamble.vector(self.lanes, self.kind);
        let stride = element.stride(self.variable, &named.extents);
        if stride == Some(1) && named.kind == self.kind {
            return Some(format!("*(const {vector}_anywhere *)&{}", first.to_c()));
        }
        if stride == Some(1) {
            let narrow = self.preamble.narrow(self.lanes, &named.kind);
            return Some(format!(
                "__builtin_convertvector(*(const {narrow} *)&{}, {vector})",
                first.to_c()
            ));
        }
        let each = (0..i64::from(self.lanes))
            .map(|lane| Some(shifted(&first, &[(self.variable, lane)])?.to_c()));
        let each: Vec<String> = each.collect::<Option<_>>()?;
        Some(format!("({vector}){{{}}}", each.join(", ")))
    }
}

fn is_condition(expression: &Expression) -> bool {
    let operators = ["<", ">", "<=", ">=", "==", "!=", "&&", "||"];
    matches!(expression, Expression::Binary(_, operator, _) if operators.contains(&operator.as_str()))
}

/// Returns whether an expression is made of whole numbers only.
fn is_whole(expression: &Expression) -> bool {
    match expression {
        Expression::Number(text) => text.parse::<i64>().is_ok() || text.starts_with("INT32"),
        Expression::Index(_) | Expression::Element(_) => true,
        Expression::Negative(inner) => is_whole(inner),
        Expression::Cast(kind, _) => kind == "int32_t",
        Expression::Binary(left, _, right) => is_whole(left) && is_whole(right),
        Expression::Choice(_, one, other) => is_whole(one) && is_whole(other),
        Expression::Call(..) => false,
    }
}

/// Returns an element with `shifts` added to variables.
pub(super) fn shifted(element: &Element, shifts: &[(&str, i64)]) -> Option<Element> {
    match shifted_expression(&Expression::Element(element.clone()), shifts)? {
        Expression::Element(element) => Some(element),
        _ => None,
    }
}

/// Returns an expression with `shifts` added to variables.
pub(super) fn shifted_expression(
    expression: &Expression,
    shifts: &[(&str, i64)],
) -> Option<Expression> {
    let mut result = expression.clone();
    for (variable, shift) in shifts.iter().filter(|(_, shift)| *shift != 0) {
        let value = Affine::variable(variable).plus_constant(*shift)?;
        result = result.substitute(variable, &value)?;
    }
    Some(result)
}
