import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { PortHandle } from '#shared/async/port-handle.ts';

class Log {
  #end = 0;
  freed = 0;
  readonly changes = { waitPast: async (position: number) => position + this.#end };
  readonly identity = { first: 'one' };
  readonly times = new Map([['one', 1]]);

  get end(): number {
    return this.#end;
  }

  append(count: number): Promise<number> {
    this.#end += count;
    return Promise.resolve(this.#end);
  }

  silent(): Promise<never> {
    return new Promise(() => undefined);
  }

  async *read(): AsyncGenerator<number> {
    try {
      for (let position = 1; position <= this.#end; position += 1) yield position;
    } finally {
      this.freed += 1;
    }
  }

  async open(): Promise<AsyncIterable<number>> {
    return this.read();
  }
}

class ClosedError extends Error {}

async function listOf(positions: AsyncIterable<number>): Promise<ReadonlyArray<number>> {
  const list: number[] = [];
  for await (const position of positions) list.push(position);
  return list;
}

describe('PortHandle', () => {
  let handle: PortHandle;
  let log: Log;
  let guarded: Log;

  beforeEach(() => {
    handle = new PortHandle(() => new ClosedError('It is closed.'));
    log = new Log();
    guarded = handle.guard(log);
  });

  it('passes calls, members and pieces until it is closed', async () => {
    assert.equal(await guarded.append(3), 3);
    assert.equal(guarded.end, 3);
    assert.equal(await guarded.changes.waitPast(4), 7);
    assert.deepEqual([await listOf(guarded.read()), log.freed], [[1, 2, 3], 1]);
    assert.deepEqual(await listOf(await guarded.open()), [1, 2, 3]);
    assert.ok(guarded instanceof Log);
  });

  it('passes plain data as it is, because a proxy of it cannot be copied to another thread', () => {
    assert.equal(guarded.identity, log.identity);
    assert.equal(guarded.times, log.times);
  });

  it('makes one handle for each port and for each of its methods', () => {
    assert.equal(handle.guard(log), guarded);
    assert.equal(guarded.append, guarded.append);
    assert.equal(guarded.changes, guarded.changes);
  });

  it('refuses every call after it was closed, also those of methods that were taken before', async () => {
    const { append } = guarded;
    const report = handle.guard((position: number) => position);
    assert.equal(report(1), 1);
    handle.close();
    assert.throws(() => guarded.append(1), ClosedError);
    assert.throws(() => append(1), ClosedError);
    assert.throws(() => guarded.changes.waitPast(1), ClosedError);
    assert.throws(() => report(1), ClosedError);
    assert.equal(log.end, 0);
  });

  it('answers a call that runs when it is closed, and refuses one that runs when it is abandoned', async () => {
    const answered = guarded.append(2);
    handle.close();
    assert.equal(await answered, 2);

    const next = new PortHandle(() => new ClosedError('It is closed.'));
    const running = [next.guard(log).silent(), next.guard(log).append(1)];
    next.abandon();
    for (const call of running) await assert.rejects(call, ClosedError);
  });

  it('ends a stream between two pieces, and frees what the port holds for it', async () => {
    await guarded.append(3);
    const seen: number[] = [];
    const reading = async () => {
      for await (const position of guarded.read()) {
        seen.push(position);
        if (position === 2) handle.close();
      }
    };
    await assert.rejects(reading, ClosedError);
    assert.deepEqual([seen, log.freed], [[1, 2], 1]);
  });

  it('ends a readable stream between two pieces, and destroys it', async () => {
    const source = Readable.from(['one', 'two', 'three'], { objectMode: false });
    const content = handle.guard({ get: async () => source });
    const seen: string[] = [];
    const reading = async () => {
      for await (const piece of await content.get()) {
        seen.push(String(piece));
        handle.close();
      }
    };
    await assert.rejects(reading, ClosedError);
    assert.deepEqual([seen, source.destroyed], [['one'], true]);
  });

  it('destroys a readable stream that nobody reads', async () => {
    const source = Readable.from(['one']);
    const content = handle.guard({ get: () => source }).get();
    content.destroy();
    await once(source, 'close');
    assert.equal(source.destroyed, true);
  });

  it('frees a stream that its reader leaves', async () => {
    await guarded.append(3);
    for await (const position of guarded.read()) if (position === 2) break;
    assert.equal(log.freed, 1);
  });
});
