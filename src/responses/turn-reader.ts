import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Admission } from '#exchange/admission.ts';
import { sealingBytes } from '#personal-data/sealed-text.ts';
import { type OpeningKey, openTurns } from './open-turns.ts';
import type { RecentKeys } from './recent-keys.ts';
import type { RecentTurns } from './recent-turns.ts';
import { responseIdNamedBy } from './response-ids.ts';
import type { ResponseOutline, ResponseStore } from './response-store.ts';
import type { KeptTurn } from './turn.ts';
import type { TurnText } from './turn-text.ts';
import { TurnThread } from './turn-thread.ts';

/** Maximum number of turns of a conversation that is continued. */
export const maxTurns = 10_000;
/** Number of turns that are looked up or opened in one turn of the event loop. */
const maxSmallTurns = 64;
const maxSmallBytes = 256 * 1024;
/** Maximum number of turns that need others, because each may need thousands of them. */
const maxNeedingTurns = 8;
/** Maximum number of turns that the thread opens together. */
const maxTurnsOfThread = 256;
const maxBytesOfPiece = 1024 * 1024;

const dayMs = 24 * 60 * 60 * 1_000;

export interface TurnReadLimits {
  readonly maxBytes: number;
  /** Reserves room. @returns false if there is none */
  readonly reserve: (bytes: number) => boolean;
}

/** Why turns are not read. */
export type NotRead = 'too-long' | 'no-room';

export interface TurnReaderOptions {
  readonly admission: Pick<Admission, 'slot'>;
  readonly store: ResponseStore;
  readonly recentKeys: RecentKeys;
  readonly recentTurns: RecentTurns;
  /** How long a response is kept. */
  readonly ttlDays: number;
  /** The time in ms since 1970. */
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
  readonly #thread: TurnThread;

  constructor({ admission, store, recentKeys, recentTurns, ttlDays, now }: TurnReaderOptions) {
    this.#store = store;
    this.#thread = new TurnThread(admission);
    this.#recentKeys = recentKeys;
    this.#recentTurns = recentTurns;
    this.#ttlDays = ttlDays;
    this.#now = now;
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  /** The time before which responses have expired, in ms since 1970. */
  get expiredBefore(): number {
    return this.#now() - this.#ttlDays * dayMs;
  }

  /** Whether a response can be found by its id. */
  isThere({ isDeleted, at }: ResponseOutline): boolean {
    return !isDeleted && at >= this.expiredBefore;
  }

  /** Finds the outline without the content. @throws UnavailableError */
  async findOutline(projectId: string, id: string): Promise<ResponseOutline | null> {
    const [outline] = await this.#store.outlines(projectId, [id]);
    return outline !== undefined && this.isThere(outline) ? outline : null;
  }

  /** @throws UnavailableError */
  async find(projectId: string, id: string): Promise<KeptTurn | null> {
    const outline = await this.findOutline(projectId, id);
    return outline === null ? null : this.read(outline);
  }

  /** Reads a turn; null if it was removed meanwhile. @throws UnavailableError */
  async read(outline: ResponseOutline): Promise<KeptTurn | null> {
    return (await this.readAll([outline]))[0] ?? null;
  }

  /** Reads turns, without those that were removed meanwhile. @throws UnavailableError */
  async readAll(outlines: ReadonlyArray<ResponseOutline>): Promise<ReadonlyArray<KeptTurn>> {
    const projectId = outlines[0]?.projectId;
    return projectId === undefined ? [] : this.#turnsOf(projectId, outlines);
  }

  /**
   * In order, up to a response.
   * @returns null if the response is not there
   * @throws UnavailableError
   */
  async conversation(
    projectId: string,
    id: string,
    limits: TurnReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead | null> {
    const last = await this.findOutline(projectId, id);
    if (last === null) return null;
    if (last.depth >= maxTurns) return 'too-long';
    const kept = await this.#keptBefore(last);
    const before = kept?.map(({ outline }) => outline) ?? (await this.#chainBefore(last, limits.maxBytes));
    if (before === 'too-long') return before;
    const refused = whyNotRead([...before, last], limits);
    if (refused !== null) return refused;
    const turnsBefore = kept ?? (await this.#turnsOf(projectId, before));
    const turns = [...turnsBefore, ...(await this.#turnsOf(projectId, [last]))];
    // A part may have been removed meanwhile, and the rest alone would be another conversation.
    return turns.length === last.depth + 1 ? turns : null;
  }

  /**
   * @param ids the ids of the responses that ids of items name, or their aliases
   * @throws UnavailableError
   */
  async turnsOfItems(
    projectId: string,
    { items, ids }: { readonly items: ReadonlyArray<string>; readonly ids: ReadonlyArray<string> },
    limits: TurnReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead> {
    const found = [
      ...(await inPieces(items, (piece) => this.#store.ofItems(projectId, piece, []))),
      ...(await inPieces(ids, (piece) => this.#store.ofItems(projectId, piece, piece))),
    ].filter((each) => this.isThere(each));
    return this.#readTurns(projectId, [...new Map(found.map((each) => [each.id, each])).values()], limits);
  }

  /** The outlines of responses, deleted or not. @throws UnavailableError */
  async outlinesOfItems(projectId: string, items: ReadonlyArray<string>): Promise<ReadonlyArray<ResponseOutline>> {
    const ids = [...new Set(items.flatMap((id) => responseIdNamedBy(id) ?? []))];
    const [made, named] = [
      await this.#store.ofItems(projectId, [...items, ...ids], ids),
      await this.#store.outlines(projectId, ids),
    ];
    return [...made, ...named];
  }

  /**
   * Reads turns whose items others need. A deleted one, or one that is too old, is still there for these.
   * @throws UnavailableError
   */
  async neededTurns(
    projectId: string,
    ids: ReadonlyArray<string>,
    limits: TurnReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead> {
    const outlines = await inPieces(ids, (piece) => this.#store.outlines(projectId, piece));
    return this.#readTurns(projectId, outlines, limits);
  }

  /** The ids of needed responses, each once. @throws UnavailableError */
  async needsOf(projectId: string, ids: ReadonlyArray<string>): Promise<ReadonlySet<string>> {
    const needed = new Set<string>();
    for (let start = 0; start < ids.length; start += maxNeedingTurns) {
      if (start > 0) await nextTurn();
      const piece = ids.slice(start, start + maxNeedingTurns);
      for (const id of await this.#store.needsOf(projectId, piece)) needed.add(id);
    }
    return needed;
  }

  /** The providers by the ids of the items. @throws UnavailableError */
  async providersOf(projectId: string, items: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
    return new Map(await inPieces(items, async (piece) => [...(await this.#store.providersOf(projectId, piece))]));
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

  async #chainBefore(last: ResponseOutline, maxBytes: number): Promise<ReadonlyArray<ResponseOutline> | 'too-long'> {
    const chain: ResponseOutline[] = [];
    let bytes = 0;
    for await (const piece of this.outlinesBefore(last)) {
      chain.push(...piece);
      bytes += textBytesIn(piece);
      if (bytes > maxBytes) return 'too-long';
    }
    return chain.reverse();
  }

  /**
   * The outlines before one, as far as they exist, the nearest first: in pieces of up to 64.
   * @throws UnavailableError
   */
  async *outlinesBefore(last: ResponseOutline): AsyncGenerator<ReadonlyArray<ResponseOutline>> {
    const { projectId } = last;
    for (let end: ResponseOutline | undefined = last; end !== undefined && end.previous !== null; ) {
      const ids: ReadonlyArray<string> = end.ancestors ?? [end.previous];
      const byId = new Map((await this.#store.outlines(projectId, ids)).map((each) => [each.id, each]));
      const found = ids.map((id) => byId.get(id));
      const missing = found.indexOf(undefined);
      const there = found.slice(0, missing < 0 ? found.length : missing).filter((each) => each !== undefined);
      yield there;
      if (missing >= 0) return;
      end = there.at(-1);
      await nextTurn();
    }
  }

  async #readTurns(
    projectId: string,
    outlines: ReadonlyArray<ResponseOutline>,
    limits: TurnReadLimits,
  ): Promise<ReadonlyArray<KeptTurn> | NotRead> {
    return whyNotRead(outlines, limits) ?? this.#turnsOf(projectId, outlines);
  }

  /** The turns without those whose content is gone. Their outlines stay those that were given. */
  async #turnsOf(projectId: string, outlines: ReadonlyArray<ResponseOutline>): Promise<ReadonlyArray<KeptTurn>> {
    const { subject, key } = await this.#recentKeys.keyOf(projectId);
    const found = new Map<string, KeptTurn>();
    for (const outline of outlines) {
      const kept = this.#recentTurns.find({ projectId, subject, id: outline.id });
      if (kept !== null) found.set(outline.id, { outline, text: kept.text });
    }
    const missing = outlines.filter(({ id }) => !found.has(id));
    if (missing.length === 0 || key === null) return outlines.flatMap(({ id }) => found.get(id) ?? []);
    for await (const piece of piecesOf(missing, maxTurnsOfThread)) {
      const opened = await this.#opened(projectId, piece, { subject, key });
      for (const outline of piece) {
        const text = opened.get(outline.id);
        if (text !== undefined) found.set(outline.id, this.#kept(subject, { outline, text }));
      }
    }
    return outlines.flatMap(({ id }) => found.get(id) ?? []);
  }

  #kept(subject: string, turn: KeptTurn): KeptTurn {
    // Another node may finish a response that is made in the background.
    if (turn.outline.background === null) this.#recentTurns.keep(subject, turn);
    return turn;
  }

  /** Opens turns in this thread if that takes a moment, else in the other one. */
  async #opened(
    projectId: string,
    piece: ReadonlyArray<ResponseOutline>,
    opening: OpeningKey,
  ): Promise<ReadonlyMap<string, TurnText>> {
    const ids = piece.map(({ id }) => id);
    const isSmall = piece.length <= maxSmallTurns && bytesOf(piece) <= maxSmallBytes;
    const { file } = this.#store;
    if (!isSmall && file !== null) return this.#thread.open(projectId, { file, projectId, ids }, opening);
    const contents = await this.#store.contents(projectId, ids);
    if (isSmall) return openTurns(contents, opening);
    return this.#thread.open(projectId, { contents: [...contents] }, opening);
  }
}

/** Finds in pieces, with turns of the event loop between them: a store may answer without one. */
async function inPieces<Found>(
  names: ReadonlyArray<string>,
  find: (piece: ReadonlyArray<string>) => Promise<ReadonlyArray<Found>>,
): Promise<ReadonlyArray<Found>> {
  const found: Found[] = [];
  for (let start = 0; start < names.length; start += maxSmallTurns) {
    if (start > 0) await nextTurn();
    found.push(...(await find(names.slice(start, start + maxSmallTurns))));
  }
  return found;
}

/** Divides turns into pieces of a number of turns and about 1 MiB, which are opened together. One turn may have more. */
export async function* piecesOf(
  outlines: Iterable<ResponseOutline> | AsyncIterable<ResponseOutline>,
  maxTurnsOfPiece: number,
): AsyncGenerator<ReadonlyArray<ResponseOutline>> {
  let piece: ResponseOutline[] = [];
  let bytes = 0;
  for await (const outline of outlines) {
    const isFull = piece.length >= maxTurnsOfPiece || bytes + outline.bytes > maxBytesOfPiece;
    if (isFull && piece.length > 0) {
      yield piece;
      [piece, bytes] = [[], 0];
    }
    piece.push(outline);
    bytes += outline.bytes;
  }
  if (piece.length > 0) yield piece;
}

function bytesOf(outlines: ReadonlyArray<ResponseOutline>): number {
  return outlines.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The sealed bytes are Base64, with what the sealing adds. */
function textBytesIn(outlines: ReadonlyArray<ResponseOutline>): number {
  return outlines.reduce((sum, { bytes }) => sum + Math.max(0, Math.floor((bytes * 3) / 4) - sealingBytes), 0);
}

function whyNotRead(outlines: ReadonlyArray<ResponseOutline>, { maxBytes, reserve }: TurnReadLimits): NotRead | null {
  if (textBytesIn(outlines) > maxBytes) return 'too-long';
  return reserve(bytesOf(outlines)) ? null : 'no-room';
}
