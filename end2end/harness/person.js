// What a person does on a page: sign in, read, open a form that is folded away, fill it, send it.
// Forms are found by where they post to, which is fixed; fields by their label, which a person reads.

import assert from "node:assert/strict";

const ACTION_LIMIT_MS = 10_000;

/** Signs in through the form, and is sent on. */
export async function signIn(page, { email, password }) {
  page.setDefaultTimeout(ACTION_LIMIT_MS);
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
}

/** Opens a path, and asserts that it answered. */
export async function open(page, path) {
  const answer = await page.goto(path);
  assert.equal(answer.status(), 200, `GET ${path}`);
}

/** The link to exactly this path, with or without a query (`?tenant=`), fragment left out. */
export const linkTo = (page, path) => page.locator(`main a[href="${path}"], main a[href^="${path}?"]`).first();

/** Follows the link in the page's own content. */
export async function follow(page, path) {
  await linkTo(page, path).click();
  await page.waitForURL((url) => url.pathname === path);
}

/**
 * The form that posts to `action`. With `value` ("outcome=executed") the one that sends that value, by a hidden field
 * or by its button; with `label` the one that has a field so labelled.
 */
export function formTo(page, action, { value, label } = {}) {
  const [name, wanted] = value?.split("=") ?? [];
  const sends = value && `[name="${name}"][value="${wanted}"]`;
  let form = page.locator(`form[action="${action}"], form[action^="${action}?"], form:has(button[formaction="${action}"])`);
  if (sends) form = form.filter({ has: page.locator(sends) });
  if (label) form = form.filter({ has: page.getByLabel(label) });
  return form.first();
}

/** Unfolds every <details> around a thing that is there but not shown. */
export async function unfold(thing) {
  await thing.waitFor({ state: "attached" });
  for (let folded = 0; folded < 5 && !(await thing.isVisible()); folded++) {
    await thing.locator("xpath=ancestor::details[not(@open)]").first().locator("> summary").click();
  }
}

/** Fills the fields (label → text, or label → { choose }) of a form, sends it with `button` or its only one, and sees it answered. */
export async function send(page, form, fields = {}, button = form.locator('button:not([type="button"])').first()) {
  await unfold(form);
  for (const [label, text] of fields instanceof Map ? fields : Object.entries(fields)) {
    const field = form.getByLabel(label).first();
    await unfold(field);
    if (typeof text === "string") await field.fill(text);
    else if (await field.evaluate((it) => it.tagName === "SELECT")) await field.selectOption(text.choose);
    else await field.check();
  }
  const [answer] = await Promise.all([
    page.waitForResponse((it) => it.request().method() === "POST"),
    page.waitForEvent("framenavigated"),
    button.click(),
  ]);
  await page.waitForLoadState();
  const said = answer.status() === 303 ? "" : await text(page);
  assert.equal(answer.status(), 303, `POST ${new URL(answer.url()).pathname} was not taken:\n${said}`);
}

/** The page's main part as text. */
export const text = (page) => page.locator("main").innerText();
