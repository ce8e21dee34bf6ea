//! Building sources with the real compiler, in its sandbox.

use crate::support;

use autocomp_eval::{EvalError, Surroundings};
use autocomp_toolchain::build::{Build, Builder, Loops, Rules, Source};
use autocomp_toolchain::{CompileTarget, Compiler, find_toolchain};
use std::path::Path;

const START: &str =
    ".section .text.start,\"ax\"\n.globl _start\n_start:\n  call AUTOCOMP_ENTRY\n1: j 1b\n";
const SCRIPT: &str = "ENTRY(_start)\nSECTIONS { . = 0x80000000; .text : { *(.text.start) *(.text*) } \
                      .rodata : { *(.rodata* .srodata*) } .data : { *(.data* .sdata*) } .bss : { *(.bss* .sbss*) } }\n";
const HEADER: &str = "#include <stdint.h>\n#define TWICE(x) ((x) + (x))\n";

fn compiler() -> Compiler {
    Compiler::new(support::toolchain(), CompileTarget::rv64("rv64gc")).expect("for RISC-V")
}

fn builder(cache: &Path) -> Builder {
    let files = [
        ("start.S", START),
        ("link.ld", SCRIPT),
        ("target.h", HEADER),
    ]
    .map(|(n, t)| (n, t.as_bytes()));
    Builder::new(compiler(), files, "solution", cache).expect("the runtime builds")
}

fn source(text: &str) -> Source<'_> {
    Source {
        name: "kernel.c",
        text,
        header: Some("target.h"),
        macros: &[],
        loops: Loops::Plain,
        rules: Rules::Kernel,
    }
}

/// Builds in a cache of its own, so that nothing comes from earlier runs.
fn build(text: &str) -> Build {
    let cache = tempfile::tempdir().expect("a folder");
    builder(cache.path())
        .build(&source(text))
        .expect("the machine allows to build")
}

fn failure(text: &str) -> String {
    match build(text) {
        Build::Failed(diagnostics) | Build::Refused(diagnostics) => {
            serde_json::to_string_pretty(&diagnostics).expect("plain data")
        }
        Build::Built(_) => panic!("{text} builds"),
    }
}

#[test]
fn a_kernel_becomes_a_program() {
    let text = "int8_t x = TWICE(N);\nvoid solution(int8_t *a) { a[0] = x; }\n";
    let cache = tempfile::tempdir().expect("a folder");
    let macros = [("N".to_owned(), "4".to_owned())];
    let source = Source {
        macros: &macros,
        ..source(text)
    };
    let Build::Built(first) = builder(cache.path()).build(&source).expect("works") else {
        panic!("does not build");
    };
    assert_eq!(first.elf[..4], *b"\x7fELF");
    // The same again from the cache, and again from nothing: builds are reproducible.
    for cache in [cache.path(), tempfile::tempdir().expect("a folder").path()] {
        assert_eq!(
            builder(cache).build(&source).expect("works"),
            Build::Built(first.clone())
        );
    }
}

#[test]
fn line_tables_do_not_change_the_code() {
    // The macro __LINE__ is not used, so only line tables can differ.
    let text = "int f(int*a,int n){int s=0;for(int i=0;i<n;i++)s+=a[i];return s;}\nvoid solution(int*a){a[0]=f(a,100);}";
    let shifted = format!("\n\n\n{text}");
    let code = |text: &str| match build(text) {
        Build::Built(program) => program.elf[0x1000..0x1100].to_vec(),
        Build::Failed(found) | Build::Refused(found) => panic!("{found:?}"),
    };
    assert_eq!(code(text), code(&shifted));
}

#[test]
fn compiler_errors_name_the_kernel_line() {
    let text = failure("void solution(int8_t *a) {\n  a[0] = missing;\n  TWICE(;\n}\n");
    assert!(
        text.contains("\"line\": 2") && text.contains("missing"),
        "{text}"
    );
}

#[test]
fn undefined_symbols_name_the_kernel_line() {
    let text = failure("void other(void);\nvoid solution(void) {\n  other();\n}\n");
    assert!(
        text.contains("undefined-symbol") && text.contains("\"line\": 3"),
        "{text}"
    );
}

#[test]
fn files_outside_the_runtime_are_out_of_reach() {
    let outside = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(outside.path(), "int secret_of_the_user;\n").expect("written");
    let path = outside.path().display();
    for text in [
        format!("#include \"{path}\"\nvoid solution(void) {{ secret_of_the_user = 1; }}"),
        format!("__asm__(\".incbin \\\"{path}\\\"\");\nvoid solution(void) {{}}"),
        "#include \"/etc/passwd\"\nvoid solution(void) {}".to_owned(),
        "#include \"../../../../../../../../../etc/hostname\"\nvoid solution(void) {}".to_owned(),
        format!("const char x[] = {{\n#embed \"{path}\"\n}};\nvoid solution(void) {{}}"),
    ] {
        let found = failure(&text);
        assert!(!found.contains("root:"), "{found}");
    }
}

#[test]
fn a_compiler_that_eats_time_or_memory_is_stopped() {
    // The preprocessor doubles a line forty times.
    let mut text = String::from("#define A0 x,\n");
    for level in 1..40 {
        text += &format!("#define A{level} A{0} A{0}\n", level - 1);
    }
    text += "void solution(void) { int x = 0; int y[] = { A39 0 }; }\n";
    let cache = tempfile::tempdir().expect("a folder");
    let build = builder(cache.path())
        .with_cpu_seconds(1)
        .build(&source(&text))
        .expect("works");
    let found = format!("{build:?}");
    assert!(
        found.contains("build-limit") || found.contains("build-error"),
        "{found}"
    );
}

#[test]
fn a_damaged_cache_entry_is_built_again() {
    let cache = tempfile::tempdir().expect("a folder");
    let text = "void solution(void) {}\n";
    let first = builder(cache.path()).build(&source(text)).expect("works");
    let entries = walk(&cache.path().join("builds"));
    // The program, and the object of the runtime's start code.
    assert_eq!(entries.len(), 2);
    for entry in entries {
        let mut bytes = std::fs::read(&entry).expect("an entry");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&entry, bytes).expect("written");
    }
    assert_eq!(
        builder(cache.path()).build(&source(text)).expect("works"),
        first
    );
}

#[test]
fn a_damaged_runtime_is_made_again() {
    let cache = tempfile::tempdir().expect("a folder");
    let text = "#include <stdint.h>\nvoid solution(int8_t *a) { a[0] = TWICE(1); }\n";
    let first = builder(cache.path()).build(&source(text)).expect("works");
    let files = walk(&cache.path().join("runtimes"));
    assert!(files.len() >= 4, "{files:?}");
    let folder = files[0].parent().expect("a folder").to_owned();
    let running = builder(cache.path()).without_cache();
    let unharmed = |what: &str| {
        let started = builder(cache.path()).without_cache();
        for builder in [&running, &started] {
            let build = builder.build(&source(text)).expect("works");
            assert_eq!(build, first, "{what}");
        }
    };
    for file in &files {
        std::fs::write(file, "").expect("written");
        unharmed(&format!("{} emptied", file.display()));
        let mut bytes = std::fs::read(file).expect("whole again");
        *bytes.last_mut().expect("not empty") ^= 4;
        std::fs::write(file, bytes).expect("written");
        unharmed(&format!("{} changed", file.display()));
        std::fs::remove_file(file).expect("removed");
        unharmed(&format!("{} removed", file.display()));
    }
    std::fs::write(folder.join("stdint.h"), "typedef char int8_t[9];").expect("written");
    unharmed("a header of another hand");
    std::fs::remove_dir_all(&folder).expect("removed");
    unharmed("all of it removed");
    std::fs::write(&folder, "").expect_err("is a folder again");
}

#[test]
fn without_the_cache_builds_are_neither_taken_nor_kept() {
    let cache = tempfile::tempdir().expect("a folder");
    let text = "void solution(int8_t *a) { a[0] = 1; }\n";
    let entries = || walk(&cache.path().join("builds"));
    let anew = builder(cache.path()).without_cache();
    let of_runtime = entries();
    let first = anew.build(&source(text)).expect("works");
    assert_eq!(entries(), of_runtime, "nothing is kept");
    builder(cache.path()).build(&source(text)).expect("works");
    let kept: Vec<_> = entries()
        .into_iter()
        .filter(|entry| !of_runtime.contains(entry))
        .collect();
    assert_eq!(kept.len(), 1, "something is kept");
    let used = || {
        std::fs::metadata(&kept[0])
            .expect("an entry")
            .modified()
            .expect("a time")
    };
    std::fs::File::options()
        .write(true)
        .open(&kept[0])
        .expect("an entry")
        .set_modified(std::time::UNIX_EPOCH)
        .expect("set");
    assert_eq!(anew.build(&source(text)).expect("works"), first);
    assert_eq!(used(), std::time::UNIX_EPOCH, "nothing is taken");
    builder(cache.path()).build(&source(text)).expect("works");
    assert_ne!(used(), std::time::UNIX_EPOCH, "it is in use again");
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn an_unusable_cache_folder_is_an_error_with_remedies() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("written");
    let files = [
        ("start.S", START.as_bytes()),
        ("link.ld", SCRIPT.as_bytes()),
    ];
    let error = Builder::new(compiler(), files, "solution", &file).expect_err("no folder");
    assert!(matches!(error, EvalError::Environment { remedies, .. } if !remedies.is_empty()));
}

#[test]
fn no_compiler_and_no_pip_is_an_error_that_lists_what_was_tried() {
    let empty = tempfile::tempdir().expect("a folder");
    let search = Surroundings::installing(empty.path().join("cache"), Some(empty.path().into()));
    let error = find_toolchain(&search, &mut |line| panic!("{line}")).expect_err("nothing there");
    let EvalError::Environment { message, remedies } = error else {
        panic!("{error}");
    };
    let text = format!("{message}\n{}", remedies.join("\n"));
    insta::assert_snapshot!(text.replace(&empty.path().display().to_string(), "[PLACE]"));
}

#[test]
fn a_configured_compiler_that_does_not_work_is_an_error() {
    let search = Surroundings {
        compiler: Some("/nonexistent/zig".into()),
        ..support::search()
    };
    let error = find_toolchain(&search, &mut |_| ()).expect_err("no such file");
    assert!(error.to_string().contains("/nonexistent/zig"), "{error}");
}
