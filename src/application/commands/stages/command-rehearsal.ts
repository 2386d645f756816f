import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { AnyCommand } from '#application/commands/command.ts';
import type { CommandDependencies } from '#application/commands/command-dependencies.ts';
import { type DryRun, describeRehearsal, type RehearsedWrite } from '#application/commands/dry-run.ts';
import type { RememberedRequest } from '#application/commands/remembered-requests.ts';
import type { StreamWriteResult } from '#application/commands/streams/stream-write.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { defaultMaxAppendBytes } from '#event-store/event-store.ts';
import type { Json } from '#shared/json/json.ts';
import { type CommandAttempt, originOf } from './command-attempt.ts';
import type { CommandDecider } from './command-decider.ts';
import type { CommandResponder } from './command-responder.ts';
import { type IdAlreadyUsed, idAlreadyUsed, isIdUsedBefore, type KeyMadeElsewhere } from './idempotency.ts';
import { dataOf } from './related-streams.ts';

/** Stages 7 to 12 of a dry run: nothing is claimed, appended or awaited. */
export class CommandRehearsal {
  readonly #definition: AnyCommand;
  readonly #runtime: CommandDependencies;
  readonly #decider: CommandDecider;
  readonly #responder: CommandResponder;

  constructor(
    definition: AnyCommand,
    runtime: CommandDependencies,
    decider: CommandDecider,
    responder: CommandResponder,
  ) {
    this.#definition = definition;
    this.#runtime = runtime;
    this.#decider = decider;
    this.#responder = responder;
  }

  /**
   * Returns the events and the answer that the attempt would have.
   * @throws UnavailableError
   */
  async rehearse(
    attempt: CommandAttempt,
  ): Promise<E.Either<Failure | IdAlreadyUsed | KeyMadeElsewhere, OperationResult>> {
    const { id, request } = attempt;
    const { entity } = this.#definition;
    const { writer, maxAppendBytes = defaultMaxAppendBytes } = this.#runtime;
    const rehearsed = await writer.rehearse(
      { entity, id, origin: originOf(request), decide: (stream) => this.#decider.decide(attempt, stream) },
      maxAppendBytes,
    );
    if (E.isRight(rehearsed)) return this.#answer(attempt, rehearsed.right);
    const { left } = rehearsed;
    if (!('kind' in left)) return E.left(left);
    return left.kind === 'replay' ? this.#answerAgain(attempt, left.remembered) : E.left(left);
  }

  async #answer(
    attempt: CommandAttempt,
    rehearsed: RehearsedWrite<unknown> & StreamWriteResult<unknown>,
  ): Promise<E.Either<Failure, OperationResult>> {
    const taken = await this.#decider.checkClaims(attempt, rehearsed.stream.tenant);
    if (taken !== null) return E.left(taken);
    const { entity } = this.#definition;
    const { stream, events } = rehearsed;
    const body = await this.#responder.body(attempt, { stream, events }, null, events.length > 0);
    const dataAt = (revision: number) => dataOf(this.#runtime.writer, entity, attempt.id, revision);
    return E.right(this.#result(await describeRehearsal(entity, rehearsed, dataAt, attempt.personalTexts), body));
  }

  /** Answers a remembered request, which would append no event. */
  async #answerAgain(
    attempt: CommandAttempt,
    remembered: RememberedRequest,
  ): Promise<E.Either<Failure | IdAlreadyUsed | KeyMadeElsewhere, OperationResult>> {
    const { writer } = this.#runtime;
    if (await isIdUsedBefore(this.#definition, writer, attempt, remembered)) return E.left(idAlreadyUsed);
    const stream = await writer.loadAt(this.#definition.entity, attempt.id, remembered.lastRevision);
    return E.right(this.#result([], await this.#responder.body(attempt, { stream, events: [] }, null, true)));
  }

  #result(events: t.TypeOf<typeof DryRun>['events'], body: Json): OperationResult {
    const answer = this.#definition.output === null ? null : body;
    return { status: 200, body: { dryRun: true, events: events as unknown as Json, answer } };
  }
}
