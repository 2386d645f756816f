import assert from 'node:assert/strict';
import { firstStepsOf } from '#dashboard/page/views/overview/first-steps.ts';

describe('the first steps', () => {
  const done = (counts: Readonly<Record<string, number>>, calls = 0) =>
    firstStepsOf({ counts }, calls)
      .filter(({ isDone }) => isDone)
      .map(({ title }) => title);

  it('are all open in an empty installation, which has the key of the first start', () => {
    assert.deepEqual(done({ flows: 0, keys: 1, webhookEndpoints: 0 }), []);
  });

  it('are ticked off when what they make is there', () => {
    assert.deepEqual(done({ flows: 1, keys: 1 }), ['Make a flow']);
    assert.deepEqual(done({ keys: 1 }, 1), ['Call a model']);
    assert.deepEqual(done({ keys: 2 }), ['Make a key']);
    assert.deepEqual(done({ keys: 1, webhookEndpoints: 1 }), ['Connect a webhook']);
  });

  it('lead to the form that makes it', () => {
    assert.deepEqual(
      firstStepsOf({ counts: {} }, 0).map(({ address }) => address),
      [
        '/dashboard/flows?new=flow',
        '/dashboard/gateway',
        '/dashboard/keys?new=key',
        '/dashboard/webhooks?new=endpoint',
      ],
    );
  });
});
