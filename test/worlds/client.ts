import * as E from 'fp-ts/lib/Either.js';
import type { Caller } from '#domain/shared/access.ts';
import { noInput } from '#exchange/body.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { Random } from './random.ts';
import type { SimulatedTime } from './simulated-time.ts';
import { type Answer, isPassing, type WorldNode } from './world-node.ts';

/** A request of a client. */
export interface ClientRequest {
  readonly operation: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

export interface ClientOptions {
  readonly time: SimulatedTime;
  readonly random: Random;
  readonly caller: Caller;
  /** The nodes that run now. */
  readonly nodes: () => ReadonlyArray<WorldNode>;
  readonly note: (line: string) => void;
}

/** How long a client waits for an answer. */
const answerMs = 12_000;
const retryMs = 500;

/** A client of a world. It repeats a request with its idempotency key, on any node, until it knows the answer. */
export class WorldClient {
  readonly #options: ClientOptions;
  #requests: { count: number };

  constructor(options: ClientOptions, requests = { count: 0 }) {
    this.#options = options;
    this.#requests = requests;
  }

  /** The same client with another key. */
  as(caller: Caller): WorldClient {
    return new WorldClient({ ...this.#options, caller }, this.#requests);
  }

  /** @returns the body of the answer; null for a refusal */
  async send({ operation, parameters = {}, body = {} }: ClientRequest): Promise<JsonObject | null> {
    this.#requests.count += 1;
    const { time, random, caller, nodes, note } = this.#options;
    const idempotencyKey = `request-${this.#requests.count}`;
    const loadBody = async () =>
      E.right({
        ...noInput,
        fields: { ...body, ...parameters },
        bodyHash: JSON.stringify({ operation, body, parameters }),
      });
    for (;;) {
      const running = nodes();
      if (running.length === 0) {
        await time.wait(retryMs);
        continue;
      }
      const node = random.pick(running);
      const answer = await Promise.race([
        node.call(operation, { caller, parameters, idempotencyKey, loadBody }).catch((error: unknown) => ({ error })),
        time.wait(answerMs).then(() => null),
      ]);
      if (answer !== null && !('error' in answer) && !isPassing(answer)) {
        note(`${time.now.toFixed(3)} ${operation} ${idempotencyKey} ${textOf(answer)}`);
        return E.isRight(answer) ? ((answer.right.body ?? {}) as JsonObject) : null;
      }
      await time.wait(retryMs * random.next());
    }
  }
}

function textOf(answer: Answer): string {
  return E.isRight(answer) ? 'done' : `${answer.left.code}: ${answer.left.detail}`;
}
