import assert from 'node:assert/strict';
import { SerialTurns } from '#shared/async/serial-turns.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const never = () => new Promise<never>(() => undefined);

describe('SerialTurns', () => {
  let time: SimulatedTime;
  let turns: SerialTurns;
  let seen: string[];

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    turns = new SerialTurns('The work', 30_000);
    seen = [];
  });
  afterEach(() => time[Symbol.dispose]());

  const note = (what: string) => void seen.push(`${what} at ${time.now}`);

  it('runs one piece after the other, also after one has failed', async () => {
    const failing = turns.run(async () => {
      await delay(1_000);
      throw new Error('It has failed.');
    });
    const refused = assert.rejects(failing, /It has failed/);
    const next = turns.run(async () => note('next'));
    await time.pass(10_000);
    await Promise.all([refused, next]);
    assert.deepEqual(seen, ['next at 1000']);
  });

  it('leaves a piece that does not end, and runs the next one', async () => {
    const left = assert.rejects(turns.run(never), new UnavailableError('The work took longer than 30 s and was left.'));
    const next = turns.run(async () => note('next'));
    await time.pass(60_000);
    await Promise.all([left, next]);
    assert.deepEqual(seen, ['next at 30000']);
  });

  it('ends a piece whose call is never answered before the next one begins', async () => {
    const left = turns.run(async (guard) => {
      await guard({ read: never })
        .read()
        .catch(() => note('left'));
    });
    const refused = assert.rejects(left, UnavailableError);
    const next = turns.run(async () => note('next'));
    await time.pass(60_000);
    await Promise.all([refused, next]);
    assert.deepEqual(seen, ['left at 30000', 'next at 30000']);
  });

  it('refuses the late calls of a piece that was left', async () => {
    const left = turns.run(async (guard) => {
      const store = guard({ save: async () => note('saved') });
      await store.save();
      await delay(40_000);
      await store.save().catch(() => undefined);
    });
    const refused = assert.rejects(left, UnavailableError);
    await time.pass(60_000);
    await refused;
    assert.deepEqual(seen, ['saved at 0']);
  });
});
