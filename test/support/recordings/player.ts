import assert from 'node:assert/strict';
import { RecordedNames } from './recorded-names.ts';
import {
  digestOf,
  type Exchange,
  type Recording,
  readRecordings,
  type Step,
  type SummaryOfAnswer,
} from './recording.ts';

/** Plays the recordings of a suite in place of its official clients. `npm run test:clients` runs these. */
export class Recordings {
  readonly #all: ReadonlyMap<string, Recording>;
  readonly #summaryOf: SummaryOfAnswer;

  constructor(suite: string, summaryOf: SummaryOfAnswer = digestOf) {
    this.#summaryOf = summaryOf;
    this.#all = readRecordings(suite);
  }

  get names(): ReadonlyArray<string> {
    return [...this.#all.keys()];
  }

  /** Begins a conversation. */
  play(name: string): Player {
    const recording = this.#all.get(name);
    assert.ok(recording, `No client is recorded in “${name}”: WRITE_FIXTURES=1 npm run test:clients`);
    return new Player(recording, this.#summaryOf);
  }
}

/** Sends what an official client sent, and expects the answers that it read. */
export class Player {
  readonly #steps: Iterator<Step>;
  readonly #names = new RecordedNames();
  readonly #summaryOf: SummaryOfAnswer;

  constructor(recording: Recording, summaryOf: SummaryOfAnswer) {
    this.#summaryOf = summaryOf;
    this.#steps = recording.values();
  }

  /**
   * Plays the next step.
   * @param url of the service
   * @returns what the client made of the answers
   */
  async step<Result>(url: string, send: typeof fetch = fetch): Promise<Result> {
    const { exchanges, result } = this.#steps.next().value ?? assert.fail('the recording has no further step');
    for (const exchange of exchanges) await this.#play(exchange, url, send);
    return JSON.parse(this.#names.restore(JSON.stringify(result))) as Result;
  }

  async #play({ method, path, headers, body, status, answer }: Exchange, url: string, send: typeof fetch) {
    const sent = body === '' ? {} : { body: this.#names.restore(body) };
    const got = await send(url + this.#names.restore(path), { method, headers, ...sent });
    const text = await got.text().catch((error) => `broken: ${error}`);
    const summary = this.#summaryOf(got.headers.get('content-type'), this.#names.shorten(text));
    assert.deepEqual(
      [got.status, summary],
      [status, answer],
      `Its client has not read this answer to ${method} ${path} (WRITE_FIXTURES=1 npm run test:clients): ${got.status} ${text}`,
    );
  }
}
