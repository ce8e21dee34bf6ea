//! A server for one test: on a free port of this machine, in a folder of its own.

use autocomp_queue::Access;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

pub struct Nats {
    child: Option<Child>,
    folder: TempDir,
    port: u16,
}

impl Nats {
    /// Starts a server. One is needed: without it nothing would be tested.
    pub fn start() -> Self {
        Self::with("")
    }

    /// As [`start`](Self::start), with more lines in its configuration.
    pub fn with(configuration: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut nats = Self {
            child: None,
            folder,
            port: 0,
        };
        nats.configure(-1, configuration);
        nats.run();
        nats.port = nats.told_port();
        nats.configure(i32::from(nats.port), configuration);
        nats.wait();
        nats
    }

    fn configure(&self, port: i32, configuration: &str) {
        let folder = self.folder.path().display();
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\nports_file_dir: \"{folder}\"\n\
             jetstream {{ store_dir: \"{folder}/store\" }}\n{configuration}\n"
        );
        fs::write(self.folder.path().join("nats.conf"), text).unwrap();
    }

    fn run(&mut self) {
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let child = Command::new("nats-server")
            .arg("-c")
            .arg(self.folder.path().join("nats.conf"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        let child = child.unwrap_or_else(|error| match error.kind() {
            ErrorKind::NotFound => panic!("no nats-server: apt-get install nats-server"),
            _ => panic!("{error}"),
        });
        self.child = Some(child);
    }

    fn told_port(&mut self) -> u16 {
        let id = self.child.as_ref().unwrap().id();
        let path = self.folder.path().join(format!("nats-server_{id}.ports"));
        loop {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let port = text
                .split(['"', ':', '/'])
                .find_map(|it| it.parse::<u16>().ok());
            if let Some(port) = port {
                return port;
            }
            self.check();
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Panics if the server has ended. One that lives is waited for, however slow the machine.
    fn check(&mut self) {
        let ended = self.child.as_mut().unwrap().try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}: {}", self.log());
    }

    fn wait(&mut self) {
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            self.check();
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn access(&self) -> Access {
        Access::new(&self.address(), None).unwrap()
    }

    /// Has it read another configuration, as people do.
    pub fn reload(&self, configuration: &str) {
        self.configure(i32::from(self.port), configuration);
        let id = self.child.as_ref().unwrap().id().to_string();
        for n in 1..=2 {
            let hung_up = Command::new("kill").args(["-HUP", &id]).status();
            assert!(hung_up.unwrap().success());
            while self.log().matches("Reloaded server configuration").count() < n {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Kills the server as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it again on the same port, with an empty store if that is wanted.
    pub fn restart(&mut self, empty: bool) {
        self.kill();
        if empty {
            fs::remove_dir_all(self.folder.path().join("store")).unwrap();
        }
        self.run();
        self.wait();
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
