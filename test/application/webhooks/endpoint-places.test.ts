import assert from 'node:assert/strict';
import { EndpointCreation, EndpointPlaces } from '#application/webhooks/endpoint-places.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import type { Where } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { tenants } from '#test/support/events/tenants.ts';

const limits = { maxPerProject: 2, maxPerOrganization: 3 };
const organization = { ...tenants.project, projectId: null };

/** A read model that shows endpoints when the test says so. */
class Shown {
  readonly positions = new Positions(new Admission());
  counts = 0;
  #shown: Tenant[] = [];

  constructor() {
    this.show([], 0);
  }

  /** Shows exactly these endpoints, which exist up to a position. */
  show(endpoints: ReadonlyArray<Tenant>, position: number, live = true): void {
    this.#shown = [...endpoints];
    this.positions.update('projection', new Map([['webhook-endpoints', { position, live }]]));
  }

  count = async (_: string, where: Where, limit: number): Promise<number> => {
    this.counts += 1;
    const fits = (tenant: Tenant) => Object.entries(where).every(([field, id]) => Reflect.get(tenant, field) === id);
    return Math.min(limit, this.#shown.filter(fits).length);
  };
}

const change = (type: string, tenant: Tenant, position: number) =>
  ({ type, position, metadata: tenant }) as unknown as RecordedEvent;
const created = (tenant: Tenant, position: number) => change('WebhookEndpointCreated', tenant, position);

describe('EndpointPlaces', () => {
  let shown: Shown;
  let places: EndpointPlaces;
  beforeEach(() => {
    shown = new Shown();
    places = new EndpointPlaces({
      admission: new Admission(),
      documents: shown,
      positions: shown.positions,
      limits,
      timeoutMs: 20,
    });
  });

  const isFull = async (tenant: Tenant): Promise<boolean> => {
    const refusal = await places.refusalOf(tenant);
    if (refusal !== null) assert.equal(refusal.code, 'too-many-webhook-endpoints');
    return refusal !== null;
  };

  it('counts the endpoints of a project, and with them those of its organization', async () => {
    shown.show([tenants.project, tenants.project], 2);
    assert.ok(await isFull(tenants.project));
    assert.ok(!(await isFull(tenants.sibling)));
    assert.ok(!(await isFull(organization)));
    shown.show([tenants.project, tenants.project, organization], 3);
    assert.ok(await isFull(tenants.sibling));
    assert.ok(await isFull(organization));
    assert.ok(!(await isFull(tenants.stranger)));
  });

  it('counts ten times as many for a partner with all its customers', async () => {
    const customers = Array.from({ length: 29 }, (_, index) => ({
      ...tenants.customer,
      organizationId: `corgcustomer${index}`,
      projectId: `cprojectcust${index}`,
    }));
    shown.show(customers, 29);
    assert.ok(!(await isFull(tenants.customer)));
    shown.show([...customers, tenants.customer], 30);
    const refusal = await places.refusalOf(tenants.customer);
    assert.match(refusal?.detail ?? '', /^The partner and its customers have 30 webhook endpoints/);
    assert.ok(await isFull(organization));
    assert.ok(!(await isFull(tenants.stranger)));
  });

  it('adds the creations of this node that the read model does not show yet', async () => {
    places.observe([created(tenants.project, 1)]);
    assert.ok(!(await isFull(tenants.project)));
    places.observe([created(tenants.project, 2)]);
    assert.ok(await isFull(tenants.project));
    assert.ok(!(await isFull(tenants.sibling)));
  });

  it('does not count a creation twice when the read model shows it during the count', async () => {
    places.observe([created(tenants.project, 1)]);
    const { count } = shown;
    shown.count = async (...args) => {
      if (shown.counts === 0) shown.show([tenants.project], 1);
      return count(...args);
    };
    assert.ok(!(await isFull(tenants.project)));
  });

  it('waits at a full limit until the read model shows a deletion', async () => {
    shown.show([tenants.project, tenants.project], 2);
    places = new EndpointPlaces({
      admission: new Admission(),
      documents: shown,
      positions: shown.positions,
      limits,
      timeoutMs: 60_000,
    });
    places.observe([change('WebhookEndpointDeleted', tenants.project, 3)]);
    const waiting = isFull(tenants.project);
    await new Promise(setImmediate);
    shown.show([tenants.project], 3);
    assert.ok(!(await waiting));
  });

  it('does not wait for a read model that has stopped', async () => {
    places = new EndpointPlaces({
      admission: new Admission(),
      documents: shown,
      positions: shown.positions,
      limits,
      timeoutMs: 60_000,
    });
    shown.show([tenants.project], 1, false);
    places.observe([created(tenants.project, 2)]);
    assert.ok(await isFull(tenants.project));
  });

  it('counts no further than a limit that is reached without the read model', async () => {
    shown.show([], 0, false);
    places.observe([created(tenants.project, 1), created(tenants.project, 2)]);
    assert.ok(await isFull(tenants.project));
    assert.equal(shown.counts, 0);
  });

  describe('EndpointCreation', () => {
    const create = async (tenant: Tenant, position: number): Promise<boolean> => {
      using creation = new EndpointCreation(places);
      if ((await creation.takePlace(tenant)) !== null) return false;
      await new Promise(setImmediate);
      places.observe([created(tenant, position)]);
      return true;
    };

    it('leaves at most the limit of creations that begin at the same time', async () => {
      const made = await Promise.all(Array.from({ length: 30 }, (_, index) => create(tenants.project, index + 1)));
      assert.equal(made.filter(Boolean).length, limits.maxPerProject);
    });

    it('takes turns with the other projects of its partner, and not with strangers', async () => {
      const order: string[] = [];
      const enter = async (name: string, tenant: Tenant) => {
        using creation = new EndpointCreation(places);
        await creation.takePlace(tenant);
        await new Promise(setImmediate);
        order.push(name);
      };
      using first = new EndpointCreation(places);
      await first.takePlace(tenants.project);
      const waiting = [
        enter('project 2', tenants.project),
        enter('project 3', tenants.project),
        enter('customer', tenants.customer),
      ];
      await enter('stranger', tenants.stranger);
      first[Symbol.dispose]();
      await Promise.all(waiting);
      assert.deepEqual(order, ['stranger', 'project 2', 'customer', 'project 3']);
    });

    it('keeps its turn when it takes its place again', async () => {
      using creation = new EndpointCreation(places);
      assert.equal(await creation.takePlace(tenants.project), null);
      assert.equal(await creation.takePlace(tenants.project), null);
    });

    it('is refused as unavailable when 500 creations of its project wait', async () => {
      const first = new EndpointCreation(places);
      await first.takePlace(tenants.project);
      const waiting = Array.from({ length: 500 }, (_, index) => create(tenants.project, index + 1));
      await assert.rejects(create(tenants.project, 501), UnavailableError);
      first[Symbol.dispose]();
      await Promise.all(waiting);
    });
  });
});
