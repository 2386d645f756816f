import assert from 'node:assert/strict';
import { Debouncer } from '#shared/async/debouncer.ts';
import { currentOwner, runFor, serviceOwner } from '#shared/async/fair-queue.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const neverMs = 600_000;

describe('Debouncer', () => {
  let done: string[];

  beforeEach(() => {
    done = [];
  });

  const deferred = (name: string, milliseconds: number) =>
    new Debouncer(milliseconds, async () => {
      done.push(name);
    });
  /** Waits for a timer that starts after all due timers. */
  const laterTimer = async () => {
    deferred('later', 20).schedule();
    await eventually(() => done.at(-1) === 'later', 'a later timer fires');
  };

  it('works for the service, whichever project has requested it', async () => {
    const work = new Debouncer(1, async () => void done.push(currentOwner()));
    runFor('project', () => work.schedule());
    await eventually(() => done.length === 1, 'it runs');
    await runFor('project', () => work.flush());
    assert.deepEqual(done, [serviceOwner, serviceOwner]);
  });

  it('runs once for all requests before it, and again for a request after it', async () => {
    const work = deferred('work', 1);
    work.schedule();
    work.schedule();
    assert.deepEqual(done, []);
    await laterTimer();
    assert.deepEqual(done, ['work', 'later']);
    work.schedule();
    await eventually(() => done.length === 3, 'it runs again');
  });

  it('runs its work one after the other', async () => {
    const work = new Debouncer(neverMs, async () => {
      done.push('begun');
      await Promise.resolve();
      done.push('ended');
    });
    await Promise.all([work.flush(), work.flush()]);
    assert.deepEqual(done, ['begun', 'ended', 'begun', 'ended']);
  });

  it('drops a scheduled run when it was flushed in the meantime', async () => {
    const work = deferred('work', 1);
    work.schedule();
    await work.flush();
    await laterTimer();
    assert.deepEqual(done, ['work', 'later']);
  });

  it('runs only on flush after it was stopped', async () => {
    const work = deferred('work', 1);
    work.schedule();
    work.stop();
    work.schedule();
    await laterTimer();
    assert.deepEqual(done, ['later']);
    await work.flush();
    assert.deepEqual(done, ['later', 'work']);
  });

  it('leaves a run whose store never answers, and runs again', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const outcomes: string[] = [];
    const store = { save: (): Promise<void> => new Promise(() => undefined) };
    const work = new Debouncer(1_000, async (guard) => {
      const { save } = guard(store);
      await save().then(
        () => outcomes.push(`stored at ${time.now}`),
        (error: Error) => outcomes.push(`${error.name} at ${time.now}`),
      );
      work.schedule();
    });
    work.schedule();
    await time.pass(30_000);
    store.save = async () => undefined;
    await time.pass(3_000);
    work.stop();
    assert.deepEqual(outcomes, ['UnavailableError at 31000', 'stored at 32000', 'stored at 33000']);
  });
});
