import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { describeFaults } from '#test/e2e/support/faulty-stores.ts';
import { answeredInTime } from '#test/e2e/support/settling-load.ts';
import { long } from '#test/support/run/long.ts';

describeFaults('nodes whose read store fails', (stores, ferret) => {
  let projectPath: string;
  before(async () => {
    projectPath = (await stores().newProject()).path;
  });

  /** Reads are refused in time. Commands are taken: keys and streams are in the event store. */
  async function expectReadsRefused(): Promise<void> {
    const [[read]] = await Promise.all([stores().askFor(projectPath), stores().expectNotReady('read-store')]);
    expectProblem(read, 503, 'unavailable');
    await stores().expectMore(2);
  }

  it('go on when it was killed and started again', async () => {
    await ferret.kill();
    await expectReadsRefused();
    await ferret.start();
    await stores().expectRecovery();
  });

  describe(`of every kind ${long}`, () => {
    it('go on when it was stopped and started again', async () => {
      await ferret.stop();
      await ferret.start();
      await stores().expectRecovery();
    });

    it('go on when it was frozen', async () => {
      ferret.freeze();
      try {
        await expectReadsRefused();
      } finally {
        ferret.thaw();
      }
      await stores().expectRecovery();
    });

    it('go on when connections to it are cut', async () => {
      const { control, projecting } = stores();
      for (let cut = 0; cut < 5; cut += 1) {
        control.documents.cut();
        projecting.documents.cut();
        await stores().expectMore(5);
        projecting.documents.cutAfter(5);
        await stores().expectMore(5);
        projecting.documents.cutAfter(Number.POSITIVE_INFINITY);
      }
      await stores().expectRecovery();
    });

    it('go on when its answers come too late', () => stores().bringLateAnswers('documents', expectReadsRefused));

    it('take commands while it is full, and refuse to read what it lacks', async () => {
      await ferret.stop();
      await ferret.startFull();
      await stores().expectMore(5);
      const { path, position } = await stores().newProject();
      const atLeast = { 'switchyard-min-position': position };
      const read = await answeredInTime(() => stores().client.get(path, atLeast), 'reading');
      expectProblem(read, 503, 'read-model-behind');
      expectStatus(await stores().client.get(projectPath), 200);
      await ferret.stop();
      await ferret.start();
      await stores().expectRecovery();
      expectStatus(await stores().client.get(path, atLeast), 200);
    });
  });
});
