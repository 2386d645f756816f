import assert from 'node:assert/strict';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { payload } from '#test/support/inputs/template-payload.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines, SharedEngines } from '#test/support/service/engines.ts';
import { openMongoDbReadStore } from '#test/support/service/mongodb-read-store.ts';
import { expectProblem, expectStatus } from './support/expect.ts';
import { rebuildProjection } from './support/rebuild-projection.ts';
import { composedService } from './support/running-service.ts';
import { everyDocument, readDocuments } from './support/stores.ts';
import { newHolder, newOrganization, newProject } from './support/tenants.ts';

type Named = { readonly id: string };

/** A project with the number of flows that its tenants created in it and the number of calls with its key. */
interface ActiveProject {
  readonly projectId: string;
  readonly organizationId: string;
  readonly key: Client;
  readonly flows: number;
  readonly calls: number;
}

interface UsageRow {
  readonly project: string;
  readonly calls: number;
  readonly cost: number;
}

interface Followers {
  readonly projections: ReadonlyArray<{ readonly name: string; readonly lag: number | null }>;
  readonly processes: ReadonlyArray<{ readonly name: string; readonly lag: number | null }>;
}

/** The read models behind `/v1/dashboard/…` and `/v1/usage`. */
const figures = [
  'activity',
  'flow-figures',
  'instance-figures',
  'usage-by-minute',
  'usage-by-quarter-hour',
  'usage-by-hour',
  'usage-by-day',
];

const dashboards = ['activity', 'flows', 'instances', 'gateway'];

describeOnEngines('figures of tenants', (engines) => {
  const running = composedService(engines);
  let admin: Client;
  let home: ActiveProject;
  let customer: ActiveProject;
  let branch: ActiveProject;
  let otherCustomer: ActiveProject;
  let stranger: ActiveProject;
  /** By name, each client with the projects whose figures it reads. */
  let holders: Readonly<Record<string, { readonly client: Client; readonly places: ReadonlyArray<ActiveProject> }>>;

  before(async function () {
    this.timeout(180_000);
    admin = running.client;
    const organizationId = await newOrganization(admin, true);
    home = await addActivity(organizationId, await newProject(admin, organizationId), 1);
    const partner = await newHolder(admin, home.projectId, 'partner');
    const made = await newCustomer(partner, 'Harbour Dental');
    customer = await addActivity(made.organizationId, made.projectId, 2);
    branch = await addActivity(made.organizationId, await newProject(admin, made.organizationId), 3);
    const other = await newCustomer(partner, 'Weber Clinic');
    otherCustomer = await addActivity(other.organizationId, other.projectId, 4);
    const strangers = await newOrganization(admin, true);
    stranger = await addActivity(strangers, await newProject(admin, strangers), 5);
    const ofOrganization = await newHolder(admin, customer.projectId, 'organization');
    const ofStrangers = await newHolder(admin, stranger.projectId, 'partner');
    await newInstance(partner, customer.projectId);
    holders = {
      'a partner': { client: partner, places: [home, customer, branch, otherCustomer] },
      'a customer': { client: ofOrganization, places: [customer, branch] },
      'a project': { client: customer.key, places: [customer] },
      'another partner': { client: ofStrangers, places: [stranger] },
    };
    await followed();
  });

  async function newCustomer(partner: Client, name: string) {
    const body = { name, clientEmail: 'office@example.com' };
    return expectStatus(
      await partner.post<{ organizationId: string; projectId: string }>('/v1/partner/customers', body),
      201,
    );
  }

  /** Creates flows in a project, and makes calls with a key of the project: `count` of each. */
  async function addActivity(organizationId: string, projectId: string, count: number): Promise<ActiveProject> {
    const key = await newHolder(admin, projectId, 'project');
    for (let number = 0; number < count; number += 1) {
      const path = `/v1/projects/${projectId}/flows`;
      expectStatus(await key.post(path, { name: `Flow ${number}`, flowSchema: {} }), 201);
      const messages = [{ role: 'user', content: 'Hello' }];
      expectStatus(await key.post('/v1/chat/completions', { model: 'sandbox', messages }), 200);
    }
    return { organizationId, projectId, key, flows: count, calls: count };
  }

  /** Creates an instance, whose provisioning adds one flow, and waits until it is active. */
  async function newInstance(partner: Client, projectId: string): Promise<void> {
    const { id } = expectStatus(await partner.post<Named>('/v1/templates', { name: 'Practice' }), 201);
    const body = { payload: payload({ integrations: [] }) };
    const version = expectStatus(await partner.post<Named>(`/v1/templates/${id}/versions`, body), 201);
    expectStatus(await partner.post(`/v1/template-versions/${version.id}/publish`), 200);
    const wanted = { templateVersionId: version.id, projectId, name: 'Front desk' };
    const instance = expectStatus(await partner.post<Named>('/v1/instances', wanted), 201);
    await eventually(async () => {
      const reply = await partner.get<{ status: string }>(`/v1/instances/${instance.id}`);
      return reply.status === 200 && reply.body.status === 'active';
    }, 'the instance is active');
    customer = { ...customer, flows: customer.flows + 1 };
  }

  /** Waits until every call is metered, and every follower of the log is at its end. */
  async function followed(): Promise<void> {
    const calls = 1 + 2 + 3 + 4 + 5;
    await eventually(async () => sum(await usageOf(admin), 'calls') === calls, 'every call is metered');
    await eventually(async () => {
      const reply = await admin.get<Followers>('/v1/dashboard/projections');
      const { projections, processes } = expectStatus(reply, 200);
      return (
        projections.length > 0 && processes.length > 0 && [...projections, ...processes].every(({ lag }) => lag === 0)
      );
    }, 'every read model and every process is at the end of the log');
  }

  const usageOf = async (client: Client, query = '') =>
    expectStatus(await client.get<{ rows: UsageRow[] }>(`/v1/usage?groupBy=project${query}`), 200).rows;
  const dashboardOf = async <Answer>(client: Client, name: string, query = '') =>
    expectStatus(await client.get<Answer>(`/v1/dashboard/${name}${query}`), 200);

  it('bills each key only the usage of the projects that it can access', async () => {
    for (const [name, { client, places }] of Object.entries(holders)) {
      const rows = await usageOf(client);
      assert.deepEqual(
        rows.map(({ project, calls }) => [project, calls]).toSorted(),
        places.map(({ projectId, calls }) => [projectId, calls]).toSorted(),
        name,
      );
      const csv = await client.get('/v1/usage?groupBy=project', { accept: 'text/csv' });
      assert.equal(csv.text.trim().split('\n').length, 1 + places.length, name);
    }
  });

  it('shows each key the figures of the projects that it can access', async () => {
    for (const [name, { client, places }] of Object.entries(holders)) {
      const flows = sum(places, 'flows');
      const gateway = await dashboardOf<{ totals: { calls: number } }>(client, 'gateway');
      assert.equal(gateway.totals.calls, sum(places, 'calls'), name);
      const ofFlows = await dashboardOf<{ totals: { flows: number }; flows: { projectId: string }[] }>(client, 'flows');
      assert.equal(ofFlows.totals.flows, flows, name);
      assert.deepEqual(
        new Set(ofFlows.flows.map(({ projectId }) => projectId)),
        new Set(places.map(({ projectId }) => projectId)),
        name,
      );
      const activity = await dashboardOf<{ counts: { flows: number; instances: number } }>(client, 'activity');
      const instances = places.includes(customer) ? 1 : 0;
      assert.deepEqual([activity.counts.flows, activity.counts.instances], [flows, instances], name);
      const ofInstances = await dashboardOf<{ totals: { instances: number } }>(client, 'instances');
      assert.equal(ofInstances.totals.instances, instances, name);
    }
  });

  it('narrows figures to one customer or project for a partner', async () => {
    const { client } = holders['a partner'] ?? assert.fail();
    const places = {
      [`organizationId=${customer.organizationId}`]: [customer, branch],
      [`projectId=${home.projectId}`]: [home],
    };
    for (const [query, wanted] of Object.entries(places)) {
      assert.equal(sum(await usageOf(client, `&${query}`), 'calls'), sum(wanted, 'calls'));
      const flows = await dashboardOf<{ totals: { flows: number } }>(client, 'flows', `?${query}`);
      assert.equal(flows.totals.flows, sum(wanted, 'flows'));
    }
  });

  it('answers for an inaccessible organization or project as for an unknown one', async () => {
    const outOfReach = [
      [holders['a partner'], stranger],
      [holders['a customer'], otherCustomer],
      [holders['a project'], branch],
      [holders['another partner'], customer],
    ] as const;
    for (const [holder, { organizationId, projectId }] of outOfReach) {
      const { client } = holder ?? assert.fail();
      for (const path of ['/v1/usage', ...dashboards.map((name) => `/v1/dashboard/${name}`)]) {
        expectProblem(await client.get(`${path}?projectId=${projectId}`), 404, 'project-not-found');
        if (projectId === branch.projectId) continue;
        expectProblem(await client.get(`${path}?organizationId=${organizationId}`), 404, 'organization-not-found');
      }
    }
  });

  it('shows targets and projections only to operators', async () => {
    for (const { client } of Object.values(holders)) {
      expectProblem(await client.get('/v1/dashboard/projections'), 403, 'key-type-not-allowed');
      expectProblem(await client.get('/v1/usage?groupBy=target'), 403, 'key-type-not-allowed');
    }
  });

  it('shows the same figures after a rebuild of each read model', async () => {
    // From here on the documents of the operator's own activity count requests.
    await rebuildProjection(admin, 'stores');
    await followed();
    const before = await figureDocuments();
    assert.ok(figures.every((name) => (before[name]?.length ?? 0) > 0));
    for (const name of figures) await rebuildProjection(admin, name);
    await followed();
    const after = await figureDocuments();
    for (const name of figures) assert.deepEqual(after[name], before[name], name);
  });

  /** Reads the documents of the read models of figures. */
  async function figureDocuments(): Promise<Readonly<Record<string, ReadonlyArray<object>>>> {
    const documents = await readStored();
    return Object.fromEntries(figures.map((name) => [name, (documents[name] ?? []).map(withoutRequests)]));
  }

  async function readStored() {
    if (!(engines instanceof SharedEngines)) return readDocuments(running.dataDir);
    const store = openMongoDbReadStore({ url: engines.urls.readStoreUrl, timeoutMs: patientTimeoutMs });
    try {
      return await everyDocument(store);
    } finally {
      await store.close();
    }
  }
});

function sum<Key extends string>(items: ReadonlyArray<Readonly<Record<Key, number>>>, key: Key): number {
  return items.reduce((total, item) => total + item[key], 0);
}

/**
 * Each request for a rebuild counts as activity of those it belongs to: of their documents the types of other events
 * remain.
 */
function withoutRequests({ id, value }: StoredDocument<{ types?: Readonly<Record<string, number>> }>): object {
  const { ProjectionRebuildRequested: requests, ...types } = value.types ?? {};
  return requests === undefined ? { id, value } : { id, types };
}
