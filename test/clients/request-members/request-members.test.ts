import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { requestMembersFile } from '../../gateway/support/request-members.ts';
import { requestMembersText } from './members-text.ts';

describe('the frozen members of requests', function () {
  this.timeout(60_000);

  it('are those of the SDKs that are installed (otherwise run: npm run request-members)', () => {
    assert.equal(readFileSync(requestMembersFile, 'utf8'), requestMembersText());
  });
});
