/** Levels of arrays and objects in a JSON text at most: a parser takes seconds over millions of them. */
export const maxJsonLevels = 256;

const quote = 0x22;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Whether a JSON text nests deeper than so many levels. Looks at the text alone: no recursion, whatever it holds. */
export function deeperThan(text: string, levels: number): boolean {
  // Each level is begun and ended by a character of its own; an unended one is no JSON.
  if (text.length <= levels) return false;
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at) - 1;
        break;
      case openBracket:
      case openBrace:
        level += 1;
        if (level > levels) return true;
        break;
      case closeBracket:
      case closeBrace:
        level -= 1;
        break;
    }
  }
  return false;
}

/** The index past the quote that ends the JSON string beginning at `start`; the text's length when none does. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
