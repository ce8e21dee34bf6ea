//! What a sandboxed child can and cannot do, tried with a shell.

use autocomp_sandbox::{
    Exit, Limits, ProcessRule, SandboxError, SandboxPolicy, SandboxReport, run, run_while,
};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// A policy under which a shell runs and sees only `folder` beside the system.
fn policy(folder: &Path) -> SandboxPolicy {
    SandboxPolicy {
        working_folder: folder.to_owned(),
        readable: Vec::new(),
        executable: ["/bin", "/usr", "/lib", "/lib64"].map(Into::into).to_vec(),
        writable: vec![folder.to_owned()],
        environment: vec![("GREETING".into(), "hello".into())],
        limits: Limits {
            // Longer than any script takes, however busy the machine.
            wall: Duration::from_secs(3600),
            cpu_seconds: 20,
            address_space_bytes: 1 << 30,
            file_bytes: 1 << 20,
            output_bytes: 1000,
            open_files: 64,
            processes: ProcessRule::Children,
        },
    }
}

fn shell(policy: &SandboxPolicy, script: &str) -> SandboxReport {
    run(policy, Path::new("/bin/bash"), &["-c", script], b"").expect("bash starts")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

#[test]
fn output_exit_code_and_stdin_pass_through() {
    let folder = folder();
    let report = run(
        &policy(folder.path()),
        Path::new("/bin/bash"),
        &["-c", "read line; echo \"got $line\"; echo oops >&2; exit 3"],
        b"a line\n",
    )
    .expect("bash starts");
    assert_eq!(report.exit, Exit::Code(3));
    assert_eq!(report.stdout.text(), "got a line\n");
    assert_eq!(report.stderr.text(), "oops\n");
    assert!(!report.timed_out && !report.succeeded());
}

#[test]
fn a_child_whose_result_nobody_wants_is_killed() {
    let folder = folder();
    let (wanted, wants) = std::io::pipe().expect("a pipe");
    let run_for = |script: &str| {
        let policy = policy(folder.path());
        let args = ["-c", script];
        run_while(
            &policy,
            Path::new("/bin/bash"),
            &args,
            b"",
            Some(wanted.as_fd()),
        )
        .expect("bash starts")
    };
    let report = run_for("exit 3");
    assert_eq!((report.exit, report.unwanted), (Exit::Code(3), false));
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            drop(wants);
        });
        run_for("sleep 3600")
    });
    assert!(report.unwanted && !report.timed_out && !report.succeeded());
}

#[test]
fn files_outside_the_policy_are_out_of_reach() {
    let (inside, outside) = (folder(), folder());
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret").expect("written");
    let script = format!(
        "echo mine > own; cat own; cat {0}; echo overwritten > {0}; ls {1}",
        secret.display(),
        outside.path().display()
    );
    let report = shell(&policy(inside.path()), &script);
    if !report.enforcement.confines_files() {
        // The kernel has no Landlock: nothing was promised and the report says so.
        return;
    }
    assert_eq!(report.stdout.text(), "mine\n");
    assert_eq!(
        std::fs::read_to_string(&secret).expect("still there"),
        "secret"
    );
    assert_eq!(report.stderr.text().matches("Permission denied").count(), 3);
}

#[test]
fn a_readable_folder_can_be_read_and_not_written() {
    let (inside, shared) = (folder(), folder());
    std::fs::write(shared.path().join("header"), "text\n").expect("written");
    let mut policy = policy(inside.path());
    policy.readable.push(shared.path().to_owned());
    let header = shared.path().join("header");
    let report = shell(
        &policy,
        &format!("cat {0}; echo more >> {0}", header.display()),
    );
    if report.enforcement.confines_files() {
        assert_eq!(report.stdout.text(), "text\n");
        assert_eq!(
            std::fs::read_to_string(&header).expect("still there"),
            "text\n"
        );
    }
}

#[test]
fn no_connection_can_be_opened() {
    let folder = folder();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a local port");
    let port = listener.local_addr().expect("an address").port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let plain = std::process::Command::new("/bin/bash")
        .args(["-c", &script])
        .output()
        .expect("bash");
    assert_eq!(plain.stdout, b"connected\n", "the test itself can connect");
    let report = shell(&policy(folder.path()), &script);
    assert!(report.enforcement.seccomp || 4 <= report.enforcement.landlock_abi.unwrap_or(0));
    assert_eq!(report.stdout.text(), "");
    assert_ne!(report.exit, Exit::Code(0));
}

#[test]
fn grandchildren_die_with_the_child_on_timeout() {
    let folder = folder();
    let mut policy = policy(folder.path());
    // One grandchild stays in the session, one tries to leave it.
    let script = "(sleep 9999; echo a > late) & setsid sleep 9999 & echo $! > pid; \
                  (echo $BASHPID > beat; sleep 9999; true) & wait";
    let pid_in = |file: &str| {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        text.strip_suffix('\n').map(str::to_owned)
    };
    let (beat, pid) = with_time_enough(&mut policy, |policy| {
        let report = shell(policy, script);
        assert!(report.timed_out);
        assert_eq!(report.exit, Exit::Signal(9));
        Some((pid_in("beat")?, pid_in("pid")?))
    });
    // Leaving the session does not save a process.
    wait_for_end(&beat);
    wait_for_end(&pid);
}

#[test]
fn processes_left_behind_die_when_the_child_ends() {
    let folder = folder();
    let report = shell(&policy(folder.path()), "sleep 9999 & echo $!");
    assert_eq!(report.exit, Exit::Code(0));
    wait_for_end(report.stdout.text().trim());
}

/// Gives a child that is to be cut off more and more time until it has come to what is
/// asked of it: how long that takes depends on the machine.
fn with_time_enough<T>(
    policy: &mut SandboxPolicy,
    mut attempt: impl FnMut(&SandboxPolicy) -> Option<T>,
) -> T {
    policy.limits.wall = Duration::from_millis(300);
    loop {
        if let Some(result) = attempt(policy) {
            return result;
        }
        policy.limits.wall *= 2;
    }
}

/// Waits for the end of a process that has been killed.
fn wait_for_end(pid: &str) {
    while is_running(pid) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns whether a process exists and is no zombie.
fn is_running(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" Z"))
    })
}

#[test]
fn single_children_start_no_processes() {
    let folder = folder();
    let mut policy = policy(folder.path());
    policy.limits.processes = ProcessRule::Single;
    let report = shell(&policy, "echo before; /bin/true; echo \"status $?\"");
    if report.enforcement.seccomp {
        assert!(report.stdout.text().starts_with("before\n"));
        assert!(
            !report.stdout.text().contains("status 0"),
            "{}",
            report.stdout.text()
        );
    }
}

#[test]
fn output_is_cut_at_the_limit() {
    let folder = folder();
    let report = shell(
        &policy(folder.path()),
        "printf '%500000s' x; printf '%2000s' y >&2",
    );
    for (text, len) in [(&report.stdout, 500_000), (&report.stderr, 2000)] {
        assert_eq!((text.bytes.len(), text.dropped_bytes), (1000, len - 1000));
    }
}

#[test]
fn endless_output_does_not_outlive_the_deadline() {
    let folder = folder();
    let mut policy = policy(folder.path());
    with_time_enough(&mut policy, |policy| {
        let report = shell(
            policy,
            "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        );
        assert!(report.timed_out);
        assert!(report.stdout.bytes.len() <= 1000);
        (0 < report.stdout.dropped_bytes).then_some(())
    });
}

#[test]
fn the_environment_is_the_policy_s() {
    let folder = folder();
    // CARGO_MANIFEST_DIR is set for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let report = run::<&str>(&policy(folder.path()), Path::new("/usr/bin/env"), &[], b"");
    assert_eq!(
        report.expect("env starts").stdout.text(),
        "GREETING=hello\n"
    );
}

/// What this process ignores or holds back is not the child's: the harness ignores
/// `SIGPIPE`, and a starting thread holds all signals for a moment.
#[test]
fn signals_are_as_by_default() {
    let folder = folder();
    let mut policy = policy(folder.path());
    policy.readable.push("/proc".into());
    let status = Path::new("/proc/self/status");
    let report = run(&policy, Path::new("/bin/cat"), &[status], b"").expect("cat starts");
    let text = report.stdout.text();
    for name in ["SigBlk", "SigIgn", "SigCgt"] {
        let line = text.lines().find(|line| line.starts_with(name));
        let mask = line.and_then(|line| line.split_once(':')).expect(name).1;
        let mask = u64::from_str_radix(mask.trim(), 16).expect("hexadecimal");
        // The two behind the first 31 are the C library's own.
        assert_eq!(mask & !(0b11 << 31), 0, "{name}: {mask:x}");
    }
}

#[test]
fn files_and_memory_are_limited() {
    let folder = folder();
    let mut policy = policy(folder.path());
    policy.limits.address_space_bytes = 200 << 20;
    let script = "for i in {1..2000000}; do echo 0123456789abcdef; done > big; echo $?";
    let report = shell(&policy, script);
    let size = std::fs::metadata(folder.path().join("big"))
        .expect("started")
        .len();
    assert!(size <= 1 << 20, "{size}");
    assert_ne!(report.exit, Exit::Code(0));
    let report = shell(&policy, "x=$(printf '%300000000s' x); echo ${#x}");
    assert!(!report.stdout.text().contains("300000000"));
}

#[test]
fn a_missing_program_is_an_error() {
    let folder = folder();
    let error = run::<&str>(
        &policy(folder.path()),
        Path::new("/nonexistent/cc"),
        &[],
        b"",
    )
    .expect_err("nothing to start");
    assert!(error.to_string().contains("/nonexistent/cc"));
}

#[test]
fn what_the_system_refuses_before_the_program_begins_is_told() {
    let folder = folder();
    let mut policy = policy(folder.path());
    policy.working_folder = folder.path().join("missing");
    let error = run::<&str>(&policy, Path::new("/bin/true"), &[], b"").expect_err("no folder");
    let SandboxError::Start { source, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    policy.working_folder = folder.path().to_owned();
    let error = run(&policy, Path::new("/bin/true"), &["a\0b"], b"").expect_err("no text of C");
    assert!(matches!(error, SandboxError::Start { .. }), "{error}");
}
