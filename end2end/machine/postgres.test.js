import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const DEV = fileURLToPath(new URL("../../dev", import.meta.url));
const LIMIT = { timeout: 120_000 };

/** A `./dev pg` with a temporary folder of its own, so that what it leaves behind can be seen. */
async function started(t, { cwd = "/", env = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "ascertain-pg-test-"));
  chmodSync(folder, 0o1777);
  const child = spawn(DEV, ["pg"], { cwd, env: { ...process.env, TMPDIR: folder, ...env }, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const lines = createInterface({ input: child.stdout });
  const [url] = await Promise.race([once(lines, "line"), ended.then(() => assert.fail("./dev pg ended before it printed a URL"))]);
  return { url: new URL(url), folder, child, ended };
}

/** Says whether anything listens there. */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

test("a PostgreSQL of our own listens on loopback and is gone without a trace afterwards", LIMIT, async (t) => {
  const { url, folder, child, ended } = await started(t);
  assert.equal(url.hostname, "127.0.0.1");
  assert.equal(await answers(Number(url.port)), true);
  child.kill("SIGTERM");
  const [code] = await ended;
  assert.equal(code, 143);
  assert.equal(await answers(Number(url.port)), false);
  assert.deepEqual(readdirSync(folder), []);
});

test("it is found without being on PATH", LIMIT, async (t) => {
  const { url } = await started(t, { env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } });
  assert.equal(await answers(Number(url.port)), true);
});

test("two at once do not meet, and one ends without the other", LIMIT, async (t) => {
  const [one, two] = await Promise.all([started(t), started(t)]);
  assert.notEqual(one.url.port, two.url.port);
  one.child.kill("SIGINT");
  await one.ended;
  assert.equal(await answers(Number(one.url.port)), false);
  assert.equal(await answers(Number(two.url.port)), true);
});
