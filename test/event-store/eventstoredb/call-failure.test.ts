import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { isServerAnswer } from '#event-store/eventstoredb/connection/call-failure.ts';

describe('isOfServer', () => {
  it('is false for a call that this process has cancelled, and true for a refusal of the server', () => {
    const failureOf = (code: status) => ({ code, exception: undefined, detail: '' });
    assert.equal(isServerAnswer(failureOf(status.CANCELLED)), false);
    assert.equal(isServerAnswer(failureOf(status.INVALID_ARGUMENT)), true);
  });
});
