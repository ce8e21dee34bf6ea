//! Exceptions on their way to a handler or to the end of the run.

use crate::fault::{AccessKind, Fault, FaultKind};
use std::ops::RangeInclusive;

/// `mcause` of a load, and of a store or an atomic, where no memory is.
const LOAD_ACCESS_FAULT: u64 = 5;
const STORE_ACCESS_FAULT: u64 = 7;

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

    /// Makes the end of a program whose stack pointer has left the stack.
    #[cold]
    pub fn stack_overflow(pc: u64, pointer: u64, stack: &RangeInclusive<u64>) -> Self {
        let bytes = stack.end() - stack.start();
        let place = match stack.start().checked_sub(pointer) {
            Some(below) => format!("{below} bytes below it"),
            None => "above it".to_owned(),
        };
        let fault = Fault {
            kind: FaultKind::OutOfBounds,
            rule: "stack-overflow",
            pc,
            other_pc: None,
            address: None,
            message: format!(
                "the stack overflows: it has {bytes} bytes, and the stack pointer goes {place}"
            ),
        };
        Self {
            handled: None,
            fault: Box::new(fault),
        }
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
            AccessKind::Store => STORE_ACCESS_FAULT,
            _ => LOAD_ACCESS_FAULT,
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

    /// Makes the trap of a load that belongs to an atomic that also stores.
    #[cold]
    pub fn of_store(self) -> Self {
        let handled = self.handled.map(|(cause, value)| match cause {
            LOAD_ACCESS_FAULT => (STORE_ACCESS_FAULT, value),
            _ => (cause, value),
        });
        Self { handled, ..self }
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
