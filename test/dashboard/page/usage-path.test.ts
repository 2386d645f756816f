import assert from 'node:assert/strict';
import { usagePath } from '#dashboard/page/views/gateway/usage-path.ts';

const parametersOf = (path: string) => Object.fromEntries(new URL(path, 'http://localhost').searchParams);

describe('usagePath', () => {
  it('requests the whole period up to now, even at the start of an hour', () => {
    const now = Date.parse('2026-01-05T09:05:00Z');
    assert.deepEqual(parametersOf(usagePath(3_600_000, 'model', {}, now)), {
      from: '2026-01-05T08:05:00.000Z',
      until: '2026-01-05T09:05:00.000Z',
      groupBy: 'model',
    });
  });

  it('requests the project or organization that the view is limited to', () => {
    const narrowedTo = (projectId: string, organizationId: string | null) => {
      const {
        from: _,
        until: __,
        groupBy: ___,
        ...rest
      } = parametersOf(usagePath(1, 'key', { projectId, organizationId }, 0));
      return rest;
    };
    assert.deepEqual(narrowedTo('cproject', 'corganization'), { projectId: 'cproject' });
    assert.deepEqual(narrowedTo('', 'corganization'), { organizationId: 'corganization' });
    assert.deepEqual(narrowedTo('', null), {});
  });
});
