import assert from 'node:assert/strict';
import { readersOf } from '#application/queries/query-handler.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import type { InstanceDocument } from '#projections/instances.ts';
import { driftReads, listDrift } from '#queries/instance/list-drift.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { InstanceScenario } from '#test/support/events/instance-scenario.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { payload, payloadFlow } from '#test/support/inputs/template-payload.ts';

const version = (flowSchema: string) => ({ payload: payload({ flows: [payloadFlow({ flowSchema })] }) });

/** An upgraded instance. Every read model but that of instances lags behind until a caller waits for it. */
async function laggingReadModels(byHand = false) {
  const scenario = await InstanceScenario.begin();
  const [first, second] = [await scenario.version(version('first')), await scenario.version(version('second'))];
  const id = await scenario.create(first);
  await scenario.driver.settle();
  const { log } = scenario.service.store;
  const before = new ReadModel([...log]);
  await scenario.upgrade(id, second);
  await scenario.driver.settle();
  const flowId = (await scenario.instance(id)).resources.flows[0]?.flowId ?? '';
  if (byHand) await scenario.service.ok(updateFlow, { flowId }, { body: { name: 'Ours' } });
  const now = new ReadModel(log);
  const waitedFor: Array<readonly [ReadonlyArray<string>, number]> = [];
  const get: ReadStore['get'] = (collection, key) =>
    (collection === 'instances' || waitedFor.length > 0 ? now : before).get(collection, key);
  const waitForPosition = async (names: ReadonlyArray<string>, position: number) =>
    waitedFor.push([names, position]) > 0;
  const subject = (await now.get<InstanceDocument>('instances', id)) as StoredDocument<InstanceDocument>;
  const read = readersOf({ get, list: now.list }, driftReads);
  return { flowId, subject, waitedFor, drift: () => listDrift({ read, waitForPosition }, subject) };
}

describe('listDrift', () => {
  it('reports no drift for changes by the instance’s own operations that the read models do not show yet', async () => {
    const { drift, subject, waitedFor } = await laggingReadModels();
    assert.deepEqual((await drift()).drifted, []);
    assert.deepEqual(waitedFor, [[['flows', 'agent-profiles'], subject.value.position]]);
  });

  it('reports a flow that was changed by hand, once the read models show it', async () => {
    const { drift, flowId } = await laggingReadModels(true);
    assert.deepEqual((await drift()).drifted, [flowId]);
  });
});
