// The dashboard in a real browser, against the real program:
//   node tests/browser.mjs PROGRAM RUNS [PICTURES]
// PROGRAM is `autocomp`, RUNS a folder with at least one finished run; with PICTURES, a
// folder, pictures of every page are left there. Chromium is CHROMIUM or /usr/bin/chromium.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [program, runs, pictures] = process.argv.slice(2);
assert(program && runs, "usage: node tests/browser.mjs PROGRAM RUNS [PICTURES]");
const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const server = spawn(program, ["serve", "--port", "0", "--runs", runs, "--json"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve, reject) => {
  let text = "";
  server.stdout.on("data", (chunk) => {
    text += chunk;
    const found = /"url": "([^"]+)"/.exec(text);
    if (found) resolve(found[1]);
  });
  server.on("exit", (code) => reject(new Error(`the program ended with ${code}`)));
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const figures = {};
try {
  // The policy of the pages stays in force; axe is put in by the browser's own tools.
  const context = await browser.newContext({ viewport: { width: 1200, height: 860 } });
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("dialog", (dialog) => {
    trouble.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) trouble.push(`left the machine: ${request.url()}`);
  });
  const picture = async (name, options = {}) => pictures && page.screenshot({ path: `${pictures}/${name}.png`, ...options });
  const accessible = async (name) => {
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter((it) => it.impact === "serious" || it.impact === "critical");
    assert.deepEqual(serious.map((it) => `${name}: ${it.id}: ${it.nodes[0].html} ${it.nodes[0].failureSummary}`), []);
  };
  const timed = async (name, work) => {
    const from = performance.now();
    await work();
    figures[name] = Math.round(performance.now() - from);
  };

  await timed("first paint, list (ms)", async () => {
    await page.goto(url);
    await page.waitForSelector("tr[data-open]");
  });
  await page.waitForSelector(".live.on");
  await accessible("runs");
  await page.locator("tbody input[type=checkbox]").first().check();
  await page.waitForSelector(".chart canvas");
  await picture("runs");
  const n = await page.locator("tr[data-open]").count();
  await page.fill("#filter", "no run has such words");
  assert.equal(await page.locator("tr[data-open]").count(), 0);
  await page.fill("#filter", "");
  assert.equal(await page.locator("tr[data-open]").count(), n);
  await page.locator("#filter").blur();

  await page.keyboard.press("j");
  await timed("first paint, run (ms)", async () => {
    await page.keyboard.press("Enter");
    await page.waitForSelector(".step");
    await page.waitForSelector(".tall tr[data-open]");
  });
  await page.waitForSelector(".chart canvas");
  assert((await page.locator(".fact").count()) >= 5);
  await accessible("run");
  await picture("run", { fullPage: true });

  await timed("sort all kernels (ms)", async () => {
    await page.getByRole("button", { name: /^gain/ }).click();
    await page.waitForFunction(() => document.querySelector('th[aria-sort="descending"]')?.textContent?.startsWith("gain") && document.querySelector(".tall tr[data-open]"));
  });
  await timed("scroll to the end of the table (ms)", async () => {
    await page.locator(".tall").evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.waitForFunction(() => {
      const rows = document.querySelectorAll(".tall tr[data-open]");
      return rows.length > 0 && !document.querySelector(".tall tbody")?.textContent?.includes("…");
    });
  });
  assert((await page.locator(".tall tr").count()) < 300, "rows that are not seen are not in the page");
  await timed("zoom the tree (ms)", async () => {
    await page.getByRole("button", { name: "zoom in" }).click();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  });

  await page.locator(".step h3 a").last().click();
  await page.waitForSelector("[role=tab]");
  await page.keyboard.press("2");
  await page.waitForSelector("table.diff .added");
  await accessible("diff");
  await picture("diff");
  await page.keyboard.press("3");
  await page.waitForSelector(".code .t");
  await accessible("code");
  await picture("code");
  await page.keyboard.press("4");
  await page.keyboard.press("5");
  await page.keyboard.press("1");
  await page.waitForSelector("p.plan");
  await page.keyboard.press("p");
  await page.waitForFunction(() => document.querySelector("h1"));
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");

  // Dark, and as wide as a telephone: nothing is wider than the page.
  const run = await page.evaluate(() => location.hash.split("/").slice(0, 3).join("/"));
  for (const [name, hash] of [["runs", "#/"], ["run", run]]) {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 1200, height: 860 });
    await page.evaluate((hash) => (location.hash = hash), hash);
    await page.waitForSelector("tr[data-open]");
    await page.waitForTimeout(300);
    await accessible(`${name}, dark`);
    await picture(`${name}-dark`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForTimeout(300);
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert(wide <= seen, `${name} is ${wide} wide where ${seen} are seen`);
    await picture(`${name}-phone`);
  }

  // Another name for the same address is refused.
  const other = await fetch(url.replace("127.0.0.1", "localhost"));
  assert.equal(other.status, 200);
  assert.deepEqual(trouble, []);
  console.log(JSON.stringify(figures, null, 2));
} finally {
  await browser.close();
  server.removeAllListeners("exit");
  server.kill("SIGINT");
}
