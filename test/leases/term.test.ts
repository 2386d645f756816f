import assert from 'node:assert/strict';
import { runTerm, type Term, type TermOptions } from '#leases/term.ts';
import { aborted, delay } from '#shared/async/timed-waits.ts';
import { TermLeftError } from '#shared/errors/fenced-error.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const never = () => new Promise<never>(() => undefined);

describe('A term', () => {
  let time: SimulatedTime;
  let ending: AbortController;
  let logged: string[];

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    ending = new AbortController();
    logged = [];
  });
  afterEach(() => time[Symbol.dispose]());

  const options = (): TermOptions => ({
    ...{ name: 'work', token: 7, signal: ending.signal, isHeld: () => true },
    log: {
      info: () => undefined,
      warn: (fields, message) => logged.push(`warn ${message}: ${fields.error}`),
      error: ({ lease, token }, message) => logged.push(`error ${message} (${lease} ${token})`),
    },
  });
  /** Runs work, and aborts the signal of its term after a second. @returns its outcome, and when it was known */
  const run = async (work: (term: Term) => Promise<void>) => {
    let outcome: unknown = 'running';
    let at = 0;
    const settled = (result: unknown) => {
      outcome = result;
      at = time.now;
    };
    void runTerm(options(), work).then(() => settled('ended'), settled);
    await time.pass(1_000);
    ending.abort();
    await time.pass(30_000);
    return { outcome, at };
  };

  it('waits for work that ends in time', async () => {
    const { outcome, at } = await run(async ({ signal }) => {
      await aborted(signal);
      await delay(9_000);
    });
    assert.deepEqual([outcome, at, logged], ['ended', 10_000, []]);
  });

  it('leaves work that does not end, and says so once', async () => {
    const { outcome, at } = await run(never);
    assert.deepEqual([outcome, at, logged.length], ['ended', 11_000, 1]);
    assert.match(logged.join(), /^error Work has not ended 10 s after its term and is left.*\(work 7\)$/);
  });

  it('ends the calls of work that is left, so that the work ends too', async () => {
    const seen: unknown[] = [];
    const { at } = await run(async (term) => {
      const port = term.guard({ read: never });
      await port.read().catch((error: unknown) => seen.push(error, time.now, term.isHeld()));
    });
    assert.equal(at, 11_000);
    assert.ok(seen[0] instanceof TermLeftError, `${seen[0]}`);
    assert.deepEqual(seen.slice(1), [11_000, false]);
  });

  it('has no effect after it was left, although a call succeeds late', async () => {
    const effects: string[] = [];
    const { at } = await run(async (term) => {
      const report = term.guard((effect: string) => effects.push(effect));
      report('early');
      await delay(20_000);
      report('late');
    });
    assert.deepEqual([at, effects, logged.length], [11_000, ['early'], 1]);
  });

  it('logs a late failure of work that was left, which ends nothing', async () => {
    const { outcome } = await run(async () => {
      await delay(20_000);
      throw new Error('The answer came late.');
    });
    assert.deepEqual([outcome, logged.length], ['ended', 2]);
    assert.equal(logged[1], 'warn Work that was left has failed: Error: The answer came late.');
  });

  it('closes its handle when the work has ended', async () => {
    const ports: Array<() => number> = [];
    await run(async ({ signal, guard }) => {
      ports.push(guard(() => 1));
      await aborted(signal);
    });
    assert.throws(() => ports[0]?.(), TermLeftError);
  });

  it('ends when a part of the work has failed, also if the rest does not end', async () => {
    const failed = new Error('A part has failed.');
    const { outcome, at } = await run(async ({ fail }) => {
      fail(failed);
      await never();
    });
    assert.deepEqual([outcome, at, logged.length], [failed, 10_000, 1]);
  });

  it('fails when its work ends before it', async () => {
    const { outcome } = await run(async () => undefined);
    assert.match(String(outcome), /ended unexpectedly/);
  });
});
