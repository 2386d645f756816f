import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import {
  type ServiceEnvironment,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const timeouts = { connectMs: 2_000, headersMs: 5_000, firstContentMs: 5_000, idleMs: 5_000 };

/**
 * The service with two scripted providers and the sandbox. Its models: `large` (the first provider, then the second),
 * `alone` (the first provider without retries), `sandbox`.
 */
export class GatewayScenario {
  readonly primary: FakeProvider;
  readonly backup: FakeProvider;
  readonly #folder: TemporaryFolder;
  readonly #environment: ServiceEnvironment;
  #service: ServiceProcess;

  private constructor(
    [primary, backup]: readonly [FakeProvider, FakeProvider],
    service: ServiceProcess,
    folder: TemporaryFolder,
    environment: ServiceEnvironment,
  ) {
    this.primary = primary;
    this.backup = backup;
    this.#service = service;
    this.#folder = folder;
    this.#environment = environment;
  }

  get service(): ServiceProcess {
    return this.#service;
  }

  /** @param stores the variables of the service's stores; by default embedded ones */
  static async begin(stores: ServiceEnvironment = {}): Promise<GatewayScenario> {
    const [primary, backup] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    const folder = temporaryFolder();
    const file = join(folder.path, 'gateway.json');
    writeFileSync(file, JSON.stringify(configurationOf(primary, backup)));
    const environment = { ...stores, GATEWAY_CONFIG: file, PROVIDER_KEY: 'provider-secret' };
    const service = await startService({ dataDir: folder.path, environment });
    return new GatewayScenario([primary, backup], service, folder, environment);
  }

  /** Starts the service again on the same stores, after it was killed. */
  async restart(): Promise<void> {
    await this.#service.kill();
    this.#service = await startService({ dataDir: this.#folder.path, environment: this.#environment });
  }

  get baseURL(): string {
    return `${this.service.url}/v1`;
  }

  async end(): Promise<void> {
    await this.service.kill();
    await Promise.all([this.primary.stop(), this.backup.stop()]);
    this.#folder.remove();
  }
}

function configurationOf(primary: FakeProvider, backup: FakeProvider): object {
  const first = { provider: 'primary', model: 'gpt-x', price: { inputPerMillion: 3, outputPerMillion: 9 } };
  const second = { provider: 'backup', model: 'other-y', price: { inputPerMillion: 2, outputPerMillion: 8 } };
  return {
    providers: {
      primary: {
        kind: 'openai-compatible',
        baseUrl: primary.baseUrl,
        apiKeyEnv: 'PROVIDER_KEY',
        anyVoice: true,
        timeouts,
      },
      backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl, timeouts },
      sandbox: { kind: 'sandbox', anyVoice: true },
    },
    models: {
      large: { targets: [first], fallbacks: [second], retries: 1 },
      alone: { targets: [first], retries: 0 },
      sandbox: { targets: [{ provider: 'sandbox', model: 'switchyard-sandbox' }] },
    },
    auto: { chat: { balanced: 'large', fast: 'sandbox' }, transcription: 'large' },
    voices: {
      narrator: { provider: 'primary', voice: 'alloy', model: 'tts-x', price: { perMillionCharacters: 15 } },
      tone: { provider: 'sandbox', voice: 'sandbox', model: 'switchyard-sandbox' },
    },
  };
}

/** A complete answer with a tool call. */
export const toolCallAnswer = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x-2026',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'opening_hours', arguments: '{"day":"Montag"}' } },
        ],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 },
};

/** The same answer as the deltas of a stream. */
export const toolCallDeltas: ReadonlyArray<object> = [
  { role: 'assistant', content: null },
  { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'opening_hours', arguments: '' } }] },
  { tool_calls: [{ index: 0, function: { arguments: '{"day":' } }] },
  { tool_calls: [{ index: 0, function: { arguments: '"Montag"}' } }] },
];
