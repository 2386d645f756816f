import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { isOfServer } from '#event-store/eventstoredb/connection/call-failure.ts';

describe('isOfServer', () => {
  it('is false for a call that this process has cancelled, and true for a refusal of the server', () => {
    const failureOf = (code: status) => ({ code, exception: undefined, detail: '' });
    assert.equal(isOfServer(failureOf(status.CANCELLED)), false);
    assert.equal(isOfServer(failureOf(status.INVALID_ARGUMENT)), true);
  });
});
