import assert from 'node:assert/strict';
import { eventFailure } from '#domain/event-failure.ts';
import { flowCreated } from '#test/support/events/flow-events.ts';

const error = new TypeError("Cannot read properties of undefined (reading 'length')");

describe('the failure of an event', () => {
  const { type, data } = flowCreated();
  const event = { id: 'e1', type, position: 7, stream: 'flow-f1', data };
  const messageOf = (changed: object) => eventFailure({ ...event, ...changed }, error).message;

  it('says what a broken event lacks, and which command leaves it out', () => {
    const { name: _, ...nameless } = data;
    assert.equal(
      messageOf({ data: nameless }),
      `The event is broken: it has no data.name (${error.message}). Leave it out with: npm run events -- skip-event 7 --reason <text>`,
    );
    assert.match(
      messageOf({ data: { ...data, tier: 7 } }),
      /^The event is broken: its data\.tier is of another type \(/,
    );
  });

  it('has the error alone for an event that is as its type demands, or that cannot be read', () => {
    assert.equal(messageOf({}), error.message);
    assert.equal(messageOf({ type: 'NoSuchEvent' }), error.message);
    const unreadable = Object.defineProperty({ ...event }, 'data', {
      get: () => {
        throw new Error('unreadable');
      },
    });
    assert.equal(eventFailure(unreadable, 'a text').message, 'a text');
  });
});
