//! Whole simulated machines: ELF loading, HTIF programs, kernel calls, calibration.
