// The beam tree on a canvas: iteration to the right, cost upwards; wheel and pinch zoom,
// dragging moves, a click opens a kernel.

import type { Tree } from "./api";
import { el, onceAFrame, replace } from "./dom";
import { grouped, short } from "./format";

const HEIGHT = 440;
const LEFT = 62;
const BOTTOM = 28;
/** Pixels within which kernels count as at the same place. */
const CELL = 2;
const CELLS = 0x1000000;
/** Lines across. */
const MARKS = 7;
/** Iterations in sight when the latest are followed. */
const SHOWN = 6;

export function drawTree(place: HTMLElement, tree: Tree, open: (kernel: string) => void): { update(tree: Tree): void; close(): void } {
  const later = onceAFrame(paint);
  let data = tree;
  const canvas = el("canvas", {
    class: "tree",
    role: "img",
    label: "beam tree: kernels by iteration and cost; the table of kernels has the same as text",
  });
  const told = el("p", { class: "told" });
  const follows = el(
    "button",
    {
      title: "keep the latest iterations in sight",
      set: { "aria-pressed": "false" },
      on: { click: () => setFollowing(follows.getAttribute("aria-pressed") === "false") },
    },
    "follow",
  );
  const buttons = el(
    "div",
    { class: "buttons" },
    el("button", { label: "zoom in", on: { click: () => zoom(1.5, width() / 2, HEIGHT / 2) } }, "+"),
    el("button", { label: "zoom out", on: { click: () => zoom(1 / 1.5, width() / 2, HEIGHT / 2) } }, "−"),
    el("button", { on: { click: () => reset() } }, "all"),
    follows,
  );
  replace(place, el("div", { class: "tree-box" }, canvas, buttons), told);
  let view = { x: 0, y: 0, scale: 1 };
  let xs = new Float64Array(0);
  let ys = new Float64Array(0);
  let low = 1;
  let high = 2;
  let columns = 1;
  const width = () => Math.max(280, canvas.clientWidth);

  function arrange(): void {
    const n = data.name.length;
    low = Infinity;
    high = 0;
    columns = 1;
    const counts = new Map<number, number>();
    for (let idx = 0; idx < n; idx++) {
      low = Math.min(low, data.cost[idx]!);
      high = Math.max(high, data.cost[idx]!);
      const iteration = data.iteration[idx]!;
      columns = Math.max(columns, iteration + 1);
      counts.set(iteration, (counts.get(iteration) ?? 0) + 1);
    }
    const ratio = Math.max(1.05, high / low);
    high = low * ratio ** 1.08;
    low /= ratio ** 0.002;
    xs = new Float64Array(n);
    ys = new Float64Array(n);
    const seen = new Map<number, number>();
    for (let idx = 0; idx < n; idx++) {
      const iteration = data.iteration[idx]!;
      const number = (seen.get(iteration) ?? 0) + 1;
      seen.set(iteration, number);
      xs[idx] = (iteration + 0.2 + (0.6 * number) / (counts.get(iteration)! + 1)) / columns;
      ys[idx] = height(data.cost[idx]!);
    }
  }

  /**
   * Where a cost stands, from 0 to 1: logarithmic, but stretched towards the best, since of
   * most searches all but the start is close to it.
   */
  const height = (cost: number) => Math.sqrt(Math.max(0, Math.log(cost / low) / Math.log(high / low)));

  /** Costs for the axis, of three digits, for the part of it that is in sight. */
  function marks(): number[] {
    const found = new Set<number>();
    for (let idx = 0; idx < MARKS; idx++) {
      const y = 10 + ((idx + 0.5) * (HEIGHT - BOTTOM - 10)) / MARKS;
      const at = 1 - (y - 10 + view.y * view.scale) / ((HEIGHT - BOTTOM - 10) * view.scale);
      found.add(+(low * (high / low) ** (at * at)).toPrecision(view.scale > 4 ? 4 : 3));
    }
    return [...found];
  }

  const px = (x: number) => LEFT + (x * (width() - LEFT - 10) - view.x) * view.scale;
  const py = (y: number) => (1 - y) * (HEIGHT - BOTTOM - 10) * view.scale - view.y * view.scale + 10;

  function paint(): void {
    const scale = devicePixelRatio;
    canvas.width = width() * scale;
    canvas.height = HEIGHT * scale;
    const ctx = canvas.getContext("2d")!;
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const ink = (name: string) => style.getPropertyValue(name).trim();
    ctx.font = "12px system-ui, sans-serif";
    ctx.lineWidth = 1;
    for (const mark of marks()) {
      const y = py(height(mark));
      if (y < 4 || y > HEIGHT - BOTTOM) continue;
      ctx.strokeStyle = ink("--rule");
      ctx.beginPath();
      ctx.moveTo(LEFT, y);
      ctx.lineTo(width(), y);
      ctx.stroke();
      ctx.fillStyle = ink("--quiet");
      ctx.textAlign = "right";
      ctx.fillText(view.scale > 4 ? grouped(mark) : short(mark), LEFT - 8, y + 4);
    }
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, 0, width() - LEFT, HEIGHT - BOTTOM);
    ctx.clip();
    // Of kernels that lie on one another, and lines that do, one is drawn: thousands of them
    // cost no more than what is seen of them.
    const seen = new Set<number>();
    const isNew = (key: number) => seen.size < seen.add(key).size;
    const cell = (x: number, y: number) => (Math.round(x / CELL) & 0xfff) * 0x1000 + (Math.round(y / CELL) & 0xfff);
    for (const standing of [0, 1, 2]) {
      ctx.strokeStyle = ink(standing === 2 ? "--accent" : standing === 1 ? "--quiet" : "--rule");
      ctx.globalAlpha = standing === 1 ? 0.5 : 1;
      ctx.lineWidth = standing === 2 ? 2.6 : 1;
      ctx.beginPath();
      seen.clear();
      for (let idx = 0; idx < xs.length; idx++) {
        const parent = data.parent[idx];
        if (data.standing[idx] !== standing || parent === null || parent === undefined) continue;
        const [x0, y0, x1, y1] = [px(xs[parent]!), py(ys[parent]!), px(xs[idx]!), py(ys[idx]!)];
        if (x1 < LEFT || x0 > width() || !isNew(cell(x0, y0) * CELLS + cell(x1, y1))) continue;
        ctx.moveTo(x0, y0);
        ctx.bezierCurveTo((x0 + x1) / 2, y0, (x0 + x1) / 2, y1, x1, y1);
      }
      ctx.stroke();
      ctx.globalAlpha = 1;
      ctx.fillStyle = ink(standing === 2 ? "--accent" : standing === 1 ? "--quiet" : "--faint");
      const radius = standing === 2 ? 5 : standing === 1 ? 3.6 : 2.4;
      ctx.beginPath();
      seen.clear();
      for (let idx = 0; idx < xs.length; idx++) {
        if (data.standing[idx] !== standing) continue;
        const [x, y] = [px(xs[idx]!), py(ys[idx]!)];
        if (x < LEFT - 6 || x > width() + 6 || y < -6 || y > HEIGHT || !isNew(cell(x, y))) continue;
        ctx.moveTo(x + radius, y);
        ctx.arc(x, y, radius, 0, 7);
      }
      ctx.fill();
    }
    ctx.fillStyle = ink("--ink");
    ctx.textAlign = "center";
    ctx.font = "600 12px system-ui, sans-serif";
    let last = -Infinity;
    for (let idx = 0; idx < xs.length; idx++) {
      const x = px(xs[idx]!);
      if (data.standing[idx] !== 2 || x - last < 38) continue;
      last = x;
      ctx.fillText(data.name[idx]!, x, py(ys[idx]!) - 9);
    }
    ctx.restore();
    ctx.font = "12px system-ui, sans-serif";
    ctx.fillStyle = ink("--quiet");
    const every = Math.max(1, Math.ceil(36 / (((width() - LEFT) / columns) * view.scale)));
    for (let iteration = 0; iteration < columns; iteration += every) {
      const x = px((iteration + 0.5) / columns);
      if (x > LEFT && x < width()) ctx.fillText(iteration === 0 ? "start" : String(iteration), x, HEIGHT - 8);
    }
    const some = data.total > data.name.length ? `${grouped(data.name.length)} of ` : "";
    const which = some && ": those of the beams, then the cheapest";
    told.textContent = `${some}${grouped(data.total)} right kernels${which}. The scale is stretched towards the best cost. Drag to move, wheel to zoom, click to open.`;
  }

  /** Keeps the latest iterations and the cheapest kernels in sight as the run goes on. */
  function setFollowing(on: boolean): void {
    follows.setAttribute("aria-pressed", String(on));
    if (on) follow();
  }
  function follow(): void {
    const whole = width() - LEFT - 10;
    const scale = Math.max(1, columns / SHOWN);
    view = { x: whole - whole / scale, y: (HEIGHT - BOTTOM - 10) * (1 - 1 / scale), scale };
    later();
  }
  function reset(): void {
    setFollowing(false);
    view = { x: 0, y: 0, scale: 1 };
    later();
  }
  function zoom(by: number, x: number, y: number): void {
    setFollowing(false);
    const scale = Math.min(200, Math.max(1, view.scale * by));
    view.x += (x - LEFT) / view.scale - (x - LEFT) / scale;
    view.y += (y - 10) / view.scale - (y - 10) / scale;
    view.scale = scale;
    if (scale === 1) view.x = view.y = 0;
    later();
  }
  function nearest(event: PointerEvent): number {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [found, least] = [-1, 14 * 14];
    for (let idx = 0; idx < xs.length; idx++) {
      const distance = (px(xs[idx]!) - x) ** 2 + (py(ys[idx]!) - y) ** 2;
      if (distance < least) [found, least] = [idx, distance];
    }
    return found;
  }
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
    },
    { passive: false },
  );
  let held: { x: number; y: number; moved: boolean } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (Math.abs(dx) + Math.abs(dy) > 3) held.moved = true;
      if (!held.moved) return;
      setFollowing(false);
      view.x -= dx / view.scale;
      view.y -= dy / view.scale;
      held.x = event.clientX;
      held.y = event.clientY;
      later();
      return;
    }
    const found = nearest(event);
    canvas.classList.toggle("over", found >= 0);
    canvas.title = found < 0 ? "" : `${data.name[found]}: ${grouped(data.cost[found])}, ${data.item[found] ?? "baseline"}`;
  });
  canvas.addEventListener("pointerup", (event) => {
    const clicked = held && !held.moved;
    held = null;
    const found = nearest(event);
    if (clicked && found >= 0) open(data.name[found]!);
  });
  const watcher = new ResizeObserver(later);
  watcher.observe(place);
  arrange();
  later();
  return {
    update(next) {
      data = next;
      arrange();
      if (follows.getAttribute("aria-pressed") === "true") follow();
      later();
    },
    close() {
      watcher.disconnect();
    },
  };
}
