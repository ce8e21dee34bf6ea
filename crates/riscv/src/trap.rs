//! Exceptions on their way to a handler or to the end of the run.

use crate::fault::{AccessKind, Fault, FaultKind};

/// An exception raised by one instruction.
#[derive(Clone, Debug)]
pub(crate) struct Trap {
    /// `mcause` and `mtval` if a handler in the program may deal with it.
    pub handled: Option<(u64, u64)>,
    /// What stops the machine without a handler.
    pub fault: Box<Fault>,
}

impl Trap {
    /// Makes the trap for an instruction that does not exist or is switched off.
    #[cold]
    pub fn illegal(pc: u64, bits: u64, why: &str) -> Self {
        Self::new(
            2,
            bits,
            pc,
            None,
            "illegal-instruction",
            format!("illegal instruction: {why}"),
        )
    }

    /// Makes the trap for `ebreak`.
    #[cold]
    pub fn breakpoint(pc: u64) -> Self {
        let message = "ebreak: the program stopped itself (an assertion or unreachable code)";
        Self::new(3, pc, pc, None, "ebreak", message.to_owned())
    }

    /// Makes the trap for `ecall`.
    #[cold]
    pub fn environment_call(pc: u64) -> Self {
        let message = "ecall: there is no operating system to call";
        Self::new(11, 0, pc, None, "ecall", message.to_owned())
    }

    /// Makes the trap for an address that is no multiple of the access size.
    #[cold]
    pub fn misaligned(pc: u64, address: u64, bytes: u64, kind: AccessKind) -> Self {
        let (cause, what) = match kind {
            AccessKind::Store => (6, "store"),
            _ => (4, "load"),
        };
        let message = format!(
            "misaligned {what} of {bytes} bytes at {address:#x}: the address must be a multiple of {bytes}"
        );
        Self::new(cause, address, pc, Some(address), "misaligned", message)
    }

    /// Wraps what memory or the coprocessor said about an access.
    #[cold]
    pub fn access(fault: Fault, kind: AccessKind) -> Self {
        let cause = match kind {
            AccessKind::Fetch => 1,
            AccessKind::Store => 7,
            _ => 5,
        };
        // Broken rules end the run; only what real hardware reports is for
        // the program to handle.
        let handled =
            (fault.kind == FaultKind::Trap).then(|| (cause, fault.address.unwrap_or_default()));
        Self {
            handled,
            fault: Box::new(fault),
        }
    }

    fn new(
        cause: u64,
        value: u64,
        pc: u64,
        address: Option<u64>,
        rule: &'static str,
        message: String,
    ) -> Self {
        let fault = Fault {
            kind: FaultKind::Trap,
            rule,
            pc,
            other_pc: None,
            address,
            message,
        };
        Self {
            handled: Some((cause, value)),
            fault: Box::new(fault),
        }
    }
}
