// Counts what a run of ./dev found and says it in one table; the last line is "N passed, N failed".
// It reads only what the run noted (steps.tsv, rust.log, *.tap). A kind of test that did not run at all is a failure:
// a run without PostgreSQL or without a browser must never look green.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// The steps that are whole runs of tests, and the kinds each must have counted.
const RUNS = {
  "Rust tests": ["Rust, on SQLite", "Rust, on PostgreSQL", "Rust, without a database"],
  "the test machinery": ["test machinery"],
  "browser journeys": ["browser, with scripts", "browser, without scripts"],
};
const MAY_BE_EMPTY = ["Rust, without a database"];
const PARTS = { browser: ["browser journeys"], machine: ["the test machinery"] };

const COLOUR = /\u001b\[[0-9;]*m/g;
const LIBTEST = /^test (.+?) \.\.\. (ok|FAILED|ignored)\b/;
const LIBTEST_SUM = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/;
const NEXTEST = /^\s*(?:TRY \d+ )?(PASS|LEAK|FAIL|TIMEOUT|ABORT|SIG\w+) \[.*?\] (?:\( *\d+\/\d+\) )?(\S+) (\S+)\s*$/;
const NEXTEST_SUM = /^\s*Summary \[.*\d+ skipped/;
const TAP = /^\s*(not )?ok \d+ - (.*)$/;

const none = () => ({ passed: 0, failed: 0, skipped: 0 });

const databaseOf = (name) => /(?:^|::)(sqlite|postgres)$/.exec(name)?.[1] ?? "neither";

/** Counts by database, from what `cargo test` or `cargo nextest run` printed. */
export function countRust(log) {
  const counts = { sqlite: none(), postgres: none(), neither: none() };
  const whole = none();
  const nextest = new Map();
  for (const line of log.replace(COLOUR, "").split("\n")) {
    const one = LIBTEST.exec(line);
    if (one) counts[databaseOf(one[1])][{ ok: "passed", FAILED: "failed", ignored: "skipped" }[one[2]]] += 1;
    const sum = LIBTEST_SUM.exec(line);
    if (sum) ["passed", "failed", "skipped"].forEach((ended, i) => (whole[ended] += Number(sum[i + 1])));
    const other = NEXTEST.exec(line);
    if (other) nextest.set(`${other[2]} ${other[3]}`, ["PASS", "LEAK"].includes(other[1]) ? "passed" : "failed");
    if (NEXTEST_SUM.test(line)) whole.skipped += Number(/(\d+) skipped/.exec(line)[1]);
  }
  for (const [name, ended] of nextest) {
    counts[databaseOf(name.split(" ")[1])][ended] += 1;
    whole[ended] += 1;
  }
  // libtest's own sums are right even where a test's child wrote into the middle of a line.
  for (const ended of Object.keys(whole)) {
    const named = counts.sqlite[ended] + counts.postgres[ended];
    counts.neither[ended] = Math.max(counts.neither[ended], whole[ended] - named);
  }
  return counts;
}

/** Each test of a TAP stream of node's runner: its name and how it ended. */
export function readTap(tap) {
  const tests = [];
  for (const line of tap.split("\n")) {
    const found = TAP.exec(line);
    if (!found) continue;
    const [name, directive] = found[2].split(/ # (?=SKIP|TODO)/);
    const ended = directive ? "skipped" : found[1] ? "failed" : "passed";
    const isFile = /\.test\.js$/.test(name);
    if (!isFile || ended === "failed") tests.push({ name, ended });
  }
  return tests;
}

const countWhere = (tests, wanted) => {
  const counts = none();
  for (const test of tests) if (wanted(test.name)) counts[test.ended] += 1;
  return counts;
};

/** A row for each kind of test, in the order they are shown. */
export function tally({ steps, rust, machine, journeys }, parts = Object.keys(RUNS)) {
  const browser = readTap(journeys);
  const without = (name) => /without scripts$/.test(name);
  const byDatabase = countRust(rust);
  const counted = {
    "Rust, on SQLite": byDatabase.sqlite,
    "Rust, on PostgreSQL": byDatabase.postgres,
    "Rust, without a database": byDatabase.neither,
    "browser, with scripts": countWhere(browser, (name) => !without(name)),
    "browser, without scripts": countWhere(browser, without),
    "test machinery": countWhere(readTap(machine), () => true),
  };
  const rows = [];
  const complaints = [];
  for (const run of parts) {
    for (const kind of RUNS[run]) {
      rows.push({ kind, ...counted[kind] });
      if (counted[kind].passed + counted[kind].failed === 0 && !MAY_BE_EMPTY.includes(kind)) complaints.push(`no test ran: ${kind}`);
    }
  }
  const checks = none();
  for (const { name, ok } of steps) {
    if (!RUNS[name]) checks[ok ? "passed" : "failed"] += 1;
    if (!RUNS[name] && !ok) complaints.push(`failed: ${name}`);
    const explained = RUNS[name]?.some((kind) => counted[kind].failed > 0 || complaints.includes(`no test ran: ${kind}`));
    if (RUNS[name] && !ok && !explained) complaints.push(`ended with an error, though no test failed: ${name}`);
  }
  if (steps.some(({ name }) => !RUNS[name])) rows.unshift({ kind: "checks", ...checks });
  const sum = (ended) => rows.reduce((total, row) => total + row[ended], 0);
  const beyondRows = complaints.filter((complaint) => !complaint.startsWith("failed: ")).length;
  return { rows, complaints, passed: sum("passed"), failed: sum("failed") + beyondRows };
}

/** The table, the complaints and the closing line. */
export function report({ rows, complaints, passed, failed }) {
  const line = (kind, ...numbers) => `  ${kind.padEnd(26)}${numbers.map((n) => String(n).padStart(8)).join("")}`;
  return [
    line("", "passed", "failed", "skipped"),
    ...rows.map((row) => line(row.kind, row.passed, row.failed, row.skipped)),
    "",
    ...complaints,
    `${passed} passed, ${failed} failed`,
  ].join("\n");
}

const read = (folder, file) => {
  try {
    return readFileSync(join(folder, file), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw error;
  }
};

function main([folder, only, part]) {
  const steps = read(folder, "steps.tsv").split("\n").filter(Boolean).map((line) => line.split("\t"));
  const found = {
    steps: steps.map(([ended, name]) => ({ name, ok: ended === "ok" })),
    rust: read(folder, "rust.log"),
    machine: read(folder, "machine.tap"),
    journeys: read(folder, "journeys.tap"),
  };
  const result = tally(found, only === "--only" ? PARTS[part] : undefined);
  console.log(report(result));
  process.exitCode = result.failed > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
