import assert from 'node:assert/strict';
import { readersOf } from '#application/queries/query-handler.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import type { InstanceDocument } from '#projections/instances.ts';
import { driftReads, listDrift } from '#queries/instance/shared/list-drift.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { InstanceStory } from '#test/support/events/instance-scenario.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { payload, payloadFlow } from '#test/support/inputs/template-payload.ts';

const version = (flowSchema: string) => ({ payload: payload({ flows: [payloadFlow({ flowSchema })] }) });

/** An upgraded instance, and read models of which all but that of instances lag behind until they are waited for. */
async function lagging(byHand = false) {
  const story = await InstanceStory.begun();
  const [first, second] = [await story.version(version('first')), await story.version(version('second'))];
  const id = await story.create(first);
  await story.drive.settle();
  const { log } = story.service.store;
  const before = new ReadModel([...log]);
  await story.upgrade(id, second);
  await story.drive.settle();
  const flowId = (await story.instance(id)).resources.flows[0]?.flowId ?? '';
  if (byHand) await story.service.ok(updateFlow, { flowId }, { body: { name: 'Ours' } });
  const now = new ReadModel(log);
  const waitedFor: Array<readonly [ReadonlyArray<string>, number]> = [];
  const get: ReadStore['get'] = (collection, key) =>
    (collection === 'instances' || waitedFor.length > 0 ? now : before).get(collection, key);
  const reached = async (names: ReadonlyArray<string>, position: number) => waitedFor.push([names, position]) > 0;
  const subject = (await now.get<InstanceDocument>('instances', id)) as StoredDocument<InstanceDocument>;
  const read = readersOf({ get, list: now.list }, driftReads);
  return { flowId, subject, waitedFor, drift: () => listDrift({ read, reached }, subject) };
}

describe('drift, from read models', () => {
  it('is not what they do not show yet of the instance’s own operations', async () => {
    const { drift, subject, waitedFor } = await lagging();
    assert.deepEqual((await drift()).drifted, []);
    assert.deepEqual(waitedFor, [[['flows', 'agent-profiles'], subject.value.position]]);
  });

  it('is what was changed by hand, once they have come so far', async () => {
    const { drift, flowId } = await lagging(true);
    assert.deepEqual((await drift()).drifted, [flowId]);
  });
});
