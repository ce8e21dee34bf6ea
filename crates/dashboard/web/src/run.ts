// One run: figures, tree, the way to the best, all kernels, what it was made with.

import * as api from "./api";
import { COUNTED, type Line, PAID, TIMED, chart } from "./chart";
import { allowed, runButtons } from "./control";
import { el, replace } from "./dom";
import { clock, dollars, grouped, percent, state, times } from "./format";
import { kernelTable } from "./kernels";
import { drawTree } from "./tree";

/** Why there are no other kernels of the problem to compare with, by the state of the run. */
const OTHERS: Record<string, string> = {
  running: "The problem's other kernels are measured when the run ends.",
  stopped: "The problem's other kernels are measured when the run ends; this one was stopped.",
  broken: "The problem's other kernels are measured when the run ends; this one broke off.",
};

/** What is told of a run that is over and found nothing faster than what it began with, or little. */
function littleFaster(report: api.Run["report"]): HTMLElement | null {
  const { nothing_faster: nothing, little_faster: little } = report;
  const why = nothing ?? little;
  if (!why) return null;
  const list = (sentences: string[]) => el("ul", {}, ...sentences.map((it) => el("li", { class: "words" }, it.replace(/\bRUN\b/g, () => report.run))));
  const best = nothing
    ? "The best kernel is the one that the run began with. Why:"
    : report.is_tie
      ? "The best kernel and the one that the run began with are a tie, within what costs may be off. Why no more was gained:"
      : "Why no more was gained:";
  return el(
    "section",
    { class: "card" },
    el("h2", {}, nothing ? "Nothing faster was found" : "Little was gained"),
    el("p", {}, best),
    list(why.reasons),
    el("p", {}, "What next:"),
    list(why.next),
  );
}

type Axis = "evaluations" | "time" | "money";
let axis: Axis = "evaluations";

export async function showRun(main: HTMLElement, name: string): Promise<{ news(): void; close(): void }> {
  // The tree is the largest answer; all else is shown without it.
  const firstTree = api.tree(name);
  // Told where the tree would be; if there is no run, that is told instead.
  firstTree.catch(() => {});
  const [first, mayControl] = await Promise.all([api.run(name), allowed()]);
  let run = first;
  const buttons = el("div", { class: "tools" });
  let takeAway = () => {};
  const top = el("section");
  const figure = el("div", { class: "chart" });
  const choice = el("div", { class: "tabs", role: "group", label: "over what" });
  const references = el("div", { class: "scroll", set: { tabindex: "0" } });
  const treePlace = el("div", { class: "tree-place" });
  const story = el("section");
  const kernels = el("div");
  const yields = el("section");
  const about = el("section");
  const open = (kernel: string) => {
    location.hash = `#/run/${encodeURIComponent(name)}/${encodeURIComponent(kernel)}`;
  };

  function drawTop(): void {
    const { report } = run;
    const { progress } = report;
    const best = progress.best;
    const fastest = [...run.references].sort((a, b) => a.cost.value - b.cost.value)[0];
    const fact = (title: string, value: string, note: string) =>
      el("div", { class: "fact" }, el("dt", {}, title), el("dd", {}, value), el("dd", {}, note));
    const outcomes = Object.entries(progress.outcomes).filter(([, count]) => count > 0);
    replace(
      top,
      el("p", { class: "quiet path" }, el("a", { href: "#/" }, "runs"), ` / ${name}`),
      el("h1", {}, report.problem),
      el(
        "p",
        { class: "quiet" },
        `on ${report.target} · `,
        el("span", { class: `state state-${report.status.state}` }, state(report.status)),
        report.status.message ? ` ${report.status.message}` : "",
      ),
      littleFaster(report),
      el(
        "dl",
        { class: "facts" },
        fact("best", best ? grouped(best.cost.value) : "–", best ? best.cost.unit : "not measured yet"),
        fact("speed-up", report.nothing_faster ? "no gain" : times(report.speedup), `${report.is_tie ? "a tie, " : ""}from ${grouped(progress.baseline_cost?.value)}`),
        fact("of peak", percent(best?.percent_of_peak), `floor ${grouped(run.floor?.value)}`),
        fastest && best && fact(`against ${fastest.kernel}`, times(fastest.cost.value / best.cost.value), `${grouped(fastest.cost.value)}, the fastest other`),
        fact("evaluations", grouped(progress.evaluations), outcomes.map(([outcome, count]) => `${count} ${outcome.replace("_", " ")}`).join(", ")),
        fact("time", clock(report.elapsed_ms), `iteration ${progress.iteration} of ${progress.iterations}`),
        progress.usage.requests > 0 && fact("models", dollars(progress.usage.cost / 1e6), `${grouped(progress.usage.requests)} requests`),
      ),
    );
    const is = `${report.status.state} ${progress.iterations} ${progress.max_evaluations}`;
    if (!mayControl || buttons.dataset.of === is) return;
    // Left alone while nothing changes, so that it can be clicked at.
    buttons.dataset.of = is;
    runButtons(buttons, name, report.status.state, progress.evaluations, progress.iterations);
  }

  let drawnFor = "";
  function drawFigure(anew = true): void {
    // A curve that somebody points at stays, unless there is something new on it.
    const grown = Math.floor(Math.log(Math.max(1, run.report.progress.evaluations)) / Math.log(1.02));
    const now = `${run.improvements.length} ${run.references.length} ${grown}`;
    if (!anew && now === drawnFor) return;
    drawnFor = now;
    takeAway();
    replace(figure);
    const place = (it: api.Run["improvements"][number]) =>
      axis === "evaluations" ? it.evaluations : axis === "time" ? it.elapsed_ms / 1000 : it.usd;
    const end =
      axis === "evaluations"
        ? run.report.progress.evaluations
        : axis === "time"
          ? run.report.elapsed_ms / 1000
          : run.report.progress.usage.cost / 1e6;
    const lines: Line[] = run.references.map((it) => ({ name: it.kernel, value: it.cost.value }));
    if (run.floor) lines.push({ name: "floor", value: run.floor.value });
    const best = run.report.progress.best;
    if (best) lines.push({ name: "best", value: best.cost.value, own: true });
    const points = run.improvements.map((it): [number, number] => [place(it), it.value]);
    const scale = { evaluations: COUNTED, time: TIMED, money: PAID }[axis];
    takeAway = chart(figure, [{ name: "best", points, end }], lines, run.floor?.unit ?? "", scale);
    const axes: Axis[] = run.report.progress.usage.cost > 0 ? ["evaluations", "time", "money"] : ["evaluations", "time"];
    replace(
      choice,
      ...axes.map((it) =>
        el(
          "button",
          {
            set: { "aria-pressed": String(it === axis) },
            on: {
              click: () => {
                axis = it;
                drawFigure();
              },
            },
          },
          `over ${it}`,
        ),
      ),
    );
  }

  function drawReferences(): void {
    const best = run.report.progress.best?.cost;
    const baseline = run.report.progress.baseline_cost;
    if (!best || run.references.length === 0) {
      replace(references, el("p", { class: "quiet" }, OTHERS[run.report.status.state] ?? "No other kernel of the problem was measured with this run."));
      return;
    }
    const rows = run.references.map((it) => ({ name: it.kernel, value: it.cost.value }));
    // Where nothing faster was found, the best is the baseline.
    const gained = !run.report.nothing_faster;
    if (gained) rows.push({ name: "best found", value: best.value });
    if (baseline) rows.push({ name: "baseline", value: baseline.value });
    if (run.floor) rows.push({ name: "floor", value: run.floor.value });
    rows.sort((a, b) => b.value - a.value);
    replace(
      references,
      el(
        "table",
        { class: "rows" },
        el("thead", {}, el("tr", {}, ...["kernel", best.unit, gained ? "× the best found" : "× the baseline"].map((it, idx) => el("th", { class: idx ? "number" : "", set: { scope: "col" } }, it)))),
        el(
          "tbody",
          {},
          ...rows.map((row) =>
            el(
              "tr",
              { class: row.name === "best found" ? "chain" : "" },
              el("td", {}, row.name),
              el("td", { class: "number" }, grouped(row.value)),
              el("td", { class: "number" }, times(row.value / best.value)),
            ),
          ),
        ),
      ),
    );
  }

  function drawStory(): void {
    replace(
      story,
      el("h2", {}, "How it got there"),
      ...run.chain.map((step) =>
        el(
          "article",
          { class: "step" },
          el(
            "header",
            {},
            el("h3", {}, el("a", { href: `#/run/${encodeURIComponent(name)}/${encodeURIComponent(step.name)}` }, step.name)),
            el("span", {}, `${grouped(step.cost)} ${step.unit ?? ""}`),
            step.gain ? el("span", { class: "strong" }, times(step.gain)) : null,
            el("span", { class: "quiet" }, `${step.menu_item ?? "baseline"} · ${step.made_by}`),
          ),
          step.plan && el("p", { class: "plan" }, step.plan),
          step.changes.length > 0 && el("ul", { class: "chips", label: "what changed in the profile" }, ...step.changes.map((it) => el("li", {}, it))),
        ),
      ),
    );
  }

  /** Which worker on another machine did what. */
  function workers(): HTMLElement {
    const numbers = (row: api.WorkerShare) => [row.kernels, row.right, row.faults, clock(1000 * row.wall_s)];
    return el(
      "div",
      { class: "scroll", set: { tabindex: "0" } },
      el(
        "table",
        { class: "rows" },
        el("thead", {}, el("tr", {}, ...["evaluated by", "kernels", "right", "faults", "time"].map((it, idx) => el("th", { class: idx ? "number" : "", set: { scope: "col" } }, it)))),
        el("tbody", {}, ...run.workers.map((row) => el("tr", {}, el("td", {}, row.worker), ...numbers(row).map((it) => el("td", { class: "number" }, it))))),
      ),
    );
  }

  function drawYields(): void {
    const table = (rows: api.Yield[], title: string) =>
      el(
        "div",
        { class: "scroll", set: { tabindex: "0" } },
        el(
          "table",
          { class: "rows" },
          el(
            "thead",
            {},
            el("tr", {}, ...[title, "kernels", "right", "faster", "largest gain", "in the best", "models"].map((it, idx) => el("th", { class: idx ? "number" : "", set: { scope: "col" } }, it))),
          ),
          el(
            "tbody",
            {},
            ...rows.map((row) =>
              el(
                "tr",
                {},
                el("td", {}, row.name),
                el("td", { class: "number" }, row.kernels),
                el("td", { class: "number" }, `${row.right} (${Math.round((100 * row.right) / row.kernels)} %)`),
                el("td", { class: "number" }, `${row.faster} (${Math.round((100 * row.faster) / row.kernels)} %)`),
                el("td", { class: "number" }, times(row.best_gain)),
                el("td", { class: "number strong" }, row.in_chain ? `${times(row.factor)} in ${row.in_chain}` : "–"),
                el("td", { class: "number" }, row.usage.cost ? dollars(row.usage.cost / 1e6) : "–"),
              ),
            ),
          ),
        ),
      );
    replace(yields, el("h2", {}, "What came of what"), table(run.menu_items, "menu item"), table(run.proposers, "planned by"), run.workers.length > 0 && workers());
  }

  function drawAbout(): void {
    replace(
      about,
      el("h2", {}, "To do it again"),
      el("pre", { set: { tabindex: "0" } }, run.command),
      el("p", { class: "quiet" }, `Made by autocomp ${run.program}, compiled by ${run.report.compiler}, seed ${run.report.seed}.`),
      el(
        "details",
        {},
        el("summary", {}, "all settings"),
        el("pre", { set: { tabindex: "0" } }, run.settings ?? JSON.stringify(run.search, null, 2)),
      ),
    );
  }

  replace(
    main,
    top,
    buttons,
    el("section", { class: "card" }, choice, figure, references),
    el("section", {}, el("h2", {}, "Beam tree"), treePlace),
    story,
    el("section", {}, el("h2", {}, "All kernels"), kernels),
    yields,
    about,
  );
  replace(treePlace, el("p", { class: "quiet" }, "reading the tree…"));
  let drawn: ReturnType<typeof drawTree> | null = null;
  let closed = false;
  const showTree = (tree: api.Tree) => {
    if (closed) return;
    if (drawn) drawn.update(tree);
    else drawn = drawTree(treePlace, tree, open);
  };
  firstTree.then(showTree, (error) => replace(treePlace, el("p", { class: "trouble" }, String((error as Error).message))));
  const table = kernelTable(kernels, name, Object.entries(run.report.progress.outcomes).filter((it) => it[1] > 0).map((it) => it[0]));
  drawTop();
  drawFigure();
  drawReferences();
  drawStory();
  drawYields();
  drawAbout();
  return {
    async news() {
      const [newer, newerTree] = await Promise.all([api.run(name), api.tree(name)]);
      const isSame = JSON.stringify(newer.report) === JSON.stringify(run.report) && newer.references.length === run.references.length;
      // News of other runs are none of this one.
      if (isSame) return;
      const isBetter = newer.improvements.length !== run.improvements.length || newer.chain.at(-1)?.name !== run.chain.at(-1)?.name;
      run = newer;
      drawTop();
      drawFigure(false);
      drawReferences();
      if (isBetter) drawStory();
      drawYields();
      showTree(newerTree);
      table.news();
    },
    close() {
      closed = true;
      takeAway();
      drawn?.close();
    },
  };
}
