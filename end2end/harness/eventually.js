// Waits for a condition, never for a time: asks again until it holds or the limit is over, then says what it last saw.

import { setTimeout as pause } from "node:timers/promises";

const LIMIT_MS = 30_000;
const BETWEEN_MS = 100;

/** Calls `look` until it returns something true, and returns that. An error it throws counts as "not yet". */
export async function eventually(what, look, { limitMs = LIMIT_MS } = {}) {
  const end = Date.now() + limitMs;
  let seen;
  do {
    try {
      seen = await look();
      if (seen) return seen;
    } catch (error) {
      seen = error;
    }
    await pause(BETWEEN_MS);
  } while (Date.now() < end);
  throw new Error(`not within ${limitMs} ms: ${what}; last seen: ${seen instanceof Error ? seen.message : JSON.stringify(seen)}`);
}
