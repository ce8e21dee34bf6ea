//! Which compiler is used, where it comes from, and whether it is what it seems.

use autocomp_eval::{EvalError, Surroundings};
use autocomp_toolchain::{Family, Toolchain, find_toolchain};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the cache folder that all tests share, below the build folder of cargo.
fn shared_cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache")
}

/// Returns how to find the compiler that the tests share, and to install it.
fn shared() -> Surroundings {
    Surroundings::installing(shared_cache(), std::env::var_os("PATH"))
}

fn pinned() -> Toolchain {
    let found = find_toolchain(&shared(), &mut |_| ()).expect("the pinned compiler");
    found.confirm().expect("works");
    found
}

/// A folder of programs, each a script that notes its calls.
struct Programs(TempDir);

impl Programs {
    fn new(programs: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a folder");
        for (name, script) in programs {
            let path = folder.path().join(name);
            let log = folder.path().join("calls");
            let text = format!(
                "#!/bin/sh\necho \"{name} $*\" >> '{}'\n{script}\n",
                log.display()
            );
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
        }
        Self(folder)
    }

    /// Returns the calls so far, one line each.
    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.path().join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn failure(search: &Surroundings) -> (String, Vec<String>) {
    match find_toolchain(search, &mut |_| ()) {
        Err(EvalError::Environment { message, remedies }) => (message, remedies),
        other => panic!("{other:?}"),
    }
}

/// Returns a folder in which all that is used of the pinned compiler lies as in
/// a cache folder, without a copy of it.
fn carried() -> TempDir {
    let program = pinned().program().to_owned();
    let from = program.parent().expect("a folder");
    let folder = TempDir::new().expect("a folder");
    let to = folder.path().join("toolchains/ziglang-0.17.0/ziglang");
    fs::create_dir_all(to.join("lib")).expect("made");
    symlink(&program, to.join("zig")).expect("linked");
    symlink(from.join("lib/include"), to.join("lib/include")).expect("linked");
    folder
}

#[test]
fn what_else_the_machine_has_is_left_alone() {
    let name = pinned().name;
    let all = [
        "zig",
        "clang",
        "ld.lld",
        "riscv64-unknown-elf-gcc",
        "riscv64-linux-gnu-gcc",
        "python3",
    ]
    .map(|name| (name, "exit 1"));
    let programs = Programs::new(&all);
    let search = Surroundings {
        path: Some(programs.0.path().into()),
        ..shared()
    };
    let found = find_toolchain(&search, &mut |line| panic!("{line}")).expect("is installed");
    found.confirm().expect("works");
    assert_eq!((found.family, &found.name), (Family::Zig, &name));
    let recorded = Surroundings {
        recorded_compiler: Some(name.clone()),
        ..search.clone()
    };
    let again = find_toolchain(&recorded, &mut |line| panic!("{line}")).expect("is installed");
    again.confirm().expect("works");
    assert_eq!(again.name, name);
    assert_eq!(programs.calls(), [] as [&str; 0]);
    // Asked for by name, it is tried, and nothing takes its place.
    let named = Surroundings {
        compiler: Some("riscv64-linux-gnu-gcc".into()),
        ..search
    };
    assert!(failure(&named).0.contains("riscv64-linux-gnu-gcc"));
    assert_ne!(programs.calls(), [] as [&str; 0]);
}

#[test]
fn the_compiler_of_a_run_is_not_replaced_by_another() {
    let (message, _) = failure(&Surroundings {
        recorded_compiler: Some("no-such-gcc 1.2.3".into()),
        ..shared()
    });
    assert!(message.contains("no-such-gcc 1.2.3"), "{message}");
}

#[test]
fn without_network_one_look_is_enough() {
    // What pip 23 says of a name that cannot be resolved.
    let pip = "case \"$*\" in *index*)\n\
        echo \"Could not fetch URL https://mirror.example/simple/ziglang/: connection error: HTTPSConnectionPool(host='mirror.example', port=443): Max retries exceeded with url: /simple/ziglang/ (Caused by NewConnectionError('<HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')) - skipping\"\n\
        echo 'ERROR: No matching distribution found for ziglang' >&2; exit 1;;\n\
        esac\nexit 9";
    let programs = Programs::new(&[("python3", pip), ("pip3", pip), ("clang-19", "exit 1")]);
    let cache = TempDir::new().expect("a folder");
    let search = Surroundings {
        path: Some(programs.0.path().into()),
        cache_folder: cache.path().to_owned(),
        ..shared()
    };
    let mut said = Vec::new();
    let error = find_toolchain(&search, &mut |line| said.push(line.to_owned()));
    let Err(EvalError::Environment { message, remedies }) = error else {
        panic!("{error:?}");
    };
    let text = format!("{message}\n{}", remedies.join("\n"));
    insta::assert_snapshot!(text.replace(&cache.path().display().to_string(), "[CACHE]"));
    // Nothing was announced that did not happen, and nothing tried twice.
    assert_eq!(said, [] as [&str; 0]);
    assert_eq!(programs.calls().len(), 1, "{:?}", programs.calls());
}

#[test]
fn a_pip_that_knows_no_look_loads() {
    let pip = "case \"$*\" in *index*) echo 'ERROR: unknown command \"index\"' >&2;; *) echo 'ERROR: no room' >&2;; esac\nexit 1";
    let programs = Programs::new(&[("pip", pip)]);
    let cache = TempDir::new().expect("a folder");
    let search = Surroundings {
        path: Some(programs.0.path().into()),
        cache_folder: cache.path().to_owned(),
        ..shared()
    };
    let (message, remedies) = failure(&search);
    assert!(message.contains("no room"), "{message}");
    assert!(
        remedies
            .iter()
            .any(|remedy| remedy.contains("--toolchain FOLDER"))
    );
    assert!(
        programs.calls()[1].contains("download"),
        "{:?}",
        programs.calls()
    );
}

#[test]
fn a_compiler_is_carried_over_and_a_damaged_one_is_not_used() {
    let carried = carried();
    let cache = TempDir::new().expect("a folder");
    let search = Surroundings {
        carried: Some(carried.path().to_owned()),
        path: None,
        cache_folder: cache.path().to_owned(),
        ..shared()
    };
    let here = find_toolchain(&search, &mut |_| ()).expect("is carried over");
    here.confirm().expect("works");
    assert!(
        here.program()
            .starts_with(cache.path().canonicalize().expect("is there"))
    );
    assert_eq!(here.name, pinned().name);

    let header = |of: &Path| of.join("toolchains/ziglang-0.17.0/ziglang/lib/include/stdint.h");
    let mut bytes = fs::read(header(cache.path())).expect("a header");
    bytes.extend(b"#define int8_t int\n");
    fs::write(header(cache.path()), bytes).expect("written");
    let offline = Surroundings {
        carried: None,
        install: false,
        ..search.clone()
    };
    let (message, _) = failure(&offline);
    assert!(message.contains("damaged"), "{message}");
    let mut said = String::new();
    let replaced = find_toolchain(&search, &mut |line| said += line).expect("is replaced");
    replaced.confirm().expect("works");
    assert!(said.contains("damaged"), "{said}");
    let whole = find_toolchain(&offline, &mut |line| panic!("{line}")).expect("is whole");
    whole.confirm().expect("works");
}

#[test]
fn what_was_carried_over_must_be_the_pinned_compiler() {
    let folder = TempDir::new().expect("a folder");
    let cache = TempDir::new().expect("a folder");
    let with = |carried: &Path| Surroundings {
        carried: Some(carried.to_owned()),
        cache_folder: cache.path().to_owned(),
        ..shared()
    };
    let message = |carried: &Path| failure(&with(carried)).0;
    let nowhere = message(&folder.path().join("nowhere"));
    assert!(nowhere.contains("no such file or folder"), "{nowhere}");
    let empty = message(folder.path());
    assert!(empty.contains("neither a wheel ziglang-0.17.0-"), "{empty}");
    let wheel = folder.path().join("ziglang-0.17.0-py3-none-any.whl");
    fs::write(&wheel, "no archive").expect("written");
    let broken = message(&wheel);
    assert!(broken.contains("zip"), "{broken}");
    fs::write(folder.path().join("zig"), "another").expect("written");
    let other = message(folder.path());
    assert!(
        other.contains("is not the pinned ziglang==0.17.0"),
        "{other}"
    );
    // Nothing of it stays.
    let left: Vec<_> = fs::read_dir(cache.path().join("toolchains"))
        .expect("made")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["lock"]);
}
