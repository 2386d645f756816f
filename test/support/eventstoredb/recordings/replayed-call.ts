import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { type Client, credentials, Metadata, type ServiceError, type StatusObject } from '@grpc/grpc-js';
import {
  appendRequestMessage,
  batchAppendRequestMessage,
  deleteRequestMessage,
  readRequestMessage,
  type TranslatePosition,
  tombstoneRequestMessage,
} from '#test/support/eventstoredb/calls/request-messages.ts';
import { messageJson } from './message-json.ts';
import type { JsonMessage, RecordedLine } from './recordings.ts';

const answerLimitMs = 4_000;

/** The common members of all kinds of running calls. */
interface Emitter {
  on(event: 'data', listener: (message: object) => void): unknown;
  on(event: 'status', listener: (status: StatusObject) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  cancel(): void;
}

/** Clients of each service of a server; close them. */
export class RawClients {
  readonly streams: StreamsClient;
  readonly features: ServerFeaturesClient;
  readonly gossip: GossipClient;

  /** @param address host and port */
  constructor(address: string) {
    const insecure = credentials.createInsecure();
    const options = { 'grpc.max_receive_message_length': -1 };
    this.streams = new StreamsClient(address, insecure, options);
    this.features = new ServerFeaturesClient(address, insecure, options);
    this.gossip = new GossipClient(address, insecure, options);
  }

  close(): void {
    for (const client of [this.streams, this.features, this.gossip] as ReadonlyArray<Client>) client.close();
  }
}

/** A repeated call of a recording. */
export class ReplayedCall {
  readonly method: string;
  readonly answers: JsonMessage[] = [];
  status: StatusObject | null = null;
  isHalfClosed = false;
  readonly #clients: RawClients;
  readonly #translate: TranslatePosition;
  readonly #metadata = new Metadata();
  #emitter: Emitter | null = null;
  #write: (json: JsonMessage, isLate: boolean) => void = () => assert.fail('Nothing may be sent.');
  #halfClose: () => void = () => {};

  /** @param needsLeader whether the call requires a leader */
  constructor(method: string, clients: RawClients, translate: TranslatePosition, needsLeader: boolean) {
    this.method = method;
    if (needsLeader) this.#metadata.set('requires-leader', 'true');
    this.#clients = clients;
    this.#translate = translate;
    if (method.endsWith('Streams/Append')) this.#openAppend();
    if (method.endsWith('Streams/BatchAppend')) this.#openBatchAppend();
  }

  /** @param isLate whether the recorded answer says that the deadline had passed */
  send(line: RecordedLine, isLate: boolean): void {
    if (line.message !== undefined) {
      if (this.#emitter === null) this.#start(line.message);
      else this.#write(line.message, isLate);
    }
    if (line.halfClose) this.#halfClose();
    this.isHalfClosed ||= line.halfClose === true;
  }

  /**
   * Waits for the next answer; in a batch, for the one with the same correlation id, because their order may differ.
   * @throws AssertionError when there is none
   */
  async nextAnswer(recorded: JsonMessage): Promise<JsonMessage> {
    const id = JSON.stringify(recorded.correlationId);
    const place = () => this.answers.findIndex((answer) => JSON.stringify(answer.correlationId) === id);
    await this.#until(() => place() >= 0 || this.status !== null, 'answer');
    const [answer] = place() < 0 ? [] : this.answers.splice(place(), 1);
    assert.ok(answer, `The call ended (${JSON.stringify(this.status)}) where an answer was recorded.`);
    return answer;
  }

  /** How the server ended the call. @throws AssertionError when it does not */
  async ended(): Promise<StatusObject> {
    await this.#until(() => this.status !== null, 'end');
    return this.status as StatusObject;
  }

  cancel(): void {
    this.#emitter?.cancel();
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    const end = performance.now() + answerLimitMs;
    while (!condition()) {
      assert.ok(performance.now() < end, `No ${what} to ${this.method} came.`);
      await sleep(1);
    }
  }

  #listen(emitter: Emitter): void {
    this.#emitter = emitter;
    emitter.on('status', (status) => {
      this.status = status;
    });
    // The client receives it together with the status.
    emitter.on('error', () => {});
  }

  #openAppend(): void {
    const call = this.#clients.streams.append(this.#metadata, this.#answered);
    this.#listen(call);
    this.#write = (json) => call.write(appendRequestMessage(json));
    this.#halfClose = () => call.end();
  }

  #openBatchAppend(): void {
    const call = this.#clients.streams.batchAppend();
    this.#listen(call);
    call.on('data', (message: object) => this.answers.push(messageJson(message)));
    this.#write = (json, isLate) =>
      call.write(batchAppendRequestMessage(json, new Date(Date.now() + (isLate ? -1_000 : 10_000))));
    this.#halfClose = () => call.end();
  }

  #start(json: JsonMessage): void {
    this.#listen(this.#called(json));
  }

  #called(json: JsonMessage): Emitter {
    const { streams, features, gossip } = this.#clients;
    const name = this.method.split('.').at(-1);
    switch (name) {
      case 'Streams/Read': {
        const call = streams.read(readRequestMessage(json, this.#translate), this.#metadata);
        return call.on('data', (message: object) => this.answers.push(messageJson(message)));
      }
      case 'Streams/Delete':
        return streams.delete(deleteRequestMessage(json), this.#answered);
      case 'Streams/Tombstone':
        return streams.tombstone(tombstoneRequestMessage(json), this.#answered);
      case 'ServerFeatures/GetSupportedMethods':
        return features.getSupportedMethods(new shared.Empty(), this.#answered);
      case 'Gossip/Read':
        return gossip.read(new shared.Empty(), this.#answered);
      default:
        return assert.fail(`No call of ${this.method} is known.`);
    }
  }

  #answered = (_error: ServiceError | null, message: object | undefined): void => {
    if (message !== undefined) this.answers.push(messageJson(message));
  };
}
