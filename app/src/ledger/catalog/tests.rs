use super::*;
use crate::ledger::contract::{Approval, Carries, Class, KeyFormat, Recover, Risk};

mod broken;

const GATE: &str = include_str!("../../../../server/catalog/gate.toml");
const LEGACY: &str = include_str!("../../../../server/catalog/legacy.toml");

fn load(text: &str, file: &str) -> Catalog {
    Catalog::load(text, file).unwrap_or_else(|mistakes| panic!("{}", said(&mistakes)))
}

fn shipped() -> Catalog {
    load(GATE, "gate.toml").merge(load(LEGACY, "legacy.toml")).unwrap()
}

fn said(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(|mistake| format!("{mistake}\n")).collect()
}

#[test]
fn the_shipped_contracts_have_the_classes_risks_and_holds_they_promise() {
    use Approval::*;
    let expected = [
        ("check_wallet", Class::Read, Risk::Low, Never),
        ("create_group", Class::Keyed, Risk::Low, Never),
        ("create_key", Class::Keyed, Risk::Medium, Never),
        ("delete_group", Class::Keyed, Risk::High, Always),
        ("refund", Class::Keyed, Risk::High, Confirmation),
        ("reverse_credit", Class::Keyed, Risk::High, Always),
        ("revoke_key", Class::Keyed, Risk::Medium, Never),
        ("send_message", Class::Opaque, Risk::Medium, Never),
        ("set_spend_limit", Class::Idempotent, Risk::Medium, Never),
        ("top_up_credit", Class::Keyed, Risk::Medium, HighRisk),
    ];
    let catalog = shipped();
    let found: Vec<_> = catalog.contracts.values().map(|c| (c.name.as_str(), c.class, c.risk, c.approval)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_shipped_contracts_have_the_intents_and_parameters_they_promise() {
    let expected = [
        ("check_wallet", "check-wallet:{customer_id}:{group_id}:{request}", "customer_id group_id"),
        ("create_group", "create-group-for-customer:{customer_id}:{signup_version}", "customer_id name signup_version"),
        (
            "create_key",
            "create-key-for-customer:{customer_id}:{group_id}:{purpose}:{version}",
            "customer_id group_id purpose version",
        ),
        ("delete_group", "delete-group:{group_id}", "customer_id group_id"),
        ("refund", "refund:{action_id}", "action_id amount currency payment_id reason"),
        (
            "reverse_credit",
            "reverse-credit:{transaction_id}:{part}",
            "amount currency customer_id part reason transaction_id",
        ),
        ("revoke_key", "revoke-key:{customer_id}:{key_id}", "customer_id key_id"),
        ("send_message", "send-message:{message_id}", "message_id text to"),
        (
            "set_spend_limit",
            "set-spend-limit:{customer_id}:{group_id}:{policy_version}",
            "currency customer_id group_id policy_version spend_limit",
        ),
        (
            "top_up_credit",
            "top-up:{customer_id}:{payment_id}:{entry}",
            "amount currency customer_id entry group_id payment_id",
        ),
    ];
    for (contract, (name, intent, params)) in shipped().contracts.values().zip(expected) {
        let found: Vec<_> = contract.params.keys().map(String::as_str).collect();
        assert_eq!(
            (contract.name.as_str(), contract.intent.as_str(), found.join(" ").as_str()),
            (name, intent, params)
        );
    }
}

/// Every effect but the opaque one can be found again, and its absence proved.
#[test]
fn every_shipped_effect_has_a_look_up_that_concludes() {
    for contract in shipped().contracts.values().filter(|c| !matches!(c.class, Class::Read | Class::Opaque)) {
        let first = contract.look_ups.first().unwrap();
        assert!(first.carries != Carries::Nothing && first.authority, "{}", contract.name);
        let recover = if contract.name == "refund" { Recover::LookUpFirst } else { Recover::ReplayFirst };
        if contract.class == Class::Keyed {
            assert_eq!(contract.recover(), recover, "{}", contract.name);
        }
        assert!((3..=4).contains(&contract.guidance.len()), "{}", contract.name);
    }
    let catalog = shipped();
    assert!(catalog.contracts["send_message"].look_ups.is_empty());
    assert_eq!(catalog.contracts["refund"].key.as_ref().unwrap().format, KeyFormat::Tool);
}

#[test]
fn names_in_two_catalogs_clash() {
    let clash = load(GATE, "a").merge(load(GATE, "b")).unwrap_err();
    assert_eq!(clash.to_string(), "the upstream \"gate\" is in both catalogs");
    let mistakes = Catalog::load_all(&[("a.toml", LEGACY), ("b.toml", LEGACY)]).unwrap_err();
    assert!(mistakes.iter().all(|m| m.file == "b.toml" && m.rule == "twice"), "{}", said(&mistakes));
    assert_eq!(mistakes.len(), 2);
}

#[test]
fn files_may_refer_to_one_another() {
    let (upstream, contract) = LEGACY.split_once("[contract.refund]").unwrap();
    let contract = format!("[contract.refund]{contract}");
    assert!(Catalog::load_all(&[("u.toml", upstream), ("c.toml", &contract)]).is_ok());
    let mistakes = Catalog::load(&contract, "c.toml").unwrap_err();
    assert_eq!(said(&mistakes), "c.toml:3: unknown-upstream: there is no upstream \"legacy_tool\"\n");
}

#[test]
fn a_digest_changes_with_the_contract_and_survives_its_storage() {
    let catalog = shipped();
    let contract = &catalog.contracts["top_up_credit"];
    let digest = contract_digest(contract);
    assert!(digest.starts_with("contract:v1:") && digest.len() == "contract:v1:".len() + 64);
    let stored = serde_json::to_string(contract).unwrap();
    let read: Contract = serde_json::from_str(&stored).unwrap();
    assert_eq!((&read, contract_digest(&read)), (contract, digest.clone()));
    let mut changed = read;
    changed.guidance.push("One more.".into());
    assert_ne!(contract_digest(&changed), digest);
}
