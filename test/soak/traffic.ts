import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { drawn } from './chance.ts';

/** What became of calls, counted. */
export interface Tally {
  /** By status; `left` for those that the caller left, `broken` for answers that ended early. */
  readonly counts: Map<string, number>;
  /** What must never be: the first few, for people. */
  readonly unexpected: string[];
}

interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Ms after which the caller leaves. */
  readonly leavesAfter?: number;
  /** Reads so slowly that the gateway must hold its provider back. */
  readonly readsSlowly?: boolean;
}

const callLimitMs = 60_000;
const mostUnexpected = 20;
/** What a call may be answered with; 500 is no answer of the gateway's, whatever a provider does. */
const expected = new Set([200, 400, 401, 404, 422, 429, 502, 503, 504]);

const messages = [{ role: 'user', content: 'Tell me something. '.repeat(40) }];
const models = ['plain', 'continued', 'whole'];
const boundary = 'boundary-of-the-soak';

/** Callers that call again and again, each in its own way, until they are told to stop. */
export class Traffic {
  readonly tally: Tally = { counts: new Map(), unexpected: [] };
  readonly #url: string;
  readonly #key: string;
  readonly #chance: () => number;
  #agent = new Agent({ keepAlive: true });

  constructor(url: string, key: string, chance: () => number) {
    this.#url = url;
    this.#key = key;
    this.#chance = chance;
  }

  /** Calls in so many lanes for a while. Ends with the last call's end, and closes its connections. */
  async run(lanes: number, milliseconds: number): Promise<void> {
    this.#agent = new Agent({ keepAlive: true });
    const end = performance.now() + milliseconds;
    const runLane = async () => {
      while (performance.now() < end) await this.#callOnce();
    };
    await Promise.all(Array.from({ length: lanes }, runLane));
    this.#agent.destroy();
  }

  async #callOnce(): Promise<void> {
    const call = this.#drawCall();
    const outcome = await this.#outcomeOf(call);
    this.tally.counts.set(outcome, (this.tally.counts.get(outcome) ?? 0) + 1);
  }

  #drawCall(): Call {
    const model = models[Math.floor(this.#chance() * models.length)] ?? '';
    const leavesAfter = this.#chance() * 60;
    const stream = this.#json('/v1/chat/completions', { model, messages, stream: true });
    const whole = this.#json('/v1/chat/completions', { model, messages });
    return drawn<() => Call>(
      [
        [30, () => stream],
        [20, () => whole],
        [10, () => ({ ...stream, leavesAfter })],
        [5, () => ({ ...whole, leavesAfter })],
        [3, () => ({ ...stream, readsSlowly: true })],
        [5, () => this.#json('/v1/audio/speech', { input: 'hello', voice: 'narrator' })],
        [2, () => ({ ...this.#json('/v1/audio/speech', { input: 'hello', voice: 'narrator' }), leavesAfter })],
        [5, () => this.#upload(this.#chance() * 3_000_000)],
        [2, () => ({ ...this.#upload(this.#chance() * 3_000_000), leavesAfter })],
        [2, () => this.#json('/v1/chat/completions', { model: 'unknown', messages })],
        [2, () => this.#json('/v1/chat/completions', { model, messages: 'none' })],
        [1, () => ({ ...whole, headers: { ...whole.headers, authorization: `Bearer sy_live_${'x'.repeat(40)}` } })],
      ],
      this.#chance,
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
      this.#unexpected(`${call.path} had no end after ${callLimitMs} ms`);
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
    const broke = () => resolve(call.leavesAfter === undefined ? 'broken' : 'left');
    req.once('error', (error: Error & { code?: string }) => {
      // A refusal may come before a body is sent to its end, and the connection close over it.
      if (call.leavesAfter === undefined) this.#unexpected(`${call.path}: ${error.code ?? error.message}`);
      broke();
    });
    req.once('response', (res) => {
      const { statusCode = 0 } = res;
      if (!expected.has(statusCode)) this.#unexpected(`${call.path} was answered with ${statusCode}`);
      if (call.readsSlowly) void readSlowly(res);
      else res.resume();
      res.once('error', broke);
      res.once('close', () => (res.complete ? resolve(String(statusCode)) : broke()));
    });
  }

  #unexpected(what: string): void {
    if (this.tally.unexpected.length < mostUnexpected) this.tally.unexpected.push(what);
  }
}

async function readSlowly(res: NodeJS.ReadableStream): Promise<void> {
  try {
    for await (const _ of res) await sleep(2);
  } catch {
    // How it ended is told by the answer itself.
  }
}
