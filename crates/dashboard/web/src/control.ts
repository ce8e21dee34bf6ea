// Starting, stopping, extending and forking runs, where the server allows it.

import * as api from "./api";
import { type Child, el, replace } from "./dom";

let problems: Promise<string[]> | null = null;

/** Whether runs may be started and stopped here. */
export const allowed = async (): Promise<boolean> => (await api.control()).allowed;

type Field = { name: string; label: string; type?: string; hint?: string; value?: string; min?: string; step?: string; list?: string; required?: boolean };

/** What was typed into a dialog, by its title and what it is about: it is there when the dialog is opened again. */
const typed = new Map<string, Map<string, string>>();

/** A dialog with some fields; what is typed goes to the server as a wish. */
function ask(title: string, about: string, note: string, fields: Field[], wish: (values: Record<string, string>) => api.Wish, then: (run: string) => void): void {
  const trouble = el("p", { class: "trouble", role: "alert" });
  const inputs = new Map<string, HTMLInputElement>();
  const key = `${title} ${about}`;
  const before = typed.get(key) ?? new Map<string, string>();
  typed.set(key, before);
  const rows: Child[] = fields.flatMap((it) => {
    const input = el("input", {
      set: {
        id: `field-${it.name}`,
        type: it.type ?? "text",
        autocomplete: "off",
        spellcheck: "false",
        ...(it.min !== undefined && { min: it.min }),
        ...(it.step !== undefined && { step: it.step }),
        ...(it.list && { list: it.list }),
        ...(it.required && { required: "" }),
        ...(it.hint && { placeholder: it.hint }),
      },
    });
    input.value = before.get(it.name) ?? it.value ?? "";
    input.addEventListener("input", () => before.set(it.name, input.value));
    inputs.set(it.name, input);
    return [el("label", { set: { for: `field-${it.name}` } }, it.label), input];
  });
  const go = el("button", { class: "main", set: { type: "submit" } }, title);
  const form = el(
    "form",
    { class: "fields", set: { method: "dialog" } },
    ...rows,
    el("div", { class: "tools" }, go, el("button", { set: { type: "button" }, on: { click: () => dialog.close() } }, "cancel")),
  );
  const dialog = el("dialog", { label: title, class: "asks" }, el("h2", {}, title), el("p", { class: "quiet" }, note), form, trouble);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    try {
      const values = Object.fromEntries([...inputs].map(([name, input]) => [name, input.value.trim()]));
      const { run } = await api.act(wish(values));
      // Two runs cannot have one name.
      before.delete("name");
      dialog.close();
      then(run);
    } catch (error) {
      trouble.textContent = String((error as Error).message);
    }
    go.disabled = false;
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

const number = (text: string): number | null => (text === "" ? null : Number(text));
const open = (run: string) => (location.hash = `#/run/${encodeURIComponent(run)}`);

export async function askStart(): Promise<void> {
  problems ??= api.problems();
  const names = await problems.catch(() => []);
  document.getElementById("problems")?.remove();
  document.body.append(el("datalist", { set: { id: "problems" } }, ...names.map((it) => el("option", { set: { value: it } }))));
  ask(
    "start a run",
    "",
    "As `autocomp optimize` does it, in a process of its own: it goes on when this server ends.",
    [
      { name: "problem", label: "problem", list: "problems", required: true, hint: "one of the list" },
      { name: "name", label: "name of the run", hint: "made from the problem" },
      { name: "max_evaluations", label: "evaluations at most", type: "number", min: "1", hint: "no bound" },
      { name: "max_minutes", label: "minutes at most", type: "number", min: "0", step: "any", hint: "no bound" },
      { name: "seed", label: "seed", type: "number", min: "0", value: "0" },
      { name: "strategy", label: "strategy", hint: "beam" },
      { name: "model", label: "model", hint: "none: the rewriter" },
      { name: "max_usd", label: "dollars at most", type: "number", min: "0", step: "any", hint: "needed with a model" },
    ],
    (it) => ({
      action: "start",
      problem: it.problem!,
      name: it.name!,
      strategy: it.strategy!,
      model: it.model!,
      seed: number(it.seed!),
      max_usd: number(it.max_usd!),
      max_evaluations: number(it.max_evaluations!),
      max_minutes: number(it.max_minutes!),
    }),
    // Its folder is there when its kernel to start from is being measured.
    () => (location.hash = "#/"),
  );
}

export function askFork(run: string, kernel: string, evaluations: number): void {
  ask(
    "fork",
    `${run} ${kernel}`,
    kernel === "" ? "A new run begins with the beam of this one." : `A new run begins with ${kernel}.`,
    [
      { name: "name", label: "name of the new run", hint: "made from this one" },
      { name: "max_evaluations", label: "evaluations at most", type: "number", min: "1", hint: "as this run", value: String(Math.max(2, evaluations)) },
    ],
    (it) => ({ action: "fork", run, kernel, name: it.name!, max_evaluations: number(it.max_evaluations!) }),
    () => (location.hash = "#/"),
  );
}

export function askExtend(run: string, evaluations: number, iterations: number): void {
  ask(
    "go on",
    run,
    "The run is resumed; higher bounds extend it, also if it came to its end.",
    [
      { name: "max_evaluations", label: "evaluations at most", type: "number", min: "1", hint: "as before", value: String(2 * evaluations) },
      { name: "iterations", label: "iterations at most", type: "number", min: "1", hint: `as before, ${iterations}` },
    ],
    (it) => ({ action: "extend", run, max_evaluations: number(it.max_evaluations!), iterations: number(it.iterations!) }),
    open,
  );
}

/** Buttons for a run. */
export function runButtons(place: HTMLElement, run: string, state: string, evaluations: number, iterations: number): void {
  const trouble = el("span", { class: "trouble", role: "alert" });
  const stop = async (event: Event) => {
    (event.target as HTMLButtonElement).disabled = true;
    try {
      await api.act({ action: "stop", run });
      trouble.textContent = "";
    } catch (error) {
      trouble.textContent = String((error as Error).message);
    }
  };
  replace(
    place,
    state === "running"
      ? el("button", { on: { click: (event) => void stop(event) } }, "stop")
      : el("button", { on: { click: () => askExtend(run, evaluations, iterations) } }, "go on"),
    el("button", { on: { click: () => askFork(run, "", evaluations) } }, "fork"),
    trouble,
  );
}

/** What was started here and has not become a run, or has failed. */
export function startedList(started: api.Started[], known: Set<string>): HTMLElement | null {
  const shown = started.filter((it) => (it.ended ? it.ended.code !== 0 && it.ended.code !== 130 : !known.has(it.run)));
  if (shown.length === 0) return null;
  return el(
    "section",
    { class: "card", label: "started here" },
    ...shown.slice(0, 4).map((it) =>
      el(
        "div",
        {},
        el("p", {}, it.ended ? el("span", { class: "trouble" }, `${it.run} has failed`) : `${it.run} is being prepared…`, el("code", { class: "quiet" }, ` ${it.command}`)),
        it.ended && el("pre", { set: { tabindex: "0" } }, it.ended.message),
      ),
    ),
  );
}
