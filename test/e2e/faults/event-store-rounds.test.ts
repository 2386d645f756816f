import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectStoredOnce, expectVerified } from '#test/e2e/support/consistent-stores.ts';
import { SettlingLoad } from '#test/e2e/support/settling-load.ts';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { long } from '#test/support/run/long.ts';
import { startService, temporaryFolder } from '#test/support/service/service-process.ts';

const rounds = 3;
const writers = 32;
/** The commands that are acknowledged between two outages. */
const commands = 60;
/** The duration of an outage: long enough for every writer to notice it. */
const outageMs = 1_500;

describe('a service whose EventStoreDB goes away again and again', function () {
  this.timeout(600_000);

  it(`keeps every acknowledged command of ${writers} writers once, while the server is killed, frozen and stopped in turn ${long}`, async () => {
    const opened = new AsyncDisposableStack();
    try {
      const double = await EventStoreDbDoubleProcess.start();
      opened.defer(() => double.end());
      const folder = temporaryFolder();
      opened.defer(() => folder.remove());
      const service = await startService({ dataDir: folder.path, environment: { EVENT_STORE_URL: double.url } });
      opened.defer(() => service.kill());
      const outages: ReadonlyArray<() => Promise<void>> = [
        async () => {
          await double.order({ call: 'kill' });
          await sleep(outageMs);
          await double.order({ call: 'start' });
        },
        async () => {
          double.freeze();
          await sleep(outageMs);
          double.thaw();
        },
        async () => {
          await double.order({ call: 'stop' });
          await double.order({ call: 'start' });
        },
      ];
      const load = await SettlingLoad.begin(service.client, writers);
      for (let round = 0; round < rounds; round += 1)
        for (const leave of outages) {
          await load.expectMore(commands);
          await leave();
        }
      await load.expectMore(commands);
      await load.stop();
      assert.ok(load.acknowledged.length >= commands * (3 * rounds + 1));
      await expectStoredOnce(double.url, load.acknowledged);
      await expectVerified({ eventStoreUrl: double.url });
    } finally {
      await opened.disposeAsync();
    }
  });
});
