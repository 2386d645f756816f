import assert from 'node:assert/strict';
import { RecordedNames } from '../../support/recordings/recorded-names.ts';
import {
  digestOf,
  type Exchange,
  type Recording,
  readRecordings,
  type Step,
  type SummaryOfAnswer,
  writeRecordings,
} from '../../support/recordings/recording.ts';

const isWriting = process.env.WRITE_FIXTURES === '1';

/** Headers that differ by the version of a client, by its machine or by its connection. */
const otherHeaders = /^(?:x-stainless-.*|user-agent|accept-language|sec-fetch-mode|content-length)$/;

/** The conversation whose client acts now. */
let acting: Tape | null = null;

/** Clients take the `fetch` that they find, some when they are made. */
const machineFetch = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  // A client of OpenAI tries `fetch` on a URL of data.
  return acting === null || !request.url.startsWith('http') ? machineFetch(input, init) : acting.fetch(request);
};

/**
 * Compares what the official clients of a suite send, and what they make of the answers, with its recordings.
 * `WRITE_FIXTURES=1` writes the recordings. Make it in the callback of `describe`.
 */
export class Recorder {
  readonly #recorded: ReadonlyMap<string, Recording>;
  readonly #tapes = new Map<string, Tape>();
  readonly #summaryOf: SummaryOfAnswer;

  constructor(suite: string, summaryOf: SummaryOfAnswer = digestOf) {
    this.#summaryOf = summaryOf;
    this.#recorded = readRecordings(suite);
    if (!isWriting) return;
    after(() => writeRecordings(suite, new Map(Array.from(this.#tapes, ([name, { steps }]) => [name, steps]))));
  }

  /** Records each test of the suite as one step, by its title. */
  recordTests(): void {
    const recorder = this;
    let tape: Tape;
    beforeEach(function () {
      tape = recorder.record(this.currentTest?.title ?? '');
      tape.begin();
    });
    afterEach(() => tape.end(null));
  }

  /** Begins a conversation. */
  record(name: string): Tape {
    const tape = new Tape(isWriting ? null : (this.#recorded.get(name) ?? []), this.#summaryOf);
    this.#tapes.set(name, tape);
    return tape;
  }
}

/** The recording of one conversation. */
export class Tape {
  readonly steps: Step[] = [];
  readonly #recorded: Recording | null;
  readonly #names = new RecordedNames();
  readonly #summaryOf: SummaryOfAnswer;
  #exchanges: Promise<Exchange>[] = [];

  /** @param recorded what must be the same; null for nothing */
  constructor(recorded: Recording | null, summaryOf: SummaryOfAnswer) {
    this.#recorded = recorded;
    this.#summaryOf = summaryOf;
  }

  /** Has the client act. @returns what it returns */
  async step<Result>(act: () => Promise<Result>): Promise<Result> {
    this.begin();
    try {
      const result = await act();
      await this.end(result);
      return result;
    } finally {
      acting = null;
    }
  }

  begin(): void {
    acting = this;
  }

  /** Ends a step. @throws AssertionError if it is not as the recorded one */
  async end(result: unknown): Promise<void> {
    acting = null;
    const exchanges = await Promise.all(this.#exchanges);
    this.#exchanges = [];
    const step = { exchanges, result: JSON.parse(this.#names.shorten(JSON.stringify(result ?? null))) };
    this.steps.push(step);
    const expected = this.#recorded === null ? step : this.#recorded[this.steps.length - 1];
    assert.deepEqual(step, expected, 'The client is not as its recording: WRITE_FIXTURES=1 npm run test:clients');
  }

  /** Sends a request, and keeps it with its answer. */
  async fetch(request: Request): Promise<Response> {
    const { method, url, headers } = request;
    // What they contain has its names before the request has.
    await Promise.all(this.#exchanges);
    const { pathname, search } = new URL(url);
    const body = await request.arrayBuffer();
    // The form data of each request has another one; of other bodies, what no text contains.
    const [, boundary = '\0'] = /boundary=(\S+)/.exec(headers.get('content-type') ?? '') ?? [];
    const sent = {
      method,
      path: this.#names.shorten(pathname + search),
      headers: Object.fromEntries(
        Array.from(headers, ([name, value]) => [name, value.replace(boundary, 'boundary')] as const).filter(
          ([name]) => !otherHeaders.test(name),
        ),
      ),
      body: this.#names.shorten(Buffer.from(body).toString().replaceAll(boundary, 'boundary')),
    };
    // Without its signal: a client that has seen an error aborts, and the rest of the answer counts, too.
    const answer = await machineFetch(url, { method, headers, ...(body.byteLength === 0 ? {} : { body }) });
    this.#exchanges.push(this.#read(sent, answer.clone()));
    return answer;
  }

  async #read(sent: Omit<Exchange, 'status' | 'answer'>, answer: Response): Promise<Exchange> {
    const text = await answer.text().catch((error) => `broken: ${error}`);
    const summary = this.#summaryOf(answer.headers.get('content-type'), this.#names.shorten(text));
    return { ...sent, status: answer.status, answer: summary };
  }
}
