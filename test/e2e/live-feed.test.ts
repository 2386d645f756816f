import assert from 'node:assert/strict';
import { type FeedMessage, messagesIn } from '#test/live-feed/feed-client.ts';
import { eventually } from '#test/support/run/eventually.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { adminKey, startService, temporaryFolder } from '#test/support/service/service-process.ts';
import { expectProblem, expectStatus } from './support/expect.ts';
import { composedService } from './support/running-service.ts';
import { newKey, newOrganization, newProject } from './support/tenants.ts';

type Named = { readonly id: string };

/** An open feed, read by `fetch`. */
class OpenFeed {
  readonly response: Response;
  /** Resolves when the service has ended the feed. */
  readonly ended: Promise<void>;
  readonly #aborted: AbortController;
  text = '';
  #onText: () => void = () => undefined;

  private constructor(response: Response, aborted: AbortController) {
    this.response = response;
    this.#aborted = aborted;
    this.ended = this.#read();
  }

  static async at(url: string, key: string, headers: Readonly<Record<string, string>> = {}): Promise<OpenFeed> {
    const aborted = new AbortController();
    const authorized = { authorization: `Bearer ${key}`, ...headers };
    const response = await fetch(`${url}/v1/events`, { headers: authorized, signal: aborted.signal });
    return new OpenFeed(response, aborted);
  }

  get entries(): ReadonlyArray<FeedMessage> {
    return messagesIn(this.text).filter(({ event }) => event !== null);
  }

  /** Waits for an entry of a type. */
  async entry(type: string): Promise<FeedMessage> {
    for (;;) {
      const found = this.entries.find(({ event }) => event === type);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#onText = resolve;
      });
    }
  }

  close(): void {
    this.#aborted.abort();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of this.response.body ?? []) {
        this.text += decoder.decode(bytes as Uint8Array, { stream: true });
        this.#onText();
      }
    } catch (error) {
      if (!this.#aborted.signal.aborted) throw error;
    }
  }
}

describeOnEngines('live feed', (engines) => {
  const running = composedService(engines);
  const feeds: OpenFeed[] = [];

  afterEach(() => {
    for (const feed of feeds.splice(0)) feed.close();
  });

  it('answers HEAD with its headers immediately, and holds no feed', async () => {
    const answer = await fetch(`${running.url}/v1/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${adminKey}` },
      signal: AbortSignal.timeout(5_000),
    });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
    const metrics = async () => (await fetch(`${running.url}/metrics`)).text();
    await eventually(async () => /^switchyard_live_feeds 0$/m.test(await metrics()), 'that no feed is open');
  });

  const open = async (key: string, headers?: Readonly<Record<string, string>>) => {
    const feed = await OpenFeed.at(running.url, key, headers);
    feeds.push(feed);
    return feed;
  };
  const createFlow = async (client: Client, projectId: string) => {
    const made = await client.post<Named>(`/v1/projects/${projectId}/flows`, { name: 'Live', flowSchema: 1 });
    return expectStatus(made, 201).id;
  };

  it('sends a tenant only its own events, and continues after the last id', async () => {
    const { client: admin } = running;
    const projectId = await newProject(admin, await newOrganization(admin, false));
    const otherProjectId = await newProject(admin, await newOrganization(admin, false));
    const { key } = await newKey(admin, projectId, 'project');
    const feed = await open(key);
    assert.equal(feed.response.headers.get('content-type'), 'text/event-stream');
    assert.equal(feed.response.headers.get('cache-control'), 'no-store');
    await createFlow(admin, otherProjectId);
    const flowId = await createFlow(admin, projectId);
    const created = await feed.entry('FlowCreated');
    assert.deepEqual(created.data?.resource, { kind: 'flow', id: flowId });
    feed.close();
    expectStatus(await admin.patch(`/v1/flows/${flowId}`, { name: 'Renamed' }), 200);

    const next = await open(key, { 'last-event-id': String(created.id) });
    const renamed = await next.entry('FlowRenamed');
    assert.ok(Number(renamed.id) > Number(created.id));
    assert.ok(!next.entries.some(({ event }) => event === 'FlowCreated'));
    const { entries } = expectStatus(
      await admin.as(key).get<{ entries: ReadonlyArray<object> }>('/v1/audit?limit=1'),
      200,
    );
    assert.deepEqual(renamed.data, entries[0]);
  });

  it('ends when its key is revoked', async () => {
    const { client: admin } = running;
    const { id, key } = await newKey(admin, await newProject(admin), 'project');
    const feed = await open(key);
    expectStatus(await admin.remove(`/v1/keys/${id}`), 200);
    await feed.ended;
    assert.match(feed.text, /: ended: the API key is not valid any more\n\n$/);
  });

  it('refuses an invalid Last-Event-ID, a key without the scope, and a key in the URL', async () => {
    const { client: admin } = running;
    const refused = await admin.get('/v1/events', { 'last-event-id': 'yesterday' });
    expectProblem(refused, 422, 'invalid-header');
    const { key } = await newKey(admin, await newProject(admin), 'project', ['flows:read']);
    expectProblem(await admin.as(key).get('/v1/events'), 403, 'scope-required');
    expectProblem(await admin.as(null).get(`/v1/events?key=${adminKey}`), 401, 'key-required');
  });
});

describe('live feed of a node that stops', () => {
  it('ends before the process does', async function () {
    this.timeout(60_000);
    const folder = temporaryFolder();
    try {
      const service = await startService({ dataDir: folder.path });
      const feed = await OpenFeed.at(service.url, adminKey);
      const stopped = service.stop();
      await feed.ended;
      assert.match(feed.text, /: ended: this node stops\n\n$/);
      assert.equal((await stopped).code, 0);
    } finally {
      folder.remove();
    }
  });
});
