// The one script of the console. Every page works without it; it only saves presses.
// It asks our own origin and nobody else, sends nothing by itself, and never moves what a person is typing.
"use strict";
(() => {
  const $ = (query, root = document) => root.querySelector(query);
  const $$ = (query, root = document) => [...root.querySelectorAll(query)];
  const main = () => $("#main");
  const typing = (node) => !!node?.matches?.("input:not([type=checkbox]), select, textarea");
  const element = (tag, words, more = {}) => Object.assign(document.createElement(tag), { textContent: words }, more);

  // ---- What a person has begun ----

  const fields = () => $$("input:not([type=hidden]), select, textarea", main());
  const nameOf = (field) => [field.form?.id, field.name, field.type === "checkbox" ? field.value : ""].join("|");
  const value = (field) => (field.type === "checkbox" ? String(field.checked) : field.value);
  const first = new Map();
  const remember = () => { first.clear(); for (const field of fields()) first.set(nameOf(field), value(field)); };
  const begun = () => fields().filter((field) => first.get(nameOf(field)) !== value(field));

  // How to find the focused thing again after a swap.
  const pathTo = (node) => {
    if (!node || !main().contains(node) || node === main()) return "";
    if (node.id) return `#${CSS.escape(node.id)}`;
    if (node.matches("a[href]")) return `a[href="${CSS.escape(node.getAttribute("href"))}"]`;
    if (node.matches("summary")) return `[data-keep="${CSS.escape(node.parentNode.dataset.keep)}"] > summary`;
    return node.form?.id ? `#${CSS.escape(node.form.id)} ${node.localName}` : null;
  };

  const keep = () => ({
    open: new Map($$("details[data-keep]", main()).map((one) => [one.dataset.keep, one.open])),
    typed: new Map(begun().map((field) => [nameOf(field), value(field)])),
    focus: pathTo(document.activeElement),
    cursor: current() && $("a.what", current())?.getAttribute("href"),
    top: scrollY,
  });

  const restore = ({ open, typed, focus, cursor, top }) => {
    for (const one of $$("details[data-keep]", main())) if (open.has(one.dataset.keep)) one.open = open.get(one.dataset.keep);
    remember();
    for (const field of fields()) {
      const name = nameOf(field);
      if (!typed.has(name)) continue;
      if (field.type === "checkbox") field.checked = typed.get(name) === "true"; else field.value = typed.get(name);
      typed.delete(name);
    }
    // Its form is gone: what was typed is not.
    for (const [name, text] of typed) if (!/^(true|false)?$/.test(text)) $("#changed")?.append(element("p", `You had typed (${name.split("|")[1]}): ${text}`, { className: "changed" }));
    if (cursor) mark($$("a.what", main()).find((one) => one.getAttribute("href") === cursor)?.closest("tr"));
    if (focus) $(focus, main())?.focus({ preventScroll: true });
    scrollTo({ top, behavior: "instant" });
  };

  // ---- Live: "changed" is announced; the page is fetched again, whole ----

  let waiting = false;
  let fetching = false;

  const announce = () => {
    waiting = true;
    const line = $("#changed");
    if (!line || $("a", line)) return;
    const show = element("a", "Show", { href: location.href });
    show.onclick = (event) => { event.preventDefault(); refresh(); };
    const words = element("p", "Something changed. ", { className: "changed" });
    words.append(show);
    line.append(words);
  };

  // Nothing moves under a hand: no field in focus, nothing half written, nothing selected, no menu open.
  const calm = () => !document.hidden && !typing(document.activeElement) && pathTo(document.activeElement) !== null
    && !begun().length && !$(":popover-open") && getSelection().isCollapsed;

  const refresh = async () => {
    if (fetching) return;
    fetching = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.redirected || !answer.ok || !$("#main", page)) return location.reload();
      const kept = keep();
      main().replaceWith(document.adoptNode($("#main", page)));
      for (const part of [".rail", ".live time"]) if ($(part, page)) $(part)?.replaceWith(document.adoptNode($(part, page)));
      document.title = page.title;
      waiting = false;
      restore(kept);
    } catch { say("lost", "Not connected, drawn "); } finally { fetching = false; }
  };

  const say = (kind, words) => { const line = $(".live"); line.dataset.live = kind; line.firstElementChild.firstChild.textContent = words; };

  const listen = () => {
    const from = document.body.dataset.liveFrom;
    if (!from) return;
    let source = null, timer = 0, missed = false;
    const changed = () => { clearTimeout(timer); timer = setTimeout(() => { announce(); if (calm()) refresh(); }, 300); };
    const open = () => {
      source = new EventSource(from);
      source.addEventListener("changed", changed);
      source.onopen = () => { say("on", "Live · "); if (missed) changed(); missed = false; };
      source.onerror = () => { if (!missed) say("lost", `Not connected since ${new Date().toLocaleTimeString([], { hour12: false })}, drawn `); missed = true; };
    };
    const hidden = () => {
      if (document.hidden) { source?.close(); source = null; missed = true; say("paused", "Paused, drawn "); } else if (!source) open();
    };
    document.addEventListener("visibilitychange", hidden);
    document.addEventListener("focusout", () => setTimeout(() => { if (waiting && calm()) refresh(); }));
    hidden();
  };

  // ---- Keys: printed where they act; none is needed ----

  const current = () => $("tr[aria-current]", main());
  const mark = (row) => {
    if (!row) return;
    current()?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
  };
  const move = (by) => {
    const list = $$("tr:has(a.what)", main());
    const row = list[Math.min(Math.max(list.indexOf(current()) + by, 0), list.length - 1)];
    mark(row);
    row && $("a.what", row).focus({ preventScroll: true });
  };
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    o: () => current() && $("a.what", current()).click(),
    x: () => current() && $("input[name=item]", current())?.click(),
    n: () => $("#next")?.click(),
    "/": () => ($("#filter") || $("#find"))?.focus(),
    "?": () => $("#keys")?.togglePopover(),
  };

  document.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key.toLowerCase() === "k") { event.preventDefault(); $("#find")?.focus(); return; }
    if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
    if (command || event.altKey || event.isComposing || typing(event.target)) return;
    const act = keys[event.key.toLowerCase()];
    if (act) { event.preventDefault(); act(); }
  });

  // Counts down to a barrier, in words that stand there already.
  setInterval(() => {
    for (const one of $$("[data-until]")) {
      const left = Math.ceil((Date.parse(one.dataset.until) - Date.now()) / 1000);
      one.textContent = left > 90 ? `, in ${Math.ceil(left / 60)} min` : left > 0 ? `, in ${left} s` : ", passed";
    }
  }, 1000);

  remember();
  if ($(".live")) listen();
})();
