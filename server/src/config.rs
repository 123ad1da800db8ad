//! The configuration: one TOML file, and the environment over it.
//!
//! Every value can also be set as `ASCERTAIN_SECTION__NAME`. Paths are relative to the working directory. Leaves the
//! catalog's own rules to the catalog. Invariant: what is not known is refused, and a mistake says where it stands, which
//! key it is and which rule it breaks.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use ascertain::connector::Origin;
use ascertain::store::Place;
use tracing_subscriber::EnvFilter;

mod source;

use source::{Setting, Value};

const DEFAULT_FILE: &str = "ascertain.toml";
const DEFAULT_LISTEN: &str = "127.0.0.1:7420";
const DEFAULT_DATABASE: &str = "data/ascertain.db";
const DEFAULT_LEVEL: &str = "info";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub listen: SocketAddr,
    /// None: as it listens, on loopback.
    pub public_url: Option<String>,
    pub database: Place,
    pub keys: Option<PathBuf>,
    /// Empty: the shipped catalog.
    pub catalog: Vec<PathBuf>,
    /// Of upstreams that are elsewhere than the catalog says.
    pub origins: BTreeMap<String, String>,
    pub log: Log,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Pretty,
    Json,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub format: Format,
    /// A level, or `tracing` directives.
    pub level: String,
}

impl Default for Log {
    fn default() -> Self {
        Log { format: Format::Pretty, level: DEFAULT_LEVEL.into() }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: DEFAULT_LISTEN.parse().expect("an address"),
            public_url: None,
            database: Place::Sqlite(DEFAULT_DATABASE.into()),
            keys: None,
            catalog: Vec::new(),
            origins: BTreeMap::new(),
            log: Log::default(),
        }
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub place: String,
    pub key: String,
    pub rule: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.key, self.rule)
    }
}

/// The file that was named, else `ascertain.toml` here, else none; then the environment.
pub fn load(file: Option<&Path>) -> anyhow::Result<Config> {
    let file = file.or_else(|| Some(Path::new(DEFAULT_FILE)).filter(|path| path.exists()));
    let text = match file {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            Some((path, text.with_context(|| format!("cannot read the configuration {}", path.display()))?))
        }
        None => None,
    };
    let text = text.as_ref().map(|(path, text)| (path.display().to_string(), text.as_str()));
    let text = text.as_ref().map(|(name, text)| (name.as_str(), *text));
    read(text, std::env::vars()).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("the configuration has mistakes\n{}", lines.join("\n"))
    })
}

/// From a file's name and text, and an environment.
pub fn read(
    file: Option<(&str, &str)>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Config, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut settings = file.map_or_else(Vec::new, |(name, text)| source::of_file(name, text, &mut mistakes));
    settings.extend(source::of_environment(environment));
    let mut config = Config::default();
    // Where the two that are judged together were set.
    let (mut listen, mut public_url) = (None, None);
    for setting in &settings {
        match setting.key.as_str() {
            "server.listen" => listen = Some(setting),
            "server.public_url" => public_url = Some(setting),
            _ => {}
        }
        if let Err(rule) = apply(&mut config, setting) {
            mistakes.push(setting.mistake(rule));
        }
    }
    if let Err(rule) = check_public_url(&config) {
        let place = public_url.or(listen).map_or("the configuration".to_string(), |setting| setting.place.clone());
        mistakes.push(Mistake { place, key: "server.public_url".into(), rule });
    }
    if mistakes.is_empty() { Ok(config) } else { Err(mistakes) }
}

fn apply(config: &mut Config, setting: &Setting) -> Result<(), String> {
    let parts: Vec<&str> = setting.key.split('.').collect();
    match parts.as_slice() {
        ["server", "listen"] => {
            let text = setting.text()?;
            config.listen = text.parse().map_err(|_| format!("{text:?} is no address with a port: 127.0.0.1:7420"))?;
        }
        ["server", "public_url"] => config.public_url = given(setting.text()?).map(str::to_string),
        ["database", "url"] => config.database = place(setting.text()?)?,
        ["keys", "file"] => config.keys = given(setting.text()?).map(PathBuf::from),
        ["catalog", "files"] => config.catalog = setting.list()?.into_iter().map(PathBuf::from).collect(),
        ["upstreams", name, "origin"] => {
            let text = setting.text()?;
            Origin::parse(text).map_err(|error| format!("{text:?}: {error}"))?;
            config.origins.insert((*name).to_string(), text.to_string());
        }
        ["log", "format"] => {
            config.log.format = match setting.text()? {
                "pretty" => Format::Pretty,
                "json" => Format::Json,
                other => return Err(format!("{other:?} is neither pretty nor json")),
            }
        }
        ["log", "level"] => {
            let text = setting.text()?;
            EnvFilter::try_new(text).map_err(|_| format!("{text:?} is no level: error, warn, info, debug, trace"))?;
            config.log.level = text.to_string();
        }
        _ => return Err(format!("unknown; there are {}", KNOWN.join(", "))),
    }
    Ok(())
}

const KNOWN: [&str; 8] = [
    "server.listen",
    "server.public_url",
    "database.url",
    "keys.file",
    "catalog.files",
    "upstreams.NAME.origin",
    "log.format",
    "log.level",
];

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn place(url: &str) -> Result<Place, String> {
    if url.is_empty() {
        return Ok(Place::Sqlite(DEFAULT_DATABASE.into()));
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Place::Postgres(url.to_string()));
    }
    let path = url.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path));
    // The text may hold a password, so it is not repeated.
    match path.and_then(given) {
        Some(path) => Ok(Place::Sqlite(PathBuf::from(path))),
        None => Err("is neither postgres://… nor sqlite:PATH (empty: SQLite at data/ascertain.db)".into()),
    }
}

/// Browsers drop the session's cookie silently on plain http to another machine.
fn check_public_url(config: &Config) -> Result<(), String> {
    let Some(url) = &config.public_url else {
        return match config.listen.ip().is_loopback() {
            true => Ok(()),
            false => Err(format!("is needed, because {} can be reached from elsewhere", config.listen)),
        };
    };
    let origin = Origin::parse(url).map_err(|error| format!("{url:?}: {error}"))?;
    if !origin.is_https() && !is_loopback_host(origin.host()) {
        return Err(format!("{url:?} is plain http off this machine: put TLS in front and write https://"));
    }
    Ok(())
}

fn is_loopback_host(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Setting {
    fn mistake(&self, rule: String) -> Mistake {
        Mistake { place: self.place.clone(), key: self.key.clone(), rule }
    }

    fn text(&self) -> Result<&str, String> {
        match &self.value {
            Value::Text(text) => Ok(text),
            Value::List(_) | Value::Other => Err("is a text".into()),
        }
    }

    /// From the environment a comma list.
    fn list(&self) -> Result<Vec<String>, String> {
        match &self.value {
            Value::List(list) => Ok(list.clone()),
            Value::Text(text) if self.from_environment => {
                Ok(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_string).collect())
            }
            Value::Text(_) | Value::Other => Err("is a list of texts".into()),
        }
    }
}

#[cfg(test)]
mod tests;
