import assert from 'node:assert/strict';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { PositionPublisher } from '#projection-engine/progress/position-publisher.ts';
import type { ProjectionPositions } from '#read-store/published-positions.ts';
import { replaceClock } from '#shared/clock.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

describe('PositionPublisher', () => {
  let ending: AbortController;
  let position: number;
  let saved: number[];
  let warnings: string[];
  let running: Promise<void>;
  let beforeSave: () => Promise<void>;
  let publisher: PositionPublisher;

  beforeEach(() => {
    ending = new AbortController();
    position = 0;
    saved = [];
    warnings = [];
    beforeSave = async () => undefined;
  });
  afterEach(async () => {
    ending.abort();
    await running.catch(() => undefined);
  });

  const positions = (): ProjectionPositions => ({
    ready: true,
    projections: [{ name: 'flows', position, live: true, generation: 1 }],
    statusChanges: 0,
    read: nothingRead,
  });
  const save = async ({ projections }: ProjectionPositions) => {
    await beforeSave();
    saved.push(projections[0]?.position ?? -1);
  };
  const start = () => {
    const log = {
      info: () => undefined,
      warn: (_: object, message: string) => warnings.push(message),
      error: assert.fail,
    };
    publisher = new PositionPublisher({ save, positions, log });
    running = publisher.run(ending.signal);
    running.catch(() => undefined);
  };
  const moveTo = (next: number) => {
    position = next;
    publisher.changed();
  };

  it('publishes the positions at its start and after each change', async () => {
    start();
    for (let next = 1; next <= 5; next += 1) {
      await eventually(() => saved.at(-1) === next - 1, 'the position is saved');
      moveTo(next);
    }
    await eventually(() => saved.at(-1) === 5, 'the last one is saved');
  });

  it('has one call under way at a time, and publishes the latest position after it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    beforeSave = () => {
      calls += 1;
      return calls === 1 ? promise : Promise.resolve();
    };
    start();
    for (let next = 1; next <= 100; next += 1) {
      moveTo(next);
      await new Promise((wait) => setImmediate(wait));
    }
    assert.equal(calls, 1);
    resolve();
    await eventually(() => saved.at(-1) === 100, 'the latest one is saved');
    assert.deepEqual(saved, [0, 100]);
  });

  it('publishes unchanged positions once a second, and not more often', async () => {
    const times: number[] = [];
    beforeSave = async () => void times.push(performance.now());
    start();
    while (saved.length < 2) {
      publisher?.changed();
      await new Promise((wait) => setTimeout(wait, 5));
    }
    const [first = 0, second = 0] = times;
    assert.ok(second - first > 900, `saved again after ${second - first} ms`);
  });

  it('publishes unchanged positions also when the time since the last publication is rounded', async () => {
    const savedAt = 75.84209602844805;
    // The difference of these numbers is less than 1000.
    const dueAt = savedAt + 1000;
    let asked = 0;
    const now = () => {
      asked += 1;
      assert.ok(asked < 100, 'it asks for the time without a wait');
      return asked === 1 ? savedAt : dueAt;
    };
    const putBack = replaceClock({ ...new SimulatedTime(new Random(1)).clock, now });
    try {
      start();
      await new Promise((wait) => setImmediate(wait));
      assert.deepEqual(saved, [0, 0]);
      ending.abort();
      await running;
    } finally {
      putBack();
    }
  });

  it('publishes the last change when it ends', async () => {
    start();
    await eventually(() => saved.length === 1, 'the position is saved');
    moveTo(7);
    ending.abort();
    await running;
    assert.deepEqual(saved, [0, 7]);
  });

  it('retries while the read store is unavailable, and warns once', async () => {
    let failures = 3;
    beforeSave = async () => {
      failures -= 1;
      if (failures >= 0) throw new UnavailableError('It is down.');
    };
    start();
    await eventually(() => saved.length === 1, 'the position is saved');
    assert.equal(warnings.length, 1);
  });

  it('rejects when another node has taken over publishing', async () => {
    start();
    await eventually(() => saved.length === 1, 'the position is saved');
    beforeSave = () => Promise.reject(new FencedError('Another node publishes the positions.'));
    moveTo(1);
    await assert.rejects(running, FencedError);
  });
});
