import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { descendantKeysOf } from '#application/access/key-follower.ts';
import { Claims } from '#application/commands/claims.ts';
import type { AnyCommand } from '#application/commands/command.ts';
import { commandOperation } from '#application/commands/execute-command.ts';
import type { Operation } from '#application/operations/operation.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { ReadYourWrites } from '#application/operations/read-your-writes.ts';
import { StreamWriter, type StreamWriterOptions } from '#application/streams/stream-writer.ts';
import { defaultEndpointLimits, type EndpointLimits } from '#application/webhooks/endpoint-limits.ts';
import { EndpointPlaces } from '#application/webhooks/endpoint-places.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { noInput } from '#exchange/body.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { invokeOperation, type OperationInvocation } from './invoke-operation.ts';

/** A request of a test. The default caller is an admin. */
export interface CommandRequest {
  readonly caller?: Caller;
  readonly body?: JsonObject;
  readonly idempotencyKey?: string;
  readonly ifMatch?: number;
  readonly dryRun?: boolean;
  readonly loadBody?: OperationInvocation['loadBody'];
}

/** A successful result whose body is an object. */
export interface ObjectResult extends Omit<OperationResult, 'body'> {
  readonly body: Readonly<Record<string, Json>>;
}

/** What a test changes of a service in memory. */
export interface ServiceOptions extends Omit<StreamWriterOptions, 'store'> {
  readonly claimGraceMs?: number;
  /** Default: no wait. */
  readonly readYourWrites?: Pick<ReadYourWrites, 'wait'>;
  readonly endpointLimits?: EndpointLimits;
}

/** Commands on an event store in memory, with read models that never lag. */
export class Service {
  readonly store: AppendableEventStore;
  /** The last use of every API key. */
  readonly keyLastUsed = '2026-01-07T08:00:00.000Z';
  readonly documents: ReadModel;
  readonly writer: StreamWriter;
  readonly claims: Claims;
  readonly endpointPlaces: EndpointPlaces;
  readonly subjectKeys: InMemorySubjectKeys;
  readonly personalData: PersonalData;
  /** The events that commands waited for in the read models. */
  readonly shown: RecordedEvent[] = [];
  readonly #operations = new Map<AnyCommand, Operation>();
  readonly #readYourWrites: Pick<ReadYourWrites, 'wait'>;

  /** @param store the log of an earlier service, to continue on it */
  constructor(
    store = new AppendableEventStore(),
    { claimGraceMs, readYourWrites, endpointLimits: limits = defaultEndpointLimits, ...options }: ServiceOptions = {},
    subjectKeys = new InMemorySubjectKeys(),
  ) {
    this.store = store;
    this.#readYourWrites = readYourWrites ?? { wait: async (events) => void this.shown.push(...events) };
    this.documents = new ReadModel(store.log);
    this.writer = new StreamWriter({ store, ...options });
    this.claims = new Claims(this.writer, claimGraceMs);
    // The read models always contain every event.
    const positions = { hasPassed: () => true, isHalted: () => false, passed: async () => 'reached' as const };
    this.endpointPlaces = new EndpointPlaces({
      admission: new Admission(),
      documents: this.documents,
      positions,
      limits,
      timeoutMs: 0,
    });
    this.subjectKeys = subjectKeys;
    this.personalData = new PersonalData(subjectKeys);
  }

  /** A new service on the same log, without the state in memory. */
  restarted(): Service {
    return new Service(this.store, {}, this.subjectKeys);
  }

  /** Sends a request to a command. @param parameters the ids in its path */
  async send(
    command: AnyCommand,
    parameters: Readonly<Record<string, string>>,
    { caller = callerOf('admin'), body = {}, idempotencyKey, ifMatch, dryRun = false, loadBody }: CommandRequest = {},
  ): Promise<E.Either<Failure, OperationResult>> {
    const bodyHash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    return invokeOperation(this.#operation(command), {
      caller,
      parameters,
      loadBody: loadBody ?? (async () => E.right({ ...noInput, fields: { ...body, ...parameters }, bodyHash })),
      ifMatch: ifMatch ?? null,
      dryRun,
      idempotencyKey: idempotencyKey ?? null,
    });
  }

  /** Like `send`, and asserts success. */
  async ok(
    command: AnyCommand,
    parameters: Readonly<Record<string, string>>,
    sent?: CommandRequest,
  ): Promise<ObjectResult> {
    const answer = await this.send(command, parameters, sent);
    assert.ok(E.isRight(answer), JSON.stringify(answer));
    return answer.right as ObjectResult;
  }

  /** Like `send`, and asserts a refusal. @returns its code */
  async refusal(
    command: AnyCommand,
    parameters: Readonly<Record<string, string>>,
    sent?: CommandRequest,
  ): Promise<string> {
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
      batchesRun: async () => true,
      webhookUrlFault: async () => null,
      webhookTries: () => null,
      projection: async () => null,
      process: async () => null,
      failureAt: async () => null,
    };
    const { writer, claims, endpointPlaces, personalData } = this;
    const runtime = { writer, claims, endpointPlaces, lookup, personalData, readYourWrites: this.#readYourWrites };
    const operation = commandOperation(command, runtime);
    this.#operations.set(command, operation);
    return operation;
  }
}
