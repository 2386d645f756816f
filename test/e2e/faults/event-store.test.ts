import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { describeFaults } from '#test/e2e/support/faulty-stores.ts';
import { expectQuickAnswers } from '#test/e2e/support/quick-answers.ts';
import { long } from '#test/support/run/long.ts';

describeFaults('nodes whose event store fails', (stores) => {
  let projectPath: string;
  before(async () => {
    projectPath = (await stores().newProject()).path;
  });

  /** Requests that need the event store are refused in time; all others succeed. */
  async function expectRefused(): Promise<void> {
    const [[read, created]] = await Promise.all([
      stores().readAndWrite(projectPath),
      stores().expectNotReady('event-store'),
      stores().expectUnavailable(),
    ]);
    expectStatus(read, 200);
    expectProblem(created, 503, 'unavailable');
  }

  /** The service knows that the event store is away, so no request waits for a timeout. */
  async function expectRefusedAtOnce(): Promise<void> {
    const { client, url } = stores().control.service;
    const create = () => client.post(`${projectPath}/flows`, { name: 'F', flowSchema: {} });
    const refused = await create();
    expectProblem(refused, 503, 'unavailable');
    assert.ok(refused.headers['retry-after']);
    await expectQuickAnswers(100, create);
    const ready = async () => (await fetch(`${url}/readyz`)).text();
    assert.match(await ready(), /The event store cannot be read: /);
    await expectQuickAnswers(50, ready);
  }

  it('recovers after the event store was killed and restarted', async () => {
    await stores().double.order({ call: 'kill' });
    await expectRefused();
    await expectRefusedAtOnce();
    await stores().double.order({ call: 'start' });
    await stores().expectRecovery();
  });

  describe(`further faults ${long}`, () => {
    it('recovers after the event store was stopped and restarted', async () => {
      await stores().double.order({ call: 'stop' });
      await stores().double.order({ call: 'start' });
      await stores().expectRecovery();
    });

    it('recovers after the event store was frozen', async () => {
      stores().double.freeze();
      try {
        await expectRefused();
        await expectRefusedAtOnce();
      } finally {
        stores().double.thaw();
      }
      await stores().expectRecovery();
    });

    it('recovers after connections were cut during appends', async () => {
      for (let cut = 0; cut < 5; cut += 1) {
        await stores().double.order({
          faults: { nextAppends: [{ kind: 'store-and-cut' }, { kind: 'store-and-cut' }] },
        });
        await stores().expectMore(5);
        stores().control.events.cut();
        await stores().expectMore(5);
      }
      await stores().expectRecovery();
    });

    it('recovers after connections were cut during subscriptions', async () => {
      const { events } = stores().projecting;
      for (let cut = 0; cut < 5; cut += 1) {
        events.cut();
        await stores().expectMore(5);
        events.cutAfter(3);
        await stores().expectMore(5);
        events.cutAfter(Number.POSITIVE_INFINITY);
        await stores().double.order({ call: 'dropSubscribers' });
      }
      await stores().expectRecovery();
    });

    it('recovers after the event store answered too late', () => stores().delayAnswers('events', expectRefused));

    it('recovers after answers of the event store were lost in the network', async () => {
      for (const { events } of [stores().control, stores().projecting]) events.dropAnswers();
      await stores().expectRecovery();
    });

    it('recovers after the event store stored appends without answering', async () => {
      await stores().double.order({ faults: { everyAppend: { kind: 'store-and-drop-answer' } } });
      await stores().expectUnavailable();
      await stores().double.order({ faults: { everyAppend: null } });
      await stores().expectRecovery();
    });
  });
});
