import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { givenHistory } from '#test/support/command-harness.ts';
import { inputOf } from '#test/support/input-of.ts';
import { keyManagement } from '#test/support/key-management.ts';
import { ids } from '#test/support/story.ts';
import { apiKeyCreated, apiKeyRevoked } from '#test/support/tenant-events.ts';

const input = { keyId: ids.key };

describe('revoke_api_key', () => {
  it('revokes the key alone', () => {
    givenHistory(apiKeyCreated()).when(revokeApiKey, input, { also: null }).then(apiKeyRevoked());
  });

  it('revokes the key and names the descendants that are known', () => {
    givenHistory(apiKeyCreated())
      .when(revokeApiKey, { ...input, descendants: true }, { also: ['ckeychild0000001'] })
      .then(apiKeyRevoked(['ckeychild0000001']));
  });

  keyManagement(revokeApiKey, input);

  describe('input', () => {
    const of = inputOf(revokeApiKey, input);
    of.id('keyId');
    of.optional('descendants', undefined);
    of.accepts('descendants', 'true', undefined, true);
    of.refuses('descendants', 'yes');
  });
});
