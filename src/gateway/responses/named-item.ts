import { turn } from '#exchange/turns.ts';
import { lengthOf } from '#gateway/framing/splice.ts';
import { itemIdOf, itemPrefixOf, responseIdNamedBy } from '#responses/response-ids.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { type ScannedItem, TurnScan } from '#responses/turn-scan.ts';
import { callIdsToEdit, type ItemsPart, isOpaque, isReference } from '#responses/turn-text.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { isNamed, stringIn } from '#shared/json/json-scanner.ts';
import {
  emptyReasoning,
  type ItemBytes,
  type KeptPart,
  keptBytes,
  sentTo,
  withReasoningMark,
  withTakenId,
} from './sent-item.ts';

interface FoundItem {
  readonly turn: KeptTurn;
  readonly part: KeptPart | OpaquePart | CallPart;
  readonly containerId: string | null;
  readonly values: number;
}

type OpaquePart = Extract<ItemsPart, { readonly kind: 'reasoning' | 'opaque' }>;
type CallPart = Extract<ItemsPart, { readonly kind: 'call' }>;

/** An item that a request, or a turn before it, names by its id. */
export class NamedItem {
  readonly turn: KeptTurn;
  readonly containerId: string | null;
  readonly values: number;
  readonly part: FoundItem['part'];

  constructor({ turn, part, containerId, values }: FoundItem) {
    this.turn = turn;
    this.containerId = containerId;
    this.values = values;
    this.part = part;
  }

  /** True if it must differ between targets. */
  get mustBeInInput(): boolean {
    return this.turn.text.mustBeInInput;
  }

  /** The JSON for any target. Reasoning in it names the provider that can read its opaque part. */
  get text(): ItemBytes {
    const { text, outline } = this.turn;
    const part = this.part;
    if (part.kind === 'call') return [text.bytes.subarray(part.start, part.end)];
    if (part.kind === 'kept' || part.kind === 'text') return keptBytes(text.bytes, part);
    return withReasoningMark(text.bytes, part, outline.provider) ?? emptyReasoning;
  }

  /** The approximate size. */
  get size(): number {
    return lengthOf(this.text);
  }

  /** The JSON for a provider; null if it does not get the item. */
  textFor(provider: string): ItemBytes | null {
    const { text, outline } = this.turn;
    const part = this.part;
    if (part.kind === 'call') return withTakenId(text.bytes, part);
    if (part.kind === 'kept' || part.kind === 'text') return this.text;
    return sentTo(provider, text.bytes, part, outline.provider);
  }
}

/** Number of bytes that are searched in one turn of the event loop. */
const maxBytesOfSlice = 512 * 1024;

/** Finds items by their ids. Of those with the same id the latest is found. @param turns in their order */
export async function findItems(
  wanted: ReadonlySet<string>,
  turns: ReadonlyArray<KeptTurn>,
): Promise<ReadonlyMap<string, NamedItem>> {
  const found = new Map<string, NamedItem>();
  const naming = new Set([...wanted].map(responseIdNamedBy));
  const isNamedItself = ({ outline }: KeptTurn) => naming.has(outline.id);
  const newestFirst = turns.toReversed();
  const named = newestFirst.filter(isNamedItself);
  const searched = [...named, ...newestFirst.filter((turn) => !isNamedItself(turn))];
  let bytes = 0;
  for (const [index, kept] of searched.entries()) {
    if (found.size === wanted.size && index >= named.length) break;
    bytes += kept.text.bytes.length;
    if (bytes > maxBytesOfSlice) {
      await turn(currentWorkOwner(), 'conversation', bytes);
      bytes = 0;
    }
    await searchTurn(kept, wanted, found);
  }
  return found;
}

async function searchTurn(kept: KeptTurn, wanted: ReadonlySet<string>, found: Map<string, NamedItem>): Promise<void> {
  const { bytes } = kept.text;
  const inTurn = new Map<string, NamedItem>();
  const take = (id: string | null, item: Omit<FoundItem, 'turn'>) => {
    if (id !== null && wanted.has(id) && !found.has(id)) inTurn.set(id, new NamedItem({ turn: kept, ...item }));
  };
  let valuesBefore = 0;
  const scan = new TurnScan(bytes, (item) => {
    const values = scan.values - valuesBefore;
    valuesBefore = scan.values;
    if (!item.isObject || isReference(bytes, item)) return;
    take(idOf(kept, item), { part: partOf(bytes, item), containerId: containerIdOf(bytes, item), values });
  });
  while (!scan.advance()) await turn(currentWorkOwner(), 'conversation', scan.bytesOfSlice);
  const { textRange } = kept.text;
  if (textRange !== null)
    take(idOfText(kept), { part: { kind: 'text', ...textRange }, containerId: null, values: valuesOfMessage });
  for (const [id, item] of inTurn) found.set(id, item);
}

/** Number of values of the message that a text is. */
const valuesOfMessage = 4;

function partOf(bytes: Buffer, item: ScannedItem): FoundItem['part'] {
  const { start, end, type, encryptedContent } = item;
  const isReasoning = type !== null && isNamed(bytes, type.start, type.end, 'reasoning');
  if (isReasoning) return { kind: 'reasoning', encryptedContent, start, end };
  if (isOpaque(bytes, item)) return { kind: 'opaque', encryptedContent: item.encryptedContent, start, end };
  const callIds = callIdsToEdit(bytes, item);
  return callIds.length === 0 ? { kind: 'kept', start, end } : { kind: 'call', callIds, start, end };
}

function containerIdOf(bytes: Buffer, { containerId }: ScannedItem): string | null {
  return containerId === null ? null : stringIn(bytes, containerId.start, containerId.end);
}

/** The id; null for an item of a provider that gives no ids. */
export function idOf({ outline, text: { bytes } }: KeptTurn, item: ScannedItem): string | null {
  const { id, list, index } = item;
  if (id !== null && bytes[id.start] === quote) return stringIn(bytes, id.start, id.end);
  if (list === 'output') return null;
  return itemIdOf(itemPrefixOf(typeOf(bytes, item)), { responseId: outline.id, list, index });
}

/** The id under which the reference is listed. That of the item that it names may come more than once in a list. */
export function idOfReference({ outline }: KeptTurn, { list, index }: ScannedItem): string {
  return itemIdOf(itemPrefixOf('item_reference'), { responseId: outline.id, list, index });
}

export function idOfText({ outline }: KeptTurn): string {
  return itemIdOf(itemPrefixOf('message'), { responseId: outline.id, list: 'input', index: 0 });
}

/** The type. An item without one is a message. */
function typeOf(bytes: Buffer, { type }: ScannedItem): string {
  if (type === null || bytes[type.start] !== quote) return 'message';
  return stringIn(bytes, type.start, type.end);
}

const quote = 0x22;
