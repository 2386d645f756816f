import * as E from 'fp-ts/lib/Either.js';
import { notFound } from '#application/operations/access-refusals.ts';
import { describeOperation, type Operation } from '#application/operations/operation.ts';
import type { OperationRequest, OperationResult, ValidRequest } from '#application/operations/operation-request.ts';
import {
  keyErased,
  keyReused,
  type RememberedRequest,
  RunningRequests,
  requestKeyOf,
} from '#application/streams/idempotency.ts';
import { emptyStream, requestAnswered, type StreamState } from '#application/streams/stream-state.ts';
import { appendTooLarge, type StreamWriteResult } from '#application/streams/stream-turns.ts';
import { EndpointCreation } from '#application/webhooks/endpoint-places.ts';
import { canAccess, isConcealedFor, type Tenant } from '#domain/shared/access.ts';
import { childId } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { defaultMaxAppendBytes, type RecordedEvent } from '#event-store/event-store.ts';
import type { Json } from '#shared/json/json.ts';
import type { AnyCommand, LoadedStream } from './command.ts';
import {
  beginAttempt,
  type CommandAttempt,
  type CommandDependencies,
  decisionContextOf,
  eventDataReader,
  originOf,
  runEffects,
  writesToSubject,
} from './command-attempt.ts';
import { describePlannedEvents, dryRunResult } from './dry-run.ts';
import type { NewSecrets } from './new-values.ts';

interface Refused {
  readonly kind: 'refused';
  readonly failure: Failure;
}

/** Why an attempt is made again: with the next ids, or with the key of personal data that another node has made. */
interface Again {
  readonly kind: 'id-used' | 'key-made-elsewhere';
}

/** The stream remembers the request, so its answer is made again. */
interface Replay {
  readonly kind: 'replay';
  readonly remembered: RememberedRequest;
}

/** The events of a decision, none if nothing changes. The tenant is null for the stream's. */
interface Decided {
  readonly kind: 'decided';
  readonly events: ReadonlyArray<never>;
  readonly tenant: Tenant | null;
}

/** A write that is durable; in a dry run, one that would be. */
interface Written extends StreamWriteResult<unknown> {
  readonly kind: 'written';
  readonly before: StreamState<unknown>;
}

interface Answered {
  readonly kind: 'answered';
  readonly result: OperationResult;
}

/** The most stored bytes of an event's metadata, type and id. */
const metadataBytes = 2_048;

/** Makes a command callable by every caller. */
export function commandOperation(command: AnyCommand, runtime: CommandDependencies): Operation<LoadedStream<unknown>> {
  const running = new RunningRequests();
  return {
    ...describeOperation(command),
    kind: 'command',
    paged: false,
    hasRevision: command.withoutRevision !== true,
    loadSubject: (request) => loadSubject(command, runtime, request),
    execute: (valid) => {
      const key = requestKeyOf(valid.request);
      return running.run(key, () => executeCommand(command, runtime, valid, key));
    },
  };
}

/** Stage 4 of `invoke`. Access is checked from the stream itself, because a read model may lag. */
async function loadSubject(
  command: AnyCommand,
  { writer }: CommandDependencies,
  { caller, parameters }: OperationRequest,
): Promise<E.Either<Failure, LoadedStream<unknown>>> {
  const { subject, scope } = command.access;
  if (subject === null) return E.right({ state: null, tenant: null });
  const id = parameters[subject.parameter] ?? '';
  if (isConcealedFor(caller.keyType, scope)) return E.left(notFoundBy(command, id));
  const isFound = ({ state, tenant }: LoadedStream<unknown>) =>
    tenant !== null && subject.entity.everExisted(state, id) && canAccess(caller, tenant);
  // A cached state is enough here, because the owner and the existence of a resource never change.
  const cached = writesToSubject(command) ? await writer.loadCached(subject.entity, id) : null;
  const { state, tenant } = cached !== null && isFound(cached) ? cached : await writer.load(subject.entity, id);
  return isFound({ state, tenant }) ? E.right({ state, tenant }) : E.left(notFoundBy(command, id));
}

/** Stages 7 to 12 of `invoke`. */
async function executeCommand(
  command: AnyCommand,
  runtime: CommandDependencies,
  valid: ValidRequest<LoadedStream<unknown>>,
  key: string | null,
): Promise<E.Either<Failure, OperationResult>> {
  for (let number = 0; ; ) {
    const outcome = await executeAttempt(await beginAttempt(command, runtime, valid, key, number));
    if (outcome.kind === 'answered') return E.right(outcome.result);
    if (outcome.kind === 'refused') return E.left(outcome.failure);
    // A client may use an `Idempotency-Key` again after its first request has expired.
    if (outcome.kind === 'id-used') number += 1;
  }
}

async function executeAttempt(attempt: CommandAttempt): Promise<Answered | Refused | Again> {
  const isDryRun = attempt.request.dryRun === true;
  // 7. Idempotency, 8. decision, 9. claim, 10. append
  const written = isDryRun ? await planWrite(attempt) : await write(attempt);
  if (written.kind === 'replay') return replay(attempt, written.remembered, isDryRun);
  if (written.kind !== 'written') return written;
  if (isDryRun) return answerDryRun(attempt, written);
  const withheld = await runEffects(attempt);
  if (withheld !== null) return refused(withheld);
  const body = await bodyOf(attempt, written, attempt.newSecrets, written.events.length > 0);
  // 11. Waiting for read models
  const position = await waitForReadModels(attempt, written);
  // 12. Response
  return answered(attempt, written.stream, body, position);
}

/** Stages 7 to 10, in a turn on the stream, and again after each conflict. */
async function write(attempt: CommandAttempt): Promise<Written | Replay | Refused | Again> {
  const { runtime, command, id, request, idempotency } = attempt;
  using creation = command.endpointPlace === 'taken' ? new EndpointCreation(runtime.endpointPlaces) : null;
  // A claim or a place is taken for one append, which must be decided on a durable state.
  const isAlone = command.creates?.claims !== undefined || command.endpointPlace !== undefined;
  const before = attempt.isNew ? emptyStream(command.entity) : null;
  const written = await runtime.writer.write<unknown, unknown, Replay | Refused | Again>({
    entity: command.entity,
    id,
    mode: isAlone ? 'alone' : 'pipelined',
    // A stream with a new random id needs no read. If it has events all the same, the append conflicts.
    known: before,
    origin: originOf(request),
    ...(idempotency === null ? {} : { idempotency }),
    decide: async (stream) => {
      const decision = await decide(attempt, stream);
      const claimed = decision.kind === 'decided' ? await claim(attempt, decision, creation) : decision;
      if (claimed.kind !== 'decided') return E.left(claimed);
      return E.right({ events: orRemembered(claimed.events, idempotency !== null), tenant: claimed.tenant });
    },
  });
  if (E.isLeft(written)) return 'kind' in written.left ? written.left : refused(written.left);
  if (command.endpointPlace !== undefined) runtime.endpointPlaces.observe(written.right.events);
  return { ...written.right, kind: 'written', before: written.right.stream };
}

/** Stages 7 to 10 of a dry run: nothing is claimed or appended. */
async function planWrite(attempt: CommandAttempt): Promise<Written | Replay | Refused | Again> {
  const { command, runtime, id, request } = attempt;
  const { writer, maxAppendBytes = defaultMaxAppendBytes } = runtime;
  const before = await writer.load(command.entity, id);
  const decision = await decide(attempt, before);
  if (decision.kind !== 'decided') return decision;
  const { events, tenant } = decision;
  const toWrite = { events, tenant, origin: originOf(request) };
  const planned =
    events.length === 0
      ? E.right({ stream: before, events: [] })
      : await writer.planWrite(command.entity, id, before, toWrite, maxAppendBytes);
  if (E.isLeft(planned)) return refused(planned.left);
  for (const claimed of command.creates?.claims?.(attempt.input) ?? []) {
    const taken = await runtime.claims.check(claimed, id);
    if (taken !== null) return refused(taken);
  }
  const full =
    command.endpointPlace === 'taken' && tenant !== null ? await runtime.endpointPlaces.refusalOf(tenant) : null;
  if (full !== null) return refused(full);
  return { kind: 'written', before, ...planned.right };
}

/** Stages 7 and 8. @throws UnavailableError */
async function decide(
  attempt: CommandAttempt,
  stream: StreamState<unknown>,
): Promise<Decided | Replay | Refused | Again> {
  // 7. Idempotency
  const recalled = recall(attempt, stream);
  if (recalled !== null) return recalled;
  // 8. Decision
  const refusal = checkPreconditions(attempt, stream);
  if (refusal !== null) return refused(refusal);
  const { command, input, subject } = attempt;
  const context = await decisionContextOf(attempt, stream);
  const events = command.decide(input, stream.state, context);
  if (E.isLeft(events)) return refused(events.left);
  const tenant = command.creates?.tenant?.(input, context) ?? subject.tenant;
  return { kind: 'decided', events: events.right as ReadonlyArray<never>, tenant };
}

/** Looks the request up in the stream. @returns null for a new request */
function recall(
  { command, id, idempotency, input, newIds, newKeys }: CommandAttempt,
  stream: StreamState<unknown>,
): Replay | Refused | Again | null {
  if (idempotency === null) return null;
  const remembered = stream.remembered.get(idempotency.key);
  if (remembered === undefined)
    return command.creates?.isIdUsed?.(stream.state, input, newIds) ? { kind: 'id-used' } : null;
  // The key with which the body was remembered is destroyed or lost.
  if (command.personal === true && newKeys.has(id)) return refused(keyErased);
  return remembered.bodyHash === idempotency.body ? { kind: 'replay', remembered } : refused(keyReused);
}

/** Whether the resource still exists, at the revision in `If-Match`. */
function checkPreconditions(
  { command, id, input, request: { ifMatch } }: CommandAttempt,
  stream: StreamState<unknown>,
): Failure | null {
  const { entity, creates, isAnswerable } = command;
  const exists = creates?.id !== undefined || (isAnswerable?.(stream.state, input) ?? entity.isLive(stream.state, id));
  if (!exists) return notFoundBy(command, id);
  const revision = ifMatch === null ? null : revisionOf(command, stream, id);
  return ifMatch === null || revision === null || ifMatch === revision ? null : changedSince(ifMatch, revision);
}

/**
 * Stage 9, after the decision, so that a refused request leaves no claim. Keys of personal data are stored last, because
 * a refused request makes none.
 * @param creation takes the place of a new webhook endpoint; null for other commands
 * @throws UnavailableError
 */
async function claim(
  attempt: CommandAttempt,
  decided: Decided,
  creation: EndpointCreation | null,
): Promise<Decided | Refused | Again> {
  const refusal = await takeClaims(attempt, decided.events);
  if (refusal !== null) return refused(refusal);
  const full = decided.tenant === null ? null : ((await creation?.takePlace(decided.tenant)) ?? null);
  if (full !== null) return refused(full);
  return (await attempt.newKeys.store()) ? decided : { kind: 'key-made-elsewhere' };
}

async function takeClaims(
  { command, runtime, id, input, subject: { tenant }, request }: CommandAttempt,
  events: ReadonlyArray<object>,
): Promise<Failure | null> {
  const claims = command.creates?.claims?.(input);
  if (claims === undefined || tenant === null) return null;
  const bytes = Buffer.byteLength(JSON.stringify(events)) + metadataBytes * events.length;
  const { maxAppendBytes = defaultMaxAppendBytes } = runtime;
  // Checked before the claim, because a resource that cannot be created would hold it for two seconds.
  if (bytes > maxAppendBytes) return appendTooLarge(bytes, maxAppendBytes);
  const claimant = { phoneNumberId: id, tenant, origin: originOf(request) };
  for (const claimed of claims) {
    const taken = await runtime.claims.take(claimed, claimant);
    if (E.isLeft(taken)) return taken.left;
  }
  return null;
}

/** Makes the answer of a remembered request again. @throws UnavailableError */
async function replay(
  attempt: CommandAttempt,
  { firstRevision, lastRevision }: RememberedRequest,
  isDryRun: boolean,
): Promise<Answered | Refused | Again> {
  const { command, runtime, id } = attempt;
  const { writer } = runtime;
  if (await isIdUsedBefore(attempt, firstRevision)) return { kind: 'id-used' };
  // The first request may have crashed before these effects.
  const withheld = isDryRun ? null : await runEffects(attempt);
  if (withheld !== null) return refused(withheld);
  const stream = await writer.loadAt(command.entity, id, lastRevision);
  const body = await bodyOf(attempt, { stream, events: [] }, null, true);
  if (isDryRun) return { kind: 'answered', result: dryRunResult(command, [], body) };
  const position = await waitForReadModels(attempt, { stream, events: [] });
  const { kind, result } = answered(attempt, stream, body, position);
  return { kind, result: { ...result, isReplay: true } };
}

/** In a stream of many resources, whether the ids were used before the remembered request. @throws UnavailableError */
async function isIdUsedBefore(
  { command, runtime, id, input, newIds }: CommandAttempt,
  firstRevision: number,
): Promise<boolean> {
  const isIdUsed = command.creates?.isIdUsed;
  if (isIdUsed === undefined || firstRevision === 0) return false;
  const before = await runtime.writer.loadAt(command.entity, id, firstRevision - 1);
  return isIdUsed(before.state, input, newIds);
}

async function answerDryRun(attempt: CommandAttempt, { before, stream, events }: Written): Promise<Answered> {
  const { command, personalTexts } = attempt;
  const body = await bodyOf(attempt, { stream, events }, null, events.length > 0);
  const dataAt = eventDataReader(attempt, []);
  const described = await describePlannedEvents(command.entity, before, events, dataAt, personalTexts);
  return { kind: 'answered', result: dryRunResult(command, described, body) };
}

/**
 * The body of an answer.
 * @param newSecrets null if the answer must not contain one
 * @param appended whether the request appended events
 */
async function bodyOf(
  attempt: CommandAttempt,
  { stream, events }: StreamWriteResult<unknown>,
  newSecrets: NewSecrets | null,
  appended: boolean,
): Promise<Json> {
  const { command, input, newIds, runtime } = attempt;
  // `RequestAnswered` alone is not a change.
  const changed = appended && stream.resourceRevision === stream.revision;
  const dataAt = eventDataReader(attempt, events);
  return command.answer({ input, state: stream.state, changed, newIds, newSecrets, lookup: runtime.lookup, dataAt });
}

/**
 * Waits until read models show the appended events; without any, the newest event of the stream, because they may not
 * show it yet.
 * @returns the position of the last one
 */
async function waitForReadModels(
  { command, runtime: { writer, readYourWrites }, id, newIds }: CommandAttempt,
  { stream, events }: StreamWriteResult<unknown>,
): Promise<number | undefined> {
  const shown: ReadonlyArray<RecordedEvent> =
    events.length > 0 ? events : [await writer.eventAt(command.entity, id, stream.revision)];
  await readYourWrites.wait(shown, () => {
    // The resource that the command writes, and those that it may have created in addition to it.
    const further = command.creates?.id === undefined ? [] : [newIds.secondId];
    return { ids: [id, childId(id, newIds.suffix), ...further], tenant: stream.tenant };
  });
  return shown.at(-1)?.position;
}

function answered(
  { command, id }: CommandAttempt,
  stream: StreamState<unknown>,
  body: Json | undefined,
  position: number | undefined,
): Answered {
  const { http, output, withoutRevision } = command;
  const hasRevision = body !== null && output !== null && withoutRevision !== true;
  const result = {
    status: http.status,
    body: output === null ? undefined : body,
    ...(hasRevision ? { revision: revisionOf(command, stream, id) } : {}),
    ...(position === undefined ? {} : { position }),
  };
  return { kind: 'answered', result };
}

/** A success without an event appends one that remembers the request. */
function orRemembered(events: ReadonlyArray<never>, remembers: boolean): ReadonlyArray<never> {
  if (events.length > 0 || !remembers) return events;
  return [{ type: requestAnswered, data: {} } as never];
}

const refused = (refusal: Failure): Refused => ({ kind: 'refused', failure: refusal });

/** The refusal if the subject does not exist or the caller has no access to it. */
function notFoundBy({ access, entity }: AnyCommand, id: string): Failure {
  return notFound(access.subject?.entity.notFound ?? entity.notFound, id);
}

/** The revision of a resource in its stream, for `ETag` and `If-Match`. */
function revisionOf({ entity }: AnyCommand, stream: StreamState<unknown>, id: string): number {
  return entity.revisionOf?.(stream.state, id) ?? stream.resourceRevision;
}

const changedSince = (expected: number, actual: number): Failure =>
  failure('precondition-failed', `If-Match asks for revision ${expected}; it is at ${actual}. Read it again.`);
