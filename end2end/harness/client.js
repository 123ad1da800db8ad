// A client of the API, as a partner's software would be: a token and JSON over HTTP.

import { randomUUID } from "node:crypto";

import { eventually } from "./eventually.js";

/** A client of `installation` with that token (`client_token`, `client2_token`). */
export function apiClient(installation, token = installation.client_token) {
  async function ask(method, path, { body, key } = {}) {
    const headers = { authorization: `Bearer ${token}` };
    if (body) headers["content-type"] = "application/json";
    if (key) headers["idempotency-key"] = key;
    const answer = await fetch(new URL(path, installation.console), { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  const operation = (id) => ask("GET", `/v1/operations/${id}`);

  return {
    operation,
    admit: (contract, params, { key = randomUUID(), ...more } = {}) =>
      ask("POST", "/v1/operations", { key, body: { contract, params, ...more } }),
    events: (id) => ask("GET", `/v1/operations/${id}/events`),
    /** Waits until the operation has that status and returns it. */
    reaches: (id, status) =>
      eventually(`operation ${id} is ${status}`, async () => {
        const now = await operation(id);
        if (now.status !== status) throw new Error(`status ${now.status}, reason ${now.reason}`);
        return now;
      }),
  };
}
