import assert from 'node:assert/strict';
import type { FileEvents } from '#domain/file/events.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import type { PhoneNumberEvents } from '#domain/phone-number/events.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { isAwaited, mayHandle, process, sideEffect, when } from '#process-engine/process.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { processTools } from '#test/support/harness/process-tools.ts';

const recorded = (type: string, data: JsonObject): RecordedEvent => ({
  ...{ position: 3, stream: 'flow-one', revision: 0, id: 'event-1', type, data },
  metadata: testMetadata,
});
const toolsFor = (event: RecordedEvent) => processTools(new Service().writer, new ReadModel([]), event);

describe('process', () => {
  const reacted: string[] = [];
  const detach = process<FlowEvents & PhoneNumberEvents>({
    name: 'detach',
    on: {
      FlowDeleted: async ({ data }) => void reacted.push(data.id),
      PhoneNumberFlowSet: when(
        ({ data }) => data.flowId !== null,
        async ({ data }) => void reacted.push(`${data.id} ${data.flowId}`),
      ),
    },
  });
  const deleted = recorded('FlowDeleted', { id: 'one' });
  const attached = recorded('PhoneNumberFlowSet', { id: 'two', flowId: 'one' });
  const detached = recorded('PhoneNumberFlowSet', { id: 'two', flowId: null });
  const other = recorded('FlowRenamed', { id: 'one' });

  it('looks at the types that it has a reaction for', () => {
    assert.deepEqual(detach.types, ['FlowDeleted', 'PhoneNumberFlowSet']);
    assert.deepEqual([deleted, attached, detached, other].map(detach.handles), [true, true, false, false]);
  });

  it('reacts to the events that it handles, and to no other', async () => {
    for (const event of [deleted, attached, detached, other]) await detach.handle(event, toolsFor(event));
    assert.deepEqual(reacted, ['one', 'two one']);
  });

  it('gives an event whose predicate fails to the reaction, where the failure counts', async () => {
    const broken = process<FlowEvents>({
      name: 'broken',
      on: {
        FlowDeleted: when(
          () => assert.fail('a bug'),
          async () => undefined,
        ),
      },
    });
    assert.equal(mayHandle(broken, deleted), true);
    await assert.rejects(broken.handle(deleted, toolsFor(deleted)), /a bug/);
  });
});

describe('sideEffect', () => {
  it('calls its port with the data of each event of its types', async () => {
    const removed: string[] = [];
    const remove = sideEffect<Pick<FileEvents, 'FileDeleted'>>({
      name: 'remove',
      on: ['FileDeleted'],
      concurrency: 4,
      run: async ({ blobId }) => void removed.push(blobId),
    });
    const event = recorded('FileDeleted', { id: 'file-1', blobId: 'blob-1' });
    await remove.handle(event, toolsFor(event));
    assert.deepEqual([removed, remove.types, isAwaited(remove)], [['blob-1'], ['FileDeleted'], false]);
  });
});
