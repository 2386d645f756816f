import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamTurns } from '#application/streams/stream-turns.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const soon = () => performance.now() + 5_000;

/** A task that ends when it is released. */
function held() {
  let release = () => {};
  const ended = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { task: () => ended, release: () => release() };
}

/** Runs a task in its turn on a stream. */
async function run<Result>(turns: StreamTurns, stream: string, deadline: number, task: () => Promise<Result>) {
  await turns.begin(stream, deadline);
  try {
    return await task();
  } finally {
    turns.end(stream);
  }
}

describe('StreamTurns', () => {
  it('runs the tasks of a stream one after another in order', async () => {
    const turns = new StreamTurns();
    const seen: string[] = [];
    const task = (name: string) => async () => {
      seen.push(`${name} begins`);
      await sleep(1);
      seen.push(`${name} ends`);
      return name;
    };
    const results = await Promise.all(['a', 'b', 'c'].map((name) => run(turns, 'flow-1', soon(), task(name))));
    assert.deepEqual(results, ['a', 'b', 'c']);
    assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('runs tasks of different streams concurrently', async () => {
    const turns = new StreamTurns();
    const first = held();
    const running = run(turns, 'flow-1', soon(), first.task);
    assert.equal(await run(turns, 'flow-2', soon(), async () => 'done'), 'done');
    first.release();
    await running;
  });

  it('runs the next task when one fails', async () => {
    const turns = new StreamTurns();
    const failing = run(turns, 'flow-1', soon(), () => Promise.reject(new Error('no')));
    const after = run(turns, 'flow-1', soon(), async () => 'done');
    await assert.rejects(failing, /no/);
    assert.equal(await after, 'done');
  });

  it('rejects a task beyond the limit of waiting tasks', async () => {
    const turns = new StreamTurns(2);
    const first = held();
    const running = run(turns, 'flow-1', soon(), first.task);
    const waiting = [1, 2].map((number) => run(turns, 'flow-1', soon(), async () => number));
    await assert.rejects(
      run(turns, 'flow-1', soon(), async () => 3),
      UnavailableError,
    );
    first.release();
    await running;
    assert.deepEqual(await Promise.all(waiting), [1, 2]);
    assert.equal(await run(turns, 'flow-1', soon(), async () => 4), 4);
  });

  it('rejects a task that has not begun at its deadline, and runs those behind it', async () => {
    const turns = new StreamTurns();
    const first = held();
    const running = run(turns, 'flow-1', soon(), first.task);
    let ran = false;
    const late = run(turns, 'flow-1', performance.now() + 20, async () => {
      ran = true;
    });
    const behind = run(turns, 'flow-1', soon(), async () => 'done');
    await assert.rejects(late, UnavailableError);
    first.release();
    await running;
    assert.equal(await behind, 'done');
    assert.equal(ran, false);
  });
});
