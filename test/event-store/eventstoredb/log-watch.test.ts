import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { LogWatch } from '#event-store/eventstoredb/log/log-watch.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const { signal } = new AbortController();

describe('LogWatch', () => {
  /** The reads of the end so far, and the time of the newest one. */
  let asked: number;
  let askedAt: number;
  /** The subscriptions that are open. */
  let open: number;
  /** Called when a subscription is stopped. */
  let onStop: () => void;

  beforeEach(() => {
    [asked, askedAt, open] = [0, 0, 0];
    onStop = () => undefined;
  });

  function watch(answer: () => Promise<unknown>): LogWatch {
    return new LogWatch({
      askForEnd: () => {
        asked += 1;
        askedAt = clock.now();
        return answer();
      },
      askedAt: () => askedAt,
      wakeUps: {
        pollMs: 10,
        start: () => {
          open += 1;
          return () => {
            open -= 1;
            onStop();
          };
        },
      },
      onForeign: () => {},
    });
  }

  it('closes although the server has not answered a read of the end', async () => {
    const log = watch(() => new Promise(() => {}));
    const waiting = log.waitPast(1, signal);
    await eventually(() => asked === 1);
    const refused = assert.rejects(waiting, UnavailableError);
    await log.close();
    await refused;
    assert.equal(open, 0);
  });

  it('asks for the end as long as somebody waits, also while the server fails', async () => {
    const log = watch(() => (asked < 5 ? Promise.reject(new Error('It is down.')) : Promise.resolve(log.notify(2))));
    await log.waitPast(1, signal);
    assert.equal(asked, 5);
    await log.close();
  });

  it('does not ask for the end while others ask for it', async () => {
    const log = watch(async () => {});
    const ending = new AbortController();
    askedAt = performance.now() + 60_000;
    const waiting = log.waitPast(1, ending.signal);
    await sleep(100);
    assert.equal(asked, 0);
    ending.abort();
    await waiting;
    await log.close();
  });

  it('watches again for whoever waits after it has stopped', async () => {
    const log = watch(async () => {});
    for (let round = 1; round <= 2; round += 1) {
      const ending = new AbortController();
      const waiting = log.waitPast(1, ending.signal);
      await eventually(() => open === 1);
      ending.abort();
      await waiting;
      await eventually(() => open === 0, 'it stops');
    }
    const asks = asked;
    const waiting = log.waitPast(1, signal);
    await eventually(() => asked > asks);
    log.notify(2);
    await waiting;
    await log.close();
  });

  it('watches for a wait that begins while it stops', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    let isWoken = false;
    let end = 1;
    const log = watch(async () => log.notify(end));
    const first = new AbortController();
    const waiting = log.waitPast(1, first.signal);
    onStop = () => {
      onStop = () => undefined;
      // In the turn in which the watch has decided to end, a follower waits again.
      queueMicrotask(() => void log.waitPast(1, signal).then(() => (isWoken = true)));
    };
    await time.pass(100);
    first.abort();
    await waiting;
    await time.pass(5_000);
    end = 2;
    await time.pass(500);
    assert.ok(isWoken);
    const closing = log.close();
    await time.pass(500);
    await closing;
  });

  it('asks again when a read of the end is not answered', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const log = watch(async () => (asked === 1 ? new Promise(() => undefined) : log.notify(2)));
    let isWoken = false;
    void log.waitPast(1, signal).then(() => (isWoken = true));
    await time.pass(20_000);
    assert.ok(isWoken);
    const closing = log.close();
    await time.pass(500);
    await closing;
  });
});
