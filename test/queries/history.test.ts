import assert from 'node:assert/strict';
import patches, { type Operation } from 'fast-json-patch';
import { newEvent } from '#domain/shared/event.ts';
import {
  getAgentProfileHistory,
  getApiKeyHistory,
  getFlowHistory,
  getOrganizationHistory,
  getProjectHistory,
  getTemplateHistory,
} from '#queries/histories.ts';
import type { Json } from '#shared/json/json.ts';
import { defaultMoved, profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import {
  begunFlow,
  flowDeleted,
  versionActivated,
  versionCreated,
  versionOf,
} from '#test/support/events/flow-events.ts';
import {
  templateCreated,
  templateVersionCreated,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import {
  apiKeyCreated,
  apiKeyRevoked,
  apiKeyRotated,
  customerCreated,
  firstSecret,
  personalDataErased,
  projectCreated,
} from '#test/support/events/tenant-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';
import { timeOf } from '#test/support/harness/recorded-events.ts';

interface Entry {
  readonly revision: number;
  readonly type: string;
  readonly resource: { readonly kind: string; readonly id: string };
  readonly summary: string;
  readonly changes: Operation[];
}

const eventsOf = (body: Json) => (body as unknown as { readonly events: ReadonlyArray<Entry> }).events;
const summariesOf = (body: Json) => eventsOf(body).map(({ summary }) => summary);
const flowStream = `flow-${ids.flow}`;
const renamed = (name: string) => newEvent('FlowRenamed', { id: ids.flow, name });

/** Computes the record of one resource after each of its events, only from their patches. */
function recordsOf(events: ReadonlyArray<Entry>, id: string): ReadonlyArray<unknown> {
  let record: unknown = null;
  return events
    .filter(({ resource }) => resource.id === id)
    .map(({ changes }) => {
      const root = { value: structuredClone(record) };
      const moved = changes.map((change) => ({ ...change, path: `/value${change.path}` }));
      record = patches.applyPatch(root, moved).newDocument.value;
      return record;
    });
}

describe('history of a flow', () => {
  it('shows who did what and when, with the record before and after each event', async () => {
    const log = givenLog({ [flowStream]: [...begunFlow(), renamed('Nights')] });
    const { body } = await log.ask(getFlowHistory, { flowId: ids.flow });
    const [created, added, activated, last] = eventsOf(body);
    assert.deepEqual(last, {
      revision: 3,
      type: 'FlowRenamed',
      time: timeOf(3),
      actor: { keyId: 'ckeyadmin0000000', keyType: 'admin', keyName: null },
      requestId: 'request-1',
      resource: { kind: 'flow', id: ids.flow },
      summary: 'The flow was renamed to “Nights”.',
      changes: [
        { op: 'replace', path: '/updatedAt', value: timeOf(3) },
        { op: 'replace', path: '/name', value: 'Nights' },
      ],
    });
    assert.deepEqual(
      created?.changes.map(({ op, path }) => [op, path]),
      [['replace', '']],
    );
    assert.deepEqual(added?.resource, { kind: 'flow-version', id: versionOf(ids.flow, 1) });
    assert.deepEqual(
      activated?.changes.map(({ path }) => path),
      ['/updatedAt', '/isActive'],
    );
  });

  it('names versions by their numbers', async () => {
    const log = givenLog({ [flowStream]: [...begunFlow(), versionCreated(2), versionActivated(2, 1)] });
    const { body } = await log.ask(getFlowHistory, { flowId: ids.flow });
    assert.deepEqual(summariesOf(body).slice(-2), [
      'Version 2 was added.',
      'Version 2 was activated instead of version 1.',
    ]);
  });

  it('has patches that lead from nothing to the record, and back to nothing when the flow is deleted', async () => {
    const log = givenLog({ [flowStream]: [...begunFlow(), renamed('Nights'), flowDeleted()] });
    const { body } = await log.ask(getFlowHistory, { flowId: ids.flow });
    const records = recordsOf(eventsOf(body), ids.flow) as ReadonlyArray<{ readonly name: string } | null>;
    assert.deepEqual(
      records.map((record) => record?.name ?? null),
      ['Opening hours', 'Nights', null],
    );
  });

  it('exists for a deleted flow, but only for keys that could access the flow', async () => {
    const log = givenLog({ [flowStream]: [...begunFlow(), flowDeleted()] });
    const stranger = callerOf('project', tenants.stranger);
    assert.equal(eventsOf((await log.ask(getFlowHistory, { flowId: ids.flow })).body).length, 4);
    assert.equal((await log.ask(getFlowHistory, { flowId: ids.flow }, stranger)).refusal, 'flow-not-found');
    assert.equal((await log.ask(getFlowHistory, { flowId: ids.otherFlow })).refusal, 'flow-not-found');
    const scopeless = callerOf('project', { scopes: ['keys:read'] });
    assert.equal((await log.ask(getFlowHistory, { flowId: ids.flow }, scopeless)).refusal, 'scope-required');
  });

  it('filters by type, actor and time, and refuses an unknown type', async () => {
    const log = givenLog({ [flowStream]: [...begunFlow(), renamed('Nights'), renamed('Days')] });
    const ask = async (filters: Readonly<Record<string, string>>) =>
      eventsOf((await log.ask(getFlowHistory, { flowId: ids.flow, ...filters })).body).map(({ revision }) => revision);
    assert.deepEqual(await ask({ type: 'FlowRenamed' }), [3, 4]);
    assert.deepEqual(await ask({ actor: 'ckeyadmin0000000' }), [0, 1, 2, 3, 4]);
    assert.deepEqual(await ask({ actor: 'ckeyother0000000' }), []);
    assert.deepEqual(await ask({ since: timeOf(3) }), [3, 4]);
    assert.deepEqual(await ask({ until: timeOf(3) }), [0, 1, 2]);
    assert.equal((await log.ask(getFlowHistory, { flowId: ids.flow, type: 'FlowBent' })).refusal, 'invalid-input');
  });

  it('pages without losing or repeating an event', async () => {
    const names = Array.from({ length: 250 }, (_, index) => `Name ${index}`);
    const log = givenLog({ [flowStream]: [...begunFlow(), ...names.map(renamed)] });
    const revisions: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof log.ask>> = await log.ask(getFlowHistory, {
        flowId: ids.flow,
        limit: '7',
        ...(cursor === null ? {} : { cursor }),
      });
      revisions.push(...eventsOf(page.body).map(({ revision }) => revision));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(
      revisions,
      Array.from({ length: 253 }, (_, index) => index),
    );
  });

  it('omits remembered requests', async () => {
    const log = givenLog({ [flowStream]: [...begunFlow(), newEvent('RequestAnswered', {})] });
    assert.equal(eventsOf((await log.ask(getFlowHistory, { flowId: ids.flow })).body).length, 3);
  });
});

describe('history of other resources', () => {
  it('lists only the events of one agent profile of a project', async () => {
    const stream = [
      profileCreated(),
      profileCreated({ id: ids.otherProfile, name: 'Night desk' }),
      defaultMoved(ids.profile, null),
      defaultMoved(ids.otherProfile, ids.profile),
      profileDeleted(),
    ];
    const log = givenLog({ [`agentProfiles-${ids.project}`]: stream });
    const events = eventsOf((await log.ask(getAgentProfileHistory, { agentProfileId: ids.profile })).body);
    assert.deepEqual(
      events.map(({ revision, resource }) => [revision, resource.id]),
      [0, 2, 3, 4].map((revision) => [revision, ids.profile]),
    );
    const isDefault = events.map(({ changes }) => changes.find(({ path }) => path === '/isDefault'));
    assert.deepEqual(
      isDefault.slice(1, 3).map((change) => change && 'value' in change && change.value),
      [true, false],
    );
  });

  it('compares a version of a template with its own record', async () => {
    const stream = [templateCreated(), templateVersionCreated(1), templateVersionPublished(1)];
    const log = givenLog({ [`template-${ids.template}`]: stream });
    const events = eventsOf((await log.ask(getTemplateHistory, { templateId: ids.template })).body);
    assert.equal(events[2]?.summary, 'Version 1 was published, and with it the template.');
    assert.deepEqual(
      events[2]?.changes.map(({ path }) => path),
      ['/updatedAt', '/publishedAt'],
    );
  });

  it('shows neither the secret of an API key nor its hash', async () => {
    const created = apiKeyCreated();
    const rotated = apiKeyRotated(`sy_live_${'Z9z'.repeat(14)}`);
    const log = givenLog({ [`apiKey-${ids.key}`]: [created, rotated, apiKeyRevoked()] });
    const { body } = await log.ask(getApiKeyHistory, { keyId: ids.key });
    assert.equal(eventsOf(body).length, 3);
    const text = JSON.stringify(body);
    for (const secret of [
      created.data.secretHash,
      rotated.data.secretHash,
      rotated.data.previousSecretHash,
      firstSecret,
    ])
      assert.ok(!text.includes(secret), secret);
  });

  it('shows the erased personal data of a customer as erased', async () => {
    const log = givenLog({ [`organization-${ids.customer}`]: [customerCreated(), personalDataErased()] });
    const { body } = await log.ask(getOrganizationHistory, { organizationId: ids.customer });
    const [first, second] = recordsOf(eventsOf(body), ids.customer) as ReadonlyArray<Record<string, unknown>>;
    assert.deepEqual([first?.name, first?.clientEmail, first?.personalDataErasedAt], ['erased', 'erased', null]);
    assert.deepEqual([second?.name, second?.personalDataErasedAt], ['erased', timeOf(1)]);
    assert.ok(!JSON.stringify(body).includes('sealed'));
  });

  it('names a project whose event has no project id', async () => {
    const stream = [projectCreated(), newEvent('ProjectRenamed', { name: 'Back desk' })];
    const log = givenLog({ [`project-${ids.project}`]: stream });
    const { body } = await log.ask(getProjectHistory, { projectId: ids.project });
    assert.deepEqual(eventsOf(body)[1]?.resource, { kind: 'project', id: ids.project });
  });
});
