import assert from 'node:assert/strict';
import { noLatencies } from '#domain/usage/latency-bins.ts';
import { GatewayAnswer } from '#queries/dashboard/gateway-answer.ts';
import { ActivityAnswer, getActivityDashboard } from '#queries/dashboard/get-activity-dashboard.ts';
import { FlowsAnswer, getFlowsDashboard } from '#queries/dashboard/get-flows-dashboard.ts';
import { getGatewayDashboard } from '#queries/dashboard/get-gateway-dashboard.ts';
import { getInstancesDashboard, InstancesAnswer } from '#queries/dashboard/get-instances-dashboard.ts';
import { getProjectionsDashboard } from '#queries/dashboard/get-projections-dashboard.ts';
import { begunFlow, versionActivated, versionCreated, versionDeleted } from '#test/support/events/flow-events.ts';
import { activeInstance, ended, operationFailed, upgradeRequested } from '#test/support/events/instance-events.ts';
import { templateCreated } from '#test/support/events/template-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { usageEntry, usageRecorded } from '#test/support/events/usage-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { givenLog, queriesOn } from '#test/support/harness/query-harness.ts';
import { recorded } from '#test/support/harness/recorded-events.ts';

const hourMs = 3_600_000;
const projectCreated = {
  type: 'ProjectCreated',
  data: { id: ids.project, organizationId: ids.partner, name: 'One' },
};
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const instanceStream = `instance-${ids.instance}`;

describe('getGatewayDashboard', () => {
  const served = usageEntry([100, 200], { model: 'large', target: 'a/one', firstContent: [50, 60] });
  const failed = usageEntry([300], {
    model: 'small',
    target: 'b/two',
    outcome: 'failed',
    failedTries: [{ target: 'b/two', errorType: 'http_500', tries: 2 }],
  });
  const strange = usageEntry([400], { keyId: 'ckeystranger0001', ...tenants.stranger });
  const log = () =>
    givenLog({
      [`project-${ids.project}`]: [projectCreated],
      'usage-x': [usageRecorded(ago(30 * 60_000), [served, failed]), usageRecorded(ago(29 * 60_000), [strange])],
    });

  for (const [interval, ms] of [
    ['minute', 3 * hourMs],
    ['quarter-hour', 24 * hourMs],
    ['hour', 7 * 24 * hourMs],
    ['day', 30 * 24 * hourMs],
  ] as const) {
    it(`shows an operator all calls by the ${interval}, with models, targets, routes and failed tries`, async () => {
      const { body } = await log().ask(getGatewayDashboard, { from: ago(ms) });
      assert.ok(GatewayAnswer.is(body));
      assert.equal(body.interval, interval);
      assert.equal(body.totals.calls, 4);
      assert.deepEqual([body.totals.errors, body.totals.failed], [1, 1]);
      const sum = (counts: ReadonlyArray<number>) => counts.reduce((all, count) => all + count, 0);
      assert.equal(body.series.calls.length, body.times.length);
      assert.equal(sum(body.series.calls), 4);
      assert.deepEqual(body.models.map(({ model, calls, totals }) => [model, sum(calls), totals.calls]).toSorted(), [
        ['gpt-large', 1, 1],
        ['large', 2, 2],
        ['small', 1, 1],
      ]);
      assert.equal(body.breakdown.times.length, body.models[0]?.calls.length);
      assert.deepEqual(body.failedTries, [{ model: 'small', target: 'b/two', errorType: 'http_500', tries: 2 }]);
      assert.deepEqual(body.routes?.find(({ model }) => model === 'large')?.target, 'a/one');
      assert.equal(body.targets?.length, 3);
      assert.equal(body.previous?.totals.calls ?? 0, 0);
    });
  }

  it('shows the tokens and the cost of broken attempts in a time without a call', async () => {
    const broken = { ...usageEntry([1]), calls: 0, attempts: 0, callsWithTokens: 0, totalMs: noLatencies };
    const withBroken = givenLog({ 'usage-x': [usageRecorded(ago(30 * 60_000), [broken])] });
    const { body } = await withBroken.ask(getGatewayDashboard, { from: ago(3 * hourMs) });
    assert.ok(GatewayAnswer.is(body));
    const { calls, inputTokens, cost, p95Ms } = body.totals;
    assert.deepEqual([calls, inputTokens, cost, p95Ms], [0, 100, 0.25, null]);
  });

  it('shows other keys the figures that they can access, without targets and health', async () => {
    const { body } = await log().ask(getGatewayDashboard, {}, callerOf('project'));
    assert.ok(GatewayAnswer.is(body));
    assert.equal(body.totals.calls, 3);
    assert.deepEqual([body.targets, body.routes, body.failedTries, body.health], [null, null, null, null]);
  });

  it('shows the calls of one model, and of one accessible key', async () => {
    const of = async (input: Record<string, string>, keyType: 'admin' | 'partner' = 'partner') =>
      ((await log().ask(getGatewayDashboard, input, callerOf(keyType))).body as unknown as GatewayAnswer).totals.calls;
    assert.equal(await of({ model: 'large' }), 2);
    assert.equal(await of({ keyId: ids.key }), 3);
    assert.equal(await of({ keyId: 'ckeystranger0001' }), 0);
    assert.equal(await of({ keyId: 'ckeystranger0001' }, 'admin'), 1);
    assert.equal(await of({ projectId: ids.project }, 'admin'), 3);
  });

  it('refuses a range that is too long or no longer kept with 422', async () => {
    for (const input of [
      { from: ago(7 * hourMs), interval: 'minute' },
      { from: ago(100 * hourMs), until: ago(99 * hourMs), interval: 'minute' },
      { from: ago(430 * 24 * hourMs) },
      { from: ago(0), until: ago(hourMs) },
      { model: 'large', keyId: ids.key },
    ])
      assert.equal((await log().ask(getGatewayDashboard, input)).refusal, 'invalid-input');
  });
});

describe('getActivityDashboard', () => {
  // The events of the log are of January 2026, but counts of all times include them.
  const log = () =>
    givenLog(
      {
        [`flow-${ids.flow}`]: begunFlow(),
        [`flow-${ids.otherFlow}`]: begunFlow({ id: ids.otherFlow }),
        'template-x': [templateCreated()],
      },
      { [`flow-${ids.otherFlow}`]: tenants.stranger, 'template-x': { ...tenants.project, projectId: null } },
    );

  it('counts the resources that a key can access, and templates only for partners and operators', async () => {
    for (const [keyType, flows, templates, events] of [
      ['admin', 2, 1, 7],
      ['partner', 1, 1, 4],
      ['organization', 1, null, 3],
      ['project', 1, null, 3],
    ] as const) {
      const { body } = await log().ask(getActivityDashboard, {}, callerOf(keyType));
      assert.ok(ActivityAnswer.is(body));
      assert.deepEqual([body.counts.flows, body.counts.templates, body.counts.events], [flows, templates, events]);
      assert.equal(body.days.length, 30);
      assert.equal(body.hours.events.length, 48);
    }
  });

  it('answers another tenant’s project with 404', async () => {
    const answer = await log().ask(getActivityDashboard, { projectId: ids.strangerProject }, callerOf('partner'));
    assert.equal(answer.refusal, 'project-not-found');
  });
});

describe('getFlowsDashboard', () => {
  it('shows the versions and activations of each flow', async () => {
    const events = [
      ...begunFlow(),
      versionCreated(2),
      versionActivated(2, 1),
      versionCreated(3),
      versionActivated(1, 2),
      versionDeleted(2),
    ];
    const { body } = await givenLog({ [`flow-${ids.flow}`]: events }).ask(getFlowsDashboard, {}, callerOf('project'));
    assert.ok(FlowsAnswer.is(body));
    assert.equal(body.totals.flows, 1);
    const [flow] = body.flows;
    assert.deepEqual([flow?.versions, flow?.deletedVersions, flow?.activations], [2, 1, 3]);
    assert.deepEqual([flow?.newestVersion.number, flow?.activeVersion?.number, flow?.activeVersion?.tag], [3, 1, 'v1']);
  });
});

describe('getInstancesDashboard', () => {
  const upgraded = [...activeInstance(), upgradeRequested(2)];
  const of = async (events: Parameters<typeof givenLog>[0][string], keyType: 'partner' | 'project' = 'partner') => {
    const { body } = await givenLog({ [instanceStream]: events }).ask(getInstancesDashboard, {}, callerOf(keyType));
    assert.ok(InstancesAnswer.is(body));
    return body;
  };

  const undone = [...upgraded, operationFailed(2), ended(2, 'undone')];

  it('counts instances by template version and state', async () => {
    assert.deepEqual((await of(activeInstance())).totals, { instances: 1, active: 1, provisioning: 0, failed: 0 });
    const { totals, versions } = await of(upgraded, 'project');
    assert.deepEqual(totals, { instances: 1, active: 0, provisioning: 1, failed: 0 });
    assert.deepEqual(
      versions.map(({ number, provisioning, templateName }) => [number, provisioning, templateName]),
      [[2, 1, null]],
    );
  });

  it('names an instance whose upgrade was undone', async () => {
    const { attention, totals } = await of(undone);
    assert.equal(totals.active, 1);
    assert.equal(attention.total, 1);
    assert.deepEqual(
      attention.instances.map(({ instanceId, why }) => [instanceId, why]),
      [[ids.instance, 'undone']],
    );
  });

  it('counts as many instances that need attention as it names, while the totals are ahead of the instances', async () => {
    const store = new AppendableEventStore();
    store.log.push(...recorded(instanceStream, undone));
    const before = new ReadModel(store.log.slice(0, -1));
    const documents = new (class extends ReadModel {
      override list = before.list.bind(before);
    })(store.log);
    const { body } = await queriesOn({ store, documents }).ask(getInstancesDashboard);
    assert.ok(InstancesAnswer.is(body));
    assert.deepEqual(body.attention, { total: 0, instances: [] });
  });
});

describe('getProjectionsDashboard', () => {
  it('answers only operators', async () => {
    const answer = await givenLog({}).ask(getProjectionsDashboard, {}, callerOf('partner'));
    assert.equal(answer.refusal, 'key-type-not-allowed');
    assert.ok('past' in ((await givenLog({}).ask(getProjectionsDashboard)).body as object));
  });
});
