import type { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayOfTwo, gatewayOfTwo } from '#test/gateway/support/gateway-of-two.ts';
import { describeOwnForm } from './own-form.ts';
import { describeStreams } from './streams.ts';
import type { TextProtocol } from './text-protocol.ts';
import { describeWholeAnswers } from './whole-answers.ts';

/** A gateway whose primary provider speaks a protocol, and whose backup speaks another one. */
export type GatewayOfProtocols = GatewayOfTwo<ReturnType<typeof configurationOf>>;

/** The price of each model. */
export const price = { inputPerMillion: 2, outputPerMillion: 8 };

/**
 * Declares what the gateway does in every protocol of texts.
 * @param own the protocol of the clients, and of the targets that get requests as they came
 * @param foreign the protocol of the targets that get them translated
 */
export function describeTextProtocol(own: TextProtocol, foreign: TextProtocol): void {
  describe(`${own.name} as a protocol of texts`, () => {
    const given = gatewayOfTwo({
      primary: json(own.provider.answer('from the primary')),
      backup: json(foreign.provider.answer('from the backup')),
      configurationOf: (providers, model, provider) => configurationOf(own, foreign, providers, model, provider),
    });
    describeOwnForm(own, given);
    describeWholeAnswers(own, given);
    describeStreams(own, foreign, given);
  });
}

function configurationOf(
  own: TextProtocol,
  foreign: TextProtocol,
  [primary, backup]: readonly [FakeProvider, FakeProvider],
  model: object,
  provider: object,
) {
  const [atPrimary, atBackup] = [
    { provider: 'primary', model: 'own-x' },
    { provider: 'backup', model: 'other-y' },
  ];
  const key = { apiKeyEnv: 'PROVIDER_KEY' };
  return {
    providers: {
      primary: { ...own.provider.settings, ...key, baseUrl: primary.baseUrl, ...provider },
      backup: { ...foreign.provider.settings, ...key, baseUrl: backup.baseUrl, ...provider },
    },
    models: {
      native: { targets: [atPrimary], fallbacks: [{ ...atBackup, prefill: true }], price, ...model },
      foreign: { targets: [atBackup], fallbacks: [{ ...atPrimary, prefill: true }], price, ...model },
      alone: { targets: [atPrimary], price, ...model },
    },
    auto: { chat: { balanced: 'native' } },
  };
}
