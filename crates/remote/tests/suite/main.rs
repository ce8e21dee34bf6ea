//! Commands and files here, and on a machine that a script in the place of `ssh` imitates.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use autocomp_eval::EvalError;
use autocomp_remote::{Done, Folder, Host, MOST_OUTPUT, Machine, Manners, Task};

/// Runs the line that is meant for the other machine here.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != "--" ]; do shift; done
test "$2" = "user@board" || { echo "ssh: Could not resolve hostname $2" >&2; exit 255; }
echo "$3" >> "$(dirname "$0")/ssh.log"
exec sh -c "$3"
"#;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("folder");
        let ssh = folder.path().join("ssh");
        std::fs::write(&ssh, SSH).expect("written");
        std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).expect("executable");
        Self { folder }
    }

    fn machine(&self, host: Option<&str>) -> Machine {
        let host = host.map(|name| Host::try_from(name.to_owned()).expect("host"));
        let path = format!("{}:/usr/bin:/bin", self.folder.path().display());
        Machine::new(host.as_ref(), Some(path.as_ref()))
    }

    /// Does the same here and elsewhere.
    fn both(&self, check: impl Fn(&Folder<'_>)) {
        for host in [None, Some("user@board")] {
            let machine = self.machine(host);
            let path = self.folder.path().join("it's $HOME/of one");
            let folder = machine.folder(path.clone()).expect("folder");
            check(&folder);
            drop(folder);
            assert!(!path.exists(), "{host:?}");
        }
    }
}

fn shell(folder: &Folder<'_>, line: &str, seconds: u64) -> Done {
    let arguments = ["-c", line].map(str::to_owned);
    let task = Task {
        program: Path::new("/bin/sh"),
        arguments: &arguments,
        environment: &[("BOARD", "a 'b' $c".to_owned())],
        seconds,
        lock: None,
    };
    folder.run(&task).expect("run")
}

#[test]
fn files_and_commands_are_the_same_here_and_elsewhere() {
    Place::new().both(|folder| {
        let content: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        folder.put("in put", &content).expect("written");
        assert_eq!(folder.get("in put").expect("read"), Some(content));
        assert_eq!(folder.get("nothing").expect("read"), None);
        let done = shell(folder, "pwd; echo \"$BOARD\"; wc -c < 'in put'; exit 7", 60);
        let expected = format!("{}\na 'b' $c\n100000\n", folder.path().display());
        assert_eq!((done.code, &done.stdout), (7, &expected), "{}", done.stderr);
        assert_eq!(done.stderr, "");
    });
}

#[test]
fn commands_are_bounded_in_time_and_output() {
    Place::new().both(|folder| {
        assert_eq!(shell(folder, "sleep 600", 1).code, 124);
        // More than a pipe holds on both streams; what is too much is not kept.
        let both = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2";
        let done = shell(folder, both, 60);
        assert_eq!(done.code, 0);
        assert_eq!(done.stdout.len(), MOST_OUTPUT);
        assert_eq!(done.stderr.len(), MOST_OUTPUT);
    });
}

#[test]
fn tasks_of_one_device_run_one_after_the_other() {
    let place = Place::new();
    let lock = place.folder.path().join("device.lock");
    place.both(|folder| {
        // Fails if it is there twice.
        let line = "mkdir alone && sleep 0.2 && rmdir alone";
        let arguments = ["-c", line].map(str::to_owned);
        let task = Task {
            program: Path::new("/bin/sh"),
            arguments: &arguments,
            environment: &[],
            seconds: 60,
            lock: Some(&lock),
        };
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..3).map(|_| scope.spawn(|| folder.run(&task))).collect();
            for run in runs {
                let done = run.join().expect("joined").expect("run");
                assert_eq!(done.code, 0, "{}", done.stderr);
            }
        });
    });
}

#[test]
fn what_a_candidate_wrote_sees_nothing_of_this_computer() {
    let place = Place::new();
    let secret = place.folder.path().join("secret");
    std::fs::write(&secret, "a key").expect("written");
    let machine = place.machine(None);
    let folder = machine
        .folder(place.folder.path().join("work"))
        .expect("folder");
    let line = format!("cat {}; echo done > result", secret.display());
    let arguments = ["-c".to_owned(), line];
    let task = Task {
        program: Path::new("/bin/sh"),
        arguments: &arguments,
        environment: &[],
        seconds: 60,
        lock: None,
    };
    let done = folder.run_confined(&task, &[]).expect("run");
    assert_eq!(
        folder.get("result").expect("read"),
        Some(b"done\n".to_vec())
    );
    // Where the kernel of the operating system cannot confine files, nothing is promised.
    if Path::new("/sys/kernel/security/landlock").exists() {
        assert!(!done.stdout.contains("a key"), "{}", done.stdout);
    }
}

#[test]
fn a_machine_that_is_not_reached_is_told_with_a_remedy() {
    let place = Place::new();
    let machine = place.machine(Some("user@nowhere"));
    let told = |result: Result<Folder<'_>, EvalError>| match result {
        Err(EvalError::Environment { message, remedies }) => {
            assert_eq!(remedies.len(), 1);
            message
        }
        other => panic!("{other:?}"),
    };
    let message = told(machine.folder(PathBuf::from("/work")));
    assert!(message.contains("Could not resolve hostname"), "{message}");
    let machine = place.machine(Some("user@board"));
    let message = told(machine.folder(PathBuf::from("/dev/null/folder")));
    assert!(message.contains("cannot be made"), "{message}");
    for name in ["", "-oProxyCommand=x"] {
        assert!(Host::try_from(name.to_owned()).is_err());
    }
}

#[test]
fn a_lost_connection_is_made_again_as_often_as_wanted() {
    let place = Place::new();
    // The first two of three connections are lost.
    let losing = r#"test "$2" = "user@board" || exit 255
test $(($(cat "$(dirname "$0")/ssh.log" | wc -l) % 3)) = 2 || { echo lost >> "$(dirname "$0")/ssh.log"; exit 255; }
"#;
    let script = SSH.replacen("done\n", &format!("done\n{losing}"), 1);
    std::fs::write(place.folder.path().join("ssh"), script).expect("written");
    for (attempts, is_reached) in [(3, true), (2, false)] {
        std::fs::write(place.folder.path().join("ssh.log"), "").expect("written");
        let manners = Manners {
            attempts,
            ..Manners::default()
        };
        let machine = place.machine(Some("user@board")).with_manners(manners);
        let folder = machine.folder(place.folder.path().join("work"));
        assert_eq!(folder.is_ok(), is_reached, "{attempts} attempts");
        std::mem::forget(folder);
    }
}
