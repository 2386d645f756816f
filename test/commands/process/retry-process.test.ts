import { retryProcess } from '#commands/process/retry-process.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { process: 'detach-phone-numbers' };

describe('retry_process', () => {
  it('lets a stopped process try its event again', () => {
    givenHistory()
      .when(retryProcess, input, { also: { failure: { eventId: 'e' } } })
      .then(newEvent('ProcessRetried', input));
  });

  it('is refused while the process runs', () => {
    givenHistory()
      .when(retryProcess, input, { also: { failure: null } })
      .then('process-not-stopped');
  });

  it('is refused where there is no process of the name', () => {
    givenHistory().when(retryProcess, input, { also: null }).then('process-not-found');
  });

  describe('input', () => {
    inputOf(retryProcess, input).text('process', { min: 1, max: 100 });
  });
});
