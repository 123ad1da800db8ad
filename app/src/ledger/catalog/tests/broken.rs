//! A good catalog, broken once per rule. Invariant: the mistake names the line that was broken, and nothing else is reported.

use super::*;

const GOOD: &str = r#"
[upstream.bank]
title = "Bank"
origin = "https://bank.example:8443"
money = "minor_units"
error = { code = "/code" }
credentials_403 = ["expired"]

[contract.pay]
title = "Pay"
upstream = "bank"
class = "keyed"
risk = "medium"
approval = "high_risk"
customer = "customer_id"
intent = "pay:{customer_id}:{invoice}"
business_reference = "invoice:{invoice}"
summary = "{amount} {currency}"
guidance = ["Wait."]
supersedes = "set"
money = { amount = "amount", currency = "currency" }
limits = { sends = 3 }

[contract.pay.risk_high_from]
parameter = "amount"
currency = "currency"

[contract.pay.risk_high_from.amounts]
USD = "1000.00"

[contract.pay.params]
customer_id = { type = "text", max_length = 40 }
invoice = { type = "text" }
amount = { type = "decimal", currency = "currency", min = "0.01", max = "9000" }
currency = { type = "currency", default = "USD" }
memo = { type = "text", optional = true, sensitive = true }
note = { type = "text", not_business = true }

[contract.pay.request]
method = "POST"
path = "/v1/payments"

[contract.pay.request.body]
amount = "{amount}"
memo = "{memo}"
meta = { ref = "{reference}" }

[contract.pay.key]
header = "X-Key"
window_s = 86400

[contract.pay.receipt]
id = "/id"
secret = "/secret"

[contract.pay.receipt.status]
pointer = "/status"
done = ["paid"]
working = ["new"]

[contract.pay.receipt.echo]
"/amount" = "{amount}"

[contract.pay.receipt.outputs]
payment_id = "/id"

[contract.pay.errors]
refused = [400, 422]
key_in_use = ["busy"]
key_mismatch = ["other"]

[[contract.pay.look_up]]
title = "Payments"
path = "/v1/payments?limit=50"
list = "/data"
matching = { "/meta/ref" = "{reference}" }
carries = "reference"
authority = true

[[contract.pay.look_up]]
title = "Payment"
path = "/v1/payments/{hint}"
verify = { "/meta/ref" = "{reference}" }
carries = "reference"

[[contract.pay.look_up]]
title = "Payment by key"
path = "/v1/by-key/{operation_key}"
carries = "key"

[[contract.pay.look_up]]
title = "Balance"
path = "/v1/balance"

[contract.pay.reversal]
contract = "set"

[contract.pay.reversal.params]
level = "1"
place = "{payment_id}"

[contract.set]
title = "Set"
upstream = "bank"
class = "idempotent"
intent = "set:{place}:{level}"
target = "place:{place}"
summary = "Place {place}"
guidance = ["Look."]
params = { place = { type = "text" }, level = { type = "integer" } }
request = { method = "PUT", path = "/v1/places/{place}", body = { level = "{level}" } }
look_up = [{ title = "Place", path = "/v1/places/{place}", verify = { "/level" = "{level}" }, carries = "target" }]
reversal = { none = "Set it again." }

[contract.see]
title = "See"
upstream = "bank"
class = "read"
intent = "see:{place}:{request}"
summary = "Place {place}"
params = { place = { type = "text" } }
request = { method = "GET", path = "/v1/places/{place}" }

[workflow.open]
title = "Open"
params = { who = { type = "text" }, level = { type = "integer" } }
intent = "open:{who}"

[[workflow.open.step]]
name = "first"
contract = "pay"
state = "first_pending"
params = { customer_id = "{who}", invoice = "{who}", amount = "1.00", note = "x" }

[[workflow.open.step]]
name = "second"
contract = "set"
state = "second_pending"
needs = ["first.payment_id"]
params = { place = "{first.payment_id}", level = "{level}" }
"#;

/// (rule, text as it is, text as it is broken). The broken text's first line is where the mistake is expected.
#[rustfmt::skip]
const BROKEN: &[(&str, &str, &str)] = &[
    ("syntax", "title = \"Bank\"", "title = Bank"),
    ("shape", "[workflow.open]\n", "[webhook.x]\n[workflow.open]\n"),
    ("shape", "supersedes = \"set\"", "superseeds = \"set\""),
    ("shape", "limits = { sends = 3 }", "limits = { sends = -3 }"),
    ("shape", "risk = \"medium\"", "risk = \"tiny\""),
    ("shape", "title = \"See\"\n", ""),
    ("name", "[contract.see]", "[contract.See]"),
    ("name", "[contract.see]\n", "[contract.see]\nname = \"look\"\n"),
    ("name", "payment_id = \"/id\"\n", "payment_id = \"/id\"\nPaymentId = \"/id\"\n"),
    ("name", "memo = { type", "reference = { type = \"text\", optional = true }\nmemo = { type"),
    ("name", "state = \"first_pending\"", "state = \"first pending\""),
    ("title", "title = \"Bank\"", "title = \" \""),
    ("title", "title = \"Balance\"", "title = \"\""),
    ("origin", "origin = \"https://bank.example:8443\"", "origin = \"https://user:pw@bank.example\""),
    ("origin", "origin = \"https://bank.example:8443\"", "origin = \"https://bank.example/v1\""),
    ("origin", "origin = \"https://bank.example:8443\"", "origin = \"https://bank.example?x=1\""),
    ("origin", "origin = \"https://bank.example:8443\"", "origin = \"ftp://bank.example\""),
    ("origin", "origin = \"https://bank.example:8443\"", "origin = \"https://bank.example:99999\""),
    ("origin", "origin = \"https://bank.example:8443\"", "origin = \"https://\""),
    ("auth", "money = \"minor_units\"", "auth = { prefix = \"Bearer \" }"),
    ("header", "header = \"X-Key\"", "header = \"X Key\""),
    ("limit", "money = \"minor_units\"", "send_by_ms = 20000"),
    ("limit", "money = \"minor_units\"", "parallel = 0"),
    ("limit", "limits = { sends = 3 }", "limits = { sends = 0 }"),
    ("error-shape", "error = { code = \"/code\" }\n", ""),
    ("unknown-upstream", "upstream = \"bank\"\nclass = \"read\"", "upstream = \"banc\"\nclass = \"read\""),
    ("customer", "customer = \"customer_id\"", "customer = \"amount\""),
    ("class-key", "class = \"idempotent\"", "class = \"keyed\""),
    ("class-key", "class = \"read\"\n", "class = \"read\"\nkey = { window_s = 86400 }\n"),
    ("class-target", "target = \"place:{place}\"\n", ""),
    ("class-target", "class = \"read\"\n", "class = \"read\"\ntarget = \"x\"\n"),
    ("read-approval", "class = \"read\"\n", "class = \"read\"\napproval = \"always\"\n"),
    ("method", "method = \"POST\"", "method = \"GET\""),
    ("method", "method = \"POST\"", "method = \"SEND\""),
    ("window", "window_s = 86400", "window_s = 13"),
    ("template", "summary = \"{amount} {currency}\"", "summary = \"{amount\""),
    ("placeholder", "summary = \"{amount} {currency}\"", "summary = \"{amont}\""),
    ("placeholder", "intent = \"pay:{customer_id}:{invoice}\"", "intent = \"pay:{customer_id}:{invoice}:{request}\""),
    ("placeholder", "meta = { ref = \"{reference}\" }", "meta = { ref = \"{hint}\" }"),
    ("placeholder", "\"/amount\" = \"{amount}\"", "\"/amount\" = \"{amonut}\""),
    ("placeholder", "path = \"/v1/payments\"", "path = \"/v1/payments/{nobody}\""),
    ("placeholder", "matching = { \"/meta/ref\" = \"{reference}\" }", "matching = { \"/meta/ref\" = \"{reference}{x}\" }"),
    ("intent", "intent = \"pay:{customer_id}:{invoice}\"", "intent = \"pay\""),
    ("intent", "intent = \"pay:{customer_id}:{invoice}\"", "intent = \"pay:{invoice}:{note}\""),
    ("intent", "intent = \"open:{who}\"", "intent = \"open\""),
    ("summary", "summary = \"{amount} {currency}\"", "summary = \"\""),
    ("sensitive", "summary = \"{amount} {currency}\"", "summary = \"{memo}\""),
    ("optional", "business_reference = \"invoice:{invoice}\"", "business_reference = \"{memo}\""),
    ("param", "max_length = 40", "max_length = 0"),
    ("param", "min = \"0.01\"", "min = \"9001\""),
    ("param", "default = \"USD\"", "default = \"usd\""),
    ("param", "optional = true, sensitive = true", "optional = true, default = \"x\", sensitive = true"),
    ("param", "invoice = { type = \"text\" }", "invoice = { type = \"text\", scale = 2 }"),
    ("currency", "invoice = { type = \"text\" }", "fee = { type = \"decimal\", currency = \"invoice\", optional = true }\ninvoice = { type = \"text\" }"),
    ("money", "money = { amount = \"amount\", currency = \"currency\" }", "money = { amount = \"invoice\", currency = \"currency\" }"),
    ("high-from", "USD = \"1000.00\"", "XYZ = \"1000.00\""),
    ("high-from", "USD = \"1000.00\"", "JPY = \"1000.50\""),
    ("high-from", "USD = \"1000.00\"", "USD = \"0\""),
    ("approval", "class = \"idempotent\"\n", "class = \"idempotent\"\nrisk = \"low\"\napproval = \"high_risk\"\n"),
    ("path", "path = \"/v1/payments\"", "path = \"v1/payments\""),
    ("path", "path = \"/v1/payments\"", "path = \"/v1/../payments\""),
    ("path", "path = \"/v1/payments\"", "path = \"/v1/pay ments\""),
    ("pointer", "id = \"/id\"\nsecret", "id = \"id\"\nsecret"),
    ("pointer", "error = { code = \"/code\" }", "error = { code = \"/co~2de\" }"),
    ("status", "working = [\"new\"]", "working = [\"paid\"]"),
    ("status", "done = [\"paid\"]", "done = []"),
    ("secret", "secret = \"/secret\"", "secret = \"/id\""),
    ("refused", "refused = [400, 422]", "refused = [400, 409]"),
    ("refused", "refused = [400, 422]", "refused = [400, 500]"),
    ("error-code", "key_mismatch = [\"other\"]", "key_mismatch = [\"busy\"]"),
    ("look-up", "matching = { \"/meta/ref\" = \"{reference}\" }", "matching = { \"/amount\" = \"{amount}\" }"),
    ("look-up", "verify = { \"/meta/ref\" = \"{reference}\" }", "verify = { \"/amount\" = \"{amount}\" }"),
    ("look-up", "path = \"/v1/by-key/{operation_key}\"", "path = \"/v1/by-key/{amount}\""),
    ("look-up", "path = \"/v1/balance\"\n", "path = \"/v1/balance\"\nauthority = true\n"),
    ("look-up", "path = \"/v1/balance\"\n", "path = \"/v1/balance\"\nmatching = { \"/a\" = \"{amount}\" }\n"),
    ("look-up", "path = \"/v1/balance\"\n", "path = \"/v1/balance\"\ncarries = \"target\"\n"),
    ("reversal", "[contract.pay.reversal]\ncontract = \"set\"", "[contract.pay.reversal]\ncontract = \"unset\""),
    ("reversal", "level = \"1\"", "levle = \"1\""),
    ("reversal", "reversal = { none = \"Set it again.\" }", "reversal = { none = \"\" }"),
    ("reversal", "reversal = { none = \"Set it again.\" }\n", ""),
    ("reversal", "contract = \"set\"\n\n", "contract = \"pay\"\n\n"),
    ("supersedes", "supersedes = \"set\"", "supersedes = \"pay\""),
    ("guidance", "guidance = [\"Look.\"]", "guidance = [\" \"]"),
    ("step", "contract = \"set\"\nstate", "contract = \"sett\"\nstate"),
    ("step", "name = \"second\"\n", "name = \"first\"\n"),
    ("step", "note = \"x\" }\n", "note = \"x\", more = \"x\" }\n"),
    ("step", "params = { place = \"{first.payment_id}\", level = \"{level}\" }", "params = { level = \"{level}\" }"),
    ("output", "needs = [\"first.payment_id\"]", "needs = [\"first.payment\"]"),
    ("output", "needs = [\"first.payment_id\"]", "needs = [\"third.payment_id\"]"),
    ("output", "needs = [\"first.payment_id\"]", "needs = [\"payment_id\"]"),
    ("type", "level = \"{level}\" }\n", "level = \"{who}\" }\n"),
    ("order", SECOND, BEFORE_THIRD),
    ("cycle", "state = \"first_pending\"\n", "state = \"first_pending\"\nneeds = [\"second.x\"]\n"),
    ("cycle", "state = \"first_pending\"\n", "state = \"first_pending\"\nneeds = [\"first.payment_id\"]\n"),
];

const SECOND: &str = "[[workflow.open.step]]\nname = \"second\"\n";
const BEFORE_THIRD: &str = r#"[[workflow.open.step]]
name = "before"
contract = "set"
state = "before_pending"
params = { place = "{third.payment_id}", level = "1" }

[[workflow.open.step]]
name = "third"
contract = "pay"
state = "third_pending"
params = { customer_id = "{who}", invoice = "3", amount = "1.00", note = "x" }

[[workflow.open.step]]
name = "second"
"#;

fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}

/// From the header above the broken text to its end.
fn broken_lines(text: &str, at: usize, length: usize) -> std::ops::RangeInclusive<usize> {
    let first = text[..at + 1].rfind("\n[").map_or(0, |newline| newline + 1);
    line_of(text, first)..=line_of(text, at + length)
}

#[test]
fn the_good_catalog_has_no_mistake() {
    load(GOOD, "good.toml");
}

#[test]
fn each_rule_is_named_at_the_line_that_breaks_it() {
    let mut report = String::new();
    for (rule, good, broken) in BROKEN {
        assert_eq!(GOOD.matches(good).count(), 1, "{good}");
        let text = GOOD.replacen(good, broken, 1);
        let lines = broken_lines(&text, GOOD.find(good).unwrap(), broken.len());
        let Err(mistakes) = Catalog::load(&text, "broken.toml") else { panic!("{rule}: {broken} passes") };
        let found = mistakes.iter().any(|mistake| mistake.rule == *rule && lines.contains(&mistake.line));
        assert!(found, "{rule} at {lines:?} for {broken}:\n{}", said(&mistakes));
        report.push_str(&said(&mistakes));
    }
    insta::assert_snapshot!(report);
}

#[test]
fn all_mistakes_are_told_at_once_in_order() {
    let text = GOOD
        .replace("intent = \"set:{place}:{level}\"", "intent = \"set\"")
        .replace("title = \"Pay\"", "title = \"\"")
        .replace("intent = \"open:{who}\"", "intent = \"open:{whom}\"");
    let rules: Vec<_> = Catalog::load(&text, "x.toml").unwrap_err().iter().map(|m| m.rule).collect();
    assert_eq!(rules, ["title", "intent", "placeholder"]);
    let unreadable = GOOD.replace("risk = \"medium\"", "risk = 1").replace("class = \"read\"", "clasp = 1");
    let rules: Vec<_> = Catalog::load(&unreadable, "x.toml").unwrap_err().iter().map(|m| m.rule).collect();
    assert_eq!(rules, ["shape", "shape"]);
}
