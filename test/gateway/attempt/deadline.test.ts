import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deadline } from '#gateway/attempt/deadline.ts';

describe('Deadline', () => {
  /** Resolves with the time in ms until the deadline runs out. */
  const ranOut = (act: (deadline: Deadline) => void) =>
    new Promise<number>((resolve) => {
      const started = performance.now();
      act(new Deadline(() => resolve(performance.now() - started)));
    });

  it('runs out after its time, and not before', async () => {
    assert.ok((await ranOut((deadline) => deadline.set(50))) >= 50);
  });

  it('runs out by the time that was set last', async () => {
    const passed = await ranOut((deadline) => {
      deadline.set(10);
      deadline.set(120);
    });
    assert.ok(passed >= 120);
  });

  it('never runs out once cleared, and runs out only once', async () => {
    let times = 0;
    const deadline = new Deadline(() => (times += 1));
    deadline.set(5);
    deadline.clear();
    await ranOut((other) => other.set(60));
    assert.equal(times, 0);
    deadline.set(5);
    await ranOut((other) => other.set(60));
    assert.equal(times, 1);
  });

  it('runs out after a time without any deadline, too', async () => {
    await ranOut((deadline) => deadline.set(1));
    await sleep(60);
    assert.ok((await ranOut((deadline) => deadline.set(1))) < 5_000);
  });

  it('runs out when others are cleared, also by the listener of another', async () => {
    const over: string[] = [];
    const [first, second, third] = ['first', 'second', 'third'].map((name) => new Deadline(() => over.push(name)));
    for (const each of [first, second, third]) each?.set(1);
    first?.clear();
    await ranOut((other) => other.set(60));
    assert.deepEqual(over.sort(), ['second', 'third']);

    let times = 0;
    const rivals = Array.from({ length: 3 }, (): Deadline => {
      const own: Deadline = new Deadline(() => {
        times += 1;
        for (const rival of rivals) if (rival !== own) rival.clear();
      });
      return own;
    });
    for (const rival of rivals) rival.set(1);
    await ranOut((other) => other.set(60));
    assert.equal(times, 1);
  });

  it('may be set again by its own listener', async () => {
    const times: string[] = [];
    await new Promise<void>((resolve) => {
      const second = new Deadline(() => resolve());
      new Deadline(() => {
        times.push('first');
        second.set(1);
      }).set(1);
    });
    assert.deepEqual(times, ['first']);
  });
});
