//! Which elements people do not see, by what their own tags say. Sheets of styles are not read.

use super::tag::Tag;

/// Classes of what is meant for those who are read to.
const UNSEEN: [&str; 4] = [
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
];

/// Returns whether people do not see the element of a tag.
pub fn is_hidden(tag: &Tag) -> bool {
    let classes = tag.attribute("class").unwrap_or_default();
    let mut classes = classes.split_ascii_whitespace();
    tag.attribute("hidden").is_some()
        || classes.any(|it| UNSEEN.iter().any(|unseen| it.eq_ignore_ascii_case(unseen)))
        || tag.attribute("style").is_some_and(hides)
}

/// Returns whether an element with this style is not seen.
fn hides(style: &str) -> bool {
    let style = style.to_ascii_lowercase();
    let declarations = style.split(';').filter_map(|it| it.split_once(':'));
    let declarations: Vec<(&str, String)> = declarations
        .map(|(name, value)| {
            let value = value.replace("!important", "");
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            (name.trim(), value)
        })
        .collect();
    let has_background = declarations.iter().any(|(name, value)| {
        name.starts_with("background") && !matches!(value.as_str(), "none" | "transparent")
    });
    declarations.iter().any(|(name, value)| match *name {
        "display" => value == "none",
        "visibility" => matches!(value.as_str(), "hidden" | "collapse"),
        "font-size" => number(value) == Some(0.0),
        "opacity" => number(value).is_some_and(|it| it < 0.05),
        "left" | "top" | "right" | "text-indent" => number(value).is_some_and(|it| it <= -100.0),
        "color" => !has_background && is_white(value),
        _ => false,
    })
}

/// Returns the number that a value begins with.
fn number(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !c.is_ascii_digit() && !".-+".contains(c));
    value[..end.unwrap_or(value.len())].parse().ok()
}

/// Returns whether a color is that of paper.
fn is_white(value: &str) -> bool {
    let color: String = value.split_whitespace().collect();
    let whites = [
        "white",
        "#fff",
        "#ffffff",
        "rgb(255,255,255)",
        "transparent",
    ];
    whites.contains(&color.as_str())
}
