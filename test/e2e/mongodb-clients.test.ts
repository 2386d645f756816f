import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { poll, type ServiceProcess } from '#test/support/service/service-process.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

const minuteMs = 60_000;
/** 20 to the primary, and two for each of the four clients to the one member. */
const maxIdleConnections = 20 + 2 * 4;
const readsAtOnce = 100;
const slowAnswerMs = 250;
const burstMs = 10_000;

describeOnOwnMongoDb(`the clients of MongoDB in a node ${long}`, (mongoDb) => {
  let double: EventStoreDbDoubleProcess;
  let proxy: TcpProxy;
  let nodes: Nodes;
  let node: ServiceProcess;

  before(async () => {
    double = await EventStoreDbDoubleProcess.start();
    proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    const stores = { EVENT_STORE_URL: double.url, READ_STORE_URL: proxy.through(mongoDb.newUrl()) };
    nodes = new Nodes({ environment: () => stores });
    node = await nodes.start();
  });
  after(async () => {
    await nodes?.end();
    await proxy?.close();
    await double?.end();
  });

  it('have their commands in the metrics, those of the projector thread too', async () => {
    const metrics = async () => (await fetch(`${node.url}/metrics`)).text();
    // Only the projector thread creates the indexes of read models.
    const counted = /^switchyard_mongodb_commands_total\{command="createIndexes",outcome="succeeded"\} [1-9]/m;
    assert.ok(await poll(async () => counted.test(await metrics()), minuteMs), await metrics());
    assert.match(await metrics(), /^switchyard_mongodb_command_duration_seconds_count\{command="find"\} [1-9]/m);
  });

  it('hold at most 20 connections, and two for each client, a minute after a burst', async () => {
    const { body } = await node.client.post<{ id: string }>('/v1/projects', { name: 'Read at once' });
    // Answers that take their time keep connections busy, on fast machines too.
    proxy.delay(slowAnswerMs);
    const reads = Array.from({ length: readsAtOnce }, () => node.client.get(`/v1/projects/${body.id}`));
    const hasGrown = await poll(async () => proxy.connections > maxIdleConnections, burstMs);
    proxy.delay(0);
    assert.ok((await Promise.all(reads)).every(({ status }) => status === 200));
    assert.ok(hasGrown, 'the burst needs more connections than an idle node');
    await sleep(minuteMs);
    assert.ok(proxy.connections <= maxIdleConnections, `${proxy.connections} connections`);
  });
});
