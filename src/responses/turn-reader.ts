import { setImmediate as nextTurn } from 'node:timers/promises';
import { openText } from '#personal-data/sealed-text.ts';
import { isObject, type JsonObject, parsedJson } from '#shared/json/json.ts';
import type { RecentKeys } from './recent-keys.ts';
import type { RecentTurns } from './recent-turns.ts';
import type { ResponseOutline, ResponseStore, StoredResponse } from './response-store.ts';
import type { KeptTurn } from './turn.ts';
import { ownItems } from './turn-items.ts';

/** Maximum number of turns of a conversation that is continued. */
export const maxTurns = 10_000;
/** How many bytes are opened in one turn of the event loop. */
const maxBytesOfTurn = 1024 * 1024;

const dayMs = 24 * 60 * 60 * 1_000;

/** How much of what is stored may be read at once. */
export interface ReadLimits {
  readonly maxBytes: number;
  /** Takes memory for it. @returns false if there is none */
  readonly reserve: (bytes: number) => boolean;
}

/** Why turns are not read. */
export type NotRead = 'too-long' | 'no-room';

export interface TurnReaderOptions {
  readonly store: ResponseStore;
  readonly recentKeys: RecentKeys;
  readonly recentTurns: RecentTurns;
  /** How long a response is kept. */
  readonly ttlDays: number;
  /** In ms since 1970. */
  readonly now: () => number;
}

/**
 * Reads the turns of all projects. One that was deleted or is too old is not there any more, although others may still
 * need its items.
 */
export class TurnReader {
  readonly #store: ResponseStore;
  readonly #recentKeys: RecentKeys;
  readonly #recentTurns: RecentTurns;
  readonly #ttlDays: number;
  readonly #now: () => number;

  constructor({ store, recentKeys, recentTurns, ttlDays, now }: TurnReaderOptions) {
    this.#store = store;
    this.#recentKeys = recentKeys;
    this.#recentTurns = recentTurns;
    this.#ttlDays = ttlDays;
    this.#now = now;
  }

  /** The time before which responses are too old, in ms since 1970. */
  get expiredBefore(): number {
    return this.#now() - this.#ttlDays * dayMs;
  }

  /** Whether a response can be found by its id. */
  isThere({ isDeleted, at }: ResponseOutline): boolean {
    return !isDeleted && at >= this.expiredBefore;
  }

  /** Finds a response. @throws UnavailableError */
  async find(projectId: string, id: string): Promise<KeptTurn | null> {
    const stored = await this.#store.find(projectId, id);
    if (stored === null || !this.isThere(stored)) return null;
    return (await this.#opened(projectId, [stored]))[0] ?? null;
  }

  /**
   * Reads the turns of a conversation up to a response, in order.
   * @returns null if the response is not there
   * @throws UnavailableError
   */
  async conversation(
    projectId: string,
    id: string,
    limits: ReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead | null> {
    const last = await this.#store.find(projectId, id);
    if (last === null || !this.isThere(last)) return null;
    if (last.depth >= maxTurns) return 'too-long';
    const kept = await this.#keptBefore(last);
    const before = kept?.map(({ outline }) => outline) ?? (await this.#chainBefore(last));
    const bytes = before.reduce((sum, each) => sum + each.bytes, last.bytes);
    const refused = whyNotRead(bytes, limits);
    if (refused !== null) return refused;
    const turnsBefore = kept ?? (await this.#turnsOf(projectId, before));
    const opened = [...turnsBefore, ...(await this.#opened(projectId, [last]))];
    // A part may have been removed meanwhile, and the rest alone would be another conversation.
    return opened.length === last.depth + 1 ? opened : null;
  }

  /**
   * Finds the turns that have made some items.
   * @param ids the ids of the responses that ids of items name, or their aliases
   * @throws UnavailableError
   */
  async turnsOfItems(
    projectId: string,
    { items, ids }: { readonly items: ReadonlyArray<string>; readonly ids: ReadonlyArray<string> },
    limits: ReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead> {
    const outlines = await this.#store.ofItems(projectId, [...items, ...ids], ids);
    return this.#readTurns(
      projectId,
      outlines.filter((each) => this.isThere(each)),
      limits,
    );
  }

  /**
   * Reads turns whose items others need. A deleted one, or one that is too old, is still there for these.
   * @throws UnavailableError
   */
  async neededTurns(
    projectId: string,
    ids: ReadonlyArray<string>,
    limits: ReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead> {
    return this.#readTurns(projectId, await this.#store.outlines(projectId, ids), limits);
  }

  /** Finds which provider has made some items, by their ids. @throws UnavailableError */
  providersOf(projectId: string, items: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
    return this.#store.providersOf(projectId, items);
  }

  /**
   * The turns before one, if all of them are kept in memory. They exist as long as it does: no response is stored
   * without what it needs, and what it needs is removed with it.
   */
  async #keptBefore({ projectId, previous }: ResponseOutline): Promise<ReadonlyArray<KeptTurn> | null> {
    const { subject } = await this.#recentKeys.keyOf(projectId);
    const turns: KeptTurn[] = [];
    for (let id = previous; id !== null; ) {
      const turn = this.#recentTurns.find({ projectId, subject, id });
      if (turn === null) return null;
      turns.push(turn);
      id = turn.outline.previous;
    }
    return turns.reverse();
  }

  /** The outlines of the turns before one, as far as they are there, read in pieces of up to 64. */
  async #chainBefore(last: ResponseOutline): Promise<ReadonlyArray<ResponseOutline>> {
    const { projectId } = last;
    const chain: ResponseOutline[] = [];
    for (let end: ResponseOutline | undefined = last; end !== undefined && end.previous !== null; ) {
      const ids: ReadonlyArray<string> = end.ancestors ?? [end.previous];
      const byId = new Map((await this.#store.outlines(projectId, ids)).map((each) => [each.id, each]));
      const found = ids.map((id) => byId.get(id));
      const missing = found.indexOf(undefined);
      const there = found.slice(0, missing < 0 ? found.length : missing).filter((each) => each !== undefined);
      chain.push(...there);
      if (missing >= 0) break;
      end = there.at(-1);
      await nextTurn();
    }
    return chain.reverse();
  }

  async #readTurns(
    projectId: string,
    outlines: ReadonlyArray<ResponseOutline>,
    limits: ReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead> {
    const bytes = outlines.reduce((sum, each) => sum + each.bytes, 0);
    return whyNotRead(bytes, limits) ?? this.#turnsOf(projectId, outlines);
  }

  /** Opens turns, without those whose content is gone. */
  async #turnsOf(projectId: string, outlines: ReadonlyArray<ResponseOutline>): Promise<ReadonlyArray<KeptTurn>> {
    const { subject } = await this.#recentKeys.keyOf(projectId);
    const found = new Map<string, KeptTurn>();
    for (const { id } of outlines) {
      const kept = this.#recentTurns.find({ projectId, subject, id });
      if (kept !== null) found.set(id, kept);
    }
    const missing = outlines.filter(({ id }) => !found.has(id));
    const ids = missing.map(({ id }) => id);
    const contents = ids.length === 0 ? new Map<string, string>() : await this.#store.contents(projectId, ids);
    const stored = missing.flatMap((outline) => {
      const content = contents.get(outline.id);
      return content === undefined ? [] : [{ ...outline, content }];
    });
    for (const turn of await this.#opened(projectId, stored)) found.set(turn.outline.id, turn);
    return outlines.flatMap(({ id }) => found.get(id) ?? []);
  }

  #kept(subject: string, turn: KeptTurn): KeptTurn {
    // Another node may finish a response that is made in the background.
    if (turn.outline.background === null) this.#recentTurns.keep(subject, turn);
    return turn;
  }

  /** Those that cannot be opened are left out: their key was destroyed. */
  async #opened(projectId: string, stored: ReadonlyArray<WithContent>): Promise<ReadonlyArray<KeptTurn>> {
    if (stored.length === 0) return [];
    const { subject, key } = await this.#recentKeys.keyOf(projectId);
    const opened: KeptTurn[] = [];
    let openedBytes = 0;
    for (const { content, ...outline } of stored) {
      const text = key === null ? null : openText(key, { subject, field: outline.id }, { ciphertext: content });
      const value = text === null ? null : parsedJson(text);
      if (isObject(value)) opened.push(this.#kept(subject, turnOf(value, outline)));
      openedBytes += content.length;
      if (openedBytes < maxBytesOfTurn) continue;
      openedBytes = 0;
      await nextTurn();
    }
    return opened;
  }
}

type WithContent = ResponseOutline & Pick<StoredResponse, 'content'>;

function whyNotRead(bytes: number, { maxBytes, reserve }: ReadLimits): NotRead | null {
  if (bytes > maxBytes) return 'too-long';
  return reserve(bytes) ? null : 'no-room';
}

function turnOf({ input, response }: JsonObject, outline: ResponseOutline): KeptTurn {
  return { outline, input: ownItems(input, outline.id), response: isObject(response) ? response : {} };
}
