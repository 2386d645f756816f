import assert from 'node:assert/strict';
import * as eventLoop from '#exchange/turns.ts';
import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import type { Conversation } from '#gateway/neutral/conversation.ts';
import { estimateTokens } from '#gateway/neutral/estimate-tokens.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

const path = '/v1/messages/count_tokens';

describe('the estimate of tokens', () => {
  let service: GatewayService;

  before(async () => {
    service = await startGateway(builtInConfiguration);
  });
  after(() => service.stop());

  const tokensOf = async (content: unknown, more: object = {}) => {
    const messages = [{ role: 'user', content }];
    const answer = await post(service, path, { model: 'sandbox', messages, ...more });
    assert.equal(answer.headers.get('x-switchyard-estimated'), 'true', answer.text);
    return (answer.json() as { input_tokens: number }).input_tokens;
  };

  it('is a quarter of the bytes of texts, tools and the system among them', async () => {
    assert.equal(await tokensOf('Grüß Gott'), 3);
    const tools = [{ name: 'tool', description: 'does', input_schema: { type: 'object' } }];
    assert.equal(await tokensOf('12345678', { system: '1234', tools }), Math.ceil((8 + 4 + 8 + 17) / 4));
  });

  it('is 1,000 for each image and for each page of a document', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const pdf = '<< /Type /Pages /Count 3 >> << /Type /Page >> << /Type/Page/Parent 1 >> << /Type /Page >>';
    const source = { type: 'base64', media_type: 'application/pdf', data: Buffer.from(pdf).toString('base64') };
    assert.equal(await tokensOf([image, { type: 'document', source }]), 4_000);
  });

  it('counts the pages of a document of many slices, wherever they are cut, with turns for others', async () => {
    const page = '<< /Type /Page >> ';
    const pages = `<< /Type /Pages >>${page.repeat(150_000)}/Type /Page`;
    // Base64 may have line ends, so a slice may end within four characters.
    const data = Buffer.from(pages)
      .toString('base64')
      .replace(/.{70}/g, (line) => `${line}\n`);
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    const source = { kind: 'base64', mediaType: 'application/pdf', data };
    const turn = { role: 'user', parts: [{ kind: 'document', source }] };
    const conversation = { system: [], tools: [], turns: [turn] } as unknown as Conversation;
    const tokens = await estimateTokens(conversation, (characters) =>
      eventLoop.turn(currentWorkOwner(), 'body', characters),
    );
    clearInterval(counting);
    assert.equal(tokens, 150_001 * 1_000);
    assert.ok(turns > 0);
  });

  it('is a quarter of the whole body where that has blocks of other types, or very many values', async () => {
    const unknown = [{ type: 'search_result', source: 'x' }];
    const body = { model: 'sandbox', messages: [{ role: 'user', content: unknown }] };
    assert.equal(await tokensOf(unknown), Math.ceil(JSON.stringify(body).length / 4));
    const metadata = Array.from({ length: 100_001 }, () => 1);
    const many = { model: 'sandbox', messages: [{ role: 'user', content: 'hi' }], metadata };
    assert.equal(await tokensOf('hi', { metadata }), Math.ceil(JSON.stringify(many).length / 4));
  });
});
