import assert from 'node:assert/strict';
import { KeyTurns } from '#mcp/endpoint/key-turns.ts';

describe('turns of a key', () => {
  it('come one after another, and each key has its own', async () => {
    const turns = new KeyTurns(10_000);
    const first = await turns.enter('a');
    const order: string[] = [];
    const waiting = ['second', 'third'].map(async (name) => {
      const leave = await turns.enter('a');
      order.push(name);
      leave?.();
    });
    (await turns.enter('b'))?.();
    assert.deepEqual(order, []);
    first?.();
    await Promise.all(waiting);
    assert.deepEqual(order, ['second', 'third']);
    assert.notEqual(await turns.enter('a'), null);
  });

  it('are refused after their wait, or at once when ten wait, and the next one comes in order', async () => {
    const turns = new KeyTurns(50);
    const first = await turns.enter('a');
    const waiting = Array.from({ length: 10 }, () => turns.enter('a'));
    assert.equal(await turns.enter('a'), null);
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([null]));
    const next = turns.enter('a');
    first?.();
    assert.notEqual(await next, null);
  });
});
