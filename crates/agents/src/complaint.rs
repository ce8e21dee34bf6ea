//! What is wrong with a reply, in words that the model and people read. The words stand
//! beside the templates.

/// A name and a text on each line.
const TEXTS: &str = include_str!("../templates/complaints.txt");

/// What a reply leaves to be desired, told to the model and to people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Complaint(pub String);

impl Complaint {
    /// Returns the complaint called `name`, with the value of each name in braces.
    pub(crate) fn of(name: &str, values: &[(&str, &str)]) -> Self {
        Self(text(name, values))
    }
}

/// Returns the text called `name`. Values are put in as they are: braces in them, which a
/// model may have written, mean nothing.
pub(crate) fn text(name: &str, values: &[(&str, &str)]) -> String {
    let mut rest = texts()
        .find_map(|(known, text)| (known == name).then_some(text))
        .unwrap_or(name);
    let mut out = String::new();
    while let Some((before, behind)) = rest.split_once('{') {
        let (value, after) = behind.split_once('}').unwrap_or((behind, ""));
        let value = values.iter().find(|(known, _)| *known == value);
        out.push_str(before);
        out.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXTS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": "))
}

#[cfg(test)]
mod tests {
    use super::{Complaint, texts};
    use std::collections::BTreeSet;

    /// Every complaint that the code makes has its text, every text is used, and all
    /// values that a text names are given.
    #[test]
    fn complaints_and_texts_belong_together() {
        let sources = [
            include_str!("asking.rs"),
            include_str!("code_reply.rs"),
            include_str!("edit_reply.rs"),
            include_str!("isa_choice.rs"),
            include_str!("llm_proposer.rs"),
            include_str!("llm_tasks.rs"),
            include_str!("plan_reply.rs"),
        ];
        let mut used = BTreeSet::new();
        for source in sources {
            for mark in ["Complaint::of(", "text("] {
                for call in source.split(mark).skip(1) {
                    let Some(call) = call.trim_start().strip_prefix('"') else {
                        continue;
                    };
                    let name = call.split('"').next().unwrap_or_default();
                    let Some((_, text)) = texts().find(|(known, _)| *known == name) else {
                        panic!("the complaint {name} has no text");
                    };
                    let given = call.split_once("])").map_or(call, |(before, _)| before);
                    for value in text.split('{').skip(1) {
                        let value = value.split('}').next().unwrap_or_default();
                        assert!(
                            given.contains(&format!("(\"{value}\"")),
                            "{name}: {value} is not given"
                        );
                    }
                    used.insert(name);
                }
            }
        }
        let all: BTreeSet<&str> = texts().map(|(name, _)| name).collect();
        assert_eq!(used, all);
    }

    #[test]
    fn braces_in_values_mean_nothing() {
        let complaint = Complaint::of(
            "choice-unknown",
            &[("value", "\"{items}\""), ("items", "a, b")],
        );
        assert_eq!(
            complaint.0,
            "\"{items}\" is not in the list of optimizations; choose one of: a, b"
        );
    }
}
