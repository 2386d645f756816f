import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
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
import { canAccess } from '#domain/shared/tenancy.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import { defaultMaxAppendBytes, type RecordedEvent } from '#event-store/event-store.ts';
import { erasedHash, type PersonalData } from '#personal-data/personal-data.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import type { Claims } from './claims.ts';
import type {
  AnyCommand,
  CommandEffects,
  DecisionContext,
  LoadedStream,
  Lookup,
  NewApiKey,
  RelatedStateLoader,
} from './command.ts';
import { createNewApiKey } from './new-api-key.ts';
import { createNewIds, deriveNewIds, type NewIds } from './new-ids.ts';
import type { RememberedRequest } from './remembered-requests.ts';
import type { StreamState } from './stream-state.ts';
import {
  appendTooLarge,
  type Decision,
  type Origin,
  type StreamWriteResult,
  type StreamWriter,
} from './stream-writer.ts';

/** What commands run on. */
export interface CommandDependencies {
  readonly handler: StreamWriter;
  readonly claims: Claims;
  readonly lookup: Lookup;
  readonly personalData: PersonalData;
  /** Stored bytes of one append at most. */
  readonly maxAppendBytes?: number;
  /** Bytes of JSON in the filled schemas of one operation of an instance at most. */
  readonly maxFilledBytes?: number;
  /** Waits, for `READ_YOUR_WRITES_TIMEOUT_MS` at most, until the read models show what was appended. */
  readonly waitForReadModels: (appended: StreamWriteResult<unknown>['events']) => Promise<void>;
}

/** Makes a command callable by every caller. */
export function commandOperation(
  definition: AnyCommand,
  runtime: CommandDependencies,
): Operation<LoadedStream<unknown>> {
  const handler = new CommandHandler(definition, runtime);
  return {
    ...describeOperation(definition),
    kind: 'command',
    plane: definition.plane ?? 'control',
    paged: false,
    hasRevision: definition.withoutRevision !== true,
    loadSubject: (request) => handler.loadSubject(request),
    execute: (request) => handler.execute(request),
  };
}

/** One attempt at a request, with the ids that it may give out. */
interface CommandAttempt {
  readonly request: OperationRequest;
  readonly input: never;
  readonly subject: LoadedStream<unknown>;
  readonly fresh: NewIds;
  readonly secret: NewApiKey;
  readonly idempotency: { readonly key: string; readonly body: string } | null;
  /** The resource that the command creates or changes. */
  readonly id: string;
}

/** The stream remembers the request: its answer is made again. */
interface Replay {
  readonly kind: 'replay';
  readonly remembered: RememberedRequest;
}

/** The ids that follow from the `Idempotency-Key` were given out before, for a request that is forgotten. */
interface IdAlreadyUsed {
  readonly kind: 'id-already-used';
}

// biome-ignore lint/suspicious/noExplicitAny: the definition's type names its events.
type AnyDecision = Decision<any>;

/** What a command's decision comes to: events to append, or (left) a refusal, a replay, or ids that cannot be used. */
type CommandDecision = E.Either<Failure | Replay | IdAlreadyUsed, AnyDecision>;

/** Executes one command: stages 4 and 7 to 12 of `invoke`. */
class CommandHandler {
  readonly #definition: AnyCommand;
  readonly #runtime: CommandDependencies;
  readonly #running = new Set<string>();

  constructor(definition: AnyCommand, runtime: CommandDependencies) {
    this.#definition = definition;
    this.#runtime = runtime;
  }

  /** Stage 4. Reach is judged from the stream itself: a read model may lag. */
  async loadSubject({ caller, parameters }: OperationRequest): Promise<E.Either<Failure, LoadedStream<unknown>>> {
    const { subject } = this.#definition;
    if (subject === null) return E.right({ state: null, tenant: null });
    const id = parameters[subject.parameter] ?? '';
    const { state, tenant } = await this.#runtime.handler.load(subject.entity, id);
    const hidden = isConcealedFor(caller.keyType, this.#definition.scope);
    const found = tenant !== null && !hidden && subject.entity.everExisted(state, id) && canAccess(caller, tenant);
    return found ? E.right({ state, tenant }) : E.left(this.#notFound(id));
  }

  /** Stages 7 to 12, for one request of an `Idempotency-Key` at a time. */
  async execute(valid: ValidRequest<LoadedStream<unknown>>): Promise<E.Either<Failure, OperationResult>> {
    const key = requestKeyOf(valid.request);
    if (key === null) return this.#executeWithUnusedIds(valid, null);
    if (this.#running.has(key)) return E.left(stillRunning);
    this.#running.add(key);
    try {
      return await this.#executeWithUnusedIds(valid, key);
    } finally {
      this.#running.delete(key);
    }
  }

  /** An `Idempotency-Key` may be used again once its first request is forgotten: the next ids that follow from it are then tried. */
  async #executeWithUnusedIds(
    valid: ValidRequest<LoadedStream<unknown>>,
    key: string | null,
  ): Promise<E.Either<Failure, OperationResult>> {
    for (let number = 0; ; number += 1) {
      const result = await this.#executeAttempt(await this.#attempt(valid, key, number));
      if (E.isRight(result)) return result;
      if (!('kind' in result.left)) return E.left(result.left);
    }
  }

  /** @param key the request's, if it came with an `Idempotency-Key` */
  async #attempt(
    { request, subject, input, bodyHash }: ValidRequest<LoadedStream<unknown>>,
    key: string | null,
    number: number,
  ): Promise<CommandAttempt> {
    const { newId, subject: named, personal } = this.#definition;
    const fresh = key === null ? createNewIds() : deriveNewIds(number === 0 ? key : `${key}\n${number}`);
    const id = newId?.(input as never, fresh) ?? request.parameters[named?.parameter ?? ''] ?? '';
    const hashed = key !== null && personal === true;
    const body = hashed ? await this.#runtime.personalData.keyedHash(id, bodyHash) : bodyHash;
    const idempotency = key === null ? null : { key, body };
    return { request, input: input as never, subject, fresh, secret: createNewApiKey(), idempotency, id };
  }

  async #executeAttempt(attempt: CommandAttempt): Promise<E.Either<Failure | IdAlreadyUsed, OperationResult>> {
    const { id, request, idempotency } = attempt;
    const written = await this.#runtime.handler.write({
      entity: this.#definition.entity,
      id,
      origin: originOf(request),
      ...(idempotency === null ? {} : { idempotency }),
      // 7. Idempotency, 8. decision
      decide: (stream) => this.#recall(attempt, stream) ?? this.#decide(attempt, stream),
      // 9. Claim, then 10. append
      claim: (events) => this.#claim(attempt, events),
    });
    if (E.isRight(written)) return this.#respond(attempt, written.right);
    const { left } = written;
    if (!('kind' in left)) return E.left(left);
    return left.kind === 'replay' ? this.#replay(attempt, left.remembered) : E.left(left);
  }

  /** What a stream remembers of the request; null for a request that is new. */
  #recall({ idempotency, input, fresh }: CommandAttempt, stream: StreamState<unknown>): CommandDecision | null {
    if (idempotency === null) return null;
    const remembered = stream.remembered.get(idempotency.key);
    if (remembered === undefined) {
      return this.#definition.isIdUsed?.(stream.state, input, fresh) ? E.left(idAlreadyUsed) : null;
    }
    if (idempotency.body === erasedHash) return E.left(erasedSince);
    return E.left(remembered.bodyHash === idempotency.body ? { kind: 'replay', remembered } : keyReused);
  }

  async #decide(attempt: CommandAttempt, stream: StreamState<unknown>): Promise<CommandDecision> {
    const definition = this.#definition;
    const refusal = this.#checkPreconditions(attempt, stream);
    if (refusal !== null) return E.left(refusal);
    const { lookup, personalData } = this.#runtime;
    const { input, request, subject, fresh, secret } = attempt;
    const seal: RelatedStateLoader['seal'] = (texts) => personalData.seal(attempt.id, texts);
    const loads: RelatedStateLoader = { load: this.#other, dataAt: this.#dataOfOther, lookup, seal };
    const also = await definition.loadRelated?.(input, loads, request.caller, stream.state);
    const context: DecisionContext<unknown, unknown> = {
      caller: request.caller,
      fresh,
      secret,
      subject,
      also,
      time: new Date().toISOString(),
      maxFilledBytes: this.#runtime.maxFilledBytes ?? defaultMaxFilledBytes,
    };
    const events = definition.decide(input, stream.state, context);
    if (E.isLeft(events)) return events;
    return E.right({ events: events.right, tenant: definition.tenant?.(input, context) ?? subject.tenant });
  }

  /** Whether the resource is still there, at the revision that `If-Match` asks for. */
  #checkPreconditions(
    { id, input, request: { ifMatch } }: CommandAttempt,
    stream: StreamState<unknown>,
  ): Failure | null {
    const { entity, newId, isAnswerable } = this.#definition;
    const there = newId !== undefined || (isAnswerable?.(stream.state, input) ?? entity.isLive(stream.state, id));
    if (!there) return this.#notFound(id);
    const revision = ifMatch === null ? null : this.#revision(stream, id);
    return ifMatch === null || revision === null || ifMatch === revision ? null : changedSince(ifMatch, revision);
  }

  async #claim({ id, input, subject: { tenant }, request }: CommandAttempt, events: ReadonlyArray<object>) {
    const claims = this.#definition.claims?.(input);
    if (claims === undefined || tenant === null) return null;
    const bytes = Buffer.byteLength(JSON.stringify(events)) + metadataBytes * events.length;
    const { maxAppendBytes = defaultMaxAppendBytes } = this.#runtime;
    // Before the claim: what could not be created would hold it for two seconds.
    if (bytes > maxAppendBytes) return appendTooLarge(bytes, maxAppendBytes);
    const claimant = { phoneNumberId: id, tenant, origin: originOf(request) };
    for (const claim of claims) {
      const claimed = await this.#runtime.claims.take(claim, claimant);
      if (E.isLeft(claimed)) return claimed.left;
    }
    return null;
  }

  async #respond(
    attempt: CommandAttempt,
    written: StreamWriteResult<unknown>,
  ): Promise<E.Either<Failure, OperationResult>> {
    const withheld = await this.#afterwards(attempt);
    if (withheld !== null) return E.left(withheld);
    const body = await this.#body(attempt, written, attempt.secret, written.events.length > 0);
    // 11. Waiting for read models
    const appended = await this.#eventsToWaitFor(attempt, written);
    await this.#runtime.waitForReadModels(appended);
    // 12. Response
    return E.right(this.#result(attempt, written.stream, body, appended.at(-1)?.position));
  }

  /** Makes the answer of a remembered request again. */
  async #replay(
    attempt: CommandAttempt,
    remembered: RememberedRequest,
  ): Promise<E.Either<Failure | IdAlreadyUsed, OperationResult>> {
    if (await this.#isIdUsedBefore(attempt, remembered)) return E.left(idAlreadyUsed);
    const { entity } = this.#definition;
    const { lastRevision } = remembered;
    // The first request may have ended before it came to it.
    const withheld = await this.#afterwards(attempt);
    if (withheld !== null) return E.left(withheld);
    const stream = await this.#runtime.handler.loadAt(entity, attempt.id, lastRevision);
    const body = await this.#body(attempt, { stream, events: [] }, null, true);
    // The first answer may never have come, so nobody may have waited for the read models yet.
    const last = await this.#runtime.handler.eventAt(entity, attempt.id, lastRevision);
    await this.#runtime.waitForReadModels([last]);
    return E.right(this.#result(attempt, stream, body, last.position));
  }

  /** In a stream of many resources, whether these ids were given out before the request that is remembered. */
  async #isIdUsedBefore({ id, input, fresh }: CommandAttempt, { firstRevision }: RememberedRequest): Promise<boolean> {
    const { entity, isIdUsed } = this.#definition;
    if (isIdUsed === undefined || firstRevision === 0) return false;
    const before = await this.#runtime.handler.loadAt(entity, id, firstRevision - 1);
    return isIdUsed(before.state, input, fresh);
  }

  /** What was appended; without events the newest one of the stream, because the read models may not show it yet. */
  async #eventsToWaitFor(
    { id }: CommandAttempt,
    { stream, events }: StreamWriteResult<unknown>,
  ): Promise<ReadonlyArray<RecordedEvent>> {
    if (events.length > 0) return events;
    return [await this.#runtime.handler.eventAt(this.#definition.entity, id, stream.revision)];
  }

  #other = async (entity: AnyCommand['entity'], id: string) => {
    const { state, tenant } = await this.#runtime.handler.load(entity, id);
    return { state, tenant };
  };

  async #afterwards({ id, request }: CommandAttempt): Promise<Failure | null> {
    const { personalData, handler } = this.#runtime;
    const effects: CommandEffects = {
      load: this.#other,
      append: async (handling) => {
        const handled = await handler.write({ ...handling, origin: originOf(request) });
        if (E.isRight(handled)) return;
        const { code, detail, retryAfterSeconds } = handled.left;
        throw code === 'unavailable' ? new UnavailableError(detail, retryAfterSeconds) : new Error(detail);
      },
      erasePersonalData: (subject) => personalData.erase(subject),
    };
    return (await this.#definition.afterAppend?.(id, effects, request.caller)) ?? null;
  }

  #dataOfOther = async (entity: AnyCommand['entity'], id: string, revision: number) =>
    (await this.#runtime.handler.eventAt(entity, id, revision)).data;

  async #body(
    { input, fresh, id }: CommandAttempt,
    { stream, events }: StreamWriteResult<unknown>,
    secret: NewApiKey | null,
    appended: boolean,
  ): Promise<Json> {
    const read = new Map<number, Promise<JsonObject>>(
      events.map(({ revision, data }) => [revision, Promise.resolve(data)]),
    );
    const dataAt = (revision: number): Promise<JsonObject> => {
      const data = read.get(revision) ?? this.#dataOfOther(this.#definition.entity, id, revision);
      read.set(revision, data);
      return data;
    };
    // A remembered request alone is no change.
    const changed = appended && stream.resourceRevision === stream.revision;
    const { lookup } = this.#runtime;
    return this.#definition.answer({ input, state: stream.state, changed, fresh, secret, lookup, dataAt });
  }

  #result(
    { id }: CommandAttempt,
    stream: StreamState<unknown>,
    body: Json | undefined,
    position: number | undefined,
  ): OperationResult {
    const { http, output, withoutRevision } = this.#definition;
    return {
      status: http.status,
      body: output === null ? undefined : body,
      ...(body === null || output === null || withoutRevision ? {} : { revision: this.#revision(stream, id) }),
      ...(position === undefined ? {} : { position }),
    };
  }

  #notFound(id: string): Failure {
    return notFound(this.#definition.subject?.entity.notFound ?? this.#definition.entity.notFound, id);
  }

  #revision(stream: StreamState<unknown>, id: string): number {
    return this.#definition.entity.revisionOf?.(stream.state, id) ?? stream.resourceRevision;
  }
}

/** What tells a request with an `Idempotency-Key` again; null for one without. */
function requestKeyOf({ idempotencyKey, caller, requestTarget }: OperationRequest): string | null {
  return idempotencyKey === null ? null : hash('sha256', `${caller.keyId}\n${requestTarget}\n${idempotencyKey}`);
}

function originOf({ caller, requestId }: OperationRequest): Origin {
  const actor = { keyId: caller.keyId, keyType: caller.keyType };
  return { actor, requestId, correlationId: requestId, causationId: requestId };
}

const changedSince = (expected: number, actual: number): Failure =>
  failure('precondition-failed', `If-Match asks for revision ${expected}; it is at ${actual}. Read it again.`);

/** An event's metadata, type and id when stored, at most. */
const metadataBytes = 2_048;

const idAlreadyUsed: IdAlreadyUsed = { kind: 'id-already-used' };

const stillRunning = failure(
  'idempotency-key-in-progress',
  'A request with this Idempotency-Key has not been answered yet. Wait for it, or send it again later.',
  { retryAfterSeconds: 1 },
);

const erasedSince = failure(
  'idempotency-key-erased',
  'This Idempotency-Key created something whose personal data was erased since: what the body was is not known any ' +
    'more, so it is not answered again. Use a new key for a new request.',
);

const keyReused = failure(
  'idempotency-key-reused',
  'This Idempotency-Key came with another body before. Use a new key for a new request.',
);
