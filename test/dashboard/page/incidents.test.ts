import assert from 'node:assert/strict';
import type { TargetStatus } from '#dashboard/page/api/records.ts';
import { incidentsOf, incidentText } from '#dashboard/page/views/gateway/incidents.ts';

const at = (clock: string) => `2026-01-05T${clock}:00.000Z`;
const ms = (clock: string) => Date.parse(at(clock));

/** Returns the incidents from 09:00 to 10:00 of a node with these circuit changes, the oldest first. */
function incidents(...changes: ReadonlyArray<readonly [string, string, TargetStatus['circuit']]>) {
  const circuitChanges = changes
    .map(([clock, target, circuit]) => ({ time: at(clock), target, circuit, code: null, status: null }))
    .toReversed();
  const health = { node: 'n', windowSeconds: 300, targets: [], circuitChanges };
  return incidentsOf({ health, from: at('09:00'), until: at('10:00') });
}

describe('incidents of the gateway', () => {
  it('lasts from the time when a target begins to rest until it serves again, tries included', () => {
    assert.deepEqual(
      incidents(
        ['09:10', 'a/one', 'open'],
        ['09:11', 'a/one', 'half-open'],
        ['09:12', 'a/one', 'open'],
        ['09:14', 'a/one', 'closed'],
        ['09:30', 'a/one', 'open'],
        ['09:31', 'a/one', 'closed'],
      ),
      [
        { from: ms('09:10'), until: ms('09:14'), targets: ['a/one'] },
        { from: ms('09:30'), until: ms('09:31'), targets: ['a/one'] },
      ],
    );
  });

  it('makes one incident of targets that rest at the same time', () => {
    assert.deepEqual(
      incidents(
        ['09:10', 'a/one', 'open'],
        ['09:11', 'b/two', 'open'],
        ['09:12', 'a/one', 'closed'],
        ['09:13', 'b/two', 'closed'],
      ),
      [{ from: ms('09:10'), until: ms('09:13'), targets: ['a/one', 'b/two'] }],
    );
  });

  it('limits an incident to the shown time', () => {
    assert.deepEqual(incidents(['08:30', 'a/one', 'open']), [
      { from: ms('09:00'), until: ms('10:00'), targets: ['a/one'] },
    ]);
    assert.deepEqual(incidents(['08:30', 'a/one', 'open'], ['08:40', 'a/one', 'closed']), []);
  });

  it('finds no incident when the beginning of a rest or the health of targets is unknown', () => {
    assert.deepEqual(incidents(['09:10', 'a/one', 'closed']), []);
    assert.deepEqual(incidentsOf({ health: null, from: at('09:00'), until: at('10:00') }), []);
  });

  it('describes the last incident', () => {
    const known = incidents(
      ['09:10', 'a/one', 'open'],
      ['09:11', 'a/one', 'closed'],
      ['09:20', 'a/one', 'open'],
      ['09:22', 'a/one', 'closed'],
    );
    const text = (some: typeof known) => incidentText(some, ms('10:00'), 'UTC');
    assert.equal(text(known), '; a/one got no calls from 09:20:00 to 09:22:00, after 1 earlier incident');
    assert.equal(text(known.slice(0, 1)), '; a/one got no calls from 09:10:00 to 09:11:00');
    assert.equal(text([]), '');
  });
});
