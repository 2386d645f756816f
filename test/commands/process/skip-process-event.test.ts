import { skipProcessEvent } from '#commands/operator.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { process: 'detach-phone-numbers', eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' };

describe('skip_process_event', () => {
  it('skips the event at which a process has stopped', () => {
    givenHistory()
      .when(skipProcessEvent, input, { related: { failure: { eventId: input.eventId } } })
      .then(newEvent('ProcessEventSkipped', input));
  });

  it('refuses to skip another event than the one at which a process has stopped', () => {
    for (const failure of [{ eventId: 'another' }, null]) {
      givenHistory().when(skipProcessEvent, input, { related: { failure } }).then('process-not-stopped');
    }
  });

  it('refuses to skip an event of an unknown process', () => {
    givenHistory().when(skipProcessEvent, input, { related: null }).then('process-not-found');
  });

  describe('input of skip_process_event', () => {
    const of = inputOf(skipProcessEvent, input);
    of.text('process', { min: 1, max: 100 });
    of.required('eventId');
    of.text('eventId', { min: 1, max: 100 });
  });
});
