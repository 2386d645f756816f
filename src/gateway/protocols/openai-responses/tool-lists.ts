import { scalarValue, type ValuePlace } from '#gateway/framing/json-members.ts';
import type { FoundPlace } from '#gateway/framing/json-places.ts';
import type { PathPattern } from '#gateway/framing/path-tree.ts';

export interface ListedTool extends ValuePlace {
  /** The type; null without one. */
  readonly type: string | null;
  /** The type of the environment in which a shell runs. */
  readonly environment: string | null;
}

export interface ToolList {
  readonly pointer: string;
  readonly tools: ReadonlyArray<ListedTool>;
}

interface GrowingList {
  readonly pointer: string;
  readonly tools: { -readonly [Key in keyof ListedTool]: ListedTool[Key] }[];
}

const lists: ReadonlyArray<PathPattern> = [['tools'], ['input', '*', 'tools'], ['tool_choice', 'tools']];
const [ofRequest, ofItem] = lists;
const tools = lists.map((list): PathPattern => [...list, '*']);
const types = tools.map((tool): PathPattern => [...tool, 'type']);
const environments = tools.map((tool): PathPattern => [...tool, 'environment', 'type']);

export const toolPatterns: ReadonlyArray<PathPattern> = [...lists, ...tools, ...types, ...environments];

/** The tools of a request, from places at the paths of tools, which come in order. */
export class ToolLists {
  readonly declared: GrowingList[] = [];
  /** The tools that the model may call. */
  readonly allowed: GrowingList[] = [];
  readonly #bytes: Buffer;
  #latest: GrowingList['tools'] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @param item index of the item that the place may be in @returns false for another path */
  take(place: FoundPlace, item: number): boolean {
    const { pattern, valueStart, end } = place;
    if (lists.includes(pattern)) this.#begin(pattern, item);
    else if (tools.includes(pattern)) this.#latest.push({ valueStart, end, type: null, environment: null });
    else if (types.includes(pattern)) this.#readInto('type', place);
    else if (environments.includes(pattern)) this.#readInto('environment', place);
    else return false;
    return true;
  }

  #begin(pattern: PathPattern, item: number): void {
    const isDeclared = pattern === ofRequest || pattern === ofItem;
    const pointer = pattern === ofItem ? `/input/${item}/tools` : `/${pattern.join('/')}`;
    this.#latest = [];
    (isDeclared ? this.declared : this.allowed).push({ pointer, tools: this.#latest });
  }

  #readInto(name: 'type' | 'environment', place: ValuePlace): void {
    const value = scalarValue(this.#bytes, place);
    const last = this.#latest.at(-1);
    if (last !== undefined) last[name] = typeof value === 'string' ? value : null;
  }
}
