import { isUtf8 } from 'node:buffer';
import type { Source } from './conversation.ts';

/** Bytes in Base64, with their type as every provider knows it. */
type Base64Source = Extract<Source, { readonly kind: 'base64' }>;

const dataUrl = /^data:([^,;]*)((?:;[^,;]*)*),/i;
/** Base64, which may come in lines. Most addresses have a colon or a dot, but the id of a file has none. */
const bareBase64 = /^[A-Za-z0-9+/=_\r\n-]+$/;
/** Minimum length: other Base64 without `data:` is shorter than any picture. */
const minBareCharacters = 60;

/** Only the beginning of a URL is searched: its data may be long, or be taken out until the request is written. */
const maxHeadCharacters = 200;

/** The source in a `data:` URL, Base64 alone as some clients send it, or an address. */
export function sourceOf(url: string): Source {
  const beginning = url.slice(0, maxHeadCharacters);
  const isBytes = typeAt(beginning) !== null || url.length >= minBareCharacters;
  return dataUrlSource(url) ?? (isBytes && bareBase64.test(beginning) ? base64Source(null, url) : { kind: 'url', url });
}

/** The source in a member for the data of a file, where Base64 alone may be short. */
export function fileSourceOf(data: string): Source {
  return bareBase64.test(data.slice(0, maxHeadCharacters)) ? base64Source(null, data) : sourceOf(data);
}

/** The source; null for anything but a `data:` URL with bytes or a text. */
function dataUrlSource(url: string): Source | null {
  const [head, mediaType, parameters] = dataUrl.exec(url.slice(0, maxHeadCharacters)) ?? [];
  if (head === undefined) return null;
  const data = url.slice(head.length);
  if (/;\s*base64\s*$/i.test(parameters ?? '')) return base64Source(mediaType ?? null, data);
  const text = /^(text\/.*)?$/i.test(mediaType ?? '') ? unescapedOr(data) : null;
  return text === null ? null : base64Source('text/plain', Buffer.from(text).toString('base64'));
}

export function urlOf(source: Source): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/**
 * The source with its type, which the beginning of the bytes decides: OpenAI does not look at what a client says, and
 * Anthropic refuses a picture whose type is another (https://docs.anthropic.com/en/docs/build-with-claude/vision). Some
 * encoders make lines, which not every provider takes.
 * @param said the type that the client says; null if it says none
 */
export function base64Source(said: string | null, data: string): Base64Source {
  const unbroken = data.replace(/\s+/g, '');
  return { kind: 'base64', mediaType: typeAt(unbroken) ?? mediaTypeOf(said ?? ''), data: unbroken };
}

/** The type; null if it is not known. */
function typeAt(beginning: string): string | null {
  return beginnings.find(([pattern]) => pattern.test(beginning))?.[1] ?? null;
}

/** The beginnings of the Base64 of some types. */
const beginnings: ReadonlyArray<readonly [RegExp, string]> = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{7}RUJQ/, 'image/webp'],
  [/^JVBERi0/, 'application/pdf'],
];

const unknownType = 'application/octet-stream';

const otherNames: Readonly<Record<string, string>> = {
  '': unknownType,
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
};

/** The type in small letters, without parameters, and by its registered name. */
function mediaTypeOf(said: string): string {
  const name = (said.split(';', 1)[0] ?? '').trim().toLowerCase();
  return otherNames[name] ?? name;
}

const textType = /^(text\/|application\/([a-z0-9.-]+\+)?(json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson|x-sh)$)/;
const wholeBase64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * The plain text of a document. Providers accept PDFs and pictures as bytes, and any other document as a text.
 * @returns null for anything but a text, and for a text of which a part was taken out
 */
export function plainTextIn({ mediaType, data }: Base64Source): string | null {
  if ((mediaType !== unknownType && !textType.test(mediaType)) || !wholeBase64.test(data)) return null;
  const bytes = Buffer.from(data, 'base64');
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8').replace(/^\uFEFF/, '') : null;
}

function unescapedOr(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
