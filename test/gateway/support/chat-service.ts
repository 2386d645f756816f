import type { Behaviour, FakeProvider } from './fake-provider.ts';
import { type GatewayOfTwo, gatewayOfTwo } from './gateway-of-two.ts';

export const path = '/v1/chat/completions';
export const messages = [{ role: 'user', content: 'hi' }];

/** A gateway whose model `large` has a primary provider and a backup as its fallback. */
export type ChatService = GatewayOfTwo<ReturnType<typeof configurationOf>>;

/** Like `gatewayOfTwo`. @param usually the providers' answers at the start of each test */
export function chatService(usually: { readonly primary: Behaviour; readonly backup: Behaviour }): ChatService {
  return gatewayOfTwo({ ...usually, configurationOf });
}

function configurationOf([primary, backup]: readonly [FakeProvider, FakeProvider], model: object, timeouts: object) {
  return {
    providers: {
      primary: { kind: 'openai-compatible', baseUrl: primary.baseUrl, apiKeyEnv: 'PROVIDER_KEY', timeouts },
      backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl, timeouts },
    },
    models: {
      large: {
        targets: [{ provider: 'primary', model: 'gpt-x' }],
        fallbacks: [{ provider: 'backup', model: 'other-y', prefill: true }],
        price: { inputPerMillion: 2, outputPerMillion: 8 },
        ...model,
      },
      alone: { targets: [{ provider: 'primary', model: 'gpt-x' }], retries: 1 },
      small: { targets: [{ provider: 'backup', model: 's' }] },
    },
    auto: { chat: { balanced: 'large', fast: 'small' } },
  };
}
