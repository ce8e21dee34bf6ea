// The dashboard in a real browser, against the real program and finished runs:
//   node tests/browser.mjs PROGRAM RUNS
// PROGRAM is `autocomp`, RUNS a folder with at least one finished run. Chromium is CHROMIUM
// or /usr/bin/chromium. Prints how long things took and how much of a processor the page's own
// thread used for them, in milliseconds; what a page is made of and asks for has bounds, which
// hold however many kernels a run has.

import assert from "node:assert/strict";
import { accessible, answered, drawn, inColours, launch, serve, visit } from "./stage.mjs";

/** Elements of a page, and bytes of the answers that it is made of, at most. */
const MOST_ELEMENTS = 6_000;
const MOST_BYTES = 400_000;
/** Bytes that one sorting, scrolling or filtering asks for at most. */
const MOST_MORE = 150_000;

const [program, runs] = process.argv.slice(2);
assert(program && runs, "usage: node tests/browser.mjs PROGRAM RUNS");
const { url, end } = await serve(program, ["--runs", runs]);
const browser = await launch();
const figures = {};
try {
  const { page, trouble, sent } = await visit(browser, url);
  const tools = await page.context().newCDPSession(page);
  await tools.send("Performance.enable", { timeDomain: "threadTicks" });
  const used = async () => {
    await drawn(page);
    const { metrics } = await tools.send("Performance.getMetrics");
    return 1000 * metrics.find((it) => it.name === "TaskDuration").value;
  };
  /** Notes what `work` returns, and what the page's thread used for it. */
  const noted = async (name, work) => {
    const from = await used();
    const took = await work();
    figures[name] = { took, used: Math.round((await used()) - from) };
  };
  const timed = (name, work) =>
    noted(name, async () => {
      const from = performance.now();
      await work();
      return Math.round(performance.now() - from);
    });

  await timed("first paint, list", async () => {
    await page.goto(url);
    await page.waitForSelector("tr[data-open]");
  });
  await timed("all runs read", () => page.waitForFunction(() => !document.querySelector("tbody")?.textContent?.includes("reading…")));
  await page.waitForSelector(".live.on");
  await accessible(page, "runs");
  await page.locator("tbody input[type=checkbox]").first().check();
  await page.waitForSelector(".chart canvas");
  const n = await page.locator("tr[data-open]").count();
  await page.fill("#filter", "no run has such words");
  assert.equal(await page.locator("tr[data-open]").count(), 0);
  await page.fill("#filter", "");
  assert.equal(await page.locator("tr[data-open]").count(), n);
  await page.locator("#filter").blur();

  await accessible(page, "compare");

  const elements = () => page.locator("*").count();
  await page.keyboard.press("j");
  answered(sent);
  await timed("first paint, run", async () => {
    await page.keyboard.press("Enter");
    await page.waitForSelector(".step");
    await page.waitForSelector(".tall tr[data-open]");
    await drawn(page);
  });
  await page.waitForSelector(".chart canvas");
  assert((await page.locator(".fact").count()) >= 5);
  await page.waitForSelector("canvas.tree");
  await accessible(page, "run");
  figures["elements of the page"] = await elements();
  figures["bytes of its answers"] = answered(sent);
  assert(figures["elements of the page"] <= MOST_ELEMENTS, JSON.stringify(figures));
  assert(figures["bytes of its answers"] <= MOST_BYTES, JSON.stringify(figures));

  // How long the page itself takes, from the event until what came of it is painted.
  await page.evaluate(() => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    globalThis.within = async (act, isDone) => {
      const from = performance.now();
      act();
      do await frame();
      while (!isDone());
      await frame();
      return Math.round(performance.now() - from);
    };
    globalThis.rows = () => [...document.querySelectorAll(".tall tbody tr[data-open]")];
    globalThis.settled = () => globalThis.rows().length > 0 && !document.querySelector(".tall tbody").textContent.includes("…");
  });
  await noted("sort all kernels", () => page.evaluate(() => {
    const button = [...document.querySelectorAll(".tall th button")].find((it) => it.textContent.startsWith("gain"));
    const isSorted = () => document.querySelector('.tall th[aria-sort="descending"]')?.textContent?.startsWith("gain");
    return globalThis.within(() => button.click(), () => isSorted() && globalThis.settled());
  }));
  await noted("scroll to the end of the table", () => page.evaluate(() => {
    const box = document.querySelector(".tall");
    return globalThis.within(() => box.scrollTo(0, box.scrollHeight), globalThis.settled);
  }));
  assert((await page.locator(".tall tr").count()) < 300, "rows that are not seen are not in the page");
  figures["bytes of sorting and scrolling"] = answered(sent);
  assert(figures["bytes of sorting and scrolling"] <= 2 * MOST_MORE, JSON.stringify(figures));
  await noted("filter all kernels", () => page.evaluate(() => {
    const filter = document.getElementById("filter");
    const type = (text) => {
      filter.value = text;
      filter.dispatchEvent(new Event("input"));
    };
    const isFiltered = () => globalThis.rows()[0]?.textContent.startsWith("c1");
    return globalThis.within(() => type("c1"), () => isFiltered() && globalThis.settled()).finally(() => type(""));
  }));
  figures["bytes of filtering"] = answered(sent);
  assert(figures["bytes of filtering"] <= MOST_MORE, JSON.stringify(figures));
  await noted("zoom the tree", () => page.evaluate(() => globalThis.within(() => document.querySelector("[aria-label='zoom in']").click(), () => true)));

  // Whoever comes back from a kernel finds the table as it was.
  await page.fill("#filter", "no kernel has such words");
  await page.waitForFunction(() => document.body.textContent.includes("No kernel is like that."));
  await page.fill("#filter", "c1");
  await page.waitForFunction(() => globalThis.rows()[0]?.textContent.startsWith("c1"));
  await page.locator(".step h3 a").last().click();
  await page.waitForSelector("[role=tab]");
  await page.goBack();
  await page.waitForFunction(() => globalThis.rows()[0]?.textContent.startsWith("c1"));
  assert.equal(await page.inputValue("#filter"), "c1");
  await page.fill("#filter", "");
  await page.locator("#filter").blur();
  await page.locator(".step h3 a").last().click();
  await page.waitForSelector("[role=tab]");
  await page.keyboard.press("2");
  await page.waitForSelector(".difference .cm-changedLine");
  await accessible(page, "diff");
  await page.keyboard.press("3");
  await page.waitForSelector(".code .t");
  await accessible(page, "code");
  // Made on demand; a made-up run cannot be profiled, and says so.
  const profiled = (what) => page.waitForFunction((what) => document.querySelector(what) || document.querySelector("#panel .trouble")?.textContent?.includes("cannot be profiled again: "), what);
  await page.keyboard.press("4");
  await profiled("#panel pre.section");
  await accessible(page, "profile");
  // Kernels that are measured on a device have none.
  const sides = await page.locator("[role=tab]").evaluateAll((all) => all.map((it) => it.firstChild.textContent));
  const keyOf = (side) => String(sides.indexOf(side) + 1);
  if (sides.includes("timeline")) {
    await page.keyboard.press(keyOf("timeline"));
    await profiled(".legend li");
  }
  if (await page.locator(".legend li").count()) {
    await accessible(page, "timeline");
    // No two activities share a colour, and none goes on for longer than the time in sight.
    const boxes = await page.locator(".legend li").evaluateAll((all) => all.map((it) => [it.querySelector(".box").style.background, it.textContent]));
    assert.equal(new Set(boxes.map((it) => it[0])).size, boxes.length, JSON.stringify(boxes));
    for (const [, text] of boxes) for (const share of text.matchAll(/([\d.]+) %/g)) assert(Number(share[1]) <= 100, text);
    // Two of them show the same time.
    await page.fill("[aria-label=beside]", "c0");
    await page.locator("[aria-label=beside]").blur();
    await page.waitForFunction(() => document.querySelectorAll(".legend li").length > 0 && document.querySelectorAll("canvas.timeline").length === 2);
    await page.waitForFunction(() => [...document.querySelectorAll(".told")].every((it) => / to .* of /.test(it.textContent)));
    await page.locator("[aria-label='zoom in']").first().click();
    await page.waitForFunction(() => new Set([...document.querySelectorAll(".told")].map((it) => it.textContent.split(" to ")[0])).size === 1);
    figures["elements of a timeline"] = await elements();
    assert(figures["elements of a timeline"] < 500, "a timeline is one canvas");
    await noted("zoom the timeline", () => page.evaluate(() => {
      const whole = document.querySelector(".told").textContent;
      return globalThis.within(
        () => document.querySelector("[aria-label='zoom in']").click(),
        () => document.querySelector(".told").textContent !== whole,
      );
    }));
  }
  // Every side in the dark, too.
  await inColours(page, "dark");
  for (const name of sides) {
    await page.keyboard.press(keyOf(name));
    await page.waitForFunction((name) => location.hash.endsWith(`/${name}`), name);
    await page.waitForSelector({ diff: ".difference .cm-changedLine", code: ".code .t" }[name] ?? "#panel > *");
    await accessible(page, `${name}, dark`);
  }
  await inColours(page, "light");
  for (const name of ["findings", "calls", "plan"]) {
    await page.keyboard.press(keyOf(name));
    await page.waitForSelector("#panel > *");
    await accessible(page, name);
  }
  await page.waitForSelector("p.plan");
  // An address names the side; one that names nothing says so and leads back.
  const here = await page.evaluate(() => location.hash);
  await page.evaluate(() => (location.hash = location.hash.replace(/[^/]*$/, "code")));
  await page.waitForSelector(".code .t");
  for (const wrong of ["#/nonsense", `${here}/more`, here.replace(/[^/]*$/, "nonsense"), "#/run/%E0%A4%A", "#/run/no-such-run"]) {
    await page.evaluate((hash) => (location.hash = hash), wrong);
    await page.waitForSelector("main > .trouble[role=alert]");
  }
  await page.evaluate((hash) => (location.hash = hash), here);
  await page.waitForSelector("p.plan");
  await page.keyboard.press("p");
  await page.waitForFunction(() => document.querySelector("h1"));
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await accessible(page, "keys");
  await page.keyboard.press("Escape");

  // Dark, and as wide as a telephone: nothing is wider than the page.
  const run = await page.evaluate(() => location.hash.split("/").slice(0, 3).join("/"));
  for (const [name, hash] of [["compare", "#/"], ["run", run]]) {
    await inColours(page, "dark");
    await page.setViewportSize({ width: 1200, height: 860 });
    await page.evaluate((hash) => (location.hash = hash), hash);
    await page.waitForSelector("tr[data-open]");
    await page.waitForTimeout(300);
    await accessible(page, `${name}, dark`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForTimeout(300);
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert(wide <= seen, `${name} is ${wide} wide where ${seen} are seen`);
  }

  // A run that gained nothing or little says so and why, and whether it is a tie.
  const why = { reasons: ["it was <b>tried</b>"], next: ["`autocomp show RUN`"] };
  const none = { nothing_faster: null, little_faster: null, is_tie: false };
  for (const [ended, heading, note] of [
    [{ ...none, nothing_faster: why }, "Nothing faster was found", /^from /],
    [{ ...none, little_faster: why }, "Little was gained", /^from /],
    [{ ...none, little_faster: why, is_tie: true }, "Little was gained", /^a tie, from /],
    [none, undefined, /^from /],
  ]) {
    await page.route("**/api/run?*", async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      await route.fulfill({ response, json: { ...json, report: { ...json.report, ...ended } } });
    });
    await page.evaluate(() => (location.hash = "#/"));
    await page.waitForSelector("tr[data-open]");
    await page.evaluate((hash) => (location.hash = hash), run);
    await page.waitForSelector(".facts");
    const told = await page.locator("section.card:has(> h2)").evaluateAll((all) => all.map((it) => [it.firstChild.textContent, it.textContent]));
    assert.equal(told[0]?.[0], heading, JSON.stringify(told));
    if (heading) assert.match(told[0][1], /it was <b>tried<\/b>.*What next:.*`autocomp show [^`]*`/s);
    assert.equal(told[0]?.[1].includes("are a tie, within what costs may be off") ?? false, ended.is_tie);
    const notes = await page.locator(".fact").evaluateAll((all) => all.map((it) => [it.firstChild.textContent, it.lastChild.textContent]));
    assert.match(Object.fromEntries(notes)["speed-up"], note);
    await page.unroute("**/api/run?*");
  }

  // What others wrote is text: no element but those that the pages make themselves.
  assert.equal(await page.locator("main :is(script, img, iframe, object, style, link, base)").count(), 0);

  // Another name for the same address is refused.
  const other = await fetch(url.replace("127.0.0.1", "localhost"));
  assert.equal(other.status, 200);
  // A made-up run cannot be simulated.
  // Nor is there a run of a wrong address.
  assert.deepEqual(trouble.filter((it) => !/422|404/.test(it)), []);
  console.log(JSON.stringify(figures, null, 2));
} finally {
  await browser.close();
  end();
}
