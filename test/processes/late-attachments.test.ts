import assert from 'node:assert/strict';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import { streamName } from '#domain/shared/entity.ts';
import type { Process } from '#process-engine/process.ts';
import { assignAgentProfiles } from '#processes/assign-agent-profiles.ts';
import { detachPhoneNumbers } from '#processes/cascades.ts';
import { profileCreated, profileReplaced } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { phoneNumberCreated, phoneNumberFlowSet } from '#test/support/events/phone-number-events.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { ProcessDriver } from '#test/support/harness/process-harness.ts';
import { LaggingWorld } from './lagging-world.ts';

const idsOf = (what: string, count: number) =>
  Array.from({ length: count }, (_, index) => `c${what}0000000${10 + index}`);
const flows = idsOf('flow', 4);
/** So many that most are attached once: a second attachment hides a missing detachment. */
const numbers = idsOf('number', 12);
const requested = flows.slice(0, 3);
const profiles = idsOf('profile', 2);
const actions = 16;

/** What a process with an up-to-date read model still has to do, when everything has settled. */
async function leftUndone({ store }: LaggingWorld, process: Process): Promise<ReadonlyArray<unknown>> {
  const { length } = store.log;
  const service = new Service(store);
  await new ProcessDriver(process, service).settle();
  return store.log.slice(length).map(({ type, data }) => ({ type, data }));
}

/** Attaches phone numbers to flows and removes flows. An attachment may be decided before the removal, and stored after it. */
async function attachAndRemove(seed: number): Promise<void> {
  await using world = new LaggingWorld(detachPhoneNumbers, seed);
  const { random, time, store } = world;
  for (const id of flows) await world.append(flow, id, begunFlow({ id }));
  for (const id of numbers) await world.append(phoneNumber, id, [phoneNumberCreated({ id, number: id })]);
  await world.begin();
  for (let action = 0; action < actions; action += 1) {
    const [flowId, number] = [random.pick(flows), random.pick(numbers)];
    const chosen = random.next();
    if (chosen < 0.15) world.nextTerm();
    else if (chosen > 0.7 && !store.types(streamName(flow, flowId)).includes('FlowDeleted'))
      await world.append(flow, flowId, [flowDeleted(flowId)]);
    else await world.append(phoneNumber, number, [phoneNumberFlowSet(flowId, 'requested', number)]);
    await time.pass(random.below(60));
  }
  await world.settle();
  assert.deepEqual(await leftUndone(world, detachPhoneNumbers), [], `seed ${seed}`);
}

/** Requests flows for profiles. The process attaches them itself, so its own appends are the late attachments. */
async function requestFlows(seed: number): Promise<void> {
  await using world = new LaggingWorld(assignAgentProfiles, seed);
  const { random, time, store } = world;
  for (const id of requested) await world.append(flow, id, begunFlow({ id }));
  await world.begin();
  for (let action = 0; action < actions; action += 1) {
    const profile = random.pick(profiles);
    const request = { id: profile, flowIds: requested.filter(() => random.isTrue(0.4)) };
    const isCreated = store.log.some(({ type, data }) => type === 'AgentProfileCreated' && data.id === profile);
    if (random.isTrue(0.15)) world.nextTerm();
    else
      await world.append(projectAgentProfiles, profile, [
        isCreated ? profileReplaced(request) : profileCreated(request),
      ]);
    await time.pass(random.below(60));
  }
  await world.settle();
  assert.deepEqual(await leftUndone(world, assignAgentProfiles), [], `seed ${seed}`);
}

describe('Processes over read models that lag', () => {
  const sample = [0, 20] as const;
  const many = [20, 400] as const;
  for (const [[first, last], mark] of [
    [sample, ''],
    [many, ' @long'],
  ] as const) {
    it(`leave nothing attached to what was removed, in any order of seeds ${first} to ${last}${mark}`, async function () {
      this.timeout(300_000);
      for (let seed = first; seed < last; seed += 1) await attachAndRemove(seed);
    });

    it(`find what they have attached themselves, also in earlier terms, seeds ${first} to ${last}${mark}`, async function () {
      this.timeout(300_000);
      for (let seed = first; seed < last; seed += 1) await requestFlows(seed);
    });
  }
});
