// The table of all kernels, of which there may be many: only what is seen is asked for.

import * as api from "./api";
import { el, onceAFrame, replace } from "./dom";
import { grouped, percent, times } from "./format";

const ROW = 33;
const PAGE = 100;
const HEAD: [string, string, boolean][] = [
  ["kernel", "", false],
  ["from", "", false],
  ["cost", "cost", true],
  ["gain", "gain", true],
  ["of peak", "", true],
  ["outcome", "outcome", false],
  ["iteration", "iteration", true],
  ["menu item", "item", false],
  ["made by", "made_by", false],
];

export function kernelTable(place: HTMLElement, run: string, outcomes: string[]): { news(): void } {
  const query: api.KernelQuery = { sort: "cost", falling: false, outcome: "", text: "" };
  const pages = new Map<number, api.KernelRow[]>();
  const asked = new Set<number>();
  let total = 0;
  let version = 0;
  const told = el("span", { class: "quiet", set: { "aria-live": "polite" } });
  const search = el("input", {
    set: { type: "search", placeholder: "filter: name, menu item, model", "aria-label": "filter kernels" },
    on: { input: () => change({ text: search.value }) },
  });
  search.id = "filter";
  const outcome = el(
    "select",
    { label: "outcome", on: { change: () => change({ outcome: outcome.value }) } },
    el("option", { set: { value: "" } }, "every outcome"),
    ...outcomes.map((it) => el("option", { set: { value: it } }, it.replace("_", " "))),
  );
  const head = el("tr");
  const above = el("tr", { set: { "aria-hidden": "true" } }, el("td", { set: { colspan: String(HEAD.length) } }));
  const below = above.cloneNode(true) as HTMLTableRowElement;
  const body = el("tbody");
  const box = el(
    "div",
    { class: "scroll tall", set: { tabindex: "0" }, on: { scroll: () => later() } },
    el("table", { class: "rows fixed" }, el("thead", {}, head), body),
  );
  replace(place, el("div", { class: "tools" }, search, outcome, told), box);

  function change(by: Partial<api.KernelQuery>): void {
    Object.assign(query, by);
    box.scrollTop = 0;
    reload();
  }
  function reload(): void {
    version++;
    pages.clear();
    asked.clear();
    drawHead();
    draw();
  }
  /** Asks again for what is seen; what is there stays until the answer comes. */
  function refresh(): void {
    version++;
    asked.clear();
    draw();
  }
  async function ask(page: number): Promise<void> {
    if (asked.has(page)) return;
    asked.add(page);
    const of = version;
    const answer = await api.kernels(run, query, page * PAGE, PAGE);
    if (of !== version) return;
    if (answer.total !== total) for (const other of [...pages.keys()]) if (!asked.has(other)) pages.delete(other);
    total = answer.total;
    pages.set(page, answer.rows);
    draw();
  }
  function drawHead(): void {
    replace(
      head,
      ...HEAD.map(([name, key, isNumber]) => {
        const is = key !== "" && query.sort === key;
        return el(
          "th",
          { class: isNumber ? "number" : "", set: { scope: "col", ...(key && { "aria-sort": is ? (query.falling ? "descending" : "ascending") : "none" }) } },
          key === ""
            ? name
            : el("button", { class: "sort", on: { click: () => change({ sort: key, falling: is ? !query.falling : key === "gain" }) } }, name, is && (query.falling ? " ↓" : " ↑")),
        );
      }),
    );
  }
  const later = onceAFrame(draw);
  function draw(): void {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 10);
    const count = Math.ceil((box.clientHeight || 600) / ROW) + 20;
    for (let page = Math.floor(first / PAGE); page <= Math.floor((first + count) / PAGE); page++)
      if (page === 0 || page * PAGE < total) void ask(page);
    told.textContent = `${grouped(total)} kernels`;
    const last = Math.min(total, first + count);
    above.style.height = `${first * ROW}px`;
    below.style.height = `${Math.max(0, total - last) * ROW}px`;
    const rows: HTMLElement[] = [];
    for (let idx = first; idx < last; idx++) {
      const row = pages.get(Math.floor(idx / PAGE))?.[idx % PAGE];
      rows.push(row ? drawRow(row) : el("tr", {}, el("td", { set: { colspan: String(HEAD.length) } }, "…")));
    }
    replace(body, above, ...rows, below);
  }
  function drawRow(row: api.KernelRow): HTMLElement {
    const link = `#/run/${encodeURIComponent(run)}/${encodeURIComponent(row.name)}`;
    return el(
      "tr",
      { class: row.in_chain ? "chain" : "", data: { open: link } },
      el("td", {}, el("a", { href: link }, row.name)),
      el("td", { class: "quiet" }, row.parent ?? ""),
      el("td", { class: "number" }, grouped(row.cost)),
      el("td", { class: row.gain && row.gain > 1.005 ? "number strong" : "number" }, times(row.gain)),
      el("td", { class: "number" }, percent(row.percent_of_peak)),
      el("td", {}, el("span", { class: `outcome outcome-${row.outcome}` }, row.outcome.replace("_", " "))),
      el("td", { class: "number" }, row.iteration),
      el("td", {}, row.menu_item ?? "baseline"),
      el("td", { class: "quiet" }, row.made_by),
    );
  }
  drawHead();
  draw();
  return { news: refresh };
}
