import { skipEvent } from '#commands/event/skip-event.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { position: 7, reason: 'It has no name.' };
const event = { position: 7, eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61', eventType: 'FlowRenamed' };

describe('skip_event', () => {
  it('skips the event at which something has stopped, with the reason', () => {
    const related = { ...event, stream: 'flow-c1', message: 'It cannot be handled.' };
    givenHistory()
      .when(skipEvent, input, { related })
      .then(newEvent('EventSkipped', { ...event, stream: 'flow-c1', reason: input.reason }));
  });

  it('refuses a position at which nothing has stopped', () => {
    givenHistory().when(skipEvent, input, { related: null }).then('event-not-stopped');
  });

  describe('input of skip_event', () => {
    const of = inputOf(skipEvent, input);
    of.required('reason');
    of.text('reason', { min: 1, max: 500 });
    of.required('position');
    for (const position of [1, Number.MAX_SAFE_INTEGER]) of.accepts('position', position);
    for (const position of [0, -1, 1.5, '7', null, 2 ** 53]) of.refuses('position', position);
  });
});
