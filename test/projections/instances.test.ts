import assert from 'node:assert/strict';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import {
  activeInstance,
  ended,
  instanceCreated,
  instanceDeleted,
  progressed,
  targetOf,
  upgradeRequested,
} from '#test/support/events/instance-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import type { ExampleEvent } from '#test/support/harness/recorded-events.ts';

const documents = (...events: ReadonlyArray<ExampleEvent>) =>
  projectStreams(instances, { [`instance-${ids.instance}`]: events }) as Readonly<Record<string, InstanceDocument>>;

const welcomeId = 'c0nco5rm8exj5sjtbbd8p5jb';
const byeId = 'cmlmr9rhvvxzy8y4vbtqszvd';
const storeId = 'c1tlgkfjkgppe4sptecqjzng';
const profileId = 'cprojectone00001azcnvwbt';

/** The members that all documents of the example instance share. */
const shared = {
  id: 'cinstanceone0001',
  projectId: 'cprojectone00001',
  organizationId: 'corgpartner00001',
  templateId: 'ctemplateone0001',
  name: 'Weber',
  deleted: false,
  removal: null,
  phoneNumbers: [],
};

const firstTarget = {
  templateVersionId: 'ctemplateone0001version1',
  templateVersion: 1,
  fieldValues: { name: 'Weber', limit: '10' },
  phoneNumberRequirements: [{ key: 'main', label: 'Main line' }],
  resources: {
    flows: [
      { key: 'welcome', id: welcomeId, versionId: `${welcomeId}o1dza7rf`, name: 'Welcome', type: 'simple' },
      { key: 'bye', id: byeId, versionId: `${byeId}72cg24ys`, name: 'Bye', type: 'graph' },
    ],
    agentProfile: {
      id: profileId,
      name: 'Desk',
      supportedInputLanguages: ['en'],
      reasoningMode: 'fast',
      outputVoiceId: '',
    },
    stores: [{ key: 'faq', id: storeId, name: 'Questions', description: null }],
  },
};

const firstOperation = {
  number: 1,
  kind: 'provision',
  templateVersionId: 'ctemplateone0001version1',
  outcome: 'succeeded',
  reason: null,
  startedAt: '2026-01-05T09:30:00.000Z',
  endedAt: '2026-01-05T09:30:03.000Z',
};

describe('instances projection', () => {
  it('shows a new instance with its target and with all steps of its first operation to do', () => {
    assert.deepEqual(documents(instanceCreated()), {
      [ids.instance]: {
        ...tenants.project,
        revision: 0,
        position: 1,
        name: shared.name,
        status: 'provisioning',
        state: {
          ...shared,
          createdAt: '2026-01-05T09:30:00.000Z',
          updatedAt: '2026-01-05T09:30:00.000Z',
          base: null,
          target: firstTarget,
          operation: {
            number: 1,
            kind: 'provision',
            startedAt: '2026-01-05T09:30:00.000Z',
            steps: [
              { action: 'create', resource: 'agent-profile', key: null, id: profileId, versionId: null },
              { action: 'create', resource: 'flow', key: 'welcome', id: welcomeId, versionId: `${welcomeId}o1dza7rf` },
              { action: 'create', resource: 'flow', key: 'bye', id: byeId, versionId: `${byeId}72cg24ys` },
              { action: 'create', resource: 'store', key: 'faq', id: storeId, versionId: null },
            ],
            clearing: 0,
            commitAt: 4,
            committed: false,
            done: 0,
            undoneFor: null,
            attempts: 0,
            problem: null,
          },
          lastOperation: null,
          operations: 1,
        },
      },
    });
  });

  it('shows an active instance with its base, no running operation, and the outcome of its last operation', () => {
    assert.deepEqual(documents(...activeInstance()), {
      [ids.instance]: {
        ...tenants.project,
        revision: 3,
        position: 4,
        name: shared.name,
        status: 'active',
        state: {
          ...shared,
          createdAt: '2026-01-05T09:30:00.000Z',
          updatedAt: '2026-01-05T09:30:03.000Z',
          base: firstTarget,
          target: firstTarget,
          operation: null,
          lastOperation: firstOperation,
          operations: 1,
        },
      },
    });
  });

  it('shows a running upgrade with its base, its target and the steps done so far', () => {
    const upgrading = [...activeInstance(), upgradeRequested(2, targetOf(2, {}, targetOf(1))), progressed(2, 2)];
    const document = documents(...upgrading)[ids.instance];
    assert.ok(document?.state);
    const { base, target, operation, lastOperation, operations, updatedAt } = document.state;
    assert.deepEqual([document.revision, document.position], [5, 6]);
    assert.equal(updatedAt, '2026-01-05T09:30:05.000Z');
    assert.deepEqual(base, firstTarget);
    assert.equal(target.templateVersionId, 'ctemplateone0001version2');
    assert.deepEqual(
      target.resources.flows.map(({ id, versionId }) => [id, versionId]),
      [
        [welcomeId, `${welcomeId}kenl2i63`],
        [byeId, `${byeId}itd1onhb`],
      ],
    );
    assert.deepEqual(
      operation?.steps.map(({ action, resource, key }) => [action, resource, key].join(' ')),
      [
        'prepare flow welcome',
        'prepare flow bye',
        'activate flow welcome',
        'activate flow bye',
        'adjust agent-profile ',
        'adjust store faq',
        'adjust flow welcome',
        'adjust flow bye',
      ],
    );
    assert.deepEqual(
      [operation?.number, operation?.kind, operation?.done, operation?.commitAt, operation?.committed],
      [2, 'upgrade', 2, 4, false],
    );
    assert.deepEqual([lastOperation, operations], [firstOperation, 2]);
  });

  it('shows no deleted instance, whatever events its removal appends later', () => {
    assert.deepEqual(documents(...activeInstance(), instanceDeleted(2)), {});
    assert.deepEqual(documents(...activeInstance(), instanceDeleted(2), progressed(2, 4), ended(2)), {});
  });
});
