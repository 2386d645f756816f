import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand, CommandEffects, NewSecrets } from '#application/commands/command.ts';
import type { CommandDependencies } from '#application/commands/command-dependencies.ts';
import type { WrittenResources } from '#application/commands/pending-resources.ts';
import type { RememberedRequest } from '#application/commands/remembered-requests.ts';
import type { StreamState } from '#application/commands/stream-state.ts';
import type { StreamWriteResult } from '#application/commands/streams/stream-write.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import { childId } from '#domain/shared/entity.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { type CommandAttempt, originOf } from './command-attempt.ts';
import { revisionOf } from './command-decider.ts';
import { type IdAlreadyUsed, idAlreadyUsed, isIdUsedBefore } from './idempotency.ts';
import { dataOf, loadOther } from './related-streams.ts';

/** Stages 11 and 12 of one command, after the append: its further effects, the wait, and the answer. */
export class CommandResponder {
  readonly #definition: AnyCommand;
  readonly #runtime: CommandDependencies;

  constructor(definition: AnyCommand, runtime: CommandDependencies) {
    this.#definition = definition;
    this.#runtime = runtime;
  }

  /**
   * Answers a completed write.
   * @throws UnavailableError
   */
  async respond(
    attempt: CommandAttempt,
    written: StreamWriteResult<unknown>,
  ): Promise<E.Either<Failure, OperationResult>> {
    const withheld = await this.#afterwards(attempt);
    if (withheld !== null) return E.left(withheld);
    const body = await this.body(attempt, written, attempt.newSecrets, written.events.length > 0);
    // 11. Waiting for read models
    const appended = await this.#eventsToWaitFor(attempt, written);
    await this.#runtime.readYourWrites.wait(appended, () => this.#writtenBy(attempt, written.stream));
    // 12. Response
    return E.right(this.#result(attempt, written.stream, body, appended.at(-1)?.position));
  }

  /**
   * Makes the answer of a remembered request again.
   * @throws UnavailableError
   */
  async replay(
    attempt: CommandAttempt,
    remembered: RememberedRequest,
  ): Promise<E.Either<Failure | IdAlreadyUsed, OperationResult>> {
    const { writer, readYourWrites } = this.#runtime;
    if (await isIdUsedBefore(this.#definition, writer, attempt, remembered)) return E.left(idAlreadyUsed);
    const { entity } = this.#definition;
    const { lastRevision } = remembered;
    // The first request may have crashed before this effect.
    const withheld = await this.#afterwards(attempt);
    if (withheld !== null) return E.left(withheld);
    const stream = await writer.loadAt(entity, attempt.id, lastRevision);
    const body = await this.body(attempt, { stream, events: [] }, null, true);
    // The first request may have crashed before it waited for the read models.
    const last = await writer.eventAt(entity, attempt.id, lastRevision);
    await readYourWrites.wait([last], () => this.#writtenBy(attempt, stream));
    return E.right({ ...this.#result(attempt, stream, body, last.position), isReplay: true });
  }

  /**
   * The body of an answer.
   * @param newSecrets null if the answer must not contain one
   * @param appended whether the request appended events
   * @throws UnavailableError
   */
  async body(
    { input, newIds, id }: CommandAttempt,
    { stream, events }: StreamWriteResult<unknown>,
    newSecrets: NewSecrets | null,
    appended: boolean,
  ): Promise<Json> {
    // `RequestAnswered` alone is not a change.
    const changed = appended && stream.resourceRevision === stream.revision;
    const { lookup } = this.#runtime;
    const dataAt = this.#dataOnce(id, events);
    return this.#definition.answer({ input, state: stream.state, changed, newIds, newSecrets, lookup, dataAt });
  }

  /** Reads the data of the stream's events. Each is read at most once; the appended ones are in memory. */
  #dataOnce(id: string, events: ReadonlyArray<RecordedEvent>): (revision: number) => Promise<JsonObject> {
    const read = new Map<number, Promise<JsonObject>>(
      events.map(({ revision, data }) => [revision, Promise.resolve(data)]),
    );
    return (revision) => {
      const data = read.get(revision) ?? dataOf(this.#runtime.writer, this.#definition.entity, id, revision);
      read.set(revision, data);
      return data;
    };
  }

  /** The appended events; without any, the newest event of the stream, because the read models may not show it yet. */
  async #eventsToWaitFor(
    { id }: CommandAttempt,
    { stream, events }: StreamWriteResult<unknown>,
  ): Promise<ReadonlyArray<RecordedEvent>> {
    if (events.length > 0) return events;
    return [await this.#runtime.writer.eventAt(this.#definition.entity, id, stream.revision)];
  }

  /** The resource that the command writes, and those that it may have created besides it. */
  #writtenBy({ id, newIds }: CommandAttempt, { tenant }: StreamState<unknown>): WrittenResources {
    const further = this.#definition.newId === undefined ? [] : [newIds.secondId];
    return { ids: [id, childId(id, newIds.suffix), ...further], tenant };
  }

  async #afterwards(attempt: CommandAttempt): Promise<Failure | null> {
    const { id, request } = attempt;
    return (await this.#definition.afterAppend?.(id, this.#effectsOf(attempt), request.caller)) ?? null;
  }

  #effectsOf({ request }: CommandAttempt): CommandEffects {
    const { personalData, writer } = this.#runtime;
    return {
      load: (entity, id) => loadOther(writer, entity, id),
      append: async (handling) => {
        const handled = await writer.write({ ...handling, origin: originOf(request) });
        if (E.isRight(handled)) return;
        const { code, detail, retryAfterSeconds } = handled.left;
        throw code === 'unavailable' ? new UnavailableError(detail, retryAfterSeconds) : new Error(detail);
      },
      erasePersonalData: (subject) => personalData.erase(subject),
    };
  }

  #result(
    { id }: CommandAttempt,
    stream: StreamState<unknown>,
    body: Json | undefined,
    position: number | undefined,
  ): OperationResult {
    const { http, output, withoutRevision } = this.#definition;
    const hasRevision = body !== null && output !== null && withoutRevision !== true;
    return {
      status: http.status,
      body: output === null ? undefined : body,
      ...(hasRevision ? { revision: revisionOf(this.#definition, stream, id) } : {}),
      ...(position === undefined ? {} : { position }),
    };
  }
}
