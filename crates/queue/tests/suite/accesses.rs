//! Who may come in, and what is told of secrets: nothing.

use crate::lab::{Lab, configuration, laboratory};
use crate::nats::Nats;
use crate::searching::Search;
use crate::toy::{BEAT, Toy, Working, until};
use autocomp_queue::{Access, Server, heard, prometheus};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

fn file(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn files_and_addresses_that_will_not_do_are_refused_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    file(folder, "open", "SECRET", 0o644);
    file(folder, "shut", "SECRET", 0o600);
    file(folder, "empty", "", 0o600);
    let cases = [
        ("nats://anna:SECRET@host", None, "a secret does not belong"),
        ("http://host", None, "no address of a NATS server"),
        ("nats://host/x?token=SECRET", None, "no address of a NATS"),
        ("nats://host#SECRET", None, "no address of a NATS server"),
        ("nats://", None, "no address of a NATS server"),
        ("nats://host:99999", None, "no address of a NATS server"),
        ("nats://a,nats://b", None, "no address of a NATS server"),
        (
            "host",
            Some("password = \"open\""),
            "others may read it (mode 644)",
        ),
        (
            "host",
            Some("password = \"SECRET\""),
            "`password` names a file that is not there",
        ),
        ("host", Some("password = \"empty\""), "it is empty"),
        ("host", Some("password = SECRET"), "line 1: "),
        (
            "host",
            Some("user = \"anna\"\nSUSECRETSECRETSECRET"),
            "line 2: ",
        ),
        (
            "host",
            Some("SUSECRETSECRETSECRET = \"anna\""),
            "unknown field `…`",
        ),
        ("host", Some("nkey = \".\""), "it is no file"),
        ("host", Some("pass = \"shut\""), "unknown field `pass`"),
        (
            "host",
            Some("password = \"shut\"\nnkey = \"shut\""),
            "more than one of",
        ),
        ("host", Some("certificate = \"shut\""), "go together"),
        (
            "host",
            Some("user = \"a.b\"\npassword = \"shut\""),
            "letters, digits",
        ),
    ];
    for (address, text, expected) in cases {
        let access = text.map(|text| file(folder, "access.toml", text, 0o600));
        let error = Access::new(address, access.as_deref()).unwrap_err();
        let told = format!("{error} {}", error.remedy());
        assert!(told.contains(expected), "{address} {text:?}: {told}");
        assert!(!told.contains("SECRET"), "{told}");
    }
    let written = file(folder, "written.toml", "user = \"anna\"", 0o666);
    let error = Access::new("host", Some(&written)).unwrap_err();
    assert!(error.to_string().contains("others may write it"), "{error}");
    let good = file(
        folder,
        "access.toml",
        "user = \"anna\"\npassword = \"shut\"",
        0o600,
    );
    for address in [
        "tls://[::1]:4222",
        "nats://lab-2.example.org:4222",
        "10.0.0.1",
    ] {
        Access::new(address, None).unwrap();
    }
    let access = Access::new("host", Some(&good)).unwrap();
    assert_eq!((access.address(), access.user()), ("nats://host", "anna"));
    assert!(!format!("{access:?}").contains("SECRET"));
}

#[tokio::test]
async fn users_come_in_with_a_password_or_a_key_and_others_do_not() {
    let key = nkeys::KeyPair::new_user();
    let nats = Nats::with(&format!(
        "authorization {{ users = [ {{ user: anna, password: SECRET }}, {{ nkey: {} }} ] }}",
        key.public_key()
    ));
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    file(folder, "password", "SECRET\n", 0o600);
    file(folder, "wrong", "WRONG", 0o600);
    file(folder, "seed", &key.seed().unwrap(), 0o600);
    let connect = async |text: &str| {
        let path = file(folder, "access.toml", text, 0o600);
        let access = Access::new(&nats.address(), Some(&path)).unwrap();
        Server::connect(&access, "test").await
    };
    assert!(
        connect("user = \"anna\"\npassword = \"password\"")
            .await
            .is_ok()
    );
    assert!(connect("user = \"key\"\nnkey = \"seed\"").await.is_ok());
    let error = connect("user = \"anna\"\npassword = \"wrong\"")
        .await
        .unwrap_err();
    let told = format!("{error} {}", error.remedy());
    assert!(told.contains("--queue-access"), "{told}");
    assert!(!told.contains("WRONG"), "{told}");
    let error = Server::connect(&nats.access(), "test").await.unwrap_err();
    assert!(error.remedy().contains("--queue-access"), "{error}");
}

#[test]
fn a_laboratory_is_written_started_and_lets_each_user_in_under_the_own_name_only() {
    let lab = Lab::new(&[], &["anna", "ben"]);
    assert_eq!(lab.written.len(), 3);
    let configuration = configuration(lab.folder());
    for path in &lab.written {
        let seed = fs::read_to_string(path.with_extension("nk")).unwrap();
        assert!(seed.starts_with("SU") && !configuration.contains(&seed));
        let mode = fs::metadata(path.with_extension("nk"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // What is there is not replaced.
    let again = laboratory(&[], &["anna", "ben"]);
    assert!(again.write(lab.folder()).is_err());
    let toy = Toy::new();
    let worker = Working::with_access(lab.access("worker"), "desk", &toy);
    let search = Search::with_access(&lab.access("anna"), "one", 0);
    // Through the store of texts, too.
    let long = "k".repeat(1 << 20);
    for kernel in ["kernel", long.as_str()] {
        assert_eq!(search.evaluate(kernel).worker.as_deref(), Some("desk"));
    }
    // Ben may not demand anything in Anna's name, nor answer her jobs.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let seed = fs::read_to_string(lab.folder().join("ben.nk")).unwrap();
        let denied = Arc::new(AtomicUsize::new(0));
        let count = denied.clone();
        let ben = async_nats::ConnectOptions::new()
            .nkey(seed)
            .event_callback(move |event| {
                let is_denial = event
                    .to_string()
                    .to_lowercase()
                    .contains("permissions violation");
                count.fetch_add(usize::from(is_denial), Ordering::SeqCst);
                async {}
            })
            .connect(lab.nats.address())
            .await
            .unwrap();
        for subject in [
            "autocomp.demands.anna.q",
            "autocomp.jobs.anna.q.j",
            "autocomp.results.desk.j",
        ] {
            ben.publish(subject, "{}".into()).await.unwrap();
        }
        ben.flush().await.unwrap();
        for _ in 0..200 {
            if denied.load(Ordering::SeqCst) == 3 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("{} of 3 were denied", denied.load(Ordering::SeqCst));
    });
    let told = runtime.block_on(async {
        let server = Server::connect(&lab.access("anna"), "test").await.unwrap();
        prometheus(&heard(&server, 2 * BEAT).await.unwrap())
    });
    let expected = "autocomp_worker_answered_total{worker=\"desk\",machine=\"here\"} 2";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("user=\"anna\""), "{told}");
    drop(worker);
}

/// Whoever has the key of one worker can neither answer in the name of another one nor have it
/// refused.
#[test]
fn a_worker_with_a_key_of_its_own_speaks_for_itself_only() {
    let lab = Lab::new(&["desk", "attic"], &["anna"]);
    assert_eq!(lab.written.len(), 3);
    assert_eq!(lab.access("desk").worker(), Some("desk"));
    let search = Search::with_access(&lab.access("anna"), "one", 0);
    let toy = Toy::new();
    let _desk = Working::with_access(lab.access("desk"), "desk", &toy);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("sleep 2000"));
        until("the job runs", || toy.running.load(Ordering::SeqCst) == 1);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let attic = lab.client("attic").await;
            let jobs = async_nats::jetstream::new(attic.clone());
            let jobs = jobs.get_stream("AUTOCOMP_JOBS").await.unwrap();
            let job = jobs.get_last_raw_message_by_subject("autocomp.jobs.>");
            let job = job
                .await
                .unwrap()
                .subject
                .rsplit('.')
                .next()
                .unwrap()
                .to_owned();
            let lie = "{\"Here\":\"{\\\"worker\\\":\\\"desk\\\"}\"}";
            for name in ["desk", "attic"] {
                let subject = format!("autocomp.results.{name}.{job}");
                attic.publish(subject, lie.into()).await.unwrap();
            }
            attic.flush().await.unwrap();
        });
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("desk"));
    });
    assert!(search.has_told(&["an answer of worker attic"]));
    assert!(!search.has_told(&["an answer of worker desk"]));
}

/// What a user does who can foresee a job that a worker is busy with.
#[test]
fn what_the_server_says_in_place_of_a_worker_is_not_looked_at() {
    let nats = Nats::start();
    let search = Search::with_access(&nats.access(), "one", 0);
    let toy = Toy::new();
    let _desk = Working::with_access(nats.access(), "desk", &toy);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("sleep 2000"));
        until("the job runs", || toy.running.load(Ordering::SeqCst) == 1);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let other = async_nats::connect(nats.address()).await.unwrap();
            let jobs = async_nats::jetstream::new(other.clone());
            let jobs = jobs.get_stream("AUTOCOMP_JOBS").await.unwrap();
            let job = jobs.get_last_raw_message_by_subject("autocomp.jobs.>");
            let subject = job.await.unwrap().subject;
            let job = subject.rsplit('.').next().unwrap();
            let forged = format!("autocomp.results.desk.{job}");
            let info = "$JS.API.STREAM.INFO.AUTOCOMP_JOBS";
            other
                .publish_with_reply(info, forged, "".into())
                .await
                .unwrap();
            other.flush().await.unwrap();
        });
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("desk"));
    });
    assert!(!search.has_told(&["an answer of worker desk"]));
}

/// Who comes first makes the streams.
#[tokio::test]
async fn streams_that_a_user_has_made_for_something_else_are_not_used() {
    for other in [
        "\"max_msgs\":1",
        "\"max_msg_size\":20000",
        "\"allow_rollup_hdrs\":true",
        "\"duplicate_window\":3600000000000",
        "\"republish\":{\"src\":\"autocomp.texts.>\",\"dest\":\"autocomp.results.>\"}",
    ] {
        let nats = Nats::start();
        let client = async_nats::connect(nats.address()).await.unwrap();
        let config = format!(
            "{{\"name\":\"AUTOCOMP_TEXTS\",\"subjects\":[\"autocomp.texts.*.*.*\"],\"retention\":\
             \"limits\",\"storage\":\"file\",\"num_replicas\":1,{other}}}"
        );
        let made = client
            .request("$JS.API.STREAM.CREATE.AUTOCOMP_TEXTS", config.into())
            .await
            .unwrap();
        let made = String::from_utf8_lossy(&made.payload).into_owned();
        assert!(!made.contains("\"error\""), "{made}");
        let server = Server::connect(&nats.access(), "test").await.unwrap();
        let error = server.streams().await.unwrap_err();
        let told = format!("{error}; {}", error.remedy());
        assert!(told.contains("AUTOCOMP_TEXTS with another"), "{told}");
    }
}

/// Certificates of `tests/certificates` are good until 2126.
#[tokio::test]
async fn encrypted_connections_are_made_to_servers_that_are_believed_alone() {
    let certificates = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates");
    let nats = Nats::with(&format!(
        "tls {{ cert_file: \"{certificates}/server.pem\", key_file: \"{certificates}/server.key\" }}"
    ));
    let plain = Nats::start();
    let folder = TempDir::new().unwrap();
    let connect = async |address: String, text: &str| {
        let path = file(folder.path(), "access.toml", text, 0o600);
        let access = Access::new(&address, Some(&path)).unwrap();
        match Server::connect(&access, "test").await {
            Ok(_) => "connected".to_owned(),
            Err(error) => format!("{error}; {}", error.remedy()),
        }
    };
    let believed = format!("authorities = \"{certificates}/authority.pem\"\n");
    let other = format!("authorities = \"{certificates}/other-authority.pem\"\n");
    let named = nats.address().replace("127.0.0.1", "localhost");
    let tls = nats.address().replace("nats://", "tls://");
    let cases = [
        (nats.address(), believed.clone(), "connected"),
        (nats.address(), believed.clone() + "tls = true", "connected"),
        (tls.clone(), believed.clone(), "connected"),
        (named, believed.clone(), "connected"),
        (nats.address(), other, "`authorities`"),
        (tls, String::new(), "`authorities`"),
        (plain.address(), believed + "tls = true", "leave `tls` out"),
    ];
    for (address, text, expected) in cases {
        let told = connect(address.clone(), &text).await;
        assert!(told.contains(expected), "{address} {text:?}: {told}");
    }
}

/// Who asks for what the server does not let it do is told so at once.
#[tokio::test]
async fn a_key_that_is_for_something_else_is_told() {
    let lab = Lab::new(&[], &["anna", "ben"]);
    let mixed = "user = \"ben\"\nnkey = \"anna.nk\"\n";
    for path in [file(lab.folder(), "mixed.toml", mixed, 0o600)] {
        let access = Access::new(&lab.nats.address(), Some(&path)).unwrap();
        let server = Server::connect(&access, "test").await.unwrap();
        let error = server.streams().await.unwrap_err();
        let told = format!("{error}; {}", error.remedy());
        assert!(told.contains("Permissions Violation") || told.contains("permissions violation"));
        assert!(told.contains("whose key it is"), "{told}");
    }
    let error = Working::failure(lab.access("anna"), "desk", &Toy::new()).await;
    assert!(error.contains("the access file of a worker"), "{error}");
    // Names are looked at before anything is written.
    let other = lab.folder().join("other");
    assert!(laboratory(&[], &["../x"]).write(&other).is_err() && !other.exists());
}
