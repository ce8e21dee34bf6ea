//! What vector instructions do to the unit, worked out once for each and each configuration.

use super::config::{VectorCost, VectorTiming};
use super::profile::Cause;
use super::{PARTS, parts, unit_of};
use crate::vector::{VectorClass, VectorUnit};

/// What instructions of a class cost, in parts of a cycle.
#[derive(Clone, Debug, Default)]
struct Cost {
    unit: u8,
    busy: [[u64; 5]; 4],
    per_group: u64,
    per_element: u64,
    per_capacity: u64,
    /// May be less than 0.
    plus: [i64; 5],
    floor: u64,
    masked: [[u64; 5]; 4],
    masked_plus: u64,
    latency: [u64; 5],
    chains: bool,
}

impl Cost {
    fn new(row: &VectorCost, units: &mut Vec<String>) -> Self {
        let of_width = |rows: &[[f64; 5]]| {
            std::array::from_fn(|idx| {
                let row = rows.get(idx).or(rows.first());
                row.map_or([0; 5], |row| row.map(parts))
            })
        };
        let by_group = |row: &[f64]| {
            std::array::from_fn(|idx| {
                let cycles = row.get(idx).or(row.first());
                cycles.map_or(0, |it| parts(*it))
            })
        };
        Self {
            unit: unit_of(&row.unit, units),
            busy: of_width(&row.busy),
            per_group: parts(row.per_group),
            per_element: parts(row.per_element),
            per_capacity: parts(row.per_capacity),
            plus: std::array::from_fn(|idx| {
                let cycles = row.plus.get(idx).or(row.plus.first());
                cycles.map_or(0, |it| (it * PARTS as f64).round() as i64)
            }),
            floor: parts(row.floor),
            masked: of_width(if row.masked.is_empty() {
                &row.busy
            } else {
                &row.masked
            }),
            masked_plus: parts(row.masked_plus),
            latency: by_group(&row.latency),
            chains: row.chains,
        }
    }
}

/// An instruction taken apart, for one configuration of the unit.
#[derive(Clone, Copy)]
struct Work {
    class: VectorClass,
    bits: u32,
    /// Elements, bytes of one, and the base-2 logarithm of the group's registers.
    vl: u64,
    width: u64,
    group: i32,
    fields: u64,
    busy: u64,
}

impl Work {
    fn vd(self) -> usize {
        (self.bits >> 7 & 31) as usize
    }

    fn is_masked(self) -> bool {
        self.bits >> 25 & 1 == 0
    }
}

/// What an instruction does to the unit: the part of its timing that is always the same.
///
/// In two lines of the host's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Plan {
    /// The instruction and the configuration that this is for.
    pub key: u64,
    pub unit: u8,
    /// Groups that are read: their first and last registers, of which so many count.
    pub sources: [[u8; 2]; 4],
    pub source_count: u8,
    /// Registers that are written, from the first on, which is none of them if there are none.
    pub first: u8,
    pub written: u8,
    /// A bit for each register that is written.
    pub written_bits: u64,
    pub is_store: bool,
    pub chains: bool,
    /// Why others wait for its unit.
    pub cause: Cause,
    pub busy: u64,
    /// Of what is needed last, how much later it may come.
    pub passed: [u64; 4],
    /// From the start until the last part of the result is ready.
    pub ready_last: u64,
    /// From the start until the first register of the result is.
    pub ready_first: u64,
    /// By how much a register of the result is later than the one before.
    pub ready_step: u64,
    /// Elements, and bytes of one in all fields.
    pub vl: u32,
    pub element_bytes: u16,
}

/// Stands for a register that nobody reads.
const NOWHERE: u8 = u8::MAX;

/// Plans that are kept; a power of two.
const PLANS: usize = 1024;

/// The plans of instructions that were met, by a hash.
#[derive(Clone, Debug)]
pub(super) struct Plans {
    costs: Vec<Cost>,
    plans: Box<[Plan; PLANS]>,
    datapath_bytes: u64,
}

impl Plans {
    pub fn new(timing: &VectorTiming, units: &mut Vec<String>) -> Self {
        let mut costs = vec![Cost::default(); VectorClass::COUNT];
        for row in &timing.costs {
            let cost = Cost::new(row, units);
            for class in &row.classes {
                costs[*class as usize] = cost.clone();
            }
        }
        Self {
            costs,
            plans: Box::new([Plan::default(); PLANS]),
            datapath_bytes: (timing.datapath_bits as u64 / 8).max(1),
        }
    }

    /// Returns the plan of an instruction for the unit's configuration.
    #[inline(always)]
    pub fn of(&mut self, bits: u32, state: &VectorUnit) -> &Plan {
        let configuration = state.configuration_bits();
        let key = u64::from(bits) << 32 | u64::from(configuration);
        let hash =
            bits.wrapping_mul(0x9e37_79b1) >> 16 ^ configuration.wrapping_mul(0x85eb_ca6b) >> 20;
        let place = hash as usize % PLANS;
        if self.plans[place].key != key {
            self.replace(place, key, state);
        }
        &self.plans[place]
    }

    #[inline(never)]
    fn replace(&mut self, place: usize, key: u64, state: &VectorUnit) {
        self.plans[place] = self.new_plan(key, state);
    }

    fn new_plan(&self, key: u64, state: &VectorUnit) -> Plan {
        let work = self.work((key >> 32) as u32, state);
        let Work { class, group, .. } = work;
        let cost = &self.costs[class as usize];
        let last = match class.is_store() {
            true => work.busy,
            false => work.busy.max(cost.latency[lmul(group)]),
        };
        let wide = (group + class.widening()[0]).clamp(0, 3);
        let count = if class.gives_one_register() {
            1
        } else {
            1usize << wide
        } * work.fields as usize;
        let written = match class.is_store() || class.gives_scalar() {
            true => 0,
            false => count.min(32 - work.vd()) as u8,
        };
        let first = match cost.chains {
            true => cost.latency[lmul(group.min(0))].min(last),
            false => last,
        };
        let step = match written {
            0 | 1 => 0,
            _ => (last - first) / u64::from(written - 1),
        };
        let mut plan = Plan {
            key,
            unit: cost.unit,
            first: match written {
                0 => NOWHERE,
                _ => work.vd() as u8,
            },
            written,
            written_bits: ((1 << written) - 1) << work.vd(),
            is_store: class.is_store(),
            chains: cost.chains,
            cause: match (class.is_access(), class.is_by_element()) {
                (false, _) => Cause::Unit,
                (true, false) => Cause::MemoryPort,
                (true, true) => Cause::Elements,
            },
            busy: work.busy,
            ready_last: last,
            ready_first: last - step * u64::from(written.saturating_sub(1)),
            ready_step: step,
            vl: work.vl as u32,
            element_bytes: (work.width * work.fields) as u16,
            ..Plan::default()
        };
        self.add_sources(work, &mut plan);
        plan
    }

    /// Takes an instruction apart by the unit's configuration.
    fn work(&self, bits: u32, state: &VectorUnit) -> Work {
        let class = VectorClass::of(bits);
        let (mut vl, sew, mut group) = state.configuration();
        let mut width = sew;
        let mut fields = 1;
        if class.is_access() {
            let in_memory = match bits >> 12 & 7 {
                0 => 1,
                5 => 2,
                6 => 4,
                _ => 8u64,
            };
            fields = u64::from(bits >> 29) + 1;
            if !matches!(bits >> 26 & 3, 1 | 3) {
                group += in_memory.ilog2() as i32 - sew.ilog2() as i32;
                width = in_memory;
            }
            match class {
                VectorClass::LoadRegisters | VectorClass::StoreRegisters => {
                    group = fields.ilog2() as i32;
                    vl = state.register_bytes() * fields / width;
                    fields = 1;
                }
                VectorClass::LoadMask | VectorClass::StoreMask => {
                    vl = vl.div_ceil(8);
                    (width, group) = (1, 0);
                }
                _ => {}
            }
        } else if class == VectorClass::MoveRegisters {
            group = (bits >> 15 & 7).count_ones() as i32;
        }
        let group = group.clamp(-3, 3);
        let mut work = Work {
            class,
            bits,
            vl,
            width,
            group,
            fields,
            busy: 0,
        };
        work.busy = self.busy(work, state.register_bytes());
        work
    }

    fn busy(&self, work: Work, register_bytes: u64) -> u64 {
        let cost = &self.costs[work.class as usize];
        let capacity = match work.group {
            group @ 0.. => register_bytes << group,
            group => register_bytes >> -group,
        } / work.width;
        let groups = (work.vl * work.width).div_ceil(self.datapath_bytes);
        let rows = if work.is_masked() {
            &cost.masked
        } else {
            &cost.busy
        };
        let row = &rows[work.width.ilog2() as usize & 3];
        let each = row[lmul(work.group)]
            + cost.per_group * groups
            + cost.per_element * work.vl
            + cost.per_capacity * capacity;
        let mut busy = (each * work.fields).saturating_add_signed(cost.plus[lmul(work.group)]);
        if work.is_masked() {
            busy += cost.masked_plus;
        }
        busy.max(cost.floor)
    }

    /// Adds to a plan what an instruction reads.
    fn add_sources(&self, work: Work, plan: &mut Plan) {
        let Work {
            class, bits, group, ..
        } = work;
        let is_access = class.is_access();
        let funct3 = bits >> 12 & 7;
        let [_, second, first] = class.widening().map(|wider| group + wider);
        let one = class.takes_one_register();
        let chains = plan.chains;
        let mut need = |register: u32, group: i32| {
            let idx = usize::from(plan.source_count);
            if idx >= plan.sources.len() {
                return;
            }
            let register = register & 31;
            let count = if one { 1 } else { 1u32 << group.clamp(0, 3) };
            let last = (register + count - 1).min(31);
            plan.sources[idx] = [register as u8, last as u8];
            // What is needed last may come last.
            if chains {
                plan.passed[idx] = work.busy * u64::from(count - 1) / u64::from(count);
            }
            plan.source_count += 1;
        };
        let vd = bits >> 7 & 31;
        let reads_destination = class.is_store()
            || work.is_masked() && !class.gives_one_register() && !is_access
            || matches!(
                class,
                VectorClass::Accumulate
                    | VectorClass::AccumulateNegated
                    | VectorClass::FloatFused
                    | VectorClass::FloatFusedNegated
                    | VectorClass::SlideUp
            )
            || matches!(
                class,
                VectorClass::WidenMultiply | VectorClass::FloatWidenMultiply
            ) && bits >> 26 >= 0x3c;
        if reads_destination && !class.gives_scalar() {
            need(vd, group + class.widening()[0]);
        }
        if is_access {
            if matches!(bits >> 26 & 3, 1 | 3) {
                need(bits >> 20, group);
            }
        } else {
            let has_second = !matches!(class, VectorClass::FromScalar | VectorClass::Id)
                && (class != VectorClass::Merge || work.is_masked());
            if has_second {
                need(bits >> 20, second);
            }
            // A vector as the first source: not where its field chooses what is done.
            let has_first = funct3 <= 2
                && !matches!(
                    class,
                    VectorClass::Extend
                        | VectorClass::FloatConvert
                        | VectorClass::FloatConvertWiden
                        | VectorClass::FloatConvertNarrow
                        | VectorClass::FloatRoot
                        | VectorClass::FloatEstimate
                        | VectorClass::MaskScan
                        | VectorClass::MaskCount
                        | VectorClass::Iota
                        | VectorClass::Id
                        | VectorClass::ToScalar
                        | VectorClass::FloatToScalar
                );
            if has_first {
                need(bits >> 15, first);
            }
        }
        if work.is_masked() || class == VectorClass::Carry {
            need(0, 0);
        }
    }
}

/// Returns the place of a group's size in a row of costs.
fn lmul(group: i32) -> usize {
    (group + 1).clamp(0, 4) as usize
}
