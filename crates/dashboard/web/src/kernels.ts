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

/** What was asked for last, of each run: whoever comes back from a kernel finds the table as it was. */
const queries = new Map<string, { query: api.KernelQuery; top: number }>();

export function kernelTable(place: HTMLElement, run: string, outcomes: string[]): { news(): void } {
  const kept = queries.get(run) ?? { query: { sort: "cost", falling: false, outcome: "", text: "" }, top: 0 };
  queries.set(run, kept);
  const { query } = kept;
  const pages = new Map<number, api.KernelRow[]>();
  const asked = new Set<number>();
  let total = 0;
  let version = 0;
  let isRead = false;
  const trouble = el("p", { class: "trouble", role: "alert" });
  const told = el("span", { class: "quiet", set: { "aria-live": "polite" } });
  const search = el("input", {
    set: { type: "search", placeholder: "filter: name, menu item, model", "aria-label": "filter kernels" },
    on: { input: () => change({ text: search.value }) },
  });
  search.id = "filter";
  search.value = query.text;
  const outcome = el(
    "select",
    { label: "outcome", on: { change: () => change({ outcome: outcome.value }) } },
    el("option", { set: { value: "" } }, "every outcome"),
    ...outcomes.map((it) => el("option", { set: { value: it } }, it.replace("_", " "))),
  );
  outcome.value = query.outcome;
  const head = el("tr");
  const above = el("tr", { set: { "aria-hidden": "true" } }, el("td", { set: { colspan: String(HEAD.length) } }));
  const below = above.cloneNode(true) as HTMLTableRowElement;
  const body = el("tbody");
  const box = el(
    "div",
    {
      class: "scroll tall",
      set: { tabindex: "0" },
      on: {
        scroll: () => {
          if (total > 0) kept.top = box.scrollTop;
          later();
        },
      },
    },
    el("table", { class: "rows fixed" }, el("thead", {}, head), body),
  );
  replace(place, el("div", { class: "tools" }, search, outcome, told), trouble, box);

  function change(by: Partial<api.KernelQuery>): void {
    Object.assign(query, by);
    kept.top = 0;
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
    let answer: Awaited<ReturnType<typeof api.kernels>>;
    try {
      answer = await api.kernels(run, query, page * PAGE, PAGE);
    } catch (error) {
      if (of !== version) return;
      replace(trouble, String((error as Error).message), " ", el("button", { on: { click: () => reload() } }, "try again"));
      return;
    }
    if (of !== version) return;
    replace(trouble);
    isRead = true;
    if (answer.total !== total) for (const other of [...pages.keys()]) if (!asked.has(other)) pages.delete(other);
    total = answer.total;
    pages.set(page, answer.rows);
    draw();
    // Back where the table was left.
    if (kept.top > 0 && box.scrollTop === 0) box.scrollTop = kept.top;
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
    const isFiltered = query.text !== "" || query.outcome !== "";
    told.textContent = !isRead ? "reading…" : total > 0 || !isFiltered ? `${grouped(total)} kernels` : "No kernel is like that.";
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
