import { skipProjectionEvent } from '#commands/projection/skip-projection-event.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projection: 'flows', eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' };

describe('skip_projection_event', () => {
  it('leaves out the event that stopped it', () => {
    givenHistory()
      .when(skipProjectionEvent, input, { also: { failure: { eventId: input.eventId }, rebuild: null } })
      .then(newEvent('ProjectionEventSkipped', input));
  });

  it('is refused where another event stopped it, or none', () => {
    for (const failure of [{ eventId: 'another' }, null]) {
      givenHistory()
        .when(skipProjectionEvent, input, { also: { failure, rebuild: null } })
        .then('projection-not-stopped');
    }
  });

  it('knows no other names', () => {
    givenHistory().when(skipProjectionEvent, input, { also: null }).then('projection-not-found');
  });

  describe('input', () => {
    const of = inputOf(skipProjectionEvent, input);
    of.text('projection', { min: 1, max: 100 });
    of.required('eventId');
    of.text('eventId', { min: 1, max: 100 });
  });
});
