//! Which elements people do not see, by what their own tags say. Sheets of styles are not read.

use super::tag::Tag;

/// Classes of what is meant for those who are read to.
const UNSEEN: [&str; 4] = [
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
];

/// Returns whether people do not see the element of a tag; `is_on_color` where one around it has a
/// background.
pub fn is_hidden(tag: &Tag, is_on_color: bool) -> bool {
    let classes = tag.attribute("class").unwrap_or_default();
    let mut classes = classes.split_ascii_whitespace();
    let color = tag.attribute("color").map(str::to_ascii_lowercase);
    tag.attribute("hidden").is_some()
        || classes.any(|it| UNSEEN.iter().any(|unseen| it.eq_ignore_ascii_case(unseen)))
        || tag.name == "dialog" && tag.attribute("open").is_none()
        || color.is_some_and(|it| !is_on_color && is_white(&it))
        || tag
            .attribute("style")
            .is_some_and(|it| hides(it, is_on_color))
}

/// Returns whether the tag of an element gives it a background.
pub fn has_background(tag: &Tag) -> bool {
    let style = tag
        .attribute("style")
        .unwrap_or_default()
        .to_ascii_lowercase();
    tag.attribute("bgcolor").is_some_and(|it| !is_white(it)) || is_colored(&declarations(&style))
}

/// Returns the names and values of a style in small letters.
fn declarations(style: &str) -> Vec<(&str, String)> {
    let declarations = style.split(';').filter_map(|it| it.split_once(':'));
    declarations
        .map(|(name, value)| {
            let value = value.replace("!important", "");
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            (name.trim(), value)
        })
        .collect()
}

fn is_colored(declarations: &[(&str, String)]) -> bool {
    let mut backgrounds = declarations
        .iter()
        .filter(|(name, _)| name.starts_with("background"));
    backgrounds.any(|(_, value)| value != "none" && !is_white(value) && !is_clear(value))
}

/// Returns whether an element with this style is not seen.
fn hides(style: &str, is_on_color: bool) -> bool {
    let style = style.to_ascii_lowercase();
    let declarations = declarations(&style);
    let is_on_color = is_colored(&declarations) || is_on_color;
    let is_cut = declarations.iter().any(|(name, value)| {
        name.starts_with("overflow") && matches!(value.as_str(), "hidden" | "clip")
    });
    declarations.iter().any(|(name, value)| match *name {
        "display" => value == "none",
        "visibility" => matches!(value.as_str(), "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "font-size" => is_tiny(value),
        "font" => value
            .split([' ', '/'])
            .any(|it| it.starts_with('0') && is_tiny(it)),
        "opacity" => number(value).is_some_and(|it| it < 0.05),
        "left" | "top" | "right" | "bottom" | "text-indent" | "margin-left" | "margin-top" => {
            number(value).is_some_and(|it| it <= -100.0)
        }
        "height" | "width" | "max-height" | "max-width" => {
            is_cut && number(value).is_some_and(|it| it <= 1.0) && !value.ends_with("em")
        }
        "zoom" => number(value) == Some(0.0),
        "transform" => value.contains("scale(0)") || value.contains("scale(0,"),
        "clip" => value.starts_with("rect(0") || value.starts_with("rect(1px"),
        "clip-path" => {
            let inset = value.strip_prefix("inset(").and_then(number);
            inset.is_some_and(|it| 50.0 <= it) || value.starts_with("circle(0")
        }
        "color" => is_clear(value) || !is_on_color && is_white(value),
        _ => false,
    })
}

/// Returns whether letters of a size are too small to be read.
fn is_tiny(size: &str) -> bool {
    let Some(number) = number(size) else {
        return false;
    };
    match size.trim_start_matches(|c: char| c.is_ascii_digit() || ".-+".contains(c)) {
        "em" | "rem" | "ex" | "vw" | "vh" | "in" | "cm" => number < 0.1,
        "%" => number < 10.0,
        _ => number < 2.0,
    }
}

/// Returns the number that a value begins with.
fn number(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !c.is_ascii_digit() && !".-+".contains(c));
    value[..end.unwrap_or(value.len())].parse().ok()
}

/// Returns whether a color is that of paper.
fn is_white(value: &str) -> bool {
    let color: String = value.split_whitespace().collect();
    let whites = ["white", "#fff", "#ffffff", "rgb(255,255,255)"];
    whites.contains(&color.as_str())
}

/// Returns whether nothing of a color is seen.
fn is_clear(value: &str) -> bool {
    let alpha = match value.strip_prefix('#') {
        Some(digits) if digits.len() == 4 => &digits[3..],
        Some(digits) if digits.len() == 8 => &digits[6..],
        Some(_) => return false,
        None => {
            let inside = value.split_once('(').and_then(|it| it.1.strip_suffix(')'));
            let inside = inside.unwrap_or_default();
            let slash = inside.rsplit_once('/').map(|it| it.1);
            let fourth = || inside.split(',').nth(3);
            match slash.or_else(fourth) {
                Some(alpha) => return number(alpha.trim()).is_some_and(|it| it < 0.05),
                None => return value == "transparent",
            }
        }
    };
    alpha.bytes().all(|it| it == b'0')
}
