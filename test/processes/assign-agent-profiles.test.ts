import assert from 'node:assert/strict';
import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { replaceAgentProfile } from '#commands/agent-profile/replace-agent-profile.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { assignAgentProfiles } from '#processes/assign-agent-profiles.ts';
import type { AgentProfileDocument } from '#projections/agent-profiles.ts';
import type { FlowDocument } from '#projections/flows.ts';
import { ids } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend, ProcessDriver } from '#test/support/harness/process-harness.ts';
import { seedProjects } from '#test/support/harness/seed.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';

const path = { projectId: ids.project };
const everything = { limit: 1e6, maxBytes: 1e9 };

/** A service whose clock advances by a second with each reading. Its flows and profiles have letters as names. */
class Story {
  readonly service: Service;
  readonly driver: ProcessDriver;
  readonly ids = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor() {
    let time = Date.UTC(2026, 0, 5, 10);
    const now = () => {
      time += 1000;
      return new Date(time);
    };
    this.service = new Service(undefined, { now });
    this.driver = new ProcessDriver(assignAgentProfiles, this.service);
  }

  static async begun(flows: string, profiles: string): Promise<Story> {
    const story = new Story();
    await seedProjects(story.service.store);
    for (const name of flows) await story.flow(name);
    for (const name of profiles) await story.profile(name);
    return story;
  }

  id(name: string): string {
    return this.ids.get(name) ?? '';
  }

  async flow(name: string, profile?: string): Promise<void> {
    const agentProfileId = profile === undefined ? null : this.id(profile);
    const body = { name, flowSchema: {}, agentProfileId };
    this.#named(name, await this.service.ok(createFlow, path, { body, idempotencyKey: name }));
  }

  async profile(name: string, flows = ''): Promise<void> {
    const body = profileInput({ name, flowIds: [...flows].map((flow) => this.id(flow)) });
    this.#named(name, await this.service.ok(createAgentProfile, path, { body, idempotencyKey: name }));
  }

  /** Replaces the profile by PUT, with exactly these flows. */
  async put(profile: string, flows: string): Promise<void> {
    const body = profileInput({ name: profile, flowIds: [...flows].map((flow) => this.id(flow)) });
    await this.service.ok(replaceAgentProfile, { agentProfileId: this.id(profile) }, { body });
  }

  /** Assigns the profile by PATCH of the flow itself. */
  async patch(flow: string, profile: string | null): Promise<void> {
    const agentProfileId = profile === null ? null : this.id(profile);
    await this.service.ok(updateFlow, { flowId: this.id(flow) }, { body: { agentProfileId } });
  }

  async deleteProfile(name: string): Promise<void> {
    await this.service.ok(deleteAgentProfile, { agentProfileId: this.id(name) });
  }

  async deleteFlow(name: string): Promise<void> {
    await this.service.ok(deleteFlow, { flowId: this.id(name) });
  }

  /** The relation as both read models show it, which must agree: `{A: 'P'}`. */
  async relation(service = this.service): Promise<Record<string, string | null>> {
    const flows = await service.documents.list<FlowDocument>('flows', {}, everything);
    const profiles = await service.documents.list<AgentProfileDocument>('agent-profiles', {}, everything);
    const relation = flows.documents.map(({ id, value }) => {
      const profile = value.record.agentProfileId;
      assert.equal(value.agentProfileId, profile);
      return [this.#names.get(id) ?? id, profile === null ? null : (this.#names.get(profile) ?? profile)] as const;
    });
    for (const { id, value } of profiles.documents) {
      const name = this.#names.get(id);
      const shown = value.record.flowIds.map((flow) => this.#names.get(flow) ?? flow).toSorted();
      const owned = relation.filter(([, profile]) => profile === name).map(([flow]) => flow);
      assert.deepEqual(shown, owned.toSorted(), `the flows of ${name}`);
    }
    return Object.fromEntries(relation);
  }

  /** Settles, and checks that a second run over the whole log appends nothing. */
  async settled(): Promise<Record<string, string | null>> {
    await this.driver.settle();
    const relation = await this.relation();
    const { length } = this.service.store.log;
    await new ProcessDriver(assignAgentProfiles, this.service.restarted()).settle();
    const appended = this.service.store.log.slice(length).map(({ type, data }) => ({ type, data }));
    assert.deepEqual(appended, [], 'a second run over the log appended');
    return relation;
  }

  #named(name: string, { body }: { body: Readonly<Record<string, unknown>> }): void {
    this.ids.set(name, String(body.id));
    this.#names.set(String(body.id), name);
  }
}

describe('assignAgentProfiles', () => {
  it('assigns the flows that a profile requests when it is created or replaced, and unassigns the others', async () => {
    const story = await Story.begun('ABC', '');
    await story.profile('P', 'AB');
    assert.deepEqual(await story.settled(), { A: 'P', B: 'P', C: null });
    await story.put('P', 'BC');
    assert.deepEqual(await story.settled(), { A: null, B: 'P', C: 'P' });
    await story.put('P', '');
    assert.deepEqual(await story.settled(), { A: null, B: null, C: null });
  });

  it('moves a flow from another profile to the requesting one', async () => {
    const story = await Story.begun('AB', 'PQ');
    await story.put('P', 'AB');
    await story.driver.settle();
    await story.put('Q', 'B');
    assert.deepEqual(await story.settled(), { A: 'P', B: 'Q' });
  });

  it('applies the last of several requests for a flow when it runs late', async () => {
    const story = await Story.begun('A', 'PQR');
    await story.put('P', 'A');
    await story.put('Q', 'A');
    await story.put('R', 'A');
    assert.deepEqual(await story.settled(), { A: 'R' });
  });

  it('applies a request of another profile made after the flow’s profile was deleted', async () => {
    const story = await Story.begun('A', 'PQ');
    await story.put('P', 'A');
    await story.driver.settle();
    await story.deleteProfile('P');
    await story.put('Q', 'A');
    assert.deepEqual(await story.settled(), { A: 'Q' });
  });

  it('keeps an assignment on the flow itself over an earlier request of a profile', async () => {
    const story = await Story.begun('AB', 'PQ');
    await story.put('P', 'AB');
    await story.patch('A', 'Q');
    await story.patch('B', 'P');
    await story.patch('B', null);
    assert.deepEqual(await story.settled(), { A: 'Q', B: null });
  });

  it('applies a request of a profile over an earlier assignment on the flow itself', async () => {
    const story = await Story.begun('AB', 'PQ');
    await story.patch('A', 'Q');
    await story.patch('B', 'P');
    await story.put('P', 'A');
    assert.deepEqual(await story.settled(), { A: 'P', B: null });
  });

  it('keeps a flow assigned after a profile was replaced without it', async () => {
    const story = await Story.begun('A', 'P');
    await story.put('P', '');
    await story.patch('A', 'P');
    await story.flow('B', 'P');
    assert.deepEqual(await story.settled(), { A: 'P', B: 'P' });
  });

  it('unassigns a deleted profile from all its flows', async () => {
    const story = await Story.begun('AB', 'PQ');
    await story.put('P', 'AB');
    await story.flow('C', 'P');
    await story.put('Q', 'B');
    await story.deleteProfile('P');
    assert.deepEqual(await story.settled(), { A: null, B: 'Q', C: null });
  });

  it('applies a profile’s request over an earlier assignment of a profile that is deleted later', async () => {
    const story = await Story.begun('A', 'PQ');
    await story.patch('A', 'P');
    await story.put('Q', 'A');
    await story.deleteProfile('P');
    assert.deepEqual(await story.settled(), { A: 'Q' });
  });

  it('unassigns a profile that was deleted before its request was handled', async () => {
    const story = await Story.begun('A', 'P');
    await story.put('P', 'A');
    await story.driver.settle();
    await story.patch('A', null);
    await story.put('P', 'A');
    await story.deleteProfile('P');
    assert.deepEqual(await story.settled(), { A: null });
  });

  for (const how of ['created', 'changed'] as const) {
    it(`unassigns a profile that was deleted while a flow was ${how} with it`, async () => {
      const story = await Story.begun('A', 'P');
      story.service.store.beforeAppend = async ({ stream }) => {
        if (!stream.startsWith('flow-')) return null;
        story.service.store.beforeAppend = async () => null;
        await story.deleteProfile('P');
        await story.driver.settle();
        return null;
      };
      if (how === 'created') await story.flow('B', 'P');
      else await story.patch('A', 'P');
      const shown = await story.service.documents.list<FlowDocument>('flows', {}, everything);
      assert.ok(shown.documents.some(({ value }) => value.agentProfileId === story.id('P')));
      assert.deepEqual(Object.values(await story.settled()).filter(Boolean), []);
    });
  }

  it('does not change a deleted flow', async () => {
    const story = await Story.begun('AB', 'P');
    await story.put('P', 'AB');
    await story.deleteFlow('A');
    assert.deepEqual(await story.settled(), { B: 'P' });
    assert.equal(story.service.store.types(`flow-${story.id('A')}`).at(-1), 'FlowDeleted');
  });

  it('appends nothing when it sees an event a second time', async () => {
    const story = await Story.begun('AB', 'PQ');
    await story.put('P', 'AB');
    await story.put('Q', 'B');
    await story.deleteProfile('P');
    let position = 0;
    for (;;) {
      const event = story.service.store.log.find((each) => each.position > position);
      if (event === undefined) break;
      position = event.position;
      await story.driver.handle(event);
      const { length } = story.service.store.log;
      await story.driver.handle(event);
      assert.equal(story.service.store.log.length, length, event.type);
    }
    assert.deepEqual(await story.settled(), { A: null, B: 'Q' });
  });

  it('gives the same result wherever it ends and starts again', async () => {
    let last = new Story();
    const story = async () => {
      last = await Story.begun('ABC', 'PQ');
      await last.put('P', 'ABC');
      await last.put('Q', 'B');
      await last.patch('C', null);
      await last.deleteProfile('P');
      return last.service;
    };
    const outcome = (service: Service) => last.relation(service);
    await interruptAtEachAppend(assignAgentProfiles, story, outcome, assert.deepEqual);
    assert.deepEqual(await last.relation(), { A: null, B: 'Q', C: null });
  });

  it('assigns a profile in the name of the requesting actor', async () => {
    const story = await Story.begun('A', 'P');
    await story.put('P', 'A');
    const asked = story.service.store.log.at(-1);
    await story.driver.settle();
    const assigned = story.service.store.log.at(-1);
    assert.equal(assigned?.type, 'FlowAgentProfileAssigned');
    assert.deepEqual(assigned?.metadata.actor, asked?.metadata.actor);
    assert.equal(assigned?.metadata.$causationId, asked?.id);
  });
});
