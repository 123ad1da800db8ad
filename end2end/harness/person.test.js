import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, before, test } from "node:test";

import { openBrowser } from "./browser.js";
import { formTo, send, signIn, text } from "./person.js";

const PAGE = `<!doctype html><main><h1>Operation</h1>
<form action="/o/1/decide" method="post"><input type="hidden" name="outcome" value="close"><button>Close</button></form>
<details><summary>It happened</summary>
  <form action="/o/1/decide" method="post">
    <label for="why">Reason</label><textarea id="why" name="reason" required></textarea>
    <label for="kind">Kind</label><select id="kind" name="kind"><option value="a">A</option><option value="b">B</option></select>
    <button name="outcome" value="executed">It happened</button>
  </form></details></main>`;
const SIGN_IN = `<!doctype html><main><form action="/sign-in" method="post"><label>Email <input name="email" type="email"></label>
<label>Password <input name="password" type="password"></label><button>Sign in</button></form></main>`;

let server, browser, base;
const posted = [];

before(async () => {
  server = createServer(async (request, answer) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.method === "POST") {
      posted.push(`${request.url} ${body}`);
      const refused = body.includes("reason=no");
      answer.writeHead(refused ? 422 : 303, refused ? { "content-type": "text/html" } : { location: "/o/1" });
      answer.end(refused ? "<main>Say more</main>" : "");
    } else {
      answer.writeHead(200, { "content-type": "text/html", "content-security-policy": "default-src 'none'" });
      answer.end(request.url === "/sign-in" ? SIGN_IN : PAGE);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${server.address().port}`;
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  server.closeAllConnections();
  server.close();
});

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? "scripts on" : "scripts off";
  const pageOf = async (t) => {
    const context = await browser.newContext({ baseURL: base, javaScriptEnabled });
    t.after(() => context.close());
    posted.length = 0;
    return context.newPage();
  };

  test(`a person signs in and sends a form that is folded away, ${how}`, async (t) => {
    const page = await pageOf(t);
    await signIn(page, { email: "support@ascertain.test", password: "x" });
    const form = formTo(page, "/o/1/decide", { value: "outcome=executed" });
    await send(page, form, new Map([[/reason/i, "seen"], ["Kind", { choose: "b" }]]));
    assert.deepEqual(posted, ["/sign-in email=support%40ascertain.test&password=x", "/o/1/decide reason=seen&kind=b&outcome=executed"]);
    assert.match(await text(page), /Operation/);
  });

  test(`a form that is refused fails with what the page says, ${how}`, async (t) => {
    const page = await pageOf(t);
    await page.goto("/o/1");
    const form = formTo(page, "/o/1/decide", { value: "outcome=executed" });
    await assert.rejects(send(page, form, { Reason: "no" }), /POST \/o\/1\/decide was not taken:\nSay more/);
  });
}
