import { isNamed, type JsonListener, JsonScanner, maxJsonLevels } from '#shared/json/json-scanner.ts';

const quote = 0x22;
const letterN = 0x6e;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** A span from its first byte to the one after its last. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** An item of a turn. Places are null for what the item does not have. */
export interface ScannedItem extends ByteSpan {
  readonly list: 'input' | 'output';
  readonly index: number;
  /** Whether it has content in addition to its id and what describes it. */
  readonly hasContent: boolean;
  /** True for an object. Anything else is not an item. Only a provider writes it. */
  readonly isObject: boolean;
  readonly type: ByteSpan | null;
  readonly id: ByteSpan | null;
  readonly role: ByteSpan | null;
  /** The part that only its provider can read: the opaque part of reasoning, or the short form of a history. */
  readonly encryptedContent: ByteSpan | null;
  /** The id of the container in which its code ran. */
  readonly containerId: ByteSpan | null;
  /** The id of the call that it is, or whose result it is. */
  readonly callId: ByteSpan | null;
}

type Growing = { -readonly [Key in keyof ScannedItem]: ScannedItem[Key] };

/**
 * No limits, because the input and the response were within the limits when they were stored, where an object is around
 * them.
 */
const limits = { maxValues: Number.POSITIVE_INFINITY, maxLevels: maxJsonLevels + 1 };

/** Members that describe an item. One with no others names a stored one, as OpenAI's clients name pictures. */
export const describingMembers = [
  ...['id', 'type', 'status', 'action', 'background', 'moderation', 'output_compression', 'output_format'],
  ...['partial_images', 'quality', 'revised_prompt', 'size'],
];

/**
 * The types of items that are whole although they may have nothing but an id. None of them names a stored one: the id of
 * a local shell's output is that of its call.
 */
export const idAloneTypes = ['compaction_trigger', 'context_compaction', 'local_shell_call_output'] as const;

const itemMembers = [
  'type',
  'id',
  'role',
  'content',
  'encrypted_content',
  'container_id',
  'call_id',
  'environment',
  'output',
  'tools',
];
/** The members of an item in whose objects files are named. */
const withFiles = ['content', 'output'];

/**
 * Finds the items of a stored turn, whose text is `{"input":…,"response":…}`, piece by piece. It makes no object of what
 * it reads.
 */
export class TurnScan implements JsonListener {
  /** The deepest level: the id of a file is in a member of an item's parts. */
  readonly maxLevel = 6;
  /** The values in the items. */
  values = 0;
  /** Whether an item may name a file, or has tools. */
  hasFilesOrTools = false;
  input: ByteSpan | null = null;
  output: ByteSpan | null = null;
  response: ByteSpan | null = null;
  readonly #counts = { input: 0, output: 0 };
  readonly #bytes: Buffer;
  readonly #onItem: (item: ScannedItem) => void;
  readonly #scanner: JsonScanner;
  #root: 'input' | 'response' | null = null;
  /** Where the value of the member begins that is read at each level. */
  readonly #starts: number[] = [];
  #itemLevel = 0;
  #item: Growing | null = null;
  #valuesBefore = 0;
  /** The name of the member of the item that is read. */
  #member: string | null = null;
  #isContainerId = false;

  /** @param onItem gets the items in order */
  constructor(bytes: Buffer, onItem: (item: ScannedItem) => void) {
    this.#bytes = bytes;
    this.#onItem = onItem;
    this.#scanner = new JsonScanner(bytes, limits, this);
  }

  /** Advances by about 1 MiB. @returns whether the text has ended */
  advance(): boolean {
    return this.#scanner.advance();
  }

  /** The approximate size. */
  get bytesOfSlice(): number {
    return this.#scanner.bytesOfSlice;
  }

  /** Whether the text is that of a turn. */
  get isWhole(): boolean {
    return this.#scanner.fault === null && this.#scanner.isObject;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.#starts[level] = start;
    if (level === 1) this.#beginRoot(start, nameStart, nameEnd);
    else if (level === 2 && this.#root === 'response') this.#beginOfResponse(start, nameStart, nameEnd);
    else if (this.#itemLevel > 0) this.#beginInList(level - this.#itemLevel, start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    const range = { start: this.#starts[level] ?? 0, end };
    if (level === 1) this.#endRoot(range);
    else if (level === 2 && this.#root === 'response') {
      if (this.#itemLevel > 0) this.output = range;
      this.#itemLevel = 0;
    } else if (this.#itemLevel > 0) this.#endInList(level - this.#itemLevel, range);
  }

  #beginRoot(start: number, nameStart: number, nameEnd: number): void {
    const isRoot = (name: string) => nameStart >= 0 && isNamed(this.#bytes, nameStart, nameEnd, name);
    this.#root = isRoot('input') ? 'input' : isRoot('response') ? 'response' : null;
    this.#itemLevel = this.#root === 'input' && this.#bytes[start] === openBracket ? 2 : 0;
  }

  #endRoot(range: ByteSpan): void {
    if (this.#root === 'input') this.input = range;
    if (this.#root === 'response') this.response = range;
    this.#root = null;
    this.#itemLevel = 0;
  }

  #beginOfResponse(start: number, nameStart: number, nameEnd: number): void {
    const isOutput = nameStart >= 0 && isNamed(this.#bytes, nameStart, nameEnd, 'output');
    this.#itemLevel = isOutput && this.#bytes[start] === openBracket ? 3 : 0;
  }

  #beginInList(depth: number, start: number, nameStart: number, nameEnd: number): void {
    if (depth === 0) this.#beginItem(start);
    else if (this.#item !== null) this.#item.hasContent ||= depth > 1 || this.#isContent(start, nameStart, nameEnd);
    if (depth === 1) this.#member = itemMembers.find((name) => this.#isMember(nameStart, nameEnd, name)) ?? null;
    else if (depth === 2)
      this.#isContainerId = this.#member === 'environment' && this.#isMember(nameStart, nameEnd, 'container_id');
    if ((depth === 2 || depth === 3) && this.#member !== null && withFiles.includes(this.#member))
      this.hasFilesOrTools ||= this.#isMember(nameStart, nameEnd, 'file_id');
    if (depth === 3 && this.#member === 'tools') this.hasFilesOrTools ||= this.#isMember(nameStart, nameEnd, 'type');
  }

  /** Whether a member has content in itself. An object or a list has it if there is something in it. */
  #isContent(start: number, nameStart: number, nameEnd: number): boolean {
    const first = this.#bytes[start];
    if (first === letterN || first === openBrace || first === openBracket) return false;
    if (first === quote && this.#bytes[start + 1] === quote) return false;
    return !describingMembers.some((name) => this.#isMember(nameStart, nameEnd, name));
  }

  #isMember(nameStart: number, nameEnd: number, name: string): boolean {
    return nameStart >= 0 && isNamed(this.#bytes, nameStart, nameEnd, name);
  }

  #beginItem(start: number): void {
    const isObject = this.#bytes[start] === openBrace;
    const list = this.#root === 'input' ? 'input' : 'output';
    const none = { type: null, id: null, role: null, encryptedContent: null, containerId: null, callId: null };
    this.#valuesBefore = this.#scanner.values - 1;
    this.#item = { list, index: this.#counts[list], hasContent: false, isObject, start, end: start, ...none };
    if (isObject) this.#counts[list] += 1;
  }

  #endInList(depth: number, range: ByteSpan): void {
    const item = this.#item;
    if (item === null) return;
    if (depth === 0) {
      item.end = range.end;
      this.#item = null;
      if (item.isObject) this.values += this.#scanner.values - this.#valuesBefore;
      this.#onItem(item);
    } else if (depth === 1) this.#take(item, range);
    else if (depth === 2 && this.#isContainerId) {
      if (item.containerId === null && this.#bytes[range.start] === quote) item.containerId = range;
      this.#isContainerId = false;
    }
  }

  #take(item: Growing, range: ByteSpan): void {
    const member = this.#member;
    this.#member = null;
    if (member === 'type' || member === 'id' || member === 'role') item[member] = range;
    else if (member === 'encrypted_content') item.encryptedContent = range;
    else if (member === 'call_id' && this.#bytes[range.start] === quote) item.callId = range;
    else if (member === 'container_id' && this.#bytes[range.start] === quote) item.containerId = range;
  }
}
