import * as E from 'fp-ts/lib/Either.js';
import {
  encodeCursor,
  maxPageItems,
  type PageInput,
  pageAnswer,
  type QueryAnswer,
} from '#application/operations/paging.ts';
import { instant } from '#domain/codecs/time.ts';
import type { AnyEntityHistory } from '#domain/history/listed-event.ts';
import type { ResourceKind, ResourceName } from '#domain/history/record.ts';
import { notFound } from '#domain/shared/access.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { spendTurn, turn } from '#exchange/turns.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { clock } from '#shared/clock.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { textAs } from '#shared/codecs/text.ts';
import { type EncodedJson, encodeJson, type Json } from '#shared/json/json.ts';
import type { FoldedStream } from './folded-stream.ts';
import type { StreamHistory } from './stream-history.ts';

/** A moment of a stream: directly after the event at a revision, or at a time. */
export type Moment = { readonly revision: number } | { readonly time: string };

const revisionPattern = /^\d{1,15}$/;
const dayPattern = /^\d{4}-\d\d-\d\d$/;
const asOfFault = 'must be an RFC 3339 time, like 2026-01-05T09:30:00Z, a day, like 2026-01-05, or a revision, like 3';

/** The last millisecond in UTC; null if the value is not a day. */
function endOfDay(value: string): string | null {
  return dayPattern.test(value) ? `${value}T23:59:59.999Z` : null;
}

/** A day that has not ended means now: what expires later today is not gone yet. */
function notAfterNow(time: string): string {
  const now = new Date(clock.time()).toISOString();
  return time < now ? time : now;
}

/**
 * A moment as a client writes it: a time, a day, which means its end in UTC, or a revision, which is an ETag without
 * its quotes.
 */
export const PastMoment = withJsonSchema(textAs('as of', asOfFault, momentOf), {
  type: 'string',
  description:
    'A time (RFC 3339), a day (`2026-01-05`: its end in UTC, or now), or a revision: the answer is as it was then',
});

function momentOf(value: string): Moment | null {
  if (revisionPattern.test(value)) return { revision: Number(value) };
  const end = endOfDay(value);
  const time = instant.decode(end ?? value);
  if (E.isLeft(time)) return null;
  return { time: end === null ? time.right : notAfterNow(time.right) };
}

export const asOfInput = { asOf: PastMoment };

export interface AsOfInput {
  readonly asOf?: Moment;
}

export interface PastReads {
  readonly history: StreamHistory;
  readonly personalReader: PersonalData['readerOf'];
}

/** What a query that supports `asOf` reads. */
export const pastReadNames = ['history', 'personalReader'] as const satisfies ReadonlyArray<keyof PastReads>;

export type PastReadName = (typeof pastReadNames)[number];

/** @returns invalid-input for a revision that the stream has not reached */
export async function streamAsOf<State, Events>(
  { history }: Pick<PastReads, 'history'>,
  entity: Entity<State, Events>,
  id: string,
  moment: Moment,
): Promise<E.Either<Failure, FoldedStream<State>>> {
  if ('time' in moment) return E.right(await history.at(entity, id, await history.revisionAt(entity, id, moment.time)));
  const folded = await history.at(entity, id, moment.revision);
  if (folded.revision === moment.revision) return E.right(folded);
  const message = `is revision ${moment.revision}; the newest is ${folded.revision}`;
  return E.left(invalidInput([{ pointer: '/asOf', message }]));
}

// biome-ignore lint/suspicious/noExplicitAny: a query knows records; states stay between an entity and its history.
type AnyEntity = Entity<any, any>;

/** What differs between kinds of resources. */
export interface PastResource {
  readonly history: AnyEntityHistory;
  /** The entity of the resource's own ids: that of a version finds its flow's stream. */
  readonly entity: AnyEntity;
  readonly kind: ResourceKind;
}

export interface PastOfRecord<Record> extends PastResource {
  /** Never set: it names the type of the records. */
  readonly record?: Record;
}

/** A record as it was, with its revision then. */
export interface PastRecord<Record> {
  readonly body: Record;
  readonly revision: number;
}

/** The state as it was, and what makes records of the resources in it. */
export interface PastState<State> {
  readonly state: State;
  /** The revision that the resource had then. */
  readonly revision: number;
  readonly read: (resource: ResourceName) => Promise<Json>;
}

/**
 * @returns `notFound` if it did not exist then; invalid-input for a revision that the stream has not reached
 * @throws UnavailableError
 */
export async function stateAsOf<State, Events>(
  reads: PastReads,
  past: Pick<PastResource, 'history'> & { readonly entity: Entity<State, Events>; readonly notFound: FailureCode },
  id: string,
  moment: Moment,
): Promise<E.Either<Failure, PastState<State>>> {
  const { entity, notFound: code } = past;
  const found = await streamAsOf(reads, entity, id, moment);
  if (E.isLeft(found)) return found;
  const { state, resourceRevision } = found.right;
  if (!entity.isLive(state, id)) return E.left(absentThen(code, id, moment));
  const read = await pastReader(reads, past, id, state);
  return E.right({ state, revision: entity.revisionOf?.(state, id) ?? resourceRevision, read });
}

/** The record as it was. @returns as `stateAsOf` @throws UnavailableError */
export async function recordAsOf<Record>(
  reads: PastReads,
  past: PastOfRecord<Record> & { readonly notFound: FailureCode },
  id: string,
  moment: Moment,
): Promise<E.Either<Failure, PastRecord<Record>>> {
  const found = await stateAsOf(reads, past, id, moment);
  if (E.isLeft(found)) return found;
  const { revision, read } = found.right;
  // An entity's history makes the same record of a resource as the read model.
  const body = (await read({ kind: past.kind, id })) as unknown as Record;
  return E.right({ body, revision });
}

/** The question of a query that supports `asOf`. */
interface AsOfQuestion {
  readonly input: AsOfInput;
  readonly subject: { readonly id: string };
}

/**
 * If the input has `asOf`, it answers the past state, otherwise the current one.
 * @param past the resource's past, and the failure if the resource did not exist then
 * @param answerNow answers without `asOf`
 */
export function answerAsOf<Question extends AsOfQuestion, Sources extends PastReads, Record, Answer>(
  past: PastOfRecord<Record> & { readonly notFound: FailureCode },
  answerNow: (question: Question, sources: Sources) => Answer,
): (question: Question, sources: Sources) => Answer | Promise<E.Either<Failure, PastRecord<Record>>> {
  return (question, sources) => {
    const { asOf } = question.input;
    return asOf === undefined
      ? answerNow(question, sources)
      : recordAsOf<Record>(sources, past, question.subject.id, asOf);
  };
}

/** @param id in the stream */
export async function pastReader(
  { history: streams, personalReader }: PastReads,
  { history, entity }: Pick<PastResource, 'history' | 'entity'>,
  id: string,
  state: unknown,
): Promise<(resource: ResourceName) => Promise<Json>> {
  const subject = history.personalSubject?.(state) ?? null;
  const open = await personalReader(subject === null ? [] : [subject]);
  const reader = { dataAt: streams.dataReader(entity, id).dataAt, open };
  return (resource) => history.record(state, resource, reader);
}

/** The failure of a resource that did not exist at the moment. */
export function absentThen(code: FailureCode, id: string, moment: Moment): Failure {
  const then = 'time' in moment ? moment.time : `revision ${moment.revision}`;
  return failure(code, `${notFound(code, id).detail.replace(/\.$/, '')}, as of ${then}.`);
}

/** The past of a list whose items live in one stream. */
export interface PastList extends Pick<PastResource, 'history' | 'entity'> {
  /** The items in the order of the list, with their increasing numbers. */
  // biome-ignore lint/suspicious/noExplicitAny: a query knows records; states stay between an entity and its history.
  readonly items: (state: any) => Iterable<{ readonly number: number; readonly resource: ResourceName }>;
}

export interface PastPage<Name extends string> {
  readonly past: PastList;
  readonly notFound: FailureCode;
  /** The id of the resource that the items belong to. */
  readonly id: string;
  /** The member of the answer that holds the items. */
  readonly name: Name;
  readonly input: PageInput;
  readonly asOf: Moment;
  readonly maxBytes: number;
}

/** The expected length of a record before it is made. */
const expectedCharacters = 1_024;

type PageBody<Name extends string, Record> = { readonly [member in Name]: ReadonlyArray<Record> } & {
  readonly nextCursor?: string;
};

/** @returns `notFound` if the resource that the items belong to did not exist then @throws UnavailableError */
export async function listAsOf<Name extends string, Record>(
  reads: PastReads,
  { past, notFound, id, name, input: { limit = maxPageItems, cursor, sort }, asOf, maxBytes }: PastPage<Name>,
): Promise<E.Either<Failure, QueryAnswer<PageBody<Name, Record>>>> {
  const found = await streamAsOf(reads, past.entity, id, asOf);
  if (E.isLeft(found)) return found;
  const { state } = found.right;
  if (!past.entity.isLive(state, id)) return E.left(absentThen(notFound, id, asOf));
  const read = await pastReader(reads, past, id, state);
  const owner = currentWorkOwner();
  const items: EncodedJson<Record>[] = [];
  let bytes = 0;
  const newestFirst = sort === '-createdAt';
  const places = newestFirst ? [...past.items(state)].reverse() : past.items(state);
  let last = cursor?.order ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0);
  for (const { number, resource } of places) {
    if (newestFirst ? number >= last : number <= last) continue;
    await turn(owner, 'past', expectedCharacters);
    const item = encodeJson((await read(resource)) as unknown as Record);
    const itemBytes = Buffer.byteLength(item.text);
    const isFull = items.length >= limit || (items.length > 0 && bytes + itemBytes > maxBytes);
    if (isFull) return E.right(pageAnswer(name, items, encodeCursor({ order: last, id })));
    items.push(item);
    bytes += itemBytes;
    spendTurn(owner, 'past', item.text.length - expectedCharacters);
    last = number;
  }
  return E.right(pageAnswer(name, items, null));
}
