import canonicalize from 'canonicalize';
import { configure } from 'safe-stable-stringify';

/** It takes half the time of `canonicalize`, and sorts members in the same order, by code units. */
const stringifySorted = configure({ strict: true });

/**
 * The canonical JSON (RFC 8785) of an object of JSON values.
 * @throws Error for what RFC 8785 cannot represent: a text with a lone surrogate, a number that is not finite
 */
export function canonicalJson(value: object): string {
  const text = sortedJson(value);
  // A lone surrogate is written as an escape. What looks like one may also be a text with a backslash in it.
  return text === null || text.includes('\\ud') ? (canonicalize(value) ?? '') : text;
}

/** Returns null for what the library cannot write, such as values that are nested deeper than the stack allows. */
function sortedJson(value: object): string | null {
  try {
    return stringifySorted(value) ?? null;
  } catch {
    return null;
  }
}
