import { sealText } from '#personal-data/sealed-text.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import { FairSlots } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { ProviderCopies } from './provider-copies.ts';
import { RecentKeys } from './recent-keys.ts';
import { defaultRecentTurnBytes, RecentTurns } from './recent-turns.ts';
import { aliasOf } from './response-ids.ts';
import { maxAncestors, type ResponseOutline, type ResponseStore, type StoredAmount } from './response-store.ts';
import type { FinishedTurn, NewTurn } from './turn.ts';
import { TurnReader } from './turn-reader.ts';

/** The most bytes of one turn's own items: sealed, it must fit into one document of MongoDB. */
export const maxTurnBytes = 8 * 1024 * 1024;
/** Maximum number of items of one turn that can be found by their names, and characters of a name. */
const maxFoundItems = 1_000;
const maxNameLength = 256;

/** The characters of a large turn. */
const largeTurnBytes = 64 * 1024;
const maxWaitMs = 10_000;
const largeWrites = { maxSlots: 2, maxWaiting: 32, maxWaitingOfOwner: 4, maxWaitMs };
const smallWrites = { maxSlots: 256, maxSlotsOfOwner: 128, maxWaiting: 4_096, maxWaitingOfOwner: 1_024, maxWaitMs };

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
  /** Maximum bytes of memory for turns that were read. Default 32 MiB. */
  readonly recentTurnBytes?: number;
  /** In ms since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
}

/**
 * The responses of all projects, with their items. The items are sealed with a key for each project.
 */
export class StoredResponses implements ResponseAmounts {
  readonly store: ResponseStore;
  /** The copies of responses that providers have. */
  readonly copies: ProviderCopies;
  readonly turns: TurnReader;
  readonly quotaBytes: number;
  readonly ttlDays: number;
  readonly #keys: SubjectKeys;
  readonly #recentKeys: RecentKeys;
  readonly #recentTurns: RecentTurns;
  readonly #now: () => number;
  /** Projects write in turn, so that none fills the queue of the thread that writes for all. */
  readonly #writes = { large: new FairSlots(largeWrites), small: new FairSlots(smallWrites) };

  constructor(options: StoredResponsesOptions) {
    const { store, keys, ttlDays, quotaBytes, recentTurnBytes = defaultRecentTurnBytes, now = Date.now } = options;
    this.store = store;
    this.copies = store.copies;
    this.ttlDays = ttlDays;
    this.quotaBytes = quotaBytes;
    this.#keys = keys;
    this.#recentKeys = new RecentKeys({ store, keys, now });
    this.#recentTurns = new RecentTurns(recentTurnBytes);
    const recent = { recentKeys: this.#recentKeys, recentTurns: this.#recentTurns };
    this.turns = new TurnReader({ store, ...recent, ttlDays, now });
    this.#now = now;
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
      ancestors: previous === null ? [] : ancestorsAfter(previous),
      provider,
      background,
      content,
    });
  }

  /**
   * Deletes a response, and removes its items unless another response needs them.
   * @returns false if it is not there
   * @throws UnavailableError
   */
  async delete(projectId: string, id: string): Promise<boolean> {
    const [stored] = await this.store.outlines(projectId, [id]);
    if (stored === undefined || !this.turns.isThere(stored)) return false;
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
      const [needed] = removed.has(id) ? [] : await this.store.outlines(projectId, [id]);
      if (needed === undefined || !needed.isDeleted) continue;
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

  async #seal(projectId: string, id: string, text: string): Promise<string> {
    const { subject, key } = await this.#recentKeys.keyOf(projectId);
    if (key === null) {
      // An erasure was interrupted after it had destroyed the key.
      await this.store.forgetSubject(projectId, subject);
      return this.#seal(projectId, id, text);
    }
    return sealText(key, { subject, field: id }, text).ciphertext;
  }
}

function isTooLarge(text: string): boolean {
  return text.length > maxTurnBytes || Buffer.byteLength(text) > maxTurnBytes;
}

function contentOf({ inputText, responseText }: Pick<NewTurn, 'inputText' | 'responseText'>): string {
  return `{"input":${inputText},"response":${responseText}}`;
}

/** The names by which a turn is found: those of its items, and its alias, which other items name. */
function foundItems(id: string, names: ReadonlyArray<string>): ReadonlyArray<string> {
  const alias = aliasOf(id);
  const short = names.filter(({ length }) => length <= maxNameLength);
  return [...new Set(alias === null ? short : [alias, ...short])].slice(0, maxFoundItems);
}

/** The ancestors of a response that continues another one. */
function ancestorsAfter({ id, previous, ancestors }: ResponseOutline): ReadonlyArray<string> {
  return [id, ...(ancestors ?? (previous === null ? [] : [previous]))].slice(0, maxAncestors);
}
