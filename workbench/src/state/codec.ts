/**
 * The state of a view as the part of an address behind `#`, and back.
 *
 * `#/swizzle?shape=16x32&fold=2.4.8.10`: the view, then its fields. A field that has its default is
 * left out, so that an address says what is special about it and stays short. What cannot be read
 * takes its default: an address is typed by hand more often than it is trusted.
 */

/** How one field is written. */
export interface Field<T> {
  readonly initial: T;
  write(value: T): string;
  /** Nothing where the text is none of this field's. */
  read(text: string): T | undefined;
}

/** The fields of a state, by name. */
export type Fields<S> = { readonly [K in keyof S]: Field<S[K]> };

/** Any text. */
export function text(initial = ""): Field<string> {
  return { initial, write: (value) => value, read: (written) => written };
}

/** One of some words. */
export function word<const W extends string>(initial: W, ...others: W[]): Field<W> {
  const known: readonly W[] = [initial, ...others];
  return { initial, write: (value) => value, read: (written) => known.find((w) => w === written) };
}

/** A whole number from `least` to `most`. */
export function whole(initial: number, least = 0, most = 2 ** 31): Field<number> {
  return {
    initial,
    write: String,
    read(written) {
      const value = /^-?\d{1,10}$/.test(written) ? Number(written) : NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

/** On or off. */
export function flag(initial = false): Field<boolean> {
  return {
    initial,
    write: (value) => (value ? "1" : "0"),
    read: (written) => (written === "1" ? true : written === "0" ? false : undefined),
  };
}

/** The extents of a tensor: `16x32`. */
export function extents(...initial: number[]): Field<number[]> {
  return { initial, write: (value) => value.join("x"), read: parseExtents };
}

/** The extents in a text such as `128x64`; nothing where it holds no powers of two. */
export function parseExtents(written: string): number[] | undefined {
  const parts = written.split(/[x×,]/).map((part) => part.trim());
  if (!parts.every((part) => /^\d{1,9}$/.test(part))) return undefined;
  const values = parts.map(Number);
  return values.every((value) => value > 0 && (value & (value - 1)) === 0) ? values : undefined;
}

/** Small numbers, written in base 16 with dots: `2.4.8.10`. */
export function masks(...initial: number[]): Field<number[]> {
  return {
    initial,
    write: (value) => value.map((mask) => mask.toString(16)).join("."),
    read(written) {
      if (written === "") return [];
      const parts = written.split(".");
      if (!parts.every((part) => /^[0-9a-f]{1,7}$/.test(part))) return undefined;
      return parts.map((part) => parseInt(part, 16));
    },
  };
}

/** Several texts: the field occurs once for each; `-` alone stands for none. */
export function texts(...initial: string[]): Field<string[]> & { readonly many: true } {
  return {
    initial,
    many: true,
    // Between texts that hold anything, a character that addresses never do.
    write: (value) => value.join("\0"),
    read: (written) => (written === "" ? [] : written.split("\0")),
  };
}

const NONE = "-";

function isMany(field: object): boolean {
  return "many" in field;
}

/** A state with all defaults. */
export function initial<S extends object>(fields: Fields<S>): S {
  const entries = Object.entries(fields) as [string, Field<unknown>][];
  return Object.fromEntries(entries.map(([name, field]) => [name, field.initial])) as S;
}

/** The part behind `?`; empty where every field has its default. */
export function write<S extends object>(fields: Fields<S>, state: S): string {
  const query = new URLSearchParams();
  for (const [name, field] of Object.entries(fields) as [keyof S & string, Field<unknown>][]) {
    const written = field.write(state[name]);
    if (written === field.write(field.initial)) continue;
    if (!isMany(field)) query.append(name, written);
    else for (const part of written === "" ? [NONE] : written.split("\0")) query.append(name, part);
  }
  return query.toString();
}

/** The state that a part behind `?` says. */
export function read<S extends object>(fields: Fields<S>, written: string): S {
  const query = new URLSearchParams(written);
  const entries = Object.entries(fields) as [string, Field<unknown>][];
  return Object.fromEntries(
    entries.map(([name, field]) => {
      const all = query.getAll(name);
      const [first] = all;
      if (first === undefined) return [name, field.initial];
      const said = !isMany(field) ? first : all.length === 1 && first === NONE ? "" : all.join("\0");
      return [name, field.read(said) ?? field.initial];
    }),
  ) as S;
}

/** The fields of a part behind `?` whose values cannot be read, as they are written there. */
export function unread<S extends object>(fields: Fields<S>, written: string): string[] {
  const query = new URLSearchParams(written);
  const entries = Object.entries(fields) as [string, Field<unknown>][];
  return entries
    .filter(([name, field]) => !isMany(field) && query.has(name) && field.read(query.get(name) ?? "") === undefined)
    .map(([name]) => `${name}=${query.get(name)}`);
}

/** A view's name and what it is to show. */
export interface Place {
  view: string;
  query: string;
}

/** The place that the part of an address behind `#` says. */
export function parsePlace(hash: string): Place {
  const said = hash.replace(/^#\/?/, "");
  const [view = "", ...rest] = said.split("?");
  return { view, query: rest.join("?") };
}

export function formatPlace({ view, query }: Place): string {
  return query === "" ? `#/${view}` : `#/${view}?${query}`;
}
