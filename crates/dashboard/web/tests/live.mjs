// The dashboard in a real browser while a search goes on, which it starts, stops, takes up
// again and forks itself:
//   node tests/live.mjs PROGRAM
// PROGRAM is `autocomp`; the problem is one whose search by the rewriter takes minutes, so that
// it does not end by itself while it is looked at.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessibleInBoth, launch, serve, visit } from "./stage.mjs";

const [program] = process.argv.slice(2);
assert(program, "usage: node tests/live.mjs PROGRAM");
const folder = await mkdtemp(join(tmpdir(), "autocomp-live-"));
const { url, end } = await serve(program, ["--runs", folder, "--allow-control"]);
const browser = await launch();
try {
  // Whoever does not know the token sees nothing.
  const stranger = await fetch(new URL("/api/runs", url));
  assert.equal(stranger.status, 401);

  const { page, trouble } = await visit(browser, url);
  await page.goto(url);
  await page.waitForSelector(".empty");
  assert(!page.url().includes("token"), "the token stays in the address");
  const evaluations = async () => {
    const fact = page.locator(".fact", { hasText: "evaluations" }).locator("dd").first();
    return Number((await fact.textContent()).replaceAll(",", ""));
  };
  const grows = (than) =>
    page.waitForFunction((than) => {
      const fact = [...document.querySelectorAll(".fact")].find((it) => it.textContent.startsWith("evaluations"));
      return Number(fact?.querySelector("dd")?.textContent?.replaceAll(",", "")) > than;
    }, than);

  // Start one.
  await page.getByRole("button", { name: "start a run" }).click();
  await page.waitForSelector("dialog[open]");
  await accessibleInBoth(page, "start");
  await page.getByLabel("problem", { exact: true }).fill("gemmini/gemm-12544x256x64");
  await page.getByLabel("name of the run").fill("live");
  await page.getByLabel("evaluations at most").fill("2000");
  await page.locator("dialog[open] button[type=submit]").click();
  await page.locator("tr", { hasText: "live" }).locator(".state-running").waitFor();

  // Watch it: the page changes by itself, and the tree follows.
  await page.locator("tr a", { hasText: "live" }).click();
  await page.waitForSelector(".state-running");
  await page.waitForFunction(() => document.querySelector(".tall tr[data-open]"));
  await page.getByRole("button", { name: "follow" }).click();
  await grows(await evaluations());
  await grows((await evaluations()) + 2);
  await accessibleInBoth(page, "live run");
  // A kernel of a run that goes on.
  await page.waitForSelector(".step h3 a");
  await page.locator(".step h3 a").last().click();
  await page.waitForSelector("[role=tab]");
  await page.keyboard.press("3");
  await page.waitForSelector(".code .t");
  await page.keyboard.press("u");

  // Stop it, and take it up again.
  await page.getByRole("button", { name: "stop" }).click();
  await page.waitForSelector(".state-stopped");
  const stopped = await evaluations();
  await page.getByRole("button", { name: "go on" }).click();
  await accessibleInBoth(page, "go on");
  await page.getByLabel("evaluations at most").fill("2400");
  await page.locator("dialog[open] button[type=submit]").click();
  await page.waitForSelector(".state-running");
  await grows(stopped);
  await page.getByRole("button", { name: "stop" }).click();
  await page.waitForSelector(".state-stopped");

  // Fork it from its best kernel; the new run ends by itself.
  await page.locator(".step h3 a").last().click();
  await page.getByRole("button", { name: /^fork from/ }).click();
  await page.getByLabel("name of the new run").fill("branch");
  await page.getByLabel("evaluations at most").fill("6");
  await page.locator("dialog[open] button[type=submit]").click();
  await page.locator("tr", { hasText: "branch" }).locator(".state-finished").waitFor();

  // What cannot be started says why, in words.
  await page.getByRole("button", { name: "start a run" }).click();
  await page.getByLabel("problem", { exact: true }).fill("gemmini/no-such-problem");
  await page.locator("dialog[open] button[type=submit]").click();
  await page.getByText("has failed").waitFor();
  assert((await page.locator("[aria-label='started here'] pre").textContent()).includes("no-such-problem"));
  await accessibleInBoth(page, "failed");
  assert.deepEqual(trouble, []);
  console.log("a live run was started, watched, stopped, resumed and forked in the browser");
} finally {
  await browser.close();
  end();
  await rm(folder, { recursive: true, force: true });
}
