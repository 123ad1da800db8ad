//! A process of the built program, and waiting for something it does.
//!
//! Invariant: it is killed when its guard is dropped, also by a test that panics.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{Instant, timeout};

/// For one condition; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at a condition.
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// Of a log, when a test fails.
const LAST_LINES: usize = 40;

/// How long a condition is waited for.
pub struct Patience<'a> {
    what: &'a str,
    end: Instant,
}

impl<'a> Patience<'a> {
    pub fn for_condition(what: &'a str) -> Patience<'a> {
        Patience { what, end: Instant::now() + PATIENCE }
    }

    /// Returns when it is time for another look; panics when there have been enough.
    pub async fn next_look(&self) {
        assert!(Instant::now() < self.end, "not within {} s: {}", PATIENCE.as_secs(), self.what);
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Looks until there is something to see.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let patience = Patience::for_condition(what);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        patience.next_look().await;
    }
}

/// The program, without settings of whoever runs the tests.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascertain"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ASCERTAIN_")) {
        command.env_remove(name);
    }
    command
}

/// Runs a verb to its end and gives what it said.
pub async fn said(command: &mut Command) -> String {
    let output = timeout(PATIENCE, command.kill_on_drop(true).output()).await.expect("a verb ends").unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    log: PathBuf,
}

impl Running {
    /// Its log is appended to the file.
    pub fn start(command: &mut Command, log: &Path) -> Running {
        let file = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out, log: log.to_owned() }
    }

    /// The next line of standard output.
    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.out.read_line(&mut line)).await;
        assert!(matches!(read, Ok(Ok(1..))), "it said nothing: {read:?}\n{}", self.log_end());
        line.trim().to_owned()
    }

    pub fn check_alive(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("it ended by itself: {status}\n{}", self.log_end());
        }
    }

    /// SIGKILL: it saves nothing and says goodbye to nobody.
    pub async fn kill(&mut self) {
        self.check_alive();
        self.child.kill().await.unwrap();
    }

    /// SIGTERM, and it ends well.
    pub async fn stop(&mut self) {
        self.check_alive();
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        let status = timeout(PATIENCE, self.child.wait()).await.expect("it stops when told").unwrap();
        assert!(status.success(), "{status}\n{}", self.log_end());
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub fn log_end(&self) -> String {
        log_end(&self.log)
    }
}

pub fn log_end(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}
