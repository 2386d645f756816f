import { rebuildProjection } from '#commands/projection/rebuild-projection.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projection: 'flows' };
const requested = newEvent('ProjectionRebuildRequested', input);

describe('rebuild_projection', () => {
  it('asks for a rebuild, as often as it is asked, of a stopped one too', () => {
    givenHistory()
      .when(rebuildProjection, input, { also: { failure: null, rebuild: null } })
      .then(requested);
    givenHistory(requested)
      .when(rebuildProjection, input, { also: { failure: { eventId: 'e' }, rebuild: null } })
      .then(requested);
  });

  it('is refused while one runs', () => {
    givenHistory()
      .when(rebuildProjection, input, { also: { failure: null, rebuild: {} } })
      .then('projection-rebuilding');
  });

  it('knows no other names', () => {
    givenHistory().when(rebuildProjection, input, { also: null }).then('projection-not-found');
  });

  describe('input', () => {
    inputOf(rebuildProjection, input).text('projection', { min: 1, max: 100 });
  });
});
