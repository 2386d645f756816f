import type { JsonObject } from '#shared/json/json.ts';
import { isObject } from '#shared/json/json-value.ts';
import type { EventToAppend } from './event-store.ts';

/** The two JSON texts of a stored event, parsed once for all functions that read them. None of these may change them. */
export interface ParsedTexts {
  /** Null for a text that is not a JSON object. */
  readonly data: JsonObject | null;
  /** Null for a text that is not a JSON object. */
  readonly metadata: JsonObject | null;
}

/** Parses the texts of a stored event. */
export function parseTexts({ data, metadata }: Pick<EventToAppend, 'data' | 'metadata'>): ParsedTexts {
  return { data: parseObject(data), metadata: parseObject(metadata) };
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
