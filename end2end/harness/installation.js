// A demo of one's own: the real binary, its partner, a fresh data folder and free ports, as `ascertain demo` starts them.
// What the journeys know of it is the one JSON line it prints; they never look into its database.
// Both of its processes are gone when stop() returns.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { eventually } from "./eventually.js";

const BINARY = process.env.ASCERTAIN_BIN ?? fileURLToPath(new URL("../../target/debug/ascertain", import.meta.url));
const READY_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 10_000;
const LOG_LINES_KEPT = 60;

/** Starts a demo and returns what it said of itself, with `person(name)` and `stop()`. */
export async function startInstallation(binary = BINARY) {
  if (!existsSync(binary)) throw new Error(`${binary} is not there: cargo build, or name one in ASCERTAIN_BIN`);
  const folder = mkdtempSync(join(tmpdir(), "ascertain-journey-"));
  const flags = ["demo", "--fast", "--json", "--listen", "127.0.0.1:0", "--data", folder];
  const child = spawn(binary, flags, { stdio: ["ignore", "pipe", "pipe"] });
  const log = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    log.push(line);
    if (log.length > LOG_LINES_KEPT) log.shift();
  });
  try {
    const said = await firstJson(child, log);
    return {
      ...said,
      log,
      person: (name) => personOf(said.people, name),
      stop: () => stop([child.pid, said.server_pid, said.sandbox_pid], folder),
    };
  } catch (error) {
    await stop([child.pid], folder);
    throw error;
  }
}

function firstJson(child, log) {
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`the demo ${why}\n${log.join("\n")}`));
    const timer = setTimeout(() => fail(`printed no JSON line within ${READY_LIMIT_MS} ms`), READY_LIMIT_MS);
    child.once("error", (error) => fail(`did not start: ${error.message}`));
    child.once("close", (code, signal) => fail(`ended (${signal ?? code}) before it was ready`));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith("{")) return;
      clearTimeout(timer);
      resolve(JSON.parse(line));
    });
    child.once("close", () => clearTimeout(timer));
  });
}

/** `support2` is the person whose address begins with `support2@`. */
function personOf(people, name) {
  const person = people.find(({ email }) => email.startsWith(`${name}@`));
  if (!person) throw new Error(`no ${name}@ among ${people.map(({ email }) => email).join(", ")}`);
  return person;
}

/** A process that has ended counts as gone also before its parent has waited for it. */
export function runs(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

async function stop(pids, folder) {
  const known = [...new Set(pids)].filter(Number.isInteger);
  const gone = () => known.every((pid) => !runs(pid));
  for (const pid of known) signal(pid, "SIGTERM");
  try {
    await eventually("the demo ends on SIGTERM", gone, { limitMs: STOP_LIMIT_MS });
  } catch {
    for (const pid of known) signal(pid, "SIGKILL");
    await eventually("the demo ends on SIGKILL", gone, { limitMs: STOP_LIMIT_MS });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
