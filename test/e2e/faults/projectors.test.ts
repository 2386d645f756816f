import assert from 'node:assert/strict';
import type { ReadStoreNotes } from '#read-store/notes.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { expectConsistent } from '#test/e2e/support/consistent-stores.ts';
import { SettlingLoad } from '#test/e2e/support/settling-load.ts';
import { itInManyRounds, long } from '#test/support/run/long.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { openMongoDbReadStore } from '#test/support/service/mongodb-read-store.ts';
import { Nodes, projectingNode } from '#test/support/service/nodes.ts';
import { poll, type ServiceProcess } from '#test/support/service/service-process.ts';

const takeoverTimeoutMs = 60_000;

describeOnSharedEngines('two nodes that run projections and processes', (engines) => {
  const nodes = new Nodes(engines);
  let control: ServiceProcess;
  let projectors: ServiceProcess[];
  let reader: ReadStore & Pick<ReadStoreNotes, 'positions'>;
  let load: SettlingLoad;

  before(() => {
    reader = openMongoDbReadStore({ url: engines.urls.readStoreUrl, timeoutMs: patientTimeoutMs });
  });
  after(() => reader?.close());

  beforeEach(async () => {
    const begun = ['control-plane', 'projections', 'projections'].map((roles) => nodes.begin(roles));
    const [first] = await Promise.all(begun.map((node) => node.listening()));
    assert.ok(first);
    [control, ...projectors] = [first, ...begun.slice(1)];
    load = await SettlingLoad.begin(control.client);
    await load.expectMore(10);
  });
  afterEach(async () => {
    await nodes.end();
    await load?.stop().catch(() => undefined);
  });

  /** Waits for a node to run the projections. @param wanted accepts that node */
  const someHolder = async (wanted: (node: ServiceProcess) => boolean = () => true): Promise<ServiceProcess> => {
    const found = await poll(async () => {
      const node = await projectingNode(control.client, projectors);
      return node !== null && wanted(node) ? node : null;
    }, takeoverTimeoutMs);
    assert.ok(found, 'no node runs the projections');
    return found;
  };
  const beat = async () => (await reader.positions())?.beat;

  itInManyRounds('loses and repeats nothing when each node is killed in mid-batch', 3, async (rounds) => {
    for (let round = 0; round < rounds; round += 1) {
      const killed = await someHolder();
      // The events that it missed form the batch.
      killed.freeze();
      await load.expectMore(5);
      const before = await beat();
      killed.thaw();
      await poll(async () => (await beat()) !== before, takeoverTimeoutMs);
      await killed.kill();
      projectors = projectors.filter((node) => node !== killed);
      await load.expectMore(5);
      await someHolder();
      if (round < rounds - 1) projectors.push(await nodes.start('projections'));
    }
    await load.stop();
    await expectConsistent(engines.urls, load.acknowledged);
  });

  it(`loses and repeats nothing when each node is frozen past its leases and wakes ${long}`, async () => {
    for (let round = 0; round < 2; round += 1) {
      const frozen = await someHolder();
      frozen.freeze();
      await someHolder((node) => node !== frozen);
      await load.expectMore(10);
      frozen.thaw();
      await load.expectMore(10);
    }
    await load.stop();
    await expectConsistent(engines.urls, load.acknowledged);
  });
});
