import assert from 'node:assert/strict';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

describe('sandbox provider', () => {
  let service: GatewayService;

  before(async () => {
    service = await startGateway({
      providers: { sandbox: { kind: 'sandbox' } },
      models: { sandbox: { targets: [{ provider: 'sandbox', model: 's' }] } },
    });
  });
  after(() => service.stop());

  it('echoes a part of a long text, in at most 128 choices', async () => {
    const messages = [{ role: 'user', content: '😀'.repeat(200_000) }];
    const answer = await post(service, '/v1/chat/completions', { model: 'sandbox', messages, n: 1e9 });
    assert.equal(answer.status, 200);
    const { choices } = answer.json() as { choices: ReadonlyArray<{ message: { content: string } }> };
    assert.equal(choices.length, 128);
    const said = choices[0]?.message.content ?? '';
    assert.match(said, /You said: (?:😀)+…$/u);
    assert.ok(said.length > 100_000 && said.length < 101_000);
  });

  it('counts the words of the first 100,000 characters', async () => {
    const messages = [{ role: 'user', content: 'a '.repeat(1_000_000) }];
    const answer = await post(service, '/v1/chat/completions', { model: 'sandbox', messages });
    assert.equal((answer.json() as { usage: { prompt_tokens: number } }).usage.prompt_tokens, 50_000);
  });

  it('finds the allowed ones among many tools in little time', async () => {
    const named = (name: string) => ({ type: 'function', function: { name } });
    const tools = Array.from({ length: 5_000 }, (_, index) => named(`a${index}`));
    const allowed = [...Array.from({ length: 4_999 }, (_, index) => named(`b${index}`)), named('a4999')];
    const before = process.cpuUsage();
    const answer = await post(service, '/v1/chat/completions', {
      model: 'sandbox',
      messages: [{ role: 'user', content: 'hi' }],
      tools,
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: allowed } },
    });
    const { user } = process.cpuUsage(before);
    const [choice] = (answer.json() as { choices: { message: { tool_calls: { function: { name: string } }[] } }[] })
      .choices;
    assert.equal(choice?.message.tool_calls[0]?.function.name, 'a4999', answer.text);
    assert.ok(user / 1_000 < 1_000, `${user / 1_000} ms`);
  });
});
