// One kernel: plan, difference side by side, code with its costs, findings, calls.

import * as api from "./api";
import { el, replace } from "./dom";
import { allowed, askFork } from "./control";
import { dollars, grouped, percent, times } from "./format";
import { type Drawn, Palette, drawTimeline } from "./timeline";

const SIDES = ["plan", "diff", "code", "profile", "timeline", "findings", "calls"] as const;
type Side = (typeof SIDES)[number];
/** The side that was looked at last, which the next kernel shows, too. */
let side: Side = "plan";

export const isSide = (word: string): word is Side => (SIDES as readonly string[]).includes(word);

/** Shows a kernel, of which the address may name a side. */
export async function showKernel(main: HTMLElement, run: string, name: string, wanted?: Side): Promise<{ key(key: string): boolean; close(): void }> {
  const [kernel, mayControl] = await Promise.all([api.kernel(run, name), allowed()]);
  let takeAway = () => {};
  const { row } = kernel;
  const link = (other: string) => `#/run/${encodeURIComponent(run)}/${encodeURIComponent(other)}`;
  const tabs = el("div", { class: "tabs", role: "tablist", label: "sides of the kernel" });
  const panel = el("div", { role: "tabpanel", set: { tabindex: "0", id: "panel" } });
  const isRight = row.outcome === "ok";
  const sides = SIDES.filter((it) => (it === "profile" ? isRight : it === "timeline" ? isRight && kernel.has_timeline : true));
  const counts: Partial<Record<Side, number>> = {
    findings: kernel.evaluation.diagnostics.length,
    calls: kernel.exchanges.length,
  };

  function turn(to: Side): void {
    side = to;
    // The address names the side, so that it can be passed on; going back leaves the kernel.
    history.replaceState(null, "", `${link(name)}/${side}`);
    takeAway();
    takeAway = () => {};
    replace(
      tabs,
      ...sides.map((it, idx) =>
        el(
          "button",
          {
            role: "tab",
            title: `key ${idx + 1}`,
            set: { "aria-selected": String(it === side), "aria-controls": "panel", ...(it !== side && { tabindex: "-1" }) },
            on: {
              click: () => turn(it),
              keydown: (event) => {
                const by = { ArrowRight: 1, ArrowLeft: sides.length - 1 }[(event as KeyboardEvent).key];
                if (!by) return;
                turn(sides[(idx + by) % sides.length]!);
                tabs.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
              },
            },
          },
          it,
          counts[it] ? el("span", { class: "count" }, counts[it]) : null,
        ),
      ),
    );
    const draw = { plan, diff, code, profile, timeline, findings, calls }[side];
    void draw();
  }

  /** What `autocomp profile` tells: causes, lines, what would be gained, roofline. */
  async function profile(): Promise<void> {
    const place = el("div", {}, el("p", { class: "quiet" }, "profiling the kernel…"));
    replace(panel, place);
    try {
      const { sections } = await api.profile(run, row.name);
      replace(
        place,
        ...sections.flatMap((it) => [it.title ? el("h3", {}, it.title) : null, el("pre", { class: "section", set: { tabindex: "0" } }, it.text.replace(/^\n+|\n+$/g, ""))]),
      );
    } catch (error) {
      failed(place, error, profile);
    }
  }

  function failed(place: HTMLElement, error: unknown, again: () => Promise<void>): void {
    replace(place, el("p", { class: "trouble", role: "alert" }, String((error as Error).message)), el("button", { on: { click: () => void again() } }, "try again"));
  }

  function timeline(): void {
    const [own, other] = [el("div"), el("div")];
    const palette = new Palette();
    const drawn: (Drawn | null)[] = [null, null];
    const longest = () => Math.max(0, ...drawn.map((it) => it?.end() ?? 0));
    const draw = (place: HTMLElement, at: number, of: string, source: string) => {
      // What one shows, the other shows, too.
      const moved = (from: number, to: number) => drawn[1 - at]?.show(from, to);
      drawn[at] = drawTimeline(place, run, of, source.split("\n"), { palette, moved, longest });
    };
    const beside = el("input", { label: "beside", set: { size: "8", placeholder: row.parent ?? "c0" } });
    beside.addEventListener("change", async () => {
      drawn[1]?.close();
      drawn[1] = null;
      replace(other);
      const of = beside.value.trim();
      if (of === "") return;
      try {
        const compared = await api.kernel(run, of);
        replace(other, el("h3", {}, compared.row.name));
        const place = el("div");
        other.append(place);
        draw(place, 1, compared.row.name, compared.code);
      } catch (error) {
        replace(other, el("p", { class: "trouble", role: "alert" }, String((error as Error).message)));
      }
    });
    replace(panel, el("div", { class: "tools" }, el("label", {}, "beside ", beside)), own, other);
    draw(own, 0, row.name, kernel.code);
    takeAway = () => drawn.forEach((it) => it?.close());
  }

  function plan(): void {
    const feedback = kernel.evaluation.feedback;
    replace(
      panel,
      kernel.plan ? el("p", { class: "plan lead" }, kernel.plan) : el("p", { class: "quiet" }, "The kernel that the run began with."),
      kernel.changes.length > 0 && el("h3", {}, "what it changed in the profile"),
      kernel.changes.length > 0 && el("ul", { class: "chips" }, ...kernel.changes.map((it) => el("li", {}, it))),
      feedback && el("h3", {}, "what limits it"),
      feedback && el("p", { class: "plan" }, feedback.bottleneck),
      kernel.children.length > 0 && el("h3", {}, "made from it"),
      kernel.children.length > 0 &&
        el("p", { class: "names" }, ...kernel.children.flatMap((it) => [el("a", { href: link(it) }, it), " "])),
    );
  }

  async function diff(): Promise<void> {
    const from = el("input", { label: "compared with", set: { size: "8", value: row.parent ?? "", placeholder: "c0" } });
    const place = el("div", { class: "differs" });
    const draw = async (): Promise<void> => {
      takeAway();
      takeAway = () => {};
      if (from.value === "") {
        replace(place, el("p", { class: "quiet" }, "Name a kernel to compare with."));
        return;
      }
      if (place.childElementCount === 0) replace(place, el("p", { class: "quiet" }, "comparing…"));
      try {
        // Large, and not needed before.
        const [{ drawDifference }, { lines }, other] = await Promise.all([import("./diff"), api.diff(run, from.value, row.name), api.kernel(run, from.value)]);
        if (side !== "diff" || !place.isConnected) return;
        const isSame = lines.every((line) => line.kind === "same");
        if (isSame) replace(place, el("p", { class: "quiet" }, "The code is the same but for white space."));
        else takeAway = drawDifference(place, lines, other.code, kernel.code, [from.value, row.name]);
      } catch (error) {
        failed(place, error, draw);
      }
    };
    from.addEventListener("change", () => void draw());
    replace(panel, el("div", { class: "tools" }, el("label", {}, "from ", from), el("span", { class: "quiet" }, `to ${row.name}`)), place);
    await draw();
  }

  function code(): void {
    const costs = new Map<number, api.LineCost>();
    for (const line of kernel.evaluation.feedback?.lines ?? []) costs.set(line.location.line, line);
    const total = row.cost ?? 0;
    const lines = kernel.code.split("\n");
    if (lines.at(-1) === "") lines.pop();
    replace(
      panel,
      costs.size > 0 && el("p", { class: "quiet" }, "Beside each line, the share of the cost that it is charged with, and the main cause."),
      el(
        "div",
        { class: "scroll code", set: { tabindex: "0" } },
        el(
          "table",
          {},
          el(
            "tbody",
            {},
            ...lines.map((text, idx) => {
              const cost = costs.get(idx + 1);
              const share = cost && total ? (100 * (cost.cycles ?? cost.ns ?? 0)) / total : 0;
              const cell = el("td", { class: "share", title: cost ? `${grouped(cost.cycles ?? cost.ns)}: ${cost.cause}` : undefined }, share >= 0.05 ? percent(share) : "");
              cell.style.setProperty("--share", `${share.toFixed(1)}%`);
              return el(
                "tr",
                { class: share >= 10 ? "hot" : "" },
                el("td", { class: "n" }, idx + 1),
                cell,
                el("td", { class: "t" }, text),
                el("td", { class: "cause" }, share >= 1 ? cost!.cause.replaceAll("-", " ") : ""),
              );
            }),
          ),
        ),
      ),
    );
  }

  function findings(): void {
    replace(
      panel,
      kernel.evaluation.diagnostics.length === 0 && el("p", { class: "quiet" }, "The evaluator found nothing to complain about."),
      ...kernel.evaluation.diagnostics.map((it) =>
        el(
          "article",
          { class: `finding ${it.severity}` },
          el("h3", {}, `${it.severity}: ${it.code}`, it.location ? ` at line ${it.location.line}` : ""),
          el("p", { class: "plan" }, it.message),
          ...(it.notes ?? []).map((note) => el("pre", {}, note)),
          it.remedy ? el("p", {}, `Remedy: ${it.remedy}`) : null,
        ),
      ),
    );
  }

  function calls(): void {
    replace(
      panel,
      kernel.exchanges.length === 0 && el("p", { class: "quiet" }, "No model was asked for this kernel."),
      ...kernel.exchanges.map((it) =>
        el(
          "article",
          {},
          el("h3", {}, it.model),
          el(
            "p",
            { class: "quiet" },
            `${grouped(it.usage.input_tokens + it.usage.cached_tokens)} tokens in, ${grouped(it.usage.output_tokens)} out, ${dollars(it.usage.cost / 1e6)}, ${(it.latency_ms / 1000).toFixed(1)} s`,
          ),
          it.error && el("p", { class: "trouble" }, it.error),
          el("details", { set: { open: "" } }, el("summary", {}, "reply"), el("pre", { set: { tabindex: "0" } }, it.reply)),
          el("details", {}, el("summary", {}, "prompt"), el("pre", { set: { tabindex: "0" } }, it.prompt)),
        ),
      ),
    );
  }

  replace(
    main,
    el("p", { class: "quiet path" }, el("a", { href: "#/" }, "runs"), " / ", el("a", { href: `#/run/${encodeURIComponent(run)}` }, run), ` / ${row.name}`),
    el("h1", {}, row.name, row.cost !== null ? el("span", { class: "cost" }, ` ${grouped(row.cost)} ${row.unit}`) : null),
    el(
      "p",
      { class: "quiet" },
      row.outcome !== "ok" ? el("span", { class: `outcome outcome-${row.outcome}` }, row.outcome.replace("_", " "), " · ") : null,
      row.gain ? el("span", { class: "strong" }, `${times(row.gain)} `) : null,
      row.parent ? "from " : null,
      row.parent ? el("a", { href: link(row.parent) }, row.parent) : null,
      row.parent ? " · " : null,
      [
        row.percent_of_peak !== null && `${percent(row.percent_of_peak)} of peak`,
        ...new Set([row.menu_item ?? "baseline", row.made_by, `evaluation ${row.evaluation}`, kernel.task]),
        row.usd > 0 && dollars(row.usd),
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    mayControl && row.outcome === "ok" && el("div", { class: "tools" }, el("button", { on: { click: () => askFork(run, row.name, row.evaluation) } }, `fork from ${row.name}`)),
    tabs,
    panel,
  );
  const first = wanted ?? (isRight ? side : "findings");
  turn(sides.includes(first) ? first : "plan");
  return {
    key(key) {
      const place = Number(key) - 1;
      if (sides[place]) turn(sides[place]);
      else if (key === "p" && row.parent) location.hash = link(row.parent);
      else return false;
      return true;
    },
    close: () => takeAway(),
  };
}
