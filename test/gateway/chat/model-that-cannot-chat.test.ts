import assert from 'node:assert/strict';
import { messages, path } from '#test/gateway/support/chat-service.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

describe('a chat to a model that only transcribes', () => {
  let service: GatewayService;

  before(async () => {
    service = await startGateway({
      providers: { sandbox: { kind: 'sandbox' }, eleven: { kind: 'elevenlabs' } },
      models: {
        large: { targets: [{ provider: 'sandbox', model: 'x' }] },
        scribe: { targets: [{ provider: 'eleven', model: 'scribe_v2' }] },
        both: {
          targets: [{ provider: 'eleven', model: 'scribe_v2' }],
          fallbacks: [{ provider: 'sandbox', model: 'x' }],
        },
      },
    });
  });
  after(() => service.stop());

  it('is refused with an error that names the model and the models for chats', async () => {
    const answer = await post(service, path, { model: 'scribe', messages });
    assert.equal(answer.status, 422);
    const { detail, error } = answer.json() as {
      detail: ReadonlyArray<{ loc: unknown; msg: string }>;
      error: { param: string; message: string };
    };
    assert.deepEqual(detail[0]?.loc, ['body', 'model']);
    assert.equal(
      detail[0]?.msg,
      'names "scribe", which does not chat: it only speaks or transcribes. These chat: large, both',
    );
    assert.equal(error.param, 'model');
    assert.match(error.message, /"scribe", which does not chat/);
  });

  it('is served when one of the model’s providers supports chats', async () => {
    const answer = await post(service, path, { model: 'both', messages });
    assert.deepEqual([answer.status, answer.headers.get('x-switchyard-target')], [200, 'sandbox/x']);
  });
});
