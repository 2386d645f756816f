import type { Edit } from '#gateway/framing/splice.ts';
import { isNamed, type JsonListener } from '#shared/json/json-scanner.ts';
import { detailsMember } from './message-state.ts';

interface Found {
  readonly message: number;
  readonly start: number;
  /** Where the member before it ends; null for the first one. */
  readonly previousEnd: number | null;
  end: number;
  /** Where the member after it begins, if it is the first one. */
  nextStart: number | null;
}

const maxFound = 10_000;

/**
 * Finds `reasoning_details` of the gateway while a scanner reads the messages of a request, which are on level 2. Each
 * names its maker in `provider`: another protocol, because those of a target of chats pass as they came. No target of
 * chats reads them, and OpenRouter refuses such a detail.
 */
export class OwnDetails implements JsonListener {
  readonly maxLevel = 5;
  readonly #bytes: Buffer;
  readonly #found: Found[] = [];
  #message = -1;
  #previousEnd: number | null = null;
  #open: Found | null = null;
  #isOwn = false;
  /** The details that were the first member of their message. */
  #first: Found | null = null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get pointers(): ReadonlyArray<string> {
    return this.#found.map(({ message }) => `/messages/${message}/${detailsMember}`);
  }

  /** Edits that take the details out, each with one comma. */
  get edits(): ReadonlyArray<Edit> {
    return this.#found.map(({ start, end, previousEnd, nextStart }) =>
      previousEnd === null ? { start, end: nextStart ?? end, text: '' } : { start: previousEnd, end, text: '' },
    );
  }

  begin(level: number, _start: number, nameStart: number, nameEnd: number): void {
    if (level === 1) this.#restart();
    else if (level === 2) this.#beginMessage();
    else if (level === 3 && nameStart !== -1) this.#beginMember(nameStart, nameEnd);
    else if (level === 5 && this.#open !== null && nameStart !== -1)
      this.#isOwn ||= isNamed(this.#bytes, nameStart, nameEnd, 'provider');
  }

  end(level: number, end: number): void {
    if (level !== 3) return;
    this.#previousEnd = end;
    const open = this.#open;
    this.#open = null;
    if (open === null || !this.#isOwn || this.#found.length === maxFound) return;
    const found = this.#joined(open);
    found.end = end;
    if (found.previousEnd === null) this.#first = found;
  }

  /** Joins details. A name may come twice in a row: then both are taken out together. */
  #joined(open: Found): Found {
    const last = this.#found.at(-1);
    if (last?.message === open.message && last.end === open.previousEnd) return last;
    this.#found.push(open);
    return open;
  }

  /** Begins again. If `messages` occurs twice, the last one counts, as for JSON.parse. */
  #restart(): void {
    this.#found.length = 0;
    this.#message = -1;
  }

  #beginMessage(): void {
    this.#message += 1;
    this.#previousEnd = null;
    this.#first = null;
  }

  #beginMember(start: number, nameEnd: number): void {
    if (this.#first !== null) this.#first.nextStart = start;
    this.#first = null;
    if (!isNamed(this.#bytes, start, nameEnd, detailsMember)) return;
    this.#open = { message: this.#message, start, previousEnd: this.#previousEnd, end: start, nextStart: null };
    this.#isOwn = false;
  }
}
