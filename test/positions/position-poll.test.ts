import assert from 'node:assert/strict';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { Admission } from '#exchange/admission.ts';
import {
  type PollLimits,
  PositionPoll,
  type ProcessCheckpoint,
  type ProcessesRecord,
} from '#positions/position-poll.ts';
import { type FollowedPosition, Positions } from '#positions/positions.ts';
import type { PublishedPositions } from '#read-store/published-positions.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';

const long = 60_000;
const failure = { eventId: 'event-1', eventType: 'Seen', position: 5, message: 'It cannot be read.', stream: 'one-1' };

describe('PositionPoll', () => {
  let positions: Positions;
  let poll: PositionPoll;
  let polls: number;
  let warnings: number;
  let published: PublishedPositions | null;
  let processes: ProcessesRecord | null;
  let beforePoll: () => Promise<void>;

  beforeEach(async () => {
    positions = new Positions(new Admission());
    positions.declare('projection', [{ name: 'flows', types: ['FlowCreated'] }]);
    polls = 0;
    warnings = 0;
    published = null;
    processes = null;
    beforePoll = async () => undefined;
    await start({ busy: 1, idle: long });
  });
  afterEach(async () => {
    positions.close();
    await poll.close();
  });

  /** Starts a poll. */
  async function start(limits: Partial<PollLimits>): Promise<void> {
    const warn = () => {
      warnings += 1;
    };
    poll = new PositionPoll({
      positions,
      source: {
        poll: async () => {
          polls += 1;
          const answer = { published, processes };
          await beforePoll();
          return answer;
        },
      },
      onPoll: async () => undefined,
      log: { info: () => undefined, warn, error: assert.fail },
      limits,
    });
    await poll.start();
  }

  const publish = (position: number, live = true, generation = 1) => {
    const beat = (published?.beat ?? 0) + 1;
    const projections = [{ name: 'flows', position, live, generation }];
    published = { token: 1, beat, ready: true, statusChanges: 0, projections, read: nothingRead };
  };
  const store = (checkpoint: Partial<ProcessCheckpoint>, effects: ProcessesRecord['effects'] = []) => {
    const detach = { position: 0, lastAppended: 0, failure: null, waitingFor: null, ...checkpoint };
    processes = { log: '1/a', token: 1, checkpoints: { detach }, effects, read: nothingRead, liveFrom: 0 };
    // The same node publishes the positions of the projections.
    if (published === null) publish(1);
  };
  const own = (followed: FollowedPosition) => poll.update('process', new Map([['detach', followed]]));
  const passedDetach = (position: number, ms = long, strict = false) =>
    positions.passed({ names: ['detach'] }, position, { kind: 'process', strict, ms });
  const passedFlows = (position: number, ms = long) =>
    positions.passed({ names: ['flows'] }, position, { strict: true, ms });

  it('polls often while a caller waits for another node, and rarely otherwise', async () => {
    assert.equal(polls, 1);
    publish(4);
    const waits = Array.from({ length: 50 }, () => passedFlows(5));
    await eventually(() => polls > 5, 'it polls');
    publish(5);
    assert.deepEqual(new Set(await Promise.all(waits)), new Set(['reached']));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const before = polls;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(polls - before <= 1);
  });

  it('reports the processes of a record with their effects, and waits for none that has stopped or waits', async () => {
    store({ position: 7 }, [{ process: 'detach', cause: 7, appended: 9 }]);
    assert.equal(await passedDetach(7, long, true), 'reached');
    assert.deepEqual([...positions.effectsOf('detach', 7)], [9]);
    const wait = passedDetach(8);
    store({ position: 7, failure });
    assert.equal(await wait, 'reached');
    store({ position: 7 });
    await passedFlows(1, 10);
    const waiting = passedDetach(8);
    store({ position: 7, waitingFor: 'the read model flows' });
    assert.equal(await waiting, 'reached');
  });

  it('waits for no process that looks again at events of the past', async () => {
    store({ position: 7 });
    assert.equal(await passedDetach(7, long, true), 'reached');
    const wait = passedDetach(20, 2_000);
    store({ position: 3 });
    processes = processes && { ...processes, liveFrom: 12 };
    assert.equal(await wait, 'reached');
    assert.ok(positions.isHalted('process', 'detach'));
    store({ position: 12 });
    processes = processes && { ...processes, liveFrom: 12 };
    assert.equal(await passedDetach(12, long, true), 'reached');
    assert.ok(!positions.isHalted('process', 'detach'));
  });

  it('never takes back what the projections of this node have reported, also after they have ended', async () => {
    const report = (position: number, generation = 1) =>
      poll.update('projection', new Map([['flows', { position, live: true, generation }]]));
    publish(3);
    report(9);
    assert.equal(positions.hasPassed({ names: ['flows'] }, 9, { strict: true }), true);
    poll.update('projection', new Map());
    publish(5);
    assert.equal(await passedFlows(10, 20), 'timeout');
    assert.equal(positions.hasPassed({ names: ['flows'] }, 9, { strict: true }), true);
    publish(11);
    assert.equal(await passedFlows(11), 'reached');
  });

  it('never goes back to an older stored position', async () => {
    publish(9);
    assert.equal(await passedFlows(9), 'reached');
    publish(7);
    assert.equal(await passedFlows(10, 20), 'timeout');
    assert.equal(positions.hasPassed({ names: ['flows'] }, 9, { strict: true }), true);
  });

  it('names the newest generation of a read model together with its position', async () => {
    publish(9, true, 1);
    assert.equal(await passedFlows(9), 'reached');
    assert.equal(positions.generationOf('flows'), 1);
    poll.update('projection', new Map([['flows', { position: 9, live: true, generation: 2 }]]));
    assert.equal(positions.generationOf('flows'), 2);
    publish(10, true, 1);
    assert.equal(await passedFlows(10, 20), 'timeout');
    assert.equal(positions.generationOf('flows'), 2);
    poll.update('projection', new Map());
    publish(12, true, 3);
    assert.equal(await passedFlows(12), 'reached');
    assert.equal(positions.generationOf('flows'), 3);
  });

  it('does not poll for what runs on this node, which reports immediately', async () => {
    own({ position: 3, live: true });
    const before = polls;
    const wait = passedDetach(5);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(polls, before);
    own({ position: 5, live: true });
    assert.equal(await wait, 'reached');
  });

  it('polls for a process that has got further on another node than on this one', async () => {
    own({ position: 3, live: true });
    store({ position: 4 });
    publish(1);
    await passedFlows(1);
    const wait = passedDetach(6);
    store({ position: 6 });
    assert.equal(await wait, 'reached');
  });

  it('never takes back what this node has reported', async () => {
    own({ position: 5, live: true });
    store({ position: 4, failure });
    publish(1);
    await passedFlows(1);
    assert.equal(await passedDetach(5, 0, true), 'reached');
    assert.equal(positions.isHalted('process', 'detach'), false);
    own({ position: 5, live: false });
    publish(2);
    store({ position: 5 });
    await passedFlows(2);
    assert.equal(positions.isHalted('process', 'detach'), true);
  });

  it('follows another node that has passed this one, and after this node has ended its term', async () => {
    own({ position: 5, live: false });
    store({ position: 6 });
    publish(1);
    await passedFlows(1);
    assert.equal(await passedDetach(6, 0, true), 'reached');
    own({ position: 8, live: true });
    poll.update('process', new Map());
    assert.equal(await passedDetach(8, 0, true), 'reached', 'what it has reported counts until the next poll');
    assert.equal(await passedDetach(9, 10, true), 'timeout');
    const wait = passedDetach(9);
    store({ position: 9 });
    assert.equal(await wait, 'reached');
  });

  it('polls immediately for the callers that wait when this node ends its term', async () => {
    own({ position: 5, live: true });
    const wait = passedDetach(6);
    store({ position: 6 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(polls, 1);
    poll.update('process', new Map());
    assert.equal(await wait, 'reached');
  });

  it('knows no position of a process while no node publishes the positions of projections', async () => {
    await poll.close();
    await start({ busy: 1, idle: 5, silence: 100 });
    store({ position: 5 });
    assert.equal(await passedDetach(5, long, true), 'reached');
    assert.equal(await passedDetach(6), 'reached', 'the node is silent, so no caller waits');
    assert.equal(positions.isHalted('process', 'detach'), false);
    assert.equal(await passedDetach(5, 20, true), 'timeout');
  });

  it('knows no position of a log without a record', async () => {
    publish(1);
    await passedFlows(1);
    assert.equal(await passedDetach(7), 'reached');
    assert.equal(await passedDetach(7, 10, true), 'timeout');
  });

  it('continues after the store was unavailable, warns once, and keeps what it knew', async () => {
    publish(5);
    await passedFlows(5);
    await poll.close();
    positions.close();
    positions = new Positions(new Admission());
    positions.declare('projection', [{ name: 'flows', types: ['FlowCreated'] }]);
    let isDown = true;
    poll = new PositionPoll({
      positions,
      source: {
        poll: async () => {
          if (isDown) throw new UnavailableError('It is down.');
          return { published, processes };
        },
      },
      onPoll: async () => undefined,
      log: {
        info: () => undefined,
        warn: () => {
          warnings += 1;
        },
        error: assert.fail,
      },
      limits: { busy: 1, idle: 5 },
    });
    await poll.start();
    const wait = passedFlows(5);
    await eventually(() => warnings > 0, 'it warns');
    assert.equal(poll.answers, false);
    isDown = false;
    assert.equal(await wait, 'reached');
    await eventually(() => poll.answers, 'it answers');
    assert.equal(warnings, 1);
  });

  it('stops while a poll is under way', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    beforePoll = () => gate;
    void passedFlows(5);
    await eventually(() => polls > 1, 'it polls');
    const closed = poll.close();
    open();
    await closed;
  });
});
