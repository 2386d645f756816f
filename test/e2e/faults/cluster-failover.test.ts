import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectConsistent, expectVerified } from '#test/e2e/support/consistent-stores.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { rebuildProjection } from '#test/e2e/support/rebuild-projection.ts';
import { SettlingLoad } from '#test/e2e/support/settling-load.ts';
import { newHolder, newProject } from '#test/e2e/support/tenants.ts';
import { newEndpoint, resourcesAt } from '#test/e2e/webhooks/webhook-tenant.ts';
import { messagesIn } from '#test/live-feed/feed-client.ts';
import { EventStoreDbClusterDouble } from '#test/support/eventstoredb/cluster-double.ts';
import { disturb, heal, mishaps } from '#test/support/eventstoredb/cluster-mishaps.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { Random } from '#test/support/run/random.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { adminKey, type ServiceProcess } from '#test/support/service/service-process.ts';
import { WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

/** The commands that are acknowledged between two mishaps. */
const commands = 20;
/** Repeats a run. */
const seed = Number(process.env.FAILOVER_SEED ?? Math.floor(Math.random() * 1e9));

interface AuditEntry {
  readonly position: number;
  readonly type: string;
  readonly requestId: string | null;
  readonly resource: { readonly id: string };
}

/** A reader of a node's live feed from the beginning of the log on, which opens it again with the last id. */
class FeedReader {
  readonly positions: number[] = [];
  readonly #url: string;
  readonly #ending = new AbortController();
  readonly #reading: Promise<void>;

  constructor(url: string) {
    this.#url = url;
    this.#reading = this.#read();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#reading;
  }

  async #read(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.#readOnce().catch(() => undefined);
      await sleep(200, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
  }

  async #readOnce(): Promise<void> {
    const headers = { authorization: `Bearer ${adminKey}`, 'last-event-id': String(this.positions.at(-1) ?? 0) };
    const { body } = await fetch(`${this.#url}/v1/events`, { headers, signal: this.#ending.signal });
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true });
      this.positions.push(...messagesIn(text).flatMap(({ id, event }) => (event === null ? [] : (id ?? []))));
      const end = text.lastIndexOf('\n\n');
      if (end >= 0) text = text.slice(end + 2);
    }
  }
}

describeOnOwnMongoDb('two nodes of the service on a cluster of EventStoreDB', (mongoDb) => {
  it(`say the same, and keep every acknowledged command, whatever happens to the cluster ${long}`, async function () {
    this.timeout(900_000);
    const opened = new AsyncDisposableStack();
    try {
      const cluster = await EventStoreDbClusterDouble.start(3, { manner: '24' });
      opened.defer(() => cluster.end());
      const receiver = new WebhookReceiver();
      await receiver.start();
      opened.defer(() => receiver.close());
      const urls = { eventStoreUrl: cluster.url, readStoreUrl: mongoDb.newUrl() };
      const nodes = new Nodes({ environment: () => ({}) });
      opened.defer(() => nodes.end());
      const environment = {
        EVENT_STORE_URL: urls.eventStoreUrl,
        READ_STORE_URL: urls.readStoreUrl,
        WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      };
      const services = [nodes.begin(undefined, environment), nodes.begin(undefined, environment)];
      await Promise.all(services.map((service) => service.listening()));
      const [first, second] = services as [ServiceProcess, ServiceProcess];
      const holder = await newHolder(first.client, await newProject(first.client), 'organization');
      await newEndpoint(holder, `${receiver.url}/all`);
      const feeds = services.map(({ url }) => new FeedReader(url));
      for (const feed of feeds) opened.defer(() => feed.end());
      const loads = [await SettlingLoad.begin(first.client), await SettlingLoad.begin(second.client)];
      const expectMore = () => Promise.all(loads.map((load) => load.expectMore(commands)));
      const random = new Random(seed);
      await expectMore();
      for (const mishap of Object.values(mishaps)) {
        disturb(cluster, random);
        await mishap(cluster, random);
        await heal(cluster);
        await expectMore();
      }
      for (const load of loads) await load.stop();
      const acknowledged = loads.flatMap((load) => load.acknowledged);
      await expectConsistent(urls, acknowledged);
      await expectVerified(urls);
      const audit = await auditOf(first);
      const requests = new Set(audit.map(({ requestId }) => requestId));
      assert.deepEqual(
        acknowledged.filter((id) => !requests.has(id)),
        [],
        'the audit lacks commands',
      );
      assert.deepEqual(await auditOf(second), audit);
      const positions = audit.map(({ position }) => position).toSorted((one, other) => one - other);
      for (const feed of feeds) {
        await eventually(() => feed.positions.length >= positions.length, 'the feed has every entry');
        assert.deepEqual(feed.positions, positions);
      }
      const flows = audit.filter(({ type }) => type === 'FlowCreated').map(({ resource }) => resource.id);
      await eventually(() => new Set(resourcesAt(receiver, '/all')).size >= flows.length, 'every message has come');
      assert.deepEqual(new Set(resourcesAt(receiver, '/all')), new Set(flows));
      for (const name of ['flows', 'audit']) await rebuildProjection(first.client, name);
      await expectConsistent(urls, acknowledged);
      assert.deepEqual(await auditOf(second), audit);
    } catch (error) {
      throw new Error(`FAILOVER_SEED=${seed}`, { cause: error });
    } finally {
      await opened.disposeAsync();
    }
  });
});

/** The audit as a node shows it, without the rebuilds that the test requests. */
async function auditOf({ client }: ServiceProcess): Promise<ReadonlyArray<AuditEntry>> {
  const reply = await client.get('/v1/audit', { accept: 'application/x-ndjson' });
  expectStatus(reply, 200);
  return reply.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEntry)
    .filter(({ type }) => type !== 'ProjectionRebuildRequested');
}
