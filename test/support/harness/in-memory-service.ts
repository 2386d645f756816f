import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { descendantKeysOf } from '#application/access/key-descendants.ts';
import { Claims } from '#application/commands/claims.ts';
import type { AnyCommand } from '#application/commands/command.ts';
import { commandOperation } from '#application/commands/command-handler.ts';
import { StreamWriter, type StreamWriterOptions } from '#application/commands/stream-writer.ts';
import type { Operation, OperationResult } from '#application/operations/operation.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { invokeOperation, type OperationInvocation } from './invoke-operation.ts';

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
