import { skipProcessEvent } from '#commands/process/skip-process-event.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { process: 'detach-phone-numbers', eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' };

describe('skip_process_event', () => {
  it('leaves out the event at which the process has stopped', () => {
    givenHistory()
      .when(skipProcessEvent, input, { also: { failure: { eventId: input.eventId } } })
      .then(newEvent('ProcessEventSkipped', input));
  });

  it('is refused where the process has stopped at another event, or runs', () => {
    for (const failure of [{ eventId: 'another' }, null]) {
      givenHistory().when(skipProcessEvent, input, { also: { failure } }).then('process-not-stopped');
    }
  });

  it('is refused where there is no process of the name', () => {
    givenHistory().when(skipProcessEvent, input, { also: null }).then('process-not-found');
  });

  describe('input', () => {
    const of = inputOf(skipProcessEvent, input);
    of.text('process', { min: 1, max: 100 });
    of.required('eventId');
    of.text('eventId', { min: 1, max: 100 });
  });
});
