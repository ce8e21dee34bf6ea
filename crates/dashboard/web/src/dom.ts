// Elements and texts. Nothing in this program makes markup of a string, so what others
// wrote (plans, code, names) can only ever be text.

export type Child = Node | string | number | null | undefined | false;
type Properties = {
  class?: string;
  title?: string;
  href?: string;
  label?: string;
  role?: string;
  on?: Partial<Record<keyof HTMLElementEventMap, (event: Event) => void>>;
  data?: Record<string, string>;
  set?: Record<string, string>;
};

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (properties.class) node.className = properties.class;
  if (properties.title) node.title = properties.title;
  if (properties.label) node.setAttribute("aria-label", properties.label);
  if (properties.role) node.setAttribute("role", properties.role);
  // Links lead within this page only.
  if (properties.href?.startsWith("#")) node.setAttribute("href", properties.href);
  for (const [name, value] of Object.entries(properties.data ?? {})) node.dataset[name] = value;
  for (const [name, value] of Object.entries(properties.set ?? {})) node.setAttribute(name, value);
  for (const [name, listener] of Object.entries(properties.on ?? {}))
    node.addEventListener(name, listener as EventListener);
  add(node, ...children);
  return node;
}

export function add(node: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(node: Element, ...children: Child[]): void {
  node.replaceChildren();
  add(node, ...children);
}

/** Does it before the next picture is drawn, once, however often it was asked for. */
export function onceAFrame(paint: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  };
}
