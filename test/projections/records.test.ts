import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { replaceAgentProfile } from '#commands/agent-profile/replace-agent-profile.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { activateFlowVersion } from '#commands/flow-version/activate-flow-version.ts';
import { createFlowVersion } from '#commands/flow-version/create-flow-version.ts';
import { deleteFlowVersion } from '#commands/flow-version/delete-flow-version.ts';
import { tagFlowVersion } from '#commands/flow-version/tag-flow-version.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { deletePhoneNumber } from '#commands/phone-number/delete-phone-number.ts';
import { setPhoneNumberFlow } from '#commands/phone-number/set-phone-number-flow.ts';
import { updatePhoneNumber } from '#commands/phone-number/update-phone-number.ts';
import { agentProfileRecord, projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { flow, flowRecord, flowVersionRecord } from '#domain/flow/flow.ts';
import { phoneNumber, phoneNumberRecord } from '#domain/phone-number/phone-number.ts';
import { parentId } from '#domain/shared/entity.ts';
import { assignAgentProfiles } from '#processes/assign-agent-profiles.ts';
import { detachPhoneNumbers } from '#processes/cascades.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { ids } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { ProcessDriver } from '#test/support/harness/process-harness.ts';
import { seedProjects } from '#test/support/harness/seed.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { settleProcesses } from '#test/support/service/populated-service.ts';

const path = { projectId: ids.project };
const everything = { limit: 1e6, maxBytes: 1e9 };

interface Shown {
  readonly record: JsonObject & { readonly id: string };
  readonly revision: number;
}

/** A step: the number of a command, and numbers that choose its input. */
const step = fc.record({ kind: fc.nat(14), first: fc.nat(5), second: fc.nat(5), text: fc.string({ maxLength: 3 }) });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Sends random commands. A command whose resource is deleted is refused. */
class RandomCommands {
  /** The clock advances with each call, because requests are distinguished by their time. */
  readonly service = new Service(undefined, { now: () => new Date(Date.UTC(2026, 0, 5) + this.#nextTime()) });
  readonly drivers = [assignAgentProfiles, detachPhoneNumbers].map((each) => new ProcessDriver(each, this.service));
  readonly made = { flow: [] as string[], version: [] as string[], number: [] as string[], profile: [] as string[] };

  #time = 0;

  #nextTime(): number {
    this.#time += 1000;
    return this.#time;
  }

  async take({ kind, first, second, text }: Step): Promise<void> {
    const pick = (of: ReadonlyArray<string>, number: number) => of[number % Math.max(1, of.length)] ?? ids.flow;
    const { made } = this;
    const flowId = pick(made.flow, first);
    const versionId = pick(made.version, first);
    const phoneNumberId = pick(made.number, first);
    const agentProfileId = pick(made.profile, first);
    const maybe = (id: string) => (second === 0 ? null : id);
    const profile = profileInput({ name: text, isDefault: second % 2 === 0, flowIds: second < 2 ? [] : [flowId] });
    const name = `n${text}`;
    switch (kind) {
      case 0:
        return this.#make('flow', createFlow, path, { name, flowSchema: second, agentProfileId: null });
      case 1:
        return this.#make('version', createFlowVersion, { flowId }, { flowSchema: text });
      case 2:
        return this.#make('number', createPhoneNumber, path, { name, number: name, flowId: maybe(flowId) });
      case 3:
        return this.#make('profile', createAgentProfile, path, profile);
      case 4:
        return this.#send(updateFlow, { flowId }, { name, description: text, agentProfileId: maybe(agentProfileId) });
      case 5:
        return this.#send(activateFlowVersion, { versionId });
      case 6:
        return this.#send(tagFlowVersion, { versionId }, { tag: name });
      case 7:
        return this.#send(deleteFlowVersion, { versionId });
      case 8:
        return second < 2 ? this.#send(deleteFlow, { flowId }) : undefined;
      case 9:
        return this.#send(updatePhoneNumber, { phoneNumberId }, { name, status: 'enabled' });
      case 10:
        return this.#send(setPhoneNumberFlow, { phoneNumberId }, { flowId: maybe(pick(made.flow, second)) });
      case 11:
        return second < 2 ? this.#send(deletePhoneNumber, { phoneNumberId }) : undefined;
      case 12:
        return this.#send(replaceAgentProfile, { agentProfileId }, profile);
      case 13:
        return second < 2 ? this.#send(deleteAgentProfile, { agentProfileId }) : undefined;
      default:
        for (const driver of this.drivers) await driver.settle();
    }
  }

  async #make(kind: keyof RandomCommands['made'], ...sent: Parameters<RandomCommands['send']>): Promise<void> {
    const answer = await this.send(...sent);
    if ('right' in answer) this.made[kind].push(String((answer.right.body as JsonObject).id));
  }

  async #send(...sent: Parameters<RandomCommands['send']>): Promise<void> {
    await this.send(...sent);
  }

  send(command: Parameters<Service['send']>[0], parameters: Readonly<Record<string, string>>, body: JsonObject = {}) {
    return this.service.send(command, parameters, { body });
  }
}

const shownIn = async ({ documents }: Service, collection: string) =>
  Object.fromEntries(
    (await documents.list(collection, {}, everything)).documents.map(({ id, value }) => [id, value as Shown]),
  );

/** The records that commands would answer for all existing resources, computed from the log alone. */
async function answered({ service: { writer, store }, made }: RandomCommands) {
  const flows: Record<string, Shown> = {};
  const versions: Record<string, JsonObject> = {};
  const numbers: Record<string, Shown> = {};
  const profiles: Record<string, Shown> = {};
  const dataIn = (stream: string) => async (revision: number) => store.streamOf(stream)[revision]?.data ?? {};
  for (const id of made.flow) {
    const { state, resourceRevision } = await writer.load(flow, id);
    if (state === null || state.deleted) continue;
    const dataAt = dataIn(`flow-${id}`);
    flows[id] = { record: await flowRecord(state, dataAt), revision: resourceRevision };
    for (const version of [...state.versions.values()].filter(({ deleted }) => !deleted)) {
      versions[version.id] = await flowVersionRecord(state, version.id, dataAt);
    }
  }
  for (const id of made.number) {
    const { state, resourceRevision } = await writer.load(phoneNumber, id);
    if (!phoneNumber.isLive(state, id)) continue;
    numbers[id] = { record: await phoneNumberRecord(state, dataIn(`phoneNumber-${id}`)), revision: resourceRevision };
  }
  for (const id of made.profile) {
    const { state } = await writer.load(projectAgentProfiles, id);
    if (!projectAgentProfiles.isLive(state, id)) continue;
    // The flows' own events determine the relation.
    const flowIds = Object.values(flows).flatMap(({ record }) => (record.agentProfileId === id ? [record.id] : []));
    const record = { ...(await agentProfileRecord(state, id, dataIn(`agentProfiles-${parentId(id)}`))), flowIds };
    profiles[id] = { record, revision: projectAgentProfiles.revisionOf?.(state, id) ?? -1 };
  }
  return { flows, versions, numbers, profiles };
}

const withoutOrder = (profiles: Record<string, Shown>) =>
  Object.fromEntries(
    Object.entries(profiles).map(([id, { record, revision }]) => [
      id,
      { revision, record: { ...record, flowIds: (record.flowIds as ReadonlyArray<string>).toSorted() } },
    ]),
  );
const recordsOf = (shown: Record<string, Shown>) =>
  Object.fromEntries(Object.entries(shown).map(([id, { record, revision }]) => [id, { record, revision }]));

describe('read models of flows, phone numbers and agent profiles', () => {
  itInRounds(
    'shows the records that commands answer, after random commands',
    { few: 20, many: 300 },
    async (numRuns) => {
      const sequences = fc.array(step, { minLength: 10, maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(sequences, async (steps) => {
          const random = new RandomCommands();
          await seedProjects(random.service.store);
          for (const each of steps) await random.take(each);

          const expected = await answered(random);
          assert.deepEqual(recordsOf(await shownIn(random.service, 'flows')), expected.flows);
          assert.deepEqual(recordsOf(await shownIn(random.service, 'phone-numbers')), expected.numbers);
          const profiles = recordsOf(await shownIn(random.service, 'agent-profiles'));
          assert.deepEqual(withoutOrder(profiles), withoutOrder(expected.profiles));
          const versions = Object.entries(await shownIn(random.service, 'flow-versions'));
          assert.deepEqual(Object.fromEntries(versions.map(([id, { record }]) => [id, record])), expected.versions);
          await assertSettled(random);
        }),
        { numRuns },
      );
    },
  );
});

/**
 * Once the processes have settled, nothing refers to a deleted resource, and a second run over the log appends
 * nothing.
 */
async function assertSettled({ service, drivers }: RandomCommands): Promise<void> {
  for (const driver of drivers) await driver.settle();
  const flows = await shownIn(service, 'flows');
  const profiles = await shownIn(service, 'agent-profiles');
  for (const { record } of Object.values(await shownIn(service, 'phone-numbers'))) {
    assert.ok(record.flowId === null || String(record.flowId) in flows, 'a phone number refers to a deleted flow');
  }
  for (const { record } of Object.values(flows)) {
    assert.ok(
      record.agentProfileId === null || String(record.agentProfileId) in profiles,
      'a flow refers to a deleted profile',
    );
  }
  const defaults = Object.values(profiles).filter(({ record }) => record.isDefault);
  assert.ok(defaults.length <= 1, 'there are several default profiles');
  const { length } = service.store.log;
  await settleProcesses(service);
  assert.equal(service.store.log.length, length, 'a second run over the log appended');
}
