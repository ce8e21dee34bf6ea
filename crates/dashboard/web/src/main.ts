// Which page is shown, news from the server, keys.

import "uplot/dist/uPlot.min.css";
import { el, replace } from "./dom";
import { isSide, showKernel } from "./kernel";
import { showRun } from "./run";
import { showRuns } from "./runs";

type Page = { news?(): void | Promise<void>; close?(): void; key?(key: string): boolean };

// The token has become a cookie; nobody should see or pass on an address that holds it.
if (location.search !== "") history.replaceState(null, "", location.pathname + location.hash);

const main = document.getElementById("main")!;
const live = el("span", { class: "live", role: "status" }, "connecting");
const help = el(
  "dialog",
  { label: "keys" },
  el("h2", {}, "Keys"),
  el(
    "dl",
    {},
    ...[
      ["/", "to the filter"],
      ["j k", "next, previous row"],
      ["Enter", "open the row"],
      ["1 to 7", "sides of a kernel"],
      ["p", "the kernel that this one was made from"],
      ["u, Esc", "one page up"],
      ["g", "all runs"],
      ["?", "these keys"],
    ].flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]),
  ),
  el("form", { set: { method: "dialog" } }, el("button", {}, "close")),
);
replace(
  document.getElementById("top")!,
  el("a", { href: "#/", class: "brand" }, "autocomp"),
  live,
  el("button", { class: "plain", label: "keys", on: { click: () => help.showModal() } }, "?"),
  help,
);

let page: Page = {};
let visit = 0;

/** The parts of the address of a page. */
function parts(): string[] {
  try {
    return location.hash.split("/").map(decodeURIComponent);
  } catch {
    throw new Error("There is no such page: its address is damaged.");
  }
}

async function show(): Promise<void> {
  const mine = ++visit;
  page.close?.();
  page = {};
  try {
    const [, kind, run, kernel, side, ...more] = parts();
    const place = el("div");
    replace(main, place);
    place.append(el("p", { class: "quiet" }, "reading…"));
    let next: Page;
    if (kind === "run" && run && kernel && more.length === 0 && (!side || isSide(side))) next = await showKernel(place, run, kernel, side && isSide(side) ? side : undefined);
    else if (kind === "run" && run && !kernel) next = await showRun(place, run);
    else if (!kind) next = await showRuns(place);
    else throw new Error("There is no such page.");
    if (mine !== visit) {
      next.close?.();
      return;
    }
    page = next;
    document.title = [kernel, run, "autocomp"].filter(Boolean).join(" · ");
    scrollTo(0, 0);
  } catch (error) {
    if (mine !== visit) return;
    document.title = "autocomp";
    const [, kind, run, kernel] = location.hash.split("/");
    replace(
      main,
      el("p", { class: "trouble", role: "alert" }, String((error as Error).message)),
      el("p", {}, el("button", { on: { click: () => void show() } }, "try again")),
      el("p", {}, el("a", { href: "#/" }, "all runs"), kind === "run" && kernel && " · ", kind === "run" && kernel && el("a", { href: `#/run/${run}` }, "the run")),
    );
  }
}

let waiting = false;
function listen(): void {
  const source = new EventSource("/api/events");
  let first = true;
  source.onopen = () => {
    live.textContent = "live";
    live.classList.add("on");
  };
  source.onerror = () => {
    live.textContent = "the server is away";
    live.classList.remove("on");
  };
  source.onmessage = () => {
    // The first message says how things are, and that is what is shown already.
    if (first) {
      first = false;
      return;
    }
    if (waiting) return;
    waiting = true;
    setTimeout(async () => {
      waiting = false;
      try {
        await page.news?.();
      } catch {
        // The next news will say more.
      }
    }, 250);
  };
}

function move(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("tr[data-open]")];
  const at = rows.findIndex((row) => row.classList.contains("chosen"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  rows[at]?.classList.remove("chosen");
  next?.classList.add("chosen");
  next?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (page.key?.(event.key)) return;
  const parts = location.hash.split("/");
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("filter")?.focus();
  } else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "Enter" && target.tagName !== "A" && target.tagName !== "BUTTON") {
    const open = document.querySelector<HTMLElement>("tr.chosen")?.dataset.open;
    if (open) location.hash = open;
  } else if (event.key === "u" || event.key === "Escape") location.hash = parts.length > 3 ? parts.slice(0, 3).join("/") : "#/";
  else if (event.key === "g") location.hash = "#/";
  else if (event.key === "?") help.showModal();
});

addEventListener("hashchange", () => void show());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => void show());
void show();
listen();
