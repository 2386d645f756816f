import * as E from 'fp-ts/lib/Either.js';
import { describeOperation, type Operation } from '#application/operations/operation.ts';
import type { Asked, Decoded, OperationResult } from '#application/operations/operation-request.ts';
import type { ReadYourWrites } from '#application/operations/read-your-writes.ts';
import {
  keyErased,
  keyReused,
  type RememberedRequest,
  RunningKeys,
  requestKeyOf,
} from '#application/streams/idempotency.ts';
import {
  emptyStream,
  type NextEvents,
  type Origin,
  requestAnswered,
  type StreamState,
} from '#application/streams/stream-state.ts';
import { refuseTooLarge, type StreamWriteResult } from '#application/streams/stream-turns.ts';
import type { Decision, StreamWriter } from '#application/streams/stream-writer.ts';
import { EndpointCreation, type EndpointPlaces } from '#application/webhooks/endpoint-places.ts';
import { canAccess, isConcealedFor, notFound } from '#domain/shared/access.ts';
import { childId } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import { defaultMaxAppendBytes, type RecordedEvent } from '#event-store/event-store.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import { clock } from '#shared/clock.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import type { Claims } from './claims.ts';
import type { AnyCommand, DecisionContext, LoadedStream, Lookup, RelatedStateLoader } from './command.ts';
import { effectsOf } from './command-effects.ts';
import { describePlannedEvents, dryRunResult, planWrite } from './dry-run.ts';
import { deriveNewIds, type NewIds, type NewSecrets, RandomIds, RandomSecrets } from './new-values.ts';

export interface CommandDependencies {
  readonly writer: StreamWriter;
  readonly claims: Claims;
  readonly endpointPlaces: EndpointPlaces;
  readonly lookup: Lookup;
  readonly personalData: PersonalData;
  /** Maximum size of one append, as it is stored. */
  readonly maxAppendBytes?: number;
  /** Maximum size of the JSON of all filled schemas in one operation of an instance. */
  readonly maxFilledBytes?: number;
  /** Holds an answer until the read models show the appended events. */
  readonly readYourWrites: Pick<ReadYourWrites, 'wait'>;
}

export function commandOperation(command: AnyCommand, runtime: CommandDependencies): Operation<LoadedStream<unknown>> {
  const running = new RunningKeys();
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
  { caller, parameters }: Asked,
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
  valid: Decoded<unknown, LoadedStream<unknown>>,
  key: string | null,
): Promise<E.Either<Failure, OperationResult>> {
  for (let number = 0; ; ) {
    const attempt = new CommandAttempt(command, runtime, valid, key, number);
    const outcome = await attempt.execute();
    if (outcome === 'id-used') number += 1;
    else if (outcome !== 'key-made-elsewhere') return outcome;
  }
}

/**
 * Why a request is attempted again: `id-used` means with the next ids, because a client may use an `Idempotency-Key`
 * again after its first request has expired; or with the key of personal data that another node has made.
 */
type Again = 'id-used' | 'key-made-elsewhere';

/** What ends an attempt in place of a decision. A remembered request is answered again. */
type Ending = Failure | RememberedRequest | Again;

type Idempotency = NonNullable<NextEvents<unknown>['idempotency']>;

/** The new keys of personal data. They are stored when the attempt is accepted. */
type Sealing = ReturnType<PersonalData['beginAttempt']>;

/** One attempt of a command, with its new ids and secrets: stages 7 to 12, in their order. */
class CommandAttempt {
  readonly #command: AnyCommand;
  readonly #runtime: CommandDependencies;
  readonly #valid: Decoded<unknown, LoadedStream<unknown>>;
  readonly #request: Asked;
  readonly #input: never;
  /** The key of the request in its stream; null without an `Idempotency-Key`. */
  readonly #key: string | null;
  readonly #newIds: NewIds;
  readonly #newSecrets: NewSecrets = new RandomSecrets();
  /** The id of the resource that the command creates or changes. */
  readonly #id: string;
  readonly #origin: Origin;
  #sealed: Sealing | null = null;

  /** @param number the number of earlier attempts with this key whose ids were used; each has other ids */
  constructor(
    command: AnyCommand,
    runtime: CommandDependencies,
    valid: Decoded<unknown, LoadedStream<unknown>>,
    key: string | null,
    number: number,
  ) {
    this.#command = command;
    this.#runtime = runtime;
    this.#valid = valid;
    this.#request = valid.request;
    this.#input = valid.input as never;
    this.#key = key;
    this.#newIds = key === null ? new RandomIds() : deriveNewIds(number === 0 ? key : `${key}\n${number}`);
    const named = valid.request.parameters[command.access.subject?.parameter ?? ''];
    this.#id = command.creates?.id?.(this.#input, this.#newIds) ?? named ?? '';
    this.#origin = originOf(valid.request);
  }

  /** @throws UnavailableError */
  async execute(): Promise<E.Either<Failure, OperationResult> | Again> {
    const idempotency = await this.#identify();
    if (this.#request.dryRun === true) return this.#executeDryRun(idempotency);
    // 7. Idempotency, 8. decision, 9. claim, 10. append
    const written = await this.#write(idempotency);
    if (E.isLeft(written)) return this.#endWith(written.left);
    const withheld = await this.#runEffects();
    if (withheld !== null) return E.left(withheld);
    const body = await this.#bodyOf(written.right, this.#newSecrets, written.right.events.length > 0);
    // 11. Waiting for read models
    const position = await this.#waitForReadModels(written.right);
    // 12. Response
    return E.right(this.#resultOf(written.right.stream, body, position));
  }

  /** Null for a request without an `Idempotency-Key`. @throws UnavailableError */
  async #identify(): Promise<Idempotency | null> {
    if (this.#key === null) return null;
    const { bodyHash } = this.#valid;
    const isKeyed = this.#command.personal === true;
    const body = isKeyed ? await this.#sealing.personalTexts.keyedHash(this.#id, bodyHash) : bodyHash;
    return { key: this.#key, body };
  }

  /** Stages 7 to 10, in a turn on the stream, and again after each conflict. */
  async #write(idempotency: Idempotency | null): Promise<E.Either<Ending, StreamWriteResult<unknown>>> {
    const { entity, creates, endpointPlace } = this.#command;
    const { writer, endpointPlaces } = this.#runtime;
    using creation = endpointPlace === 'taken' ? new EndpointCreation(endpointPlaces) : null;
    // Only this attempt can know an id that it has made at random.
    const isNew = this.#key === null && creates?.id !== undefined && this.#id === this.#newIds.id;
    // A claim or a place is taken for one append, which must be decided on a durable state.
    const isAlone = creates?.claims !== undefined || endpointPlace !== undefined;
    const written = await writer.write<unknown, unknown, Ending>({
      entity,
      id: this.#id,
      mode: isAlone ? 'alone' : 'pipelined',
      // A stream with a new random id needs no read. If it has events all the same, the append conflicts.
      known: isNew ? emptyStream(entity) : null,
      origin: this.#origin,
      ...(idempotency === null ? {} : { idempotency }),
      decide: async (stream) => {
        // 7. Idempotency, 8. decision
        const decision = await this.#decide(stream, idempotency);
        if (E.isLeft(decision)) return decision;
        // 9. Claim
        const refusal = await this.#claim(decision.right, creation);
        if (refusal !== null) return E.left(refusal);
        // 10. Append
        return E.right(idempotency === null ? decision.right : orRemembered(decision.right));
      },
    });
    if (E.isRight(written) && endpointPlace !== undefined) endpointPlaces.observe(written.right.events);
    return written;
  }

  /** Stages 7 and 8. @throws UnavailableError */
  async #decide(
    stream: StreamState<unknown>,
    idempotency: Idempotency | null,
  ): Promise<E.Either<Ending, Decision<unknown>>> {
    // 7. Idempotency
    const recalled = idempotency === null ? null : this.#recall(stream, idempotency);
    if (recalled !== null) return E.left(recalled);
    // 8. Decision
    const refusal = this.#checkPreconditions(stream);
    if (refusal !== null) return E.left(refusal);
    const context = await this.#contextOf(stream);
    const events = this.#command.decide(this.#input, stream.state, context);
    if (E.isLeft(events)) return events;
    const tenant = this.#command.creates?.tenant?.(this.#input, context) ?? this.#valid.subject.tenant;
    return E.right({ events: events.right as ReadonlyArray<never>, tenant });
  }

  /** Looks for the request in the stream. @returns null for a new request */
  #recall(stream: StreamState<unknown>, { key, body }: Idempotency): Ending | null {
    const { creates, personal } = this.#command;
    const remembered = stream.remembered.get(key);
    if (remembered === undefined)
      return creates?.isIdUsed?.(stream.state, this.#input, this.#newIds) ? 'id-used' : null;
    // The key with which the body was remembered is destroyed or lost.
    if (personal === true && this.#sealing.newKeys.has(this.#id)) return keyErased;
    return remembered.bodyHash === body ? remembered : keyReused;
  }

  /** Checks that the resource still exists, and has the revision in `If-Match`. */
  #checkPreconditions(stream: StreamState<unknown>): Failure | null {
    const { entity, creates, isAnswerable } = this.#command;
    const exists =
      creates?.id !== undefined || (isAnswerable?.(stream.state, this.#input) ?? entity.isLive(stream.state, this.#id));
    if (!exists) return notFoundBy(this.#command, this.#id);
    const { ifMatch } = this.#request;
    const revision = ifMatch === null ? null : this.#revisionOf(stream);
    return ifMatch === null || revision === null || ifMatch === revision ? null : changedSince(ifMatch, revision);
  }

  /** Loads the other states that the decision needs. @throws UnavailableError */
  async #contextOf(stream: StreamState<unknown>): Promise<DecisionContext<unknown, unknown>> {
    const { state, tenant } = stream;
    const { caller } = this.#request;
    const related = await this.#command.loadRelated?.(this.#input, this.#loadsFor(stream), caller, state);
    return {
      caller,
      newIds: this.#newIds,
      newSecrets: this.#newSecrets,
      subject: writesToSubject(this.#command) && tenant !== null ? { state, tenant } : this.#valid.subject,
      related,
      time: new Date(clock.time()).toISOString(),
      maxFilledBytes: this.#runtime.maxFilledBytes ?? defaultMaxFilledBytes,
    };
  }

  #loadsFor({ revision }: StreamState<unknown>): RelatedStateLoader {
    const { writer, lookup } = this.#runtime;
    return {
      load: (entity, id) => writer.load(entity, id),
      dataAt: async (entity, id, revision) => (await writer.eventAt(entity, id, revision)).data,
      lookup,
      newSecrets: this.#newSecrets,
      seal: async (texts) => {
        const isAllowed = revision < 0 || (await this.#sealing.newKeys.isStored(this.#id));
        return isAllowed ? this.#sealing.personalTexts.seal(this.#id, texts) : null;
      },
    };
  }

  /**
   * Stage 9, after the decision, so that a refused request leaves no claim. Keys of personal data are stored last,
   * because a refused request makes none.
   * @param creation takes the place of a new webhook endpoint; null for other commands
   * @throws UnavailableError
   */
  async #claim({ events, tenant }: Decision<unknown>, creation: EndpointCreation | null): Promise<Ending | null> {
    const refusal = await this.#takeClaims(events);
    if (refusal !== null) return refusal;
    const full = tenant === null ? null : ((await creation?.takePlace(tenant)) ?? null);
    if (full !== null) return full;
    return this.#sealed === null || (await this.#sealed.newKeys.store()) ? null : 'key-made-elsewhere';
  }

  async #takeClaims(events: ReadonlyArray<object>): Promise<Failure | null> {
    const claims = this.#command.creates?.claims;
    const { tenant } = this.#valid.subject;
    if (claims === undefined || tenant === null) return null;
    // Checked before the claim, because a resource that cannot be created would hold it for two seconds.
    const tooLarge = refuseTooLarge(events, this.#runtime.maxAppendBytes ?? defaultMaxAppendBytes);
    if (tooLarge !== null) return tooLarge;
    const claimant = { id: this.#id, tenant, origin: this.#origin };
    return this.#runtime.claims.take(claims.claim, claims.values(this.#input), claimant);
  }

  async #endWith(ending: Ending): Promise<E.Either<Failure, OperationResult> | Again> {
    if (typeof ending === 'string') return ending;
    return 'code' in ending ? E.left(ending) : this.#replay(ending);
  }

  /** @throws UnavailableError */
  async #replay(remembered: RememberedRequest): Promise<E.Either<Failure, OperationResult> | Again> {
    if (await this.#isIdUsedBefore(remembered)) return 'id-used';
    const isDryRun = this.#request.dryRun === true;
    // The first request may have crashed before these effects.
    const withheld = isDryRun ? null : await this.#runEffects();
    if (withheld !== null) return E.left(withheld);
    const stream = await this.#runtime.writer.loadAt(this.#command.entity, this.#id, remembered.lastRevision);
    const body = await this.#bodyOf({ stream, events: [] }, null, true);
    if (isDryRun) return E.right(dryRunResult(this.#command, [], body));
    const position = await this.#waitForReadModels({ stream, events: [] });
    return E.right({ ...this.#resultOf(stream, body, position), isReplay: true });
  }

  /**
   * True if the remembered request created none: in a stream of many resources, the id was used before it.
   * @throws UnavailableError
   */
  async #isIdUsedBefore({ firstRevision }: RememberedRequest): Promise<boolean> {
    const { entity, creates } = this.#command;
    if (creates?.isIdUsed === undefined || firstRevision === 0) return false;
    const before = await this.#runtime.writer.loadAt(entity, this.#id, firstRevision - 1);
    return creates.isIdUsed(before.state, this.#input, this.#newIds);
  }

  /** Runs the command, but claims, appends and awaits nothing. @throws UnavailableError */
  async #executeDryRun(idempotency: Idempotency | null): Promise<E.Either<Failure, OperationResult> | Again> {
    const { entity } = this.#command;
    const before = await this.#runtime.writer.load(entity, this.#id);
    const decision = await this.#decide(before, idempotency);
    if (E.isLeft(decision)) return this.#endWith(decision.left);
    const next = { ...decision.right, origin: this.#origin };
    const target = { command: this.#command, id: this.#id, input: this.#input, before };
    const planned = await planWrite(this.#runtime, target, next);
    if (E.isLeft(planned)) return planned;
    const { events } = planned.right;
    const body = await this.#bodyOf(planned.right, null, events.length > 0);
    const { personalTexts } = this.#sealing;
    const described = await describePlannedEvents(entity, before, events, this.#dataReader([]), personalTexts);
    return E.right(dryRunResult(this.#command, described, body));
  }

  /** Runs the effects outside the stream. @throws UnavailableError */
  async #runEffects(): Promise<Failure | null> {
    const { afterAppend } = this.#command;
    if (afterAppend === undefined) return null;
    const { writer, personalData } = this.#runtime;
    return afterAppend(this.#id, effectsOf(writer, personalData, this.#origin), this.#request.caller);
  }

  /** @param newSecrets null if the answer must not contain one @param appended the request has appended events */
  async #bodyOf(
    { stream, events }: StreamWriteResult<unknown>,
    newSecrets: NewSecrets | null,
    appended: boolean,
  ): Promise<Json> {
    return this.#command.answer({
      input: this.#input,
      state: stream.state,
      // `RequestAnswered` alone is not a change.
      changed: appended && stream.resourceRevision === stream.revision,
      newIds: this.#newIds,
      newSecrets,
      lookup: this.#runtime.lookup,
      dataAt: this.#dataReader(events),
    });
  }

  /** Reads data of events. Each is read at most once; the given ones are in memory. */
  #dataReader(events: ReadonlyArray<RecordedEvent>): (revision: number) => Promise<JsonObject> {
    const { entity } = this.#command;
    const read = new Map(events.map(({ revision, data }) => [revision, Promise.resolve(data)]));
    return (revision) => {
      const known = read.get(revision);
      const data = known ?? this.#runtime.writer.eventAt(entity, this.#id, revision).then((event) => event.data);
      read.set(revision, data);
      return data;
    };
  }

  /**
   * Stage 11: waits until read models show the appended events; without any, the newest event of the stream, because they
   * may not show it yet.
   * @returns the position of the last one
   */
  async #waitForReadModels({ stream, events }: StreamWriteResult<unknown>): Promise<number | undefined> {
    const { entity, creates } = this.#command;
    const { writer, readYourWrites } = this.#runtime;
    const shown = events.length > 0 ? events : [await writer.eventAt(entity, this.#id, stream.revision)];
    await readYourWrites.wait(shown, () => {
      // The resource that the command writes, and those that it may have created in addition to it.
      const further = creates?.id === undefined ? [] : [this.#newIds.secondId];
      return { ids: [this.#id, childId(this.#id, this.#newIds.suffix), ...further], tenant: stream.tenant };
    });
    return shown.at(-1)?.position;
  }

  /** Stage 12. */
  #resultOf(stream: StreamState<unknown>, body: Json, position: number | undefined): OperationResult {
    const { http, output, withoutRevision } = this.#command;
    const hasRevision = body !== null && output !== null && withoutRevision !== true;
    return {
      status: http.status,
      body: output === null ? undefined : body,
      ...(hasRevision ? { revision: this.#revisionOf(stream) } : {}),
      ...(position === undefined ? {} : { position }),
    };
  }

  /** The revision of the resource in its stream, for `ETag` and `If-Match`. */
  #revisionOf(stream: StreamState<unknown>): number {
    return this.#command.entity.revisionOf?.(stream.state, this.#id) ?? stream.resourceRevision;
  }

  /** Made at its first use, because few commands have personal data. */
  get #sealing(): Sealing {
    this.#sealed ??= this.#runtime.personalData.beginAttempt();
    return this.#sealed;
  }
}

/** Adds an event that remembers the request if a success has none. */
function orRemembered(decision: Decision<unknown>): Decision<unknown> {
  return decision.events.length > 0
    ? decision
    : { ...decision, events: [{ type: requestAnswered, data: {} } as never] };
}

function originOf({ caller, id: requestId, onBehalfOf }: Asked): Origin {
  const { keyId, keyType } = caller;
  const actor = { keyId, keyType, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
  return { actor, requestId, correlationId: requestId, causationId: requestId };
}

/**
 * True if the command writes to the subject's stream. A resource's stream also holds its children: a flow's stream
 * holds its versions.
 */
function writesToSubject({ access: { subject }, entity }: AnyCommand): boolean {
  return subject !== null && subject.entity.category === entity.category;
}

/** The failure when the subject does not exist, or the caller has no access to it. */
function notFoundBy({ access, entity }: AnyCommand, id: string): Failure {
  return notFound(access.subject?.entity.notFound ?? entity.notFound, id);
}

const changedSince = (expected: number, actual: number): Failure =>
  failure('precondition-failed', `If-Match asks for revision ${expected}; it is at ${actual}. Read it again.`);
