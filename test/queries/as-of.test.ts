import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { PastMoment } from '#application/history/as-of.ts';
import type { AnyQuery } from '#application/queries/query.ts';
import { newEvent } from '#domain/shared/event.ts';
import { getAgentProfile } from '#queries/agent-profile/get-agent-profile.ts';
import { getApiKey } from '#queries/api-key/get-api-key.ts';
import { getBatch } from '#queries/batch/get-batch.ts';
import { getFile } from '#queries/file/get-file.ts';
import { getFlow } from '#queries/flow/get-flow.ts';
import { getFlowVersion } from '#queries/flow-version/get-flow-version.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { getInstance } from '#queries/instance/get-instance.ts';
import { getPhoneNumber } from '#queries/phone-number/get-phone-number.ts';
import { getProject } from '#queries/project/get-project.ts';
import { getStore } from '#queries/store/get-store.ts';
import { listTemplateVersions } from '#queries/template-version/list-template-versions.ts';
import { profileCreated, profileReplaced } from '#test/support/events/agent-profile-events.ts';
import { batchChecked, batchCreated, batchId, batchTaken } from '#test/support/events/batch-events.ts';
import {
  begunFlow,
  flowCreated,
  flowDeleted,
  profileAssigned,
  versionActivated,
  versionCreated,
  versionDeleted,
  versionOf,
} from '#test/support/events/flow-events.ts';
import { activeInstance } from '#test/support/events/instance-events.ts';
import { phoneNumberCreated, phoneNumberDeleted } from '#test/support/events/phone-number-events.ts';
import { storeCreated, storeDeleted, storeDescribed } from '#test/support/events/store-events.ts';
import {
  templateCreated,
  templateVersionCreated,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import { apiKeyCreated, apiKeyRevoked, projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';
import { beginning, type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const renamed = (name: string) => newEvent('FlowRenamed', { id: ids.flow, name });
const flowStream = (...events: ReadonlyArray<ExampleEvent>) => ({ [`flow-${ids.flow}`]: events });

/** Half a second after the event at an index. */
const justAfter = (index: number) => new Date(beginning + index * 1000 + 500).toISOString();

type Log = ReturnType<typeof givenLog>;

const bodyOf = async (log: Log, query: AnyQuery, input: Readonly<Record<string, string>>) =>
  (await log.ask(query, input)).body as Readonly<Record<string, unknown>>;

describe('a resource as of a moment', () => {
  it('has the state after the event at a revision', async () => {
    const log = givenLog(flowStream(...begunFlow(), renamed('Nights'), renamed('Days')));
    const nameAt = async (asOf: string) => (await bodyOf(log, getFlow, { flowId: ids.flow, asOf })).name;
    assert.deepEqual(await Promise.all(['0', '2', '3', '4'].map(nameAt)), [
      'Opening hours',
      'Opening hours',
      'Nights',
      'Days',
    ]);
  });

  it('has the state at a time with any offset', async () => {
    const log = givenLog(flowStream(...begunFlow(), renamed('Nights'), renamed('Days')));
    const nameAt = async (asOf: string) => (await bodyOf(log, getFlow, { flowId: ids.flow, asOf })).name;
    assert.equal(await nameAt(timeOf(3)), 'Nights');
    assert.equal(await nameAt(justAfter(2)), 'Opening hours');
    assert.equal(await nameAt(justAfter(4)), 'Days');
    assert.equal(await nameAt('2126-01-01T00:00:00Z'), 'Days');
    assert.equal(await nameAt('2026-01-05T11:30:03+02:00'), 'Nights');
  });

  it('has the state at the end of a day in UTC, and that of now for a day that has not ended', async () => {
    const log = givenLog(flowStream(...begunFlow(), renamed('Nights')));
    const nameAt = async (asOf: string) => (await bodyOf(log, getFlow, { flowId: ids.flow, asOf })).name;
    const day = timeOf(0).slice(0, 10);
    const before = new Date(Date.parse(day) - 1).toISOString().slice(0, 10);
    assert.equal(await nameAt(day), 'Nights');
    assert.equal(await nameAt('2126-01-01'), 'Nights');
    assert.equal((await log.ask(getFlow, { flowId: ids.flow, asOf: before })).refusal, 'flow-not-found');
    assert.equal((await log.ask(getFlow, { flowId: ids.flow, asOf: '2026-02-30' })).refusal, 'invalid-input');
    const today = PastMoment.decode(new Date().toISOString().slice(0, 10));
    assert.ok(E.isRight(today) && 'time' in today.right && today.right.time <= new Date().toISOString());
  });

  it('has the version of a flow that was active then, if the request asks for it', async () => {
    const log = givenLog(flowStream(...begunFlow(), versionCreated(2), versionActivated(2, 1)));
    const versionAt = async (input: Readonly<Record<string, string>>) => {
      const body = await bodyOf(log, getFlow, { flowId: ids.flow, include: 'activeVersion', ...input });
      return body.activeVersion as { readonly version: number; readonly isActive: boolean } | null;
    };
    assert.equal(await versionAt({ asOf: '0' }), null);
    for (const [input, version] of [
      [{ asOf: '3' }, 1],
      [{ asOf: '4' }, 2],
      [{}, 2],
    ] as const) {
      const found = await versionAt(input);
      assert.deepEqual([found?.version, found?.isActive], [version, true]);
    }
    assert.ok(!('activeVersion' in (await bodyOf(log, getFlow, { flowId: ids.flow }))));
    const fresh = givenLog(flowStream(flowCreated()));
    const ofFresh = { flowId: ids.flow, include: 'activeVersion' };
    assert.equal((await bodyOf(fresh, getFlow, ofFresh)).activeVersion, null);
    assert.equal((await log.ask(getFlow, { flowId: ids.flow, include: 'versions' })).refusal, 'invalid-input');
  });

  it('is answered with 404 before its creation and after its deletion', async () => {
    const log = givenLog(flowStream(...begunFlow(), flowDeleted()));
    const refusal = async (asOf: string) => (await log.ask(getFlow, { flowId: ids.flow, asOf })).refusal;
    assert.equal(await refusal('2025-12-31T00:00:00Z'), 'flow-not-found');
    assert.equal(await refusal('3'), 'flow-not-found');
    assert.equal(await refusal(timeOf(3)), 'flow-not-found');
    assert.equal((await log.ask(getFlow, { flowId: ids.flow })).refusal, 'flow-not-found');
    assert.equal((await bodyOf(log, getFlow, { flowId: ids.flow, asOf: '2' })).name, 'Opening hours');
  });

  it('is refused for an invalid moment and for a revision that the stream has not reached', async () => {
    const log = givenLog(flowStream(...begunFlow()));
    for (const asOf of ['yesterday', '-1', '1.5', '2026-02-30T00:00:00Z', '', '3'])
      assert.equal((await log.ask(getFlow, { flowId: ids.flow, asOf })).refusal, 'invalid-input', asOf);
  });

  it('is concealed from every key that cannot access the resource', async () => {
    const log = givenLog(flowStream(...begunFlow(), flowDeleted()));
    const stranger = callerOf('project', tenants.stranger);
    assert.equal((await log.ask(getFlow, { flowId: ids.flow, asOf: '1' }, stranger)).refusal, 'flow-not-found');
  });

  it('is found for a version by the revisions of its flow', async () => {
    const log = givenLog(flowStream(...begunFlow(), versionCreated(2), versionActivated(2, 1), versionDeleted(1)));
    const versionId = versionOf(ids.flow, 1);
    const isActive = async (asOf: string) => (await bodyOf(log, getFlowVersion, { versionId, asOf })).isActive;
    assert.deepEqual([await isActive('1'), await isActive('3'), await isActive('4')], [false, true, false]);
    assert.equal((await log.ask(getFlowVersion, { versionId, asOf: '0' })).refusal, 'flow-version-not-found');
    assert.equal((await log.ask(getFlowVersion, { versionId, asOf: '5' })).refusal, 'flow-version-not-found');
  });

  it('is answered for phone numbers, projects, stores and keys', async () => {
    const log = givenLog({
      [`phoneNumber-${ids.number}`]: [phoneNumberCreated(), phoneNumberDeleted()],
      [`project-${ids.project}`]: [projectCreated(), newEvent('ProjectRenamed', { name: 'Back desk' })],
      [`store-${ids.store}`]: [storeCreated(), storeDescribed('New rules', null), storeDeleted()],
      [`apiKey-${ids.key}`]: [apiKeyCreated(), apiKeyRevoked()],
    });
    assert.equal((await bodyOf(log, getPhoneNumber, { phoneNumberId: ids.number, asOf: '0' })).id, ids.number);
    assert.equal((await bodyOf(log, getProject, { projectId: ids.project, asOf: '1' })).name, 'Back desk');
    assert.equal((await bodyOf(log, getStore, { store_id: ids.store, asOf: '1' })).name, 'New rules');
    assert.equal((await log.ask(getStore, { store_id: ids.store, asOf: '2' })).refusal, 'store-not-found');
    const key = await bodyOf(log, getApiKey, { keyId: ids.key, asOf: '0' });
    assert.deepEqual([key.id, key.lastUsedAt], [ids.key, null]);
  });

  it('is answered for an instance without its drift', async () => {
    const log = givenLog({ [`instance-${ids.instance}`]: activeInstance() });
    const instanceAsOf = async (asOf: string) => bodyOf(log, getInstance, { instanceId: ids.instance, asOf });
    assert.deepEqual([(await instanceAsOf('0')).status, (await instanceAsOf('3')).status], ['provisioning', 'active']);
    assert.equal((await instanceAsOf('3')).drifted, null);
  });
});

describe('flowIds of an agent profile as of a moment', () => {
  it('are the requested flows as of a revision', async () => {
    const log = givenLog({
      [`agentProfiles-${ids.project}`]: [profileCreated(), profileReplaced({ flowIds: [ids.flow] })],
    });
    const flowIds = async (asOf: string) =>
      (await bodyOf(log, getAgentProfile, { agentProfileId: ids.profile, asOf })).flowIds;
    assert.deepEqual([await flowIds('0'), await flowIds('1')], [[], [ids.flow]]);
  });

  it('are the flows assigned by their own streams as of a time', async () => {
    const log = givenLog({
      [`agentProfiles-${ids.project}`]: [profileCreated()],
      ...flowStream(...begunFlow(), profileAssigned(ids.profile, null), profileAssigned(null, ids.profile)),
      [`flow-${ids.otherFlow}`]: [
        ...begunFlow({ id: ids.otherFlow, agentProfileId: ids.profile }),
        flowDeleted(ids.otherFlow),
      ],
    });
    const flowIds = async (asOf: string) =>
      (await bodyOf(log, getAgentProfile, { agentProfileId: ids.profile, asOf })).flowIds;
    assert.deepEqual(await flowIds(timeOf(0)), [ids.otherFlow]);
    assert.deepEqual(await flowIds(timeOf(3)), [ids.flow]);
    assert.deepEqual(await flowIds(timeOf(4)), []);
  });
});

describe('lists of versions as of a moment', () => {
  const numbers = async (log: Log, query: AnyQuery, input: Readonly<Record<string, string>>) =>
    ((await log.ask(query, input)).body as { versions: ReadonlyArray<{ version: number }> }).versions.map(
      ({ version }) => version,
    );

  it('list the past versions of a flow, page by page', async () => {
    const log = givenLog(
      flowStream(...begunFlow(), versionCreated(2), versionCreated(3), versionDeleted(2), flowDeleted()),
    );
    const at = (asOf: string) => numbers(log, listFlowVersions, { flowId: ids.flow, asOf });
    assert.deepEqual([await at('0'), await at('4'), await at('5')], [[], [1, 2, 3], [1, 3]]);
    assert.equal((await log.ask(listFlowVersions, { flowId: ids.flow, asOf: '6' })).refusal, 'flow-not-found');
    const first = await log.ask(listFlowVersions, { flowId: ids.flow, asOf: '4', limit: '2' });
    const next = { flowId: ids.flow, asOf: '4', cursor: first.nextCursor ?? '' };
    assert.deepEqual(await numbers(log, listFlowVersions, next), [3]);
  });

  it('list the past versions of a template', async () => {
    const stream = [
      templateCreated(),
      templateVersionCreated(1),
      templateVersionPublished(1),
      templateVersionCreated(2),
    ];
    const log = givenLog({ [`template-${ids.template}`]: stream });
    assert.deepEqual(await numbers(log, listTemplateVersions, { templateId: ids.template, asOf: '2' }), [1]);
    assert.deepEqual(await numbers(log, listTemplateVersions, { templateId: ids.template, asOf: timeOf(3) }), [1, 2]);
  });
});

describe('a file as of a moment', () => {
  it('exists until it expires', async () => {
    const created = newEvent('FileCreated', {
      ...{
        id: 'file-cfileone0000001',
        projectId: ids.project,
        blobId: 'blob',
        filename: 'a.txt',
        purpose: 'user_data',
      },
      ...{ contentType: 'text/plain', bytes: 3, sha256: 'ab'.repeat(32), expiresAfterSeconds: 3600 },
    });
    const log = givenLog({ 'file-cfileone0000001': [created] });
    const input = { file_id: 'file-cfileone0000001' };
    assert.equal((await bodyOf(log, getFile, { ...input, asOf: timeOf(10) })).filename, 'a.txt');
    assert.equal((await log.ask(getFile, { ...input, asOf: timeOf(3600) })).refusal, 'file-not-found');
    assert.equal((await log.ask(getFile, { ...input, asOf: timeOf(-1) })).refusal, 'file-not-found');
  });
});

describe('a batch as of a moment', () => {
  it('has the status and the counts after the event at a revision', async () => {
    const log = givenLog({
      [`batch-${batchId.slice('batch_'.length)}`]: [batchCreated(), batchTaken(1), batchChecked(3)],
    });
    const at = async (asOf: string) => {
      const { status, request_counts } = await bodyOf(log, getBatch, { batch_id: batchId, asOf });
      return [status, (request_counts as { readonly total: number }).total];
    };
    assert.deepEqual(await at('0'), ['validating', 0]);
    assert.deepEqual(await at('2'), ['in_progress', 3]);
    assert.equal((await log.ask(getBatch, { batch_id: batchId, asOf: timeOf(-1) })).refusal, 'batch-not-found');
  });
});
