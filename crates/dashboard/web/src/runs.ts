// All runs: a table to filter and sort, and those that are ticked on one chart.

import * as api from "./api";
import { COUNTED, chart } from "./chart";
import { askStart, startedList } from "./control";
import { el, replace } from "./dom";
import { clock, date, dollars, grouped, percent, state, times } from "./format";

const SVG = "http://www.w3.org/2000/svg";

/** A small curve of the best cost, for a row. */
function spark(curve: [number, number][], end: number): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 90 22");
  svg.setAttribute("class", "spark");
  svg.setAttribute("aria-hidden", "true");
  if (curve.length === 0) return svg;
  const values = curve.map((point) => Math.log(point[1]));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (at: number) => (90 * at) / Math.max(1, end);
  const y = (value: number) => 2 + (18 * (high - value)) / Math.max(1e-9, high - low);
  let path = "";
  curve.forEach(([at], idx) => {
    path += idx === 0 ? `M${x(at)} ${y(values[0]!)}` : `H${x(at)}V${y(values[idx]!)}`;
  });
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", `${path}H90`);
  svg.appendChild(line);
  return svg;
}

/** `wide` columns are left out where the page is as narrow as a telephone. */
type Column = { name: string; key: string; value(row: api.RunRow): string | number; number?: boolean; wide?: boolean };
const COLUMNS: Column[] = [
  { name: "run", key: "run", value: (row) => row.run },
  { name: "problem", key: "problem", value: (row) => row.problem, wide: true },
  { name: "state", key: "state", value: (row) => state(row.status) },
  { name: "best", key: "best", value: (row) => row.best?.value ?? Infinity, number: true },
  { name: "speed-up", key: "speedup", value: (row) => row.speedup ?? 0, number: true },
  { name: "of peak", key: "peak", value: (row) => row.percent_of_peak ?? 0, number: true, wide: true },
  { name: "evaluations", key: "evaluations", value: (row) => row.evaluations, number: true, wide: true },
  { name: "time", key: "time", value: (row) => row.elapsed_ms, number: true, wide: true },
  { name: "models", key: "usd", value: (row) => row.usd, number: true, wide: true },
  { name: "started", key: "started", value: (row) => row.started_at_ms, wide: true },
];

let sort = { key: "started", falling: true };
let filter = "";
/** Rows of one page, and which page is shown. */
const PAGE = 100;
let at = 0;
const ticked = new Set<string>();

export async function showRuns(main: HTMLElement): Promise<{ news(): void; close(): void }> {
  let [{ runs, damaged, folder }, control] = await Promise.all([api.runs(), api.control()]);
  let takeAway = () => {};
  const figure = el("div", { class: "chart" });
  const compare = el("section", { class: "card hidden", label: "comparison" }, el("h2", {}, "best cost over kernels evaluated"), figure);
  const body = el("tbody");
  const count = el("span", { class: "quiet" });
  const head = el("tr");
  const search = el("input", {
    set: { type: "search", placeholder: "filter: problem, run, state, model", "aria-label": "filter runs" },
    on: {
      input: () => {
        filter = search.value.toLowerCase();
        at = 0;
        draw();
      },
    },
  });
  search.value = filter;
  search.id = "filter";
  const start = el("button", { class: "main", on: { click: () => void askStart() } }, "start a run");
  const started = el("div");
  const trouble = el("div");
  const pages = el("div", { class: "tools" });
  const none = el("p", { class: "empty" });

  function drawComparison(): void {
    takeAway();
    takeAway = () => {};
    const chosen = runs.filter((row) => ticked.has(row.run) && !row.unread && row.best);
    compare.classList.toggle("hidden", chosen.length === 0);
    if (chosen.length === 0) return;
    const same = chosen.every((row) => row.problem === chosen[0]!.problem && row.best!.unit === chosen[0]!.best!.unit);
    replace(figure);
    const series = chosen.map((row) => ({
      name: row.run,
      end: row.evaluations,
      points: row.curve.map(([at, value]): [number, number] => [at, same ? value : (100 * value) / row.baseline!.value]),
    }));
    takeAway = chart(figure, series, [], same ? chosen[0]!.best!.unit : "percent of the baseline", COUNTED);
  }

  function turnBy(by: number): void {
    at += by;
    draw();
    scrollTo(0, 0);
  }

  /** Where no run asked a model, none has a cost. */
  const money = () => (runs.some((row) => row.usd > 0) ? "" : "hidden");

  function draw(): void {
    replace(
      head,
      el("th", { set: { scope: "col" } }, el("span", { class: "unseen" }, "compare")),
      ...COLUMNS.map((column) =>
        el(
          "th",
          {
            class: `${column.number ? "number" : ""} ${column.wide ? "wide" : ""} ${column.key === "usd" ? money() : ""}`,
            set: {
              scope: "col",
              "aria-sort": sort.key !== column.key ? "none" : sort.falling ? "descending" : "ascending",
            },
          },
          el(
            "button",
            {
              class: "sort",
              on: {
                click: () => {
                  at = 0;
                  sort = { key: column.key, falling: sort.key === column.key && !sort.falling };
                  draw();
                },
              },
            },
            column.name,
            sort.key === column.key && (sort.falling ? " ↓" : " ↑"),
          ),
        ),
      ),
    );
    const column = COLUMNS.find((it) => it.key === sort.key)!;
    const words = (row: api.RunRow) =>
      (row.unread ? row.run : [row.run, row.problem, row.target, state(row.status), ...row.proposers].join(" ")).toLowerCase();
    const shown = runs.filter((row) => filter.split(/\s+/).every((word) => words(row).includes(word)));
    shown.sort((a, b) => {
      if (a.unread || b.unread) return Number(a.unread ?? false) - Number(b.unread ?? false);
      const [x, y] = [column.value(a), column.value(b)];
      const order = x < y ? -1 : x > y ? 1 : 0;
      return sort.falling ? -order : order;
    });
    const unread = runs.filter((row) => row.unread).length;
    count.textContent = `${shown.length} of ${runs.length} runs${unread ? `, reading ${unread}…` : ""}`;
    replace(started, startedList(control.started, new Set(runs.map((row) => row.run))));
    replace(trouble, ...damaged.map((it) => el("p", { class: "trouble" }, `${it.run} cannot be read: ${it.message}`)));
    const n_pages = Math.max(1, Math.ceil(shown.length / PAGE));
    at = Math.min(at, n_pages - 1);
    const turn = (name: string, by: number) =>
      el("button", { set: at + by < 0 || at + by >= n_pages ? { disabled: "" } : {}, on: { click: () => turnBy(by) } }, name);
    replace(pages, ...(n_pages > 1 ? [turn("earlier page", -1), el("span", { class: "quiet" }, `page ${at + 1} of ${n_pages}`), turn("next page", 1)] : []));
    replace(none, shown.length === 0 && runs.length > 0 && "No run has all of these words.");
    replace(
      body,
      ...shown.slice(at * PAGE, (at + 1) * PAGE).map((row) => {
        const box = el("input", {
          set: { type: "checkbox", "aria-label": `compare ${row.run}` },
          on: {
            change: () => {
              if (box.checked) ticked.add(row.run);
              else ticked.delete(row.run);
              drawComparison();
            },
          },
        });
        box.checked = ticked.has(row.run);
        const link = `#/run/${encodeURIComponent(row.run)}`;
        if (row.unread)
          return el(
            "tr",
            { data: { open: link } },
            el("td"),
            el("td", {}, el("a", { href: link }, row.run === "." ? "this run" : row.run)),
            el("td", { class: "quiet", set: { colspan: String(COLUMNS.length - 1) } }, "reading…"),
          );
        return el(
          "tr",
          { data: { open: link } },
          el("td", {}, box),
          el("td", { class: "words" }, el("a", { href: link }, row.run === "." ? "this run" : row.run), el("span", { class: "narrow quiet" }, row.problem)),
          el("td", { class: "wide words" }, row.problem),
          el("td", {}, el("span", { class: `state state-${row.status.state}`, title: row.status.message }, state(row.status))),
          el("td", { class: "number" }, spark(row.curve, row.evaluations), row.best ? grouped(row.best.value) : "–", row.best && el("span", { class: "wide" }, ` ${row.best.unit}`)),
          el("td", { class: `number ${row.nothing_faster || row.little_faster ? "quiet" : (row.speedup ?? 0) > 1 ? "strong" : ""}` }, row.nothing_faster ? "no gain" : times(row.speedup)),
          el("td", { class: "number wide" }, percent(row.percent_of_peak)),
          el("td", { class: "number wide" }, grouped(row.evaluations)),
          el("td", { class: "number wide" }, clock(row.elapsed_ms)),
          el("td", { class: `number wide ${money()}` }, row.usd > 0 ? dollars(row.usd) : "–"),
          el("td", { class: "wide" }, date(row.started_at_ms)),
        );
      }),
    );
  }

  replace(
    main,
    el("h1", {}, "Runs"),
    el("div", { class: "tools" }, search, count, control.allowed && start),
    started,
    compare,
    runs.length === 0
      ? el("p", { class: "empty" }, `No runs below ${folder} yet. \`autocomp optimize\` makes one; it will appear here by itself.`)
      : el("div", { class: "scroll", set: { tabindex: "0" } }, el("table", { class: "rows" }, el("thead", {}, head), body)),
    none,
    pages,
    trouble,
  );
  draw();
  drawComparison();
  return {
    async news() {
      const before = runs.length;
      [{ runs, damaged, folder }, control] = await Promise.all([api.runs(), api.control()]);
      if (before === 0 && runs.length > 0) dispatchEvent(new HashChangeEvent("hashchange"));
      draw();
      drawComparison();
    },
    close: () => takeAway(),
  };
}
