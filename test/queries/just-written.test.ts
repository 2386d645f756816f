import assert from 'node:assert/strict';
import { bootstrap, createFirstKey } from '#app/startup/bootstrap.ts';
import { PendingResources, ReadYourWrites } from '#application/operations/read-your-writes.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import { projections } from '#projections/table.ts';
import { getFlow } from '#queries/flow/get-flow.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { queriesOn } from '#test/support/harness/query-harness.ts';

const readTimeoutMs = 100;

describe('a read of a flow that was just created', () => {
  let positions: Positions;
  let pending: PendingResources;
  let store: AppendableEventStore;
  /** The part of the log that the projector has handled. It is held back until the test lets it go on. */
  let projected: RecordedEvent[];
  let queries: ReturnType<typeof queriesOn>;
  let flowId: string;
  let createAnotherFlow: () => Promise<string>;

  beforeEach(async () => {
    positions = new Positions(new Admission());
    positions.declare(
      'projection',
      projections.map(({ name }) => ({ name, types: ['FlowCreated'] })),
    );
    store = new AppendableEventStore();
    projected = [];
    project(true);
    pending = new PendingResources(positions, { timeoutMs: readTimeoutMs });
    const service = new Service(store, {
      readYourWrites: new ReadYourWrites({ positions, processes: [], pending, timeoutMs: 1 }),
    });
    queries = queriesOn({ store, documents: new ReadModel(projected), pending });
    await bootstrap(
      service.writer,
      createFirstKey(`sy_live_${'a'.repeat(40)}`, () => undefined),
    );
    const made = store.log.find(({ type }) => type === 'ProjectCreated');
    const body = { name: 'Flow', flowSchema: {} };
    createAnotherFlow = async () =>
      String((await service.ok(createFlow, { projectId: String(made?.data.id) }, { body })).body.id);
    flowId = await createAnotherFlow();
  });
  afterEach(() => positions.close());

  /** Lets the projector handle the log. @param live false: it stops before the end of the log */
  function project(live: boolean): void {
    if (live) projected.push(...store.log.slice(projected.length));
    const position = projected.at(-1)?.position ?? 0;
    positions.update('projection', new Map(projections.map(({ name }) => [name, { position, live }])));
  }

  it('is answered when the projector has handled the creation within a second', async () => {
    const answer = queries.ask(getFlow, { flowId });
    const versions = queries.ask(listFlowVersions, { flowId });
    await new Promise((resolve) => setImmediate(resolve));
    project(true);
    assert.equal(((await answer).body as { id: string }).id, flowId);
    assert.equal(((await versions).body as { versions: unknown[] }).versions.length, 1);
    assert.equal(pending.size, 0);
  });

  it('is refused with read-model-behind after a second, and its lists too', async () => {
    assert.equal((await queries.ask(getFlow, { flowId })).refusal, 'read-model-behind');
    assert.equal((await queries.ask(listFlowVersions, { flowId })).refusal, 'read-model-behind');
  });

  it('is refused with read-model-behind immediately when the projection has stopped', async () => {
    project(false);
    const begun = performance.now();
    for (let read = 0; read < 20; read += 1) {
      assert.equal((await queries.ask(getFlow, { flowId })).refusal, 'read-model-behind');
    }
    assert.ok(performance.now() - begun < 20 * readTimeoutMs);
  });

  it('is refused with read-model-behind immediately when the projection had stopped before the flow was created', async () => {
    project(true);
    project(false);
    const another = await createAnotherFlow();
    const begun = performance.now();
    for (let read = 0; read < 20; read += 1) {
      assert.equal((await queries.ask(getFlow, { flowId: another })).refusal, 'read-model-behind');
    }
    assert.ok(performance.now() - begun < 20 * readTimeoutMs);
  });

  it('is answered from the past although the projector is late', async () => {
    assert.equal(((await queries.ask(getFlow, { flowId, asOf: '0' })).body as { id: string }).id, flowId);
  });

  it('is refused with flow-not-found for a key that cannot access it, and for another id', async () => {
    const stranger = callerOf('project', { projectId: 'canotherproject0' });
    assert.equal((await queries.ask(getFlow, { flowId }, stranger)).refusal, 'flow-not-found');
    assert.equal((await queries.ask(getFlow, { flowId: 'cnothing0was0ever0here00' })).refusal, 'flow-not-found');
  });
});
