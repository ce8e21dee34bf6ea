//! Numbers of pages, which say nothing: at the top or the bottom of several pages at the same
//! height, and counted on from one to the other.

use super::Line;
use std::collections::BTreeMap;

/// Heights that count as the same, in points.
const SAME: f32 = 3.0;

/// Leaves the numbers of pages out.
pub fn leave_out(pages: &mut [(u32, Vec<Line>)]) {
    // By how far they are ahead of the count of pages, and by height.
    let mut n_like: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for (page, lines) in pages.iter() {
        for line in edges(lines) {
            if let Some((ahead, height)) = numbered(*page, &lines[line]) {
                *n_like.entry((ahead, height)).or_default() += 1;
            }
        }
    }
    for (page, lines) in pages {
        let is_number = |line: &Line| {
            numbered(*page, line).is_some_and(|(ahead, height)| {
                let like = n_like.range((ahead, height - 1)..=(ahead, height + 1));
                1 < like.map(|it| it.1).sum::<usize>()
            })
        };
        // From the last one on: those before keep their places.
        let numbers: Vec<usize> = edges(lines)
            .into_iter()
            .rev()
            .filter(|it| is_number(&lines[*it]))
            .collect();
        for at in numbers {
            lines.remove(at);
        }
    }
}

/// Returns the first and the last line of a page.
fn edges(lines: &[Line]) -> Vec<usize> {
    match lines.len() {
        0 => Vec::new(),
        1 => vec![0],
        n => vec![0, n - 1],
    }
}

/// Returns by how much a line of one number is ahead of the count of pages, and its height.
fn numbered(page: u32, line: &Line) -> Option<(i64, i64)> {
    let is_number = line.text.chars().all(|c| c.is_ascii_digit());
    let number: u32 = line.text.parse().ok().filter(|_| is_number)?;
    let height = (line.y / SAME).round() as i64;
    Some((i64::from(number) - i64::from(page), height))
}
