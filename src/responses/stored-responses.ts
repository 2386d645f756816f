import { setImmediate as nextTurn } from 'node:timers/promises';
import { openText, sealText } from '#personal-data/sealed-text.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import { FairSlots } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { isObject, type JsonObject, parsedJson } from '#shared/json/json.ts';
import type { ProviderCopies } from './provider-copies.ts';
import { RecentKeys } from './recent-keys.ts';
import { RecentTurns } from './recent-turns.ts';
import { aliasOf } from './response-ids.ts';
import type { ResponseOutline, ResponseStore, StoredAmount, StoredResponse } from './response-store.ts';
import type { FinishedTurn, KeptTurn, NewTurn } from './turn.ts';
import { ownItems } from './turn-items.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/** The most bytes of one turn's own items: sealed, it must fit into one document of MongoDB. */
export const maxTurnBytes = 8 * 1024 * 1024;
/** The most turns before one, because their outlines are read at once. */
const maxTurns = 10_000;
/** The most items of one turn that can be found by their ids. */
const maxFoundItems = 1_000;

/** The characters of a large turn. */
const largeTurnBytes = 64 * 1024;
const maxWaitMs = 10_000;
const largeWrites = { maxSlots: 2, maxWaiting: 32, maxWaitingOfOwner: 4, maxWaitMs };
const smallWrites = { maxSlots: 256, maxSlotsOfOwner: 128, maxWaiting: 4_096, maxWaitingOfOwner: 1_024, maxWaitMs };

/** How many bytes are opened in one turn of the event loop. */
const maxBytesOfTurn = 1024 * 1024;

/** How much of what is stored may be read at once. */
export interface ReadLimits {
  readonly maxBytes: number;
  /** Takes memory for it. @returns false if there is none */
  readonly reserve: (bytes: number) => boolean;
}

/** Why turns are not read. */
export type NotRead = 'too-long' | 'no-room';

/** How much is stored for projects, and how much may be. */
export interface ResponseAmounts {
  /** The most bytes of a project. */
  readonly quotaBytes: number;
  readonly ttlDays: number;
  /** @throws UnavailableError */
  readonly amountOf: (projectId: string) => Promise<StoredAmount>;
}

export interface StoredResponsesOptions {
  readonly store: ResponseStore;
  readonly keys: SubjectKeys;
  /** How long a response is kept. */
  readonly ttlDays: number;
  /** The most bytes of the stored responses of one project. */
  readonly quotaBytes: number;
  /** In ms since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
}

/**
 * The responses of all projects, with their items. The items are sealed with a key for each project. A response that was
 * deleted or is too old is not there any more, although others may still need its items.
 */
export class StoredResponses implements ResponseAmounts {
  readonly store: ResponseStore;
  /** The copies of responses that providers have. */
  readonly copies: ProviderCopies;
  readonly quotaBytes: number;
  readonly ttlDays: number;
  readonly #keys: SubjectKeys;
  readonly #recentKeys: RecentKeys;
  readonly #recentTurns = new RecentTurns();
  readonly #now: () => number;
  /** Projects write in turn, so that none fills the queue of the thread that writes for all. */
  readonly #writes = { large: new FairSlots(largeWrites), small: new FairSlots(smallWrites) };

  constructor({ store, keys, ttlDays, quotaBytes, now = Date.now }: StoredResponsesOptions) {
    this.store = store;
    this.copies = store.copies;
    this.ttlDays = ttlDays;
    this.quotaBytes = quotaBytes;
    this.#keys = keys;
    this.#recentKeys = new RecentKeys({ store, keys, now });
    this.#now = now;
  }

  /** The time before which responses are too old, in ms since 1970. */
  get expiredBefore(): number {
    return this.#now() - this.ttlDays * dayMs;
  }

  /**
   * Stores a turn.
   * @returns false if it is too large, if too many others wait, or if one that it needs was deleted meanwhile
   * @throws UnavailableError
   */
  async add(turn: NewTurn): Promise<boolean> {
    const text = contentOf(turn);
    if (isTooLarge(text)) return false;
    return (await this.#inSlot(turn.projectId, text, () => this.#write(turn, text))) ?? false;
  }

  /**
   * Stores the end of a response that was made in the background.
   * @returns `before` if another call has stored it, or has deleted the response
   * @throws UnavailableError also if too many others wait
   */
  async finish(turn: FinishedTurn): Promise<'stored' | 'before' | 'too-large'> {
    const text = contentOf(turn);
    if (isTooLarge(text)) return 'too-large';
    const isStored = await this.#inSlot(turn.projectId, text, () => this.#writeEnd(turn, text));
    if (isStored === null) throw new UnavailableError('Too many responses wait until they are stored.');
    return isStored ? 'stored' : 'before';
  }

  /** Writes when it is the turn of its project; null if too many others wait. */
  async #inSlot(projectId: string, text: string, write: () => Promise<boolean>): Promise<boolean | null> {
    const leave = await this.#writes[text.length > largeTurnBytes ? 'large' : 'small'].enter(projectId);
    if (typeof leave === 'string') return null;
    try {
      return await write();
    } finally {
      leave();
    }
  }

  async #writeEnd({ projectId, id, names }: FinishedTurn, text: string): Promise<boolean> {
    const content = await this.#seal(projectId, id, text);
    return this.store.finish({ projectId, id, bytes: content.length, items: foundItems(id, names), content });
  }

  async #write(turn: NewTurn, text: string): Promise<boolean> {
    const { projectId, id, previous, referenced, names, provider, background = null } = turn;
    const content = await this.#seal(projectId, id, text);
    return this.store.add({
      projectId,
      id,
      conversation: previous?.conversation ?? id,
      depth: previous === null ? 0 : previous.depth + 1,
      previous: previous?.id ?? null,
      at: this.#now(),
      bytes: content.length,
      isDeleted: false,
      needs: [...new Set([...(previous === null ? [] : [previous.id]), ...referenced])],
      items: foundItems(id, names),
      provider,
      background,
      content,
    });
  }

  /** Finds a response. @throws UnavailableError */
  async find(projectId: string, id: string): Promise<KeptTurn | null> {
    const stored = await this.store.find(projectId, id);
    if (stored === null || !this.#isThere(stored)) return null;
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
    const last = await this.store.find(projectId, id);
    if (last === null || !this.#isThere(last)) return null;
    if (last.depth > maxTurns) return 'too-long';
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
    const outlines = await this.store.ofItems(projectId, [...items, ...ids], ids);
    return this.#readTurns(
      projectId,
      outlines.filter((each) => this.#isThere(each)),
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
    return this.#readTurns(projectId, await this.store.named(projectId, ids), limits);
  }

  /** Finds which provider has made some items, by their ids. @throws UnavailableError */
  async providersOf(projectId: string, items: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
    const found = await this.store.ofItems(projectId, items, []);
    return new Map(
      found.flatMap(({ items: made, provider }) =>
        provider === null ? [] : made.map((id) => [id, provider] as const),
      ),
    );
  }

  /**
   * Deletes a response, and removes its items unless another response needs them.
   * @returns false if it is not there
   * @throws UnavailableError
   */
  async delete(projectId: string, id: string): Promise<boolean> {
    const stored = await this.store.find(projectId, id);
    if (stored === null || !this.#isThere(stored)) return false;
    await this.release(stored);
    return true;
  }

  /**
   * As `delete`, for a response that is known, too old or not.
   * @returns the bytes that are free now
   * @throws UnavailableError
   */
  async release(response: ResponseOutline): Promise<number> {
    const { projectId } = response;
    if (await this.store.isNeeded(projectId, response.id, [])) {
      await this.store.markDeleted(projectId, response.id);
      return 0;
    }
    let freedBytes = response.bytes;
    const removed = new Set([response.id]);
    const waiting = [...response.needs];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const needed = removed.has(id) ? null : await this.store.find(projectId, id);
      if (needed === null || !needed.isDeleted) continue;
      if (await this.store.isNeeded(projectId, id, [...removed])) continue;
      removed.add(id);
      freedBytes += needed.bytes;
      waiting.push(...needed.needs);
    }
    // Another response may have begun to need one of them.
    if (!(await this.store.remove(projectId, [...removed]))) return this.release(response);
    this.#recentTurns.drop(projectId, [...removed]);
    return freedBytes;
  }

  /** What is stored for a project. @throws UnavailableError */
  amountOf(projectId: string): Promise<StoredAmount> {
    return this.store.amountOf(projectId);
  }

  /** Destroys the key of a project's items, and removes all its responses. It may be called again. @throws UnavailableError */
  async eraseProject(projectId: string): Promise<void> {
    const subject = await this.store.subjectOf(projectId);
    await this.#keys.destroy(subject);
    this.#recentKeys.forget(projectId);
    this.#recentTurns.dropProject(projectId);
    await this.store.removeProject(projectId);
    await this.store.forgetSubject(projectId, subject);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  #isThere({ isDeleted, at }: ResponseOutline): boolean {
    return !isDeleted && at >= this.expiredBefore;
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

  async #chainBefore({
    projectId,
    conversation,
    depth,
    previous,
  }: ResponseOutline): Promise<ReadonlyArray<ResponseOutline>> {
    const outlines = await this.store.outlines(projectId, conversation, depth - 1);
    const byId = new Map(outlines.map((each) => [each.id, each]));
    const chain: ResponseOutline[] = [];
    for (let id = previous; id !== null; ) {
      const outline = byId.get(id);
      if (outline === undefined) break;
      chain.push(outline);
      id = outline.previous;
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
    const missing = outlines.filter(({ id }) => this.#recentTurns.find({ projectId, subject, id }) === null);
    const ids = missing.map(({ id }) => id);
    const contents = ids.length === 0 ? new Map<string, string>() : await this.store.contents(projectId, ids);
    const opened = new Map<string, KeptTurn>();
    const stored = missing.flatMap((outline) => {
      const content = contents.get(outline.id);
      return content === undefined ? [] : [{ ...outline, content }];
    });
    for (const turn of await this.#opened(projectId, stored)) opened.set(turn.outline.id, turn);
    return outlines.flatMap(({ id }) => opened.get(id) ?? this.#recentTurns.find({ projectId, subject, id }) ?? []);
  }

  async #seal(projectId: string, id: string, text: string): Promise<string> {
    const { subject, key } = await this.#recentKeys.keyOf(projectId);
    if (key === null) {
      // An erasure was interrupted after it had destroyed the key.
      await this.store.forgetSubject(projectId, subject);
      return this.#seal(projectId, id, text);
    }
    return sealText(key, { subject, field: id }, text).ciphertext;
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

function isTooLarge(text: string): boolean {
  return text.length > maxTurnBytes || Buffer.byteLength(text) > maxTurnBytes;
}

function contentOf({ inputText, responseText }: Pick<NewTurn, 'inputText' | 'responseText'>): string {
  return `{"input":${inputText},"response":${responseText}}`;
}

/** The names by which a turn is found: those of its items, and its alias, which other items name. */
function foundItems(id: string, names: ReadonlyArray<string>): ReadonlyArray<string> {
  const alias = aliasOf(id);
  return [...new Set(alias === null ? names : [alias, ...names])].slice(0, maxFoundItems);
}

function whyNotRead(bytes: number, { maxBytes, reserve }: ReadLimits): NotRead | null {
  if (bytes > maxBytes) return 'too-long';
  return reserve(bytes) ? null : 'no-room';
}

function turnOf({ input, response }: JsonObject, outline: ResponseOutline): KeptTurn {
  return { outline, input: ownItems(input, outline.id), response: isObject(response) ? response : {} };
}
