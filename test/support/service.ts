import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/failure.ts';
import type { Caller } from '#domain/tenancy.ts';
import { Claims } from '#event-store/claims.ts';
import { StreamWriter, type StreamWriterOptions } from '#event-store/command-handler.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { AnyCommand } from '#operations/command.ts';
import { commandOperation } from '#operations/execute-command.ts';
import type { Operation, OperationResult } from '#operations/operation.ts';
import { descendantKeysOf } from '#src/access/key-descendants.ts';
import type { Json, JsonObject } from '#src/json.ts';
import { PersonalData } from '#src/subject-keys/personal-data.ts';
import { AppendableEventStore } from '#test/support/appendable-event-store.ts';
import { InMemorySubjectKeys } from '#test/support/in-memory-subject-keys.ts';
import { invokeOperation, type OperationInvocation } from '#test/support/invoke-operation.ts';
import { ReadModel } from '#test/support/read-model.ts';
import { callerOf } from '#test/support/story.ts';

/** What a test sends; the caller is an admin unless said. */
export interface Sent {
  readonly caller?: Caller;
  readonly body?: JsonObject;
  readonly idempotencyKey?: string;
  readonly ifMatch?: number;
  readonly loadBody?: OperationInvocation['loadBody'];
}

/** An answer, its body known to be an object. */
export interface Answered extends Omit<OperationResult, 'body'> {
  readonly body: Readonly<Record<string, Json>>;
}

/** Commands on an event store in memory, with read models that never lag. */
export class Service {
  readonly store: AppendableEventStore;
  /** When every key was last used. */
  readonly keyLastUsed = '2026-01-07T08:00:00.000Z';
  readonly documents: ReadModel;
  readonly handler: StreamWriter;
  readonly claims: Claims;
  readonly subjectKeys: InMemorySubjectKeys;
  readonly personalData: PersonalData;
  /** What answers waited for the read models to show. */
  readonly shown: RecordedEvent[] = [];
  readonly #operations = new Map<AnyCommand, Operation>();

  /** @param store the log of a service that ended, to begin on what it left */
  constructor(
    store = new AppendableEventStore(),
    options: Omit<StreamWriterOptions, 'store'> = {},
    subjectKeys = new InMemorySubjectKeys(),
  ) {
    this.store = store;
    this.documents = new ReadModel(store.log);
    this.handler = new StreamWriter({ store, ...options });
    this.claims = new Claims(this.handler);
    this.subjectKeys = subjectKeys;
    this.personalData = new PersonalData(subjectKeys);
  }

  /** A new process on the same log: nothing in memory is left. */
  restarted(): Service {
    return new Service(this.store, {}, this.subjectKeys);
  }

  /** Sends a request to a command. @param parameters the ids in its path */
  async send(
    command: AnyCommand,
    parameters: Readonly<Record<string, string>>,
    { caller = callerOf('admin'), body = {}, idempotencyKey, ifMatch, loadBody }: Sent = {},
  ): Promise<E.Either<Failure, OperationResult>> {
    const bodyHash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    return invokeOperation(this.#operation(command), {
      caller,
      parameters,
      loadBody: loadBody ?? (async () => E.right({ fields: { ...body, ...parameters }, bodyHash })),
      ifMatch: ifMatch ?? null,
      idempotencyKey: idempotencyKey ?? null,
    });
  }

  /** As `send`, of what must succeed. */
  async ok(command: AnyCommand, parameters: Readonly<Record<string, string>>, sent?: Sent): Promise<Answered> {
    const answer = await this.send(command, parameters, sent);
    assert.ok(E.isRight(answer), JSON.stringify(answer));
    return answer.right as Answered;
  }

  /** The code of the refusal that a request must meet. */
  async refusal(command: AnyCommand, parameters: Readonly<Record<string, string>>, sent?: Sent): Promise<string> {
    const answer = await this.send(command, parameters, sent);
    assert.ok(E.isLeft(answer), JSON.stringify(answer));
    return answer.left.code;
  }

  #operation(command: AnyCommand): Operation {
    const known = this.#operations.get(command);
    if (known !== undefined) return known;
    const lookup = {
      keyLastUsed: async () => this.keyLastUsed,
      descendantKeys: (keyId: string, limit: number) => descendantKeysOf(keyId, this.documents, limit),
      exists: async (collection: string, where: Readonly<Record<string, string>>) =>
        (await this.documents.list(collection, where, { limit: 1, maxBytes: 1 })).documents.length > 0,
      projection: async () => null,
      process: async () => null,
    };
    const waitForReadModels = async (events: ReadonlyArray<RecordedEvent>) => void this.shown.push(...events);
    const { handler, claims, personalData } = this;
    const runtime = { handler, claims, lookup, personalData, waitForReadModels };
    const operation = commandOperation(command, runtime);
    this.#operations.set(command, operation);
    return operation;
  }
}
