import type { StoredEvent } from '#event-store/event-store.ts';
import { type ParsedTexts, parseTexts } from '#event-store/recorded-event.ts';

/**
 * Returns an event as a line of a log file, without the line end: a JSON object `{stream, revision, id, type, data,
 * metadata}`. `data` and `metadata` are the stored texts, byte for byte, so that the hashed texts are moved. A text
 * that is not a JSON object on one line is written as a JSON string.
 */
export function eventLine(event: StoredEvent, texts: ParsedTexts = parseTexts(event)): string {
  const { stream, revision, id, type } = event;
  const data = embedded(event.data, texts.data);
  const metadata = embedded(event.metadata, texts.metadata);
  return (
    `{"stream":${JSON.stringify(stream)},"revision":${revision},"id":${JSON.stringify(id)}` +
    `,"type":${JSON.stringify(type)},"data":${data},"metadata":${metadata}}`
  );
}

const jsonString = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"';
const beginning = new RegExp(
  `^\\{"stream":(${jsonString}),"revision":(\\d{1,15}),"id":(${jsonString}),"type":(${jsonString}),"data":`,
);
const betweenTexts = ',"metadata":';

/** @returns null for any line but one of `eventLine` */
export function eventOfLine(line: string): StoredEvent | null {
  const [head, stream, revision, id, type] = beginning.exec(line) ?? [];
  if (head === undefined) return null;
  const dataEnd = endOfText(line, head.length);
  const metadataStart = dataEnd + betweenTexts.length;
  if (dataEnd === -1 || !line.startsWith(betweenTexts, dataEnd) || !line.endsWith('}')) return null;
  const [name, uuid, typeName] = [stringOf(stream), stringOf(id), stringOf(type)];
  const data = textOf(line.slice(head.length, dataEnd));
  const metadata = textOf(line.slice(metadataStart, -1));
  if (name === null || uuid === null || typeName === null || data === null || metadata === null) return null;
  return { stream: name, revision: Number(revision), id: uuid, type: typeName, data, metadata };
}

/** @param parsed null if the text is not a JSON object */
function embedded(text: string, parsed: object | null): string {
  return parsed !== null && isOnOneLine(text) ? text : JSON.stringify(text);
}

/** True if the JSON text begins and ends with its object, on one line. */
function isOnOneLine(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}') && text.isWellFormed() && !/[\r\n]/.test(text);
}

/** The text; null for a value that no export writes. */
function textOf(json: string): string | null {
  return json.startsWith('{') ? (isOnOneLine(json) && parsed(json) !== undefined ? json : null) : stringOf(json);
}

/** A copy of the string, so that a kept part does not hold the whole line in memory. */
function stringOf(json: string | undefined): string | null {
  const value = json === undefined ? undefined : parsed(json);
  return typeof value === 'string' ? value : null;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The end of the JSON object or string that begins here; -1 if there is none, or if it does not end. */
function endOfText(line: string, start: number): number {
  if (line[start] === '"') return endOfString(line, start);
  if (line[start] !== '{') return -1;
  let depth = 0;
  for (let at = start; at < line.length; at += 1) {
    switch (line.charCodeAt(at)) {
      case quote:
        at = endOfString(line, at) - 1;
        if (at < start) return -1;
        break;
      case openingBrace:
        depth += 1;
        break;
      case closingBrace:
        depth -= 1;
        if (depth === 0) return at + 1;
    }
  }
  return -1;
}

const quote = 0x22;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

function endOfString(line: string, start: number): number {
  for (let end = line.indexOf('"', start + 1); end !== -1; end = line.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (line[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return -1;
}
