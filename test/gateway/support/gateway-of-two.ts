import { type Behaviour, FakeProvider } from './fake-provider.ts';
import { type GatewayService, type GatewayServiceOptions, startGateway } from './gateway-service.ts';

/**
 * For calls that must reach their time limit. All others have the defaults, because short limits expire on a busy
 * machine.
 */
export const short = { connectMs: 300, headersMs: 300, firstContentMs: 400, idleMs: 300, totalMs: 30_000 };

/** A gateway whose models are at two providers. */
export interface GatewayOfTwo<Configuration> {
  readonly primary: FakeProvider;
  readonly backup: FakeProvider;
  readonly service: GatewayService;
  /** @param model further settings of a model @param provider further settings of both providers */
  readonly configuration: (model?: object, provider?: object) => Configuration;
  /** Replaces the test's gateway with another one. */
  readonly restart: (configuration: unknown, options: GatewayServiceOptions) => Promise<GatewayService>;
}

interface Two<Configuration> {
  readonly configurationOf: (
    providers: readonly [primary: FakeProvider, backup: FakeProvider],
    model: object,
    provider: object,
  ) => Configuration;
  /** The answers at the start of each test. */
  readonly primary: Behaviour;
  readonly backup: Behaviour;
}

/**
 * Starts the providers before a suite's tests and a gateway before each test, and stops them after. Read it in tests
 * only.
 */
export function gatewayOfTwo<Configuration>(usual: Two<Configuration>): GatewayOfTwo<Configuration> {
  let providers: readonly [FakeProvider, FakeProvider] | null = null;
  let service: GatewayService | null = null;
  const started = <Started>(it: Started | null): Started => {
    if (it === null) throw new Error('It has not started yet');
    return it;
  };
  const configuration = (model: object = {}, provider: object = {}) =>
    usual.configurationOf(started(providers), model, provider);

  before(async () => {
    providers = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  beforeEach(async () => {
    const [primary, backup] = started(providers);
    primary.answers(usual.primary);
    backup.answers(usual.backup);
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
