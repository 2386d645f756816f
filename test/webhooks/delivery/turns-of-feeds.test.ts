import assert from 'node:assert/strict';
import { eventually } from '#test/support/run/eventually.ts';
import { PastFeeder } from '#webhooks/delivery/past-feeder.ts';

/** An endpoint with room for messages until it was fed. */
function endpointOf(owner: string, fed: string[]) {
  let hasRoom = true;
  const queue = {
    get hasRoom() {
      return hasRoom;
    },
    offeredUpTo: 9,
    passTo: () => {
      hasRoom = false;
      fed.push(owner);
    },
    offer: () => true,
  };
  return { id: owner, facts: { record: { organizationId: owner, projectId: null } }, queue } as never;
}

describe('PastFeeder', () => {
  const feederOf = (signal: AbortSignal, passed: () => Promise<'reached' | 'timeout'>) =>
    new PastFeeder({
      documents: { list: assert.fail },
      store: { read: assert.fail },
      positions: { passed },
      followed: () => 9,
      followedFrom: 0,
      log: { warn: assert.fail, error: assert.fail },
      signal,
    });

  it('feeds the endpoints of owners in turn, so that no owner waits for all endpoints of another', async () => {
    const fed: string[] = [];
    const ending = new AbortController();
    const feeder = feederOf(ending.signal, async () => 'reached');
    for (let number = 0; number < 100; number += 1) feeder.want(endpointOf('many', fed));
    for (let number = 0; number < 3; number += 1) feeder.want(endpointOf('few', fed));
    await eventually(() => fed.length === 2 * 103, 'all are fed');
    // Each feed passes its queue to the end twice.
    assert.ok(fed.lastIndexOf('few') < 24, `the last one of few is at ${fed.lastIndexOf('few')}`);
    ending.abort();
    await feeder.ended();
  });

  it('feeds others while an endpoint waits for its read model', async () => {
    const fed: string[] = [];
    const ending = new AbortController();
    let behind = 4;
    const feeder = feederOf(ending.signal, async () => {
      behind -= 1;
      return behind < 0 ? 'reached' : 'timeout';
    });
    for (let number = 0; number < 4; number += 1) feeder.want(endpointOf('behind', fed));
    await eventually(() => behind === 0, 'all four have found it behind');
    feeder.want(endpointOf('other', fed));
    await eventually(() => fed.length === 10, 'all are fed');
    assert.deepEqual(fed.slice(0, 2), ['other', 'other']);
    ending.abort();
    await feeder.ended();
  });
});
