// The simulated partner's control side: make it misbehave, and count what it did.

async function control(installation, method, path, body) {
  const answer = await fetch(new URL(path, installation.sandbox), {
    method,
    headers: body ? { "content-type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** The partner of `installation`. */
export const partnerOf = (installation) => ({
  effects: () => control(installation, "GET", "/control/effects"),
  /** The partner does it, and its answer is lost. */
  losesAnswer: (path) => control(installation, "PUT", "/control/faults", [fault(path, "after")]),
  /** The request is lost before the partner does anything. */
  losesRequest: (path) => control(installation, "PUT", "/control/faults", [fault(path, "before")]),
});

const fault = (path, at) => ({ match: { method: "POST", path_prefix: path }, at, do: "close", times: 1 });
