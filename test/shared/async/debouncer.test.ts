import assert from 'node:assert/strict';
import { Debouncer } from '#shared/async/debouncer.ts';
import { eventually } from '#test/support/fakes/in-memory-event-store.ts';

const longMilliseconds = 600_000;

describe('work that is deferred', () => {
  let done: string[];

  beforeEach(() => {
    done = [];
  });

  const deferred = (name: string, milliseconds: number) =>
    new Debouncer(milliseconds, async () => {
      done.push(name);
    });
  /** Timers that are due go first, in order. */
  const laterOne = async () => {
    deferred('later', 20).schedule();
    await eventually('a later one is done', () => done.at(-1) === 'later');
  };

  it('is done once for all who have asked, and again for who asks after it', async () => {
    const work = deferred('work', 1);
    work.schedule();
    work.schedule();
    assert.deepEqual(done, []);
    await laterOne();
    assert.deepEqual(done, ['work', 'later']);
    work.schedule();
    await eventually('it is done again', () => done.length === 3);
  });

  it('is done one after the other', async () => {
    const work = new Debouncer(longMilliseconds, async () => {
      done.push('begun');
      await Promise.resolve();
      done.push('ended');
    });
    await Promise.all([work.flush(), work.flush()]);
    assert.deepEqual(done, ['begun', 'ended', 'begun', 'ended']);
  });

  it('is not done later where it was done since', async () => {
    const work = deferred('work', 1);
    work.schedule();
    await work.flush();
    await laterOne();
    assert.deepEqual(done, ['work', 'later']);
  });

  it('is done at once alone after it was stopped', async () => {
    const work = deferred('work', 1);
    work.schedule();
    work.stop();
    work.schedule();
    await laterOne();
    assert.deepEqual(done, ['later']);
    await work.flush();
    assert.deepEqual(done, ['later', 'work']);
  });
});
