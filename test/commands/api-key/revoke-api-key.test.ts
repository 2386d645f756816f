import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { apiKeyCreated, apiKeyRevoked } from '#test/support/events/tenant-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { describeKeyManagement } from '#test/support/inputs/key-management.ts';

const input = { keyId: ids.key };

describe('revoke_api_key', () => {
  it('revokes a key without its descendants', () => {
    givenHistory(apiKeyCreated()).when(revokeApiKey, input, { related: null }).then(apiKeyRevoked());
  });

  it('revokes a key and names its known descendants', () => {
    givenHistory(apiKeyCreated())
      .when(revokeApiKey, { ...input, descendants: true }, { related: ['ckeychild0000001'] })
      .then(apiKeyRevoked(['ckeychild0000001']));
  });

  describeKeyManagement(revokeApiKey, input);

  describe('input of revoke_api_key', () => {
    const of = inputOf(revokeApiKey, input);
    of.id('keyId');
    of.optional('descendants', undefined);
    of.accepts('descendants', 'true', undefined, true);
    of.refuses('descendants', 'yes');
  });
});
