import { retryProjection } from '#commands/projection/retry-projection.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projection: 'flows' };

describe('retry_projection', () => {
  it('lets a stopped one try again', () => {
    givenHistory()
      .when(retryProjection, input, { also: { failure: { eventId: 'e' }, rebuild: null } })
      .then(newEvent('ProjectionRetried', input));
  });

  it('is refused where nothing is stopped', () => {
    givenHistory()
      .when(retryProjection, input, { also: { failure: null, rebuild: null } })
      .then('projection-not-stopped');
  });

  it('knows no other names', () => {
    givenHistory().when(retryProjection, input, { also: null }).then('projection-not-found');
  });

  describe('input', () => {
    inputOf(retryProjection, input).text('projection', { min: 1, max: 100 });
  });
});
