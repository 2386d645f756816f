import * as E from 'fp-ts/lib/Either.js';
import { describeOperation, type Operation } from '#application/operations/operation.ts';
import type { OperationRequest, OperationResult, ValidRequest } from '#application/operations/operation-request.ts';
import { EndpointCreation } from '#application/webhooks/endpoint-places.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { isConcealedFor } from '#domain/shared/scope.ts';
import { canAccess } from '#domain/shared/tenancy.ts';
import type { AnyCommand, LoadedStream } from './command.ts';
import type { CommandDependencies } from './command-dependencies.ts';
import { beginAttempt, type CommandAttempt, originOf, requestKeyOf } from './stages/command-attempt.ts';
import { CommandDecider, notFoundBy, writesToSubject } from './stages/command-decider.ts';
import { CommandRehearsal } from './stages/command-rehearsal.ts';
import { CommandResponder } from './stages/command-responder.ts';
import { type IdAlreadyUsed, type KeyMadeElsewhere, RunningRequests } from './stages/idempotency.ts';

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

/** Executes one command: stages 4 and 7 to 12 of `invoke`. */
class CommandHandler {
  readonly #definition: AnyCommand;
  readonly #runtime: CommandDependencies;
  readonly #decider: CommandDecider;
  readonly #responder: CommandResponder;
  readonly #rehearsal: CommandRehearsal;
  readonly #running = new RunningRequests();

  constructor(definition: AnyCommand, runtime: CommandDependencies) {
    this.#definition = definition;
    this.#runtime = runtime;
    this.#decider = new CommandDecider(definition, runtime);
    this.#responder = new CommandResponder(definition, runtime);
    this.#rehearsal = new CommandRehearsal(definition, runtime, this.#decider, this.#responder);
  }

  /** Stage 4. Access is checked from the stream itself, because a read model may lag. */
  async loadSubject({ caller, parameters }: OperationRequest): Promise<E.Either<Failure, LoadedStream<unknown>>> {
    const { subject, scope } = this.#definition;
    if (subject === null) return E.right({ state: null, tenant: null });
    const id = parameters[subject.parameter] ?? '';
    if (isConcealedFor(caller.keyType, scope)) return E.left(notFoundBy(this.#definition, id));
    const { writer } = this.#runtime;
    const isFound = ({ state, tenant }: LoadedStream<unknown>) =>
      tenant !== null && subject.entity.everExisted(state, id) && canAccess(caller, tenant);
    // A cached state is enough here, because the owner and the existence of a resource never change.
    const known = writesToSubject(this.#definition) ? await writer.loadKnown(subject.entity, id) : null;
    const { state, tenant } = known !== null && isFound(known) ? known : await writer.load(subject.entity, id);
    return isFound({ state, tenant }) ? E.right({ state, tenant }) : E.left(notFoundBy(this.#definition, id));
  }

  /** Stages 7 to 12, for one request of an `Idempotency-Key` at a time. */
  execute(valid: ValidRequest<LoadedStream<unknown>>): Promise<E.Either<Failure, OperationResult>> {
    const key = requestKeyOf(valid.request);
    return this.#running.run(key, () => this.#executeWithUnusedIds(valid, key));
  }

  /**
   * An `Idempotency-Key` may be used again after its first request has expired. Then the next ids that derive from it
   * are tried.
   */
  async #executeWithUnusedIds(
    valid: ValidRequest<LoadedStream<unknown>>,
    key: string | null,
  ): Promise<E.Either<Failure, OperationResult>> {
    for (let number = 0; ; ) {
      const attempt = await beginAttempt(this.#definition, this.#runtime.personalData, valid, key, number);
      const isTried = valid.request.dryRun === true;
      const result = await (isTried ? this.#rehearsal.rehearse(attempt) : this.#executeAttempt(attempt));
      if (E.isRight(result)) return result;
      if (!('kind' in result.left)) return E.left(result.left);
      if (result.left.kind === 'id-already-used') number += 1;
    }
  }

  async #executeAttempt(
    attempt: CommandAttempt,
  ): Promise<E.Either<Failure | IdAlreadyUsed | KeyMadeElsewhere, OperationResult>> {
    const written = await this.#write(attempt);
    // 11. Waiting for read models, 12. response
    if (E.isRight(written)) return this.#responder.respond(attempt, written.right);
    const { left } = written;
    if (!('kind' in left)) return E.left(left);
    return left.kind === 'replay' ? this.#responder.replay(attempt, left.remembered) : E.left(left);
  }

  async #write(attempt: CommandAttempt) {
    const { id, request, idempotency } = attempt;
    const { entity, endpointPlace } = this.#definition;
    const { writer, endpointPlaces } = this.#runtime;
    using creation = endpointPlace === 'taken' ? new EndpointCreation(endpointPlaces) : null;
    const written = await writer.write({
      entity,
      id,
      origin: originOf(request),
      ...(idempotency === null ? {} : { idempotency }),
      // 7. Idempotency, 8. decision
      decide: (stream) => this.#decider.decide(attempt, stream),
      // 9. Claim, then 10. append
      claim: (decision) => this.#decider.claim(attempt, decision, creation),
    });
    if (endpointPlace !== undefined && E.isRight(written)) endpointPlaces.see(written.right.events);
    return written;
  }
}
