import { isNamed, stringIn } from '#shared/json/json-scanner.ts';
import { type ByteSpan, idAloneTypes, type ScannedItem, TurnScan } from './turn-scan.ts';

const quote = 0x22;
const letterN = 0x6e;

/** What is marked in the text of a turn. Each mark has five numbers: its kind, a range, and two more. */
const Mark = {
  /** The input, and the number of its items. */
  input: 0,
  /** The list of the output, and the number of its items. */
  output: 1,
  response: 2,
  /** In place of a range: the values of all items, and whether one of them may name a file, or has tools. */
  sums: 3,
  /** An item that only names another one, and the range of that name. */
  reference: 4,
  /** An item of reasoning, and the range of its opaque part. */
  reasoning: 5,
  /** Anything in a list that is not an item. */
  noItem: 6,
  /** The id of a container, and whether it is in the output. */
  container: 7,
  /** An item with the id of a call that may have a state, and the range of that id. */
  call: 8,
  /** The same item, and the range of another such id in it. */
  otherId: 9,
  /** Another item that only its provider can read, and the range of its opaque part. */
  opaque: 10,
} as const;
const numbersOfMark = 5;

export type ItemsPart =
  /** Items that are sent as they are, with commas between them. */
  | ({ readonly kind: 'kept' } & ByteSpan)
  /** The JSON text of a message. */
  | ({ readonly kind: 'text' } & ByteSpan)
  /** An item that names another one by its id. */
  | ({ readonly kind: 'reference'; readonly id: string } & ByteSpan)
  | ({ readonly kind: 'reasoning'; readonly encryptedContent: ByteSpan | null } & ByteSpan)
  /** Another item that only its provider can read. */
  | ({ readonly kind: 'opaque'; readonly encryptedContent: ByteSpan } & ByteSpan)
  /** An item with ids of a call that may have a state. */
  | ({ readonly kind: 'call'; readonly callIds: ReadonlyArray<ByteSpan> } & ByteSpan);

export interface ContainerOfTurn {
  readonly id: string;
  /** Whether it is in the output, which its provider has made. */
  readonly isMade: boolean;
}

/**
 * The text of a stored turn, `{"input":…,"response":…}`, with the places of what cannot be sent again as it is. Nothing
 * of it is ever parsed into objects.
 */
export class TurnText {
  readonly bytes: Buffer;
  readonly marks: Uint32Array;
  readonly #places = new Map<number, ByteSpan>();
  readonly #inLists: number[] = [];
  readonly #containers: number[] = [];
  /** The other ids of calls, by where their items begin. */
  readonly #otherIds = new Map<number, ByteSpan>();
  #hasOpaque = false;

  /** @param marks as `markTurn` has made them */
  constructor(bytes: Buffer, marks: Uint32Array) {
    this.bytes = bytes;
    this.marks = marks;
    for (let at = 0; at < marks.length; at += numbersOfMark) {
      const kind = marks[at] as number;
      if (kind === Mark.container) this.#containers.push(at);
      else if (kind === Mark.otherId) this.#otherIds.set(marks[at + 1] as number, this.#rangeAt(at + 3));
      else if (kind > Mark.sums) this.#inLists.push(at);
      else this.#places.set(kind, this.#rangeAt(at + 1));
      this.#hasOpaque ||= kind === Mark.opaque;
    }
  }

  /** The approximate memory. */
  get memoryBytes(): number {
    return this.bytes.length + 4 * this.marks.length + 1_024;
  }

  get response(): Buffer {
    return this.#bytesAt(Mark.response);
  }

  /** The input: a list of items, or a string. */
  get input(): Buffer {
    return this.#bytesAt(Mark.input);
  }

  /** The range of the text; null for an input that is a list. */
  get textRange(): ByteSpan | null {
    const input = this.#places.get(Mark.input);
    return input !== undefined && this.bytes[input.start] === quote ? input : null;
  }

  get values(): number {
    return this.#places.get(Mark.sums)?.start ?? 0;
  }

  /** True if some item must differ between targets: it may name a file, has tools, or only its provider can read it. */
  get mustBeInInput(): boolean {
    return this.#places.get(Mark.sums)?.end === 1 || this.#hasOpaque;
  }

  /** The approximate size of its items. */
  get sizeOfItems(): number {
    return this.input.length + this.#bytesAt(Mark.output).length;
  }

  get containers(): ReadonlyArray<ContainerOfTurn> {
    return this.#containers.map((at) => {
      const { start, end } = this.#rangeAt(at + 1);
      return { id: stringIn(this.bytes, start, end), isMade: this.marks[at + 3] === 1 };
    });
  }

  get references(): ReadonlyArray<string> {
    return this.#inLists.filter((at) => this.marks[at] === Mark.reference).map((at) => this.#idAt(at));
  }

  /** The items, those of the input first. */
  *items(): Generator<ItemsPart> {
    const input = this.#places.get(Mark.input);
    const output = this.#places.get(Mark.output);
    if (input !== undefined && this.bytes[input.start] === quote) yield { kind: 'text', ...input };
    else if (input !== undefined) yield* this.#itemsOf(input);
    if (output !== undefined) yield* this.#itemsOf(output);
  }

  *#itemsOf(list: ByteSpan): Generator<ItemsPart> {
    let from = list.start + 1;
    for (const at of this.#inLists) {
      const range = this.#rangeAt(at + 1);
      if (range.start < list.start || range.start >= list.end) continue;
      yield* this.#kept(from, range.start);
      from = range.end;
      if (this.marks[at] === Mark.reference) yield { kind: 'reference', id: this.#idAt(at), ...range };
      else if (this.marks[at] === Mark.reasoning) {
        const encryptedContent = this.#rangeAt(at + 3);
        yield { kind: 'reasoning', encryptedContent: encryptedContent.end === 0 ? null : encryptedContent, ...range };
      } else if (this.marks[at] === Mark.opaque)
        yield { kind: 'opaque', encryptedContent: this.#rangeAt(at + 3), ...range };
      else if (this.marks[at] === Mark.call) yield { kind: 'call', callIds: this.#callIdsAt(at), ...range };
    }
    yield* this.#kept(from, list.end - 1);
  }

  /** The items between two marks, without the commas and spaces around them. */
  *#kept(from: number, until: number): Generator<ItemsPart> {
    let [start, end] = [from, until];
    while (start < end && isBetweenItems(this.bytes[start])) start += 1;
    while (end > start && isBetweenItems(this.bytes[end - 1])) end -= 1;
    if (end > start) yield { kind: 'kept', start, end };
  }

  #callIdsAt(at: number): ReadonlyArray<ByteSpan> {
    const other = this.#otherIds.get(this.marks[at + 1] as number);
    return [this.#rangeAt(at + 3), ...(other === undefined ? [] : [other])];
  }

  #idAt(at: number): string {
    const { start, end } = this.#rangeAt(at + 3);
    return stringIn(this.bytes, start, end);
  }

  #bytesAt(kind: number): Buffer {
    const range = this.#places.get(kind);
    return range === undefined ? noBytes : this.bytes.subarray(range.start, range.end);
  }

  #rangeAt(at: number): ByteSpan {
    return { start: this.marks[at] as number, end: this.marks[at + 1] as number };
  }
}

const noBytes = Buffer.alloc(0);

function isBetweenItems(code: number | undefined): boolean {
  return code === 0x2c || code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** @returns null if the text is not that of a turn */
export function markTurn(bytes: Buffer): Uint32Array | null {
  const marks: number[] = [];
  const scan = new TurnScan(bytes, (item) => markItem(marks, bytes, item));
  while (!scan.advance());
  if (!scan.isWhole) return null;
  const { input, output, response, values, hasFilesOrTools } = scan;
  if (input !== null) marks.push(Mark.input, input.start, input.end, 0, 0);
  if (output !== null) marks.push(Mark.output, output.start, output.end, 0, 0);
  if (response !== null) marks.push(Mark.response, response.start, response.end, 0, 0);
  marks.push(Mark.sums, values, hasFilesOrTools ? 1 : 0, 0, 0);
  return Uint32Array.from(marks);
}

function markItem(marks: number[], bytes: Buffer, item: ScannedItem): void {
  const { start, end, list, type, id, encryptedContent, containerId } = item;
  if (!item.isObject) marks.push(Mark.noItem, start, end, 0, 0);
  else if (isReference(bytes, item)) marks.push(Mark.reference, start, end, id?.start ?? 0, id?.end ?? 0);
  else if (type !== null && isNamed(bytes, type.start, type.end, 'reasoning')) {
    const { start: from, end: to } = encryptedContent ?? { start: 0, end: 0 };
    marks.push(Mark.reasoning, start, end, from, to);
  } else if (isOpaque(bytes, item))
    marks.push(Mark.opaque, start, end, item.encryptedContent.start, item.encryptedContent.end);
  else {
    const [call, other] = callIdsToEdit(bytes, item);
    if (call !== undefined) marks.push(Mark.call, start, end, call.start, call.end);
    if (other !== undefined) marks.push(Mark.otherId, start, end, other.start, other.end);
  }
  if (containerId !== null)
    marks.push(Mark.container, containerId.start, containerId.end, list === 'output' ? 1 : 0, 0);
}

/** True if only its provider can read it: its content is a text that is not empty. */
export function isOpaque(
  bytes: Buffer,
  item: ScannedItem,
): item is ScannedItem & { readonly encryptedContent: ByteSpan } {
  const content = item.encryptedContent;
  return content !== null && bytes[content.start] === quote && content.end - content.start > 2;
}

const tilde = 0x7e;
const backslash = 0x5c;

/** Maximum size of an id of a call. OpenAI refuses longer ones. */
const maxCallIdBytes = 64;

/**
 * The ids of the call in an item that may have a state behind a `~`, which may be escaped, or may be too long for a
 * target. Some results have it as `id`.
 */
export function callIdsToEdit(bytes: Buffer, { callId, id }: ScannedItem): ReadonlyArray<ByteSpan> {
  const isLong = callId !== null && callId.end - callId.start - 2 > maxCallIdBytes;
  return [callId, id]
    .filter((range) => range !== null)
    .filter((range) => (isLong && range === callId) || mayHaveState(bytes, range));
}

function mayHaveState(bytes: Buffer, { start, end }: ByteSpan): boolean {
  const text = bytes.subarray(start, end);
  return text[0] === quote && (text.includes(tilde) || text.includes(backslash));
}

/** True for an item that only names another one. Only a client names an item by its id alone. */
export function isReference(bytes: Buffer, { list, type, id, role, hasContent }: ScannedItem): boolean {
  if (list === 'output' || id === null || bytes[id.start] !== quote) return false;
  if (type === null || bytes[type.start] === letterN) return role === null || !hasContent;
  if (isNamed(bytes, type.start, type.end, 'item_reference')) return true;
  // Reasoning may be without content.
  return !hasContent && !['reasoning', ...idAloneTypes].some((name) => isNamed(bytes, type.start, type.end, name));
}
