//! Sparklines: a curve in one line of text.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns `values`, of which less is better, in at most `width` characters: the highest is
/// a full bar, the lowest the smallest one, equal factors are equal steps.
pub fn sparkline(values: &[u64], width: usize) -> String {
    let log = |value: u64| (value.max(1) as f64).ln();
    let (Some(high), Some(low)) = (values.iter().max(), values.iter().min()) else {
        return String::new();
    };
    let range = (log(*high) - log(*low)).max(1e-9);
    let n_bars = values.len().min(width);
    (0..n_bars)
        .map(|idx| {
            let last = (idx + 1) * values.len() / n_bars - 1;
            let share = (log(values[last]) - log(*low)) / range;
            BARS[((share * 7.0).round() as usize).min(7)]
        })
        .collect()
}
