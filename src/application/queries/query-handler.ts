import * as E from 'fp-ts/lib/Either.js';
import { describeOperation, type Operation } from '#application/operations/operation.ts';
import type { Asked, Decoded, OperationResult } from '#application/operations/operation-request.ts';
import type { CollectionReader } from '#application/operations/paging.ts';
import { maxPageBytes } from '#application/operations/paging.ts';
import type { PendingResources, RequestReads } from '#application/operations/read-your-writes.ts';
import { failures } from '#domain/failures.ts';
import { type Caller, canAccess, isConcealedFor, notFound, type Tenant } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Admission } from '#exchange/admission.ts';
import { currentHeld } from '#exchange/held.ts';
import { keepNewestClaims, type ReadCollection } from '#read-store/newest-claims.ts';
import type { DocumentValue, PageRequest, ReadStore, Where } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { clock } from '#shared/clock.ts';
import type { EncodedJson, Json } from '#shared/json/json.ts';
import { exportInTurn, makePage } from './made-in-turn.ts';
import type { AnyQuery, DocumentSubject, QueryServices, QuerySources, Question, StreamSubject } from './query.ts';

export interface QueryDependencies {
  readonly services: QueryServices;
  readonly documents: ReadStore;
  /** Resources that this node has written and answered before the read model showed them. */
  readonly pending: Pick<PendingResources, 'beginReads'>;
  /** Admits answers that are made from many documents. */
  readonly admission: Pick<Admission, 'slot'>;
}

/** The resource in the path, and the further reads of its request. */
export interface QuerySubject {
  /**
   * The document. For a resource whose past may be asked for: `absent` if it exists no longer, `not-yet` if this node
   * wrote it and the read model does not show it in time.
   */
  readonly found: StoredDocument<Tenant> | 'absent' | 'not-yet';
  readonly reads: RequestReads;
}

/** Only a query's type knows which collections and services it names. */
type AnySources = QuerySources<string, keyof QueryServices>;

const noTenant: Tenant = { organizationId: '', projectId: null, partnerId: null };
const noSubject = new StoredDocument<Tenant>('', 0, JSON.stringify(noTenant), 0);

/** Makes a query an operation, which every caller can call. */
export function queryOperation(definition: AnyQuery, runtime: QueryDependencies): Operation<QuerySubject> {
  const sources: AnySources = {
    ...servicesOf(definition, runtime.services),
    read: readersOf<string>(runtime.documents, definition.reads),
  };
  const { subject } = definition.access;
  const own = subject !== null && 'collection' in subject ? [subject.collection] : [];
  const collections = [
    ...new Set([...own, ...Object.values<ReadCollection>(definition.reads)].map(({ name }) => name)),
  ];
  return {
    ...describeOperation(definition),
    kind: 'query',
    onBothPlanes: definition.onBothPlanes === true,
    paged: definition.paged === true,
    hasRevision: definition.hasRevision === true,
    ...(definition.produces === undefined ? {} : { produces: definition.produces }),
    isConditional: definition.hasRevision === true && definition.changesWithinRevision !== true,
    loadSubject: (request) => loadSubject(definition, collections, runtime, request),
    execute: (request) => answerWhenShown(definition, collections, sources, runtime, request),
  };
}

function servicesOf({ services: named = [] }: AnyQuery, services: QueryServices): QueryServices {
  return Object.fromEntries(named.map((name) => [name, services[name]])) as unknown as QueryServices;
}

/** Readers of the collections that the query declares. */
export function readersOf<Read extends string>(
  documents: Pick<ReadStore, 'get' | 'list'>,
  reads: Readonly<Record<Read, ReadCollection>>,
): Readonly<Record<Read, CollectionReader>> {
  const declared = Object.entries<ReadCollection>(reads);
  const readers = declared.map(([key, collection]) => [key, readerOf(documents, collection)] as const);
  return Object.fromEntries(readers) as Record<Read, CollectionReader>;
}

function readerOf(documents: Pick<ReadStore, 'get' | 'list'>, { name, disclaim }: ReadCollection): CollectionReader {
  const get: CollectionReader['get'] = (id, fresh) => documents.get(name, id, fresh);
  const list: CollectionReader['list'] = (where, page) => documents.list(name, where, page);
  if (disclaim === undefined) return { get, list };
  return {
    get,
    list: async <Value extends DocumentValue>(where: Where, page: PageRequest) => {
      const read = await list<Value>(where, page);
      return { ...read, documents: keepNewestClaims(read.documents, disclaim) };
    },
  };
}

function withinPageBytes(sources: AnySources, maxBytes: number): AnySources {
  if (maxBytes >= maxPageBytes) return sources;
  const limited = ({ get, list }: CollectionReader): CollectionReader => ({
    get,
    list: (where, page) => list(where, { ...page, maxBytes: Math.min(page.maxBytes, maxBytes) }),
  });
  const read = Object.fromEntries(Object.entries(sources.read).map(([name, reader]) => [name, limited(reader)]));
  return { ...sources, read };
}

async function loadSubject(
  { access: { subject, scope } }: AnyQuery,
  collections: ReadonlyArray<string>,
  runtime: QueryDependencies,
  request: Asked,
): Promise<E.Either<Failure, QuerySubject>> {
  const { caller, parameters, minPosition } = request;
  if (minPosition !== null && !(await runtime.services.waitForPosition(collections, minPosition)))
    return E.left(await notReached(minPosition, runtime));
  const reads = runtime.pending.beginReads(Object.values(parameters), caller);
  if (subject === null) return E.right({ found: noSubject, reads });
  const id = parameters[subject.parameter] ?? '';
  const unknown = () => E.left(notFound(subject.notFound, id));
  if (isConcealedFor(caller.keyType, scope)) return unknown();
  if ('entity' in subject)
    return (await isInStream(subject.entity, id, caller, runtime)) ? E.right({ found: named(id), reads }) : unknown();
  const { result, isLate } = await reads.read(
    [subject.collection.name],
    () => findDocument(subject, id, caller, runtime),
    (found) => found === null || found === 'absent',
  );
  if (result === null) return isLate ? E.left(notShown(id)) : unknown();
  return E.right({ found: isLate ? 'not-yet' : result, reads });
}

/** @returns null for a document that never existed, or that the caller cannot access */
async function findDocument(
  { collection, past }: DocumentSubject,
  id: string,
  caller: Caller,
  runtime: QueryDependencies,
): Promise<StoredDocument<Tenant> | 'absent' | null> {
  const document = await runtime.documents.get<Tenant>(collection.name, id);
  if (document !== null) return canAccess(caller, document.head) ? document : null;
  const existed = past !== undefined && (await isInStream(past, id, caller, runtime));
  return existed ? 'absent' : null;
}

/** True if the resource ever existed, and the caller has access to it. */
async function isInStream(
  entity: StreamSubject['entity'],
  id: string,
  caller: Caller,
  { services: { streams } }: QueryDependencies,
): Promise<boolean> {
  const { state, tenant } = await streams.load(entity, id);
  return tenant !== null && entity.everExisted(state, id) && canAccess(caller, tenant);
}

const named = (id: string) => new StoredDocument<Tenant>(id, 0, '{}', 0);

/** Answers when the read model shows the resource, because one that this node has just written is not unknown. */
async function answerWhenShown(
  definition: AnyQuery,
  collections: ReadonlyArray<string>,
  sources: AnySources,
  runtime: QueryDependencies,
  valid: Decoded<unknown, QuerySubject>,
): Promise<E.Either<Failure, OperationResult>> {
  const { result, isLate } = await valid.subject.reads.read(
    collections,
    () => answer(definition, sources, runtime, valid),
    (answered) => E.isLeft(answered) && failures[answered.left.code].status === 404,
  );
  return isLate ? E.left(notShown(subjectId(definition, valid.request))) : result;
}

/** The resource for an answer about the present. */
export function presentSubject(
  { access }: Pick<AnyQuery, 'access'>,
  { request, subject: { found } }: Decoded<unknown, QuerySubject>,
): E.Either<Failure, StoredDocument<Tenant>> {
  if (typeof found === 'object') return E.right(found);
  const id = subjectId({ access }, request);
  return E.left(found === 'not-yet' ? notShown(id) : notFound(access.subject?.notFound ?? 'path-not-found', id));
}

export function questionAbout(
  subject: StoredDocument<Tenant>,
  { request, input }: Decoded<unknown, QuerySubject>,
): Question<unknown, Tenant> {
  return { request, input, subject, time: new Date(clock.time()).toISOString() };
}

/** The id in the path; empty if the path names none. */
function subjectId({ access: { subject } }: Pick<AnyQuery, 'access'>, { parameters }: Asked): string {
  return subject === null ? '' : (parameters[subject.parameter] ?? '');
}

/** True if every answer is made from many documents. One as of a time is made from a stream. */
function readsManyDocuments({ paged, produces, readsMany }: AnyQuery): boolean {
  return paged === true || produces !== undefined || readsMany === true;
}

async function answer(
  definition: AnyQuery,
  sources: AnySources,
  { admission }: QueryDependencies,
  valid: Decoded<unknown, QuerySubject>,
): Promise<E.Either<Failure, OperationResult>> {
  const { request, input } = valid;
  const isAboutPast = (input as { readonly asOf?: unknown }).asOf !== undefined;
  const present = presentSubject(definition, valid);
  if (E.isLeft(present) && !isAboutPast) return present;
  const subject = E.isRight(present) ? present.right : named(subjectId(definition, request));
  const answerNow = async () =>
    definition.answer(questionAbout(subject, valid), withinPageBytes(sources, request.maxPageBytes));
  const readsMany = isAboutPast || readsManyDocuments(definition);
  const answered = readsMany ? await makePage(admission, currentHeld(), answerNow) : await answerNow();
  if (E.isLeft(answered)) return answered;
  const { status } = definition.http;
  if ('stream' in answered.right) {
    const { contentType, chunks } = answered.right.stream;
    const stream = { contentType, chunks: exportInTurn(admission, currentHeld(), chunks) };
    return E.right({ status, body: undefined, stream });
  }
  const { body, revision, nextCursor } = answered.right;
  return E.right({
    status,
    body: body as Json | EncodedJson,
    ...(revision === undefined ? {} : { revision }),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  });
}

/** The failure of a position after the end of the log. That is the client's mistake, and a retry does not help. */
async function notReached(position: number, { services: { lastPosition } }: QueryDependencies): Promise<Failure> {
  const end = await lastPosition();
  if (end === null || position <= end) return behind(position);
  const detail = `The log ends at position ${end}. Send the Switchyard-Position of an answer as Switchyard-Min-Position.`;
  return failure('position-beyond-log', detail);
}

const behind = (position: number) =>
  failure('read-model-behind', `The read model has not reached position ${position} yet. Send the request again.`, {
    retryAfterSeconds: 1,
  });

const notShown = (id: string) =>
  failure('read-model-behind', `The read model does not show ${id} yet. Send the request again.`, {
    retryAfterSeconds: 1,
  });
