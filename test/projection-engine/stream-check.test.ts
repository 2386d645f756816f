import assert from 'node:assert/strict';
import { GenerationProjector } from '#projection-engine/generation-projector.ts';
import { type AnyProjection, ignored, projection } from '#projection-engine/projection.ts';
import { StreamCheck } from '#projection-engine/stream-check.ts';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import { type GivenEvent, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';

interface FlowEvents {
  readonly FlowCreated: { readonly id: string };
  readonly FlowRenamed: { readonly id: string };
  readonly UsageRecorded: object;
}

const projectorOf = (handled: ReadonlyArray<keyof FlowEvents>) => {
  const reaction = (type: keyof FlowEvents) => (handled.includes(type) ? () => null : ignored);
  const made: AnyProjection = projection<Record<string, never>, FlowEvents>({
    name: handled.join(),
    version: 1,
    keys: () => [],
    on: {
      FlowCreated: reaction('FlowCreated'),
      FlowRenamed: reaction('FlowRenamed'),
      UsageRecorded: reaction('UsageRecorded'),
    },
    indexes: [],
  });
  const generation = {
    name: made.name,
    version: 1,
    indexes: [],
    number: 1,
    begunAt: 0,
    complete: false,
    checkpoint: 0,
  };
  return new GenerationProjector(made, generation, () => false, { maxDocuments: 1, maxBytes: 1 });
};

const event = (stream: string, type = 'FlowRenamed'): GivenEvent => ({ stream, type, data: {} });

describe('StreamCheck', () => {
  let log: InMemoryEventStore;
  const all = projectorOf(['FlowCreated', 'FlowRenamed', 'UsageRecorded']);
  const found = (projector = all) => {
    const check = new StreamCheck();
    for (const one of log.events) check.add([one], [all, projector]);
    return check.foundBy(projector);
  };

  beforeEach(() => {
    log = new InMemoryEventStore();
  });

  it('finds nothing in whole streams, in any mixture', () => {
    log.append(event('flow-a'), event('flow-b'), event('flow-a'), event('flow-b'), event('flow-a'));
    assert.deepEqual(found(), noIncompleteStreams);
  });

  it('names a stream that begins above revision 0 once, with the revision', () => {
    log.append(event('flow-a'), event('flow-a'), event('flow-a'), event('flow-b'));
    log.scavenge('flow-a', 1);
    const first = [{ stream: 'flow-a', expectedRevision: 0, revision: 1 }];
    assert.deepEqual(found(), { count: 1, isExact: true, first });
  });

  it('names a stream with a gap in its middle', () => {
    const [, second] = log.append(event('flow-a'), event('flow-a'), event('flow-a'));
    log.lose(second?.id ?? '');
    const first = [{ stream: 'flow-a', expectedRevision: 1, revision: 2 }];
    assert.deepEqual(found(), { count: 1, isExact: true, first });
  });

  it('leaves out streams that retention shortens on purpose', () => {
    const usage = 'usage-2026-01-05-node';
    log.append(event(usage, 'UsageRecorded'), event(usage, 'UsageRecorded'), event(usage, 'UsageRecorded'));
    log.scavenge(usage, 2);
    assert.deepEqual(found(), noIncompleteStreams);
  });

  it('counts a stream for a read model that handles an event after the gap, and for no other', () => {
    log.append(event('flow-a', 'FlowCreated'), event('flow-a', 'FlowCreated'), event('flow-a', 'RequestAnswered'));
    log.append(event('flow-a', 'FlowRenamed'));
    log.scavenge('flow-a', 2);
    assert.equal(found(projectorOf(['FlowRenamed'])).count, 1);
    assert.equal(found(projectorOf(['FlowCreated'])).count, 0);
  });

  it('names the first twenty, counts a thousand, and says that there are more', () => {
    for (let number = 0; number < 1_001; number += 1) {
      log.append(event(`flow-${number}`), event(`flow-${number}`));
      if (number < 1_000) log.scavenge(`flow-${number}`, 1);
    }
    const thousand = found();
    assert.deepEqual([thousand.count, thousand.isExact, thousand.first.length], [1_000, true, 20]);
    log.scavenge('flow-1000', 1);
    const more = found();
    assert.deepEqual([more.count, more.isExact], [1_000, false]);
  }).timeout(10_000);
});
