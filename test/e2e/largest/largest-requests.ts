import { randomUUID } from 'node:crypto';
import type { DocumentedOperations } from '#test/e2e/support/documented-operations.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import type { Client, RawRequest } from '#test/support/service/client.ts';
import { type BodySize, bodyOf, largestSize } from './largest-bodies.ts';
import type { Random } from './random-values.ts';

/** The limit of the headers of a request, as docs/security.md states it. */
export const maxHeaderBytes = 16 * 1024;
/** What a request without a body is filled to. Node counts the request line and the other headers too. */
const paddingBytes = Math.floor(0.92 * maxHeaderBytes);

type Parameters = Readonly<Record<string, string>>;

/** The operations that a service documents, each called with a body of a size, by default the largest. */
export class LargestRequests {
  readonly #client: Client;
  readonly #operations: DocumentedOperations;
  readonly #random: Random;
  readonly #size: BodySize;

  constructor(client: Client, operations: DocumentedOperations, random: Random, size = largestSize) {
    this.#client = client;
    this.#operations = operations;
    this.#random = random;
    this.#size = size;
  }

  /** As `DocumentedOperations.call`, with a body of the size. */
  async call<T = { readonly id: string }>(name: string, parameters: Parameters = {}, members: object = {}): Promise<T> {
    const reply = await this.#client.send<T>(this.requestOf(name, parameters, members));
    return expectStatus(reply, reply.status === 201 ? 201 : 200);
  }

  /** The request of an operation, with a body of the size or with large headers. @param members of the body that stay as they are */
  requestOf(name: string, parameters: Parameters = {}, members: object = {}): RawRequest {
    const { method } = this.#operations.named(name);
    const small = this.#operations.requestOf(name, parameters);
    const hasBody = method !== 'get' && method !== 'delete';
    if (!hasBody) return { ...small, headers: { ...small.headers, 'x-padding': 'p'.repeat(paddingBytes) } };
    const example = small.body === undefined ? {} : JSON.parse(String(small.body));
    const body = JSON.stringify(bodyOf(name, this.#random, this.#size, { example, given: { ...members } }));
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    return { ...small, headers, body };
  }
}
