//! A language of kernels that brings one kind of value, lengths, and one function that makes them.

use std::rc::Rc;

use autocomp_python::diagnostic::{Failure, FailureKind, Outcome};
use autocomp_python::{
    Argument, Arguments, Binary, Device, Foreign, Frame, Interpreter, Member, lower, type_error,
};

/// A length in metres.
#[derive(Clone)]
struct Length(i64);

type Value = autocomp_python::Value<Length>;

/// Counts the iterations of loops.
#[derive(Default)]
struct Counter {
    line: u32,
    iterations: u32,
}

impl Device for Counter {
    type Loop = ();

    fn line(&self) -> u32 {
        self.line
    }

    fn set_line(&mut self, line: u32) {
        self.line = line;
    }

    fn next_iteration(&mut self) {
        self.iterations += 1;
    }
}

impl Foreign for Length {
    type Device = Counter;
    type Loop = ();
    type Binding = ();

    const DOCUMENTS: &'static str = "the page of lengths";
    const INTERFACES: &'static str = "lengths.metres";
    const IMPORTS: &'static str = "import lengths only";

    fn type_name(&self) -> &'static str {
        "length"
    }

    fn text(&self) -> Option<String> {
        Some(format!("{} m", self.0))
    }

    fn module_of(path: &str) -> Option<&'static str> {
        (path == "lengths").then_some("lengths")
    }

    fn member(_: &Counter, module: &'static str, name: &str) -> Option<Value> {
        (module == "lengths" && name == "metres").then_some(Value::Builtin("metres"))
    }

    fn builtin(
        _: &mut Interpreter<Self>,
        name: &'static str,
        arguments: Arguments<Self>,
        _line: u32,
    ) -> Outcome<Option<Value>> {
        match (name, &arguments.positional[..]) {
            ("metres", [Value::Int(metres)]) => Ok(Some(Value::Foreign(Self(*metres)))),
            ("metres", _) => Err(type_error("metres takes a whole number")),
            _ => Ok(None),
        }
    }

    fn binary(
        _: &mut Interpreter<Self>,
        operator: Binary,
        left: Value,
        right: Value,
        _line: u32,
    ) -> Outcome<Result<Value, (Value, Value)>> {
        match (operator, left, right) {
            (Binary::Add, Value::Foreign(a), Value::Foreign(b)) => {
                Ok(Ok(Value::Foreign(Self(a.0 + b.0))))
            }
            (_, left, right) => Ok(Err((left, right))),
        }
    }

    fn attribute(&self, _: &Counter, name: &str) -> Outcome<Option<Member<Self>>> {
        Ok((name == "metres").then_some(Member::Value(Value::Int(self.0))))
    }

    fn call_bound(
        _: &mut Interpreter<Self>,
        _line: u32,
        (): &(),
        _: &[Argument<Self>],
        _: &Rc<Frame<Self>>,
    ) -> Outcome<Value> {
        Ok(Value::None)
    }
}

/// What `main()` of a file returns, and how many iterations ran.
fn run(source: &str) -> Result<(Value, u32), Box<Failure>> {
    let mut run = Interpreter::new(lower::<Length>(source)?, Counter::default(), 10_000);
    let result = run
        .load()
        .and_then(|()| run.call_entry("main", Arguments::default()));
    let iterations = run.device.iterations;
    run.finish();
    Ok((result?, iterations))
}

fn text(source: &str) -> String {
    match run(source) {
        Ok((Value::Str(text), _)) => text.to_string(),
        Ok((other, _)) => panic!("a {}", other.type_name()),
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn a_language_brings_values_functions_and_operators() {
    let cases = [
        ("return str(metres(2) + metres(3))", "5 m"),
        ("return f'{lengths.metres(4)}'", "4 m"),
        ("return str([metres(1), 2])", "[1 m, 2]"),
        ("return str(metres(7).metres * 2)", "14"),
        ("return str(isinstance(metres(1), int))", "False"),
        ("return str(sum([metres(1), metres(2)], metres(0)))", "3 m"),
    ];
    for (body, expected) in cases {
        let source = format!(
            "import lengths\nfrom lengths import metres\nfrom dataclasses import dataclass\ndef main():\n  {body}\n"
        );
        assert_eq!(text(&source), expected, "{body}");
    }
}

#[test]
fn what_a_language_does_not_have_is_refused_in_its_words() {
    let cases = [
        (
            "import lengths\ndef main():\n  return lengths.feet(1)",
            "unknown-name",
            "check the spelling",
        ),
        (
            "import lengths\ndef main():\n  return lengths.metres(1).feet",
            "attribute-error",
            "check the spelling against the page of lengths",
        ),
        (
            "import lengths\ndef main():\n  return lengths.metres(1) * 2",
            "type-error",
            "check the types of the operands",
        ),
        (
            "import lengths\ndef main():\n  return lengths.metres(1)[0]",
            "type-error",
            "check the types of the operands",
        ),
        (
            "import lengths\ndef main():\n  lengths.metres(1)[0] = 2",
            "type-error",
            "check the types of the operands",
        ),
        (
            "import lengths\ndef main():\n  for x in lengths.metres(3):\n    pass",
            "type-error",
            "check the types of the operands",
        ),
        (
            "def main():\n  return getattr(1, '__class__')",
            "unsupported-python",
            "use lengths.metres",
        ),
        (
            "import lib\ndef main():\n  return lib.jit",
            "import-refused",
            "copy what the kernel needs of it into this file; the import may stay as it is",
        ),
    ];
    for (source, code, remedy) in cases {
        let failure = run(source).map(|_| ()).unwrap_err();
        assert_eq!(
            (&*failure.code, &*failure.remedy),
            (code, remedy),
            "{source}"
        );
    }
}

#[test]
fn the_device_is_told_of_loops() {
    let source = "def main():\n  n = 0\n  for i in range(3):\n    for j in [1, 2]:\n      n += 1\n  return n\n";
    let (value, iterations) = run(source).unwrap();
    assert!(matches!(value, Value::Int(6)));
    assert_eq!(iterations, 9);
}

#[test]
fn a_run_ends_at_its_limits() {
    let cases = [
        ("def main():\n  while True:\n    pass", "step-limit"),
        ("def main():\n  return main()", "depth-limit"),
        ("def main():\n  return [0] * 10_000_000", "memory-limit"),
    ];
    for (source, code) in cases {
        let failure = run(source).map(|_| ()).unwrap_err();
        assert_eq!((failure.kind, &*failure.code), (FailureKind::Limit, code));
    }
}
