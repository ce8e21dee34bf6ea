// Curves of the best cost, with reference lines.

import uPlot from "uplot";
import { el } from "./dom";
import { clock, dollars, grouped, short } from "./format";

export type Series = { name: string; points: [number, number][]; end: number };
/** What stands on the horizontal axis: how its values read, and how far its marks may be apart. */
export type Scale = { text(value: number): string; steps: number[] };
const ROUND = Array.from({ length: 12 }, (_, decade) => [1, 2, 5].map((it) => it * 10 ** decade)).flat();
export const COUNTED: Scale = { text: grouped, steps: ROUND };
/** Of seconds. */
export const TIMED: Scale = {
  text: (value) => clock(value * 1000),
  steps: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, ...ROUND.map((it) => 3600 * it)],
};
export const PAID: Scale = { text: dollars, steps: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, ...ROUND] };
/** A value to compare with; `own` is that of the curve itself, which has no line. */
export type Line = { name: string; value: number; own?: boolean };

const DASHES: (number[] | undefined)[] = [undefined, [9, 5], [2, 4], [12, 4, 2, 4]];
const COLOURS = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"];

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Joins the places of all series, each of which holds its value until the next. */
function aligned(series: Series[]): uPlot.AlignedData {
  const places = new Set<number>();
  for (const one of series) {
    for (const [x] of one.points) places.add(x);
    places.add(one.end);
  }
  const xs = [...places].sort((a, b) => a - b);
  const columns = series.map((one) => {
    let next = 0;
    let value: number | null = null;
    return xs.map((x) => {
      while (next < one.points.length && one.points[next]![0] <= x) value = one.points[next++]![1];
      return x <= one.end ? value : null;
    });
  });
  return [xs, ...columns] as uPlot.AlignedData;
}

/** Draws a figure into `place`; returns what takes it away. */
export function chart(
  place: HTMLElement,
  series: Series[],
  lines: Line[],
  unit: string,
  scale: Scale,
): () => void {
  const values = series.flatMap((one) => one.points.map((point) => point[1]));
  const all = values.concat(lines.map((line) => line.value)).filter((value) => value > 0);
  if (all.length === 0) {
    place.append(el("p", { class: "empty" }, "Nothing is measured yet."));
    return () => {};
  }
  const low = Math.min(...all) / 1.03;
  const high = Math.max(...all) * 1.03;
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { show: false } };
  const draw = (plot: uPlot) => {
    const { ctx } = plot;
    ctx.save();
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    let lowest = Infinity;
    for (const line of [...lines].sort((a, b) => a.value - b.value)) {
      const y = plot.valToPos(line.value, "y", true);
      ctx.strokeStyle = ctx.fillStyle = colour(line.own ? COLOURS[0]! : "--reference");
      ctx.font = `${line.own ? "bold " : ""}${11 * devicePixelRatio}px system-ui, sans-serif`;
      if (!line.own) {
        ctx.beginPath();
        ctx.moveTo(plot.bbox.left, y);
        ctx.lineTo(plot.bbox.left + plot.bbox.width, y);
        ctx.stroke();
      }
      const at = Math.min(y, lowest - 12 * devicePixelRatio);
      lowest = at;
      ctx.fillText(`${line.name} ${short(line.value)}`, plot.bbox.left + plot.bbox.width + 8 * devicePixelRatio, at + 4);
    }
    ctx.restore();
  };
  const plot = new uPlot(
    {
      width: Math.max(280, place.clientWidth),
      height: 300,
      padding: [10, 104, 0, 0],
      legend: { show: series.length > 1 },
      cursor: { drag: { x: true, y: false }, points: { size: 7 } },
      scales: { x: { time: false }, y: { distr: 3, range: [low, high] } },
      axes: [
        { ...axis, incrs: scale.steps, values: (_, marks) => marks.map(scale.text) },
        { ...axis, size: 64, label: unit, labelSize: 18, values: (_, marks) => marks.map((mark) => (mark ? short(mark) : "")), splits: () => marks(low, high), filter: (_, splits) => splits },
      ],
      series: [
        // Where nobody points, the figures are those of the end.
        { label: "at", value: (_, x) => (x === null || x === undefined ? "the end" : scale.text(x)) },
        ...series.map((one, idx) => ({
          label: one.name,
          value: (_: uPlot, y: number | null) => grouped(y ?? one.points.at(-1)?.[1]),
          stroke: colour(COLOURS[idx % COLOURS.length]!),
          width: 2.2,
          // Of more curves than colours, those of one colour differ in their dashes.
          dash: DASHES[Math.floor(idx / COLOURS.length) % DASHES.length],
          paths: uPlot.paths.stepped!({ align: 1 }),
          points: { show: one.points.length < 60, size: 6 },
        })),
      ],
      hooks: { draw: [draw] },
    },
    aligned(series),
    place,
  );
  const watcher = new ResizeObserver(() => plot.setSize({ width: Math.max(280, place.clientWidth), height: 300 }));
  watcher.observe(place);
  return () => {
    watcher.disconnect();
    plot.destroy();
  };
}

/** Returns round values between two others on a logarithmic scale. */
function marks(low: number, high: number): number[] {
  for (const steps of [[1, 1.2, 1.5, 2, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]]) {
    const found: number[] = [];
    for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10)
      for (const step of steps) if (step * decade >= low && step * decade <= high) found.push(step * decade);
    if (found.length <= 7 && found.length >= 2) return found;
  }
  const step = (high - low) / 4;
  return [0, 1, 2, 3, 4].map((idx) => Math.round(low + idx * step));
}
