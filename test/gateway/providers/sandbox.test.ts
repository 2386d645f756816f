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
    const messages = [{ role: 'user', content: '😀'.repeat(2_000_000) }];
    const answer = await post(service, '/v1/chat/completions', { model: 'sandbox', messages, n: 1e9 });
    assert.equal(answer.status, 200);
    const { choices } = answer.json() as { choices: ReadonlyArray<{ message: { content: string } }> };
    assert.equal(choices.length, 128);
    const said = choices[0]?.message.content ?? '';
    assert.match(said, /You said: (?:😀)+…$/u);
    assert.ok(said.length > 100_000 && said.length < 101_000);
  });
});
