import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentHeld, Held, keptCount, keptNames } from '#exchange/held.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { currentOwner, currentWorkOwner, FairSlots, runFor, serviceOwner } from '#shared/async/fair-queue.ts';

describe('Held', () => {
  let held: Held;
  let released: string[];

  beforeEach(() => {
    held = new Held('one');
    released = [];
  });

  const add = (name: string) => held.add(() => released.push(name));

  describe('given two things that a request holds', () => {
    it('releases both once when the request ends, the newest first', () => {
      add('body');
      add('place');
      held.release();
      held.release();
      assert.deepEqual(released, ['place', 'body']);
    });

    it('releases one that is given back earlier only then', () => {
      add('body');
      const leavePlace = add('place');
      leavePlace();
      leavePlace();
      assert.deepEqual(released, ['place']);
      held.release();
      assert.deepEqual(released, ['place', 'body']);
    });

    it('releases the others when two of them throw, and throws the first error', () => {
      const fail = (message: string) =>
        held.add(() => {
          throw new Error(message);
        });
      add('body');
      fail('second');
      fail('first');
      add('place');
      assert.throws(() => held.release(), /first/);
      assert.deepEqual(released, ['place', 'body']);
    });

    it('releases what one adds while it is released', () => {
      held.add(() => add('late'));
      add('place');
      held.release();
      assert.deepEqual(released, ['place', 'late']);
    });
  });

  it('releases a hundred thousand parts', () => {
    for (let part = 0; part < 100_000; part += 1) add('part');
    held.release();
    assert.equal(released.length, 100_000);
  });

  it('releases immediately what is added after the end', () => {
    held.release();
    add('late');
    assert.deepEqual(released, ['late']);
  });

  describe('given a part that is kept', () => {
    it('releases it with the kept ones, after the request has ended', () => {
      add('place');
      const room = add('room');
      const kept = held.keep('settling append', room);
      held.release();
      assert.deepEqual(released, ['place']);
      kept.release();
      assert.deepEqual(released, ['place', 'room']);
    });

    it('lets the request give it back earlier, as before', () => {
      const room = add('room');
      const kept = held.keep('usage', room);
      room();
      kept.release();
      held.release();
      assert.deepEqual(released, ['room']);
    });

    it('keeps nothing that has been given back, and nothing of a request that has ended', () => {
      const given = add('given');
      given();
      const place = add('place');
      held.release();
      held.keep('usage', given, place).release();
      assert.deepEqual(released, ['given', 'place']);
    });

    it('belongs to the same project, and stays when the client leaves', () => {
      const kept = held.keep('usage', add('room'));
      held.leave();
      assert.equal(kept.owner, 'one');
      assert.equal(kept.hasLeft, false);
      kept.release();
    });
  });

  for (const name of keptNames) {
    it(`counts what is kept as “${name}” in /metrics until it is released`, async () => {
      const metrics = createMetrics();
      const before = keptCount(name);
      const row = async () => {
        const found = (await metrics.text())
          .split('\n')
          .find((line) => line.startsWith(`switchyard_kept{name="${name}"}`));
        return Number(found?.split(' ').at(-1));
      };
      const first = held.keep(name, add('room'));
      const second = held.keep(name);
      assert.equal(await row(), before + 2);
      first.release();
      first.release();
      assert.equal(await row(), before + 1);
      second.release();
      assert.equal(await row(), before);
      metrics.close();
    });
  }

  describe('given a client that leaves', () => {
    it('aborts the signal, also one that is asked for later', () => {
      const { left } = held;
      let calls = 0;
      left.addEventListener('abort', () => {
        calls += 1;
      });
      assert.equal(held.hasLeft, false);
      held.leave();
      held.leave();
      assert.equal(calls, 1);
      assert.equal(held.hasLeft, true);
      const late = new Held('one');
      late.leave();
      assert.equal(late.left.aborted, true);
    });

    it('holds everything until the request ends', () => {
      add('body');
      held.leave();
      assert.deepEqual(released, []);
      held.release();
      assert.deepEqual(released, ['body']);
    });
  });

  describe('given work that runs with it', () => {
    it('is the current one, also after the work has waited', async () => {
      const found = await held.run(async () => {
        await nextTurn();
        return currentHeld();
      });
      assert.equal(found, held);
    });

    it('gives its owner to the queues, and its new owner when the caller is known', async () => {
      const request = new Held(serviceOwner);
      await request.run(async () => {
        assert.equal(currentOwner(), serviceOwner);
        request.belongTo('one');
        await nextTurn();
        assert.equal(currentOwner(), 'one');
      });
      assert.equal(currentOwner(), serviceOwner);
    });

    it('takes and leaves a slot of its owner', async () => {
      const slots = new FairSlots({ maxSlotsOfOwner: 1, maxWaitingOfOwner: 0 });
      await held.run(async () => {
        const leave = await slots.enter(currentOwner());
        assert.ok(typeof leave === 'function');
        currentHeld().add(leave);
      });
      assert.equal(await slots.enter('one'), 'owner-waits');
      held.release();
      assert.equal(slots.taken, 0);
    });

    it('is not the current one of further work, which no client that leaves ends', () => {
      held.leave();
      held.run(() => {
        for (const owner of ['one', 'two']) {
          const current = runFor(owner, () => currentWorkOwner());
          assert.deepEqual(current, { owner, hasLeft: false });
        }
      });
    });
  });

  it('has an empty current one of the service outside of all requests', () => {
    assert.equal(currentHeld().owner, serviceOwner);
    assert.equal(currentHeld().hasLeft, false);
  });
});
