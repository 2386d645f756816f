import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { long } from '#test/support/run/long.ts';
import { describeBehindProxy, startProxy } from '#test/support/service/caddy.ts';
import { Client, type Reply } from '#test/support/service/client.ts';
import { environmentOf, nodes } from '#test/support/service/compose-files.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { adminKey, poll, ServiceProcess, temporaryFolder } from '#test/support/service/service-process.ts';

const timeoutMs = 120_000;
/** The statuses of a node or the proxy while a node is down or temporarily unavailable. */
const passing = [502, 503];

describeBehindProxy('nodes of the compose files behind the proxy', () => {
  describeOnMongoDb('scaled deployment on EventStoreDB and MongoDB', (server) => {
    const opened = new AsyncDisposableStack();
    after(() => opened.disposeAsync());

    /** Starts the compose files' nodes with their environment, except for addresses. */
    async function start(): Promise<Map<string, ServiceProcess>> {
      const eventStore = await EventStoreDbDouble.start();
      opened.defer(() => eventStore.stop());
      const here = {
        HOST: '127.0.0.1',
        PORT: '0',
        METRICS_PORT: '0',
        EVENT_STORE_URL: eventStore.url,
        READ_STORE_URL: server.newUrl(),
        BOOTSTRAP_API_KEY: adminKey,
        LOG_LEVEL: 'error',
      };
      const started = nodes.map(([name, service]) => {
        const folder = temporaryFolder();
        const node = new ServiceProcess({ dataDir: folder.path, environment: { ...environmentOf(service), ...here } });
        opened.defer(async () => {
          await node.kill();
          folder.remove();
        });
        return [name, node] as const;
      });
      await Promise.all(started.map(([, node]) => node.listening()));
      return new Map(started);
    }

    it(`loses and doubles nothing when the node with all roles is killed ${long}`, async () => {
      const running = await start();
      const host = (name: string) => new URL(running.get(name)?.url ?? '').host;
      const proxy = await startProxy({
        controlPlanes: [host('switchyard'), host('control-plane')],
        gateways: [host('switchyard'), host('gateway')],
      });
      opened.defer(() => proxy.stop());
      const client = new Client(proxy.url, adminKey);
      opened.defer(() => client.close());
      /** Repeats a request as long as the answer is 502 or 503. */
      const answered = async <T>(ask: () => Promise<Reply<T>>): Promise<Reply<T>> => {
        const reply = await poll(async () => {
          const given = await ask();
          return !passing.includes(given.status) && given;
        }, timeoutMs);
        assert.ok(reply !== null, 'no answer but 502 and 503');
        return reply;
      };
      const post = <T>(path: string, body: object) => {
        const headers = { 'idempotency-key': randomUUID() };
        return answered(() => client.post<T>(path, body, headers));
      };

      const project = await post<{ id: string }>('/v1/projects', { name: 'Scaled' });
      const flows = `/v1/projects/${project.body.id}/flows`;
      for (let made = 1; made <= 12; made += 1) {
        if (made === 6) await running.get('switchyard')?.kill();
        const flow = await post(flows, { name: `Flow ${made}`, flowSchema: {} });
        assert.equal(flow.status, 201);
        const position = { 'switchyard-min-position': flow.headers['switchyard-position'] ?? '' };
        const listed = await answered(() => client.get<{ flows: unknown[] }>(flows, position));
        assert.deepEqual([listed.status, listed.body.flows.length], [200, made]);
      }
      assert.equal((await post('/v1/stores', { name: 'Through the gateway' })).status, 200);
      assert.equal((await answered(() => client.get('/readyz'))).status, 200);
    });
  });
});
