import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '#shared/async/timed-waits.ts';
import type { Client, RawRequest, Reply } from '#test/support/service/client.ts';

/** After this time a request is sent to another node, because its node may hang. */
const answerMs = 4_000;
const retryDelayMs = 200;
/** From the first attempt of a request to its success. It only keeps a test from hanging. */
const settleMs = 120_000;

/**
 * A client that sends each request to one node after the other until one carries it out: a command with the same
 * `Idempotency-Key` and request id.
 */
export class AnyNode {
  /** The request ids of the commands that were acknowledged. */
  readonly acknowledged: string[] = [];
  readonly #clients: () => ReadonlyArray<Client>;
  #turn = 0;

  /** @param clients returns a client of each node that listens, with the same key */
  constructor(clients: () => ReadonlyArray<Client>) {
    this.#clients = clients;
  }

  /** Sends a command until it is acknowledged. @throws AssertionError when it is refused */
  async carryOut<T>(method: RawRequest['method'], path: string, body?: object): Promise<T> {
    const requestId = randomUUID();
    const headers = {
      'idempotency-key': randomUUID(),
      'x-request-id': requestId,
      ...(body && { 'content-type': 'application/json' }),
    };
    const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
    const answered = await this.settled<T>((client) => client.send<T>(request), `${method} ${path}`);
    this.acknowledged.push(requestId);
    return answered;
  }

  /**
   * Repeats a call on any node until it succeeds.
   * @param limitMs after which a node is given up
   * @throws AssertionError when it is refused
   */
  async settled<T>(call: (client: Client) => Promise<Reply<T>>, what: string, limitMs = answerMs): Promise<T> {
    const deadline = performance.now() + settleMs;
    for (let last = 'not answered'; performance.now() < deadline; await sleep(retryDelayMs)) {
      const reply = await this.ask(call, limitMs);
      if (reply === null) continue;
      if (reply.status < 300) return reply.body;
      last = `${reply.status} ${reply.text}`;
      assert.ok(isTemporary(reply), `${what} → ${last}`);
    }
    assert.fail(`${what} does not settle`);
  }

  /** Calls the next node. @returns null without an answer in time */
  async ask<T>(call: (client: Client) => Promise<Reply<T>>, limitMs = answerMs): Promise<Reply<T> | null> {
    const clients = this.#clients();
    this.#turn += 1;
    const client = clients[this.#turn % clients.length];
    if (client === undefined) return null;
    const answer = call(client).catch(() => null);
    return withTimeout(limitMs, answer, null);
  }
}

function isTemporary({ status, text }: Reply<unknown>): boolean {
  return status === 503 || /"too-many-conflicts"|"idempotency-key-in-progress"/.test(text);
}
