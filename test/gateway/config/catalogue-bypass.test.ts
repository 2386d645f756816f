import assert from 'node:assert/strict';
import { bytes, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import {
  configurationOf,
  type GatewayService,
  post,
  type Received,
  startGateway,
} from '#test/gateway/support/gateway-service.ts';

describe('requests that try to bypass the catalogue', () => {
  let openAi: FakeProvider;
  let eleven: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [openAi, eleven] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  beforeEach(async () => {
    openAi.answers(json({ choices: [], text: 'heard' }));
    eleven.answers(json({ text: 'heard' }));
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', baseUrl: openAi.baseUrl, anyVoice: true },
        eleven: { kind: 'elevenlabs', baseUrl: eleven.baseUrl, anyVoice: true },
      },
      models: {
        large: { targets: [{ provider: 'openai', model: 'm' }] },
        scribe: { targets: [{ provider: 'eleven', model: 's' }] },
        both: {
          targets: [{ provider: 'eleven', model: 's' }],
          fallbacks: [{ provider: 'openai', model: 'm' }],
        },
      },
    });
  });
  afterEach(() => service.stop());
  after(() => Promise.all([openAi.stop(), eleven.stop()]));

  const asked = () => openAi.seen.length + eleven.seen.length;
  const errorsOf = (answer: Received) => {
    assert.equal(answer.status, 422, answer.text);
    return (answer.json() as { error: { param: string | null }; detail: { loc: string[]; msg: string }[] }).error.param;
  };
  const refused = (answer: Received, place: string | null) => {
    assert.equal(errorsOf(answer), place);
    assert.equal(asked(), 0);
  };
  const messages = [{ role: 'user', content: 'hi' }];
  const speech = (body: object) =>
    post(service, '/v1/audio/speech', { model: 'scribe', input: 'hi', voice: 'v', ...body });
  const part = (disposition: string, content: string) =>
    `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
  const file = part('name="file"; filename="a.mp3"', 'sound');
  const transcription = (parts: string) =>
    post(service, '/v1/audio/transcriptions', `${parts}--b--\r\n`, {
      'content-type': 'multipart/form-data; boundary=b',
    });

  for (const spelling of ['Model', 'MODEL', '\\u004dodel'])
    it(`refuses another spelling of model in a chat: ${spelling}`, async () => {
      const body = `{"model":"large","${spelling}":"gpt-9","messages":${JSON.stringify(messages)}}`;
      refused(await post(service, '/v1/chat/completions', body), JSON.parse(`"${spelling}"`));
    });

  it('refuses another spelling of model or voice in speech', async () => {
    refused(await speech({ mOdel: 'x' }), 'mOdel');
    refused(await speech({ Voice: 'x' }), 'Voice');
  });

  it('refuses another spelling of model in a part of an upload', async () => {
    refused(await transcription(part('name="model"', 'large') + part('name="Model"', 'gpt-9') + file), 'Model');
  });

  it('refuses a part of an upload with two names', async () => {
    const twice = part('name="language"\r\nContent-Disposition: form-data; name="model"', 'gpt-9');
    refused(await transcription(part('name="model"', 'large') + twice + file), 'language');
    const fileTwice = part('name="file"; filename="a.mp3"\r\nContent-Disposition: form-data; name="model"', 'gpt-9');
    refused(await transcription(part('name="model"', 'large') + fileTwice), 'file');
  });

  it('refuses a file part of an upload that is a text', async () => {
    const text = part('name="file"', 'https://example.com/a.mp3');
    refused(await transcription(part('name="model"', 'scribe') + text), 'file');
    refused(await transcription(part('name="model"', 'large') + text + file), 'file');
  });

  for (const name of [
    'model_id',
    'cloud_storage_url',
    'source_url',
    'webhook',
    'webhook_id',
    'webhook_x',
    'Model_Id',
  ]) {
    it(`refuses ElevenLabs’ own ${name}, which other providers accept`, async () => {
      refused(await transcription(part('name="model"', 'scribe') + part(`name="${name}"`, 'x') + file), name);
      refused(await speech({ [name]: 'x' }), name);
      const elsewhere = part('name="model"', 'large') + part(`name="${name}"`, 'x') + file;
      assert.equal((await transcription(elsewhere)).status, 200);
      assert.match(openAi.seen[0]?.body.toString() ?? '', new RegExp(`name="${name}"\r\n\r\nx\r\n`));
    });
  }

  it('calls only targets that may receive the call', async () => {
    const answer = await transcription(part('name="model"', 'both') + part('name="webhook"', 'true') + file);
    assert.equal(answer.headers.get('x-switchyard-target'), 'openai/m');
    assert.equal(eleven.seen.length, 0);
  });

  const outside = [
    '.',
    '..',
    '...',
    '../../user',
    '..%2f..%2fuser',
    '%2e%2e',
    'a/b',
    'a\\b',
    'a?b',
    'a#b',
    'a;b',
    '..\n',
    '\ud800',
  ];
  for (const voice of outside)
    it(`refuses an ElevenLabs voice that leaves its path segment: ${JSON.stringify(voice)}`, async () => {
      refused(await speech({ voice }), 'voice');
      refused(await speech({ voice: { id: voice } }), 'voice');
    });

  it('accepts an ElevenLabs voice that is one path segment', async () => {
    eleven.answers(bytes('sound', { 'content-type': 'audio/mpeg' }));
    assert.equal((await speech({ voice: 'Zoë (2.0)' })).status, 200);
    assert.equal(eleven.seen[0]?.path.split('?')[0], '/v1/text-to-speech/Zo%C3%AB%20(2.0)/stream');
  });

  it('rejects a configuration with an ElevenLabs voice that is not a path segment', () => {
    const configuration = (voice: string) => ({
      providers: { eleven: { kind: 'elevenlabs' } },
      voices: { v: { provider: 'eleven', voice, model: 'm' } },
    });
    configurationOf(configuration('21m00'));
    assert.throws(() => configurationOf(configuration('..')), /\/voices\/v\/voice.*must not be made of dots/);
  });
});
