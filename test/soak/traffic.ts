import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { pickWeighted } from './random.ts';

/** The number of calls by outcome. */
export interface TrafficReport {
  /** By status; `left` for calls that the client left, `broken` for answers that ended early. */
  readonly counts: Map<string, number>;
  /** The first unexpected outcomes, described for people. */
  readonly unexpected: string[];
}

interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The time in ms after which the client disconnects. */
  readonly leavesAfter?: number;
  /** Whether the client reads so slowly that the gateway must apply back-pressure to the provider. */
  readonly readsSlowly?: boolean;
}

const callLimitMs = 60_000;
const maxUnexpected = 20;
/** The expected statuses. The gateway never answers 500, whatever a provider does. */
const expected = new Set([200, 400, 401, 404, 422, 429, 502, 503, 504]);

const messages = [{ role: 'user', content: 'Tell me something. '.repeat(40) }];
const models = ['plain', 'continued', 'whole'];
const boundary = 'boundary-of-the-soak';

/** Clients that send random calls, one after the other. */
export class Traffic {
  readonly report: TrafficReport = { counts: new Map(), unexpected: [] };
  readonly #url: string;
  readonly #key: string;
  readonly #random: () => number;
  #agent = new Agent({ keepAlive: true });

  constructor(url: string, key: string, random: () => number) {
    this.#url = url;
    this.#key = key;
    this.#random = random;
  }

  /** Runs this many clients for a time. Resolves when the last call has ended and its connections are closed. */
  async run(clients: number, milliseconds: number): Promise<void> {
    this.#agent = new Agent({ keepAlive: true });
    const end = performance.now() + milliseconds;
    const runClient = async () => {
      while (performance.now() < end) await this.#callOnce();
    };
    await Promise.all(Array.from({ length: clients }, runClient));
    this.#agent.destroy();
  }

  async #callOnce(): Promise<void> {
    const call = this.#randomCall();
    const outcome = await this.#outcomeOf(call);
    this.report.counts.set(outcome, (this.report.counts.get(outcome) ?? 0) + 1);
  }

  #randomCall(): Call {
    const model = models[Math.floor(this.#random() * models.length)] ?? '';
    const leavesAfter = this.#random() * 60;
    const stream = this.#json('/v1/chat/completions', { model, messages, stream: true });
    const whole = this.#json('/v1/chat/completions', { model, messages });
    return pickWeighted<() => Call>(
      [
        [30, () => stream],
        [20, () => whole],
        [10, () => ({ ...stream, leavesAfter })],
        [5, () => ({ ...whole, leavesAfter })],
        [3, () => ({ ...stream, readsSlowly: true })],
        [5, () => this.#json('/v1/audio/speech', { input: 'hello', voice: 'narrator' })],
        [2, () => ({ ...this.#json('/v1/audio/speech', { input: 'hello', voice: 'narrator' }), leavesAfter })],
        [3, () => this.#json('/v1/embeddings', { model, input: 'hello' })],
        [5, () => this.#upload(this.#random() * 3_000_000)],
        [2, () => ({ ...this.#upload(this.#random() * 3_000_000), leavesAfter })],
        [2, () => this.#json('/v1/chat/completions', { model: 'unknown', messages })],
        [2, () => this.#json('/v1/chat/completions', { model, messages: 'none' })],
        [1, () => ({ ...whole, headers: { ...whole.headers, authorization: `Bearer sy_live_${'x'.repeat(40)}` } })],
      ],
      this.#random,
    )();
  }

  #json(path: string, body: object): Call {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' };
    return { path, headers, body: Buffer.from(JSON.stringify(body)) };
  }

  #upload(bytes: number): Call {
    const part = (name: string, more = '') =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(`${part('file', '; filename="a.wav"')}`),
      Buffer.alloc(bytes, 0x44),
      Buffer.from(`\r\n${part('model')}plain\r\n--${boundary}--\r\n`),
    ]);
    const headers = {
      authorization: `Bearer ${this.#key}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    };
    return { path: '/v1/audio/transcriptions', headers, body };
  }

  async #outcomeOf(call: Call): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const req = request(this.#url + call.path, {
      method: 'POST',
      agent: this.#agent,
      headers: { ...call.headers, 'content-length': String(call.body.length) },
    });
    const limit = setTimeout(() => {
      this.#unexpected(`${call.path} had not ended after ${callLimitMs} ms`);
      req.destroy();
    }, callLimitMs);
    if (call.leavesAfter !== undefined) setTimeout(() => req.destroy(), call.leavesAfter);
    this.#receive(req, call, resolve);
    req.end(call.body);
    const outcome = await promise;
    clearTimeout(limit);
    return outcome;
  }

  #receive(req: ClientRequest, call: Call, resolve: (outcome: string) => void): void {
    const resolveBroken = () => resolve(call.leavesAfter === undefined ? 'broken' : 'left');
    req.once('error', (error: Error & { code?: string }) => {
      // A refusal may arrive, and close the connection, before the whole body is sent.
      if (call.leavesAfter === undefined) this.#unexpected(`${call.path}: ${error.code ?? error.message}`);
      resolveBroken();
    });
    req.once('response', (res) => {
      const { statusCode = 0 } = res;
      if (!expected.has(statusCode)) this.#unexpected(`${call.path} was answered with ${statusCode}`);
      if (call.readsSlowly) void readSlowly(res);
      else res.resume();
      res.once('error', resolveBroken);
      res.once('close', () => (res.complete ? resolve(String(statusCode)) : resolveBroken()));
    });
  }

  #unexpected(what: string): void {
    if (this.report.unexpected.length < maxUnexpected) this.report.unexpected.push(what);
  }
}

async function readSlowly(res: NodeJS.ReadableStream): Promise<void> {
  try {
    for await (const _ of res) await sleep(2);
  } catch {
    // The response reports how it ended.
  }
}
