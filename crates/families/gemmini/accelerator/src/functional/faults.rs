//! How broken rules are told.

use crate::mnemonic::Mnemonic;
use autocomp_riscv::{Fault, FaultKind};
use serde::{Deserialize, Serialize};

/// What executes. One byte, so that a [`Site`] is handed on in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Actor {
    /// A command.
    Command(Mnemonic),
    /// A custom instruction that is no command.
    Unknown,
    /// A fence.
    Fence,
    /// A load of the core.
    CpuLoad,
    /// A store of the core.
    CpuStore,
}

impl Actor {
    pub fn name(self) -> &'static str {
        match self {
            Self::Command(mnemonic) => mnemonic.name(),
            Self::Unknown => "custom instruction",
            Self::Fence => "fence",
            Self::CpuLoad => "CPU load",
            Self::CpuStore => "CPU store",
        }
    }
}

/// Where a command came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Address of the instruction.
    pub pc: u64,
    /// What executes.
    pub actor: Actor,
    /// The command was made by a loop unit.
    pub in_loop: bool,
}

impl Site {
    /// Makes a fault of `kind` at this site.
    #[cold]
    pub fn fault(&self, kind: FaultKind, rule: &'static str, message: String) -> Box<Fault> {
        let unit = if self.in_loop {
            " (issued by the loop unit)"
        } else {
            ""
        };
        Box::new(Fault {
            kind,
            rule,
            pc: self.pc,
            other_pc: None,
            address: None,
            message: format!("{}{unit}: {message}", self.actor.name()),
        })
    }

    /// Makes a fault about a rule of the accelerator.
    #[cold]
    pub fn illegal(&self, rule: &'static str, message: String) -> Box<Fault> {
        self.fault(FaultKind::IllegalCommand, rule, message)
    }
}

/// What happens when a check finds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The machine stops.
    Fault,
    /// A warning is kept and the machine goes on.
    Warn,
    /// Nothing.
    Off,
}

/// How severe the checks are that go beyond single commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    /// Local memory read before it was written.
    pub uninitialized: Severity,
    /// DRAM accesses that no fence orders.
    pub races: Severity,
    /// Orders of commands that the hardware was seen or is known to get
    /// wrong: an adding load behind an overwriting one, operands that overlap
    /// a result in flight.
    pub hazards: Severity,
}

impl Default for Checks {
    /// Everything stops the machine.
    fn default() -> Self {
        Self {
            uninitialized: Severity::Fault,
            races: Severity::Fault,
            hazards: Severity::Fault,
        }
    }
}

/// Something doubtful that did not stop the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Stable kebab-case name of the rule.
    pub rule: &'static str,
    /// Address of the first instruction that gave rise to it.
    pub pc: u64,
    /// Address of another instruction involved the first time, if any.
    pub other_pc: Option<u64>,
    /// What happened there first.
    pub message: String,
    /// How often it happened at that address.
    pub count: u64,
}

const MAX_WARNINGS: usize = 64;

/// Warnings, one per rule and address, at most 64 of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<Warning>,
}

impl Warnings {
    /// Adds a warning; the text is only made for the first one of its place.
    #[cold]
    pub fn add(&mut self, site: Site, rule: &'static str, message: impl FnOnce() -> String) {
        self.add_about(site, None, rule, message);
    }

    /// The same, and names another instruction involved.
    #[cold]
    pub fn add_about(
        &mut self,
        site: Site,
        other_pc: Option<u64>,
        rule: &'static str,
        message: impl FnOnce() -> String,
    ) {
        self.note(site.pc, rule, || Warning {
            rule,
            pc: site.pc,
            other_pc,
            message: format!("{}: {}", site.actor.name(), message()),
            count: 1,
        });
    }

    /// Turns a fault into what `severity` asks for.
    #[cold]
    pub fn judge(&mut self, severity: Severity, fault: Box<Fault>) -> Result<(), Box<Fault>> {
        match severity {
            Severity::Fault => return Err(fault),
            Severity::Warn => {
                let (pc, rule) = (fault.pc, fault.rule);
                self.note(pc, rule, || Warning {
                    rule,
                    pc,
                    other_pc: fault.other_pc,
                    message: fault.message,
                    count: 1,
                });
            }
            Severity::Off => {}
        }
        Ok(())
    }

    /// Counts a warning that is known, or keeps a new one.
    fn note(&mut self, pc: u64, rule: &'static str, warning: impl FnOnce() -> Warning) {
        let known = self
            .list
            .iter_mut()
            .find(|known| known.pc == pc && known.rule == rule);
        if let Some(known) = known {
            known.count += 1;
        } else if self.list.len() < MAX_WARNINGS {
            self.list.push(warning());
        }
    }

    pub fn list(&self) -> &[Warning] {
        &self.list
    }

    pub fn clear(&mut self) {
        self.list.clear();
    }
}

/// Names the columns in a mask: `columns 4 to 7`.
pub(crate) fn columns(mask: u64) -> String {
    let (first, last) = (mask.trailing_zeros(), 63 - mask.leading_zeros());
    if first == last {
        format!("column {first}")
    } else {
        format!("columns {first} to {last}")
    }
}
