import * as E from 'fp-ts/lib/Either.js';
import type { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import { sealingBytes, sealText } from '#personal-data/sealed-text.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { ProjectRoom } from './project-room.ts';
import type { ProviderCopies } from './provider-copies.ts';
import { type ProjectGeneration, RecentKeys } from './recent-keys.ts';
import { defaultRecentTurnBytes, RecentTurns } from './recent-turns.ts';
import { ResponseErasure } from './response-erasure.ts';
import { aliasOf } from './response-ids.ts';
import { ResponseRemoval } from './response-removal.ts';
import {
  type AddOutcome,
  maxAncestors,
  type ResponseName,
  type ResponseOutline,
  type ResponseStore,
  type StoredAmount,
} from './response-store.ts';
import type { FinishedTurn, NewTurn } from './turn.ts';
import { TurnReader } from './turn-reader.ts';

/** Maximum size of one turn's own items: sealed, the turn must fit into one document of MongoDB. */
export const maxTurnBytes = 8 * 1024 * 1024;
/** Maximum number of names of one turn. More make it too large, and so does a longer name or id. */
const maxFoundItems = 1_000;
const maxNameLength = 256;

/** Minimum size of a turn that is written alone. */
const largeTurnBytes = 64 * 1024;

export type RemovalReason = 'age' | 'quota';

/**
 * What has become of a turn, which is not stored if it, or its id, is too large, if too many others wait, if one that
 * it needs was deleted meanwhile, if its project was erased meanwhile, if its project has far more than its quota, or
 * if the disk is full.
 */
export type StoreOutcome = AddOutcome | 'too-large' | 'all-wait' | 'quota' | 'disk-full';

/** What has become of a finished turn. `before` if another call has stored it, or has deleted the response. */
export type FinishOutcome = 'stored' | 'before' | 'too-large' | 'erased';

export interface ResponseAmounts {
  readonly quotaBytes: number;
  readonly ttlDays: number;
  /** @throws UnavailableError */
  readonly amountOf: (projectId: string) => Promise<StoredAmount>;
}

export interface StoredResponsesOptions {
  readonly admission: Pick<Admission, 'slot'>;
  readonly store: ResponseStore;
  readonly keys: SubjectKeys;
  /** How long a response is kept. */
  readonly ttlDays: number;
  readonly quotaBytes: number;
  /** Maximum memory for turns that were read. Default 32 MiB. */
  readonly recentTurnBytes?: number;
  /** The time in ms since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
}

/** The responses of all projects, with their items. The items are sealed with a key for each project. */
export class StoredResponses implements ResponseAmounts {
  readonly store: ResponseStore;
  readonly copies: ProviderCopies;
  readonly turns: TurnReader;
  readonly removal: ResponseRemoval;
  readonly erasure: ResponseErasure;
  readonly quotaBytes: number;
  readonly ttlDays: number;
  readonly #recentKeys: RecentKeys;
  readonly #room: ProjectRoom;
  readonly #now: () => number;
  readonly #admission: StoredResponsesOptions['admission'];
  #countRemoval: (reason: RemovalReason) => void = () => undefined;

  constructor(options: StoredResponsesOptions) {
    const { store, keys, ttlDays, quotaBytes, recentTurnBytes = defaultRecentTurnBytes, now = Date.now } = options;
    this.#admission = options.admission;
    this.store = store;
    this.copies = store.copies;
    this.ttlDays = ttlDays;
    this.quotaBytes = quotaBytes;
    this.#now = now;
    this.#recentKeys = new RecentKeys({ store, keys, now });
    const recentTurns = new RecentTurns(recentTurnBytes);
    this.turns = new TurnReader({
      admission: options.admission,
      store,
      recentKeys: this.#recentKeys,
      recentTurns,
      ttlDays,
      now,
    });
    const removal = new ResponseRemoval({ store, onRemoved: (projectId, ids) => recentTurns.drop(projectId, ids) });
    this.removal = removal;
    this.#room = new ProjectRoom({ store, removal, quotaBytes, onRemoved: () => this.#countRemoval('quota') });
    const onErased = (projectId: string) => {
      this.#recentKeys.forget(projectId);
      recentTurns.dropProject(projectId);
    };
    this.erasure = new ResponseErasure({ store, keys, onErased, now });
  }

  /** Watches responses that are removed because of their age or the quota of their project. */
  watchRemovals(count: (reason: RemovalReason) => void): void {
    this.#countRemoval = count;
  }

  /**
   * The generation of a project. A call takes it when it begins, before it reads anything, and gives it to what stores
   * its response: if the project is erased meanwhile, nothing of the call is stored.
   * @throws UnavailableError
   */
  beginCall(projectId: string): Promise<ProjectGeneration> {
    return this.#recentKeys.generationOf(projectId);
  }

  /**
   * Stores a turn. Beyond the quota of its project the oldest responses are removed.
   * @param begun the generation when the call began. Default: the present one
   * @throws UnavailableError
   */
  async add(turn: NewTurn, begun?: ProjectGeneration): Promise<StoreOutcome> {
    const { projectId } = turn;
    const text = contentOf(turn);
    if (turn.id.length > maxNameLength || isTooLarge(text)) return 'too-large';
    const generation = begun ?? (await this.beginCall(projectId));
    const place = { projectId, bytes: sealedBytes(text), previous: turn.previous?.id ?? null };
    const outcome = await this.#inSlot(projectId, text, () =>
      this.#room.write(place, () => this.#write(turn, { text, generation })),
    );
    if (outcome === 'stored') await this.#trim(turn);
    return outcome ?? 'all-wait';
  }

  /**
   * @param begun the generation when the call began. Default: the present one
   * @throws UnavailableError also if too many others wait
   */
  async finish(turn: FinishedTurn, begun?: ProjectGeneration): Promise<FinishOutcome> {
    const { projectId } = turn;
    const text = contentOf(turn);
    if (isTooLarge(text)) return 'too-large';
    const generation = begun ?? (await this.beginCall(projectId));
    const outcome = await this.#inSlot(projectId, text, () => this.#writeEnd(turn, { text, generation }));
    if (outcome === null) throw new UnavailableError('Too many responses wait until they are stored.');
    if (outcome === 'stored') await this.#trim(turn);
    return outcome;
  }

  /** Runs work in a slot; null if too many others wait. */
  async #inSlot<Outcome>(projectId: string, text: string, write: () => Promise<Outcome>): Promise<Outcome | null> {
    const name = text.length > largeTurnBytes ? 'large response' : 'small response';
    const leave = await this.#admission.slot(new Held(projectId), name);
    if (E.isLeft(leave)) return null;
    try {
      return await write();
    } finally {
      leave.right();
    }
  }

  async #writeEnd({ projectId, id, names }: FinishedTurn, written: WrittenText): Promise<FinishOutcome> {
    const content = await this.#seal(id, written);
    if (content === null) return 'erased';
    const items = foundItems(id, names);
    const { subject } = written.generation;
    return this.store.finish({ projectId, id, bytes: content.length, items, content }, subject);
  }

  async #write(turn: NewTurn, written: WrittenText): Promise<AddOutcome> {
    const { projectId, id, previous, referenced, names, provider, background = null } = turn;
    const content = await this.#seal(id, written);
    if (content === null) return 'erased';
    const response = {
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
    };
    return this.store.add(response, written.generation.subject);
  }

  async #seal(id: string, { text, generation }: WrittenText): Promise<string | null> {
    const key = await this.#recentKeys.keyIn(generation);
    return key === null ? null : sealText(key, { subject: generation.subject, field: id }, text).ciphertext;
  }

  async #trim({ projectId, id }: ResponseName): Promise<void> {
    try {
      await this.#room.trim(projectId, id);
    } catch (error) {
      // The next write removes what is left.
      if (!(error instanceof UnavailableError)) throw error;
    }
  }

  /**
   * Deletes a response. What no other one needs is removed afterwards.
   * @returns false if it is not there
   * @throws UnavailableError
   */
  async delete(projectId: string, id: string): Promise<boolean> {
    const [stored] = await this.store.outlines(projectId, [id]);
    if (stored === undefined || !this.turns.isThere(stored)) return false;
    await this.store.markDeleted(projectId, [id]);
    this.removal.begin(projectId);
    return true;
  }

  /** @throws UnavailableError */
  async expire(projectId: string, responses: ReadonlyArray<ResponseName>): Promise<void> {
    const ids = responses.map(({ id }) => id);
    await this.store.markDeleted(projectId, ids);
    for (const _ of ids) this.#countRemoval('age');
  }

  /** @throws UnavailableError */
  amountOf(projectId: string): Promise<StoredAmount> {
    return this.store.amountOf(projectId);
  }

  /**
   * Destroys the key of a project's items, and removes all its responses. May be called again.
   * @throws UnavailableError
   */
  eraseProject(projectId: string): Promise<void> {
    return this.erasure.erase(projectId);
  }

  async close(): Promise<void> {
    await this.turns.close();
    await this.removal.close();
    await this.store.close();
  }
}

interface WrittenText {
  readonly text: string;
  readonly generation: ProjectGeneration;
}

/** The sealed size in Base64. */
function sealedBytes(text: string): number {
  return Math.ceil(((Buffer.byteLength(text) + sealingBytes) * 4) / 3);
}

function isTooLarge(text: string): boolean {
  return text.length > maxTurnBytes || Buffer.byteLength(text) > maxTurnBytes;
}

function contentOf({ inputText, responseText }: Pick<NewTurn, 'inputText' | 'responseText'>): string {
  return `{"input":${inputText},"response":${responseText}}`;
}

/** The names of the turn's items, and its alias, which other items name. */
function foundItems(id: string, names: ReadonlyArray<string>): ReadonlyArray<string> {
  const alias = aliasOf(id);
  const short = names.filter(({ length }) => length <= maxNameLength);
  return [...new Set(alias === null ? short : [alias, ...short])].slice(0, maxFoundItems);
}

function ancestorsAfter({ id, previous, ancestors }: ResponseOutline): ReadonlyArray<string> {
  return [id, ...(ancestors ?? (previous === null ? [] : [previous]))].slice(0, maxAncestors);
}
