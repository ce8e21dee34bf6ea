// Numbers as people read them.

export const grouped = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US");
/** Near 1 with a third digit, since two would not tell which of both is faster; below a tenth
 * with two digits that are not zero. */
export function times(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value > 0 && value < 0.1) return `${value.toFixed(Math.min(12, 1 - Math.floor(Math.log10(value))))}×`;
  return `${value.toFixed(value !== 1 && value >= 0.95 && value < 1.05 ? 3 : 2)}×`;
}
export const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : `${value.toFixed(1)} %`;
export const dollars = (value: number): string => `$${value.toFixed(2)}`;

/** Units of which the trace names one: `cycle`, but `ns` as it is. */
export const units = (unit: string): string => (unit.endsWith("s") ? unit : `${unit}s`);

export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function short(value: number): string {
  if (value >= 1e9) return `${+(value / 1e9).toPrecision(3)} G`;
  if (value >= 1e6) return `${+(value / 1e6).toPrecision(3)} M`;
  if (value >= 1e4) return `${+(value / 1e3).toPrecision(3)} k`;
  return String(+value.toPrecision(3));
}

export function date(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

export function state(status: { state: string; message?: string }): string {
  return status.state === "broken" ? "broken off" : status.state;
}
