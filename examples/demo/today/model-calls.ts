import type { CallingKey } from '#examples/demo/partner.ts';
import type { PlatformClient } from '#examples/demo/platform-client.ts';

const callsAtFirst = 240;
const callsAtOnce = 8;
const pauseMs = 3_000;

const questions = [
  'When do you open?',
  'Can I have an appointment on Tuesday?',
  'Where is my parcel?',
  'Do you deliver to BA2?',
  'I would like to speak to a person, please.',
  'What does a check-up cost?',
];

/** The models, the most used first. The last one is not in the catalogue, so its calls are refused. */
const models = ['assistant', 'assistant', 'assistant', 'quick', 'quick', 'steady', 'steady', 'assistant', 'retired'];

/** Calls models as the customers' programs do. */
export class ModelCalls {
  readonly #clients: ReadonlyArray<PlatformClient>;
  #made = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param operator with the admin key, which calls models too */
  constructor(operator: PlatformClient, keys: ReadonlyArray<CallingKey>) {
    this.#clients = [operator, ...keys.map(({ secret }) => operator.as(secret))];
  }

  /** Makes some hundreds of calls. @returns their number */
  async makeMany(): Promise<number> {
    // One after the other, so that the first keys try the target that fails before its circuit opens.
    for (const client of this.#clients) await ask(client, { model: 'steady', content: questions[0] });
    const call = async () => {
      while (this.#made < callsAtFirst) await this.#callNext();
    };
    await Promise.all(Array.from({ length: callsAtOnce }, call));
    return this.#clients.length + this.#made;
  }

  /** Makes calls from time to time, until `stop`. */
  keepCalling(): void {
    this.#timer = setInterval(() => void this.#callNext().catch(() => undefined), pauseMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #callNext(): Promise<void> {
    const number = this.#made;
    this.#made += 1;
    const client = this.#clients[number % this.#clients.length];
    if (client === undefined) return;
    const content = questions[number % questions.length] ?? '';
    if (number % 16 === 5) return speakAndListen(client, content);
    if (number % 16 === 9) return converse(client, content);
    await ask(client, { model: models[number % models.length], content, stream: number % 3 !== 0 });
  }
}

interface Question {
  readonly model: string | undefined;
  readonly content: string | undefined;
  readonly stream?: boolean;
}

async function ask(client: PlatformClient, { model, content, stream = false }: Question): Promise<void> {
  const messages = [
    { role: 'system', content: 'You answer the telephone. Be brief.' },
    { role: 'user', content },
  ];
  await client.callModel('/v1/chat/completions', { model, stream, messages });
}

/** Calls a model with the whole conversation, which is kept here. */
async function converse(client: PlatformClient, input: string): Promise<void> {
  const answer = await client.callModel('/v1/responses', { model: 'quick', input });
  const { id } = JSON.parse(Buffer.from(answer).toString()) as { id: string };
  await client.callModel('/v1/responses', { model: 'quick', input: questions[0], previous_response_id: id });
}

async function speakAndListen(client: PlatformClient, input: string): Promise<void> {
  const audio = await client.callModel('/v1/audio/speech', { voice: 'narrator', input, response_format: 'wav' });
  const form = new FormData();
  form.set('model', 'scribe');
  form.set('file', new Blob([audio], { type: 'audio/wav' }), 'question.wav');
  await client.callModel('/v1/audio/transcriptions', form);
}
