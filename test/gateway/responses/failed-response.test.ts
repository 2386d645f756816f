import assert from 'node:assert/strict';
import { FakeProvider, stream } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Once' }] };
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'failed',
  model: 'm-1',
  service_tier: 'flex',
  output: [message],
  error: { code: 'server_error', message: 'No room for org-AbC_12.' },
  usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12, tier: 'flex' },
};
const begun = { ...response, status: 'in_progress', output: [], error: null, usage: null };
const created = { type: 'response.created', sequence_number: 0, response: begun };
const delta = { type: 'response.output_text.delta', sequence_number: 1, item_id: 'msg_1', delta: 'Once' };
const eventOf = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

describe('a response that fails after its content', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
    service = await startGateway({
      providers: { native: { kind: 'openai-compatible', baseUrl: provider.baseUrl, responses: true } },
      models: { native: { targets: [{ provider: 'native', model: 'm' }], retries: 0 } },
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  /** Returns the response in the last event. */
  async function askFor(said: object, store: boolean): Promise<object> {
    const failed = { type: 'response.failed', sequence_number: 2, response: said };
    provider.answers(stream([eventOf(created), eventOf(delta), eventOf(failed)], { gapMs: 30 }));
    const { text } = await post(service, '/v1/responses', { model: 'native', input: 'hi', stream: true, store });
    const last = JSON.parse(text.slice(text.lastIndexOf('data: ') + 6));
    assert.deepEqual([last.type, last.sequence_number], ['response.failed', 2]);
    return last.response;
  }

  for (const store of [false, true])
    it(`keeps what the provider says of it, and its usage, ${store ? 'stored' : 'not stored'}`, async () => {
      const error = { ...response.error, message: 'No room for [redacted].' };
      const got = await askFor(response, store);
      assert.deepEqual({ ...got, ...response, error }, got);
      assert.deepEqual(service.records.at(-1)?.tokens, { input: 5, output: 7 });
    });

  it('keeps the usage alone of a large one', async () => {
    const got = await askFor({ ...response, instructions: 'x'.repeat(1_400_000) }, false);
    assert.deepEqual((got as typeof response).usage, response.usage);
    assert.deepEqual((got as typeof response).output, []);
  });
});
