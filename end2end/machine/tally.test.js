import assert from "node:assert/strict";
import { test } from "node:test";

import { countRust, readTap, report, tally } from "./tally.js";

const CARGO = `
     Running unittests src/lib.rs (target/debug/deps/ascertain_app-1)

running 3 tests
test ledger::status::tests::a_settled_status_never_moves ... ok
test ledger::value::tests::a_number_keeps_its_spelling ... FAILED
test ledger::key::tests::slow ... ignored, needs an hour

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/ledger.rs (target/debug/deps/ledger-1)

running 4 tests
test a_replayed_key_returns_the_first_answer::sqlite ... ok
test a_replayed_key_returns_the_first_answer::postgres ... ok
test takeover::a_held_operation_is_not_claimed::postgres ... FAILED
test postgres_url_is_hidden ... ok

test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.00s
`;

const NEXTEST = `
────────────
 Nextest run ID 1 with nextest profile: default
    Starting 4 tests across 2 binaries
        PASS [   0.005s] (1/4) ascertain-app ledger::status::tests::a_settled_status_never_moves
        PASS [   0.215s] (2/4) ascertain::ledger a_replayed_key_returns_the_first_answer::sqlite
        LEAK [   0.315s] (3/4) ascertain::ledger a_replayed_key_returns_the_first_answer::postgres
        FAIL [   0.015s] (4/4) ascertain::ledger takeover::a_held_operation_is_not_claimed::postgres
────────────
     Summary [   0.551s] 4 tests run: 3 passed (1 leaky), 1 failed, 2 skipped
        FAIL [   0.015s] (4/4) ascertain::ledger takeover::a_held_operation_is_not_claimed::postgres
error: test run failed
`;

const TAP = `TAP version 13
# Subtest: an unknown outcome is decided on evidence, with scripts
ok 1 - an unknown outcome is decided on evidence, with scripts
  ---
  duration_ms: 1
  ...
not ok 2 - an unknown outcome is decided on evidence, without scripts
ok 3 - later, with scripts # SKIP not yet
# /x/journeys/whole.test.js
ok 4 - /x/journeys/whole.test.js
1..4
`;

test("cargo test's lines are counted by the database in the test's name", () => {
  const counts = countRust(CARGO);
  assert.deepEqual(counts.sqlite, { passed: 1, failed: 0, skipped: 0 });
  assert.deepEqual(counts.postgres, { passed: 1, failed: 1, skipped: 0 });
  assert.deepEqual(counts.neither, { passed: 2, failed: 1, skipped: 1 });
});

test("nextest's lines are counted the same, and a failure shown twice is one", () => {
  const counts = countRust(NEXTEST);
  assert.deepEqual(counts.sqlite, { passed: 1, failed: 0, skipped: 0 });
  assert.deepEqual(counts.postgres, { passed: 1, failed: 1, skipped: 0 });
  assert.deepEqual(counts.neither, { passed: 1, failed: 0, skipped: 2 });
});

test("colours and a line broken by a child's output do not lose a test", () => {
  const counts = countRust(
    "test a::sqlite ... \u001b[32mok\u001b[0m\ntest b ... 2026 INFO listening\nok\ntest result: ok. 2 passed; 0 failed; 0 ignored;",
  );
  assert.equal(counts.sqlite.passed, 1);
  assert.equal(counts.neither.passed, 1);
});

test("a journey is counted, the file it stands in is not", () => {
  assert.deepEqual(readTap(TAP).map(({ ended }) => ended), ["passed", "failed", "skipped"]);
});

test("a file that could not be loaded is a failure", () => {
  assert.deepEqual(readTap("not ok 1 - /x/journeys/whole.test.js\n"), [{ name: "/x/journeys/whole.test.js", ended: "failed" }]);
});

const GREEN = {
  steps: [
    { name: "formatting", ok: true },
    { name: "Rust tests", ok: true },
    { name: "the test machinery", ok: true },
    { name: "browser journeys", ok: true },
  ],
  rust: "test a::sqlite ... ok\ntest a::postgres ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored;",
  machine: "ok 1 - counts\n",
  journeys: "ok 1 - decided, with scripts\nok 2 - decided, without scripts\n",
};

test("a whole run closes on the line that counts everything", () => {
  const result = tally(GREEN);
  assert.deepEqual(result.complaints, []);
  assert.equal(report(result).split("\n").at(-1), "6 passed, 0 failed");
});

test("a run without PostgreSQL fails and says so", () => {
  const result = tally({ ...GREEN, rust: "test a::sqlite ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored;" });
  assert.deepEqual(result.complaints, ["no test ran: Rust, on PostgreSQL"]);
  assert.equal(result.failed, 1);
});

test("a run without journeys fails for both kinds of browser", () => {
  assert.equal(tally({ ...GREEN, journeys: "" }).failed, 2);
});

test("a build that fails is a failure though no test did", () => {
  const steps = GREEN.steps.map((step) => (step.name === "Rust tests" ? { ...step, ok: false } : step));
  const result = tally({ ...GREEN, steps });
  assert.deepEqual(result.complaints, ["ended with an error, though no test failed: Rust tests"]);
  assert.equal(result.failed, 1);
});

test("a check that fails is counted once and named", () => {
  const result = tally({ ...GREEN, steps: [{ name: "formatting", ok: false }, ...GREEN.steps.slice(1)] });
  assert.deepEqual(result.complaints, ["failed: formatting"]);
  assert.equal(report(result).split("\n").at(-1), "5 passed, 1 failed");
});

test("the browser part alone asks for nothing else", () => {
  const result = tally({ ...GREEN, rust: "", machine: "", steps: [GREEN.steps[3]] }, ["browser journeys"]);
  assert.equal(report(result).split("\n").at(-1), "2 passed, 0 failed");
});
