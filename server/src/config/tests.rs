use super::*;

fn of(text: &str) -> Result<Config, Vec<String>> {
    with(text, &[])
}

fn with(text: &str, environment: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    read(Some(("a.toml", text)), environment).map_err(|all| all.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn refused(text: &str, wanted: &str) {
    let mistakes = of(text).unwrap_err();
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    assert!(mistakes[0].contains(wanted), "{mistakes:?}");
}

#[test]
fn without_anything_it_is_sqlite_on_loopback() {
    let config = read(None, []).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(config.database, Place::Sqlite("data/ascertain.db".into()));
    assert_eq!(of("[server]\n[log]\n[upstreams]\n").unwrap(), config);
}

#[test]
fn every_value_is_read_from_the_file() {
    let config = of(r#"
        [server]
        listen = "0.0.0.0:80"
        public_url = "https://ops.example"
        [database]
        url = "postgres://u:p@h/d"
        [keys]
        file = "k.toml"
        [catalog]
        files = ["a.toml", "b.toml"]
        [upstreams.gate]
        origin = "https://gate.example"
        [log]
        format = "json"
        level = "debug"
    "#)
    .unwrap();
    assert_eq!(config.listen.to_string(), "0.0.0.0:80");
    assert_eq!(config.public_url.as_deref(), Some("https://ops.example"));
    assert_eq!(config.database, Place::Postgres("postgres://u:p@h/d".into()));
    assert_eq!(config.keys, Some("k.toml".into()));
    assert_eq!(config.catalog, [PathBuf::from("a.toml"), "b.toml".into()]);
    assert_eq!(config.origins["gate"], "https://gate.example");
    assert_eq!(config.log, Log { format: Format::Json, level: "debug".into() });
}

#[test]
fn the_environment_stands_over_the_file() {
    let config = with(
        "[log]\nlevel = \"debug\"\nformat = \"json\"",
        &[
            ("ASCERTAIN_LOG__LEVEL", "warn"),
            ("ASCERTAIN_UPSTREAMS__LEGACY_TOOL__ORIGIN", "http://127.0.0.1:9"),
            ("ASCERTAIN_CATALOG__FILES", "a.toml, b.toml"),
            ("ASCERTAIN_DATABASE__URL", "sqlite:x/y.db"),
            ("ASCERTAIN_BIN", "without a section it is another's"),
            ("PATH", "/bin"),
        ],
    )
    .unwrap();
    assert_eq!(config.log, Log { format: Format::Json, level: "warn".into() });
    assert_eq!(config.origins["legacy_tool"], "http://127.0.0.1:9");
    assert_eq!(config.catalog.len(), 2);
    assert_eq!(config.database, Place::Sqlite("x/y.db".into()));
}

#[test]
fn a_mistake_names_the_place_the_key_and_the_rule() {
    refused("[server]\n\nlisen = \"x\"", "a.toml:3: server.lisen: unknown; there are server.listen");
    refused("[sever]", "a.toml:1: sever: unknown");
    refused("[server]\nlisten = 7", "a.toml:2: server.listen: is a text");
    refused("[server]\nlisten = \"localhost\"", "no address with a port");
    refused("[catalog]\nfiles = \"a\"", "is a list of texts");
    refused("[catalog]\nfiles = [1]", "is a list of texts");
    refused("[upstreams.gate]\norigin = \"http://x/path\"", "a.toml:2: upstreams.gate.origin: ");
    refused("[log]\nformat = \"xml\"", "neither pretty nor json");
    refused("[log]\nlevel = \"a=b=c\"", "is no level");
    let mistakes = with("", &[("ASCERTAIN_SERVER__PORT", "1")]).unwrap_err();
    assert!(mistakes[0].starts_with("environment variable ASCERTAIN_SERVER__PORT: server.port: unknown"));
}

#[test]
fn broken_toml_is_named_by_its_line() {
    let mistakes = of("[server]\nlisten = ").unwrap_err();
    assert!(mistakes[0].starts_with("a.toml:2: "), "{mistakes:?}");
}

#[test]
fn a_database_url_is_never_repeated() {
    let mistakes = of("[database]\nurl = \"mysql://user:secret@h\"").unwrap_err();
    assert!(mistakes[0].contains("database.url") && !mistakes[0].contains("secret"), "{mistakes:?}");
}

#[test]
fn off_loopback_the_public_url_is_needed_and_is_https() {
    refused("[server]\nlisten = \"0.0.0.0:7420\"", "a.toml:2: server.public_url: is needed");
    refused("[server]\npublic_url = \"http://ops.example\"", "plain http off this machine");
    refused("[server]\npublic_url = \"https://ops.example/x\"", "only scheme, host and port");
    assert!(of("[server]\npublic_url = \"http://localhost:7420\"").is_ok());
    assert!(of("[server]\nlisten = \"0.0.0.0:1\"\npublic_url = \"https://ops.example\"").is_ok());
}
