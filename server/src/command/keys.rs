//! `keys new FILE`: the installation's keys, made once.
//!
//! Invariant: an existing file is never overwritten, for what it sealed would be lost.

use std::path::PathBuf;

use anyhow::Context;
use ascertain::keys::Keys;

#[derive(Debug, clap::Subcommand)]
pub enum Asked {
    /// Makes a keys file, readable by its owner only
    New { file: PathBuf },
}

pub fn run(asked: &Asked) -> anyhow::Result<()> {
    let Asked::New { file } = asked;
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    Keys::create(file)?;
    println!("{} made. Keep a copy apart from the database's backups.", file.display());
    println!("Name it in the configuration as keys.file, or in ASCERTAIN_KEYS__FILE.");
    Ok(())
}
