import { rebuildProjection } from '#commands/operator.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projection: 'flows' };
const requested = newEvent('ProjectionRebuildRequested', input);

describe('rebuild_projection', () => {
  it('requests a rebuild each time it is asked, even of a stopped projection', () => {
    givenHistory()
      .when(rebuildProjection, input, { related: { failure: null, rebuild: null } })
      .then(requested);
    givenHistory(requested)
      .when(rebuildProjection, input, { related: { failure: { eventId: 'e' }, rebuild: null } })
      .then(requested);
  });

  it('refuses a rebuild while one runs', () => {
    givenHistory()
      .when(rebuildProjection, input, { related: { failure: null, rebuild: {} } })
      .then('projection-rebuilding');
  });

  it('refuses to rebuild an unknown projection', () => {
    givenHistory().when(rebuildProjection, input, { related: null }).then('projection-not-found');
  });

  describe('input of rebuild_projection', () => {
    inputOf(rebuildProjection, input).text('projection', { min: 1, max: 100 });
  });
});
