import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { newProject } from '#test/e2e/support/tenants.ts';
import { long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { poll } from '#test/support/service/service-process.ts';
import { AnyNode } from './any-node.ts';
import { describeNodes } from './describe-nodes.ts';
import { FaultyNodes } from './faulty-nodes.ts';
import { withoutDocuments } from './node-faults.ts';
import { report } from './report.ts';

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

const keys = 4;
const eventDelayMs = 100;
/** When a new secret is used after its answer: another look at each time. */
const delaysMs = [0, 10, 20, 40, 60, 80, 100];
const takeovers = 4;
const takeoverMs = 30_000;

describeOnOwnMongoDb('a new secret', (mongoDb) => {
  it(`works on every node immediately while the projections change nodes ${long}`, async function () {
    this.timeout(300_000);
    const nodes = await FaultyNodes.start(mongoDb, 2);
    const statuses = new Map<number, number>();
    let hasEnded = false;
    let changing: Promise<unknown> = Promise.resolve();

    const use = async (client: Client, key: string) => {
      const { status } = await client.as(key).get('/v1/me');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    const changeSecrets = async (projectId: string) => {
      const made = await new AnyNode(() => nodes.clients).settled(
        (client) => client.post<MadeKey>(`/v1/projects/${projectId}/keys`, { name: 'K', keyType: 'project' }),
        'POST keys',
      );
      await Promise.all(nodes.clients.map((client) => use(client, made.key)));
      for (let changes = 0; !hasEnded; changes += 1) {
        const writer = nodes.clients[changes % 2];
        const rotated = await writer?.post<MadeKey>(`/v1/keys/${made.id}/rotate`, { overlapSeconds: 60 });
        if (rotated?.status === 200)
          await Promise.all(
            nodes.clients.flatMap((client) =>
              delaysMs.map((ms) => sleep(ms).then(() => use(client, rotated.body.key))),
            ),
          );
      }
    };
    try {
      const [first, second] = nodes.live;
      const projectId = await newProject(first?.service.client ?? assert.fail());
      // This node gets its events after the read model, which the other one fills.
      second?.events.delay(eventDelayMs);
      changing = Promise.all(Array.from({ length: keys }, () => changeSecrets(projectId)));
      for (let count = 0; count < takeovers; count += 1) {
        const holder = await nodes.holder();
        const hasChanged = async () => (await nodes.holder()) !== holder;
        await withoutDocuments(holder, async () => {
          if (!(await poll(hasChanged, takeoverMs))) throw new Error(await describeNodes(nodes));
        });
        await sleep(1_000);
      }
    } finally {
      hasEnded = true;
      await changing.finally(() => nodes.end());
    }
    assert.equal(statuses.get(401), undefined, JSON.stringify([...statuses]));
    assert.ok((statuses.get(200) ?? 0) > 100, JSON.stringify([...statuses]));
    report(JSON.stringify([...statuses]));
  });
});
