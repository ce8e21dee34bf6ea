//! Axes: from values to places, and where the ticks are.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal factors are equally far apart.
    Log,
    /// As `Log`, but stretched towards the low end: the square root of a logarithmic share.
    Stretched,
}

/// An axis from `low` to `high`, which are both above zero unless it is linear.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    pub high: f64,
    scale: Scale,
    /// Places of `low` and `high`.
    from: f64,
    to: f64,
}

impl Axis {
    /// Makes an axis for values between `low` and `high`, from zero.
    pub fn linear(high: f64, from: f64, to: f64) -> Self {
        let high = if 0.0 < high { high } else { 1.0 };
        Self {
            low: 0.0,
            high,
            scale: Scale::Linear,
            from,
            to,
        }
    }

    /// Makes an axis on which equal factors are equally far apart, with some room.
    pub fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = low.max(1e-9);
        let high = high.max(low * 1.05);
        let room = (high / low).powf(0.04).max(1.01);
        Self {
            low: low / room,
            high: high * room,
            scale: Scale::Log,
            from,
            to,
        }
    }

    /// Makes an axis on which small differences near `low` stand apart, too, although others
    /// are large: of most searches, all but the start is close to the best.
    pub fn stretched(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = low.max(1e-9);
        let high = high.max(low * 1.05);
        let ratio = high / low;
        Self {
            low: low / ratio.powf(0.002),
            high: high * ratio.powf(0.04),
            scale: Scale::Stretched,
            from,
            to,
        }
    }

    /// Returns the place of a value.
    pub fn place(&self, value: f64) -> f64 {
        let log = || (value.max(1e-9) / self.low).ln() / (self.high / self.low).ln();
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => log(),
            Scale::Stretched => log().max(0.0).sqrt(),
        };
        self.from + share * (self.to - self.from)
    }

    /// Returns round values within the axis, `most` at most.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        self.ticks_apart(most, 0.0)
    }

    /// The same, `least` apart at least if the axis is linear.
    pub fn ticks_apart(&self, most: usize, least: f64) -> Vec<f64> {
        if self.scale == Scale::Stretched {
            let whole = (self.high / self.low).ln();
            let ticks = (0..most).map(|place| {
                let share = (place as f64 + 0.5) / most as f64;
                three_digits(self.low * (whole * share * share).exp())
            });
            let mut ticks: Vec<f64> = ticks.collect();
            ticks.dedup();
            return ticks;
        }
        if self.scale == Scale::Log {
            for steps in [
                &[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0][..],
                &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
                &[1.0, 2.0, 5.0],
                &[1.0],
            ] {
                let ticks = self.log_ticks(steps);
                if ticks.len() <= most {
                    if ticks.len() < 2 {
                        break;
                    }
                    return ticks;
                }
            }
        }
        let step = round_step((self.high - self.low) / most as f64).max(least);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }

    fn log_ticks(&self, steps: &[f64]) -> Vec<f64> {
        let mut decade = 10f64.powf(self.low.log10().floor());
        let mut ticks = Vec::new();
        while decade <= self.high {
            ticks.extend(steps.iter().map(|step| step * decade));
            decade *= 10.0;
        }
        ticks.retain(|tick| (self.low..=self.high).contains(tick));
        ticks
    }
}

/// Rounds a number above zero to three digits.
fn three_digits(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor() - 2.0);
    (value / unit).round() * unit
}

/// Returns the least round number (1, 2 or 5 times a power of ten) that is not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|it| step <= *it * 1.000_001)
        .unwrap_or(10.0 * power)
}

/// Moves places that are nearer than `distance` apart, in ascending order.
pub fn spread(places: &mut [f64], distance: f64, highest: f64) {
    for idx in 1..places.len() {
        places[idx] = places[idx].max(places[idx - 1] + distance);
    }
    let mut limit = highest;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - distance;
    }
}
