import { skipProjectionEvent } from '#commands/operator.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projection: 'flows', eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' };

describe('skip_projection_event', () => {
  it('skips the event at which a projection has stopped', () => {
    givenHistory()
      .when(skipProjectionEvent, input, { related: { failure: { eventId: input.eventId }, rebuild: null } })
      .then(newEvent('ProjectionEventSkipped', input));
  });

  it('refuses to skip another event than the one at which a projection has stopped', () => {
    for (const failure of [{ eventId: 'another' }, null]) {
      givenHistory()
        .when(skipProjectionEvent, input, { related: { failure, rebuild: null } })
        .then('projection-not-stopped');
    }
  });

  it('refuses to skip an event of an unknown projection', () => {
    givenHistory().when(skipProjectionEvent, input, { related: null }).then('projection-not-found');
  });

  describe('input of skip_projection_event', () => {
    const of = inputOf(skipProjectionEvent, input);
    of.text('projection', { min: 1, max: 100 });
    of.required('eventId');
    of.text('eventId', { min: 1, max: 100 });
  });
});
