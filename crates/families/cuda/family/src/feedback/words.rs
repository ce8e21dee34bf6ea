//! Names of parts and kernels.

/// The part that a launch costs however little it does.
pub(super) const LAUNCH: &str = "launch";

/// Returns the name that a kernel has in its source: its name in PTX says types, too.
pub(crate) fn source_name(mangled: &str) -> &str {
    let Some(rest) = mangled.strip_prefix("_Z") else {
        return mangled;
    };
    // Of a name within others the last one counts.
    let mut rest = rest.trim_start_matches(['N', 'L']);
    let mut name = mangled;
    loop {
        let digits = rest.len()
            - rest
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            return name;
        };
        let Some(next) = rest[digits..].get(..length) else {
            return name;
        };
        name = next;
        rest = rest[digits + length..].trim_start_matches('L');
    }
}
