//! What a machine can run.

use autocomp_eval::EvalError;
use autocomp_host::detection::Processor;
use autocomp_host::machine::Machine;

const TEXT: &str = "architecture = \"x86_64\"\nflags = [\"-march=x86-64-v3\"]\n\
    features = [\"avx2\", \"fma\"]\nlanes = 8\nregisters = 16\n\
    [[optional]]\nfeature = \"avxvnni\"\nflags = [\"-mavxvnni\"]\n";

#[test]
fn flags_follow_the_features_that_are_there() {
    let machine = Machine::parse(TEXT).expect("a machine");
    let has = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(machine.flags_for(&has(&["avx2"])), ["-march=x86-64-v3"]);
    assert_eq!(
        machine.flags_for(&has(&["avx2", "avxvnni"])),
        ["-march=x86-64-v3", "-mavxvnni"]
    );
    assert_eq!(machine.missing(&has(&["avx2"])), ["fma"]);
}

#[test]
fn what_cannot_run_here_is_refused_with_the_target_that_fits() {
    let machine = Machine::parse(TEXT).expect("a machine");
    let refused = |architecture, list: &str| {
        let processor = Processor::read(architecture, list);
        machine
            .check("host-x86-64-avx2", &processor)
            .map_err(|error| match error {
                EvalError::Environment { message, remedies } => (message, remedies.join("; ")),
                other => panic!("{other:?}"),
            })
    };
    assert_eq!(refused("x86_64", "flags : avx2 fma\n"), Ok(()));
    let (message, remedy) = refused("aarch64", "Features : fp asimd\n").expect_err("another");
    assert_eq!(
        message,
        "kernels for host-x86-64-avx2 cannot run on this computer (aarch64), which lacks an x86_64 processor"
    );
    assert_eq!(remedy, "choose the target that fits: host-aarch64-neon");
    let (message, remedy) =
        refused("x86_64", "model name : Old\nflags : avx2\n").expect_err("no fma");
    assert!(message.ends_with("(Old), which lacks fma"), "{message}");
    assert_eq!(remedy, "use a computer with AVX2 or Neon");
}

#[test]
fn flags_choose_instructions_and_nothing_else() {
    for flag in [
        "-fplugin=evil.so",
        "-save-temps",
        "-include",
        "evil.h",
        "-B/tmp",
        "@file",
        "-mllvm -load=/tmp/evil.so",
        "-o",
    ] {
        let text = TEXT.replacen("flags = [", &format!("flags = [\"{flag}\", "), 1);
        assert_ne!(text, TEXT);
        let error = Machine::parse(&text).expect_err(flag);
        assert!(error.contains("`flags`") && error.contains(flag), "{error}");
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let error = Machine::parse(&format!("speed = 3\n{TEXT}")).expect_err("a typing error");
    assert!(error.contains("speed"), "{error}");
}
