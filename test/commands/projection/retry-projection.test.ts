import { retryProjection } from '#commands/operator.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projection: 'flows' };

describe('retry_projection', () => {
  it('requests a retry of a stopped projection', () => {
    givenHistory()
      .when(retryProjection, input, { related: { failure: { eventId: 'e' }, rebuild: null } })
      .then(newEvent('ProjectionRetried', input));
  });

  it('refuses to retry a projection that has not stopped', () => {
    givenHistory()
      .when(retryProjection, input, { related: { failure: null, rebuild: null } })
      .then('projection-not-stopped');
  });

  it('refuses to retry an unknown projection', () => {
    givenHistory().when(retryProjection, input, { related: null }).then('projection-not-found');
  });

  describe('input of retry_projection', () => {
    inputOf(retryProjection, input).text('projection', { min: 1, max: 100 });
  });
});
