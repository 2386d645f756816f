import type { DocumentPart, ImagePart, PlacedValue, Source, TextPart, Turn } from '#gateway/neutral/conversation.ts';
import { plainTextIn } from '#gateway/neutral/source.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { withCacheControl } from './cache-control.ts';
import type { LeftOut } from './left-out.ts';
import { kindOf, placedText, refuse, shown } from './parsing.ts';

export type ContentPart = TextPart | ImagePart | DocumentPart;

export function onlyTexts(parts: Turn['parts']): ReadonlyArray<TextPart> {
  return parts.map((part) => (part.kind === 'text' ? part : refuse(part.pointer, 'only texts can be here')));
}

/**
 * A text, or a list of parts. An object would otherwise be an empty text.
 * @param partOf reads an object in the list, whose pointer it gets
 */
export function contentParts<ReadPart>(
  content: Json | undefined,
  pointer: string,
  partOf: (part: JsonObject, pointer: string) => ReadPart,
): ReadonlyArray<ReadPart | TextPart> {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, pointer }];
  if (!Array.isArray(content))
    return refuse(pointer, `must be a text or a list of parts, and is ${kindOf(content)}: send JSON as a text`);
  return content.map((part, index) => {
    const place = `${pointer}/${index}`;
    return isObject(part) ? partOf(part, place) : refuse(place, 'is not a part of a content');
  });
}

/** Reads parts of one type; null for a part without what the type needs. */
export type PartReader = (part: JsonObject, pointer: string, leftOut: LeftOut) => ContentPart | null;

export function partsReader(types: ReadonlyArray<readonly [string, PartReader]>) {
  const readers = new Map<Json, PartReader>(types);
  return (content: Json | undefined, pointer: string, leftOut: LeftOut): ReadonlyArray<ContentPart> =>
    contentParts(content, pointer, (part, place) => {
      const read = readers.get(part.type ?? null)?.(part, place, leftOut) ?? null;
      return read === null
        ? refuse(place, `a part of the type ${shown(part.type)} cannot be expressed for this target`)
        : withCacheControl(read, part, place, leftOut);
    });
}

/** The part; null for one without a text. */
export function textPart(part: JsonObject, pointer: string, leftOut: LeftOut): TextPart | null {
  const { text } = leftOut.read(part, pointer, ['type', 'text']);
  return typeof text === 'string' ? { kind: 'text', text, pointer } : null;
}

/** What a model said instead of an answer; null if it is not a text. */
export function refusalPart(part: JsonObject, pointer: string, leftOut: LeftOut): TextPart | null {
  const { refusal } = leftOut.read(part, pointer, ['type', 'refusal']);
  return typeof refusal === 'string' ? { kind: 'text', text: refusal, pointer } : null;
}

/** The detail; null for what targets do by default. */
export function imageDetail(value: Json | undefined, pointer: string): PlacedValue<string> | null {
  return value === 'auto' ? null : placedText(value, pointer);
}

/** The part of a file: a picture, which has no name, a plain text, or another document. */
export function filePart(
  source: Source,
  name: PlacedValue<string> | null,
  pointer: string,
  leftOut: LeftOut,
): ImagePart | DocumentPart {
  if (source.kind === 'url') return { kind: 'document', source, name, pointer };
  if (source.mediaType.startsWith('image/')) {
    if (name !== null) leftOut.add(name.pointer);
    return { kind: 'image', source, detail: null, pointer };
  }
  const text = plainTextIn(source);
  return { kind: 'document', source: text === null ? source : { kind: 'text', text }, name, pointer };
}
