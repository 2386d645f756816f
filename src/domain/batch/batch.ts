import * as E from 'fp-ts/lib/Either.js';
import { Map as PersistentMap } from 'immutable';
import type { Entity, EventOf, RecordedEventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { BatchEvents } from './events.ts';
import { hasLine, type LineSet, linesIn, noLines, withLines } from './line-set.ts';
import { type BatchFacts, changedBatchFacts, newBatchFacts } from './record.ts';

/** A part of the results in the blob store. */
export interface BatchPart {
  readonly blobId: string;
  readonly outputBytes: number;
  readonly errorBytes: number;
}

/** Null before it was created. */
export type BatchState = {
  readonly projectId: string;
  readonly keyId: string;
  readonly inputBlobId: string;
  readonly inputBytes: number;
  readonly outputExpiresAfterSeconds: number | null;
  readonly facts: BatchFacts;
  /** The token of the run that may record. */
  readonly token: number;
  readonly leaseToken: number;
  /** The lines with a recorded outcome. */
  readonly done: LineSet;
  /** The parts by their number, counted from 0. */
  readonly parts: PersistentMap<string, BatchPart>;
  readonly partBytes: number;
  /** The outcome, which is set as soon as no more lines are run. */
  readonly outcome: BatchEvents['BatchEnded']['outcome'] | null;
  /** The revision of the last event with errors; null without one. */
  readonly errorsRevision: number | null;
  readonly isChecked: boolean;
  readonly hasEnded: boolean;
} | null;

type Known = NonNullable<BatchState>;
type Decided = E.Either<Failure, ReadonlyArray<EventOf<BatchEvents>>>;

/** The scope that a key needs for the calls of a batch's lines. */
export const lineScope = 'gateway:write';

const idPrefix = 'batch_';
const bytesOfPart = 256;
const bytesOfBlock = 512;

/** Each batch has one stream, with its progress. */
export const batch: Entity<BatchState, BatchEvents> = {
  category: 'batch',
  stateVersion: 1,
  initial: null,
  streamKey: (id) => (id.startsWith(idPrefix) ? id.slice(idPrefix.length) : id),
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null,
  estimateBytes: (state) => (state === null ? 0 : bytesOfPart * state.parts.size + bytesOfBlock * state.done.size),
  notFound: 'batch-not-found',
  evolve: (state, event) => {
    if (event.type === 'BatchCreated') return created(event.data, event.metadata.time);
    return state && { ...changed(state, event), facts: changedBatchFacts(state.facts, event) };
  },
};

function created(data: BatchEvents['BatchCreated'], time: string): Known {
  const { projectId, keyId, inputBlobId, inputBytes, outputExpiresAfterSeconds } = data;
  return {
    ...{ projectId, keyId, inputBlobId, inputBytes, outputExpiresAfterSeconds },
    facts: newBatchFacts(data, time),
    token: 0,
    leaseToken: 0,
    done: noLines,
    parts: PersistentMap(),
    partBytes: 0,
    outcome: null,
    errorsRevision: null,
    isChecked: false,
    hasEnded: false,
  };
}

function changed(state: Known, event: RecordedEventOf<Omit<BatchEvents, 'BatchCreated'>>): Known {
  switch (event.type) {
    case 'BatchTaken':
      return { ...state, token: event.data.token, leaseToken: event.data.leaseToken };
    case 'BatchChecked':
      return { ...state, isChecked: true };
    case 'BatchLinesCompleted': {
      const { part, blobId, lines, outputBytes, errorBytes } = event.data;
      return {
        ...state,
        done: withLines(state.done, lines),
        parts: state.parts.set(String(part), { blobId, outputBytes, errorBytes }),
        partBytes: state.partBytes + outputBytes + errorBytes,
      };
    }
    case 'BatchCancelRequested':
      return state;
    case 'BatchFinalizing':
      return { ...state, outcome: event.data.outcome, errorsRevision: errorsRevisionAfter(state, event) };
    case 'BatchEnded':
      return {
        ...state,
        outcome: event.data.outcome,
        errorsRevision: errorsRevisionAfter(state, event),
        hasEnded: true,
      };
  }
}

function errorsRevisionAfter(
  { errorsRevision }: Known,
  { data, revision }: RecordedEventOf<Pick<BatchEvents, 'BatchFinalizing' | 'BatchEnded'>>,
): number | null {
  return data.errors.length === 0 ? errorsRevision : revision;
}

/** @param id a fresh one */
export function newBatchId(id: string): string {
  return `${idPrefix}${id}`;
}

/** The parts in the order in which their lines finished. */
export function batchPartsOf({ parts }: Known): ReadonlyArray<BatchPart> {
  return Array.from({ length: parts.size }, (_, part) => parts.get(String(part))).filter((part) => part !== undefined);
}

/** The beginning of every part's blob id. */
export const partBlobPrefix = 'part_';

export function partBlobId(id: string, token: number, part: number): string {
  return `${partBlobPrefix}${batch.streamKey(id)}_${token}_${part}`;
}

/** True while a cancellation was requested, and lines are still running. */
export function isCancelling({ facts }: Known): boolean {
  return facts.status === 'cancelling';
}

const takenOver = failure('batch-taken-over', 'Another run of the batch has begun: this one records nothing more.');

/** Refuses to record for a run after which another run has begun. */
function asOwner(state: BatchState, token: number, decide: (known: Known) => Decided): Decided {
  if (state === null || state.token !== token) return E.left(takenOver);
  return state.hasEnded ? E.right([]) : decide(state);
}

/**
 * Begins a run. Earlier runs record nothing from now on.
 * @param leaseToken the node's fencing token, 0 without a lease
 */
export function batchTaken(state: BatchState, leaseToken: number): Decided {
  if (state === null || leaseToken < state.leaseToken) return E.left(takenOver);
  if (state.hasEnded) return E.right([]);
  return E.right([newEvent('BatchTaken', { id: state.facts.id, token: state.token + 1, leaseToken })]);
}

/** Records that the input is valid. */
export function batchChecked(state: BatchState, token: number, total: number): Decided {
  return asOwner(state, token, ({ isChecked, facts: { id } }) =>
    E.right(isChecked ? [] : [newEvent('BatchChecked', { id, token, total })]),
  );
}

/** Decides no event if this part is already recorded. */
export function linesCompleted(state: BatchState, part: Omit<BatchEvents['BatchLinesCompleted'], 'id'>): Decided {
  return asOwner(state, part.token, ({ parts, done, facts: { id } }) => {
    const recorded = parts.get(String(part.part));
    if (recorded?.blobId === part.blobId) return E.right([]);
    const isNew = recorded === undefined && !linesIn(part.lines).some((line) => hasLine(done, line));
    return isNew ? E.right([newEvent('BatchLinesCompleted', { id, ...part })]) : E.left(takenOver);
  });
}

/** Decides no event if it was requested before. */
export function cancelRequested(state: BatchState): Decided {
  if (state === null) return E.left(failure('batch-not-found', 'There is no such batch.'));
  const { id, status } = state.facts;
  if (status === 'cancelling' || status === 'cancelled') return E.right([]);
  if (status === 'validating' || status === 'in_progress') return E.right([newEvent('BatchCancelRequested', { id })]);
  return E.left(failure('batch-ended', `The batch is ${status}: there is nothing left to cancel.`));
}

/** Records that no more lines are run. */
export function batchFinalizing(
  state: BatchState,
  { token, outcome, errors }: Omit<BatchEvents['BatchFinalizing'], 'id'>,
): Decided {
  return asOwner(state, token, (known) =>
    E.right(
      known.outcome === null ? [newEvent('BatchFinalizing', { id: known.facts.id, token, outcome, errors })] : [],
    ),
  );
}

export function batchEnded(
  state: BatchState,
  end: Omit<BatchEvents['BatchEnded'], 'id' | 'partBytes' | 'outcome'> & {
    readonly outcome?: BatchEvents['BatchEnded']['outcome'];
  },
): Decided {
  return asOwner(state, end.token, ({ facts: { id }, partBytes, outcome }) =>
    E.right([newEvent('BatchEnded', { ...end, id, outcome: outcome ?? end.outcome ?? 'failed', partBytes })]),
  );
}
