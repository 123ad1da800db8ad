//! The people and clients of a demo, made once per data folder.
//!
//! Their passwords and tokens stand in a file beside the database, readable by its owner only, so that a restart shows
//! the same. No real installation keeps such a file. Invariant: what the file says is what signs in.

use std::path::Path;

use anyhow::Context;
use app::ledger::roles::Role;
use ascertain::ids;
use ascertain::ledger::clients::{EVERY_CONTRACT, NewClient};
use ascertain::ledger::people::NewPerson;
use ascertain::ledger::{Actor, Ledger};
use ascertain::store::people;
use serde::{Deserialize, Serialize};

pub const TENANTS: [&str; 2] = ["acme", "globex"];
const FILE: &str = "demo.json";
const PASSWORD_BYTES: usize = 8;
/// Address before `@ascertain.test`, name, role.
const PEOPLE: [(&str, &str, Role); 7] = [
    ("support", "Sam Okafor", Role::Support),
    ("support2", "Ines Duarte", Role::Support),
    ("finance", "Fay Lindqvist", Role::Finance),
    ("finance2", "Noor Haddad", Role::Finance),
    ("admin", "Ada Moreau", Role::Admin),
    ("admin2", "Tomas Vrba", Role::Admin),
    ("auditor", "Wen Zhao", Role::Auditor),
];

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Cast {
    pub people: Vec<Member>,
    pub client_token: String,
    pub client2_token: String,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Member {
    pub email: String,
    pub password: String,
    pub role: String,
}

impl Cast {
    /// The file comes first, so that a start which is cut short leaves nobody whose password nobody knows.
    pub async fn find_or_make(data: &Path, ledger: &Ledger) -> anyhow::Result<Cast> {
        let file = data.join(FILE);
        let mut cast = match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is not as a demo writes it; remove the folder", file.display()))?,
            Err(_) => {
                let cast = Cast { people: PEOPLE.map(Member::of).to_vec(), ..Cast::default() };
                cast.keep(&file)?;
                cast
            }
        };
        cast.add_people(ledger).await?;
        let [first, second] = TENANTS;
        if cast.client_token.is_empty() {
            cast.client_token = client(ledger, first, "client").await?;
            cast.keep(&file)?;
        }
        if cast.client2_token.is_empty() {
            cast.client2_token = client(ledger, second, "client2").await?;
            cast.keep(&file)?;
        }
        Ok(cast)
    }

    async fn add_people(&self, ledger: &Ledger) -> anyhow::Result<()> {
        let known = people::list(&mut ledger.db.read().await?).await?;
        for ((_, name, role), member) in PEOPLE.into_iter().zip(&self.people) {
            if known.iter().any(|person| person.email == member.email) {
                continue;
            }
            let new = NewPerson {
                email: member.email.clone(),
                name: name.into(),
                password: member.password.clone(),
                roles: vec![role],
                tenants: None,
            };
            ledger.add_person(new, &demo_itself()).await?;
        }
        Ok(())
    }

    fn keep(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        write_private(file, &text).with_context(|| format!("cannot write {}", file.display()))
    }
}

impl Member {
    fn of((address, _, role): (&str, &str, Role)) -> Member {
        Member {
            email: format!("{address}@ascertain.test"),
            password: ids::random_hex(PASSWORD_BYTES),
            role: role.to_string(),
        }
    }
}

/// Who stands in the audit for the cast and the story.
pub fn demo_itself() -> Actor {
    Actor {
        kind: "command_line",
        id: "demo".into(),
        name: "demo".into(),
        roles: String::new(),
        correlation: "demo".into(),
    }
}

async fn client(ledger: &Ledger, tenant: &str, name: &str) -> anyhow::Result<String> {
    let new = NewClient {
        tenant: tenant.into(),
        name: name.into(),
        contracts: vec![EVERY_CONTRACT.into()],
        scopes: vec!["read".into()],
        owner: None,
        made_by: None,
        ttl: None,
    };
    Ok(ledger.add_client(new, &demo_itself()).await?.1)
}

fn write_private(file: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let draft = file.with_extension("draft");
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    std::fs::rename(&draft, file)
}
