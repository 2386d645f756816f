import * as E from 'fp-ts/lib/Either.js';
import type { AppendFailure, AppendResult, EventToAppend } from '#event-store/event-store.ts';
import { currentOwner } from '#shared/async/fair-queue.ts';
import { RememberedIds } from '#shared/memory/remembered-ids.ts';

export interface Append {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: ReadonlyArray<EventToAppend>;
}

type Outcome = E.Either<AppendFailure, AppendResult>;

/** Sends an append, alone or that of several commands, until its outcome is known. @param bytes its stored bytes */
type Settle = (append: Append, bytes: number, appends: number) => Promise<Outcome>;

interface WaitingAppend {
  /** The project for which the append is made. */
  readonly owner: string;
  readonly append: Append;
  readonly bytes: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends of which each is decided on the one before it. The first ones are being sent. */
interface AppendLine {
  /** The id of the last event of the last append. */
  lastEventId: string;
  readonly waiting: WaitingAppend[];
  /** Size of the appends that one call carries together; 0 if each has its own call. */
  maxBytesOfCall: number;
}

const maxBytesOfCall = 512 * 1024;
/**
 * Maximum number of remembered ids of last events. An append may be decided on an event that was stored a moment
 * before.
 */
const maxStoredIds = 10_000;

/**
 * Sends appends that were decided on unfinished ones. A server knows expected revisions but not the events at them, so the
 * next call to a stream is sent when the one before is stored. It carries what has waited meanwhile. When a call is not
 * stored, all that was decided on it conflicts, without being sent.
 */
export class AppendLines {
  readonly #settle: Settle;
  readonly #lines = new Map<string, AppendLine>();
  readonly #storedIds = new RememberedIds(maxStoredIds);

  constructor(settle: Settle) {
    this.#settle = settle;
  }

  /**
   * Sends an append in its order, and resolves when its outcome is known.
   * @param lastEventId the id of the event that it was decided on, if that may not be stored yet
   */
  async add(append: Append, bytes: number, lastEventId?: string): Promise<Outcome> {
    const line = this.#lines.get(append.stream);
    if (line !== undefined && line.lastEventId === lastEventId) return this.#wait(line, append, bytes);
    if (lastEventId !== undefined && !this.#storedIds.has(lastEventId)) return conflictOf(append);
    if (line !== undefined) return this.#bypass(append, bytes);
    const started: AppendLine = { lastEventId: '', waiting: [], maxBytesOfCall };
    this.#lines.set(append.stream, started);
    const outcome = this.#wait(started, append, bytes);
    void this.#send(append.stream, started);
    return outcome;
  }

  /** Sends a write that was decided on stored events, next to a line: the server stores one of the two. */
  async #bypass(append: Append, bytes: number): Promise<Outcome> {
    const outcome = await this.#settle(append, bytes, 1);
    if (E.isRight(outcome)) this.#storedIds.add(currentOwner(), lastIdOf(append));
    return outcome;
  }

  #wait(line: AppendLine, append: Append, bytes: number): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    line.waiting.push({ owner: currentOwner(), append, bytes, resolve, reject });
    line.lastEventId = lastIdOf(append);
    return promise;
  }

  /** Sends one call after the other until nothing waits, or until one is not stored. */
  async #send(stream: string, line: AppendLine): Promise<void> {
    let isStored = true;
    while (isStored && line.waiting.length > 0) isStored = await this.#sendGroup(stream, line);
    this.#lines.delete(stream);
    for (const { append, resolve } of line.waiting) resolve(conflictOf(append));
  }

  /** @returns whether what waits behind the call may be sent */
  async #sendGroup(stream: string, line: AppendLine): Promise<boolean> {
    const group = takeGroup(line.waiting, line.maxBytesOfCall);
    const expectedRevision = group[0]?.append.expectedRevision ?? 0;
    const events = group.flatMap(({ append }) => append.events);
    const bytes = group.reduce((sum, append) => sum + append.bytes, 0);
    try {
      const outcome = await this.#settle({ stream, expectedRevision, events }, bytes, group.length);
      if (E.isRight(outcome)) {
        this.#resolveStored(group, outcome.right);
        return true;
      }
      // The server allows less than one call has. Nothing of it was stored.
      if (outcome.left.kind === 'append-too-large' && group.length > 1) {
        line.waiting.unshift(...group);
        line.maxBytesOfCall = 0;
        return true;
      }
      for (const { resolve } of group) resolve(outcome);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    return false;
  }

  /** The position of a call is that of its last event. It is not less than that of each append in it. */
  #resolveStored(group: ReadonlyArray<WaitingAppend>, { revision, position }: AppendResult): void {
    const events = group.reduce((sum, { append }) => sum + append.events.length, 0);
    let last = revision - events;
    for (const { owner, append, resolve } of group) {
      last += append.events.length;
      this.#storedIds.add(owner, lastIdOf(append));
      resolve(E.right({ revision: last, position }));
    }
  }
}

/** Takes from the front what one call carries, one append at least. */
function takeGroup(waiting: WaitingAppend[], maxBytes: number): ReadonlyArray<WaitingAppend> {
  let bytes = waiting[0]?.bytes ?? 0;
  let count = 1;
  for (const next of waiting.slice(1)) {
    bytes += next.bytes;
    if (bytes > maxBytes) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

function lastIdOf({ events }: Append): string {
  return events.at(-1)?.id ?? '';
}

/** The conflict when what an append was decided on is not stored. */
function conflictOf({ expectedRevision }: Append): Outcome {
  return E.left({ kind: 'conflict', actualRevision: expectedRevision });
}
