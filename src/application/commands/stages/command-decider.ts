import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand, DecisionContext, RelatedStateLoader } from '#application/commands/command.ts';
import type { CommandDependencies } from '#application/commands/command-dependencies.ts';
import type { StreamState } from '#application/commands/stream-state.ts';
import { appendTooLarge } from '#application/commands/streams/append-refusals.ts';
import type { Decision } from '#application/commands/streams/stream-write.ts';
import { notFound } from '#application/operations/not-found.ts';
import type { EndpointCreation } from '#application/webhooks/endpoint-places.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import { defaultMaxAppendBytes } from '#event-store/event-store.ts';
import { type CommandAttempt, originOf } from './command-attempt.ts';
import { type IdAlreadyUsed, type KeyMadeElsewhere, keyMadeElsewhere, type Replay, recall } from './idempotency.ts';
import { dataOf, loadOther } from './related-streams.ts';

// biome-ignore lint/suspicious/noExplicitAny: the definition's type names its events.
type AnyDecision = Decision<any>;

/**
 * The result of a command's decision: events to append, or (left) a refusal, a replay, or ids that are already used.
 */
export type CommandDecision = E.Either<Failure | Replay | IdAlreadyUsed | KeyMadeElsewhere, AnyDecision>;

/** The most stored bytes of an event's metadata, type and id. */
const metadataBytes = 2_048;

/** Stages 7 to 9 of one command: its decision, and the claims of the new resource. */
export class CommandDecider {
  readonly #definition: AnyCommand;
  readonly #runtime: CommandDependencies;

  constructor(definition: AnyCommand, runtime: CommandDependencies) {
    this.#definition = definition;
    this.#runtime = runtime;
  }

  /**
   * Stages 7 and 8.
   * @throws UnavailableError
   */
  async decide(attempt: CommandAttempt, stream: StreamState<unknown>): Promise<CommandDecision> {
    const recalled = recall(this.#definition, attempt, stream);
    if (recalled !== null) return recalled;
    const refusal = this.#checkPreconditions(attempt, stream);
    if (refusal !== null) return E.left(refusal);
    return this.#decideNew(attempt, stream);
  }

  /**
   * Stage 9. Keys of personal data are stored last, because a refused request makes none.
   * @param creation takes the place of a new webhook endpoint; null for other commands
   * @returns why a claim or the place cannot be taken, or that another node has made a key; null if all are taken and
   *   stored
   * @throws UnavailableError
   */
  async claim(
    attempt: CommandAttempt,
    { events, tenant }: AnyDecision,
    creation: EndpointCreation | null,
  ): Promise<Failure | KeyMadeElsewhere | null> {
    const refusal = await this.#takeClaims(attempt, events);
    if (refusal !== null) return refusal;
    const full = tenant === null ? null : ((await creation?.takePlace(tenant)) ?? null);
    if (full !== null) return full;
    return (await attempt.newKeys.store()) ? null : keyMadeElsewhere;
  }

  async #takeClaims(
    { id, input, subject: { tenant }, request }: CommandAttempt,
    events: ReadonlyArray<object>,
  ): Promise<Failure | null> {
    const claims = this.#definition.claims?.(input);
    if (claims === undefined || tenant === null) return null;
    const bytes = Buffer.byteLength(JSON.stringify(events)) + metadataBytes * events.length;
    const { maxAppendBytes = defaultMaxAppendBytes } = this.#runtime;
    // Checked before the claim, because a resource that cannot be created would hold it for two seconds.
    if (bytes > maxAppendBytes) return appendTooLarge(bytes, maxAppendBytes);
    const claimant = { phoneNumberId: id, tenant, origin: originOf(request) };
    for (const claim of claims) {
      const claimed = await this.#runtime.claims.take(claim, claimant);
      if (E.isLeft(claimed)) return claimed.left;
    }
    return null;
  }

  /**
   * Returns the result that `claim` would have, without taking anything.
   * @param tenant of the stream
   * @throws UnavailableError
   */
  async checkClaims({ id, input }: CommandAttempt, tenant: Tenant | null): Promise<Failure | null> {
    for (const claim of this.#definition.claims?.(input) ?? []) {
      const taken = await this.#runtime.claims.check(claim, id);
      if (taken !== null) return taken;
    }
    const { endpointPlace } = this.#definition;
    return endpointPlace === 'taken' && tenant !== null ? this.#runtime.endpointPlaces.refusalOf(tenant) : null;
  }

  /** Whether the resource still exists, at the revision in `If-Match`. */
  #checkPreconditions(
    { id, input, request: { ifMatch } }: CommandAttempt,
    stream: StreamState<unknown>,
  ): Failure | null {
    const { entity, newId, isAnswerable } = this.#definition;
    const isThere = newId !== undefined || (isAnswerable?.(stream.state, input) ?? entity.isLive(stream.state, id));
    if (!isThere) return notFoundBy(this.#definition, id);
    const revision = ifMatch === null ? null : revisionOf(this.#definition, stream, id);
    return ifMatch === null || revision === null || ifMatch === revision ? null : changedSince(ifMatch, revision);
  }

  async #decideNew(attempt: CommandAttempt, stream: StreamState<unknown>): Promise<CommandDecision> {
    const { input, subject } = attempt;
    const context = await this.#contextOf(attempt, stream);
    const events = this.#definition.decide(input, stream.state, context);
    if (E.isLeft(events)) return events;
    return E.right({ events: events.right, tenant: this.#definition.tenant?.(input, context) ?? subject.tenant });
  }

  async #contextOf(attempt: CommandAttempt, stream: StreamState<unknown>): Promise<DecisionContext<unknown, unknown>> {
    const { state, tenant } = stream;
    const { input, request, subject, newIds, newSecrets } = attempt;
    const related = await this.#definition.loadRelated?.(input, this.#loaderOf(attempt, stream), request.caller, state);
    return {
      caller: request.caller,
      newIds,
      newSecrets,
      subject: writesToSubject(this.#definition) && tenant !== null ? { state, tenant } : subject,
      related,
      time: new Date().toISOString(),
      maxFilledBytes: this.#runtime.maxFilledBytes ?? defaultMaxFilledBytes,
    };
  }

  #loaderOf(
    { id, newSecrets, newKeys, personalTexts }: CommandAttempt,
    { revision }: StreamState<unknown>,
  ): RelatedStateLoader {
    const { lookup, writer } = this.#runtime;
    return {
      load: (entity, other) => loadOther(writer, entity, other),
      dataAt: (entity, other, revision) => dataOf(writer, entity, other, revision),
      lookup,
      seal: async (texts) => {
        const isNew = revision < 0;
        return isNew || (await newKeys.isStored(id)) ? personalTexts.seal(id, texts) : null;
      },
      newSecrets,
    };
  }
}

/**
 * Whether a command appends to its subject's stream. A resource's stream also holds its children: a flow's stream holds
 * its versions.
 */
export function writesToSubject({ subject, entity }: AnyCommand): boolean {
  return subject !== null && subject.entity.category === entity.category;
}

/** The refusal if the subject does not exist or the caller has no access to it. */
export function notFoundBy({ subject, entity }: AnyCommand, id: string): Failure {
  return notFound(subject?.entity.notFound ?? entity.notFound, id);
}

/** The revision of a resource in its stream, for `ETag` and `If-Match`. */
export function revisionOf({ entity }: AnyCommand, stream: StreamState<unknown>, id: string): number {
  return entity.revisionOf?.(stream.state, id) ?? stream.resourceRevision;
}

const changedSince = (expected: number, actual: number): Failure =>
  failure('precondition-failed', `If-Match asks for revision ${expected}; it is at ${actual}. Read it again.`);
