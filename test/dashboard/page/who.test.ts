import assert from 'node:assert/strict';
import { nameWithoutKey } from '#dashboard/page/parts/who.ts';

describe('the name of an actor', () => {
  it('shows an actor without a key in words, and looks up the name of a key', () => {
    assert.equal(nameWithoutKey(null), 'Switchyard');
    assert.equal(nameWithoutKey({ keyId: 'system', keyType: 'system' }), 'Switchyard');
    assert.equal(nameWithoutKey({ keyId: 'local-operator', keyType: 'admin' }), 'command line');
    assert.equal(nameWithoutKey({ keyId: 'c3siatlymb8atg2qcb0p01kn', keyType: 'admin' }), null);
  });
});
