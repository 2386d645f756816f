import { retryProcess } from '#commands/operator.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { process: 'detach-phone-numbers' };

describe('retry_process', () => {
  it('requests a retry of a stopped process', () => {
    givenHistory()
      .when(retryProcess, input, { related: { failure: { eventId: 'e' } } })
      .then(newEvent('ProcessRetried', input));
  });

  it('refuses to retry a process that runs', () => {
    givenHistory()
      .when(retryProcess, input, { related: { failure: null } })
      .then('process-not-stopped');
  });

  it('refuses to retry an unknown process', () => {
    givenHistory().when(retryProcess, input, { related: null }).then('process-not-found');
  });

  describe('input of retry_process', () => {
    inputOf(retryProcess, input).text('process', { min: 1, max: 100 });
  });
});
