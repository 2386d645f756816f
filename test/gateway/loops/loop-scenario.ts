import assert from 'node:assert/strict';
import { type ChatState, chatStates } from '#test/gateway/support/chat-state.ts';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import type { StrictProvider } from '#test/gateway/support/strict-provider.ts';
import { expectedText, type LoopingMessages, loopingChat, loopingMessages } from './looping-providers.ts';

/** What an agent is asked, one after the other. Each takes parallel calls of a tool, and one more call. */
export const questions = ['When do you open?', 'Say it again.', 'And again.'];

/** What it answers. */
export const expectedAnswers: ReadonlyArray<string> = questions.map(() => expectedText);

/** The name of the model at Anthropic. */
export const claude = 'claude';

/** What a provider says of a turn without its state. */
export const complaint = /Missing `reasoning_content`|must be passed back|missing a thought_signature|to be preserved/;

/** A gateway whose models are at providers that refuse a later request without what they gave. */
export class LoopScenario {
  #chats: ReadonlyMap<ChatState, StrictProvider> = new Map();
  #claude: LoopingMessages = loopingMessages();
  readonly #service: GatewayService;
  readonly #providers: ReadonlyArray<FakeProvider>;

  private constructor(service: GatewayService, providers: ReadonlyArray<FakeProvider>) {
    this.#service = service;
    this.#providers = providers;
    this.forgetAll();
  }

  static async start(): Promise<LoopScenario> {
    const providers = await Promise.all([...chatStates, claude].map(() => FakeProvider.start()));
    return new LoopScenario(await startGateway(configurationOf(providers)), providers);
  }

  get url(): string {
    return this.#service.url;
  }

  get claude(): LoopingMessages {
    return this.#claude;
  }

  chat(state: ChatState): StrictProvider {
    return this.#chats.get(state) ?? assert.fail();
  }

  /** Makes the providers forget all conversations, so that each test gets the same answers. */
  forgetAll(): void {
    this.#chats = new Map(chatStates.map((state) => [state, loopingChat(state)]));
    this.#claude = loopingMessages();
    for (const [index, { behaviour }] of [...this.#chats.values(), this.#claude].entries())
      this.#providers[index]?.answers(behaviour);
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    await Promise.all(this.#providers.map((provider) => provider.stop()));
  }
}

function configurationOf(providers: ReadonlyArray<FakeProvider>): object {
  const entries = [
    ...chatStates.map((state) => [state.model, targetOf(state)] as const),
    [claude, claudeTarget] as const,
  ];
  return {
    providers: Object.fromEntries(
      entries.map(([name], index) => {
        const kind = name === claude ? 'anthropic' : 'openai-compatible';
        return [name, { kind, baseUrl: providers[index]?.baseUrl, apiKeyEnv: 'PROVIDER_KEY' }];
      }),
    ),
    models: Object.fromEntries(
      entries.map(([name, target]) => [name, { targets: [{ provider: name, ...target }], retries: 0 }]),
    ),
  };
}

const claudeTarget = { model: 'claude-x', thinking: 'budget' };

function targetOf({ isOfAllTurns, model }: ChatState): object {
  const target = { model, reasoning: true };
  return isOfAllTurns ? { ...target, returnsReasoning: 'always' } : target;
}
