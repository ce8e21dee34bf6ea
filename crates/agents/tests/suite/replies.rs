//! Replies as models give them: what is taken from them, or what is wrong.
//!
//! A case file has sections that start with `=== name`; `UPDATE_CASES=1`
//! rewrites the section `expect`. The header says the function name and, for
//! replies that need it, `line-ends: crlf`.

use autocomp_agents::{apply_edits, extract_kernel, kernel_from_edits, parse_edits, parse_plan};
use autocomp_c::C;
use autocomp_core::MenuItem;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

const KERNEL: &str = "static int n = 4;\n\nvoid solution(int8_t a[4][4]) {\n  for (int i = 0; i < 4; i++) {\n    copy(a[i], i);\n  }\n  fence();\n}\n";

fn menu() -> Vec<MenuItem> {
    ["double-buffer", "loop-unroll", MenuItem::OTHER]
        .map(|id| MenuItem {
            id: id.to_owned(),
            text: String::new(),
            ..MenuItem::default()
        })
        .to_vec()
}

/// Items that the prompt did not show.
fn hidden() -> Vec<MenuItem> {
    vec![MenuItem {
        id: "split-loop".to_owned(),
        ..MenuItem::default()
    }]
}

fn sections(text: &str) -> BTreeMap<String, String> {
    let mut sections = BTreeMap::new();
    let mut name = "header".to_owned();
    for line in text.lines() {
        if let Some(next) = line
            .strip_prefix("=== ")
            .filter(|name| ["reply", "expect"].contains(name))
        {
            name = next.to_owned();
            sections.entry(name.clone()).or_insert_with(String::new);
            continue;
        }
        let section: &mut String = sections.entry(name.clone()).or_default();
        section.push_str(line);
        section.push('\n');
    }
    sections
}

fn check(folder: &str, treat: impl Fn(&str) -> Result<String, String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("cases")
        .map(|entry| entry.expect("entry").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("case");
        let sections = sections(&text);
        let header = sections.get("header").cloned().unwrap_or_default();
        let mut reply = sections["reply"].clone();
        if header.contains("line-ends: crlf") {
            reply = reply.replace('\n', "\r\n");
        }
        let actual = match treat(&reply) {
            Ok(value) => format!("ok\n{value}"),
            Err(complaint) => format!("complaint\n{complaint}\n"),
        };
        if std::env::var_os("UPDATE_CASES").is_some() {
            let updated = format!(
                "{header}=== reply\n{}=== expect\n{actual}",
                sections["reply"]
            );
            std::fs::write(&path, updated).expect("write");
        } else {
            let expected = sections.get("expect").cloned().unwrap_or_default();
            assert_eq!(actual, expected, "{}", path.display());
        }
    }
}

#[test]
fn code_replies() {
    check("code_reply", |reply| {
        extract_kernel(reply, &C, "solution").map_err(|complaint| complaint.0)
    });
}

#[test]
fn plan_replies() {
    check("plan_reply", |reply| {
        let plan = parse_plan(reply, &menu(), &hidden()).map_err(|complaint| complaint.0)?;
        Ok(format!("[{}]\n{}\n", plan.menu_item, plan.text))
    });
}

#[test]
fn edit_replies() {
    check("edit_reply", |reply| {
        kernel_from_edits(KERNEL, reply, &C, "solution").map_err(|complaint| complaint.0)
    });
}

/// Pieces from which hostile replies are put together.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("```c\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~~\n".to_owned()),
        Just("void solution(int8_t a[4][4]) {".to_owned()),
        Just("}\n".to_owned()),
        Just("/* \" ".to_owned()),
        Just("'\\".to_owned()),
        Just("<<<<<<< SEARCH\n".to_owned()),
        Just("=======\n".to_owned()),
        Just(">>>>>>> REPLACE\n".to_owned()),
        Just("CHOICE: other\n".to_owned()),
        Just("<think>".to_owned()),
        Just("</think>\r\n".to_owned()),
        Just("{\"edits\": [{\"old\": \"fence\", \"new\": \"x\"}]}".to_owned()),
        "\\PC{0,12}",
        any::<String>(),
    ]
}

proptest! {
    /// No reply makes the parsers panic, and what they accept is what they promise.
    #[test]
    fn any_reply_is_survived(pieces in proptest::collection::vec(piece(), 0..12)) {
        let reply = pieces.concat();
        if let Ok(code) = extract_kernel(&reply, &C, "solution") {
            prop_assert!(code.contains("solution"));
            // What was taken is taken again, unchanged, unless it holds a fence itself.
            if code.contains("```") || code.contains("~~~") {
                return Ok(());
            }
            prop_assert_eq!(extract_kernel(&format!("```c\n{code}```\n"), &C, "solution"), Ok(code));
        }
        if let Ok(plan) = parse_plan(&reply, &menu(), &hidden()) {
            prop_assert!(menu().iter().chain(&hidden()).any(|item| item.id == plan.menu_item));
        }
        if let Ok(edits) = parse_edits(&reply) {
            let _ = apply_edits(KERNEL, &edits, &C, "solution");
        }
    }

    /// A kernel survives the way through a fenced block, whatever stands around it.
    #[test]
    fn a_fenced_kernel_comes_back(before in "[a-zA-Z .:\n]{0,60}", after in "[a-zA-Z .:\n]{0,60}", body in "[a-z0-9 =+;\n]{0,80}") {
        let kernel = format!("void solution(int8_t a[4][4]) {{\n{}\n}}\n", body.replace('=', "+"));
        let reply = format!("{before}\n```c\n{kernel}```\n{after}");
        prop_assert_eq!(extract_kernel(&reply, &C, "solution"), Ok(kernel));
    }

    /// A search/replace block for any line of the kernel that occurs once does what it says.
    #[test]
    fn an_edit_replaces_its_line(new in "[a-z(); ]{1,30}") {
        let reply = format!("<<<<<<< SEARCH\n  fence();\n=======\n  {new}\n>>>>>>> REPLACE\n");
        let edits = parse_edits(&reply);
        if let Ok(edits) = edits {
            let result = apply_edits(KERNEL, &edits, &C, "solution");
            if let Ok(result) = result {
                prop_assert_eq!(result, KERNEL.replace("  fence();\n", &format!("  {new}\n")));
            }
        }
    }
}
