//! Candidates as text.

use autocomp_imports::inside::{Value, candidate, unescaped};
use proptest::prelude::*;

/// Writes a candidate as the original does: apostrophes alone are escaped in plan and code.
pub fn written(parent: &str, plan: Option<&str>, code: &str, score: &str) -> String {
    let quoted = |text: &str| format!("'''{}'''", text.replace('\'', "\\'"));
    let plan = plan.map_or("None".to_owned(), quoted);
    format!(
        "CodeCandidate(parent={parent},\nplan={plan},\ncode={},\nscore={score},\n\
         translation_score=None,\nhw_feedback=['slow', 'busy 3 %'],\nplan_gen_model='m::p',\n\
         code_gen_model='None',\nstdout='Latency: 1.5 ms\\n',\nstderr='')",
        quoted(code)
    )
}

fn field(text: &str, name: &str) -> Value {
    candidate(text).unwrap().take(name).unwrap()
}

#[test]
fn a_candidate_is_read_field_by_field() {
    let inner = written("None", None, "x", "inf");
    let text = written(&inner, Some("do it"), "y = 'a'\n", "2.5");
    assert_eq!(field(&text, "code").text(), Some("y = 'a'\n"));
    assert_eq!(field(&text, "plan").text(), Some("do it"));
    assert_eq!(field(&text, "score").number(), Some(2.5));
    assert_eq!(field(&text, "stdout").text(), Some("Latency: 1.5 ms\n"));
    let mut parent = field(&text, "parent");
    assert_eq!(parent.take("plan"), Some(Value::None));
    assert_eq!(parent.take("score").unwrap().number(), Some(f64::INFINITY));
}

#[test]
fn what_is_no_candidate_is_refused_with_its_line() {
    let nested = "CodeCandidate(parent=".repeat(1000);
    let cases: &[(&str, &str)] = &[
        ("", "line 1: it does not begin with a candidate"),
        (
            "__import__('os').system('true')",
            "line 1: it does not begin with a candidate",
        ),
        (
            "CodeCandidate(parent=None,\ncode=open('f'))",
            "line 2: a value was expected",
        ),
        (
            "CodeCandidate(parent=None,\ncode='''x",
            "line 2: a text does not end",
        ),
        (
            "CodeCandidate(parent=None) + 1",
            "line 1: something stands behind the candidate",
        ),
        (&nested, "line 1: it is nested more than 400 times"),
    ];
    for (text, said) in cases {
        assert_eq!(candidate(text).unwrap_err().to_string(), *said);
    }
}

#[test]
fn escapes_are_those_of_python() {
    let cases = [
        (r"a\nb\\n\'\x41\u00e9\101\q\", "a\nb\\n'A\u{e9}A\\q\\"),
        ("\\\nx", "x"),
        (r"\xZ1", r"\xZ1"),
    ];
    for (text, expected) in cases {
        assert_eq!(unescaped(text), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn whatever_the_code_is_it_is_read_back(code in r"[a'\\\n\x22]{0,12}x", plan in r"[b'\\,=]{0,12}y") {
        let text = written("None", Some(&plan), &code, "1.0");
        prop_assert_eq!(field(&text, "code"), Value::Text(code));
        prop_assert_eq!(field(&text, "plan"), Value::Text(plan));
    }

    #[test]
    fn no_text_makes_it_panic(text in r"(CodeCandidate\(|parent=|code=|'''|'|\\|\[|\{|None|,|\)|x|\n){0,30}") {
        let _ = candidate(&text);
        let _ = unescaped(&text);
    }
}
