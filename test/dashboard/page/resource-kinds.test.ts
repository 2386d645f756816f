import assert from 'node:assert/strict';
import { auditedKinds as shown } from '#dashboard/page/views/audit/resource-kinds.ts';
import { resourceKinds } from '#domain/history/record.ts';

describe('the filter of the audit by resource', () => {
  it('offers every kind of resource that the audit has', () => {
    assert.deepEqual(shown, resourceKinds);
  });
});
