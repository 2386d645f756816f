import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowRecord } from '#domain/flow/record.ts';
import type { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { parentId } from '#domain/shared/entity.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import type { AgentProfileDocument } from '#projections/agent-profiles.ts';
import type { FlowVersionDocument } from '#projections/flow-versions.ts';
import type { FlowDocument } from '#projections/flows.ts';
import type { PhoneNumberDocument } from '#projections/phone-numbers.ts';
import { expectStoredOnce, expectVerified } from '#test/e2e/support/consistent-stores.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { CommandLoad } from '#test/e2e/support/load.ts';
import { type LoggedEvent, readDocuments, readLog } from '#test/e2e/support/stores.ts';
import { itInManyRounds, itInRounds, long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { composeService } from '#test/support/service/service-in-process.ts';
import { poll, type ServiceProcess, startService, temporaryFolder } from '#test/support/service/service-process.ts';

const loadMs = 400;
const effectsTimeoutMs = 60_000;

describe('a service that is stopped under load', function () {
  this.timeout(180_000);

  const many = 20;
  const killRounds = { few: 1, many };
  itInRounds('keeps every acknowledged command and every rule after kill -9 under load', killRounds, async (kills) => {
    const folder = temporaryFolder();
    let service = await startService({ dataDir: folder.path });
    try {
      const load = await CommandLoad.begin(service.client);
      await loadUntilKilled(service, load);
      for (let kill = 1; kill < kills; kill += 1) {
        service = await startService({ dataDir: folder.path });
        await loadUntilKilled(service, load);
      }
      const survivor = await composeService({ dataDir: folder.path });
      try {
        await load.retryUnanswered(survivor.client);
        await load.expectNumbersHeldOrFree(survivor.client);
        await settled(folder.path);
      } finally {
        await survivor.stop();
      }

      const log = await readLog(folder.path);
      expectConsistent(log);
      expectAcknowledged(log, load);
      expectRules(await readDocuments(folder.path));
      await expectRebuildAgrees(folder.path);
    } finally {
      await service.kill();
      folder.remove();
    }
  });

  itInManyRounds('keeps every acknowledged change of one flow by 64 clients after kill -9', many, async (kills) => {
    const folder = temporaryFolder();
    let service = await startService({ dataDir: folder.path });
    const acknowledged = new Map<number, string>();
    try {
      const path = await createSharedFlow(service.client);
      for (let kill = 0; kill < kills; kill += 1) {
        await renameUntilKilled(service, path, acknowledged);
        service = await startService({ dataDir: folder.path });
      }
      await service.stop();
      const log = await readLog(folder.path);
      expectConsistent(log);
      const requestAt = new Map(log.map((event) => [event.position, JSON.parse(event.metadata).requestId as string]));
      const lost = [...acknowledged].filter(([position, requestId]) => requestAt.get(position) !== requestId);
      assert.deepEqual(lost, [], `${lost.length} of ${acknowledged.size} acknowledged changes are lost`);
    } finally {
      await service.kill();
      folder.remove();
    }
  });

  it('exits with 0 on SIGTERM under load, and loses nothing', async () => {
    const folder = temporaryFolder();
    const service = await startService({ dataDir: folder.path });
    try {
      const load = await CommandLoad.begin(service.client);
      const running = load.run(service.client);
      await sleep(loadMs);
      const { code } = await service.stop();
      await running;
      assert.equal(code, 0, service.stderr);
      const log = await readLog(folder.path);
      expectConsistent(log);
      expectAcknowledged(log, load);
    } finally {
      await service.kill();
      folder.remove();
    }
  });

  itInManyRounds('completes the effects of a deleted flow and a replaced profile after kill -9', 6, async (rounds) => {
    const folder = temporaryFolder();
    let service = await startService({ dataDir: folder.path });
    try {
      for (let round = 0; round < rounds; round += 1) {
        const scene = await createRelatedResources(service.client);
        const sent = Promise.allSettled([
          service.client.remove(`/v1/flows/${scene.doomedFlowId}`),
          service.client.put(`/v1/agent-profiles/${scene.profileId}`, scene.replacement),
        ]);
        await sleep(3 + round * (36 / rounds));
        await service.kill();
        const answers = await sent;
        service = await startService({ dataDir: folder.path });
        const [deleted, replaced] = answers.map((answer) => answer.status === 'fulfilled');
        await expectEffects(service.client, scene, { deleted: deleted === true, replaced: replaced === true });
      }
    } finally {
      await service.kill();
      folder.remove();
    }
  });
});

describeOnSharedEngines(`a node that is killed while 64 clients change one flow ${long}`, (engines) => {
  const nodes = new Nodes(engines);
  after(() => nodes.end());

  itInManyRounds('leaves every acknowledged change in the log once, and every hash chain whole', 10, async (kills) => {
    const acknowledged = new Map<number, string>();
    let node = await nodes.start();
    const path = await createSharedFlow(node.client);
    for (let kill = 0; kill < kills; kill += 1) {
      await renameUntilKilled(node, path, acknowledged);
      node = await nodes.start();
    }
    await node.stop();
    await expectStoredOnce(engines.urls.eventStoreUrl, [...acknowledged.values()]);
    await expectVerified(engines.urls);
  });
});

/** Sends commands, and kills the service while it answers them. */
async function loadUntilKilled(service: ServiceProcess, load: CommandLoad): Promise<void> {
  const before = load.acknowledged.length;
  const running = load.run(service.client);
  await sleep(loadMs * (0.5 + Math.random()));
  const answered = async () => load.acknowledged.length - before > 10;
  assert.ok(await poll(answered, effectsTimeoutMs), 'too few commands were answered');
  await service.kill();
  await running;
}

/** Waits until processes and read models have handled the whole log, so that documents no longer change. */
async function settled(dataDir: string): Promise<void> {
  let before = '';
  const still = await poll(async () => {
    const now = JSON.stringify(await readDocuments(dataDir));
    const same = now === before;
    before = now;
    if (!same) await sleep(300);
    return same;
  }, effectsTimeoutMs);
  assert.ok(still, 'the read models keep changing');
}

function expectConsistent(log: ReadonlyArray<LoggedEvent>): void {
  // The revisions of each stream count from 0, and the hash of each event matches its contents.
  assert.equal(verifyChain(log), null);
  assert.ok(log.every(({ position }, index) => index === 0 || position > (log[index - 1]?.position ?? 0)));
  assert.equal(new Set(log.map(({ id }) => id)).size, log.length);
}

function expectAcknowledged(log: ReadonlyArray<LoggedEvent>, load: CommandLoad): void {
  const requestAt = new Map(log.map((event) => [event.position, JSON.parse(event.metadata).requestId as string]));
  const lost = load.acknowledged.filter(
    ({ position, requestId, activated }) =>
      requestAt.get(position) !== requestId &&
      (activated === undefined || activeAt(log, position, activated) !== activated),
  );
  assert.deepEqual(lost, [], `${lost.length} of ${load.acknowledged.length} acknowledged commands are lost`);
  const streams = new Map<string, string[]>();
  for (const { stream, metadata } of log) {
    const { idempotency } = JSON.parse(metadata) as { idempotency?: { key: string } };
    if (idempotency !== undefined) streams.set(idempotency.key, [...(streams.get(idempotency.key) ?? []), stream]);
  }
  for (const [key, written] of streams) assert.equal(new Set(written).size, 1, `${key} was carried out twice`);
}

/** Returns the version of the same flow that was active at a position. */
function activeAt(log: ReadonlyArray<LoggedEvent>, position: number, versionId: string): string | undefined {
  const stream = `flow-${parentId(versionId)}`;
  const activation = log.findLast(
    (event) => event.position <= position && event.stream === stream && event.type === 'FlowVersionActivated',
  );
  return activation && (JSON.parse(activation.data) as { id: string }).id;
}

function expectRules(collections: Awaited<ReturnType<typeof readDocuments>>): void {
  const values = <T>(name: string) => (collections[name] ?? []).map(({ value }) => value as T);
  const flows = new Map(values<FlowDocument>('flows').map(({ record }) => [record.id, record]));
  const numbers = values<PhoneNumberDocument>('phone-numbers').map(({ record }) => record);
  const profiles = values<AgentProfileDocument>('agent-profiles').map(({ record }) => record);
  const versions = values<FlowVersionDocument>('flow-versions').map(({ record }) => record);

  const claimed = numbers.map(({ number }) => number);
  assert.equal(new Set(claimed).size, claimed.length, 'a phone number is listed twice');
  for (const { flowId } of numbers)
    assert.ok(flowId === null || flows.has(flowId), 'a phone number refers to an unknown flow');
  const defaults = Map.groupBy(
    profiles.filter(({ isDefault }) => isDefault),
    ({ projectId }) => projectId,
  );
  for (const [projectId, ofProject] of defaults) assert.equal(ofProject.length, 1, `${projectId} has two defaults`);
  for (const { id, flowIds } of profiles) {
    const assigned = [...flows.values()].filter(({ agentProfileId }) => agentProfileId === id);
    assert.deepEqual(flowIds.toSorted(), assigned.map((flow) => flow.id).toSorted());
  }
  const versionsOf = Map.groupBy(versions, ({ flowId }) => flowId);
  assert.deepEqual([...versionsOf.keys()].sort(), [...flows.keys()].sort());
  for (const [flowId, ofFlow] of versionsOf) {
    assert.equal(ofFlow.filter(({ isActive }) => isActive).length, 1, `${flowId} has not one active version`);
    // No version was deleted, so the numbers have no gap.
    assert.deepEqual(
      ofFlow.map(({ version }) => version),
      ofFlow.map((_, index) => index + 1),
    );
  }
}

/** A copy of the log without its read store leads to the same documents. */
async function expectRebuildAgrees(dataDir: string): Promise<void> {
  const copy = temporaryFolder();
  try {
    cpSync(dataDir, copy.path, { recursive: true });
    for (const ending of ['', '-wal', '-shm']) rmSync(join(copy.path, `read.db${ending}`), { force: true });
    const rebuilt = await composeService({ dataDir: copy.path });
    await rebuilt.stop();
    assert.deepEqual(await readDocuments(copy.path), await readDocuments(dataDir));
    assert.equal((await readLog(copy.path)).length, (await readLog(dataDir)).length);
  } finally {
    copy.remove();
  }
}

interface RelatedResources {
  readonly projectId: string;
  readonly doomedFlowId: string;
  readonly profileId: string;
  readonly formerFlowIds: ReadonlyArray<string>;
  readonly replacement: { readonly flowIds: ReadonlyArray<string> };
}

const profile = {
  name: 'P',
  isDefault: false,
  supportedInputLanguages: ['en'],
  reasoningMode: 'fast',
  outputVoiceId: 'v',
};

/** Creates a flow that many clients change. @returns its path */
async function createSharedFlow(client: Client): Promise<string> {
  const { projectId } = expectStatus(await client.get<{ projectId: string }>('/v1/me'), 200);
  const made = await client.post<FlowRecord>(`/v1/projects/${projectId}/flows`, { name: 'Of all', flowSchema: {} });
  return `/v1/flows/${expectStatus(made, 201).id}`;
}

/**
 * Lets 64 clients rename a flow again and again, and kills the service in the middle.
 * @param acknowledged gets the position and the request id of each acknowledged change
 */
async function renameUntilKilled(
  service: ServiceProcess,
  path: string,
  acknowledged: Map<number, string>,
): Promise<void> {
  const { client } = service;
  const before = acknowledged.size;
  const work = async (worker: number) => {
    for (let turn = 0; ; turn += 1) {
      const name = `${before} ${worker} ${turn}`;
      const { status, headers } = await client.patch(path, { name }, { 'idempotency-key': name });
      assert.equal(status, 200);
      acknowledged.set(Number(headers['switchyard-position']), String(headers['x-request-id']));
    }
  };
  const running = Promise.allSettled(Array.from({ length: 64 }, (_, worker) => work(worker)));
  assert.ok(await poll(async () => acknowledged.size > before + 200, effectsTimeoutMs), 'too few were answered');
  await service.kill();
  for (const { reason } of (await running) as PromiseRejectedResult[])
    assert.ok(!(reason instanceof assert.AssertionError), String(reason));
}

/** Creates a flow with twenty phone numbers, and a profile of ten flows that will be replaced by ten others. */
async function createRelatedResources(client: Client): Promise<RelatedResources> {
  const { id: projectId } = expectStatus(await client.post<{ id: string }>('/v1/projects', { name: 'Scene' }), 201);
  const newFlow = async () => {
    const reply = await client.post<FlowRecord>(`/v1/projects/${projectId}/flows`, { name: 'F', flowSchema: {} });
    return expectStatus(reply, 201).id;
  };
  const newFlows = (count: number) => Promise.all(Array.from({ length: count }, newFlow));
  const [doomedFlowId, formerFlowIds, flowIds] = await Promise.all([newFlow(), newFlows(10), newFlows(10)]);
  const path = `/v1/projects/${projectId}/phone-numbers`;
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const number = { name: 'N', type: 'external', number: `line ${index}`, flowId: doomedFlowId };
      expectStatus(await client.post(path, number), 201);
    }),
  );
  const profiles = `/v1/projects/${projectId}/agent-profiles`;
  const begun = await client.post<{ id: string }>(profiles, { ...profile, flowIds: formerFlowIds });
  const profileId = expectStatus(begun, 201).id;
  return { projectId, doomedFlowId, profileId, formerFlowIds, replacement: { ...profile, flowIds } };
}

/** Every request has taken full effect or none; every answered request has taken effect. */
async function expectEffects(
  client: Client,
  { projectId, doomedFlowId, profileId, formerFlowIds, replacement }: RelatedResources,
  answered: { readonly deleted: boolean; readonly replaced: boolean },
): Promise<void> {
  const { status } = await client.get(`/v1/flows/${doomedFlowId}`);
  if (answered.deleted) assert.equal(status, 404);
  const countReferences = async () => {
    const path = `/v1/projects/${projectId}/phone-numbers`;
    const { phoneNumbers } = expectStatus(await client.get<{ phoneNumbers: PhoneNumberRecord[] }>(path), 200);
    assert.equal(phoneNumbers.length, 20);
    return phoneNumbers.filter(({ flowId }) => flowId === doomedFlowId).length;
  };
  const expected = status === 404 ? 0 : 20;
  assert.ok(
    await poll(async () => (await countReferences()) === expected, effectsTimeoutMs),
    `${await countReferences()} of 20 numbers point at a flow that answers ${status}`,
  );

  const assigned = async () => {
    const { flows } = expectStatus(await client.get<{ flows: FlowRecord[] }>(`/v1/projects/${projectId}/flows`), 200);
    return flows.filter(({ agentProfileId }) => agentProfileId === profileId).map(({ id }) => id);
  };
  const same = (ids: ReadonlyArray<string>, others: ReadonlyArray<string>) =>
    ids.toSorted().join() === others.toSorted().join();
  const whole = await poll(async () => {
    const now = await assigned();
    return same(now, replacement.flowIds) || (!answered.replaced && same(now, formerFlowIds));
  }, effectsTimeoutMs);
  assert.ok(whole, `the profile has ${(await assigned()).length} flows, neither the former nor the new ones`);
}
