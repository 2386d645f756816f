import * as E from 'fp-ts/lib/Either.js';
import type { OperationRequest, ValidRequest } from '#application/operations/operation-request.ts';
import type { ReadYourWrites } from '#application/operations/read-your-writes.ts';
import type { Origin, StreamState } from '#application/streams/stream-state.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { EndpointPlaces } from '#application/webhooks/endpoint-places.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { NewSubjectKeys, PersonalData, PersonalTexts } from '#personal-data/personal-data.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { Claims } from './claims.ts';
import type {
  AnyCommand,
  CommandEffects,
  DecisionContext,
  LoadedStream,
  Lookup,
  RelatedStateLoader,
} from './command.ts';
import { deriveNewIds, type NewIds, type NewSecrets, RandomIds, RandomSecrets } from './new-values.ts';

/** The dependencies of commands. */
export interface CommandDependencies {
  readonly writer: StreamWriter;
  readonly claims: Claims;
  readonly endpointPlaces: EndpointPlaces;
  readonly lookup: Lookup;
  readonly personalData: PersonalData;
  /** The most stored bytes of one append. */
  readonly maxAppendBytes?: number;
  /** The most bytes of JSON in the filled schemas of one operation of an instance. */
  readonly maxFilledBytes?: number;
  /** Holds an answer until the read models show the appended events. */
  readonly readYourWrites: Pick<ReadYourWrites, 'wait'>;
}

/** One attempt at a request, with its new ids and secrets. */
export interface CommandAttempt {
  readonly command: AnyCommand;
  readonly runtime: CommandDependencies;
  readonly request: OperationRequest;
  readonly input: never;
  readonly subject: LoadedStream<unknown>;
  /** The resource that the command creates or changes. */
  readonly id: string;
  /** Whether nobody else can know the id, because this attempt has made it at random. */
  readonly isNew: boolean;
  readonly newIds: NewIds;
  readonly newSecrets: NewSecrets;
  readonly idempotency: { readonly key: string; readonly body: string } | null;
  /** The keys of personal data that are stored when the attempt is accepted. */
  readonly newKeys: NewSubjectKeys;
  readonly personalTexts: PersonalTexts;
}

/**
 * Begins an attempt at a request.
 * @param key the identity of a request with an `Idempotency-Key`
 * @param number the number of earlier attempts with this key whose ids were used; each has other ids
 * @throws UnavailableError
 */
export async function beginAttempt(
  command: AnyCommand,
  runtime: CommandDependencies,
  { request, subject, input, bodyHash }: ValidRequest<LoadedStream<unknown>>,
  key: string | null,
  number: number,
): Promise<CommandAttempt> {
  const newIds = key === null ? new RandomIds() : deriveNewIds(number === 0 ? key : `${key}\n${number}`);
  const id =
    command.creates?.id?.(input as never, newIds) ?? request.parameters[command.access.subject?.parameter ?? ''] ?? '';
  const { newKeys, personalTexts } = runtime.personalData.beginAttempt();
  const body = key !== null && command.personal === true ? await personalTexts.keyedHash(id, bodyHash) : bodyHash;
  return {
    command,
    runtime,
    request,
    input: input as never,
    subject,
    id,
    isNew: key === null && command.creates?.id !== undefined && id === newIds.id,
    newIds,
    newSecrets: new RandomSecrets(),
    idempotency: key === null ? null : { key, body },
    newKeys,
    personalTexts,
  };
}

/** The origin of the events that a request appends. */
export function originOf({ caller, requestId, onBehalfOf }: OperationRequest): Origin {
  const { keyId, keyType } = caller;
  const actor = { keyId, keyType, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
  return { actor, requestId, correlationId: requestId, causationId: requestId };
}

/** Makes the context of the decision, and loads the other states that it needs. @throws UnavailableError */
export async function decisionContextOf(
  attempt: CommandAttempt,
  stream: StreamState<unknown>,
): Promise<DecisionContext<unknown, unknown>> {
  const { command, runtime, input, request, subject, newIds, newSecrets } = attempt;
  const { state, tenant } = stream;
  const related = await command.loadRelated?.(input, relatedStateLoader(attempt, stream), request.caller, state);
  return {
    caller: request.caller,
    newIds,
    newSecrets,
    subject: writesToSubject(command) && tenant !== null ? { state, tenant } : subject,
    related,
    time: new Date(clock.time()).toISOString(),
    maxFilledBytes: runtime.maxFilledBytes ?? defaultMaxFilledBytes,
  };
}

function relatedStateLoader(
  { id, newSecrets, newKeys, personalTexts, runtime: { lookup, writer } }: CommandAttempt,
  { revision }: StreamState<unknown>,
): RelatedStateLoader {
  return {
    load: otherStreamsOf(writer),
    dataAt: async (entity, other, revision) => (await writer.eventAt(entity, other, revision)).data,
    lookup,
    seal: async (texts) => {
      const isNew = revision < 0;
      return isNew || (await newKeys.isStored(id)) ? personalTexts.seal(id, texts) : null;
    },
    newSecrets,
  };
}

/** Runs the effects of a command outside its stream. @throws UnavailableError */
export async function runEffects({ command, runtime, id, request }: CommandAttempt) {
  const { personalData, writer } = runtime;
  const effects: CommandEffects = {
    load: otherStreamsOf(writer),
    append: async (write) => {
      const written = await writer.write({ ...write, origin: originOf(request) });
      if (E.isRight(written)) return;
      const { code, detail, retryAfterSeconds, isOutage } = written.left;
      throw code === 'unavailable' ? new UnavailableError(detail, retryAfterSeconds, isOutage) : new Error(detail);
    },
    erasePersonalData: (subject) => personalData.erase(subject),
  };
  return (await command.afterAppend?.(id, effects, request.caller)) ?? null;
}

function otherStreamsOf(writer: StreamWriter): RelatedStateLoader['load'] {
  return async (entity, id) => {
    const { state, tenant } = await writer.load(entity, id);
    return { state, tenant };
  };
}

/** Reads the data of events of the attempt's stream. Each is read at most once; the given ones are in memory. */
export function eventDataReader(
  { command, runtime: { writer }, id }: CommandAttempt,
  events: ReadonlyArray<RecordedEvent>,
): (revision: number) => Promise<JsonObject> {
  const read = new Map<number, Promise<JsonObject>>(
    events.map(({ revision, data }) => [revision, Promise.resolve(data)]),
  );
  return (revision) => {
    const data = read.get(revision) ?? writer.eventAt(command.entity, id, revision).then((event) => event.data);
    read.set(revision, data);
    return data;
  };
}

/**
 * Whether a command appends to its subject's stream. A resource's stream also holds its children: a flow's stream holds
 * its versions.
 */
export function writesToSubject({ access: { subject }, entity }: AnyCommand): boolean {
  return subject !== null && subject.entity.category === entity.category;
}
