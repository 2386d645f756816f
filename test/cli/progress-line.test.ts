import assert from 'node:assert/strict';
import { describeProgress } from '#cli/shared/stoppable-tool.ts';

const at = (position: number, logEnd: number | null, atMs: number) => ({ position, logEnd, atMs });

describe('describeProgress', () => {
  it('names position, share, rate and remaining time of a projection that is behind', () => {
    assert.equal(
      describeProgress('flows', 'running', at(1_000, 9_000, 0), at(3_000, 10_000, 2_000)),
      'flows running at position 3000 of 10000, 30% (1000 positions/s, 7 s left)',
    );
  });

  it('names no rate for a projection that has reached the end', () => {
    assert.equal(
      describeProgress('flows', 'running', at(9_000, 9_000, 0), at(10_000, 10_000, 1_000)),
      'flows running at position 10000 of 10000, 100%',
    );
  });

  it('reports that a projection is behind and does not move', () => {
    assert.equal(
      describeProgress('flows', 'running', at(500, 1_000, 0), at(500, 1_000, 1_000)),
      'flows running at position 500 of 1000, 50% (it does not move)',
    );
  });

  it('reports that the end of the log is unknown', () => {
    assert.match(
      describeProgress('flows', 'running', at(500, 1_000, 0), at(500, null, 1_000)),
      /^flows running at position 500; the event store does not say/,
    );
  });
});
