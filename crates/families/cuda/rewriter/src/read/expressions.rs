//! Expressions.

use super::{AXES, Binding, CALL_LIMIT, Reader};
use crate::expression::{Expression, folded};
use crate::kinds::{is_name_of_type, is_whole};
use crate::source::number;
use crate::step::Step;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{assigned_names, children};
use autocomp_nests::Refusal;
use tree_sitter::Node;

/// Functions without effects, which every copy of a value may call.
const FUNCTIONS: &[&str] = &[
    "expf",
    "__expf",
    "exp2f",
    "logf",
    "__logf",
    "log2f",
    "sqrtf",
    "rsqrtf",
    "erff",
    "tanhf",
    "sinf",
    "cosf",
    "powf",
    "fabsf",
    "abs",
    "fmaxf",
    "fminf",
    "max",
    "min",
    "fmaf",
    "floorf",
    "ceilf",
    "roundf",
    "rintf",
    "nearbyintf",
    "truncf",
    "__half2float",
    "__float2half",
    "__bfloat162float",
    "__float2bfloat16",
    "__ldg",
    "__fdividef",
    "__frcp_rn",
    "log1pf",
    "expm1f",
    "coshf",
    "sinhf",
    "exp",
    "log",
    "sqrt",
    "tanh",
    "fma",
    "fabs",
    "fmax",
    "fmin",
];

impl<'f> Reader<'f> {
    pub(super) fn expression(&mut self, node: Node<'f>) -> Result<Expression, Refusal> {
        self.spend(node)?;
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.expression(inner),
                None => self.refused(node, "is not understood"),
            },
            "number_literal" => {
                let text = self.text(node);
                Ok(match number(text) {
                    Some(value) => Expression::constant(value),
                    None => Expression::Text(text.to_owned()),
                })
            }
            "identifier" => self.name(node),
            "field_expression" => self.coordinate(node),
            "subscript_expression" => {
                let (array, index) = self.place(node)?;
                Ok(Expression::Load(array, Box::new(index)))
            }
            "pointer_expression" if self.text(node).starts_with('*') => {
                let (array, index) = self.pointer(self.field(node, "argument")?)?;
                Ok(Expression::Load(array, Box::new(index)))
            }
            "unary_expression" => {
                let operand = self.expression(self.field(node, "argument")?)?;
                let operator = self.text(self.field(node, "operator")?);
                match (operator, &operand) {
                    ("-", Expression::Index(affine)) => match affine.times(-1) {
                        Some(negative) => Ok(Expression::Index(negative)),
                        None => self.refused(node, "is too large"),
                    },
                    ("+", _) => Ok(operand),
                    ("-", _) => Ok(Expression::Sign('-', Box::new(operand))),
                    ("!", _) => Ok(Expression::Sign('!', Box::new(operand))),
                    ("~", _) => Ok(Expression::Sign('~', Box::new(operand))),
                    _ => self.refused(node, "is not understood"),
                }
            }
            "binary_expression" => {
                if let Some(holds) = self.comparison_with_nothing(node) {
                    return Ok(Expression::constant(holds.into()));
                }
                let left = self.expression(self.field(node, "left")?)?;
                let right = self.expression(self.field(node, "right")?)?;
                let operator = self.text(self.field(node, "operator")?);
                Ok(folded(left, operator, right))
            }
            "conditional_expression" => {
                let condition = self.expression(self.field(node, "condition")?)?;
                let one = self.expression(self.field(node, "consequence")?)?;
                let other = self.expression(self.field(node, "alternative")?)?;
                Ok(match condition.as_index().and_then(Affine::as_constant) {
                    Some(0) => other,
                    Some(_) => one,
                    None => Expression::Choice(Box::new(condition), Box::new(one), Box::new(other)),
                })
            }
            "cast_expression" => {
                let kind = self.text(self.field(node, "type")?).to_owned();
                let value = self.expression(self.field(node, "value")?)?;
                if kind.contains('*') {
                    return self.refused(node, "looks at an array as one of another type");
                }
                Ok(match (&value, kind.as_str()) {
                    (Expression::Index(_), kind) if is_whole(kind) => value,
                    _ => Expression::Cast(kind, Box::new(value)),
                })
            }
            "sizeof_expression" => self.refused(node, "is not understood"),
            "call_expression" => self.call(node),
            _ => self.refused(node, "is not understood"),
        }
    }

    /// Returns what comes of comparing an array, which every kernel is given, with a null pointer.
    fn comparison_with_nothing(&self, node: Node<'f>) -> Option<bool> {
        let [left, right] = ["left", "right"].map(|it| node.child_by_field_name(it));
        let array = self.bindings.get(self.text(left?))?;
        let is_asked = ["NULL", "nullptr"].contains(&self.text(right?));
        let operator = self.text(node.child_by_field_name("operator")?);
        match (array, operator) {
            (Binding::Array(..), "!=") if is_asked => Some(true),
            (Binding::Array(..), "==") if is_asked => Some(false),
            _ => None,
        }
    }

    fn name(&mut self, node: Node<'f>) -> Result<Expression, Refusal> {
        let name = self.text(node);
        match self.bindings.get(name) {
            Some(Binding::Value(value)) => Ok(value.clone()),
            Some(Binding::Scalar(own)) => Ok(Expression::Scalar(own.clone())),
            Some(Binding::Array(..) | Binding::Table(..)) => {
                self.refused(node, "is an array where a value is wanted")
            }
            None => match name {
                "INFINITY" | "FLT_MAX" | "FLT_MIN" | "INT_MAX" | "INT_MIN" | "FLT_EPSILON"
                | "M_PI" => Ok(Expression::Text(name.to_owned())),
                "warpSize" => Ok(Expression::constant(32)),
                _ => self.refused(node, "is a name that is not known"),
            },
        }
    }

    fn coordinate(&mut self, node: Node<'f>) -> Result<Expression, Refusal> {
        let base = self.text(self.field(node, "argument")?);
        let field = self.text(self.field(node, "field")?);
        let Some(axis) = AXES
            .iter()
            .position(|it| field.len() == 1 && field.starts_with(*it))
        else {
            return self.refused(node, "is not understood");
        };
        let of = |letter: char, extent: i64| match extent {
            1 => Affine::default(),
            _ => Affine::variable(&format!("{letter}{}", AXES[axis])),
        };
        let index = match base {
            "threadIdx" => of('t', self.block[axis]),
            "blockIdx" => of('b', self.grid[axis]),
            "blockDim" => Affine::constant(self.block[axis]),
            "gridDim" => Affine::constant(self.grid[axis]),
            _ => return self.refused(node, "is not understood"),
        };
        Ok(Expression::Index(index))
    }

    /// Reads an element of an array, or what a place in one is.
    pub(super) fn place(&mut self, node: Node<'f>) -> Result<(String, Expression), Refusal> {
        match node.kind() {
            "subscript_expression" => match self.part(node)? {
                (array, index, None) => Ok((array, index)),
                _ => self.refused(node, "is a row of an array and no element"),
            },
            "pointer_expression" if self.text(node).starts_with('*') => {
                self.pointer(self.field(node, "argument")?)
            }
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.place(inner),
                None => self.refused(node, "is not understood"),
            },
            _ => self.refused(node, "is no element of an array"),
        }
    }

    /// Reads a pointer: an array, and where in it.
    pub(super) fn pointer(&mut self, node: Node<'f>) -> Result<(String, Expression), Refusal> {
        self.spend(node)?;
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.pointer(inner),
                None => self.refused(node, "is not understood"),
            },
            "identifier" => match self.bindings.get(self.text(node)) {
                Some(Binding::Array(array, base, _)) => Ok((array.clone(), base.clone())),
                _ => self.refused(node, "is no array that is known"),
            },
            "binary_expression"
                if matches!(self.text(self.field(node, "operator")?), "+" | "-") =>
            {
                let (array, base) = self.pointer(self.field(node, "left")?)?;
                let by = self.expression(self.field(node, "right")?)?;
                let operator = self.text(self.field(node, "operator")?);
                Ok((array, folded(base, operator, by)))
            }
            "pointer_expression" if self.text(node).starts_with('&') => {
                self.place(self.field(node, "argument")?)
            }
            "subscript_expression" => match self.part(node)? {
                (array, index, Some(below)) if below.is_empty() => Ok((array, index)),
                _ => self.refused(node, "is an element, or an array of several dimensions"),
            },
            _ => self.refused(node, "is no array that is known"),
        }
    }

    /// Reads an array with an index behind it: where in which array that is, and how many elements
    /// lie below each further dimension but the last; nothing if it is an element.
    fn part(&mut self, node: Node<'f>) -> Result<(String, Expression, Option<Vec<i64>>), Refusal> {
        let argument = self.field(node, "argument")?;
        let (array, base, below) = match self.bindings.get(self.text(argument)) {
            Some(Binding::Table(array, below)) => {
                (array.clone(), Expression::constant(0), Some(below.clone()))
            }
            _ if argument.kind() == "subscript_expression" => self.part(argument)?,
            _ => {
                let (array, base) = self.pointer(argument)?;
                (array, base, Some(Vec::new()))
            }
        };
        let index = self.expression(self.field(node, "index")?)?;
        match below.as_deref() {
            None => self.refused(node, "has more indices than the array has dimensions"),
            Some([]) => Ok((array, folded(base, "+", index), None)),
            Some([of_one, rest @ ..]) => {
                let by = folded(index, "*", Expression::constant(*of_one));
                Ok((array, folded(base, "+", by), Some(rest.to_vec())))
            }
        }
    }

    fn call(&mut self, node: Node<'f>) -> Result<Expression, Refusal> {
        let function = self.field(node, "function")?;
        let name = self.text(function);
        let arguments = children(self.field(node, "arguments")?);
        // `(half)(x)` reads as a call of what the parentheses hold.
        let inner = name.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        if let (Some(kind), [value]) = (inner.map(str::trim), arguments.as_slice())
            && is_name_of_type(kind)
        {
            let value = self.expression(*value)?;
            return Ok(match &value {
                Expression::Index(_) if is_whole(kind) => value,
                _ => Expression::Cast(kind.to_owned(), Box::new(value)),
            });
        }
        if let Some(definition) = self.functions.get(name).copied() {
            return match self.inlined(node, name, definition, &arguments)? {
                Some(value) => Ok(value),
                None => self.refused(node, "has no value"),
            };
        }
        if name == "__ldg" && arguments.len() == 1 {
            let (array, index) = self.pointer(arguments[0])?;
            return Ok(Expression::Load(array, Box::new(index)));
        }
        if !FUNCTIONS.contains(&name) {
            return self.refused(node, "calls a function that is not known");
        }
        let arguments = arguments
            .into_iter()
            .map(|it| self.expression(it))
            .collect::<Result<_, _>>()?;
        Ok(Expression::Call(name.to_owned(), arguments))
    }

    /// Makes a function a part of the kernel, and returns its value.
    pub(super) fn inlined(
        &mut self,
        node: Node<'f>,
        name: &str,
        definition: Node<'f>,
        arguments: &[Node<'f>],
    ) -> Result<Option<Expression>, Refusal> {
        if CALL_LIMIT <= self.calls.len() || self.calls.iter().any(|it| it == name) {
            return self.refused(node, "calls functions in a circle, or too deep");
        }
        let body = self.field(definition, "body")?;
        let parameters = self.file.parameters(definition)?;
        if parameters.len() != arguments.len() {
            return self.refused(node, "has another number of arguments than the function");
        }
        let inside = assigned_names(body, &self.file.text);
        let mut bound = Vec::new();
        for ((parameter, kind, is_array), argument) in parameters.into_iter().zip(arguments) {
            let binding = match is_array {
                true => {
                    let (array, base) = self.pointer(*argument)?;
                    Binding::Array(array, base, self.depth)
                }
                false => {
                    let value = self.expression(*argument)?;
                    match value {
                        Expression::Index(_) if !inside.contains(&parameter) => {
                            Binding::Value(value)
                        }
                        value => {
                            let own = self.fresh(&parameter);
                            self.kinds.insert(own.clone(), kind.clone());
                            self.pending.push(Step::Let {
                                kind,
                                name: own.clone(),
                                value: Some(value),
                            });
                            Binding::Scalar(own)
                        }
                    }
                }
            };
            bound.push((parameter, binding));
        }
        let outside = self.bindings.clone();
        let assigned = std::mem::replace(&mut self.assigned, inside);
        self.bindings.extend(bound);
        self.calls.push(name.to_owned());
        let mut before = std::mem::take(&mut self.pending);
        let mut nodes = children(body);
        let mut value = None;
        let last = nodes
            .last()
            .filter(|it| it.kind() == "return_statement")
            .copied();
        if last.is_some() {
            nodes.pop();
        }
        let mut steps = Vec::new();
        self.sequence(&nodes, &mut steps)?;
        if let Some(result) = last.and_then(|it| it.named_child(0)) {
            value = Some(self.expression(result)?);
        }
        before.append(&mut steps);
        before.append(&mut self.pending);
        self.pending = before;
        self.calls.pop();
        self.bindings = outside;
        self.assigned = assigned;
        Ok(value)
    }
}
