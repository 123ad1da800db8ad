// An opaque request whose outcome nobody knows: a person takes it over, finds out, proposes; another confirms.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { journey } from "../harness/journey.js";
import { follow, formTo, linkTo, open, send, text, unfold } from "../harness/person.js";
import { eventually } from "../harness/eventually.js";

const MESSAGES = "/v1/messages";
const APPROVALS_READ = 50;

// What the pages call their fields, in one place.
const LABEL = {
  reason: /reason|why/i,
  source: /who or what says so/i,
  statement: /the statement itself/i,
  conclusion: /what it says/i,
};

/** A message the partner may or may not have sent, waiting for a person. */
async function admitUnknown(client) {
  const id = randomUUID();
  const params = { to: `${id}@customer.test`, text: "Your limit changes on Monday.", message_id: id };
  const operation = await client.admit("send_message", params);
  return client.reaches(operation.id, "reconciliation_needed");
}

/** From the queue to the operation, with what it says to do read on the way. */
async function openFromQueue(page, id) {
  await open(page, "/queue");
  await follow(page, `/operations/${id}`);
  assert.match(await text(page), /needs a person/i);
  const guidance = page.getByRole("heading", { name: /what to do/i });
  await guidance.waitFor();
  assert.notEqual(await page.locator(".guide li, [aria-label='What to do now'] li").count(), 0, "guidance has steps");
}

async function takeOver(page, id) {
  const form = formTo(page, `/operations/${id}/take-over`);
  await unfold(form);
  const fields = (await form.getByLabel(LABEL.reason).count()) > 0 ? new Map([[LABEL.reason, "The customer is on the phone."]]) : {};
  await send(page, form, fields);
  assert.match(await text(page), /you hold this|held by you/i);
}

/** `conclusion` is the evidence's: executed or not_executed. */
async function attachStatement(page, id, conclusion, statement) {
  const form = formTo(page, `/operations/${id}/evidence`, { label: LABEL.source });
  await unfold(form);
  const fields = new Map([
    [LABEL.source, "Dana Okoye at the partner's support desk"],
    [LABEL.statement, statement],
  ]);
  const select = form.getByRole("combobox", { name: LABEL.conclusion });
  if ((await select.count()) > 0) fields.set(LABEL.conclusion, { choose: conclusion });
  else await form.locator(`input[type=radio][value="${conclusion}"]`).check();
  await send(page, form, fields);
  assert.match(await text(page), /Dana Okoye/);
}

async function decide(page, id, outcome, reason) {
  const form = formTo(page, `/operations/${id}/decide`, { value: `outcome=${outcome}` });
  const ownButton = form.locator(`button[name="outcome"][value="${outcome}"]`);
  const button = (await ownButton.count()) > 0 ? ownButton : undefined;
  await send(page, form, new Map([[LABEL.reason, reason]]), button);
}

/** The list of approvals names each thing it asks about; the one about this operation is opened and read. */
async function openApproval(page, id) {
  await open(page, "/approvals");
  const links = await page.locator('main a[href^="/approvals/"]').evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  for (const href of [...new Set(links)].slice(0, APPROVALS_READ)) {
    await open(page, href);
    if ((await linkTo(page, `/operations/${id}`).count()) > 0) return new URL(page.url()).pathname;
  }
  throw new Error(`no approval about operation ${id} among ${links.length}`);
}

/** Every act is on record, in this order, with who did it. */
async function assertAudited(page, id, people) {
  await open(page, `/operations/${id}`);
  const record = await text(page);
  for (const said of [/taken over/i, /Dana Okoye/, /approved|confirmed/i]) assert.match(record, said);
  await open(page, `/audit?subject=${id}`);
  const rows = await eventually("the audit page has rows", async () => {
    const found = page.locator("main tbody tr");
    return (await found.count()) > 0 && found.allInnerTexts();
  });
  for (const { email } of people) assert.ok(rows.some((row) => row.includes(email)), `${email} in the audit of ${id}`);
}

/** How many messages the partner has really sent. */
const messagesSent = async (partner) => (await partner.effects()).kinds.message.effects;

journey("a message that was sent is found out, proposed and confirmed", async ({ installation, client, partner, enter }) => {
  const before = await messagesSent(partner);
  await partner.losesAnswer(MESSAGES);
  const { id } = await admitUnknown(client);

  const support = await enter("support");
  await openFromQueue(support, id);
  await takeOver(support, id);
  await attachStatement(support, id, "executed", "Delivered, their ticket 4417");
  await decide(support, id, "executed", "The partner confirms the delivery.");
  assert.equal((await client.operation(id)).status, "reconciliation_needed", "a bare statement needs a second person");

  const second = await enter("support2");
  const approval = await openApproval(second, id);
  await send(second, formTo(second, `${approval}/approve`));
  await client.reaches(id, "succeeded");

  await open(second, `/operations/${id}`);
  assert.match(await text(second), /succeeded/i);
  await assertAudited(second, id, [installation.person("support"), installation.person("support2")]);
  assert.equal((await messagesSent(partner)) - before, 1, "one intent, one message");
});

journey("a message that was never sent is closed, and nothing is sent again", async ({ installation, client, partner, enter }) => {
  const before = await messagesSent(partner);
  await partner.losesRequest(MESSAGES);
  const { id } = await admitUnknown(client);

  const support = await enter("support");
  await openFromQueue(support, id);
  await takeOver(support, id);
  await attachStatement(support, id, "not_executed", "No trace of it in their outbox");
  assert.equal(await formTo(support, `/operations/${id}/decide`, { value: "outcome=send_again" }).count(), 0, "opaque is never sent again");
  await decide(support, id, "close", "The partner never received it.");

  const finance = await enter("finance");
  const approval = await openApproval(finance, id);
  await send(finance, formTo(finance, `${approval}/approve`));
  await client.reaches(id, "failed_final");

  await assertAudited(finance, id, [installation.person("support"), installation.person("finance")]);
  assert.equal((await messagesSent(partner)) - before, 0, "no message was sent");
});

journey("who proposed it cannot confirm it", async ({ client, partner, enter }) => {
  await partner.losesAnswer(MESSAGES);
  const { id } = await admitUnknown(client);
  const support = await enter("support");
  await openFromQueue(support, id);
  await takeOver(support, id);
  await attachStatement(support, id, "executed", "Delivered, their ticket 4418");
  await decide(support, id, "executed", "The partner confirms the delivery.");

  const approval = await openApproval(support, id);
  assert.equal(await formTo(support, `${approval}/approve`).locator("button:not([aria-disabled=true]):not([disabled])").count(), 0);
  assert.match(await text(support), /you proposed this/i);
  assert.equal((await client.operation(id)).status, "reconciliation_needed");
});
