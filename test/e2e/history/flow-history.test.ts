import assert from 'node:assert/strict';
import patches, { type Operation } from 'fast-json-patch';
import { expectProblem, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { newHolder, newKey, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { poll } from '#test/support/service/service-process.ts';

type Named = { readonly id: string };
type Resource = Named & { readonly kind: string };
type Version = Named & { readonly flowSchema: unknown; readonly restoredFrom?: string };

interface Listed {
  readonly type: string;
  readonly time: string;
  readonly actor: {
    readonly keyId: string;
    readonly keyType: string;
    readonly keyName: string | null;
    readonly onBehalfOf?: string;
  };
  readonly resource: Resource;
  readonly summary: string;
  readonly changes: Operation[];
}

type HistoryEvent = Listed & { readonly revision: number };
type AuditEntry = Listed & { readonly position: number };

/** The answers of the flow and its versions after a command. */
interface Seen {
  readonly revision: number;
  readonly flow: unknown;
  readonly versions: unknown;
}

const greeting = { nodes: { greet: { say: 'Good morning' }, transfer: { to: 'desk' } } };
const evening = { nodes: { greet: { say: 'Good evening' }, hangup: { after: 'greet' } } };

/** The limit of a wait for a read model. It only keeps a test from hanging. */
const maxWaitMs = 60_000;

describeOnEngines('history of a flow over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  const seen: Seen[] = [];
  let admin: Client;
  let holder: Client;
  let keyId: string;
  let projectId: string;
  let flowId: string;
  let versionIds: ReadonlyArray<string>;

  before(async () => {
    admin = running.client;
    projectId = await newProject(admin);
    const made = await newKey(admin, projectId, 'project');
    keyId = made.id;
    holder = admin.as(made.key);
    const created = await holder.post<Named>(`/v1/projects/${projectId}/flows`, { name: 'Days', flowSchema: greeting });
    flowId = expectStatus(created, 201).id;
    const { versions } = expectStatus(await holder.get<{ versions: Version[] }>(`${flowPath()}/versions`), 200);
    await look();
    await after(holder.patch(flowPath(), { name: 'Nights' }));
    const added = await after(holder.post<Named>(`${flowPath()}/versions`, { flowSchema: evening }));
    versionIds = [versions[0]?.id ?? '', added.id];
    await after(holder.patch(`/v1/flow-versions/${added.id}`, { tag: 'evening' }));
    await after(holder.post(`/v1/flow-versions/${added.id}/activate`));
    // The operator's key is another actor.
    await after(admin.patch(flowPath(), { name: 'Evenings' }));
  });

  const flowPath = () => `/v1/flows/${flowId}`;

  async function after<T>(sent: Promise<Reply<T>>): Promise<T> {
    const { status, body, text } = await sent;
    assert.ok(status === 200 || status === 201, text);
    await look();
    return body;
  }

  /** Reads the present flow and its versions. */
  async function look(): Promise<void> {
    const flow = await holder.get(flowPath());
    const versions = await holder.get(`${flowPath()}/versions`);
    const revision = Number(JSON.parse(flow.headers.etag ?? ''));
    seen.push({ revision, flow: expectStatus(flow, 200), versions: expectStatus(versions, 200) });
  }

  const historyOf = async (query = '') =>
    expectStatus(
      await holder.get<{ events: HistoryEvent[]; nextCursor?: string }>(`${flowPath()}/history?${query}`),
      200,
    );
  const typesOf = async (query: string) => (await historyOf(query)).events.map(({ type }) => type);

  it('states in sentences who did what to the flow and its versions', async () => {
    const { events } = await historyOf();
    assert.deepEqual(
      events.map(({ type, summary, actor, resource }) => [type, summary, actor.keyType, resource.kind]),
      [
        ['FlowCreated', 'The flow “Days” was created.', 'project', 'flow'],
        ['FlowVersionCreated', 'Version 1 was added.', 'project', 'flow-version'],
        ['FlowVersionActivated', 'Version 1 was activated.', 'project', 'flow-version'],
        ['FlowRenamed', 'The flow was renamed to “Nights”.', 'project', 'flow'],
        ['FlowVersionCreated', 'Version 2 was added.', 'project', 'flow-version'],
        ['FlowVersionTagged', 'Version 2 was tagged “evening”.', 'project', 'flow-version'],
        ['FlowVersionActivated', 'Version 2 was activated instead of version 1.', 'project', 'flow-version'],
        ['FlowRenamed', 'The flow was renamed to “Evenings”.', 'admin', 'flow'],
      ],
    );
    assert.deepEqual(new Set(events.slice(0, -1).map(({ actor }) => actor.keyId)), new Set([keyId]));
  });

  it('has patches that build each record from nothing', async () => {
    const { events } = await historyOf();
    const made = (id: string) =>
      events
        .filter(({ resource }) => resource.id === id)
        .reduce<unknown>((record, { changes }) => patches.applyPatch(record, changes, true, false).newDocument, null);
    const { updatedAt: _, ...flow } = made(flowId) as Record<string, unknown>;
    const { updatedAt: __, ...read } = expectStatus(await holder.get(flowPath()), 200);
    assert.deepEqual(flow, read);
    const second = made(versionIds[1] ?? '');
    assert.deepEqual(second, expectStatus(await holder.get(`/v1/flow-versions/${versionIds[1]}`), 200));
  });

  it('pages without losing or repeating an event', async () => {
    const { events } = await historyOf();
    const paged: HistoryEvent[] = [];
    let cursor: string | undefined;
    do {
      const page: Awaited<ReturnType<typeof historyOf>> = await historyOf(
        `limit=3${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      assert.ok(page.events.length <= 3);
      paged.push(...page.events);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(paged, events);
  });

  it('can be filtered by type, actor and time', async () => {
    const { events } = await historyOf();
    assert.deepEqual(await typesOf('type=FlowRenamed'), ['FlowRenamed', 'FlowRenamed']);
    assert.equal((await typesOf(`actor=${keyId}`)).length, events.length - 1);
    assert.deepEqual(await typesOf(`actor=${unknownId}`), []);
    const since = events.at(-2)?.time ?? '';
    const typesWhere = (fits: (time: string) => boolean) =>
      events.filter(({ time }) => fits(time)).map(({ type }) => type);
    assert.deepEqual(
      await typesOf(`since=${since}`),
      typesWhere((time) => time >= since),
    );
    assert.deepEqual(
      await typesOf(`until=${since}`),
      typesWhere((time) => time < since),
    );
    expectProblem(await holder.get(`${flowPath()}/history?type=FlowBent`), 422, 'invalid-input', ['/type']);
  });

  it('shows the flow and its versions at every revision', async () => {
    assert.ok(seen.length >= 6);
    for (const { revision, flow, versions } of seen) {
      const then = await holder.get(`${flowPath()}?asOf=${revision}`);
      assert.deepEqual(expectStatus(then, 200), flow, `revision ${revision}`);
      assert.equal(then.headers.etag, `"${revision}"`);
      const list = await holder.get(`${flowPath()}/versions?asOf=${revision}`);
      assert.deepEqual(expectStatus(list, 200), versions, `versions at revision ${revision}`);
    }
    const far = (seen.at(-1)?.revision ?? 0) + 1;
    expectProblem(await holder.get(`${flowPath()}?asOf=${far}`), 422, 'invalid-input', ['/asOf']);
    expectProblem(await holder.get(`${flowPath()}?asOf=yesterday`), 422, 'invalid-input', ['/asOf']);
  });

  it('shows the flow at every time', async () => {
    const { events } = await historyOf();
    for (const { time } of events) {
      // Several events may have the same time: the last of them counts.
      const { revision = -1 } = events.findLast((event) => event.time === time) ?? {};
      const byTime = await holder.get(`${flowPath()}?asOf=${time}`);
      const byRevision = await holder.get(`${flowPath()}?asOf=${revision}`);
      assert.deepEqual(expectStatus(byTime, 200), expectStatus(byRevision, 200), time);
    }
    const before = new Date(Date.parse(events[0]?.time ?? '') - 1).toISOString();
    expectProblem(await holder.get(`${flowPath()}?asOf=${before}`), 404, 'flow-not-found');
  });

  it('compares two versions, by a patch and in words', async () => {
    const [first, second] = versionIds;
    const compared = expectStatus(
      await holder.get<{ patch: Operation[]; summary: string }>(`/v1/flow-versions/${first}/diff/${second}`),
      200,
    );
    assert.deepEqual(patches.applyPatch<unknown>(greeting, compared.patch, true, false).newDocument, evening);
    for (const words of ['added: hangup', 'changed: greet', 'removed: transfer']) {
      assert.ok(compared.summary.includes(words), compared.summary);
    }
    const same = await holder.get(`/v1/flow-versions/${first}/diff/${first}`);
    assert.deepEqual(expectStatus(same, 200).patch, []);
  });

  it('is concealed from the key of another organization', async () => {
    const elsewhere = await newProject(admin, await newOrganization(admin, false));
    const stranger = await newHolder(admin, elsewhere, 'project');
    for (const path of [`${flowPath()}/history`, `${flowPath()}?asOf=0`, `/v1/flow-versions/${versionIds[0]}?asOf=2`]) {
      const refused = await stranger.get(path);
      assert.equal(refused.status, 404, `${path}: ${refused.text}`);
    }
    const audited = await stranger.get<{ entries: AuditEntry[] }>(`/v1/audit?resource=${flowId}`);
    assert.deepEqual(expectStatus(audited, 200).entries, []);
  });

  describe('history of a flow in the audit', () => {
    let entries: ReadonlyArray<AuditEntry>;
    const auditOf = async (query = '') =>
      expectStatus(await holder.get<{ entries: AuditEntry[] }>(`/v1/audit?${query}`), 200).entries;
    const named = (of: ReadonlyArray<AuditEntry>) => of.map(({ position, type }) => [position, type]);

    before(async () => {
      const { events } = await historyOf();
      const audited = await poll(async () => {
        const found = await auditOf(`resource=${flowId}`);
        return found.some(({ summary }) => summary === events.at(-1)?.summary);
      }, maxWaitMs);
      assert.ok(audited, 'the audit does not follow');
      entries = await auditOf();
    });

    it('has the same sentences, times and changes, newest first', async () => {
      const { events } = await historyOf();
      const ofFlow = entries.filter(({ resource }) => resource.kind.startsWith('flow'));
      const expected = events.map(({ revision: _, ...event }) => event);
      assert.deepEqual(
        ofFlow.map(({ position: _, ...entry }) => entry),
        expected.toReversed(),
      );
    });

    it('can be filtered by resource, kind, type, actor and time', async () => {
      const second = entries[1];
      assert.ok(second !== undefined);
      const filters: ReadonlyArray<[query: string, fits: (entry: AuditEntry) => boolean]> = [
        // A version's id begins with that of its flow.
        [`resource=${flowId}`, ({ resource }) => resource.id.startsWith(flowId)],
        ['resource=flow-version', ({ resource }) => resource.kind === 'flow-version'],
        ['type=FlowRenamed', ({ type }) => type === 'FlowRenamed'],
        [`actor=${keyId}`, ({ actor }) => actor.keyId === keyId],
        [`since=${second.time}`, ({ time }) => time >= second.time],
        [`until=${second.time}`, ({ time }) => time < second.time],
        [`resource=flow&actor=${keyId}`, ({ resource, actor }) => resource.kind === 'flow' && actor.keyId === keyId],
      ];
      for (const [query, fits] of filters) {
        const expected = entries.filter(fits);
        assert.ok(expected.length > 0 && expected.length < entries.length, query);
        assert.deepEqual(named(await auditOf(query)), named(expected), query);
      }
    });

    it('is exported with the same entries in the same order as NDJSON and as CSV', async () => {
      const ndjson = await holder.get('/v1/audit', { accept: 'application/x-ndjson' });
      expectStatus(ndjson, 200);
      assert.match(ndjson.headers['content-type'] ?? '', /^application\/x-ndjson/);
      const lines = ndjson.text.trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        entries,
      );
      const csv = await holder.get(`/v1/audit?resource=${flowId}`, { accept: 'text/csv' });
      expectStatus(csv, 200);
      assert.match(csv.headers['content-type'] ?? '', /^text\/csv/);
      const [header, ...rows] = csv.text.trimEnd().split('\r\n');
      assert.match(header ?? '', /^position,time,actorKeyId,actorKeyType,requestId,resourceKind,resourceId,type,/);
      assert.deepEqual(
        rows.map((row) => row.split(',').slice(0, 2)),
        entries
          .filter(({ resource }) => resource.id.startsWith(flowId))
          .map(({ position, time }) => [String(position), time]),
      );
    });

    it('has the name of the key, and for whom its system claims to act', async () => {
      const asUser = { 'switchyard-on-behalf-of': 'user:4711' };
      const { id } = expectStatus(
        await holder.post<{ id: string }>(
          `/v1/projects/${projectId}/flows`,
          { name: 'For a user', flowSchema: {} },
          asUser,
        ),
        201,
      );
      const { events } = expectStatus(await holder.get<{ events: AuditEntry[] }>(`/v1/flows/${id}/history`), 200);
      const actor = events[0]?.actor;
      const { name } = expectStatus(await admin.get<{ name: string }>(`/v1/keys/${keyId}`), 200);
      assert.deepEqual([actor?.keyName, actor?.onBehalfOf], [name, 'user:4711']);
      for (const wrong of ['Jane Doe', 'jane@example.com', 'x'.repeat(65)]) {
        const headers = { 'switchyard-on-behalf-of': wrong };
        expectProblem(await holder.patch(`/v1/flows/${id}`, { name: 'Refused' }, headers), 422, 'invalid-header');
      }
      expectStatus(await holder.remove(`/v1/flows/${id}`), 204);
    });
  });

  describe('history of a restored version and a deleted flow', () => {
    it('names the restored version, whose contents equal those of the new version', async () => {
      const [first, second] = versionIds;
      const restored = expectStatus(await holder.post<Version>(`/v1/flow-versions/${first}/restore`), 201);
      assert.equal(restored.restoredFrom, first);
      assert.deepEqual(restored.flowSchema, greeting);
      assert.deepEqual(expectStatus(await holder.get(`/v1/flow-versions/${restored.id}`), 200), restored);
      const diff = async (one = '', other = '') =>
        expectStatus(await holder.get<{ patch: Operation[] }>(`/v1/flow-versions/${one}/diff/${other}`), 200).patch;
      assert.deepEqual(await diff(first, restored.id), []);
      assert.deepEqual(await diff(second, restored.id), await diff(second, first));
      assert.equal((await historyOf()).events.at(-1)?.summary, 'Version 3 was restored from version 1.');
    });

    it('keeps the history and the past states of a deleted flow', async () => {
      expectStatus(await admin.remove(flowPath()), 204);
      expectStatus(await holder.get(flowPath()), 404);
      const { events } = await historyOf();
      assert.equal(events.at(-1)?.summary, 'The flow was deleted, with its versions.');
      for (const { revision, flow } of seen) {
        assert.deepEqual(expectStatus(await holder.get(`${flowPath()}?asOf=${revision}`), 200), flow);
      }
      const end = events.at(-1)?.revision;
      expectProblem(await holder.get(`${flowPath()}?asOf=${end}`), 404, 'flow-not-found');
    });
  });
});
