//! Floats: sums take products in one step, divisions may be steps of Newton's method.

use super::Strip;
use super::code::Value;
use super::kind::Kind;

const FLOAT: Kind = Kind::Float(32);

impl Strip<'_> {
    /// Translates an operation on floats, one of which is a vector at least.
    pub(crate) fn float(&mut self, operator: &str, left: &Value, right: &Value) -> Option<Value> {
        let halves = [left, right].map(|it| it.kind == Some(Kind::Float(16)));
        if halves == [true, true] {
            let name = match operator {
                "+" => "vfwadd_vv",
                "-" => "vfwsub_vv",
                "*" => "vfwmul_vv",
                _ => "",
            };
            if !name.is_empty() {
                return self
                    .code
                    .vector(name, FLOAT, &[&left.text, &right.text], None);
            }
        }
        if operator == "/" && self.reciprocals {
            return self.quotient(left, right);
        }
        let name = match operator {
            "+" => "vfadd",
            "-" => "vfsub",
            "*" => "vfmul",
            "/" => "vfdiv",
            _ => return None,
        };
        match (left.is_scalar(), right.is_scalar()) {
            (false, true) => {
                let one = self.vector_of(left, FLOAT)?;
                let other = right.number(FLOAT);
                self.code
                    .vector(&format!("{name}_vf"), FLOAT, &[&one, &other], None)
            }
            (true, false) => {
                let one = self.vector_of(right, FLOAT)?;
                let other = left.number(FLOAT);
                let name = match operator {
                    "-" => "vfrsub",
                    "/" => "vfrdiv",
                    _ => name,
                };
                self.code
                    .vector(&format!("{name}_vf"), FLOAT, &[&one, &other], None)
            }
            _ => {
                let one = self.vector_of(left, FLOAT)?;
                let other = self.vector_of(right, FLOAT)?;
                self.code
                    .vector(&format!("{name}_vv"), FLOAT, &[&one, &other], None)
            }
        }
    }

    /// Translates a division as a product with a reciprocal, found by two steps of Newton's method
    /// from seven bits.
    fn quotient(&mut self, left: &Value, right: &Value) -> Option<Value> {
        if right.is_scalar() {
            let one = self.vector_of(left, FLOAT)?;
            let other = format!("1.0f / {}", right.number(FLOAT));
            return self.code.vector("vfmul_vf", FLOAT, &[&one, &other], None);
        }
        let divisor = self.vector_of(right, FLOAT)?;
        let mut found = self.code.vector("vfrec7_v", FLOAT, &[&divisor], None)?;
        for _ in 0..2 {
            let product = self
                .code
                .vector("vfmul_vv", FLOAT, &[&divisor, &found.text], None)?;
            let off = self
                .code
                .vector("vfrsub_vf", FLOAT, &[&product.text, "2.0f"], None)?;
            found = self
                .code
                .vector("vfmul_vv", FLOAT, &[&found.text, &off.text], None)?;
        }
        match left.constant() {
            Some(1) => Some(found),
            _ => self.float("*", left, &found),
        }
    }

    /// Returns the name of the intrinsic that adds a product of floats to sums or takes it away, and
    /// its operands.
    pub(crate) fn float_product(
        &mut self,
        one: &Value,
        other: &Value,
        minus: bool,
    ) -> Option<(String, [String; 2])> {
        let halves = [one, other].map(|it| it.kind == Some(Kind::Float(16)));
        if halves == [true, true] {
            let name = if minus { "vfwnmsac_vv" } else { "vfwmacc_vv" };
            return Some((name.into(), [one.text.clone(), other.text.clone()]));
        }
        let (one, other) = match one.is_scalar() {
            true => (one, other),
            false => (other, one),
        };
        if other.is_scalar() {
            return None;
        }
        let name = if minus { "vfnmsac" } else { "vfmacc" };
        let second = self.vector_of(other, FLOAT)?;
        Some(match one.is_scalar() {
            true => (format!("{name}_vf"), [one.number(FLOAT), second]),
            false => {
                let first = self.vector_of(one, FLOAT)?;
                (format!("{name}_vv"), [first, second])
            }
        })
    }

    /// Translates the sum of a vector and a product of floats, or the difference.
    pub(crate) fn float_accumulated(
        &mut self,
        sum: &Value,
        one: &Value,
        other: &Value,
        minus: bool,
    ) -> Option<Value> {
        let held = self.vector_of(sum, FLOAT)?;
        let (name, [a, b]) = self.float_product(one, other, minus)?;
        self.code.vector(&name, FLOAT, &[&held, &a, &b], None)
    }

    /// Translates a function of floats.
    pub(crate) fn function(&mut self, name: &str, arguments: &[Value]) -> Option<Value> {
        let named: Vec<String> = arguments
            .iter()
            .map(|it| self.vector_of(it, FLOAT))
            .collect::<Option<_>>()?;
        match (name.trim_start_matches("__builtin_"), named.as_slice()) {
            ("sqrtf" | "sqrt", [x]) => self.code.vector("vfsqrt_v", FLOAT, &[x], None),
            ("fabsf" | "fabs", [x]) => self.code.vector("vfabs_v", FLOAT, &[x], None),
            ("expf" | "exp", [x]) => {
                let group = self.code.groups.group(32)?;
                let suffix = self.code.groups.suffix(FLOAT)?;
                let vector = self.code.groups.vector(FLOAT)?;
                for (constant, number) in [
                    ("one", "1.0f"),
                    ("c2", "0.49999231f"),
                    ("c3", "0.16667116f"),
                ] {
                    let most = self.code.groups.most();
                    let line = format!(
                        "const {vector} each_{constant} = __riscv_vfmv_v_f_{suffix}({number}, {most});"
                    );
                    if !self.setup.contains(&line) {
                        self.setup.push(line);
                    }
                }
                self.functions.insert(group.clone());
                let name = format!("each_expf_{group}");
                self.call(&name, FLOAT, &[x, "each_one", "each_c2", "each_c3"])
            }
            _ => None,
        }
    }
}
