//! `rearrange`: views described as `"p (a b) -> p b a"`.

use crate::tensor::view::{Dimension, Dimensions, View};

/// Names of the dimensions of one side; those in brackets are together.
fn groups(side: &str) -> Option<Vec<Vec<String>>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut open = false;
    let spaced = side.replace('(', " ( ").replace(')', " ) ");
    for word in spaced.split_whitespace() {
        match word {
            "(" if !open => {
                open = true;
                groups.push(Vec::new());
            }
            ")" if open => open = false,
            "(" | ")" => return None,
            "1" if !open => groups.push(Vec::new()),
            name if open => groups.last_mut()?.push(name.to_owned()),
            name => groups.push(vec![name.to_owned()]),
        }
    }
    (!open).then_some(groups)
}

/// The view that `pattern` describes; `sizes` gives those of split dimensions. `None` where data
/// would have to be moved, or the pattern does not fit.
pub(super) fn rearranged(view: &View, pattern: &str, sizes: &[(String, i64)]) -> Option<View> {
    let (left, right) = pattern.split_once("->")?;
    let (left, right) = (groups(left)?, groups(right)?);
    if left.len() != view.dimensions.len() {
        return None;
    }
    let mut known: Vec<(String, Dimension)> = Vec::new();
    for (group, dimension) in left.iter().zip(&view.dimensions) {
        let size = |name: &String| {
            let found = sizes.iter().find(|(other, _)| other == name)?;
            usize::try_from(found.1).ok().filter(|size| 0 < *size)
        };
        let given: usize = group.iter().filter_map(size).product();
        let open = group.iter().filter(|name| size(name).is_none()).count();
        if 1 < open || given == 0 || dimension.size % given != 0 {
            return None;
        }
        let rest = dimension.size / given;
        if open == 0 && rest != 1 {
            return None;
        }
        let mut inner = 1;
        let mut split = Vec::new();
        for name in group.iter().rev() {
            let size = size(name).unwrap_or(rest);
            let stride = dimension.stride * inner as i64;
            split.push((name.clone(), Dimension { size, stride }));
            inner *= size;
        }
        known.extend(split.into_iter().rev());
    }
    let mut used = 0;
    let mut dimensions = Dimensions::new();
    for group in &right {
        let mut merged = Dimension { size: 1, stride: 1 };
        for (position, name) in group.iter().enumerate() {
            let (_, next) = known.iter().find(|(other, _)| other == name)?;
            used += 1;
            merged = match position {
                0 => *next,
                // Neighbours in memory, or one of them has one element only.
                _ if merged.size == 1 => *next,
                _ if next.size == 1 => merged,
                _ if merged.stride == next.stride * next.size as i64 => Dimension {
                    size: merged.size * next.size,
                    stride: next.stride,
                },
                _ => return None,
            };
        }
        dimensions.push(merged);
    }
    let distinct = known.len() == used;
    // The partition dimension of a tile cannot be moved.
    let chip = view.buffer().on_chip();
    let moved = chip && dimensions.first() != view.dimensions.first();
    if !distinct || moved {
        return None;
    }
    let mut out = view.clone();
    out.dimensions = dimensions;
    Some(out)
}
