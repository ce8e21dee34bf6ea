//! What the engines compute: two-operand operations and functions of one operand.

use super::transcendental::{erf, exponentials};
use super::{Nki, Value};
use crate::tensor::dtype::{POISON, is_undefined};
use autocomp_python::Binary;

/// Operations of the vector engine on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    Add,
    Subtract,
    Multiply,
    Divide,
    Maximum,
    Minimum,
    Power,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    AbsoluteMaximum,
    AbsoluteMinimum,
    /// Those of one operand, which leave the other alone.
    Absolute,
    Square,
    Relu,
    InverseRoot,
    Reciprocal,
    BitNot,
}

impl Alu {
    /// The operation of this name, as kernels pass it to `op=`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "add" | "sum" => Self::Add,
            "subtract" => Self::Subtract,
            "multiply" | "prod" => Self::Multiply,
            "divide" | "true_divide" => Self::Divide,
            "maximum" | "max" | "amax" => Self::Maximum,
            "minimum" | "min" | "amin" => Self::Minimum,
            "power" => Self::Power,
            "mod" | "fmod" | "remainder" => Self::Modulo,
            "equal" => Self::Equal,
            "not_equal" => Self::NotEqual,
            "less" => Self::Less,
            "less_equal" => Self::LessEqual,
            "greater" => Self::Greater,
            "greater_equal" => Self::GreaterEqual,
            "logical_and" | "all" => Self::LogicalAnd,
            "logical_or" | "any" => Self::LogicalOr,
            "logical_xor" => Self::LogicalXor,
            "bitwise_and" => Self::BitAnd,
            "bitwise_or" => Self::BitOr,
            "bitwise_xor" => Self::BitXor,
            "left_shift" | "logical_shift_left" => Self::ShiftLeft,
            "right_shift" | "logical_shift_right" | "arithmetic_shift_right" => Self::ShiftRight,
            "abs_max" => Self::AbsoluteMaximum,
            "abs_min" => Self::AbsoluteMinimum,
            _ => return None,
        })
    }

    /// The operation of one operand of this name. With those of [`Self::from_name`] it is what the
    /// vendor's table of math operators lists for `op0=` and `op1=` of `tensor_scalar` and the like
    /// (NKI documentation, "NKI ISA API Common Fields").
    pub(crate) fn of_one(name: &str) -> Option<Self> {
        Some(match name {
            "abs" | "absolute" | "fabs" => Self::Absolute,
            "square" => Self::Square,
            "relu" => Self::Relu,
            "rsqrt" => Self::InverseRoot,
            "reciprocal" => Self::Reciprocal,
            "invert" | "bitwise_not" => Self::BitNot,
            _ => return None,
        })
    }

    /// Whether it has one operand, so that the number or column beside it is not looked at.
    pub(crate) const fn is_of_one(self) -> bool {
        matches!(
            self,
            Self::Absolute
                | Self::Square
                | Self::Relu
                | Self::InverseRoot
                | Self::Reciprocal
                | Self::BitNot
        )
    }

    /// Whether instructions may reduce by it (the table's column of legal reductions).
    pub(crate) const fn reduces(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Subtract
                | Self::Multiply
                | Self::Maximum
                | Self::Minimum
                | Self::LogicalAnd
                | Self::LogicalOr
                | Self::LogicalXor
                | Self::BitAnd
                | Self::BitOr
                | Self::BitXor
        )
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Foreign(Nki::Api(api)) => Self::from_name(api.name),
            Value::Builtin(name) => Self::from_name(name),
            _ => None,
        }
    }

    pub(crate) fn from_operator(operator: Binary) -> Option<Self> {
        Some(match operator {
            Binary::Add => Self::Add,
            Binary::Subtract => Self::Subtract,
            Binary::Multiply => Self::Multiply,
            Binary::Divide => Self::Divide,
            Binary::Power => Self::Power,
            Binary::Modulo => Self::Modulo,
            Binary::And => Self::BitAnd,
            Binary::Or => Self::BitOr,
            Binary::Xor => Self::BitXor,
            Binary::ShiftLeft => Self::ShiftLeft,
            Binary::ShiftRight => Self::ShiftRight,
            _ => return None,
        })
    }

    /// Whether it works on bits, so that operands must be integers and nothing is cast.
    pub(crate) const fn is_bitwise(self) -> bool {
        matches!(
            self,
            Self::BitAnd
                | Self::BitOr
                | Self::BitXor
                | Self::BitNot
                | Self::ShiftLeft
                | Self::ShiftRight
        )
    }

    pub(crate) const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessEqual
                | Self::Greater
                | Self::GreaterEqual
                | Self::LogicalAnd
                | Self::LogicalOr
                | Self::LogicalXor
        )
    }

    /// Whether it makes a number of a NaN, or can.
    const fn hides(self) -> bool {
        self.is_comparison()
            || self.is_bitwise()
            || matches!(
                self,
                Self::Power | Self::AbsoluteMaximum | Self::AbsoluteMinimum
            )
    }

    /// `a op b` in single precision; undefined where an operand is.
    #[inline]
    pub(crate) fn apply(self, a: f32, b: f32) -> f32 {
        let truth = |value: bool| if value { 1.0 } else { 0.0 };
        if self.hides() && (is_undefined(a) || is_undefined(b)) {
            return f32::from_bits(POISON);
        }
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            // NaN on either side stays, so that unwritten elements are not lost.
            Self::Maximum => {
                if a.is_nan() || a > b {
                    a
                } else {
                    b
                }
            }
            Self::Minimum => {
                if a.is_nan() || a < b {
                    a
                } else {
                    b
                }
            }
            Self::Power => a.powf(b),
            Self::Modulo => a - b * (a / b).floor(),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            Self::Less => truth(a < b),
            Self::LessEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterEqual => truth(a >= b),
            Self::LogicalAnd => truth(a != 0.0 && b != 0.0),
            Self::LogicalOr => truth(a != 0.0 || b != 0.0),
            Self::LogicalXor => truth((a != 0.0) != (b != 0.0)),
            Self::AbsoluteMaximum => a.abs().max(b.abs()),
            Self::AbsoluteMinimum => a.abs().min(b.abs()),
            Self::Absolute => Function::Abs.apply(a),
            Self::Square => a * a,
            Self::Relu => Function::Relu.apply(a),
            Self::InverseRoot => Function::Rsqrt.apply(a),
            Self::Reciprocal => 1.0 / a,
            Self::BitNot
            | Self::BitAnd
            | Self::BitOr
            | Self::BitXor
            | Self::ShiftLeft
            | Self::ShiftRight => self.on_bits(a as i64, b as i64) as f32,
        }
    }

    /// Whether it is as slow as a reciprocal, by whatever name.
    pub(crate) const fn is_quotient(self) -> bool {
        matches!(
            self,
            Self::Divide | Self::Power | Self::Reciprocal | Self::InverseRoot
        )
    }

    /// Nanoseconds of a processor for an element, about, beside reading and writing it.
    pub(crate) const fn work(self) -> u64 {
        match self {
            Self::Power | Self::Modulo => 60,
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide => 1,
            _ => 4,
        }
    }

    /// Applies the operation to two rows of values; the left one is overwritten.
    pub(crate) fn apply_all(self, left: &mut [f32], right: &[f32]) {
        macro_rules! each {
            ($f:expr) => {
                for (a, b) in left.iter_mut().zip(right) {
                    *a = $f(*a, *b);
                }
            };
        }
        match self {
            Self::Add => each!(|a: f32, b: f32| a + b),
            Self::Subtract => each!(|a: f32, b: f32| a - b),
            Self::Multiply => each!(|a: f32, b: f32| a * b),
            Self::Divide => each!(|a: f32, b: f32| a / b),
            other => each!(|a: f32, b: f32| other.apply(a, b)),
        }
    }

    /// Applies the operation with one number on the right (or left, if `reversed`).
    pub(crate) fn apply_scalar(self, values: &mut [f32], scalar: f32, reversed: bool) {
        macro_rules! each {
            ($f:expr) => {
                for a in values.iter_mut() {
                    *a = $f(*a, scalar);
                }
            };
        }
        match (self, reversed) {
            (Self::Add, _) => each!(|a: f32, b: f32| a + b),
            (Self::Multiply, _) => each!(|a: f32, b: f32| a * b),
            (Self::Subtract, false) => each!(|a: f32, b: f32| a - b),
            (Self::Subtract, true) => each!(|a: f32, b: f32| b - a),
            (other, false) => each!(|a: f32, b: f32| other.apply(a, b)),
            (other, true) => each!(|a: f32, b: f32| other.apply(b, a)),
        }
    }

    /// Applies the operation with another element for each on the right (or left, if
    /// `reversed`).
    pub(crate) fn apply_column(self, values: &mut [f32], others: &[f32], reversed: bool) {
        if !reversed {
            return self.apply_all(values, others);
        }
        for (a, b) in values.iter_mut().zip(others) {
            *a = self.apply(*b, *a);
        }
    }

    /// Applies the operation with `number`, or without one with the next of `inputs`.
    pub(crate) fn apply_operand(
        self,
        values: &mut [f32],
        number: Option<f32>,
        inputs: &mut impl Iterator<Item = Vec<f32>>,
        reversed: bool,
    ) {
        match number {
            // The operand beside it is nothing, or zero.
            _ if self.is_of_one() => values.iter_mut().for_each(|it| *it = self.apply(*it, 0.0)),
            Some(number) => self.apply_scalar(values, number, reversed),
            None => self.apply_column(values, &inputs.next().unwrap_or_default(), reversed),
        }
    }

    /// The operation over a row, from its neutral element.
    pub(crate) fn all(self, row: &[f32]) -> f32 {
        let values = row.iter().copied();
        values.fold(self.neutral(), |all, value| self.apply(all, value))
    }

    /// The neutral element of a reduction.
    pub(crate) fn neutral(self) -> f32 {
        match self {
            Self::Multiply | Self::LogicalAnd => 1.0,
            Self::Maximum => f32::NEG_INFINITY,
            Self::Minimum => f32::INFINITY,
            _ => 0.0,
        }
    }
}

/// Functions of one operand: those of the scalar engine, and a few that only NKI's language has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Copy,
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Square,
    Reciprocal,
    Negative,
    Abs,
    Sign,
    Relu,
    Gelu,
    GeluTanh,
    GeluDerivative,
    GeluSigmoid,
    GeluSigmoidDerivative,
    Sigmoid,
    Tanh,
    Silu,
    SiluDerivative,
    Softplus,
    Mish,
    Erf,
    ErfDerivative,
    Sin,
    Cos,
    Tan,
    Arctan,
    Floor,
    Ceil,
    Trunc,
    LogicalNot,
    Invert,
}

impl Function {
    /// The operands that the scalar engine computes the function for, in words; none where that is
    /// all of them.
    pub(crate) fn range(self) -> Option<&'static str> {
        Some(match self {
            Self::Log => "from 2^-64 to 2^64",
            Self::Sin => "from -pi to pi",
            Self::Arctan => "from -pi/2 to pi/2",
            Self::Sqrt => "from 2^-116 to 2^118",
            Self::Rsqrt => "from 2^-87 to 2^97",
            Self::Reciprocal => "from 2^-42 to 2^42 and their negatives",
            _ => return None,
        })
    }

    /// Whether an operand lies outside of what the scalar engine computes the function for (page of
    /// the operators, table of activation functions). What is no number there anyway, and a root of
    /// zero, which published kernels take, count as inside.
    pub(crate) fn is_outside(self, x: f32) -> bool {
        let between = |low: i32, high: i32| {
            let size = x.abs();
            size != 0.0 && size.is_finite() && !(2f32.powi(low)..=2f32.powi(high)).contains(&size)
        };
        match self {
            Self::Log => 0.0 < x && between(-64, 64),
            Self::Sin => std::f32::consts::PI < x.abs(),
            Self::Arctan => std::f32::consts::FRAC_PI_2 < x.abs(),
            Self::Sqrt => 0.0 < x && between(-116, 118),
            Self::Rsqrt => 0.0 < x && between(-87, 97),
            Self::Reciprocal => between(-42, 42),
            _ => false,
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "copy" | "identity" => Self::Copy,
            "exp" => Self::Exp,
            "log" => Self::Log,
            "sqrt" => Self::Sqrt,
            "rsqrt" => Self::Rsqrt,
            "square" => Self::Square,
            "reciprocal" => Self::Reciprocal,
            "negative" => Self::Negative,
            "abs" | "absolute" | "fabs" => Self::Abs,
            "sign" => Self::Sign,
            "relu" => Self::Relu,
            "gelu" => Self::Gelu,
            "gelu_apprx_tanh" => Self::GeluTanh,
            "gelu_dx" => Self::GeluDerivative,
            "gelu_apprx_sigmoid" => Self::GeluSigmoid,
            "gelu_apprx_sigmoid_dx" => Self::GeluSigmoidDerivative,
            "sigmoid" => Self::Sigmoid,
            "tanh" => Self::Tanh,
            "silu" => Self::Silu,
            "silu_dx" => Self::SiluDerivative,
            "softplus" => Self::Softplus,
            "mish" => Self::Mish,
            "erf" => Self::Erf,
            "erf_dx" => Self::ErfDerivative,
            "sin" => Self::Sin,
            "cos" => Self::Cos,
            "tan" => Self::Tan,
            "arctan" => Self::Arctan,
            "floor" => Self::Floor,
            "ceil" => Self::Ceil,
            "trunc" => Self::Trunc,
            "logical_not" => Self::LogicalNot,
            "invert" | "bitwise_not" => Self::Invert,
            _ => return None,
        })
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Foreign(Nki::Api(api)) => Self::from_name(api.name),
            Value::Builtin(name) => Self::from_name(name),
            _ => None,
        }
    }

    /// The function, correctly rounded to single precision as far as double precision gives it.
    pub(crate) fn apply(self, x: f32) -> f32 {
        let wide = f64::from(x);
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let normal = |x: f64| 0.5 * (1.0 + erf(x / std::f64::consts::SQRT_2));
        let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let softplus = |x: f64| if x > 30.0 { x } else { x.exp().ln_1p() };
        if x.is_nan() {
            return x;
        }
        match self {
            Self::Copy => x,
            Self::Exp => wide.exp() as f32,
            Self::Log => wide.ln() as f32,
            Self::Sqrt => x.sqrt(),
            Self::Rsqrt => (1.0 / wide.sqrt()) as f32,
            Self::Square => x * x,
            Self::Reciprocal => 1.0 / x,
            Self::Negative => -x,
            Self::Abs => x.abs(),
            Self::Sign => {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    0.0
                }
            }
            Self::Relu => x.max(0.0),
            Self::Gelu => (wide * normal(wide)) as f32,
            Self::GeluTanh => {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044_715 * wide.powi(3));
                (0.5 * wide * (1.0 + inner.tanh())) as f32
            }
            Self::GeluDerivative => (normal(wide) + wide * density(wide)) as f32,
            Self::GeluSigmoid => (wide * sigmoid(1.702 * wide)) as f32,
            Self::GeluSigmoidDerivative => {
                let s = sigmoid(1.702 * wide);
                (s * (1.0 + 1.702 * wide * (1.0 - s))) as f32
            }
            Self::Sigmoid => sigmoid(wide) as f32,
            Self::Tanh => wide.tanh() as f32,
            Self::Silu => (wide * sigmoid(wide)) as f32,
            Self::SiluDerivative => {
                let s = sigmoid(wide);
                (s * (1.0 + wide * (1.0 - s))) as f32
            }
            Self::Softplus => softplus(wide) as f32,
            Self::Mish => (wide * softplus(wide).tanh()) as f32,
            Self::Erf => erf(wide) as f32,
            Self::ErfDerivative => {
                (2.0 / std::f64::consts::PI.sqrt() * (-wide * wide).exp()) as f32
            }
            Self::Sin => wide.sin() as f32,
            Self::Cos => wide.cos() as f32,
            Self::Tan => wide.tan() as f32,
            Self::Arctan => wide.atan() as f32,
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            Self::Trunc => x.trunc(),
            Self::LogicalNot => {
                if x == 0.0 {
                    1.0
                } else {
                    0.0
                }
            }
            Self::Invert => !(x as i64) as f32,
        }
    }

    /// Nanoseconds of a processor for an element, about, beside reading and writing it.
    pub(crate) const fn work(self) -> u64 {
        match self {
            Self::Copy
            | Self::Square
            | Self::Sqrt
            | Self::Rsqrt
            | Self::Reciprocal
            | Self::Exp
            | Self::Negative
            | Self::Abs
            | Self::Relu => 1,
            _ => 80,
        }
    }

    pub(crate) fn apply_all(self, values: &mut [f32]) {
        match self {
            Self::Copy => {}
            Self::Square => values.iter_mut().for_each(|v| *v *= *v),
            Self::Sqrt => values.iter_mut().for_each(|v| *v = v.sqrt()),
            Self::Reciprocal => values.iter_mut().for_each(|v| *v = 1.0 / *v),
            Self::Exp => exponentials(values),
            _ => values.iter_mut().for_each(|v| *v = self.apply(*v)),
        }
    }
}
