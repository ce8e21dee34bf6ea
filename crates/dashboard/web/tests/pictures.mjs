// Pictures of terminal, watch, report and dashboard, for the documentation:
//   node tests/pictures.mjs PROGRAM PICTURES
// PROGRAM is `autocomp`, PICTURES the folder that they go to. What programs draw on a terminal
// is shown by a terminal in the browser (xterm.js).

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { launch, serve, visit } from "./stage.mjs";

const [program, pictures] = process.argv.slice(2);
assert(program && pictures, "usage: node tests/pictures.mjs PROGRAM PICTURES");
const call = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), "autocomp-pictures-"));
await mkdir(pictures, { recursive: true });
const large = { maxBuffer: 1 << 28 };

async function record(columns, rows, keys, words) {
  const place = new URL("record.py", import.meta.url).pathname;
  const { stdout } = await call("python3", [place, columns, rows, JSON.stringify(keys), program, ...words], { ...large, cwd: folder });
  const { pieces, status } = JSON.parse(stdout);
  assert.equal(status, 0, pieces.join(""));
  return pieces;
}

const problem = "gemmini/gemm-512x512x512";
const live = await record(100, 18, [], ["optimize", problem, "--run-dir", "runs/first", "--max-evaluations", "60", "--max-minutes", "10"]);
await call(program, ["optimize", "gemmini/gemm-256x256x256", "--run-dir", "runs/second", "--max-evaluations", "30"], { ...large, cwd: folder });
await call(program, ["optimize", problem, "--run-dir", "runs/another-seed", "--seed", "1", "--max-evaluations", "40"], { ...large, cwd: folder });
const watched = await record(130, 34, [[1.5, "2"], [1.0, "q"]], ["watch", "runs/first"]);
await call(program, ["report", "runs/first", "--out", "report.html"], { cwd: folder });

const browser = await launch();
const shoot = async (page, name, options = {}) => {
  const path = join(pictures, `${name}.png`);
  await page.screenshot({ path, ...options });
  assert((await stat(path)).size > 5_000, `${name} is empty`);
};
try {
  // Terminals: what was on the screen when it had most to say.
  const require = createRequire(import.meta.url);
  const [script, style] = await Promise.all(["lib/xterm.js", "css/xterm.css"].map((it) => readFile(require.resolve(`@xterm/xterm/${it}`), "utf8")));
  const terminal = async (name, columns, rows, pieces) => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    await page.setContent("<!doctype html><body style='margin:0;background:#16181d'><div id=at style='display:inline-block;padding:14px 18px'></div>");
    await page.addStyleTag({ content: `${style} .xterm-viewport{overflow:hidden!important}` });
    await page.addScriptTag({ content: script });
    await page.evaluate(
      async ([columns, rows, text]) => {
        const theme = { background: "#16181d", foreground: "#dcd9d2", green: "#6fd39f", red: "#ef8a83", brightBlack: "#8b909c", cyan: "#7cc7d8", yellow: "#e2c06a" };
        const terminal = new globalThis.Terminal({ cols: columns, rows, theme, fontSize: 14, lineHeight: 1.12, fontFamily: "DejaVu Sans Mono, monospace", allowProposedApi: true });
        terminal.open(document.getElementById("at"));
        await new Promise((done) => terminal.write(`\x1b[?25l${text}\x1b[?25l`, done));
        await new Promise((done) => setTimeout(done, 300));
      },
      [columns, rows, pieces.join("")],
    );
    await shoot(page.locator("#at"), name);
    await page.close();
  };
  // Up to the last time that the whole live view was there while something was evaluated.
  const text = live.join("");
  const views = [...text.matchAll(/running: \d+ proposals, [1-9]\d* evaluations/g)].map((it) => it.index);
  const whole = (from) => {
    const last = text.indexOf("last gain", from);
    const gone = text.slice(last).search(/\x1b\[\d*[AKM]/);
    return last < 0 ? -1 : gone < 0 ? text.length : last + gone;
  };
  const drawnTo = whole(views.findLast((from) => whole(from) >= 0) ?? text.length);
  assert(drawnTo > 0, "the live view was not drawn");
  await terminal("terminal", 100, 18, [text.slice(0, drawnTo)]);
  // Up to the key that leaves.
  await terminal("watch", 130, 34, watched.slice(0, watched.lastIndexOf("\0")).filter((it) => it !== "\0"));

  const report = await browser.newPage({ viewport: { width: 1100, height: 980 } });
  await report.goto(`file://${join(folder, "report.html")}`);
  await shoot(report, "report");

  const { url, end } = await serve(program, ["--runs", join(folder, "runs")]);
  try {
    const open = async (page, hash) => {
      await page.goto(url + hash);
      await page.waitForSelector("tr[data-open]");
      await page.waitForFunction(() => !document.body.textContent.includes("reading…"));
      await page.waitForTimeout(600);
    };
    for (const scheme of ["light", "dark"]) {
      const { page } = await visit(browser, url, { viewport: { width: 1200, height: 900 }, colorScheme: scheme });
      await open(page, "#/run/first");
      await shoot(page, `dashboard-${scheme}`);
      if (scheme === "light") {
        await open(page, "#/");
        for (const run of ["first", "another-seed"]) await page.getByLabel(`compare ${run}`, { exact: true }).check();
        await page.waitForTimeout(400);
        await shoot(page, "runs", { clip: { x: 0, y: 0, width: 1200, height: 640 } });
      } else {
        await page.locator(".step h3 a").last().click();
        await page.waitForSelector("[role=tab]");
        await page.keyboard.press("5");
        await page.waitForSelector(".legend li");
        await page.waitForTimeout(300);
        await shoot(page, "timeline", { clip: { x: 0, y: 0, width: 1200, height: 640 } });
      }
      await page.close();
    }
    const { page } = await visit(browser, url, { viewport: { width: 390, height: 844 } });
    await open(page, "#/run/first");
    await shoot(page, "dashboard-phone");
  } finally {
    end();
  }
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}
