import type { Conversation, DocumentPart, Part } from './conversation.ts';

const bytesPerToken = 4;
const tokensPerPicture = 1_000;

/** Waits for a turn of the event loop in which this many characters may be read. */
type WaitForTurn = (characters: number) => Promise<void> | null;

/**
 * Estimates tokens without a tokenizer: a quarter of the bytes of its texts, and 1,000 for each image and each page of
 * a document.
 * @param waitForTurn called with the characters that are read next, between two slices of a document
 */
export async function estimateTokens(
  { system, turns, tools }: Conversation,
  waitForTurn: WaitForTurn,
): Promise<number> {
  const texts = [
    ...system.map(({ text }) => text),
    ...tools.map(({ name, description, schema }) => name + (description ?? '') + (schema ?? '')),
  ];
  const ofTexts = texts.reduce((sum, text) => sum + tokensOfText(text), 0);
  const withoutPages = Math.ceil(turns.reduce((sum, { parts }) => sum + tokensOf(parts), ofTexts));
  let pages = 0;
  for (const { parts } of turns)
    for (const document of documentsIn(parts)) pages += await pagesOf(document, waitForTurn);
  return withoutPages + pages * tokensPerPicture;
}

function documentsIn(parts: ReadonlyArray<Part>): ReadonlyArray<DocumentPart> {
  return parts.flatMap((part) => {
    if (part.kind === 'document') return [part];
    return part.kind === 'tool-result' ? documentsIn(part.parts) : [];
  });
}

function tokensOf(parts: ReadonlyArray<Part>): number {
  return parts.reduce((sum, part) => sum + tokensOfPart(part), 0);
}

function tokensOfPart(part: Part): number {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return tokensOfText(part.text);
    case 'image':
      return tokensPerPicture;
    case 'document':
      return part.source.kind === 'text' ? tokensOfText(part.source.text) : 0;
    case 'tool-call':
      return tokensOfText(part.name + part.arguments);
    case 'tool-result':
      return tokensOf(part.parts);
  }
}

async function pagesOf({ source }: DocumentPart, waitForTurn: WaitForTurn): Promise<number> {
  if (source.kind === 'text') return 0;
  return source.kind === 'base64' ? Math.max(1, await pagesIn(source.data, waitForTurn)) : 1;
}

/** A page object of PDF. Those in compressed streams are not seen. */
const page = /\/Type\s*\/Page(?![A-Za-z])/g;
/** More characters than a page object has. */
const overlap = 32;
const sliceLength = 1_000_000;

async function pagesIn(data: string, waitForTurn: WaitForTurn): Promise<number> {
  let pages = 0;
  let undecoded = '';
  let before = '';
  for (let start = 0; start < data.length; start += sliceLength) {
    if (start > 0) await waitForTurn(sliceLength);
    const base64 = undecoded + data.slice(start, start + sliceLength).replace(/\s+/g, '');
    const isLast = start + sliceLength >= data.length;
    // Four characters are three bytes.
    const decoded = isLast ? base64.length : base64.length - (base64.length % 4);
    undecoded = base64.slice(decoded);
    const text = before + Buffer.from(base64.slice(0, decoded), 'base64').toString('latin1');
    for (const match of text.matchAll(page)) {
      const end = match.index + match[0].length;
      // One at the end of a slice is seen again in the next, with what follows it.
      if (end >= before.length && (isLast || end < text.length)) pages += 1;
    }
    before = text.slice(-overlap);
  }
  return pages;
}

function tokensOfText(text: string): number {
  return Buffer.byteLength(text) / bytesPerToken;
}
