import { asciiJson, inPlace } from '#gateway/framing/splice.ts';
import { callIdEditAt } from '#gateway/protocols/call-id-edits.ts';
import { callIdForResponses } from '#gateway/protocols/call-id-rules.ts';
import { messageStart } from '#gateway/protocols/openai-responses/responses-body.ts';
import { ownPrefix, signatureIn, signatureTextOf } from '#gateway/protocols/signature-text.ts';
import type { ItemsPart } from '#responses/turn-text.ts';
import { stringIn } from '#shared/json/json-scanner.ts';

/** The bytes of an item in pieces, of which none is copied. */
export type ItemBytes = ReadonlyArray<Buffer>;

/** The bytes of an item. The text of a request becomes a message. */
export function keptBytes(bytes: Buffer, { kind, start, end }: KeptPart): ItemBytes {
  const own = bytes.subarray(start, end);
  return kind === 'kept' ? [own] : [messageStartBytes, own, messageEnd];
}

export type KeptPart = Extract<ItemsPart, { readonly kind: 'kept' | 'text' }>;

const messageStartBytes = Buffer.from(messageStart);
const messageEnd = Buffer.from('}');

/** An item that only its provider can read. The place is that of the opaque part in the text of the turn. */
type StoredOpaque = Extract<ItemsPart, { readonly kind: 'reasoning' | 'opaque' }>;

/**
 * The item for any target: the opaque part gets the name of the provider that made it.
 * @param provider the provider of the turn; null for an unknown one
 * @returns null if it is left out: reasoning without an opaque part, or of an unknown provider, cannot be sent again
 */
export function withReasoningMark(bytes: Buffer, item: StoredOpaque, provider: string | null): ItemBytes | null {
  const value = opaquePartOf(bytes, item);
  if (value === null) return null;
  if (signatureIn(value) !== null) return [bytes.subarray(item.start, item.end)];
  if (provider === null && item.kind === 'reasoning') return null;
  // What else is opaque is left out by name, for which it has to be there.
  return withOpaquePart(bytes, item, signatureTextOf({ of: provider ?? nobody, value, isRedacted: false }));
}

/** The item for a target of this protocol: the opaque part as its provider made it, and nothing of others. */
export function sentTo(target: string, bytes: Buffer, item: StoredOpaque, provider: string | null): ItemBytes | null {
  const value = opaquePartOf(bytes, item);
  if (value === null) return null;
  const signature = signatureIn(value);
  if (signature !== null) return signature.of === target ? withOpaquePart(bytes, item, signature.value) : null;
  return provider === target ? [bytes.subarray(item.start, item.end)] : null;
}

/** The item for a target of this protocol: ids without states, and as OpenAI accepts them. */
export function withTakenId(bytes: Buffer, { start, end, callIds }: StoredCall): ItemBytes {
  const pieces: Buffer[] = [];
  let from = start;
  const edits = callIds.flatMap(
    (id) => callIdEditAt(bytes, { valueStart: id.start, end: id.end }, callIdForResponses) ?? [],
  );
  for (const edit of inPlace(edits)) {
    pieces.push(bytes.subarray(from, edit.start), Buffer.from(edit.text));
    from = edit.end;
  }
  return [...pieces, bytes.subarray(from, end)];
}

/** A call whose ids may not stay. */
type StoredCall = Extract<ItemsPart, { readonly kind: 'call' }>;

/** The provider of what no provider can read. */
const nobody = 'nobody';

/** What a reference becomes whose reasoning cannot be sent again: it says nothing, and every target leaves it out. */
export const emptyReasoning: ItemBytes = [
  Buffer.from(JSON.stringify({ type: 'reasoning', summary: [], encrypted_content: `${ownPrefix}${nobody}:0:` })),
];

const quote = 0x22;

function opaquePartOf(bytes: Buffer, { encryptedContent }: StoredOpaque): string | null {
  if (encryptedContent === null || bytes[encryptedContent.start] !== quote) return null;
  const value = stringIn(bytes, encryptedContent.start, encryptedContent.end);
  return value === '' ? null : value;
}

function withOpaquePart(bytes: Buffer, { start, end, encryptedContent }: StoredOpaque, value: string): ItemBytes {
  if (encryptedContent === null) return [bytes.subarray(start, end)];
  return [
    bytes.subarray(start, encryptedContent.start),
    Buffer.from(asciiJson(value)),
    bytes.subarray(encryptedContent.end, end),
  ];
}
