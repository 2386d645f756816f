import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { StreamHistory } from '#application/history/stream-history.ts';
import { flow } from '#domain/flow/flow.ts';
import type { Caller, Tenant } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { template } from '#domain/template/template.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { Admission } from '#exchange/admission.ts';
import type { Client } from '#exchange/client.ts';
import { keptCount } from '#exchange/held.ts';
import { type FeedRequest, LiveFeed, type LiveFeedOptions } from '#live-feed/live-feed.ts';
import { PastEntries } from '#live-feed/past-entries.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { flowCreated } from '#test/support/events/flow-events.ts';
import { templateCreated } from '#test/support/events/template-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { FeedClient } from './feed-client.ts';

const ignored = () => undefined;
const log = { info: ignored, warn: ignored, error: assert.fail };
const feedsUpTo = (maxPlaces: number, maxPlacesOfOwner: number) =>
  new Admission({ limits: { rooms: { 'live feed': { maxPlaces, maxPlacesOfOwner } } } });
const origin = {
  actor: { keyId: 'ckeyadmin0000000', keyType: 'admin' },
  requestId: 'request-1',
  correlationId: 'request-1',
  causationId: 'request-1',
};

describe('LiveFeed', () => {
  let service: Service;
  let admission: Admission;
  let feeds: LiveFeed[] = [];
  let served: Promise<Failure | null>[] = [];

  beforeEach(() => {
    service = new Service();
    admission = feedsUpTo(1_000, 1_000);
  });
  afterEach(async () => {
    for (const feed of feeds) feed.stop();
    await Promise.all(served);
    feeds = [];
    served = [];
  });

  const partsInMemory = () => admission.figures()['past entries'].taken;
  const readsOf = () => ({
    history: new StreamHistory(service.store),
    personalReader: (subjects: ReadonlyArray<string>) => service.personalData.readerOf(subjects),
  });
  const pastWith = (documents: Pick<typeof service.documents, 'list'>) =>
    new PastEntries({
      admission,
      documents,
      reads: readsOf(),
      positions: { passed: async () => 'reached' },
      partTimeoutMs: 10,
    });
  const pastWaitingFor = (waitForAudit: (position: number) => Promise<boolean>) =>
    new PastEntries({
      admission,
      documents: service.documents,
      reads: readsOf(),
      positions: {
        passed: async (_, position) => ((await waitForAudit(position)) ? 'reached' : 'timeout'),
      },
    });
  const feedWith = (options: Partial<LiveFeedOptions> = {}) => {
    const past = pastWaitingFor(async () => true);
    const feed = new LiveFeed({
      store: service.store,
      tail: service.store.tail,
      reads: readsOf(),
      past,
      admission,
      log,
      ...options,
    });
    feeds.push(feed);
    return feed;
  };
  /** Opens a feed, and waits until it is open. */
  const opened = async (feed: LiveFeed, caller: Caller, options: Partial<FeedRequest> = {}) => {
    const client = new FeedClient();
    const isKeyValid = async () => true;
    served.push(feed.serve({ caller, response: client, after: null, isKeyValid, ...options }));
    await client.waitFor(({ status }) => status === 200);
    return client;
  };
  const createFlow = async (id: string = ids.flow, tenant: Tenant = tenants.project) => {
    const events = [flowCreated({ id, projectId: tenant.projectId ?? '' })];
    const written = await service.writer.write({
      entity: flow,
      id,
      origin,
      decide: () => E.right({ events, tenant }),
    });
    assert.ok(E.isRight(written), JSON.stringify(written));
  };
  const renameFlow = async (name: string, id: string = ids.flow, tenant: Tenant = tenants.project) => {
    const events = [newEvent('FlowRenamed', { id, name })];
    await service.writer.write({ entity: flow, id, origin, decide: () => E.right({ events, tenant }) });
  };
  const createTemplate = (tenant: Tenant) => {
    const events = [templateCreated()];
    return service.writer.write({
      entity: template,
      id: ids.template,
      origin,
      decide: () => E.right({ events, tenant }),
    });
  };

  it('sends an entry of the audit for each event, with its position as id', async () => {
    const keptBefore = keptCount('feed');
    const feed = feedWith();
    const client = await opened(feed, callerOf('admin'));
    assert.equal(keptCount('feed'), keptBefore + 1);
    await createFlow();
    await renameFlow('Nights');
    await client.waitFor(({ entries }) => entries.length === 2);
    const [created, renamed] = client.entries;
    assert.deepEqual([created?.event, renamed?.event], ['FlowCreated', 'FlowRenamed']);
    const positions = service.store.log.map(({ position }) => position);
    assert.deepEqual([created?.id, renamed?.id], positions);
    assert.equal(renamed?.data?.position, positions[1]);
    assert.equal(renamed?.data?.summary, 'The flow was renamed to “Nights”.');
    assert.deepEqual(renamed?.data?.resource, { kind: 'flow', id: ids.flow });
    feed.stop();
    await eventually(() => keptCount('feed') === keptBefore, 'the end of the feed');
  });

  it('sends each key only the events that it can access', async () => {
    const feed = feedWith();
    const clients = {
      admin: await opened(feed, callerOf('admin')),
      partner: await opened(feed, callerOf('partner')),
      organization: await opened(feed, callerOf('organization')),
      project: await opened(feed, callerOf('project')),
      stranger: await opened(feed, callerOf('project', tenants.stranger)),
    };
    const { admin, ...others } = clients;
    const flows = Object.entries(tenants).map(([name, tenant]) => ({ id: `cflowof${name}000000`, tenant }));
    for (const { id, tenant } of flows) await createFlow(id, tenant);
    await createTemplate({ ...tenants.project, projectId: null });
    await admin.waitFor(({ entries }) => entries.length === flows.length + 1);
    const seen = (client: FeedClient) =>
      client.entries.map(({ data }) => (data?.resource as { id: string } | undefined)?.id);
    assert.deepEqual(seen(others.project), ['cflowofproject000000']);
    assert.deepEqual(seen(others.organization), ['cflowofproject000000', 'cflowofsibling000000']);
    assert.deepEqual(seen(others.stranger), ['cflowofstranger000000']);
    assert.deepEqual(seen(others.partner), [
      'cflowofproject000000',
      'cflowofsibling000000',
      'cflowofcustomer000000',
      ids.template,
    ]);
  });

  it('continues after the last id without a gap or a repetition while others write', async () => {
    await createFlow();
    for (let index = 0; index < 250; index += 1) await renameFlow(`before ${index}`);
    const after = service.store.log[10]?.position ?? 0;
    const writing = (async () => {
      for (let index = 0; index < 100; index += 1) await renameFlow(`while ${index}`);
    })();
    const client = await opened(feedWith(), callerOf('project'), { after });
    await writing;
    await renameFlow('last');
    await client.waitFor(({ entries }) => entries.at(-1)?.data?.summary === 'The flow was renamed to “last”.');
    const expected = service.store.log.map(({ position }) => position).filter((position) => position > after);
    assert.deepEqual(
      client.entries.map(({ id }) => id),
      expected,
    );
  });

  it('ends a feed cleanly that is stopped before it is open', async () => {
    const reached = Promise.withResolvers<boolean>();
    const feed = feedWith({ past: pastWaitingFor(() => reached.promise) });
    await createFlow();
    const client = new FeedClient();
    const serving = feed.serve({ caller: callerOf('admin'), response: client, after: 0, isKeyValid: async () => true });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    assert.equal(client.status, 0);
    feed.stop();
    assert.equal(await serving, null);
    assert.equal(client.status, 200);
    assert.ok(client.text.startsWith(': live\n'), client.text);
    assert.ok(client.text.endsWith(': ended: this node stops\n\n'), client.text);
    assert.ok(client.hasEnded);
    reached.resolve(true);
  });

  it('writes nothing to a client that disconnects before its feed is open', async () => {
    const reached = Promise.withResolvers<boolean>();
    const feed = feedWith({ past: pastWaitingFor(() => reached.promise) });
    await createFlow();
    const client = new FeedClient();
    const serving = feed.serve({ caller: callerOf('admin'), response: client, after: 0, isKeyValid: async () => true });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    client.leave();
    assert.equal(await serving, null);
    assert.deepEqual([client.status, client.text, feed.size], [0, '', 0]);
    reached.resolve(true);
  });

  it('ends a feed that is read too slowly, and continues the others', async () => {
    const feed = feedWith();
    const [slow, quick] = [await opened(feed, callerOf('admin')), await opened(feed, callerOf('admin'))];
    slow.isSlow = true;
    await createFlow();
    const name = 'n'.repeat(40_000);
    for (let index = 0; index < 60; index += 1) {
      await renameFlow(`${index}${name}`);
      if (index % 20 === 19) await quick.waitFor(({ entries }) => entries.length === index + 2);
    }
    await slow.waitFor(({ hasEnded }) => hasEnded);
    assert.match(slow.text, /: ended: it was read too slowly\n\n$/);
    assert.ok(slow.entries.length < 61);
    assert.equal(feed.size, 1);
  });

  it('sends waiting entries once a slow client reads again', async () => {
    const client = await opened(feedWith(), callerOf('admin'));
    client.isSlow = true;
    await createFlow();
    await renameFlow('a');
    await client.waitFor(({ entries }) => entries.length === 1);
    client.drain();
    await client.waitFor(({ entries }) => entries.length === 2);
    assert.equal(client.hasEnded, false);
  });

  it('ends a feed when its key is no longer valid, but not while that is unknown', async () => {
    let answer: boolean | Error = new UnavailableError('away');
    let checks = 0;
    const isKeyValid = async () => {
      checks += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const client = await opened(feedWith({ keyCheckMs: 1 }), callerOf('project'), { isKeyValid });
    const other = await opened(feeds[0] as LiveFeed, callerOf('project'));
    while (checks < 3) await new Promise(setImmediate);
    assert.equal(client.hasEnded, false);
    answer = false;
    await client.waitFor(({ hasEnded }) => hasEnded);
    assert.match(client.text, /: ended: the API key is not valid any more\n\n$/);
    assert.equal(other.hasEnded, false);
  });

  it('sends regular comments with a position after which a client can resume', async () => {
    const client = await opened(feedWith({ keepAliveMs: 1 }), callerOf('project', tenants.stranger));
    await createFlow();
    const end = service.store.log.at(-1)?.position;
    await client.waitFor(({ text }) => text.includes(`: keep-alive\nid: ${end}\n\n`));
    assert.deepEqual(client.entries, []);
  });

  const refusalOf = async (feed: LiveFeed, caller: Caller) => {
    const response = new FeedClient();
    return (await feed.serve({ caller, response, after: null, isKeyValid: async () => true }))?.code;
  };

  it('refuses feeds beyond the limits of a project and of the node', async () => {
    const feed = feedWith({ admission: feedsUpTo(4, 2) });
    const [, stranger, sibling, customer] = Object.values(tenants).map((tenant) => callerOf('project', tenant));
    assert.ok(stranger && sibling && customer);
    const first = await opened(feed, callerOf('project'));
    await opened(feed, callerOf('project'));
    assert.equal(await refusalOf(feed, callerOf('project')), 'too-many-feeds');
    await opened(feed, stranger);
    await opened(feed, sibling);
    assert.equal(await refusalOf(feed, customer), 'feeds-full');
    first.leave();
    await served[0];
    await opened(feed, customer);
  });

  it('leaves room on the node for other projects, however many feeds a project may have', async () => {
    const feed = feedWith({ admission: feedsUpTo(6, 100) });
    for (let count = 0; count < 3; count += 1) await opened(feed, callerOf('project'));
    assert.equal(await refusalOf(feed, callerOf('project')), 'feeds-full');
    const stranger = callerOf('project', tenants.stranger);
    await opened(feed, stranger);
    await opened(feed, stranger);
    assert.equal(await refusalOf(feed, stranger), 'feeds-full');
    await opened(feed, callerOf('project', tenants.sibling));
  });

  const renamedTimes = async (times: number, suffix = '') => {
    await createFlow();
    for (let index = 0; index < times; index += 1) await renameFlow(`name ${index}${suffix}`);
  };

  it('@long replays 10,000 entries completely and in order to a client that reads them slowly', async () => {
    await renamedTimes(9_999);
    const client = new FeedClient();
    const written: number[] = [];
    const sink: Client = {
      ...client,
      isDisconnected: false,
      write: (bytes) => {
        client.write(bytes);
        written.push(bytes.length);
        return false;
      },
      onceDrained: (listener) => void setImmediate(listener),
    };
    served.push(
      feedWith().serve({ caller: callerOf('project'), response: sink, after: 0, isKeyValid: async () => true }),
    );
    await client.waitFor(({ text }) => text.includes('name 9998'));
    assert.deepEqual(
      client.entries.map(({ id }) => id),
      service.store.log.map(({ position }) => position),
    );
    assert.ok(Math.max(...written) <= 64 * 1024, `a piece has ${Math.max(...written)} bytes`);
  }).timeout(60_000);

  it('ends a feed whose client does not read past entries for too long, and frees what it took', async () => {
    await renamedTimes(300);
    const past = pastWith(service.documents);
    const feed = feedWith({ past, maxUnreadMs: 20 });
    const clients = Array.from({ length: 12 }, () => {
      const client = new FeedClient();
      client.isSlow = true;
      const request = { caller: callerOf('project'), response: client, after: 0, isKeyValid: async () => true };
      served.push(feed.serve(request));
      return client;
    });
    for (const client of clients) await client.waitFor(({ hasEnded }) => hasEnded);
    for (const { text } of clients) assert.match(text, /: ended: it was read too slowly\n\n$/);
    await Promise.all(served);
    assert.deepEqual([feed.size, partsInMemory()], [0, 0]);
    const next = await opened(feed, callerOf('project'), { after: 0 });
    await next.waitFor(({ entries }) => entries.length === 301);
  });

  it('ends a live feed whose client reads nothing for too long, even if little waits for it', async () => {
    const client = await opened(feedWith({ maxUnreadMs: 20 }), callerOf('project'));
    client.isSlow = true;
    await createFlow();
    await client.waitFor(({ hasEnded }) => hasEnded);
    assert.match(client.text, /: ended: it was read too slowly\n\n$/);
  });

  it('continues with a client that reads again in time', async () => {
    await renamedTimes(300);
    const client = new FeedClient();
    client.isSlow = true;
    const request = { caller: callerOf('project'), response: client, after: 0, isKeyValid: async () => true };
    served.push(feedWith({ maxUnreadMs: 5_000 }).serve(request));
    await client.waitFor(({ entries }) => entries.length > 0);
    assert.ok(client.entries.length < 301);
    client.drain();
    await client.waitFor(({ entries }) => entries.length === 301);
  });

  it('has a few parts of replays in memory at the same time, in turn by project, and drops unread ones', async () => {
    await renamedTimes(100, 'n'.repeat(2_000));
    await createFlow('cflowofstranger000', tenants.stranger);
    const gate = Promise.withResolvers<void>();
    const asked: string[] = [];
    const documents = {
      list: async (...[collection, where, page]: Parameters<typeof service.documents.list>) => {
        asked.push(String(where.projectId));
        await gate.promise;
        return service.documents.list(collection, where, page);
      },
    } as Pick<typeof service.documents, 'list'>;
    const past = pastWith(documents);
    const feed = feedWith({ past });
    const resumed = (tenant: (typeof tenants)[keyof typeof tenants]) => {
      const client = new FeedClient();
      client.isSlow = true;
      const request = { caller: callerOf('project', tenant), response: client, after: 0, isKeyValid: async () => true };
      served.push(feed.serve(request));
      return client;
    };
    const unread = Array.from({ length: 20 }, () => resumed(tenants.project));
    for (const client of unread) await client.waitFor(({ status }) => status === 200);
    const other = resumed(tenants.stranger);
    await other.waitFor(({ status }) => status === 200);
    while (asked.length < 3) await nextTurn();
    assert.deepEqual(asked, [tenants.project.projectId, tenants.project.projectId, tenants.stranger.projectId]);
    assert.equal(partsInMemory(), 3);
    gate.resolve();
    for (const client of [...unread, other]) await client.waitFor(({ entries }) => entries.length > 0);
    await eventually(() => partsInMemory() === 0, 'no part is in memory');
    for (const client of unread) {
      assert.ok(client.entries.length < 101);
      client.drain();
      await client.waitFor(({ entries }) => entries.length === 101);
    }
  });

  it('sends comments to a feed that waits for its turn to get past entries', async () => {
    await createFlow();
    const gate = Promise.withResolvers<never>();
    const documents = { list: () => gate.promise };
    const past = pastWith(documents);
    const feed = feedWith({ past, keepAliveMs: 1 });
    const waiting = await Promise.all([1, 2, 3].map(() => opened(feed, callerOf('project'), { after: 0 })));
    for (const client of waiting) await client.waitFor(({ text }) => text.includes(': keep-alive\n\n'));
    gate.reject(new UnavailableError('away'));
    for (const client of waiting) await client.waitFor(({ hasEnded }) => hasEnded);
    assert.equal(partsInMemory(), 0);
  });

  it('follows the log only while a client reads, and again with the next client', async () => {
    const feed = feedWith();
    for (const id of ['cflowone00000000', 'cflowtwo00000000']) {
      const client = await opened(feed, callerOf('admin'));
      await createFlow(id);
      await client.waitFor(({ entries }) => entries.length === 1);
      client.leave();
      await served.at(-1);
      assert.equal(feed.size, 0);
    }
  });

  it('ends all feeds when the node stops, and accepts no more', async () => {
    const feed = feedWith();
    const client = await opened(feed, callerOf('admin'));
    feed.stop();
    assert.ok(client.hasEnded);
    const request = {
      caller: callerOf('admin'),
      response: new FeedClient(),
      after: null,
      isKeyValid: async () => true,
    };
    await assert.rejects(feed.serve(request), UnavailableError);
  });

  it('continues at the same place after an outage of the event store', async () => {
    const { store } = service;
    let isUnavailable = false;
    const failing = tailOf({
      changes: store.changes,
      lastPosition: () => store.lastPosition(),
      eventAt: (position) => store.eventAt(position),
      readPage: (request) => {
        if (!isUnavailable) return store.readPage(request);
        isUnavailable = false;
        throw new UnavailableError('away');
      },
    });
    const client = await opened(feedWith({ tail: failing }), callerOf('admin'));
    await createFlow();
    await client.waitFor(({ entries }) => entries.length === 1);
    isUnavailable = true;
    await renameFlow('a');
    await renameFlow('b');
    await client.waitFor(({ entries }) => entries.length === 3);
    assert.deepEqual(
      client.entries.map(({ id }) => id),
      store.log.map(({ position }) => position),
    );
  });

  it('omits events of a stream that lacks its beginning', async () => {
    const client = await opened(feedWith(), callerOf('admin'));
    const read = service.store.read.bind(service.store);
    await createFlow();
    await client.waitFor(({ entries }) => entries.length === 1);
    service.store.read = async (stream, ...part) => {
      const gap = { stream, expectedRevision: 0, foundRevision: 1 };
      if (stream === `flow-${ids.flow}`) throw new UnreadableStreamError(gap, '$tb is 1');
      return read(stream, ...part);
    };
    await renameFlow('hidden');
    await createTemplate(tenants.project);
    await client.waitFor(({ entries }) => entries.length === 2);
    assert.equal(client.entries[1]?.event, 'TemplateCreated');
  });

  it('omits an event that this release cannot read', async () => {
    const client = await opened(feedWith(), callerOf('admin'));
    service.store.appendUnreadable('flow-cunreadable00000', 'FlowRenamed');
    await createFlow();
    await client.waitFor(({ entries }) => entries.length === 1);
    assert.equal(client.entries[0]?.event, 'FlowCreated');
  });
});
