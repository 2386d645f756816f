import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { given } from '#test/support/given.ts';
import { inputOf } from '#test/support/input-of.ts';
import { keyManagement } from '#test/support/key-management.ts';
import { ids } from '#test/support/story.ts';
import { apiKeyCreated, apiKeyRevoked } from '#test/support/tenant-events.ts';

const input = { keyId: ids.key };

describe('revoke_api_key', () => {
  it('revokes', () => {
    given(apiKeyCreated()).when(revokeApiKey, input).then(apiKeyRevoked());
  });

  keyManagement(revokeApiKey, input);

  describe('input', () => {
    inputOf(revokeApiKey, input).id('keyId');
  });
});
