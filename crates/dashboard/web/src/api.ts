// What the server answers.

export type Cost = { value: number; unit: string; spread_ppm: number };
export type Status = { state: string; message?: string; reason?: string; holder?: string };

/** Why a run that is over found nothing faster, or little, and what to try next. */
export type NothingFaster = { reasons: string[]; next: string[] };

export type RunRow = {
  run: string;
  /** The server has found the run and not read it yet; nothing else is there. */
  unread?: boolean;
  problem: string;
  target: string;
  status: Status;
  proposers: string[];
  seed: number;
  baseline: Cost | null;
  best: Cost | null;
  percent_of_peak: number | null;
  speedup: number | null;
  nothing_faster: NothingFaster | null;
  little_faster: NothingFaster | null;
  evaluations: number;
  elapsed_ms: number;
  started_at_ms: number;
  usd: number;
  curve: [number, number][];
};

export type KernelRow = {
  name: string;
  parent: string | null;
  iteration: number;
  menu_item: string | null;
  made_by: string;
  outcome: string;
  cost: number | null;
  unit: string | null;
  gain: number | null;
  percent_of_peak: number | null;
  evaluation: number;
  usd: number;
  in_chain: boolean;
  in_beam: boolean;
};

export type Step = KernelRow & { plan: string | null; changes: string[] };
/** What a worker on another machine has done. */
export type WorkerShare = { worker: string; kernels: number; right: number; faults: number; wall_s: number };

export type Yield = {
  name: string;
  kernels: number;
  right: number;
  faster: number;
  in_chain: number;
  factor: number;
  best_gain: number | null;
  usage: { cost: number };
};

export type Run = {
  run: string;
  report: {
    /** Folder of the run. */
    run: string;
    problem: string;
    target: string;
    status: Status;
    compiler: string;
    seed: number;
    elapsed_ms: number;
    speedup: number | null;
    is_tie: boolean;
    nothing_faster: NothingFaster | null;
    little_faster: NothingFaster | null;
    progress: {
      iteration: number;
      iterations: number;
      evaluations: number;
      max_evaluations: number | null;
      outcomes: Record<string, number>;
      baseline_cost: Cost | null;
      best: { cost: Cost; percent_of_peak: number } | null;
      usage: { requests: number; cost: number };
    };
  };
  chain: Step[];
  improvements: { kernel: string; evaluations: number; elapsed_ms: number; usd: number; value: number }[];
  references: { kernel: string; cost: Cost }[];
  floor: Cost | null;
  menu_items: Yield[];
  proposers: Yield[];
  workers: WorkerShare[];
  iterations: number;
  kernels: number;
  program: string;
  search: Record<string, unknown>;
  settings: string | null;
  command: string;
};

export type Tree = {
  total: number;
  name: string[];
  parent: (number | null)[];
  iteration: number[];
  cost: number[];
  item: (string | null)[];
  standing: number[];
};

export type Diagnostic = {
  code: string;
  severity: string;
  message: string;
  location?: { file: string; line: number };
  notes?: string[];
  remedy?: string;
};
export type LineCost = { location: { line: number }; cause: string; cycles?: number; ns?: number };
export type Kernel = {
  row: KernelRow;
  task: string;
  kind: string;
  beams: number[];
  plan: string | null;
  code: string;
  changes: string[];
  evaluation: {
    diagnostics: Diagnostic[];
    measurement: { engine: string; compiler: string; floor: number | Cost } | null;
    feedback: { bottleneck: string; counters: Record<string, number>; lines: LineCost[] } | null;
  };
  exchanges: {
    model: string;
    prompt: string;
    reply: string;
    error: string | null;
    usage: { input_tokens: number; output_tokens: number; cached_tokens: number; cost: number };
    latency_ms: number;
  }[];
  children: string[];
  has_timeline: boolean;
};
/** What `autocomp profile` tells on a terminal. */
export type Profile = { sections: { title: string | null; text: string }[] };
/**
 * Spans are `[from, to, name, line, percent of it that is busy]`. Names are in the order of the
 * time that each takes in all; `busy` is how long each goes on between `from` and `to`.
 */
export type Timeline = {
  unit: string;
  end: number;
  from: number;
  to: number;
  names: string[];
  busy: number[];
  tracks: { name: string; spans: [number, number, number, number, number][] }[];
};
export type Started = { number: number; run: string; command: string; ended: { code: number | null; message: string } | null };
export type Wish =
  | { action: "start"; problem: string; name: string; strategy: string; model: string; seed: number | null; max_usd: number | null; max_evaluations: number | null; max_minutes: number | null }
  | { action: "stop"; run: string }
  | { action: "extend"; run: string; max_evaluations: number | null; iterations: number | null }
  | { action: "fork"; run: string; kernel: string; name: string; max_evaluations: number | null };
export type DiffLine = { kind: "same" | "removed" | "added" | "gap"; old: number | null; new: number | null; text: string };

async function get<T>(path: string, query: Record<string, string | number | boolean> = {}): Promise<T> {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) words.set(name, String(value));
  const answer = await fetch(`/api/${path}?${words}`);
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
  return (await answer.json()) as T;
}

export type Runs = { runs: RunRow[]; damaged: { run: string; message: string }[]; folder: string };
export const runs = () => get<Runs>("runs");
export const run = (run: string) => get<Run>("run", { run });
export const tree = (run: string) => get<Tree>("tree", { run });
export const kernel = (run: string, kernel: string) => get<Kernel>("kernel", { run, kernel });
export const diff = (run: string, from: string, to: string) => get<{ lines: DiffLine[] }>("diff", { run, from, to, whole: true });
export type KernelQuery = { sort: string; falling: boolean; outcome: string; text: string };
export const kernels = (run: string, query: KernelQuery, from: number, count: number) =>
  get<{ total: number; rows: KernelRow[] }>("kernels", { run, ...query, from, count });
export const timeline = (run: string, kernel: string, from: number, to: number | null, columns: number) =>
  get<Timeline>("timeline", { run, kernel, from, ...(to !== null && { to }), columns });
export const profile = (run: string, kernel: string) => get<Profile>("profile", { run, kernel });
export const problems = () => get<string[]>("problems");

export type Control = { allowed: boolean; token?: string; started: Started[] };
let token: string | undefined;
export async function control(): Promise<Control> {
  const state = await get<Control>("control");
  token = state.token;
  return state;
}

/** Asks for a change: with a token that pages of other sites cannot read. */
export async function act(wish: Wish): Promise<{ run: string }> {
  if (!token) await control();
  const answer = await fetch("/api/control", {
    method: "POST",
    headers: { "content-type": "application/json", "x-autocomp-control": token ?? "" },
    body: JSON.stringify(wish),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
  return (await answer.json()) as { run: string };
}
