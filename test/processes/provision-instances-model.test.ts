import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { createInstance } from '#commands/instance/create-instance.ts';
import { deleteInstance } from '#commands/instance/delete-instance.ts';
import { retryInstance } from '#commands/instance/retry-instance.ts';
import { upgradeInstance } from '#commands/instance/upgrade-instance.ts';
import { instance } from '#domain/instance/instance.ts';
import { provisionInstances } from '#processes/provision-instances.ts';
import type { FlowVersionDocument } from '#projections/flow-versions.ts';
import type { Json } from '#shared/json/json.ts';
import { InstanceScenario } from '#test/support/events/instance-scenario.ts';
import { ids } from '#test/support/events/tenants.ts';
import { GatedWorker } from '#test/support/fakes/gated-worker.ts';
import { field, payload, payloadFlow } from '#test/support/inputs/template-payload.ts';
import { itInRounds } from '#test/support/run/long.ts';

/** The template's versions. Their resources are listed here again, independently of the code. */
interface Version {
  readonly flows: Readonly<
    Record<string, { readonly name: string; readonly type: 'simple' | 'graph'; readonly schema: Json }>
  >;
  readonly profile: string | null;
  readonly stores: ReadonlyArray<string>;
  /** Provisioning fails, because the last flow is too large with its value. */
  readonly fails?: true;
}

const flowOf = (name: string, schema: Json, type: 'simple' | 'graph' = 'simple') => ({ name, type, schema });
const tooLong = '{{fields.text}}'.repeat(1_100);
const many = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`m${index}`, flowOf(`M${index}`, index)]));

const versions: ReadonlyArray<Version> = [
  { flows: { a: flowOf('A', 1), b: flowOf('B', 1) }, profile: 'One', stores: ['s'] },
  { flows: { a: flowOf('A2', 2, 'graph'), c: flowOf('C', 2) }, profile: 'Two', stores: ['s', 't'] },
  {
    flows: { b: flowOf('B3', 3), c: flowOf('C', 3), z: flowOf('Z', tooLong) },
    profile: 'Three',
    stores: [],
    fails: true,
  },
  { flows: { a: flowOf('A4', 4), z: flowOf('Z', tooLong), ...many }, profile: null, stores: ['t'], fails: true },
  { flows: { a: flowOf('A', 5), b: flowOf('B', 5), ...many }, profile: null, stores: [] },
  { flows: { c: flowOf('C', 6, 'graph'), a: flowOf('A', 6) }, profile: 'Six', stores: ['s'] },
];

type Action =
  | { readonly do: 'upgrade'; readonly to: number }
  | { readonly do: 'retry' | 'start' | 'finish' }
  | { readonly do: 'delete'; readonly keep: boolean }
  | { readonly do: 'pass' | 'refuse'; readonly worker: number; readonly appends: number }
  | { readonly do: 'crash'; readonly worker: number; readonly stored: boolean };

const upgrade = fc.record({ do: fc.constant('upgrade' as const), to: fc.integer({ min: 1, max: 5 }) });
const finish = fc.constant<Action>({ do: 'finish' });
const start = fc.constant<Action>({ do: 'start' });
/** The worker, counted back from the newest. */
const worker = fc.nat(2);
const pass = fc.record({ do: fc.constant('pass' as const), worker, appends: fc.nat(8) });

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: upgrade },
  { weight: 1, arbitrary: fc.constant<Action>({ do: 'retry' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), keep: fc.boolean() }) },
  { weight: 2, arbitrary: start },
  { weight: 2, arbitrary: finish },
  { weight: 6, arbitrary: pass },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('refuse' as const), worker, appends: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), worker, stored: fc.boolean() }) },
);

/** A worker makes some appends of an upgrade, and is then interrupted. */
const interrupted = fc.tuple(
  upgrade,
  start,
  fc.record({ do: fc.constant('pass' as const), worker: fc.constant(0), appends: fc.nat(20) }),
);

const actions: fc.Arbitrary<ReadonlyArray<Action>> = fc
  .array(fc.oneof({ weight: 3, arbitrary: interrupted }, { weight: 4, arbitrary: fc.tuple(action) }), { maxLength: 12 })
  .map((groups) => groups.flat());

const retryLimits = { attempts: 6, firstPause: 0, longestPause: 0 };

class Run {
  readonly scenario: InstanceScenario;
  readonly versionIds: ReadonlyArray<string>;
  readonly workers: GatedWorker[] = [];
  /** The number of refused appends: enough of them make an operation fail. */
  refused = 0;
  last = 0;
  deleted = false;
  kept = false;

  private constructor(scenario: InstanceScenario, versionIds: ReadonlyArray<string>) {
    this.scenario = scenario;
    this.versionIds = versionIds;
  }

  static async begun(): Promise<Run> {
    const scenario = await InstanceScenario.begin();
    const versionIds: string[] = [];
    for (const { flows, profile, stores } of versions) {
      const made = payload({
        flows: Object.entries(flows).map(([key, { name, type, schema }]) =>
          payloadFlow({ key, name, flowType: type, flowSchema: schema }),
        ),
        ...(profile === null ? { agentProfile: undefined } : {}),
        knowledgeBases: stores.map((key) => ({ key, name: `Store ${key}` })),
      });
      const named =
        profile === null ? made : { ...made, agentProfile: { ...(made.agentProfile as object), name: profile } };
      const fieldsSchema = [field({ key: 'text', required: false, defaultValue: 'x'.repeat(1_000) })];
      versionIds.push(await scenario.version(JSON.parse(JSON.stringify({ payload: named, fieldsSchema }))));
    }
    const run = new Run(scenario, versionIds);
    run.id = await scenario.create(versionIds[0] ?? '');
    return run;
  }

  id = '';

  async act(action: Action): Promise<void> {
    switch (action.do) {
      case 'upgrade': {
        const body = { targetTemplateVersionId: this.versionIds[action.to] ?? '' };
        if (await this.#sent(upgradeInstance, body)) this.last = action.to;
        return;
      }
      case 'retry':
        return void (await this.#sent(retryInstance, {}));
      case 'delete':
        if (await this.#sent(deleteInstance, { keepResources: action.keep }))
          [this.deleted, this.kept] = [true, action.keep];
        return;
      case 'start':
        return void this.workers.push(this.#worker());
      case 'finish':
        return this.#worker().finish();
      case 'pass':
        return this.workers.at(-1 - action.worker)?.pass(action.appends);
      case 'refuse':
        this.refused += action.appends;
        return this.workers.at(-1 - action.worker)?.pass(action.appends, 'refused');
      case 'crash':
        return this.workers.at(-1 - action.worker)?.crash(action.stored);
    }
  }

  /**
   * A new worker completes everything; then the sleeping ones wake up; then another reads the whole log and appends
   * nothing.
   */
  async settle(): Promise<void> {
    await this.#worker().finish();
    for (const each of this.workers) await each.finish();
    await this.#worker().finish();
    const { length } = this.scenario.service.store.log;
    await this.#worker().finish();
    const more = this.scenario.service.store.log.slice(length).map(({ type, stream }) => `${type} in ${stream}`);
    assert.deepEqual(more, [], 'a worker that sees all again appends');
  }

  async check(): Promise<void> {
    const { state } = await this.scenario.service.restarted().writer.load(instance, this.id);
    assert.ok(state);
    if (this.deleted) {
      assert.equal(state.removal, null, 'the deletion has ended');
      if (!this.kept) assert.deepEqual(await this.#contents(), { flows: [], profile: [], stores: [] });
      return;
    }
    assert.equal(state.operation, null, 'every operation has ended');
    const shown = await this.scenario.instance(this.id);
    const number = this.versionIds.indexOf(shown.templateVersionId);
    const wanted = versions[number];
    assert.ok(wanted);
    if (shown.status === 'failed') {
      assert.deepEqual(await this.#contents(), { flows: [], profile: [], stores: [] });
    } else {
      assert.ok(!wanted.fails, 'a version that cannot be provisioned is not active');
      const flows = Object.entries(wanted.flows).map(([key, each]) => ({ key, ...each }));
      const stores = wanted.stores.map((key) => `Store ${key}`);
      const profile = wanted.profile === null ? [] : [wanted.profile];
      assert.deepEqual(await this.#contents(), { flows, profile, stores });
    }
    if (versions[this.last]?.fails) assert.notEqual(shown.lastOperation?.outcome, 'succeeded');
    else if (this.refused < retryLimits.attempts) {
      assert.deepEqual([shown.status, number], ['active', this.last], JSON.stringify(shown.lastOperation));
    }
    await this.#noVersionIsLeftOver();
  }

  /** The project's resources, with flows under their resource keys. */
  async #contents() {
    const { flows, profiles, stores } = await this.scenario.project();
    const { state } = await this.scenario.service.restarted().writer.load(instance, this.id);
    const known = state?.base?.resources.flows ?? [];
    const profileId = profiles[0]?.id ?? null;
    const found = flows.map(({ id, name, type, schema, agentProfileId }) => {
      if (profiles.length > 0) assert.equal(agentProfileId, profileId, 'a flow has the profile');
      return { key: known.find((each) => each.id === id)?.key ?? `unknown ${id}`, name, type, schema };
    });
    const place = (key: string) => known.findIndex((each) => each.key === key);
    return {
      flows: found.toSorted((a, b) => place(a.key) - place(b.key)),
      profile: profiles.map(({ name }) => name),
      stores: stores.map(({ name }) => name).toSorted(),
    };
  }

  /** Checks that every remaining version passed a commit point: unused prepared versions are removed. */
  async #noVersionIsLeftOver(): Promise<void> {
    const { store, documents } = this.scenario.service;
    const committed = new Set<string>();
    const { writer } = this.scenario.service.restarted();
    for (const { type, revision } of store.streamOf(`instance-${this.id}`)) {
      if (type !== 'InstanceOperationCommitted') continue;
      const { state } = await writer.loadAt(instance, this.id, revision);
      for (const { versionId } of state?.base?.resources.flows ?? []) committed.add(versionId);
    }
    const all = await documents.list<FlowVersionDocument>('flow-versions', {}, { limit: 1e6, maxBytes: 1e9 });
    const left = all.documents.filter(({ id, value }) => value.projectId === ids.customerProject && !committed.has(id));
    assert.deepEqual(
      left.map(({ id }) => id),
      [],
    );
  }

  #worker(): GatedWorker {
    const { store, documents } = this.scenario.service;
    return new GatedWorker(provisionInstances(retryLimits), store, documents);
  }

  async #sent(command: typeof createInstance | object, body: object): Promise<boolean> {
    const answer = await this.scenario.service.send(
      command as never,
      { instanceId: this.id },
      {
        caller: this.scenario.partner,
        body: body as never,
      },
    );
    return answer._tag === 'Right';
  }
}

/** Actions while a worker sleeps during the upgrade to the second version. */
const others: ReadonlyArray<Action> = [
  { do: 'upgrade', to: 5 },
  { do: 'upgrade', to: 3 },
  { do: 'delete', keep: false },
];
/** More appends than an upgrade to the second version makes. */
const appendsOfUpgrade = 14;
/** More appends than the first provisioning makes. */
const appendsOfProvisioning = 12;

/** @param between the actions after a worker falls asleep before this many appends, and before it wakes up */
async function sleeping(appends: number, between: (run: Run) => Promise<void>): Promise<void> {
  const run = await Run.begun();
  for (const each of [{ do: 'finish' }, { do: 'upgrade', to: 1 }, { do: 'start' }] as const) await run.act(each);
  await run.act({ do: 'pass', worker: 0, appends });
  await between(run);
  await run.settle();
  await run.check();
}

describe('provisionInstances with interleaved workers', () => {
  itInRounds(
    'reaches the target of the last operation, or restores the state before it, for any interleaving',
    { few: 5, many: 200 },
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(actions, async (all) => {
          const run = await Run.begun();
          for (const each of all) await run.act(each);
          await run.settle();
          await run.check();
        }),
        { numRuns },
      );
    },
  );

  for (const wakes of ['after the upgrade', 'before the upgrade', 'during the upgrade']) {
    it(`leaves nothing of a superseded first provisioning whose worker wakes up ${wakes}`, async function () {
      this.timeout(180_000);
      for (let appends = 0; appends <= appendsOfProvisioning; appends += 1) {
        const run = await Run.begun();
        await run.act({ do: 'start' });
        await run.act({ do: 'pass', worker: 0, appends });
        await run.act({ do: 'upgrade', to: 1 });
        assert.equal(run.last, 1);
        if (wakes === 'during the upgrade') {
          await run.act({ do: 'start' });
          await run.act({ do: 'pass', worker: 0, appends: 2 });
        }
        if (wakes !== 'after the upgrade')
          await run.act({ do: 'pass', worker: wakes === 'before the upgrade' ? 0 : 1, appends: 3 });
        await run.settle();
        await run.check();
      }
    });
  }

  for (const other of others) {
    const what = other.do === 'upgrade' ? `an upgrade to version ${other.to + 1}` : 'a deletion';

    it(`undoes nothing of ${what} when a worker wakes up that slept before any of its appends`, async function () {
      this.timeout(180_000);
      for (let appends = 0; appends <= appendsOfUpgrade; appends += 1) {
        await sleeping(appends, async (run) => {
          await run.act({ do: 'finish' });
          await run.act(other);
          await run.act({ do: 'finish' });
        });
      }
    });

    const points = { few: 2, many: 9 };
    const title = `reaches the target when a superseded worker wakes up at any point of ${what}`;
    itInRounds(title, points, async function (count) {
      this.timeout(180_000);
      for (const appends of [4, 5, 6, 7]) {
        for (let point = 0; point < count; point += 1) {
          // The points are spread from the first to the last.
          const later = Math.round((point * 8) / (count - 1));
          await sleeping(appends, async (run) => {
            await run.act(other);
            await run.act({ do: 'start' });
            await run.act({ do: 'pass', worker: 0, appends: later });
            await run.act({ do: 'pass', worker: 1, appends: 1 });
          });
        }
      }
    });
  }
});
