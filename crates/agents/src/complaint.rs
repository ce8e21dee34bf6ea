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
    pub fn of(name: &str, values: &[(&str, &str)]) -> Self {
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

/// Returns the complaints that there are: their names and what they say.
pub fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXTS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": "))
}
