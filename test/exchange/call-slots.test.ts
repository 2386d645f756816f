import assert from 'node:assert/strict';
import { type CallSlot, CallSlots } from '#exchange/call-slots.ts';
import { eventually } from '#test/support/run/eventually.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async (count: number) => {
  for (let index = 0; index < count; index += 1) await turn();
};

describe('CallSlots', () => {
  const never = new AbortController().signal;

  it('gives out no more slots than it has', async () => {
    const slots = new CallSlots(2);
    const given: CallSlot[] = [];
    for (let index = 0; index < 5; index += 1) {
      void slots.acquire('p', 'b', never).then((slot) => slot !== null && given.push(slot));
    }
    await turns(20);
    assert.equal(given.length, 2);
    given[0]?.release();
    given[0]?.release();
    await turns(20);
    assert.equal(given.length, 3);
  });

  it('serves projects in turn, and the batches of a project in turn', async () => {
    const slots = new CallSlots(1);
    const order: string[] = [];
    const first = await slots.acquire('hog', 'h0', never);
    const ask = (project: string, batch: string) =>
      void slots.acquire(project, batch, never).then((slot) => {
        order.push(batch);
        slot?.release();
      });
    for (let index = 0; index < 4; index += 1) ask('hog', 'h1');
    for (let index = 0; index < 2; index += 1) ask('hog', 'h2');
    ask('small', 's1');
    ask('small', 's1');
    first?.release();
    await turns(60);
    assert.deepEqual(order, ['h1', 's1', 'h2', 's1', 'h1', 'h2', 'h1', 'h1']);
  });

  it('gives a refused project no slot until one of its calls ends or the time is over, and others theirs', async () => {
    const slots = new CallSlots(3);
    const running = await slots.acquire('refused', 'r', never);
    (await slots.acquire('refused', 'r', never))?.refuse(60_000);
    const given: string[] = [];
    for (const project of ['refused', 'refused', 'other'])
      void slots.acquire(project, project, never).then((slot) => {
        given.push(project);
        if (project === 'refused') slot?.refuse(given.length < 3 ? 20 : 0);
      });
    await turns(20);
    assert.deepEqual(given, ['other']);
    running?.release();
    await turns(20);
    assert.deepEqual(given, ['other', 'refused']);
    await eventually(() => given.length === 3, 'the end of the pause');
  });

  it('forgets projects and batches that have left', async () => {
    const slots = new CallSlots(1);
    const held = await slots.acquire('p', 'b', never);
    const leaving = new AbortController();
    const left = slots.acquire('p', 'b', leaving.signal);
    const stays = slots.acquire('p', 'c', never);
    leaving.abort();
    assert.equal(await left, null);
    held?.release();
    assert.ok(await stays);
    assert.equal(await slots.acquire('p', 'b', leaving.signal), null);
  });
});
