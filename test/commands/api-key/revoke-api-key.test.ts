import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { apiKeyCreated, apiKeyRevoked } from '#test/support/events/tenant-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { keyManagement } from '#test/support/inputs/key-management.ts';

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
