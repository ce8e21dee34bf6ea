//! Conditions of directives.

/// Decides a condition of numbers, `!`, comparisons, `&&` and `||`; names count as 0.
pub(super) fn decide(texts: &[&str]) -> Option<bool> {
    let joined = texts.concat();
    let text = joined.trim();
    for (operator, any) in [("||", true), ("&&", false)] {
        if let Some((left, right)) = outside_parentheses(text, operator) {
            let (left, right) = (decide(&[left])?, decide(&[right])?);
            return Some(if any { left || right } else { left && right });
        }
    }
    for operator in ["==", "!=", "<=", ">=", "<", ">"] {
        if let Some((left, right)) = outside_parentheses(text, operator) {
            let (left, right) = (whole(left)?, whole(right)?);
            return Some(match operator {
                "==" => left == right,
                "!=" => left != right,
                "<=" => left <= right,
                ">=" => left >= right,
                "<" => left < right,
                _ => left > right,
            });
        }
    }
    if let Some(inner) = text.strip_prefix('!') {
        return decide(&[inner]).map(|holds| !holds);
    }
    if let Some(inner) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    {
        return decide(&[inner]);
    }
    whole(text).map(|value| value != 0)
}

fn whole(text: &str) -> Option<i64> {
    let text = text.trim_start_matches('(').trim_end_matches(')');
    if text
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
    {
        return Some(0);
    }
    text.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

fn outside_parentheses<'text>(
    text: &'text str,
    operator: &str,
) -> Option<(&'text str, &'text str)> {
    let mut depth = 0;
    for (place, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && text[place..].starts_with(operator) => {
                return Some((&text[..place], &text[place + operator.len()..]));
            }
            _ => {}
        }
    }
    None
}
