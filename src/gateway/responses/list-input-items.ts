import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { answersFull } from '#exchange/byte-budget.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { answeredHere, type CallResult, type GatewayCall } from '#gateway/gateway-call.ts';
import type { ResponseOutline } from '#responses/response-store.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { piecesOf } from '#responses/turn-reader.ts';
import { listedItem, listedReference } from './listed-item.ts';
import { findItems } from './named-item.ts';
import { type ItemOfPage, type ItemsOfPage, PageOfTurn } from './page-of-turn.ts';
import { NoRoomError } from './send-pieces.ts';
import { keptBytes } from './sent-item.ts';

export interface ItemPageRequest {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** The id of the item before the page; null for the first page. */
  readonly after: string | null;
}

/** How many turns are read together. */
const turnsTogether = 16;

/**
 * Lists the response's own items, and those of the turns before it. It reads the turns of the page alone, whatever the
 * conversation has.
 * @throws UnavailableError
 */
export async function listInputItems(
  call: GatewayCall,
  last: ResponseOutline,
  request: ItemPageRequest,
): Promise<CallResult> {
  try {
    return await new InputListing(call, last, request, call.limits.maxJsonBytes).send();
  } catch (error) {
    if (error instanceof NoRoomError) return E.left(answersFull);
    throw error;
  }
}

interface ListedItem {
  readonly id: string | null;
  readonly bytes: Buffer;
}

class InputListing {
  readonly #call: GatewayCall;
  readonly #last: ResponseOutline;
  readonly #request: ItemPageRequest;
  readonly #maxBytes: number;
  #bytes = 0;
  /** The ids of all responses of the list, once they are needed. */
  #chain: Promise<ReadonlySet<string>> | null = null;
  readonly #needs = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(call: GatewayCall, last: ResponseOutline, request: ItemPageRequest, maxBytes: number) {
    this.#call = call;
    this.#last = last;
    this.#request = request;
    this.#maxBytes = maxBytes;
  }

  async send(): Promise<CallResult> {
    const { after } = this.#request;
    const page = after === null ? await this.#pageFrom(null) : await this.#pageAfter(after);
    if (page === null) return E.left(notListed);
    const data = page.items.map(({ bytes }) => bytes);
    const ends = { first_id: page.items[0]?.id ?? null, last_id: page.items.at(-1)?.id ?? null };
    const tail = JSON.stringify({ ...ends, has_more: page.hasMore }).slice(1);
    const pieces = data.flatMap((bytes, index) => (index === 0 ? [bytes] : [comma, bytes]));
    const body = Buffer.concat([Buffer.from('{"object":"list","data":['), ...pieces, Buffer.from(`],${tail}`)]);
    this.#call.client.send(200, ['Content-Type', 'application/json'], body);
    return answeredHere;
  }

  /**
   * The page after an item. It is searched first where the id of the item says, because the other turns need not be
   * read then.
   */
  async #pageAfter(after: string): Promise<Page | null> {
    const { projectId } = this.#last;
    const found = await this.#turns.outlinesOfItems(projectId, [after]);
    const likely = new Set(found.map(({ id }) => id));
    return (likely.size > 0 ? await this.#pageFrom(likely) : null) ?? this.#pageFrom(null);
  }

  get #turns() {
    return this.#call.gateway.responses.turns;
  }

  /**
   * @param likely the first of these turns may have the item before the page; null to search all
   * @returns null if this item is not there
   */
  async #pageFrom(likely: ReadonlySet<string> | null): Promise<Page | null> {
    const { limit, after } = this.#request;
    let isBefore = after !== null;
    const items: ListedItem[] = [];
    for await (const outlines of piecesOf(this.#outlinesFrom(likely), turnsTogether)) {
      const held = outlines.reduce((sum, { bytes }) => sum + bytes, 0);
      this.#hold(held);
      for (const turn of await this.#turns.readAll(outlines)) {
        const part = await this.#pageOf(turn, { after: isBefore ? after : null, count: limit + 1 - items.length });
        if (part === null && likely !== null) return null;
        isBefore &&= part === null;
        for (const item of part ?? []) {
          const isFull = items.length >= limit || (items.length > 0 && this.#bytes > this.#maxBytes);
          if (isFull) return { items, hasMore: true };
          items.push(await this.#listed(turn, item));
        }
      }
      this.#call.held.answer.giveBack(held);
      // A store may answer without a turn of the event loop.
      await nextTurn();
    }
    return isBefore ? null : { items, hasMore: false };
  }

  #pageOf(turn: KeptTurn, wanted: { readonly after: string | null; readonly count: number }): Promise<ItemsOfPage> {
    const isInputAlone = turn.outline.id === this.#last.id;
    return new PageOfTurn(turn, { ...wanted, isInputAlone, order: this.#request.order }).find();
  }

  /** The outlines in the order of the page, from one that is likely to have its beginning. */
  async *#outlinesFrom(likely: ReadonlySet<string> | null): AsyncGenerator<ResponseOutline> {
    let isSkipped = likely !== null;
    for await (const outline of this.#outlines()) {
      isSkipped &&= likely?.has(outline.id) !== true;
      if (!isSkipped) yield outline;
    }
  }

  async *#outlines(): AsyncGenerator<ResponseOutline> {
    if (this.#request.order === 'desc') {
      yield this.#last;
      for await (const piece of this.#turns.outlinesBefore(this.#last)) yield* piece;
      return;
    }
    const before: ReadonlyArray<ResponseOutline>[] = [];
    for await (const piece of this.#turns.outlinesBefore(this.#last)) before.push(piece);
    for (const piece of before.reverse()) yield* piece.toReversed();
    yield this.#last;
  }

  async #listed(turn: KeptTurn, { part, id }: ItemOfPage): Promise<ListedItem> {
    if (part.kind === 'reference') return { id, bytes: await this.#referenced(turn, part.id, id) };
    return { id, bytes: await this.#copyOf(turn, part, id) };
  }

  async #copyOf(turn: KeptTurn, part: Exclude<ItemOfPage['part'], { kind: 'reference' }>, id: string | null) {
    const { bytes } = turn.text;
    const size = part.end - part.start;
    // As it is listed, and in the answer.
    this.#hold(2 * size);
    this.#bytes += size;
    const own = part.kind === 'text' ? Buffer.concat(keptBytes(bytes, part)) : bytes.subarray(part.start, part.end);
    return Buffer.from(await listedItem(own, id));
  }

  /** The named item, if it still exists. It is listed under an id of this place. */
  async #referenced({ outline: naming }: KeptTurn, name: string, id: string | null): Promise<Buffer> {
    const found = await this.#turns.outlinesOfItems(this.#last.projectId, [name]);
    for (const outline of found) {
      if (!(await this.#isInChain(outline)) && !(await this.#needsOf(naming)).has(outline.id)) continue;
      this.#hold(outline.bytes);
      const turn = await this.#turns.read(outline);
      const item = turn === null ? undefined : (await findItems(new Set([name]), [turn])).get(name);
      const listed = item === undefined ? null : await this.#copyOf(item.turn, item.part, id);
      this.#call.held.answer.giveBack(outline.bytes);
      if (listed !== null) return listed;
    }
    return listedReference(id);
  }

  async #isInChain({ id, conversation, depth }: ResponseOutline): Promise<boolean> {
    if (conversation !== this.#last.conversation || depth > this.#last.depth) return false;
    this.#chain ??= this.#idsOfChain();
    return (await this.#chain).has(id);
  }

  /** The responses whose items a turn names. */
  #needsOf({ projectId, id }: ResponseOutline): Promise<ReadonlySet<string>> {
    const needs = this.#needs.get(id) ?? this.#turns.needsOf(projectId, [id]);
    this.#needs.set(id, needs);
    return needs;
  }

  async #idsOfChain(): Promise<ReadonlySet<string>> {
    const ids = new Set([this.#last.id]);
    for await (const piece of this.#turns.outlinesBefore(this.#last)) for (const { id } of piece) ids.add(id);
    return ids;
  }

  #hold(bytes: number): void {
    const { gateway, held } = this.#call;
    if (gateway.admission.bytes(held, 'answer', bytes) !== null) throw new NoRoomError();
  }
}

interface Page {
  readonly items: ReadonlyArray<ListedItem>;
  readonly hasMore: boolean;
}

const comma = Buffer.from(',');

const notListed: Failure = invalidInput([
  { pointer: '/after', parameter: 'after', message: 'must be the id of an item of this list' },
]);
