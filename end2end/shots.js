// A picture of each page of a demo, light and dark, wide and narrow: node end2end/shots.js [FOLDER]
// For people to look at; it judges nothing but that each page answers.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { openBrowser } from "./harness/browser.js";
import { startInstallation } from "./harness/installation.js";
import { signIn } from "./harness/person.js";

const LISTS = [
  "/", "/queue", "/operations", "/customers", "/approvals", "/disputes", "/reconciliation", "/webhooks", "/notices",
  "/workers", "/upstreams", "/catalog", "/audit", "/people", "/clients", "/profile",
];
// The first of each is opened too.
const THINGS = ["/operations", "/customers", "/approvals", "/reconciliation"];
const LOOKS = [
  { look: "wide-light", colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { look: "wide-dark", colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  { look: "narrow-light", colorScheme: "light", viewport: { width: 390, height: 844 } },
  { look: "narrow-dark", colorScheme: "dark", viewport: { width: 390, height: 844 } },
];

/** One of each kind of thing, as its list links it. */
async function firstThings(page) {
  const found = [];
  for (const list of THINGS) {
    await page.goto(list);
    const link = page.locator(`main a[href^="${list}/"]`).first();
    if ((await link.count()) > 0) found.push(await link.getAttribute("href"));
  }
  return found;
}

const nameOf = (path) => path.split("?")[0].slice(1).replace(/\/.*/, "-one") || "overview";

async function picture(page, path, file) {
  const answer = await page.goto(path);
  await page.screenshot({ path: file, fullPage: true });
  console.log(`${answer.status()} ${path} → ${file}`);
  return answer.ok();
}

const folder = process.argv[2] ?? "end2end/shots";
const installation = await startInstallation();
const browser = await openBrowser();
try {
  let answered = true;
  for (const { look, ...options } of LOOKS) {
    const context = await browser.newContext({ baseURL: installation.console, ...options });
    const page = await context.newPage();
    mkdirSync(join(folder, look), { recursive: true });
    await picture(page, "/sign-in", join(folder, look, "sign-in.png"));
    await signIn(page, installation.person("admin"));
    for (const path of [...LISTS, ...(await firstThings(page))]) {
      answered = (await picture(page, path, join(folder, look, `${nameOf(path)}.png`))) && answered;
    }
    await context.close();
  }
  process.exitCode = answered ? 0 : 1;
} finally {
  await browser.close();
  await installation.stop();
}
