import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { betweenPieces } from '#app/stores/between-pieces.ts';
import { endsAfter, immediate } from '#app/stores/call-limit.ts';
import { limited } from '#app/stores/limited.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { Random } from '../../worlds/random.ts';
import { SimulatedTime } from '../../worlds/simulated-time.ts';

describe('A port with limits', () => {
  let time: SimulatedTime;
  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
  });
  afterEach(() => time[Symbol.dispose]());

  it('gives answers and errors that come in time, and throws where none comes', async () => {
    const answers: ReadonlyArray<() => Promise<string>> = [
      () => delay(900).then(() => 'an answer'),
      () => delay(900).then(() => assert.fail('an error')),
      () => new Promise(() => undefined),
    ];
    const port = limited(
      { get: (which: number) => answers[which]?.() ?? 'no promise' },
      { name: 'It', calls: { get: 1_000 } },
    );
    const asked = Promise.allSettled([0, 1, 2, 3].map(async (which) => port.get(which)));
    await time.pass(2_000);

    const said = (await asked).map((one) => (one.status === 'fulfilled' ? one.value : one.reason));
    assert.deepEqual(said.map(String), [
      'an answer',
      'AssertionError [ERR_ASSERTION]: an error',
      'UnavailableError: It: get was not answered within 1 s.',
      'no promise',
    ]);
    assert.ok(said[2] instanceof UnavailableError);
  });

  it('lets a late error go', async () => {
    const port = limited(
      { get: () => delay(2_000).then(() => Promise.reject(new Error('late'))) },
      { name: 'It', calls: { get: 1_000 } },
    );
    const asked = assert.rejects(port.get(), UnavailableError);
    await time.pass(3_000);
    await asked;
  });

  it('takes the limit from what the call is given', async () => {
    const port = limited(
      { put: (items: ReadonlyArray<number>) => delay(100 * items.length).then(() => items.length) },
      { name: 'It', calls: { put: (items) => 50 + 60 * items.length } },
    );
    const asked = Promise.allSettled([port.put([1]), port.put([1, 2, 3])]);
    await time.pass(1_000);
    assert.deepEqual(
      (await asked).map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
  });

  it('passes by listeners and properties, and limits a port in a port', async () => {
    const port = {
      file: 'a file',
      changes: { onChange: (listener: () => void) => listener, wait: () => new Promise<void>(() => undefined) },
    };
    const wrapped = limited(port, {
      name: 'It',
      calls: { file: immediate, changes: { onChange: immediate, wait: 1_000 } },
    });
    const listener = () => undefined;
    assert.equal(wrapped.file, 'a file');
    assert.equal(wrapped.changes.onChange(listener), listener);
    const waiting = assert.rejects(wrapped.changes.wait(), /^UnavailableError: It: changes.wait was not/);
    await time.pass(1_000);
    await waiting;
  });

  it('ends a wait without a result, which ends the wait of the adapter', async () => {
    const signals: AbortSignal[] = [];
    const port = limited(
      { waitPast: (_: number, signal: AbortSignal) => new Promise<void>(() => void signals.push(signal)) },
      { name: 'It', calls: { waitPast: endsAfter(30_000) } },
    );
    const leaving = new AbortController();
    let ended = 0;
    for (const signal of [new AbortController().signal, leaving.signal])
      void port.waitPast(1, signal).then(() => {
        ended += 1;
      });
    await time.pass(1_000);
    leaving.abort();
    await time.pass(1_000);
    assert.deepEqual([ended, signals.map(({ aborted }) => aborted)], [1, [false, true]]);
    await time.pass(28_000);
    assert.deepEqual([ended, signals.map(({ aborted }) => aborted)], [2, [true, true]]);
  });

  it('ends a wait whose signal has aborted before, although the adapter never answers', async () => {
    const port = limited(
      { waitPast: (_: number, _signal: AbortSignal) => new Promise<void>(() => undefined) },
      { name: 'It', calls: { waitPast: endsAfter(30_000) } },
    );
    let hasEnded = false;
    void port.waitPast(1, AbortSignal.abort()).then(() => {
      hasEnded = true;
    });
    await time.pass(0);
    assert.ok(hasEnded);
  });
});

describe('A port with limits between pieces', () => {
  let time: SimulatedTime;
  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
  });
  afterEach(() => time[Symbol.dispose]());

  async function* pieces(pauses: ReadonlyArray<number>): AsyncGenerator<Buffer> {
    for (const pause of pauses) {
      await delay(pause);
      yield Buffer.from(`${pause} `);
    }
  }

  it('gives a stream that takes long as a whole, and ends one whose next piece does not come', async () => {
    const opened: Readable[] = [];
    const port = limited(
      {
        get: async (pauses: ReadonlyArray<number>) => {
          const stream = Readable.from(pieces(pauses), { objectMode: false, highWaterMark: 0 });
          opened.push(stream);
          return stream;
        },
      },
      { name: 'Files', calls: { get: betweenPieces(1_000) } },
    );
    const read = async (pauses: ReadonlyArray<number>) => String(await buffer(await port.get(pauses)));
    const whole = read([800, 800, 800]);
    const late = assert.rejects(read([800, 5_000]), /UnavailableError: Files: get was not answered within 1 s/);
    await time.pass(3_000);
    assert.equal(await whole, '800 800 800 ');
    await late;
    assert.deepEqual(
      opened.map(({ destroyed }) => destroyed),
      [true, true],
    );
  });

  it('closes the stream of the adapter with its own', async () => {
    const inner = Readable.from(pieces([0, 100_000]), { objectMode: false, highWaterMark: 0 });
    const port = limited({ get: async () => inner }, { name: 'Files', calls: { get: betweenPieces(1_000) } });
    const stream = await port.get();
    stream.once('data', () => stream.destroy());
    await time.pass(2_000);
    assert.ok(inner.destroyed);
  });

  it('ends a list whose next item does not come', async () => {
    const port = limited({ list: () => pieces([0, 2_000]) }, { name: 'Files', calls: { list: betweenPieces(1_000) } });
    const items: string[] = [];
    const listing = assert.rejects(async () => {
      for await (const item of port.list()) items.push(String(item));
    }, UnavailableError);
    await time.pass(3_000);
    await listing;
    assert.deepEqual(items, ['0 ']);
  });

  it('does not count how long the given content takes', async () => {
    const stored: string[] = [];
    const port = limited(
      {
        put: async (content: AsyncIterable<Uint8Array>, pause: number) => {
          for await (const piece of content) {
            await delay(pause);
            stored.push(String(piece));
          }
          return stored.length;
        },
      },
      { name: 'Files', calls: { put: betweenPieces(1_000) } },
    );
    const slow = port.put(pieces([5_000, 5_000]), 900);
    await time.pass(12_000);
    assert.equal(await slow, 2);
    const late = assert.rejects(port.put(pieces([5_000, 5_000]), 1_100), UnavailableError);
    await time.pass(20_000);
    await late;
    // The first piece was stored late. The adapter gets no second one.
    assert.equal(stored.length, 3);
  });
});
