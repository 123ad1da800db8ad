//! Writes every page with believable content into a folder, to be looked at: `cargo run --example look -- DIR`.
//!
//! Copies the style sheets and the script beside them, so that a plain file server (or a browser with file access)
//! shows what a reader would see. Asserts nothing; tests use the same content.

#[path = "look/fixtures.rs"]
mod fixtures;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The workspace's folder.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn main() -> io::Result<()> {
    let dir: PathBuf = env::args().nth(1).unwrap_or_else(|| "target/look".into()).into();
    fs::create_dir_all(&dir)?;
    for folder in ["style", "public"] {
        copy(&Path::new(ROOT).join(folder), &dir.join(folder))?;
    }
    for (name, html) in fixtures::pages() {
        // Rooted addresses become relative, so that the pages open from a folder.
        let html = html.replace("\"/style/", "\"style/").replace("\"/public/", "\"public/");
        fs::write(dir.join(format!("{name}.html")), html)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
