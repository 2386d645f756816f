import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { newKey, newProject } from '#test/e2e/support/tenants.ts';
import { sendText } from '#test/e2e/support/upload.ts';
import { allEnded } from '#test/support/run/all-ended.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { SharedEngines } from '#test/support/service/engines.ts';
import { describeOnReplicaSet } from '#test/support/service/mongodb-server.ts';
import { Nodes } from '#test/support/service/nodes.ts';

/** How long the only member is a secondary. */
const steppedDownS = 2;
const betweenStepDownsMs = 1_500;
const betweenWritesMs = 50;

/** A kind of write: how a client sends it, and where it is read. */
interface Write {
  readonly send: (client: Client) => Promise<Reply<{ readonly id: string }>>;
  readonly pathOf: (id: string) => string;
}

describeOnReplicaSet('nodes whose MongoDB steps down', (mongoDb) => {
  const engines = new SharedEngines(mongoDb, undefined);
  const nodes = new Nodes(engines);
  let clients: ReadonlyArray<Client>;
  let writes: ReadonlyArray<Write>;

  before(async () => {
    await engines.start();
    const [first, second] = await Promise.all([nodes.start(), nodes.start()]);
    const projectId = await newProject(first.client);
    const flows = `/v1/projects/${projectId}/flows`;
    const { key } = await newKey(first.client, projectId, 'project');
    clients = [first.client.as(key), second.client.as(key)];
    writes = [
      // The event store takes it, and the read models show it.
      { send: (client) => client.post(flows, { name: 'Flow', flowSchema: {} }), pathOf: (id) => `/v1/flows/${id}` },
      // MongoDB takes its content.
      { send: (client) => sendText(client, '{}'), pathOf: (id) => `/v1/files/${id}/content` },
    ];
  });
  after(async () => {
    await nodes.end();
    await engines.stop();
  });

  /** Makes the primary a secondary for a time, and waits until it is the primary again. */
  const stepDown = async (): Promise<void> => {
    await using client = new MongoClient(`${engines.urls.readStoreUrl}?directConnection=true`);
    const admin = client.db('admin');
    const isPrimary = async () => (await admin.command({ hello: 1 })).isWritablePrimary === true;
    await admin.command({ replSetStepDown: steppedDownS, force: true });
    assert.equal(await isPrimary(), false);
    await eventually(isPrimary, 'it is the primary again');
  };

  const title = 'acknowledge or refuse each write, and each shows what was acknowledged';
  itInRounds(title, { few: 1, many: 15 }, async (rounds) => {
    const acknowledged: string[] = [];
    let isOver = false;
    const write = async (client: Client, { send, pathOf }: Write) => {
      while (!isOver) {
        const { status, body, text } = await send(client);
        if (status < 300) acknowledged.push(pathOf(body.id));
        else assert.equal(status, 503, text);
        await sleep(betweenWritesMs);
      }
    };
    const stepDowns = async () => {
      for (let round = 0; round < rounds; round += 1) {
        await sleep(betweenStepDownsMs);
        await stepDown();
      }
      await sleep(betweenStepDownsMs);
    };
    const writers = clients.flatMap((client) => writes.map((each) => write(client, each)));
    const ending = stepDowns().finally(() => {
      isOver = true;
    });
    await allEnded([ending, ...writers]);
    for (const client of clients)
      for (const path of acknowledged)
        await eventually(async () => (await client.get(path)).status === 200, `${path} is shown`);
  });
});
