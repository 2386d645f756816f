import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { describeFaults } from '#test/e2e/support/faulty-stores.ts';
import { long } from '#test/support/run/long.ts';

describeFaults('nodes whose event store fails', (stores) => {
  let projectPath: string;
  before(async () => {
    projectPath = (await stores().newProject()).path;
  });

  /** What needs the event store is refused in time; what does not goes on. */
  async function expectRefused(): Promise<void> {
    const [[read, created]] = await Promise.all([
      stores().askFor(projectPath),
      stores().expectNotReady('event-store'),
      stores().expectUnavailable(),
    ]);
    expectStatus(read, 200);
    expectProblem(created, 503, 'unavailable');
  }

  it('go on when it was killed and started again', async () => {
    await stores().double.order({ call: 'kill' });
    await expectRefused();
    await stores().double.order({ call: 'start' });
    await stores().expectRecovery();
  });

  describe(`of every kind ${long}`, () => {
    it('go on when it was stopped and started again', async () => {
      await stores().double.order({ call: 'stop' });
      await stores().double.order({ call: 'start' });
      await stores().expectRecovery();
    });

    it('go on when it was frozen', async () => {
      stores().double.freeze();
      try {
        await expectRefused();
      } finally {
        stores().double.thaw();
      }
      await stores().expectRecovery();
    });

    it('go on when connections are cut in the middle of appends', async () => {
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

    it('go on when connections are cut in the middle of subscriptions', async () => {
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

    it('go on when its answers come too late', () => stores().bringLateAnswers('events', expectRefused));

    it('go on when its answers are lost on the way', async () => {
      for (const { events } of [stores().control, stores().projecting]) events.mute();
      await stores().expectRecovery();
    });

    it('go on when it stores what it does not answer', async () => {
      await stores().double.order({ faults: { everyAppend: { kind: 'store-and-drop-answer' } } });
      await stores().expectUnavailable();
      await stores().double.order({ faults: { everyAppend: null } });
      await stores().expectRecovery();
    });
  });
});
