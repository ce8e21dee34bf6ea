// When what happened during a call of a kernel: tracks on a canvas. The server sends no more
// than there are columns, so a part is asked for again whenever another one is shown.

import * as api from "./api";
import { el, onceAFrame, replace } from "./dom";
import { grouped, percent, short } from "./format";

const ROW = 26;
const HEAD = 24;
const LEFT = 128;
const COLOURS = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"];

export function drawTimeline(place: HTMLElement, run: string, kernel: string, source: string[]): () => void {
  const later = onceAFrame(paint);
  const canvas = el("canvas", { class: "timeline", role: "img", label: "timeline: what each unit does over time; the table of the code has the costs as text" });
  canvas.tabIndex = 0;
  const told = el("p", { class: "told", set: { "aria-live": "polite" } }, "simulating the kernel…");
  const legend = el("ul", { class: "legend" });
  const button = (label: string, text: string, act: () => void) => el("button", { label, on: { click: act } }, text);
  const tools = el(
    "div",
    { class: "tools" },
    button("zoom in", "+", () => zoom(0.5, 0.5)),
    button("zoom out", "−", () => zoom(2, 0.5)),
    button("earlier", "←", () => move(-0.25)),
    button("later", "→", () => move(0.25)),
    button("the whole call", "all", () => show(0, part?.end ?? 1)),
  );
  replace(place, tools, el("div", { class: "tree-box" }, canvas), told, legend);

  let part: api.Timeline | null = null;
  // What is shown, which may be ahead of what was answered.
  let [from, to] = [0, 0];
  let asking = false;
  let closed = false;
  const width = () => Math.max(300, canvas.clientWidth);
  const inner = () => width() - LEFT;

  async function ask(): Promise<void> {
    if (asking || closed) return;
    asking = true;
    try {
      const [wantedFrom, wantedTo] = [from, to];
      part = await api.timeline(run, kernel, wantedFrom, wantedTo || null, Math.min(1600, inner()));
      if (to === 0) to = part.end;
      asking = false;
      if (closed) return;
      drawRange();
      drawLegend();
      later();
      if (wantedTo !== 0 && (wantedFrom !== from || wantedTo !== to)) void ask();
    } catch (error) {
      asking = false;
      if (!closed) replace(place, el("p", { class: "quiet" }, String((error as Error).message)));
    }
  }
  function show(start: number, end: number): void {
    if (!part) return;
    const length = Math.min(part.end, Math.max(20, end - start));
    from = Math.round(Math.max(0, Math.min(start, part.end - length)));
    to = Math.round(from + length);
    drawRange();
    later();
    void ask();
  }
  const zoom = (by: number, at: number) => {
    const length = (to - from) * by;
    const middle = from + (to - from) * at;
    show(middle - length * at, middle + length * (1 - at));
  };
  const move = (by: number) => show(from + (to - from) * by, to + (to - from) * by);
  const colour = (name: number) => `var(${COLOURS[name % COLOURS.length]})`;

  /** Says what is in sight, which is drawn at once of what is there; details come later. */
  function drawRange(): void {
    if (part)
      told.textContent = `${grouped(from)} to ${grouped(to)} of ${grouped(part.end)} ${part.unit}s. Wheel to zoom, drag to move, point at something to see what it is.`;
  }
  function drawLegend(): void {
    if (!part) return;
    const sums = new Map<number, number>();
    for (const track of part.tracks)
      for (const [begin, end, name, , busy] of track.spans) sums.set(name, (sums.get(name) ?? 0) + ((end - begin) * busy) / 100);
    const names = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 12);
    replace(
      legend,
      ...names.map(([name, sum]) => {
        const box = el("span", { class: "box" });
        box.style.background = colour(name);
        return el("li", {}, box, `${part!.names[name]} ${percent((100 * sum) / (part!.to - part!.from))}`);
      }),
    );
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
    const inks = COLOURS.map(ink);
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
      ctx.fillRect(LEFT, y + 3, inner(), ROW - 6);
      ctx.textAlign = "left";
      for (const [begin, end, name, , busy] of track.spans) {
        const [left, right] = [x(begin), x(end)];
        if (right < LEFT || left > width()) continue;
        const tall = ((ROW - 6) * busy) / 100;
        ctx.fillStyle = inks[name % inks.length]!;
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
      show(from + by, to + by);
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
    told.textContent = `${track!.name} · ${much} · ${grouped(begin)} to ${grouped(end)} (${grouped(end - begin)} ${part.unit}s)${at}`;
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
  return () => {
    closed = true;
    watcher.disconnect();
  };
}

/** Returns a round number that is not less. */
function niceStep(least: number): number {
  const decade = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return Math.max(1, [1, 2, 5, 10].find((it) => it * decade >= least)! * decade);
}
