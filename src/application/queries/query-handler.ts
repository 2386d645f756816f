import * as E from 'fp-ts/lib/Either.js';
import type { KeyUsage } from '#application/access/key-usage.ts';
import { notFound } from '#application/operations/not-found.ts';
import {
  describeOperation,
  type Operation,
  type OperationRequest,
  type OperationResult,
  type ValidRequest,
} from '#application/operations/operation.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { isConcealedFor } from '#domain/shared/scope.ts';
import { canAccess, type Tenant } from '#domain/shared/tenancy.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { ProcessStatus } from '#process-engine/process-statuses.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import type { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';
import type { AnyQuery, CollectionReader } from './query.ts';

/** What queries run on. */
export interface QueryDependencies {
  readonly documents: ReadStore;
  readonly keyUsage: KeyUsage;
  readonly personalData: PersonalData;
  readonly projectionStatus: () => Promise<ReadonlyArray<ProjectionStatus>>;
  readonly processStatus: () => Promise<ReadonlyArray<ProcessStatus>>;
  /** Waits, for `READ_YOUR_WRITES_TIMEOUT_MS` at most, until these projections have passed a position. */
  readonly reached: (projections: ReadonlyArray<string>, position: number) => Promise<boolean>;
  /** Where the log ends, as the event store says; null when it does not say so in time. */
  readonly lastPosition: () => Promise<number | null>;
}

const noTenant: Tenant = { organizationId: '', projectId: null, partnerId: null };
const noSubject = new StoredDocument<Tenant>('', 0, JSON.stringify(noTenant));

/** Makes a query callable by every caller. */
export function queryOperation(definition: AnyQuery, runtime: QueryDependencies): Operation<StoredDocument<Tenant>> {
  const read = readersOf<string>(runtime.documents, definition.reads);
  const subject = definition.subject === null ? [] : [definition.subject.collection];
  const collections = [
    ...new Set([...subject, ...Object.values<{ readonly name: string }>(definition.reads)].map(({ name }) => name)),
  ];
  return {
    ...describeOperation(definition),
    kind: 'query',
    plane: definition.plane ?? 'control',
    onBothPlanes: definition.onBothPlanes === true,
    paged: definition.paged === true,
    hasRevision: definition.hasRevision === true,
    loadSubject: (request) => loadSubject(definition, collections, runtime, request),
    execute: (request) => answer(definition, read, runtime, request),
  };
}

/** Each of the collections that a query declares, to be read. */
export function readersOf<Read extends string>(
  documents: Pick<ReadStore, 'get' | 'list'>,
  reads: Readonly<Record<Read, { readonly name: string }>>,
): Readonly<Record<Read, CollectionReader>> {
  const declared = Object.entries<{ readonly name: string }>(reads);
  const readers = declared.map(([key, { name }]) => [key, readerOf(documents, name)] as const);
  return Object.fromEntries(readers) as Record<Read, CollectionReader>;
}

function readerOf(documents: Pick<ReadStore, 'get' | 'list'>, collection: string): CollectionReader {
  return {
    get: (id, fresh) => documents.get(collection, id, fresh),
    list: (where, page) => documents.list(collection, where, page),
  };
}

async function loadSubject(
  { subject, scope }: AnyQuery,
  collections: ReadonlyArray<string>,
  runtime: QueryDependencies,
  { caller, parameters, minPosition }: OperationRequest,
): Promise<E.Either<Failure, StoredDocument<Tenant>>> {
  if (minPosition !== null && !(await runtime.reached(collections, minPosition)))
    return E.left(await notReached(minPosition, runtime));
  if (subject === null) return E.right(noSubject);
  const id = parameters[subject.parameter] ?? '';
  const document = await runtime.documents.get<Tenant>(subject.collection.name, id);
  const hidden = isConcealedFor(caller.keyType, scope);
  if (document !== null && !hidden && canAccess(caller, document.head)) return E.right(document);
  return E.left(notFound(subject.notFound, id));
}

async function answer(
  definition: AnyQuery,
  read: Readonly<Record<string, CollectionReader>>,
  { documents, keyUsage, personalData, reached, projectionStatus, processStatus }: QueryDependencies,
  { request: { caller }, subject, input }: ValidRequest<StoredDocument<Tenant>>,
): Promise<E.Either<Failure, OperationResult>> {
  const answered = await definition.answer({
    input,
    subject,
    caller,
    read,
    keyUsage,
    personalReader: (subjects) => personalData.readerOf(subjects),
    reached,
    projectionStatus,
    processStatus,
    unknownEvents: () => documents.unknownEvents(),
  });
  if (E.isLeft(answered)) return answered;
  const { body, revision, nextCursor } = answered.right;
  return E.right({
    status: definition.http.status,
    body: body as Json | EncodedJson,
    ...(revision === undefined ? {} : { revision }),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  });
}

/** What no event can have reached yet is the client's mistake, and asking again does not help. */
async function notReached(position: number, { lastPosition }: QueryDependencies): Promise<Failure> {
  const end = await lastPosition();
  if (end === null || position <= end) return behind(position);
  const detail = `The log ends at position ${end}. Send the Switchyard-Position of an answer as Switchyard-Min-Position.`;
  return failure('position-beyond-log', detail);
}

const behind = (position: number) =>
  failure('read-model-behind', `The read model has not reached position ${position} yet. Ask again.`, {
    retryAfterSeconds: 1,
  });
