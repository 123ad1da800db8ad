// Debian's Chromium, driven by playwright-core. It brings no browser along and never asks for one.

import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";

// No calls of its own to anywhere: every request in a journey is one that a page made.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser with a fresh profile of its own, deleted when it closes. */
export const openBrowser = () => chromium.launch({ executablePath: EXECUTABLE, headless: true, args: FLAGS });
