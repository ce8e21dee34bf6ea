// What changed from one kernel to another, side by side, or one below the other where there is
// no room. What counts as changed the server says: lines that differ in white space alone do
// not, since whoever wraps a loop around a kernel indents all of it.

import { cpp } from "@codemirror/lang-cpp";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Change, MergeView, diff, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { DiffLine } from "./api";

const NARROW = 760;

const ink = (name: string) => `var(${name})`;
const theme = EditorView.theme({
  "&": { color: ink("--ink"), backgroundColor: ink("--card") },
  ".cm-content, .cm-gutters": { fontFamily: 'ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace', fontSize: "13px", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: ink("--card"), color: ink("--quiet"), border: "none" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: ink("--removed") },
  "&.cm-merge-b .cm-changedLine, .cm-insertedLine, & .cm-changedLine": { backgroundColor: ink("--added") },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: ink("--removed-word"), boxShadow: "inset 0 -2px " + ink("--bad") },
  "&.cm-merge-b .cm-changedText, & .cm-changedText": { background: ink("--added-word"), boxShadow: "inset 0 -2px " + ink("--accent") },
  ".cm-collapsedLines": { color: ink("--quiet"), background: ink("--wash"), paddingBlock: "4px" },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { color: ink("--quiet") },
});
const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.comment, tags.meta], color: ink("--quiet"), fontStyle: "italic" },
    { tag: [tags.keyword, tags.typeName, tags.modifier], color: ink("--word") },
    { tag: [tags.number, tags.bool], color: ink("--number") },
    { tag: [tags.string], color: ink("--number") },
    { tag: [tags.function(tags.variableName)], color: ink("--call") },
  ]),
);

/** Draws a difference into `place`; returns what takes it away. `lines` are those of both kernels whole. */
export function drawDifference(place: HTMLElement, lines: DiffLine[], before: string, after: string, names: [string, string]): () => void {
  // Styles in a shadow tree are objects, which the policy of the page allows.
  const host = document.createElement("div");
  host.className = "difference";
  place.replaceChildren(host);
  const root = host.attachShadow({ mode: "open" });
  const parent = document.createElement("div");
  root.append(parent);
  const changes = changesOf(lines, before, after);
  const diffConfig = { override: () => changes };
  const side = (name: string): Extension[] => [
    lineNumbers(),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": `code of ${name}`, tabindex: "0", role: "textbox", "aria-readonly": "true", "aria-multiline": "true" }),
    /^(import |from |def |@)/m.test(after) ? python() : cpp(),
    theme,
    colours,
  ];
  const collapseUnchanged = { margin: 3, minSize: 5 };
  if (place.clientWidth < NARROW) {
    const extensions = [...side(names[1]), unifiedMergeView({ original: before, mergeControls: false, gutter: false, collapseUnchanged, diffConfig })];
    const view = new EditorView({ state: EditorState.create({ doc: after, extensions }), parent, root });
    return () => view.destroy();
  }
  const view = new MergeView({
    a: { doc: before, extensions: side(names[0]) },
    b: { doc: after, extensions: side(names[1]) },
    parent,
    root,
    gutter: false,
    collapseUnchanged,
    diffConfig,
  });
  return () => view.destroy();
}

/** Joins removed and added lines to changes, in which only what differs is marked. */
function changesOf(lines: DiffLine[], before: string, after: string): Change[] {
  const starts = (text: string) => {
    const found = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) found.push(at + 1);
    return found;
  };
  const [olds, news] = [starts(before), starts(after)];
  const at = (places: number[], line: number, text: string) => Math.min(places[line] ?? text.length, text.length);
  const changes: Change[] = [];
  // Lines so far on each side.
  let [a, b] = [0, 0];
  for (let idx = 0; idx < lines.length; ) {
    if (lines[idx]!.kind === "same") {
      a++;
      b++;
      idx++;
      continue;
    }
    const [fromA, fromB] = [a, b];
    for (; idx < lines.length && lines[idx]!.kind !== "same"; idx++) {
      if (lines[idx]!.kind === "removed") a++;
      else if (lines[idx]!.kind === "added") b++;
    }
    const [startA, endA] = [at(olds, fromA, before), at(olds, a, before)];
    const [startB, endB] = [at(news, fromB, after), at(news, b, after)];
    if (startA === endA || startB === endB) {
      changes.push(new Change(startA, endA, startB, endB));
      continue;
    }
    for (const it of diff(before.slice(startA, endA), after.slice(startB, endB), { scanLimit: 300 }))
      changes.push(new Change(it.fromA + startA, it.toA + startA, it.fromB + startB, it.toB + startB));
  }
  return changes;
}
