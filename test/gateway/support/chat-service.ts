import { type Behaviour, FakeProvider } from './fake-provider.ts';
import { type GatewayService, type GatewayServiceOptions, startGateway } from './gateway-service.ts';

export const path = '/v1/chat/completions';
export const messages = [{ role: 'user', content: 'hi' }];

/**
 * For calls that must reach their time limit. All others have the defaults, because short limits expire on a busy
 * machine.
 */
export const short = { connectMs: 300, headersMs: 300, firstContentMs: 400, idleMs: 300, totalMs: 30_000 };

/** A gateway whose model `large` has a primary provider and a backup as its fallback. */
export interface ChatService {
  readonly primary: FakeProvider;
  readonly backup: FakeProvider;
  readonly service: GatewayService;
  /** @param model further settings of `large` @param timeouts of both providers */
  readonly configuration: (model?: object, timeouts?: object) => ReturnType<typeof configurationOf>;
  /** Replaces the test's gateway with another one. */
  readonly restart: (configuration: unknown, options: GatewayServiceOptions) => Promise<GatewayService>;
}

/**
 * Starts the providers before a suite's tests and a gateway before each test, and stops them after. Read it in tests
 * only.
 * @param usually the providers' answers at the start of each test
 */
export function chatService(usually: { readonly primary: Behaviour; readonly backup: Behaviour }): ChatService {
  let providers: readonly [FakeProvider, FakeProvider] | null = null;
  let service: GatewayService | null = null;
  const started = <Started>(it: Started | null): Started => {
    if (it === null) throw new Error('It has not started yet');
    return it;
  };
  const configuration = (model: object = {}, timeouts: object = {}) =>
    configurationOf(started(providers), model, timeouts);

  before(async () => {
    providers = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  beforeEach(async () => {
    const [primary, backup] = started(providers);
    primary.answers(usually.primary);
    backup.answers(usually.backup);
    service = await startGateway(configuration());
  });
  afterEach(() => started(service).stop());
  after(() => Promise.all(started(providers).map((provider) => provider.stop())));

  return {
    get primary() {
      return started(providers)[0];
    },
    get backup() {
      return started(providers)[1];
    },
    get service() {
      return started(service);
    },
    configuration,
    restart: async (changed, options) => {
      await started(service).stop();
      service = await startGateway(changed, options);
      return service;
    },
  };
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
