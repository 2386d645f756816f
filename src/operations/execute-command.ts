import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/failure.ts';
import { isHiddenFrom } from '#domain/scope.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import { reaches } from '#domain/tenancy.ts';
import type { Claims } from '#event-store/claims.ts';
import {
  appendTooLarge,
  type Origin,
  type StreamWriteResult,
  type StreamWriter,
} from '#event-store/command-handler.ts';
import { defaultMaxAppendBytes, type RecordedEvent } from '#event-store/event-store.ts';
import { derivedIds, type FreshIds, freshIds } from '#event-store/fresh-ids.ts';
import type { RememberedRequest } from '#event-store/remembered-requests.ts';
import type { StreamState } from '#event-store/stream-state.ts';
import { heavyTurns, largeBodyBytes } from '#src/heavy-turns.ts';
import type { Json, JsonObject } from '#src/json.ts';
import { erasedHash, type PersonalData } from '#src/subject-keys/personal-data.ts';
import { Unavailable } from '#src/unavailable.ts';
import type { AlsoLoads, AnyCommand, CommandEffects, DecisionContext, FreshSecret, Lookup, Other } from './command.ts';
import { decodeInput } from './decode-input.ts';
import { freshSecret } from './fresh-secret.ts';
import {
  describeOperation,
  type Operation,
  type OperationRequest,
  type OperationResult,
  type RequestInput,
} from './operation.ts';
import { scopeRefusal } from './scope-refusal.ts';

/** What commands run on. */
export interface CommandRuntime {
  readonly handler: StreamWriter;
  readonly claims: Claims;
  readonly lookup: Lookup;
  readonly personalData: PersonalData;
  /** Stored bytes of one append at most. */
  readonly maxAppendBytes?: number;
  /** Bytes of JSON in the filled schemas of one operation of an instance at most. */
  readonly maxFilledBytes?: number;
  /** Waits, one second at most, until the read models show what was appended. */
  readonly waitForReadModels: (appended: StreamWriteResult<unknown>['events']) => Promise<void>;
}

/** Makes a command callable by every face. */
export function commandOperation(definition: AnyCommand, runtime: CommandRuntime): Operation {
  const executor = new CommandHandler(definition, runtime);
  return {
    ...describeOperation(definition),
    kind: 'command',
    plane: definition.plane ?? 'control',
    paged: false,
    hasRevision: definition.withoutRevision !== true,
    execute: (request) => executor.execute(request),
  };
}

/** A request whose resource was found, whose key may, and whose input is sound. */
interface Sound {
  readonly request: OperationRequest;
  readonly input: never;
  readonly subject: Other<unknown>;
  readonly fresh: FreshIds;
  readonly secret: FreshSecret;
  readonly idempotency: { readonly key: string; readonly body: string } | null;
  /** The resource that the command creates or changes. */
  readonly id: string;
}

/** A refusal, a repeated answer, or ids that were given out before end the decision early. */
type Early = { readonly failure: Failure } | { readonly repeated: RememberedRequest } | typeof taken;

const taken = { taken: true } as const;

/** Runs one command in the order of refusals of DECISIONS.md ("Tenancy and keys"). */
class CommandHandler {
  readonly #definition: AnyCommand;
  readonly #runtime: CommandRuntime;
  readonly #running = new Set<string>();

  constructor(definition: AnyCommand, runtime: CommandRuntime) {
    this.#definition = definition;
    this.#runtime = runtime;
  }

  async execute(request: OperationRequest): Promise<E.Either<Failure, OperationResult>> {
    const subject = await this.#subject(request);
    if (E.isLeft(subject)) return subject;
    const refusal = scopeRefusal(request.caller, this.#definition.scope);
    if (refusal !== null) return E.left(refusal);
    const read = await request.loadBody();
    if (E.isLeft(read)) return read;
    const isLarge = (read.right.bytes ?? 0) > largeBodyBytes;
    if (isLarge) await heavyTurns.take(1);
    const input = decodeInput(this.#definition.input, read.right.fields);
    if (E.isLeft(input)) return input;
    if (isLarge) await heavyTurns.take(1);
    const key = requestKeyOf(request);
    const attempt = (number: number) =>
      this.#sound(request, read.right, input.right as never, subject.right, key, number);
    if (key === null) return this.#runWithNewIds(attempt);
    if (this.#running.has(key)) return E.left(stillRunning);
    this.#running.add(key);
    try {
      return await this.#runWithNewIds(attempt);
    } finally {
      this.#running.delete(key);
    }
  }

  /** Goes on to the next ids as often as the `Idempotency-Key` made something that is not remembered any more. */
  async #runWithNewIds(attempt: (number: number) => Promise<Sound>): Promise<E.Either<Failure, OperationResult>> {
    for (let number = 0; ; number += 1) {
      const answer = await this.#run(await attempt(number));
      if (!('taken' in answer)) return answer;
    }
  }

  async #subject({ caller, parameters }: OperationRequest): Promise<E.Either<Failure, Other<unknown>>> {
    const { subject } = this.#definition;
    if (subject === null) return E.right({ state: null, tenant: null });
    const id = parameters[subject.parameter] ?? '';
    const { state, tenant } = await this.#runtime.handler.load(subject.entity, id);
    const hidden = isHiddenFrom(caller.keyType, this.#definition.scope);
    const found = tenant !== null && !hidden && subject.entity.knows(state, id) && reaches(caller, tenant);
    return found ? E.right({ state, tenant }) : E.left(notFound(this.#definition, id));
  }

  /** @param key the request's, if it came with an `Idempotency-Key` */
  async #sound(
    request: OperationRequest,
    read: RequestInput,
    input: never,
    subject: Other<unknown>,
    key: string | null,
    attempt: number,
  ): Promise<Sound> {
    const { newId, subject: named, personal } = this.#definition;
    const fresh = key === null ? freshIds() : derivedIds(attempt === 0 ? key : `${key}\n${attempt}`);
    const id = newId?.(input, fresh) ?? request.parameters[named?.parameter ?? ''] ?? '';
    const hashed = key !== null && personal === true;
    const body = hashed ? await this.#runtime.personalData.keyedHash(id, read.bodyHash) : read.bodyHash;
    const idempotency = key === null ? null : { key, body };
    return { request, input, subject, fresh, secret: freshSecret(), idempotency, id };
  }

  async #run(sound: Sound): Promise<E.Either<Failure, OperationResult> | typeof taken> {
    let early: Early | null = null;
    const handled = await this.#runtime.handler.write({
      entity: this.#definition.entity,
      id: sound.id,
      origin: originOf(sound.request),
      ...(sound.idempotency === null ? {} : { idempotency: sound.idempotency }),
      decide: async (stream) => {
        early = this.#early(sound, stream);
        if (early !== null) return E.left(settledEarly);
        return this.#decide(sound, stream);
      },
    });
    if (early !== null) return this.#answerEarly(sound, early);
    if (E.isLeft(handled)) return handled;
    const withheld = await this.#afterwards(sound);
    if (withheld !== null) return E.left(withheld);
    const body = await this.#body(sound, handled.right, sound.secret, handled.right.events.length > 0);
    const appended = await this.#eventToWaitFor(sound, handled.right);
    await this.#runtime.waitForReadModels(appended);
    return E.right(this.#answer(sound, handled.right.stream, body, appended.at(-1)?.position));
  }

  /** What was appended; where nothing had to be, the event that another request made it so by: it may not show yet. */
  async #eventToWaitFor(
    { id }: Sound,
    { stream, events }: StreamWriteResult<unknown>,
  ): Promise<ReadonlyArray<RecordedEvent>> {
    if (events.length > 0) return events;
    return [await this.#runtime.handler.eventAt(this.#definition.entity, id, stream.revision)];
  }

  #early({ idempotency, request, id, input, fresh }: Sound, stream: StreamState<unknown>): Early | null {
    const repeated = idempotency === null ? undefined : stream.remembered.get(idempotency.key);
    if (repeated !== undefined) {
      if (idempotency?.body === erasedHash) return { failure: erasedSince };
      return repeated.bodyHash === idempotency?.body ? { repeated } : { failure: keyReused };
    }
    const { entity, newId, isThere, isTaken } = this.#definition;
    if (idempotency !== null && isTaken?.(stream.state, input, fresh)) return taken;
    const there = newId !== undefined || (isThere?.(stream.state, input) ?? entity.isLive(stream.state, id));
    if (!there) return { failure: notFound(this.#definition, id) };
    if (request.ifMatch !== null && request.ifMatch !== this.#revision(stream, id)) {
      return { failure: changedSince(request.ifMatch, this.#revision(stream, id)) };
    }
    return null;
  }

  async #decide(sound: Sound, stream: StreamState<unknown>) {
    const definition = this.#definition;
    const { lookup, personalData } = this.#runtime;
    const seal: AlsoLoads['seal'] = (texts) => personalData.seal(sound.id, texts);
    const loads: AlsoLoads = { load: this.#other, dataAt: this.#dataOfOther, lookup, seal };
    const also = await definition.also?.(sound.input, loads, sound.request.caller, stream.state);
    const context: DecisionContext<unknown, unknown> = {
      caller: sound.request.caller,
      fresh: sound.fresh,
      secret: sound.secret,
      subject: sound.subject,
      also,
      time: new Date().toISOString(),
      maxFilledBytes: this.#runtime.maxFilledBytes ?? defaultMaxFilledBytes,
    };
    const events = definition.decide(sound.input, stream.state, context);
    if (E.isLeft(events)) return events;
    const claimed = await this.#claim(sound, events.right);
    if (E.isLeft(claimed)) return claimed;
    return E.right({
      events: events.right,
      tenant: definition.tenant?.(sound.input, context) ?? sound.subject.tenant,
    });
  }

  #other = async (entity: AnyCommand['entity'], id: string) => {
    const { state, tenant } = await this.#runtime.handler.load(entity, id);
    return { state, tenant };
  };

  async #afterwards({ id, request }: Sound): Promise<Failure | null> {
    const { personalData, handler } = this.#runtime;
    const effects: CommandEffects = {
      load: this.#other,
      append: async (handling) => {
        const handled = await handler.write({ ...handling, origin: originOf(request) });
        if (E.isRight(handled)) return;
        const { code, detail, retryAfterSeconds } = handled.left;
        throw code === 'unavailable' ? new Unavailable(detail, retryAfterSeconds) : new Error(detail);
      },
      erasePersonalData: (subject) => personalData.erase(subject),
    };
    return (await this.#definition.afterwards?.(id, effects, request.caller)) ?? null;
  }

  #dataOfOther = async (entity: AnyCommand['entity'], id: string, revision: number) =>
    (await this.#runtime.handler.eventAt(entity, id, revision)).data;

  async #claim(sound: Sound, events: ReadonlyArray<object>): Promise<E.Either<Failure, unknown>> {
    const claims = this.#definition.claims?.(sound.input);
    const { tenant } = sound.subject;
    if (claims === undefined || tenant === null) return E.right(null);
    const bytes = Buffer.byteLength(JSON.stringify(events)) + metadataBytes * events.length;
    const { maxAppendBytes = defaultMaxAppendBytes } = this.#runtime;
    // Before the claim: what could not be created would hold it for two seconds.
    if (bytes > maxAppendBytes) return E.left(appendTooLarge(bytes, maxAppendBytes));
    const claimant = { phoneNumberId: sound.id, tenant, origin: originOf(sound.request) };
    for (const claim of claims) {
      const claimed = await this.#runtime.claims.take(claim, claimant);
      if (E.isLeft(claimed)) return claimed;
    }
    return E.right(null);
  }

  async #answerEarly(sound: Sound, early: Early): Promise<E.Either<Failure, OperationResult> | typeof taken> {
    if ('failure' in early) return E.left(early.failure);
    if ('taken' in early || (await this.#takenBefore(sound, early.repeated))) return taken;
    const { entity } = this.#definition;
    const { lastRevision } = early.repeated;
    // The first request may have ended before it came to it.
    const withheld = await this.#afterwards(sound);
    if (withheld !== null) return E.left(withheld);
    const stream = await this.#runtime.handler.loadAt(entity, sound.id, lastRevision);
    const body = await this.#body(sound, { stream, events: [] }, null, true);
    // The first answer may never have come, so nobody may have waited for the read models yet.
    const last = await this.#runtime.handler.eventAt(entity, sound.id, lastRevision);
    await this.#runtime.waitForReadModels([last]);
    return E.right(this.#answer(sound, stream, body, last.position));
  }

  /** In a stream of many resources, whether these ids were given out before the request that is remembered. */
  async #takenBefore({ id, input, fresh }: Sound, { firstRevision }: RememberedRequest): Promise<boolean> {
    const { entity, isTaken } = this.#definition;
    if (isTaken === undefined || firstRevision === 0) return false;
    const before = await this.#runtime.handler.loadAt(entity, id, firstRevision - 1);
    return isTaken(before.state, input, fresh);
  }

  async #body(
    { input, fresh, id }: Sound,
    { stream, events }: StreamWriteResult<unknown>,
    secret: FreshSecret | null,
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

  #answer(
    { id }: Sound,
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

function notFound(definition: AnyCommand, id: string): Failure {
  const code = definition.subject?.entity.notFound ?? definition.entity.notFound;
  return failure(
    code,
    `There is no ${code.replace('-not-found', '').replaceAll('-', ' ')} ${id} that this key reaches.`,
  );
}

const changedSince = (expected: number, actual: number): Failure =>
  failure('precondition-failed', `If-Match asks for revision ${expected}; it is at ${actual}. Read it again.`);

/** An event's metadata, type and id when stored, at most. */
const metadataBytes = 2_048;

/** Only ends `handle`; the answer is taken from `early`. */
const settledEarly = failure('internal-error', 'settled early');

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
