import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { runs, startInstallation } from "./installation.js";

/** A stand-in for the binary: shell text that gets the demo's flags. */
function binary(t, script) {
  const folder = mkdtempSync(join(tmpdir(), "ascertain-binary-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "ascertain");
  writeFileSync(path, `#!/usr/bin/env bash\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const DEMO = `
sleep 300 & partner=$!
echo "starting" >&2
echo "not JSON"
echo '{"console":"http://127.0.0.1:1","server_pid":'$$',"sandbox_pid":'$partner',"people":[{"email":"support2@ascertain.test"}],"flags":"'$*'"}'
wait
`;

test("an installation says where it is, and both of its processes and its folder are gone afterwards", async (t) => {
  const installation = await startInstallation(binary(t, DEMO));
  assert.match(installation.flags, /^demo --fast --json --listen 127\.0\.0\.1:0 --data /);
  const data = installation.flags.split(" ").at(-1);
  assert.equal(installation.person("support2").email, "support2@ascertain.test");
  assert.equal(runs(installation.sandbox_pid), true);
  await installation.stop();
  assert.equal(runs(installation.server_pid), false);
  assert.equal(runs(installation.sandbox_pid), false);
  assert.equal(existsSync(data), false);
});

test("an installation that ignores SIGTERM is ended all the same", { timeout: 60_000 }, async (t) => {
  const stubborn = await startInstallation(binary(t, `trap '' TERM\n${DEMO.replace("wait", "while :; do sleep 1; done")}`));
  await stubborn.stop();
  assert.equal(runs(stubborn.server_pid), false);
});

test("a demo that ends early fails with its last words, and leaves no folder", async (t) => {
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("ascertain-journey-")).length;
  const before = folders();
  await assert.rejects(startInstallation(binary(t, "echo 'the port is taken' >&2; exit 3")), /ended \(3\) before it was ready\nthe port is taken/);
  assert.equal(folders(), before);
});

test("a binary that is not there is named", async () => {
  await assert.rejects(startInstallation("/nowhere/ascertain"), /\/nowhere\/ascertain is not there/);
});
