import assert from 'node:assert/strict';
import {
  type ReactingProcess,
  ReadYourWrites,
  type WrittenResources,
} from '#application/operations/read-your-writes.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { type FollowedPosition, Positions } from '#positions/positions.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';

const long = 60_000;
const written: WrittenResources = { ids: ['cone'], tenant: null };
const recorded = (type: string, position: number): RecordedEvent => ({
  position,
  stream: 'flow-1',
  revision: position,
  id: `event${position}`,
  type,
  data: { isEven: position % 2 === 0 },
  metadata: testMetadata,
});
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('ReadYourWrites', () => {
  let positions: Positions;
  let pending: WrittenResources[];

  beforeEach(() => {
    positions = new Positions(new Admission());
    pending = [];
    positions.declare('projection', [
      { name: 'flows', types: ['A', 'B'] },
      { name: 'numbers', types: ['C'] },
    ]);
    models(0, 0);
  });
  afterEach(() => positions.close());

  const models = (flows: number, numbers: number, live = true) =>
    positions.update(
      'projection',
      new Map([
        ['flows', { position: flows, live }],
        ['numbers', { position: numbers, live }],
      ]),
    );
  const processes = (all: Readonly<Record<string, FollowedPosition>>) =>
    positions.update('process', new Map(Object.entries(all)));
  const at = (position: number, live = true): FollowedPosition => ({ position, live });
  /** A process that reacts to events of a type, by default to all of them. */
  const process = (name: string, type: string, handles: ReactingProcess['handles'] = () => true) => ({
    name,
    types: [type],
    handles,
  });
  /** Begins a wait. @returns whether it has ended by now */
  const begin = (all: ReadonlyArray<ReactingProcess>, events: ReadonlyArray<RecordedEvent>, timeoutMs = long) => {
    const reads = new ReadYourWrites({
      positions,
      processes: all,
      pending: { add: (one) => pending.push(one) },
      timeoutMs,
    });
    let hasEnded = false;
    const ended = reads
      .wait(events, () => written)
      .then(() => {
        hasEnded = true;
      });
    return {
      ended,
      hasEnded: async () => {
        for (let turn = 0; turn < 5; turn += 1) await nextTurn();
        return hasEnded;
      },
    };
  };

  it('waits for the read models of the appended events when no process reacts to them', async () => {
    const wait = begin([process('late', 'C')], [recorded('A', 3), recorded('B', 4)]);
    models(3, 0);
    assert.equal(await wait.hasEnded(), false);
    models(4, 0);
    await wait.ended;
    assert.deepEqual(pending, []);
  });

  it('waits for nothing when nothing was appended', async () => {
    await begin([process('late', 'A')], []).ended;
    assert.deepEqual(pending, []);
  });

  it('waits until the processes that react have passed the event, and for no other process', async () => {
    processes({ reacting: at(2), other: at(0), uninterested: at(0) });
    models(9, 0);
    const all = [
      process('reacting', 'A'),
      process('other', 'B'),
      process('uninterested', 'A', ({ data }) => data.isEven === true),
    ];
    const wait = begin(all, [recorded('A', 3)]);
    assert.equal(await wait.hasEnded(), false);
    processes({ reacting: at(3), other: at(0), uninterested: at(0) });
    await wait.ended;
  });

  it('waits for all read models of what a process appended because of its event', async () => {
    processes({ reacting: at(2) });
    const wait = begin([process('reacting', 'A')], [recorded('A', 3)]);
    models(4, 4);
    positions.recordEffect('reacting', 3, 6);
    processes({ reacting: at(3) });
    assert.equal(await wait.hasEnded(), false);
    processes({ reacting: at(6) });
    models(6, 5);
    assert.equal(await wait.hasEnded(), false);
    models(6, 6);
    await wait.ended;
    assert.deepEqual(pending, []);
  });

  it('does not wait for what a process appended because of other events', async () => {
    processes({ reacting: at(2) });
    models(3, 3);
    const wait = begin([process('reacting', 'A')], [recorded('A', 3)]);
    positions.recordEffect('reacting', 1, 90);
    positions.recordEffect('other', 3, 91);
    processes({ reacting: at(5) });
    await wait.ended;
    assert.deepEqual(pending, []);
  });

  it('follows a process that reacts to its own appends to the end', async () => {
    processes({ reacting: at(2) });
    models(3, 3);
    const wait = begin([process('reacting', 'A')], [recorded('A', 3)]);
    positions.recordEffect('reacting', 3, 5);
    processes({ reacting: at(3) });
    assert.equal(await wait.hasEnded(), false);
    positions.recordEffect('reacting', 5, 8);
    processes({ reacting: at(5) });
    models(5, 5);
    assert.equal(await wait.hasEnded(), false);
    processes({ reacting: at(8) });
    assert.equal(await wait.hasEnded(), false);
    models(8, 8);
    await wait.ended;
  });

  it('waits for the read models of the appended events also while a process is late', async () => {
    processes({ reacting: at(0) });
    const wait = begin([process('reacting', 'A')], [recorded('A', 3)], 50);
    await wait.ended;
    assert.deepEqual(pending, [{ ...written, types: ['A'], position: 3, reactions: new Map([['reacting', [3]]]) }]);
  });

  it('waits neither for a stopped process nor for a stopped read model', async () => {
    processes({ reacting: at(0, false) });
    models(0, 0, false);
    await begin([process('reacting', 'A')], [recorded('A', 3)]).ended;
    models(3, 0);
    await begin([process('reacting', 'A')], [recorded('A', 3)]).ended;
    assert.equal(pending.length, 1);
  });

  it('leaves what it wrote as pending when a read model has stopped, or its position is unknown', async () => {
    models(0, 0, false);
    await begin([], [recorded('A', 3)]).ended;
    positions.update('projection', new Map());
    await begin([], [recorded('A', 4)]).ended;
    const reactions = new Map();
    assert.deepEqual(pending, [
      { ...written, types: ['A'], position: 3, reactions },
      { ...written, types: ['A'], position: 4, reactions },
    ]);
  });

  it('leaves what it wrote as pending when the read models are late', async () => {
    await begin([], [recorded('A', 3)], 10).ended;
    assert.deepEqual(pending, [{ ...written, types: ['A'], position: 3, reactions: new Map() }]);
  });
});
