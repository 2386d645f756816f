import { randomUUID } from 'node:crypto';
import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';
import type { Json } from '#shared/json/json.ts';

/** The ids of calls in one answer. A provider may send none, or one id for several calls; clients need one for each. */
export class CallIds {
  readonly #given = new Set<string>();
  keptBytes = 0;

  /** The provider's id, or another one if it has none or another call has it. */
  give(said: string | null): string {
    const id = said === null || this.#given.has(said) ? `call_${randomUUID().replaceAll('-', '')}` : said;
    this.#given.add(id);
    this.keptBytes += keptBytesOf(id);
    return id;
  }
}

/** The name; null for an empty one and for anything else. */
export function nameOr(value: Json | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
