// The one script of the console. Every page works without it; it only saves presses.
// It asks our own origin and nobody else, changes nothing by itself, and never moves what a person is typing.
"use strict";
(() => {
  const $ = (query, root = document) => root.querySelector(query);
  const $$ = (query, root = document) => [...root.querySelectorAll(query)];
  const main = () => $("#main");
  const typing = (node) => node && node.matches("input:not([type=checkbox]), select, textarea");

  // ---- What a person has begun: it is carried over, or nothing is swapped ----

  const fieldName = (field) => `${field.form?.id || field.form?.getAttribute("action") || ""}|${field.name}|${field.type === "checkbox" ? field.value : ""}`;
  const fields = () => $$("input:not([type=hidden]), select, textarea", main());
  const first = new Map();
  const value = (field) => (field.type === "checkbox" ? String(field.checked) : field.value);
  const remember = () => { first.clear(); for (const field of fields()) first.set(fieldName(field), value(field)); };
  const begun = () => fields().filter((field) => first.has(fieldName(field)) && first.get(fieldName(field)) !== value(field));

  const keep = () => ({
    open: new Map($$("details[data-keep]", main()).map((one) => [one.dataset.keep, one.open])),
    typed: begun().map((field) => [fieldName(field), value(field)]),
    focus: document.activeElement && main().contains(document.activeElement)
      ? (document.activeElement.id && `#${CSS.escape(document.activeElement.id)}`) || (document.activeElement.href && `a[href="${CSS.escape(document.activeElement.getAttribute("href"))}"]`)
      : null,
    cursor: $("tr[aria-current] a.what", main())?.getAttribute("href"),
    top: scrollY,
  });

  const restore = (kept) => {
    for (const one of $$("details[data-keep]", main())) if (kept.open.has(one.dataset.keep)) one.open = kept.open.get(one.dataset.keep);
    remember();
    const typed = new Map(kept.typed);
    for (const field of fields()) {
      const name = fieldName(field);
      if (!typed.has(name)) continue;
      if (field.type === "checkbox") field.checked = typed.get(name) === "true"; else field.value = typed.get(name);
    }
    if (kept.cursor) mark($$("a.what", main()).find((one) => one.getAttribute("href") === kept.cursor)?.closest("tr"));
    if (kept.focus) $(kept.focus, main())?.focus({ preventScroll: true });
    scrollTo({ top: kept.top, behavior: "instant" });
  };

  // ---- Live: "changed" is announced; the page is fetched again, whole ----

  let waiting = false;
  let fetching = false;

  const announce = () => {
    waiting = true;
    const line = $("#changed");
    if (!line || line.firstChild) return;
    const words = document.createElement("p");
    words.className = "changed";
    words.append("Something changed. ");
    const show = document.createElement("a");
    show.href = location.href;
    show.textContent = "Show";
    show.addEventListener("click", (event) => { event.preventDefault(); refresh(); });
    words.append(show);
    line.append(words);
  };

  // Nothing moves under a hand: no field in focus, nothing half written, nothing chosen, no menu open.
  const calm = () => document.visibilityState === "visible" && !typing(document.activeElement) && begun().length === 0
    && !$(":popover-open") && String(getSelection()) === "";

  const refresh = async () => {
    if (fetching) return;
    fetching = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin", cache: "no-store" });
      if (answer.redirected || !answer.ok) { location.reload(); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = $("#main", page);
      if (!next) { location.reload(); return; }
      const kept = keep();
      // A notice about the last verb has been read by now.
      main().replaceWith(document.adoptNode(next));
      for (const [part, within] of [[".live", ".top"], [".rail", "body"]]) {
        const old = $(part), fresh = $(part, page);
        if (old && fresh && $(within) && !old.matches(":popover-open")) old.replaceWith(document.adoptNode(fresh));
      }
      document.title = page.title;
      restore(kept);
      waiting = false;
    } catch { state("lost", "Not connected, trying again"); } finally { fetching = false; }
  };

  const state = (kind, words) => {
    const line = $(".live");
    if (!line) return;
    if (kind) line.dataset.live = kind; else delete line.dataset.live;
    if (words) line.firstElementChild.textContent = words;
  };

  const listen = () => {
    const from = document.body.dataset.liveFrom;
    if (!from || !("EventSource" in window)) return;
    let source = null;
    let timer = 0;
    const changed = () => { clearTimeout(timer); timer = setTimeout(() => { announce(); if (calm()) refresh(); }, 300); };
    const open = () => {
      source = new EventSource(from);
      source.addEventListener("changed", changed);
      source.onopen = () => { if ($(".live")?.dataset.live) { state(null, "Live"); changed(); } };
      source.onerror = () => state("lost", `Not connected since ${new Date().toLocaleTimeString()}, trying again`);
    };
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) { source?.close(); source = null; state("paused", "Paused while hidden"); }
      else if (!source) open();
    });
    document.addEventListener("focusout", () => setTimeout(() => { if (waiting && calm()) refresh(); }, 0));
    if (!document.hidden) open();
  };

  // ---- Keys: printed where they act; none is needed ----

  const rows = () => $$("tr:has(a.what)", main());
  const current = () => $("tr[aria-current]", main());
  const mark = (row) => {
    if (!row) return;
    current()?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
  };
  const move = (by) => {
    const list = rows();
    if (!list.length) return;
    const at = list.indexOf(current());
    const row = list[Math.min(Math.max(at + by, 0), list.length - 1)];
    mark(row);
    $("a.what", row).focus({ preventScroll: true });
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
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); $("#find")?.focus(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && typing(document.activeElement)) { document.activeElement.blur(); return; }
    if (typing(event.target) || event.target.isContentEditable) return;
    const act = keys[event.key] || keys[event.key.toLowerCase()];
    if (act) { event.preventDefault(); act(); }
  });

  // A second press would find the same answer by the form's key; one is enough all the same.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    if (event.submitter) event.submitter.setAttribute("aria-busy", "true");
  });
  addEventListener("pageshow", (event) => { if (event.persisted) $$("form[data-sent]").forEach((form) => delete form.dataset.sent); });

  // Counts down to a barrier, in words that stand there already.
  setInterval(() => {
    for (const one of $$("[data-until]")) {
      const left = Math.ceil((Date.parse(one.dataset.until) - Date.now()) / 1000);
      one.textContent = left > 0 ? `, in ${left > 90 ? `${Math.ceil(left / 60)} min` : `${left} s`}` : ", now passed";
    }
  }, 1000);

  remember();
  listen();
})();
