import assert from 'node:assert/strict';
import { MetStreams } from '#process-engine/met-streams.ts';

const remembers = ['FlowDeleted'];
const deleted = (id: string | number) => ({ type: 'FlowDeleted', stream: `flow-${id}` });

describe('MetStreams', () => {
  it('knows the streams of remembered types, and no others', () => {
    const met = new MetStreams({ remembers }, true);
    met.add(deleted('one'));
    met.add({ type: 'FlowCreated', stream: 'flow-two' });
    assert.deepEqual(
      ['flow-one', 'flow-two', 'flow-three'].map((stream) => met.has(stream)),
      [true, false, false],
    );
  });

  it('knows nothing when it did not begin at the beginning of the log', () => {
    const met = new MetStreams({ remembers }, false);
    met.add(deleted('one'));
    assert.equal(met.has('flow-one'), null);
  });

  it('forgets everything when there are too many streams to remember', () => {
    const met = new MetStreams({ remembers }, true);
    for (let number = 0; number < 25_000; number += 1) met.add(deleted(number));
    assert.equal(met.has('flow-24999'), true);
    met.add(deleted('one more'));
    assert.equal(met.has('flow-24999'), null);
  });
});
