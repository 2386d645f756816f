import { setTimeout as sleep } from 'node:timers/promises';
import { completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';

const answerMs = 150;

/** A provider for the lines of batches. It counts how often each line is asked. */
export class LineProvider {
  readonly #provider: FakeProvider;
  readonly #asked = new Map<string, number>();

  private constructor(provider: FakeProvider) {
    this.#provider = provider;
    provider.answers(async (response, seen) => {
      const { messages } = JSON.parse(seen.body.toString()) as { messages: [{ content: string }] };
      const [{ content }] = messages;
      this.#asked.set(content, (this.#asked.get(content) ?? 0) + 1);
      await sleep(answerMs);
      json(completion(content))(response, seen);
    });
  }

  static async start(): Promise<LineProvider> {
    return new LineProvider(await FakeProvider.start());
  }

  /** The configuration of a gateway that calls it. */
  get configuration(): object {
    const { baseUrl } = this.#provider;
    return {
      providers: { primary: { kind: 'openai-compatible', baseUrl, apiKeyEnv: 'PROVIDER_KEY' } },
      models: { large: { targets: [{ provider: 'primary', model: 'gpt-x' }] } },
    };
  }

  /** The lines that were asked. */
  get asked(): number {
    return this.#asked.size;
  }

  /** How many calls were made for lines that had been asked before. */
  get repeated(): number {
    return [...this.#asked.values()].reduce((sum, count) => sum + count - 1, 0);
  }

  stop(): Promise<void> {
    return this.#provider.stop();
  }
}

/** A line of a batch's input. @param text what the model is asked */
export function batchLine(text: string): string {
  return JSON.stringify({
    custom_id: text,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'large', messages: [{ role: 'user', content: text }] },
  });
}
