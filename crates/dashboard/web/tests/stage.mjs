// What the programs in this folder share: the dashboard's server and a browser that notices
// whatever should not happen.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts `autocomp serve` with some words more; returns its address and what ends it. */
export async function serve(program, words) {
  const server = spawn(program, ["serve", "--port", "0", "--json", ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /"url": "([^"]+)"/.exec(text);
      if (found) resolve(found[1]);
    });
    server.on("exit", (code) => reject(new Error(`the program ended with ${code}`)));
  });
  const end = () => {
    server.removeAllListeners("exit");
    server.kill("SIGINT");
  };
  return { url, end };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

/**
 * Opens a page; `trouble` gathers errors, dialogs and requests that leave the machine,
 * `sent` the bytes of every answer by its path.
 */
export async function visit(browser, url, options = {}) {
  // The policy of the pages stays in force; axe is put in by the browser's own tools.
  const context = await browser.newContext({ viewport: { width: 1200, height: 860 }, ...options });
  const page = await context.newPage();
  // The machine may be busy.
  page.setDefaultTimeout(180_000);
  const trouble = [];
  const origin = new URL(url).origin;
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("dialog", (dialog) => {
    trouble.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) trouble.push(`left the machine: ${request.url()}`);
  });
  const sent = [];
  page.on("requestfinished", async (request) => {
    const path = new URL(request.url()).pathname;
    const { responseBodySize } = await request.sizes().catch(() => ({ responseBodySize: 0 }));
    sent.push({ path, bytes: responseBodySize });
  });
  return { page, trouble, sent };
}

/** Bytes of the answers to what pages asked for, which are taken out of `sent`. */
export const answered = (sent) => sent.splice(0).reduce((sum, it) => sum + (it.path.startsWith("/api/") ? it.bytes : 0), 0);

/** Asks for light or dark colours, in which the page is made anew. */
export async function inColours(page, colorScheme) {
  await page.emulateMedia({ colorScheme });
  await drawn(page);
  await page.waitForFunction(() => !document.getElementById("main").textContent.startsWith("reading…"));
}

/** Fails if axe has a serious finding on the page in dark or in light colours. */
export async function accessibleInBoth(page, name) {
  for (const scheme of ["dark", "light"]) {
    await inColours(page, scheme);
    await accessible(page, `${name}, ${scheme}`);
  }
}

/** Fails if axe has a serious finding on the page as it is. */
export async function accessible(page, name) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((it) => it.impact === "serious" || it.impact === "critical");
  assert.deepEqual(serious.map((it) => `${name}: ${it.id}: ${it.nodes[0].html} ${it.nodes[0].failureSummary}`), []);
}

/** Waits until what was drawn last is on the screen. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
