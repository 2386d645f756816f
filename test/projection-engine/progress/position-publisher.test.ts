import assert from 'node:assert/strict';
import { PositionPublisher } from '#projection-engine/progress/position-publisher.ts';
import type { ProjectionPositions } from '#projection-engine/progress/published-positions.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/fakes/in-memory-event-store.ts';

describe('teller of positions', () => {
  let ending: AbortController;
  let position: number;
  let told: number[];
  let warnings: string[];
  let running: Promise<void>;
  let beforeSave: () => Promise<void>;
  let teller: PositionPublisher;

  beforeEach(() => {
    ending = new AbortController();
    position = 0;
    told = [];
    warnings = [];
    beforeSave = async () => undefined;
  });
  afterEach(async () => {
    ending.abort();
    await running.catch(() => undefined);
  });

  const positions = (): ProjectionPositions => ({
    ready: true,
    projections: [{ name: 'flows', position, live: true }],
  });
  const save = async ({ projections }: ProjectionPositions) => {
    await beforeSave();
    told.push(projections[0]?.position ?? -1);
  };
  const start = () => {
    const log = {
      info: () => undefined,
      warn: (_: object, message: string) => warnings.push(message),
      error: assert.fail,
    };
    teller = new PositionPublisher({ save, positions, log });
    running = teller.run(ending.signal);
    running.catch(() => undefined);
  };
  const moveTo = (next: number) => {
    position = next;
    teller.changed();
  };

  it('tells at once where they stand, and each change', async () => {
    start();
    for (let next = 1; next <= 5; next += 1) {
      await eventually('it is told', () => told.at(-1) === next - 1);
      moveTo(next);
    }
    await eventually('the last is told', () => told.at(-1) === 5);
  });

  it('has one call under way, and tells the latest after it', async () => {
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
    await eventually('the latest is told', () => told.at(-1) === 100);
    assert.deepEqual(told, [0, 100]);
  });

  it('tells the same again once a second, and not sooner', async () => {
    start();
    await eventually('it is told', () => told.length === 1);
    const since = performance.now();
    while (told.length < 2) {
      teller.changed();
      await new Promise((wait) => setTimeout(wait, 5));
    }
    assert.ok(performance.now() - since > 900, `told again after ${performance.now() - since} ms`);
  });

  it('tells what has changed last when it ends', async () => {
    start();
    await eventually('it is told', () => told.length === 1);
    moveTo(7);
    ending.abort();
    await running;
    assert.deepEqual(told, [0, 7]);
  });

  it('tries again while the store is unavailable, and says so once', async () => {
    let failures = 3;
    beforeSave = async () => {
      failures -= 1;
      if (failures >= 0) throw new UnavailableError('It is down.');
    };
    start();
    await eventually('it is told', () => told.length === 1);
    assert.equal(warnings.length, 1);
  });

  it('rejects when another node tells it now', async () => {
    start();
    await eventually('it is told', () => told.length === 1);
    beforeSave = () => Promise.reject(new FencedError('Another node tells it.'));
    moveTo(1);
    await assert.rejects(running, FencedError);
  });
});
