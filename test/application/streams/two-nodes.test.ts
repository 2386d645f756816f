import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { followStates } from '#app/stores/open-stores.ts';
import type { AnyCommand } from '#application/commands/command.ts';
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
import type { JsonObject } from '#shared/json/json.ts';
import { ids } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { type CommandRequest, Service } from '#test/support/harness/in-memory-service.ts';
import { seedProjects } from '#test/support/harness/seed.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';

const actions = [
  ...['create', 'create', 'update', 'activate', 'tag', 'delete-version', 'delete'],
  ...['create-number', 'point-number', 'delete-number', 'create-profile', 'replace-profile', 'delete-profile'],
] as const;

/** A request of a test to one of two nodes, about one of the existing versions. */
interface Step {
  readonly node: 0 | 1;
  readonly action: (typeof actions)[number];
  /** Which of the existing versions, phone numbers or profiles it is about. */
  readonly place: number;
  readonly text: string;
  /** Equal requests with the same number are repetitions of one request. */
  readonly key: number | null;
  readonly ifMatch: number | null;
  readonly dryRun: boolean;
  /** Which of the two nodes know all earlier events when the request is sent. */
  readonly informed: readonly [boolean, boolean];
}

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.record({
    node: fc.constantFrom(0 as const, 1 as const),
    action: fc.constantFrom(...actions),
    place: fc.nat(5),
    text: fc.constantFrom('one', 'two', 'three'),
    key: fc.option(fc.nat(4)),
    ifMatch: fc.option(fc.nat(12), { freq: 4 }),
    dryRun: fc.nat(4).map((chance) => chance === 0),
    informed: fc.tuple(fc.boolean(), fc.boolean()),
  }) as fc.Arbitrary<Step>,
  { minLength: 1, maxLength: 25 },
);

const profileContents = {
  name: 'Desk',
  flowIds: [],
  isDefault: true,
  supportedInputLanguages: ['en'],
  reasoningMode: 'fast',
  outputVoiceId: 'v',
};

/** A store and the nodes that use it. */
class World {
  readonly store = new AppendableEventStore();
  readonly nodes: ReadonlyArray<Service>;
  readonly #versions: string[] = [];
  readonly #numbers: string[] = ['cunknownnumber1'];
  readonly #profiles: string[] = [`${ids.project}00000009`];
  #flowId = '';

  constructor(nodes: number) {
    this.nodes = Array.from({ length: nodes }, () => new Service(this.store));
  }

  async begin(): Promise<void> {
    await seedProjects(this.store);
    const made = await this.node(0).ok(
      createFlow,
      { projectId: ids.project },
      { body: { name: 'one', flowSchema: {} }, idempotencyKey: 'first' },
    );
    this.#flowId = String(made.body.id);
    this.#versions.push(String((made.body.activeVersion as { id?: string } | undefined)?.id ?? made.body.id));
  }

  node(number: number): Service {
    return this.nodes[number % this.nodes.length] as Service;
  }

  /** @returns the client's answer without times */
  async send(step: Step, index: number): Promise<unknown> {
    for (const [number, informed] of step.informed.entries())
      if (informed) this.node(number).writer.observe(this.store.log);
    const [command, parameters, body] = this.#requestOf(step);
    const request: CommandRequest = {
      body,
      // A request without a key creates random ids.
      ...(step.key !== null || step.action.startsWith('create')
        ? { idempotencyKey: `${step.key ?? `step ${index}`}` }
        : {}),
      ...(step.ifMatch === null ? {} : { ifMatch: step.ifMatch }),
      dryRun: step.dryRun,
    };
    const answer = await this.node(step.node).send(command, parameters, request);
    if (E.isLeft(answer)) return { code: answer.left.code, detail: answer.left.detail };
    const { status, revision, body: record } = answer.right;
    if (!step.dryRun) this.#createdBy(step.action)?.push(String((record as { readonly id: string }).id));
    return { status, revision, record: withoutTimes(record) };
  }

  /** Returns the list that the id of a created resource belongs to. */
  #createdBy(action: Step['action']): string[] | null {
    if (action === 'create') return this.#versions;
    if (action === 'create-number') return this.#numbers;
    return action === 'create-profile' ? this.#profiles : null;
  }

  #requestOf({ action, place, text }: Step): [AnyCommand, Record<string, string>, JsonObject] {
    const flowId = this.#flowId;
    const at = (list: ReadonlyArray<string>) => list[place % list.length] ?? flowId;
    const versionId = at(this.#versions);
    const phoneNumberId = at(this.#numbers);
    const agentProfileId = at(this.#profiles);
    const inProject = { projectId: ids.project };
    switch (action) {
      case 'create':
        return [createFlowVersion, { flowId }, { flowSchema: { text } }];
      case 'update':
        return [updateFlow, { flowId }, { name: text }];
      case 'activate':
        return [activateFlowVersion, { versionId }, {}];
      case 'tag':
        return [tagFlowVersion, { versionId }, { tag: text }];
      case 'delete-version':
        return [deleteFlowVersion, { versionId }, {}];
      case 'delete':
        return [deleteFlow, { flowId }, {}];
      case 'create-number':
        return [createPhoneNumber, inProject, { name: text, number: `+4420718387${50 + (place % 2)}` }];
      case 'point-number':
        return [setPhoneNumberFlow, { phoneNumberId }, { flowId: text === 'one' ? null : flowId }];
      case 'delete-number':
        return [deletePhoneNumber, { phoneNumberId }, {}];
      case 'create-profile':
        return [createAgentProfile, inProject, { ...profileContents, flowIds: text === 'one' ? [] : [flowId] }];
      case 'replace-profile':
        return [replaceAgentProfile, { agentProfileId }, { ...profileContents, name: text, flowIds: [flowId] }];
      case 'delete-profile':
        return [deleteAgentProfile, { agentProfileId }, {}];
    }
  }
}

/** Removes members with times, and operations of a JSON Patch that set them. */
function withoutTimes(record: unknown): unknown {
  const isTime = (item: unknown) => /At$/.test(String((item as { path?: unknown } | null)?.path ?? ''));
  return JSON.parse(
    JSON.stringify(record ?? null, (key, value) => {
      if (Array.isArray(value)) return value.filter((item) => !isTime(item));
      return key.endsWith('At') ? undefined : value;
    }),
  );
}

describe('two nodes on one event store', function () {
  this.timeout(60_000);

  itInRounds('answers every command on two nodes as on a single node', { few: 60, many: 2_000 }, async (rounds) => {
    const property = fc.asyncProperty(steps, async (sent) => {
      const [two, one] = [new World(2), new World(1)];
      await Promise.all([two.begin(), one.begin()]);
      for (const [index, step] of sent.entries())
        assert.deepEqual(await two.send(step, index), await one.send(step, index));
      assert.equal(two.store.log.length, one.store.log.length);
    });
    await fc.assert(property, { numRuns: rounds });
  });
});

describe('a command on a cached stream', () => {
  let world: World;
  let flow: { readonly flowId: string };
  let reads: () => number;

  beforeEach(async () => {
    world = new World(2);
    await seedProjects(world.store);
    const made = await world
      .node(0)
      .ok(createFlow, { projectId: ids.project }, { body: { name: 'one', flowSchema: {} } });
    flow = { flowId: String(made.body.id) };
    reads = () => world.store.reads.length;
  });

  it('reads nothing for a successful command on a cached stream', async () => {
    const before = reads();
    await world.node(0).ok(createFlowVersion, flow, { body: { flowSchema: {} } });
    assert.equal(reads(), before);
  });

  it('reads a cached stream again before it answers a refusal or an unchanged state', async () => {
    const before = reads();
    assert.equal(
      await world.node(0).refusal(updateFlow, flow, { body: { name: 'x' }, ifMatch: 9 }),
      'precondition-failed',
    );
    assert.equal(reads(), before + 1);
    await world.node(0).ok(updateFlow, flow, { body: { name: 'one' } });
    assert.ok(reads() > before + 1);
  });

  it('decides a command again when another node has changed the stream', async () => {
    await world.node(1).ok(deleteFlow, flow);
    assert.equal(await world.node(0).refusal(createFlowVersion, flow, { body: { flowSchema: {} } }), 'flow-not-found');
  });

  it('finds a resource that another node has created', async () => {
    await world.node(1).ok(updateFlow, flow, { body: { name: 'two' } });
    const made = await world.node(1).ok(createFlowVersion, flow, { body: { flowSchema: {} } });
    await world.node(0).ok(activateFlowVersion, { versionId: String(made.body.id) });
  });

  it('reads a stream once for access and decision when it is not cached', async () => {
    const before = reads();
    await world.node(1).ok(createFlowVersion, flow, { body: { flowSchema: {} } });
    assert.equal(reads(), before + 1);
  });

  it('causes no conflict when the node follows the appends of other nodes', async () => {
    const [one, other] = [world.node(0), world.node(1)];
    const opened = new AsyncDisposableStack();
    followStates(world.store.tail, one.writer, opened);
    try {
      await other.ok(updateFlow, flow, { body: { name: 'two' } });
      let attempts = 0;
      world.store.beforeAppend = async () => {
        attempts += 1;
        return null;
      };
      await eventually(async () => {
        attempts = 0;
        const before = reads();
        await one.ok(createFlowVersion, flow, { body: { flowSchema: {} } });
        return attempts === 1 && reads() === before;
      }, 'the state is current');
    } finally {
      await opened.disposeAsync();
    }
  });
});
