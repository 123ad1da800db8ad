import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TOP = fileURLToPath(new URL("../..", import.meta.url));

/** Runs shell text with the parts of ./dev loaded. */
function shell(text, { cwd = TOP, env = {} } = {}) {
  const loaded = `set -euo pipefail; TOP='${TOP}'; for part in '${HERE}'*.sh; do . "$part"; done; ${text}`;
  return spawnSync("bash", ["-c", loaded], { cwd, env: { ...process.env, ...env }, encoding: "utf8" });
}

/** A repository of one file, gone after the test. */
function repository(t, file, text) {
  const folder = mkdtempSync(join(tmpdir(), "ascertain-tree-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  spawnSync("git", ["init", "--quiet", folder]);
  writeFileSync(join(folder, file), text);
  return folder;
}

const NO_CHROMIUM = { env: { CHROMIUM: "/nowhere/chromium" } };

test("what is missing and may not be installed is named with its command, all at once", () => {
  const run = shell("may_install() { return 1; }; has_postgres() { return 1; }; need chromium postgres; echo went on", NO_CHROMIUM);
  assert.equal(run.status, 1);
  assert.match(run.stderr, /chromium: apt-get install --no-install-recommends chromium\n/);
  assert.match(run.stderr, /postgres: apt-get install --no-install-recommends postgresql\n/);
  assert.doesNotMatch(run.stdout, /went on/);
});

test("what is missing and may be installed is installed", () => {
  const run = shell("may_install() { :; }; apt_install() { echo installing $*; has_chromium() { :; }; }; need chromium", NO_CHROMIUM);
  assert.equal(run.stdout, "installing chromium\n");
  assert.equal(run.status, 0);
});

test("what apt could not bring is named", () => {
  const run = shell("may_install() { :; }; apt_install() { return 1; }; need chromium", NO_CHROMIUM);
  assert.equal(run.status, 1);
  assert.match(run.stderr, /Missing:\n {2}chromium/);
});

test("nothing is asked of apt when everything is there", () => {
  const run = shell("has_node() { :; }; apt_install() { echo installing; }; need node");
  assert.equal(run.stdout, "");
  assert.equal(run.status, 0);
});

test("a source file over the limit is named, one at the limit is not", (t) => {
  assert.equal(shell("lines_within_limit", { cwd: repository(t, "long.rs", "//\n".repeat(600)) }).status, 0);
  const over = shell("lines_within_limit", { cwd: repository(t, "long.rs", "//\n".repeat(601)) });
  assert.equal(over.status, 1);
  assert.match(over.stdout, /over 600 lines: long.rs/);
});

test("a generated file may be long", (t) => {
  const cwd = repository(t, "long.rs", `// @${"generated"} by a tool\n${"//\n".repeat(700)}`);
  assert.equal(shell("lines_within_limit", { cwd }).status, 0);
});

test("a folder of one machine or a registry's host is found", (t) => {
  for (const text of [`path = "/${"work"}/main"`, `https://registry.${"npmjs"}.org/x`]) {
    const run = shell("names_no_machine", { cwd: repository(t, "notes.md", text) });
    assert.equal(run.status, 1, text);
    assert.match(run.stdout, /notes.md:1:/);
  }
  assert.equal(shell("names_no_machine", { cwd: repository(t, "notes.md", "at work/shop, /workers and /network/") }).status, 0);
});
