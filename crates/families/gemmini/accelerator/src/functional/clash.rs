//! Uses of what the banks of the accumulator share, found by the timing engine.

use super::Functional;
use crate::timing::{Clash, ClashKind};
use autocomp_riscv::{Fault, FaultKind};

impl Functional {
    /// Reports that two commands used at once what banks of the accumulator share: how far
    /// that is wrong depends on cycles, of which function alone knows nothing.
    #[cold]
    pub(crate) fn report_clash(&mut self, clash: Clash) -> Result<(), Fault> {
        let (rule, message) = match clash.kind {
            ClashKind::Adders => (
                "shared-adders",
                "a load adds to one bank of the accumulator in a cycle in which another command \
                 adds to another bank; the banks share one row of adders, so both sums are wrong on hardware",
            ),
            ClashKind::NearAdders => (
                "shared-adders-near",
                "a load adds to one bank of the accumulator within a few cycles of another command \
                 that adds to another bank; if both add in one cycle, both sums are wrong on hardware, \
                 as the banks share one row of adders",
            ),
            ClashKind::Zeros => (
                "zeros-beside-load",
                "a load of zeros (address 0) writes to one bank of the accumulator while a load has rows \
                 for another bank; hardware then writes the zeros to the number of that row, not to their own",
            ),
        };
        let fault = Box::new(Fault {
            kind: FaultKind::IllegalCommand,
            rule,
            pc: clash.pc,
            other_pc: clash.other_pc,
            address: None,
            message: message.to_owned(),
        });
        // What is only near is right if nothing else comes between.
        let severity = match (clash.kind, self.checks.hazards) {
            (ClashKind::NearAdders, super::Severity::Fault) => super::Severity::Warn,
            (_, severity) => severity,
        };
        self.warnings.judge(severity, fault).map_err(|fault| *fault)
    }
}
