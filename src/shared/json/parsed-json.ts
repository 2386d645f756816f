import type { Json } from './json.ts';

const byteOrderMark = '\ufeff';

/**
 * Parses a text or UTF-8 bytes, with or without a byte order mark. Returns undefined if it is not JSON. Never throws.
 */
export function parsedJson(json: string | Buffer): Json | undefined {
  const text = typeof json === 'string' ? json : json.toString('utf8');
  try {
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Json;
  } catch {
    return undefined;
  }
}
