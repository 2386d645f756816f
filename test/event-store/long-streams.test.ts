import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { emptyStream, foldStream, requestAnswered } from '#application/streams/stream-state.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { activateFlowVersion } from '#commands/flow-version/activate-flow-version.ts';
import { createFlowVersion } from '#commands/flow-version/create-flow-version.ts';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { template } from '#domain/template/template.ts';
import { profileCreated, profileDeleted } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, versionActivated, versionCreated } from '#test/support/events/flow-events.ts';
import {
  templateCreated,
  templateVersionCreated,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { countIteratedValues } from '#test/support/harness/count-iterated-values.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { type ExampleEvent, recorded } from '#test/support/harness/recorded-events.ts';

const many = 2_000;
const numbers = Array.from({ length: many }, (_, index) => index + 10);

/** Maximum values that folding one event may copy, however long its stream is. */
const few = 100;

const profileOf = (number: number) => `${ids.project}${String(number).padStart(8, '0')}`;

describe('commands on long streams', () => {
  const streams: ReadonlyArray<
    readonly [string, Entity<never, never>, ReadonlyArray<ExampleEvent>, ReadonlyArray<ExampleEvent>]
  > = [
    [
      'a flow with many versions',
      flow as never,
      [...begunFlow(), ...numbers.map((number) => versionCreated(number))],
      [versionCreated(5_000), versionActivated(5_000, 1)],
    ],
    [
      'a template with many versions',
      template as never,
      [templateCreated(), ...numbers.map((number) => templateVersionCreated(number))],
      [templateVersionCreated(5_000), templateVersionPublished(5_000)],
    ],
    [
      'a project with many agent profiles',
      projectAgentProfiles as never,
      numbers.map((number) => profileCreated({ id: profileOf(number) })),
      [profileCreated({ id: profileOf(5_000) }), profileDeleted(profileOf(5_000))],
    ],
  ];
  for (const [what, entity, history, further] of streams) {
    it(`folds an event of ${what} without copying earlier values`, () => {
      const events = recorded('stream', [...history, ...further]);
      const before = foldStream(entity, emptyStream(entity), events.slice(0, history.length));
      const copied = countIteratedValues(() => foldStream(entity, before, events.slice(history.length)));
      assert.ok(copied < few, `${copied} values were copied`);
    });
  }

  it('adds a remembered request without copying the earlier ones', () => {
    const keyed = (event: ExampleEvent, count: number) =>
      recorded('stream', Array(count).fill(event)).map((each) => ({
        ...each,
        metadata: { ...each.metadata, idempotency: { key: `key ${each.revision}`, body: 'body' } },
      }));
    const events = keyed({ type: requestAnswered, data: {} }, 15_001);
    const before = foldStream(flow, emptyStream(flow), events.slice(0, 15_000));
    const copied = countIteratedValues(() => {
      const after = foldStream(flow, before, events.slice(15_000));
      assert.equal(after.remembered.get('key 15000')?.firstRevision, 15_000);
      assert.equal(after.remembered.get('key 0')?.firstRevision, 0);
    });
    assert.ok(copied < few, `${copied} values were copied`);
    assert.equal(before.remembered.get('key 15000'), undefined);
  });

  it('folds a long stream in parts, and yields between them', async () => {
    const { store } = await longFlow();
    let foldedInTurn = 0;
    let most = 0;
    const counting: typeof flow = {
      ...flow,
      evolve: (state, event) => {
        foldedInTurn += 1;
        most = Math.max(most, foldedInTurn);
        return flow.evolve(state, event);
      },
    };
    let isOver = false;
    const turns = (async () => {
      while (!isOver) {
        foldedInTurn = 0;
        await nextTurn();
      }
    })();
    const { revision } = await new StreamWriter({ store }).load(counting, ids.flow);
    isOver = true;
    await turns;
    assert.equal(revision, many + 2);
    assert.ok(most <= 100, `${most} events were folded in one turn`);
  });

  it('reads a long stream once, and then at most the events that a response needs', async () => {
    const { store } = await longFlow();
    const service = new Service(store, { soleWriter: true });
    const read = async (work: Promise<unknown>) => {
      store.reads.length = 0;
      await work;
      return store.reads.map(([, revision]) => revision);
    };
    await service.writer.load(flow, ids.flow);
    const { project: projectId, flow: flowId } = ids;
    const schema = { flowSchema: { say: 'hello' } };
    assert.deepEqual(await read(service.ok(createFlowVersion, { projectId, flowId }, { body: schema })), []);
    assert.deepEqual(await read(service.ok(activateFlowVersion, { versionId: numberedVersion(17).data.id })), [10]);
    assert.deepEqual(await read(service.ok(updateFlow, { flowId }, { body: { name: 'Nights' } })), [0]);
    assert.deepEqual(await read(service.ok(updateFlow, { flowId }, { body: { description: null } })), [many + 5]);
  });
});

function numberedVersion(number: number) {
  const { type, data } = versionCreated(number);
  return { type, data: { ...data, id: `${ids.flow}${String(number).padStart(8, '0')}` } };
}

async function longFlow(): Promise<{ store: AppendableEventStore }> {
  const store = new AppendableEventStore();
  const events = [...begunFlow(), ...numbers.map(numberedVersion)];
  const origin = { actor: { keyId: 'key', keyType: 'admin' }, requestId: 'r', correlationId: 'r', causationId: 'r' };
  const decide = () => E.right({ events: events as never, tenant: tenants.project });
  const handled = await new StreamWriter({ store }).write({ entity: flow, id: ids.flow, origin, decide });
  assert.ok(E.isRight(handled));
  return { store };
}
