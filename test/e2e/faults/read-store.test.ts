import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { describeFaults } from '#test/e2e/support/faulty-stores.ts';
import { expectQuickAnswers } from '#test/e2e/support/quick-answers.ts';
import { answeredInTime } from '#test/e2e/support/settling-load.ts';
import { long } from '#test/support/run/long.ts';

describeFaults('nodes whose read store fails', (stores, mongoDb) => {
  let projectPath: string;
  before(async () => {
    projectPath = (await stores().newProject()).path;
  });

  /** Reads are refused in time. Commands succeed, because keys and streams are in the event store. */
  async function expectReadsRefused(): Promise<void> {
    const [[read]] = await Promise.all([stores().readAndWrite(projectPath), stores().expectNotReady('read-store')]);
    expectProblem(read, 503, 'unavailable');
    await stores().expectMore(2);
  }

  /** The service knows that the read store is away, so no request waits for a timeout. */
  async function expectRefusedAtOnce(): Promise<void> {
    const { client, url } = stores().control.service;
    const read = await client.get(projectPath);
    expectProblem(read, 503, 'unavailable');
    assert.ok(read.headers['retry-after']);
    await expectQuickAnswers(100, () => client.get(projectPath));
    const ready = async () => (await fetch(`${url}/readyz`)).text();
    assert.match(await ready(), /MongoDB cannot be used: [^"]*READ_STORE_URL/);
    await expectQuickAnswers(50, ready);
  }

  it(`recovers after the read store was killed and restarted ${long}`, async () => {
    await mongoDb.kill();
    await expectReadsRefused();
    await expectRefusedAtOnce();
    await mongoDb.start();
    await stores().expectRecovery();
  });

  describe(`further faults ${long}`, () => {
    it('recovers after the read store was stopped and restarted', async () => {
      await mongoDb.stop();
      await mongoDb.start();
      await stores().expectRecovery();
    });

    it('recovers after the read store was frozen', async () => {
      mongoDb.freeze();
      try {
        await expectReadsRefused();
        await expectRefusedAtOnce();
      } finally {
        mongoDb.thaw();
      }
      await stores().expectRecovery();
    });

    it('recovers after connections to the read store were cut', async () => {
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

    it('recovers after the read store answered too late', () => stores().delayAnswers('documents', expectReadsRefused));

    it('accepts commands while the read store is full, and refuses reads of what it lacks', async () => {
      await mongoDb.stop();
      await mongoDb.startFull();
      await stores().expectMore(5);
      const { path, position } = await stores().newProject();
      const atLeast = { 'switchyard-min-position': position };
      const read = await answeredInTime(() => stores().client.get(path, atLeast), 'reading');
      expectProblem(read, 503, 'read-model-behind');
      expectStatus(await stores().client.get(projectPath), 200);
      await mongoDb.stop();
      await mongoDb.start();
      await stores().expectRecovery();
      expectStatus(await stores().client.get(path, atLeast), 200);
    });
  });
});
