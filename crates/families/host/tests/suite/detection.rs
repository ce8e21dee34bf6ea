//! Which target a processor is.

use autocomp_host::detection::Processor;

#[test]
fn the_widest_vectors_decide() {
    let of = |architecture, flags: &str| {
        let key = if architecture == "aarch64" {
            "Features"
        } else {
            "flags"
        };
        Processor::read(architecture, &format!("processor : 0\n{key}\t: {flags}\n")).target()
    };
    assert_eq!(of("x86_64", "sse2 avx2 fma"), Some("host-x86-64-avx2"));
    assert_eq!(
        of("x86_64", "avx2 fma avx512f avx512bw avx512dq avx512vl"),
        Some("host-x86-64-avx512")
    );
    // Vectors of 512 bits without the instructions on bytes are not enough.
    assert_eq!(of("x86_64", "avx2 fma avx512f"), Some("host-x86-64-avx2"));
    assert_eq!(of("x86_64", "sse2"), None);
    assert_eq!(of("aarch64", "fp asimd"), Some("host-aarch64-neon"));
}

#[test]
fn names_are_those_of_the_compiler() {
    let processor = Processor::read("x86_64", "flags : avx512_vnni amx_int8 sse\n");
    assert_eq!(processor.features, ["avx512vnni", "amx-int8"]);
}
