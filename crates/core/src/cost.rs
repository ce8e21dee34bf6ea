//! What ranks a kernel: a value with its unit and its spread.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;

/// What a cost is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Clock cycles of a simulated machine.
    #[serde(rename = "cycles")]
    Cycles,
    /// Nanoseconds on measured hardware.
    #[serde(rename = "ns")]
    Nanoseconds,
}

impl Unit {
    /// Returns the name: `cycles` or `ns`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Nanoseconds => "ns",
        }
    }

    /// Returns the name of one of them: `cycle` or `ns`.
    #[must_use]
    pub fn singular(self) -> &'static str {
        match self {
            Self::Cycles => "cycle",
            Self::Nanoseconds => "ns",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What ranks a kernel; less is better.
///
/// Exact costs in cycles are serialised as a bare number, which is how they
/// were written before there were other units; all others as an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cost {
    /// How much.
    pub value: u64,
    /// Of what.
    pub unit: Unit,
    /// Half of the interval that the true value lies in, in millionths of the
    /// value; 0 if it is exact.
    pub spread_ppm: u32,
}

const MILLION: i128 = 1_000_000;

impl Cost {
    /// More than any kernel costs.
    pub const MAX: Self = Self::cycles(u64::MAX);

    /// Makes an exact cost in cycles.
    #[must_use]
    pub const fn cycles(value: u64) -> Self {
        Self {
            value,
            unit: Unit::Cycles,
            spread_ppm: 0,
        }
    }

    /// Makes a measured cost in nanoseconds.
    #[must_use]
    pub const fn nanoseconds(value: u64, spread_ppm: u32) -> Self {
        Self {
            value,
            unit: Unit::Nanoseconds,
            spread_ppm,
        }
    }

    /// Returns whether this cost is less than the other one by more than the
    /// spread of both.
    #[must_use]
    pub fn beats(self, other: Self) -> bool {
        let bound = |cost: Self, sign: i128| {
            let spread = i128::from(cost.spread_ppm).min(MILLION);
            i128::from(cost.value) * (MILLION + sign * spread)
        };
        bound(self, 1) < bound(other, -1)
    }

    /// Returns how many times this cost the other one is.
    #[must_use]
    pub fn times(self, other: Self) -> f64 {
        other.value as f64 / self.value.max(1) as f64
    }

    /// Returns the value if it counts cycles, for fields that are named so.
    #[must_use]
    pub fn in_cycles(self) -> Option<u64> {
        (self.unit == Unit::Cycles).then_some(self.value)
    }

    /// Returns `100 * self / other`.
    #[must_use]
    pub fn percent_of(self, other: Self) -> f64 {
        100.0 * self.value as f64 / other.value.max(1) as f64
    }
}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |cost: &Self| (cost.value, cost.spread_ppm, cost.unit);
        key(self).cmp(&key(other))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.unit)
    }
}

/// A cost that is always serialised as an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostObject {
    /// How much.
    pub value: u64,
    /// Of what.
    pub unit: Unit,
    /// See [`Cost::spread_ppm`].
    #[serde(default)]
    pub spread_ppm: u32,
}

impl From<Cost> for CostObject {
    fn from(cost: Cost) -> Self {
        let Cost {
            value,
            unit,
            spread_ppm,
        } = cost;
        Self {
            value,
            unit,
            spread_ppm,
        }
    }
}

/// Serialises a cost, to be flattened into a struct, as the object `cost` and as the
/// number `cycles`, which is null where something else is counted.
///
/// # Errors
/// The serializer's.
pub fn cost_fields<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        cost: CostObject,
        cycles: Option<u64>,
    }
    let fields = Fields {
        cost: (*cost).into(),
        cycles: cost.in_cycles(),
    };
    fields.serialize(serializer)
}

/// Does the same for the cost of a baseline that may not be known yet:
/// `baseline_cost` and `baseline_cycles`.
///
/// # Errors
/// The serializer's.
pub fn baseline_cost_fields<S: Serializer>(
    cost: &Option<Cost>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        baseline_cost: Option<CostObject>,
        baseline_cycles: Option<u64>,
    }
    let fields = Fields {
        baseline_cost: cost.map(CostObject::from),
        baseline_cycles: cost.and_then(Cost::in_cycles),
    };
    fields.serialize(serializer)
}

/// An exact cost as one field that is named after its unit, to be flattened into a struct.
pub(crate) mod by_unit {
    use super::{Cost, Unit};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Fields {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycles: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ns: Option<u64>,
    }

    pub(crate) fn serialize<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |unit| (cost.unit == unit).then_some(cost.value);
        let fields = Fields {
            cycles: of(Unit::Cycles),
            ns: of(Unit::Nanoseconds),
        };
        fields.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Cost, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        match (fields.cycles, fields.ns) {
            (Some(value), None) => Ok(Cost::cycles(value)),
            (None, Some(value)) => Ok(Cost::nanoseconds(value, 0)),
            _ => Err(D::Error::custom("a line has either `cycles` or `ns`")),
        }
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self {
                value,
                unit: Unit::Cycles,
                spread_ppm: 0,
            } => value.serialize(serializer),
            cost => CostObject::from(cost).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Bare(u64),
            Object(CostObject),
        }
        match Either::deserialize(deserializer) {
            Ok(Either::Bare(value)) => Ok(Self::cycles(value)),
            Ok(Either::Object(it)) => Ok(Self {
                value: it.value,
                unit: it.unit,
                spread_ppm: it.spread_ppm,
            }),
            Err(_) => Err(D::Error::custom(
                "a cost is a number of cycles or an object of value, unit and spread_ppm",
            )),
        }
    }
}
