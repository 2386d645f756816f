import assert from 'node:assert/strict';
import type { ProcessProgress } from '#application/commands/process-progress.ts';
import { createWaitForReadModels } from '#application/commands/read-your-writes.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';

const recorded = (type: string, position: number): RecordedEvent => ({
  position,
  stream: 'flow-1',
  revision: position,
  id: `event${position}`,
  type,
  data: {},
  metadata: testMetadata,
});

describe('createWaitForReadModels', () => {
  let waits: Array<readonly [number, ReadonlyArray<string>]>;
  let asked: number[];

  beforeEach(() => {
    waits = [];
    asked = [];
  });

  const projections: Pick<ProjectionsProgress, 'waitFor'> = {
    waitFor: async (position, types) => {
      waits.push([position, types]);
      return 'reached';
    },
  };
  /** A process that reacts to one type. @param effect the position of what it appended; null when it is late */
  const process = (type: string, effect: number | null): ProcessProgress => ({
    handles: (events) => events.some((event) => event.type === type),
    waitUntilProcessed: async (position) => {
      asked.push(position);
      return effect;
    },
  });
  const shown = (processes: ReadonlyArray<ProcessProgress>, ...events: ReadonlyArray<RecordedEvent>) =>
    createWaitForReadModels(processes, projections, ['A', 'B', 'C'], 1_000)(events);

  it('waits for the projections of the appended events when no process reacts to them', async () => {
    await shown([process('C', 9)], recorded('A', 3), recorded('B', 4));
    assert.deepEqual([asked, waits], [[], [[4, ['A', 'B']]]]);
  });

  it('waits for each process up to the last event that it handles, then for what it appended', async () => {
    await shown([process('A', 9), process('B', 11)], recorded('A', 3), recorded('B', 4), recorded('C', 5));
    assert.deepEqual(asked, [3, 4]);
    assert.deepEqual(waits, [[11, ['A', 'B', 'C']]]);
  });

  it('waits at least for the appended events when a process has appended nothing or is late', async () => {
    await shown([process('A', 0), process('B', null)], recorded('A', 3), recorded('B', 4));
    assert.deepEqual(waits, [[4, ['A', 'B', 'C']]]);
  });

  it('waits for nothing when nothing was appended', async () => {
    await shown([process('A', 9)]);
    assert.deepEqual([asked, waits], [[], []]);
  });
});
