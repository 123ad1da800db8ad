// A journey: what one or more people do in a real browser, told once and lived twice, with scripts and without.
// Each file of journeys has one installation; each telling has browser contexts of its own, so nobody shares a session.
// The name ends in "with scripts" or "without scripts": the closing count goes by it.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { apiClient } from "./client.js";
import { openBrowser } from "./browser.js";
import { startInstallation } from "./installation.js";
import { partnerOf } from "./partner.js";
import { signIn } from "./person.js";

const LIMIT_MS = 240_000;
const FAILED = fileURLToPath(new URL("../shots/failed", import.meta.url));

const once = (make) => {
  let made;
  return { get: () => (made ??= make()), made: () => made };
};
const installation = once(() => startInstallation());
const browser = once(openBrowser);

after(async () => {
  await Promise.allSettled([browser.made()?.then((it) => it.close()), installation.made()?.then((it) => it.stop())]);
});

/** Tells `story({ installation, client, partner, enter })` twice. `enter("support")` signs a person in and returns their page. */
export function journey(name, story) {
  for (const scripts of [true, false]) {
    const whole = `${name}, ${scripts ? "with" : "without"} scripts`;
    test(whole, { timeout: LIMIT_MS }, async (t) => {
      const here = await installation.get();
      const pages = [];
      const enter = async (person) => {
        const context = await (await browser.get()).newContext({ baseURL: here.console, javaScriptEnabled: scripts });
        const page = await context.newPage();
        pages.push(page);
        await signIn(page, here.person(person));
        return page;
      };
      t.after(() => Promise.allSettled(pages.map((page) => page.context().close())));
      try {
        await story({ installation: here, client: apiClient(here), partner: partnerOf(here), enter, scripts });
      } catch (error) {
        await keep(whole, pages, here.log);
        throw error;
      }
    });
  }
}

/** What each person saw when a journey failed, and the server's last words. */
async function keep(name, pages, log) {
  const stem = join(FAILED, name.replace(/[^a-z0-9]+/gi, "-"));
  mkdirSync(FAILED, { recursive: true });
  writeFileSync(`${stem}.log`, log.join("\n"));
  for (const [n, page] of pages.entries()) {
    try {
      writeFileSync(`${stem}.${n}.html`, `<!-- ${page.url()} -->\n${await page.content()}`);
      await page.screenshot({ path: `${stem}.${n}.png`, fullPage: true });
    } catch (error) {
      writeFileSync(`${stem}.${n}.txt`, `${page.url()}\n${error.message}`);
    }
  }
  console.log(`# what was on the screen: ${stem}.*`);
}
