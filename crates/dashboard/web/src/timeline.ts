// When what happened during a call of a kernel: tracks on a canvas. The server sends no more
// than there are columns, so a part is asked for again whenever another one is shown.

import * as api from "./api";
import { el, onceAFrame, replace } from "./dom";
import { grouped, percent, short, units } from "./format";

const ROW = 26;
const HEAD = 24;
const LEFT = 128;
const COLOURS = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6"];
/** All that has no colour of its own. */
const OTHERS = "--c7";

/** Colours of activities: no two that have one of their own share it, whatever is shown. */
export class Palette {
  private readonly known = new Map<string, string>();

  /** Gives colours to names, in order, as long as there are any. */
  add(names: string[]): void {
    for (const name of names)
      if (this.known.size < COLOURS.length && !this.known.has(name)) this.known.set(name, COLOURS[this.known.size]!);
  }
  of(name: string): string {
    return this.known.get(name) ?? OTHERS;
  }
}

/** Where a timeline is drawn beside another: both show the same time. */
export type Beside = { palette: Palette; moved(from: number, to: number): void; longest(): number };
export type Drawn = { show(from: number, to: number): void; end(): number; close(): void };

export function drawTimeline(place: HTMLElement, run: string, kernel: string, source: string[], beside: Beside): Drawn {
  const later = onceAFrame(paint);
  const canvas = el("canvas", { class: "timeline", role: "img", label: `timeline of ${kernel}: what each unit does over time; the table of the code has the costs as text` });
  canvas.tabIndex = 0;
  const told = el("p", { class: "told", set: { "aria-live": "polite" } }, `profiling ${kernel}…`);
  const legend = el("ul", { class: "legend" });
  const button = (label: string, text: string, act: () => void) => el("button", { label, on: { click: act } }, text);
  const tools = el(
    "div",
    { class: "tools" },
    button("zoom in", "+", () => zoom(0.5, 0.5)),
    button("zoom out", "−", () => zoom(2, 0.5)),
    button("earlier", "←", () => move(-0.25)),
    button("later", "→", () => move(0.25)),
    button("the whole call", "all", () => moveTo(0, longest())),
  );
  replace(place, tools, el("div", { class: "tree-box" }, canvas), told, legend);

  let part: api.Timeline | null = null;
  // What is shown, which may be ahead of what was answered, and longer than the call.
  let [from, to] = [0, 0];
  let asking = false;
  let closed = false;
  const width = () => Math.max(300, canvas.clientWidth);
  const inner = () => width() - LEFT;
  const longest = () => Math.max(part?.end ?? 1, beside.longest());

  async function ask(): Promise<void> {
    if (asking || closed) return;
    asking = true;
    try {
      const [wantedFrom, wantedTo] = [from, to];
      part = await api.timeline(run, kernel, wantedFrom, wantedTo || null, Math.min(1600, inner()));
      beside.palette.add(part.names);
      if (to === 0) {
        to = longest();
        beside.moved(from, to);
      }
      asking = false;
      if (closed) return;
      drawRange();
      drawLegend();
      later();
      if (wantedTo !== 0 && (wantedFrom !== from || wantedTo !== to)) void ask();
    } catch (error) {
      asking = false;
      if (closed) return;
      const again = el("button", { on: { click: () => void retry() } }, "try again");
      replace(place, el("p", { class: "trouble", role: "alert" }, String((error as Error).message)), again);
    }
  }
  function retry(): void {
    replace(place, tools, el("div", { class: "tree-box" }, canvas), told, legend);
    told.textContent = `profiling ${kernel}…`;
    void ask();
  }
  function show(start: number, end: number): void {
    if (!part) return;
    const length = Math.min(longest(), Math.max(20, end - start));
    from = Math.round(Math.max(0, Math.min(start, longest() - length)));
    to = Math.round(from + length);
    drawRange();
    later();
    void ask();
  }
  /** Moves, and what is drawn beside with it. */
  function moveTo(start: number, end: number): void {
    show(start, end);
    beside.moved(from, to);
  }
  const zoom = (by: number, at: number) => {
    const length = (to - from) * by;
    const middle = from + (to - from) * at;
    moveTo(middle - length * at, middle + length * (1 - at));
  };
  const move = (by: number) => moveTo(from + (to - from) * by, to + (to - from) * by);

  /** Says what is in sight, which is drawn at once of what is there; details come later. */
  function drawRange(): void {
    if (part)
      told.textContent = `${grouped(from)} to ${grouped(Math.min(to, part.end))} of ${grouped(part.end)} ${units(part.unit)}. Wheel to zoom, drag to move, point at something to see what it is.`;
  }
  /** What goes on, and in which part of the time in sight. */
  function drawLegend(): void {
    if (!part) return;
    const length = Math.max(1, part.to - part.from);
    const seen = part.names.map((name, idx) => ({ name, share: (100 * part!.busy[idx]!) / length })).filter((it) => it.share > 0);
    const [own, others] = [seen.filter((it) => beside.palette.of(it.name) !== OTHERS), seen.filter((it) => beside.palette.of(it.name) === OTHERS)];
    const entry = (colour: string, ...texts: string[]) => {
      const box = el("span", { class: "box" });
      box.style.background = `var(${colour})`;
      return el("li", {}, box, ...texts);
    };
    const told = (it: { name: string; share: number }) => `${it.name} ${percent(it.share)}`;
    replace(
      legend,
      ...own.map((it) => entry(beside.palette.of(it.name), told(it))),
      others.length > 0 && entry(OTHERS, `others: ${others.slice(0, 5).map(told).join(", ")}${others.length > 5 ? ` and ${others.length - 5} more` : ""}`),
    );
    legend.title = "in which part of the time in sight each goes on, on any track";
  }

  function paint(): void {
    if (!part || closed) return;
    const scale = devicePixelRatio;
    const height = HEAD + part.tracks.length * ROW + 6;
    canvas.style.height = `${height}px`;
    canvas.width = width() * scale;
    canvas.height = height * scale;
    const ctx = canvas.getContext("2d")!;
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const ink = (name: string) => style.getPropertyValue(name).trim();
    const inks = part.names.map((name) => ink(beside.palette.of(name)));
    const x = (time: number) => LEFT + ((time - from) / (to - from)) * inner();
    ctx.font = "12px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    const step = niceStep((to - from) / Math.max(2, Math.floor(inner() / 110)));
    for (let mark = Math.ceil(from / step) * step; mark <= to; mark += step) {
      ctx.fillStyle = ink("--rule");
      ctx.fillRect(x(mark), HEAD - 6, 1, height);
      ctx.fillStyle = ink("--quiet");
      ctx.textAlign = x(mark) > width() - 40 ? "right" : "left";
      ctx.fillText(short(mark), x(mark) + (ctx.textAlign === "left" ? 3 : -3), 9);
    }
    part.tracks.forEach((track, row) => {
      const y = HEAD + row * ROW;
      ctx.textAlign = "right";
      ctx.fillStyle = ink("--ink");
      // Lanes of one unit have its name once.
      if (part!.tracks[row - 1]?.name !== track.name) ctx.fillText(track.name, LEFT - 10, y + ROW / 2, LEFT - 16);
      ctx.save();
      ctx.beginPath();
      ctx.rect(LEFT, y, inner(), ROW);
      ctx.clip();
      ctx.fillStyle = ink("--wash");
      ctx.fillRect(LEFT, y + 3, Math.max(0, Math.min(inner(), x(part!.end) - LEFT)), ROW - 6);
      ctx.textAlign = "left";
      for (const [begin, end, name, , busy] of track.spans) {
        const [left, right] = [x(begin), x(end)];
        if (right < LEFT || left > width()) continue;
        const tall = ((ROW - 6) * busy) / 100;
        ctx.fillStyle = inks[name]!;
        ctx.fillRect(left, y + ROW - 3 - tall, Math.max(1, right - left - (right - left > 3 ? 0.6 : 0)), tall);
        if (right - left > 54 && busy === 100) {
          ctx.fillStyle = ink("--card");
          ctx.fillText(part!.names[name]!, Math.max(LEFT, left) + 5, y + ROW / 2, right - Math.max(LEFT, left) - 8);
        }
      }
      ctx.restore();
    });
  }

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) / 900);
      else zoom(Math.exp(event.deltaY / 300), Math.min(1, Math.max(0, (event.clientX - box.left - LEFT) / inner())));
    },
    { passive: false },
  );
  let held: number | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = event.clientX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => (held = null));
  canvas.addEventListener("pointermove", (event) => {
    if (!part) return;
    if (held !== null) {
      const by = ((held - event.clientX) / inner()) * (to - from);
      held = event.clientX;
      moveTo(from + by, to + by);
      return;
    }
    const box = canvas.getBoundingClientRect();
    const time = from + ((event.clientX - box.left - LEFT) / inner()) * (to - from);
    const track = part.tracks[Math.floor((event.clientY - box.top - HEAD) / ROW)];
    const span = track?.spans.find((it) => it[0] <= time && time < it[1]);
    if (!span) return;
    const [begin, end, name, line, busy] = span;
    const at = line > 0 ? ` · line ${line}: ${(source[line - 1] ?? "").trim()}` : "";
    const much = busy < 100 ? `mostly ${part.names[name]}, busy ${busy} % of the time` : part.names[name];
    told.textContent = `${track!.name} · ${much} · ${grouped(begin)} to ${grouped(end)} (${grouped(end - begin)} ${units(part.unit)})${at}`;
  });
  canvas.addEventListener("keydown", (event) => {
    const act = { "+": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  const watcher = new ResizeObserver(later);
  watcher.observe(place);
  void ask();
  return {
    show,
    end: () => part?.end ?? 0,
    close() {
      closed = true;
      watcher.disconnect();
    },
  };
}

/** Returns a round number that is not less. */
function niceStep(least: number): number {
  const decade = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return Math.max(1, [1, 2, 5, 10].find((it) => it * decade >= least)! * decade);
}
