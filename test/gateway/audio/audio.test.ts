import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { bytes, error, FakeProvider, json, reset, silence, stream } from '#test/gateway/support/fake-provider.ts';
import {
  type GatewayService,
  post,
  type Received,
  sendAndLeave,
  startGateway,
} from '#test/gateway/support/gateway-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

/**
 * For calls that must reach their time limit. All others have the defaults, because short limits expire on a busy
 * machine.
 */
const short = { connectMs: 300, headersMs: 300, firstContentMs: 400, idleMs: 300, totalMs: 30_000 };
const audio = { 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' };

describe('audio operations', () => {
  let primary: FakeProvider;
  let backup: FakeProvider;
  let eleven: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [primary, backup, eleven] = await Promise.all([FakeProvider.start(), FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([primary.stop(), backup.stop(), eleven.stop()]));
  beforeEach(async () => {
    service = await startGateway(configuration({}));
  });
  afterEach(() => service.stop());

  const configuration = (timeouts: object) => ({
    providers: {
      primary: { kind: 'openai-compatible', baseUrl: primary.baseUrl, apiKeyEnv: 'PROVIDER_KEY', timeouts },
      backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl, anyVoice: true, timeouts },
      eleven: { kind: 'elevenlabs', baseUrl: eleven.baseUrl, apiKeyEnv: 'PROVIDER_KEY', timeouts },
      sandbox: { kind: 'sandbox', anyVoice: true },
    },
    models: {
      tts: {
        targets: [{ provider: 'primary', model: 'tts-x' }],
        fallbacks: [{ provider: 'backup', model: 'tts-y' }],
      },
      whisper: {
        targets: [{ provider: 'primary', model: 'whisper-x' }],
        fallbacks: [{ provider: 'backup', model: 'whisper-long-name' }],
      },
      scribe: { targets: [{ provider: 'eleven', model: 'scribe_v1' }], retries: 0 },
      sandbox: { targets: [{ provider: 'sandbox', model: 's' }] },
    },
    auto: { transcription: 'whisper' },
    voices: {
      narrator: { id: 'v-1', provider: 'primary', voice: 'al"loy', model: 'gpt-tts' },
      rachel: { provider: 'eleven', voice: '21m 00', model: 'eleven_v2' },
      spared: {
        provider: 'primary',
        voice: 'alloy',
        model: 'gpt-tts',
        fallbacks: [
          { provider: 'primary', voice: 'echo', model: 'gpt-tts' },
          { provider: 'eleven', voice: '21m00', model: 'eleven_v2', price: { perMillionCharacters: 500_000 } },
        ],
        retries: 0,
        price: { perMillionCharacters: 250_000 },
      },
    },
  });

  const errorOf = (answer: Received) =>
    (answer.json() as { error: { message: string; param: string | null; code: string | null } }).error;

  describe('speech', () => {
    const path = '/v1/audio/speech';
    const sound = randomBytes(300_000);
    beforeEach(() => {
      primary.answers(bytes(sound, audio));
      backup.answers(bytes(sound, audio));
      eleven.answers(bytes(sound, { 'content-type': 'application/octet-stream' }));
    });

    const spoken = async (body: unknown) => {
      const answer = await fetch(service.url + path, {
        method: 'POST',
        headers: { 'x-api-key': `sy_live_${'a'.repeat(40)}`, 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { headers: answer.headers, status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
    };

    it('keeps the length, the encoding and the file name that the provider gives for its bytes', async () => {
      const packed = gzipSync(sound);
      primary.answers(
        bytes(packed, {
          'content-type': 'audio/mpeg',
          'content-length': String(packed.length),
          'content-encoding': 'gzip',
          'content-disposition': 'attachment; filename="speech.mp3"',
        }),
      );
      const { headers, body } = await spoken({ input: 'hi', voice: 'narrator' });
      assert.ok(body.equals(sound), 'the client unpacks them');
      assert.equal(headers.get('content-length'), String(packed.length));
      assert.equal(headers.get('content-disposition'), 'attachment; filename="speech.mp3"');
    });

    it('replaces the model and the voice of a speech request, and keeps every other byte', async () => {
      const answer = await spoken('{ "input":"h\\u00efi", "voice" : "narrator","odd":1.0 }');
      assert.ok(answer.body.equals(sound));
      assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
      assert.equal(answer.headers.get('x-switchyard-target'), 'primary/gpt-tts');
      assert.equal(
        primary.seen[0]?.body.toString(),
        '{"model":"gpt-tts", "input":"h\\u00efi", "voice" : "al\\"loy","odd":1.0 }',
      );
      await spoken('{"model":"auto","input":"hi","voice":{"id":"v-1"}}');
      assert.equal(primary.seen[1]?.body.toString(), '{"model":"gpt-tts","input":"hi","voice":"al\\"loy"}');
    });

    it('accepts a named model for speech, and any voice that the provider allows', async () => {
      await spoken({ model: 'tts', input: 'hi', voice: 'narrator' });
      assert.equal(primary.seen[0]?.body.toString(), '{"model":"tts-x","input":"hi","voice":"al\\"loy"}');
      const answer = await spoken({ model: 'tts', input: 'hi', voice: 'unheard' });
      assert.equal(answer.headers.get('x-switchyard-target'), 'backup/tts-y');
      assert.equal(backup.seen[0]?.body.toString(), '{"model":"tts-y","input":"hi","voice":"unheard"}');
    });

    const refusals: ReadonlyArray<[unknown, number, string]> = [
      [{ voice: 'narrator' }, 422, 'input'],
      [{ input: 'hi' }, 422, 'voice'],
      [{ input: 'hi', voice: 7 }, 422, 'voice'],
      [{ input: 'hi', voice: 'nobody' }, 422, 'voice'],
      [{ input: 'hi', voice: null }, 422, 'voice'],
      [{ input: 'hi', voice: 'rachel', model: 'tts' }, 422, 'voice'],
      [{ input: 'hi', voice: 'rachel', model: 7 }, 422, 'model'],
      [{ input: 'hi', voice: 'narrator', model: 'none' }, 404, 'model'],
      [{ input: 'hi', voice: 'rachel', response_format: 'flac' }, 422, 'response_format'],
    ];
    for (const [body, status, param] of refusals)
      it(`refuses the speech request ${JSON.stringify(body)} with ${status}`, async () => {
        const answer = await post(service, path, body);
        assert.equal(answer.status, status);
        assert.equal(errorOf(answer).param, param);
      });

    it('lists the known voices when a speech request names an unknown one', async () => {
      const { message } = errorOf(await post(service, path, { input: 'hi', voice: 'nobody' }));
      assert.match(message, /^\/voice names no voice: there is no "nobody" here, but narrator, rachel\b/);
    });

    it('retries speech before its first byte, and destroys the response after it', async () => {
      primary.answers(reset, bytes(sound, audio));
      assert.ok((await spoken({ input: 'hi', voice: 'narrator' })).body.equals(sound));
      primary.answers((res) => {
        res.writeHead(200, audio);
        res.write(sound, () => res.destroy());
      });
      await assert.rejects(spoken({ input: 'hi', voice: 'narrator' }));
      assert.equal(service.records.at(-1)?.outcome, 'broken-off');
    });

    it('does not take an HTML page for speech, even with status 200', async () => {
      primary.answers(bytes('<html>', { 'content-type': 'text/html; charset=utf-8' }), bytes(sound, audio));
      assert.ok((await spoken({ input: 'hi', voice: 'narrator' })).body.equals(sound));
    });

    describe('by a voice with fallbacks', () => {
      const body = { input: 'h\u00ef \u{1F600}', voice: 'spared' };

      it('speaks with the first target that can, each with its own voice, and bills by characters', async () => {
        primary.answers(error(500, 'x'));
        const answer = await spoken(body);
        assert.ok(answer.body.equals(sound));
        assert.equal(answer.headers.get('x-switchyard-target'), 'eleven/eleven_v2');
        assert.equal(answer.headers.get('x-switchyard-attempts'), '3');
        const asked = primary.seen.map((seen) => JSON.parse(seen.body.toString()) as { model: string; voice: string });
        assert.deepEqual(
          asked.map(({ model, voice }) => [model, voice]),
          [
            ['gpt-tts', 'alloy'],
            ['gpt-tts', 'echo'],
          ],
        );
        assert.equal(eleven.seen[0]?.path, '/v1/text-to-speech/21m00/stream?output_format=mp3_44100_128');
        const [record] = service.records;
        assert.deepEqual(
          [record?.model, record?.outcome, record?.characters, record?.cost],
          ['spared', 'served', 4, 2],
        );
      });

      it('counts the characters of a text that takes many turns of the event loop', async () => {
        await spoken({ input: `x${'\u{1F600}'.repeat(1_100_000)}`, voice: 'narrator' });
        assert.equal(service.records[0]?.characters, 1_100_001);
      });

      it('skips fallbacks of a voice that do not support the format', async () => {
        primary.answers(error(500, 'x'));
        const answer = await post(service, path, { ...body, response_format: 'flac' });
        assert.equal(answer.status, 502);
        assert.equal(answer.headers.get('x-switchyard-attempts'), '2');
        assert.equal(eleven.seen.length, 0);
        assert.deepEqual([service.records[0]?.characters, service.records[0]?.cost], [null, null]);
      });

      it('calls no fallback of a voice when the request is at fault or after the first bytes were sent', async () => {
        primary.answers(error(400, 'bad_input'));
        assert.equal((await post(service, path, body)).status, 400);
        primary.answers((res) => {
          res.writeHead(200, audio);
          res.write(sound, () => res.destroy());
        });
        await assert.rejects(spoken(body));
        assert.equal(primary.seen.length, 1);
        assert.equal(eleven.seen.length, 0);
        await eventually(() => service.records.length === 2, 'the records');
        assert.deepEqual(
          service.records.map(({ outcome, characters, cost }) => [outcome, characters, cost]),
          [
            ['refused', null, null],
            ['broken-off', 4, 1],
          ],
        );
      });

      it('keeps the state of a voice’s targets when the configuration changes', async () => {
        primary.answers(error(500, 'x'));
        const { breaker } = service.gateway.relayDependencies;
        await eventually(async () => {
          await spoken(body);
          return breaker.openUntil('primary/gpt-tts') > 0;
        }, 'a rest');
        service.configure(configuration({}));
        assert.ok(breaker.openUntil('primary/gpt-tts') > 0);
      });
    });

    it('forwards speech byte by byte before it is complete', async () => {
      let end: () => void = () => undefined;
      primary.answers((res) => {
        res.writeHead(200, audio);
        res.write('early');
        end = () => res.end('late');
      });
      const answer = await fetch(service.url + path, {
        method: 'POST',
        headers: { 'x-api-key': `sy_live_${'a'.repeat(40)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'hi', voice: 'narrator' }),
      });
      const reader = answer.body?.getReader();
      const first = await reader?.read();
      assert.equal(Buffer.from(first?.value ?? []).toString(), 'early');
      end();
      await reader?.read();
    });

    it('forwards speech as events, which end with their own end mark', async () => {
      const events = [
        'data: {"type":"speech.audio.delta","audio":"AA=="}\n\n',
        'data: {"type":"speech.audio.done"}\n\n',
      ];
      primary.answers(stream(events), stream(events.slice(0, 1)));
      const body = { input: 'hi', voice: 'narrator', stream_format: 'sse' };
      assert.equal((await post(service, path, body)).text, events.join(''));
      assert.match((await post(service, path, body)).text, /"code":"provider_unfinished"/);
    });

    it('translates a speech request for ElevenLabs', async () => {
      const answer = await spoken({ input: 'hi', voice: 'rachel', speed: 1.1 });
      assert.ok(answer.body.equals(sound));
      assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
      const [seen] = eleven.seen;
      assert.equal(seen?.path, '/v1/text-to-speech/21m%2000/stream?output_format=mp3_44100_128');
      assert.equal(seen?.headers['xi-api-key'], 'provider-secret');
      assert.equal(seen?.headers.authorization, undefined);
      assert.deepEqual(JSON.parse(seen?.body.toString() ?? ''), {
        text: 'hi',
        model_id: 'eleven_v2',
        voice_settings: { speed: 1.1 },
      });
    });

    it('forwards ElevenLabs’ own settings', async () => {
      const own = { language_code: 'de', seed: 7, voice_settings: { stability: 0.4 } };
      const openAis = { instructions: 'softly', stream: true, stream_format: 'audio', response_format: 'mp3' };
      await spoken({ input: 'hi', voice: 'rachel', speed: 1.1, text: 'x', ...own, ...openAis });
      assert.deepEqual(JSON.parse(eleven.seen[0]?.body.toString() ?? ''), {
        ...own,
        voice_settings: { stability: 0.4, speed: 1.1 },
        text: 'hi',
        model_id: 'eleven_v2',
      });
    });

    it('translates only settings and texts of an ordinary size for ElevenLabs', async () => {
      const settings = (bytes: number) => ({ input: 'hi', voice: 'rachel', own: 'x'.repeat(bytes) });
      assert.equal((await spoken(settings(200_000))).status, 200);
      const refused = async (body: object) => {
        const answer = await spoken(body);
        assert.equal(answer.status, 422);
        return JSON.parse(answer.body.toString()).error.message;
      };
      assert.match(await refused(settings(300_000)), /more settings than this voice supports/);
      const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`own${index}`, 1]));
      assert.match(await refused({ input: 'hi', voice: 'rachel', ...many }), /more settings than this voice supports/);
      assert.match(await refused({ input: 'x'.repeat(1_000_001), voice: 'rachel' }), /at most 1000000 characters/);
      assert.equal(eleven.seen.length, 1);
    });

    it('sends ElevenLabs no setting of the voice that the client has not sent', async () => {
      await spoken({ input: 'hi', voice: 'rachel' });
      assert.deepEqual(JSON.parse(eleven.seen[0]?.body.toString() ?? ''), { text: 'hi', model_id: 'eleven_v2' });
      await spoken({ input: 'hi', voice: 'rachel', voice_settings: null });
      assert.equal(JSON.parse(eleven.seen[1]?.body.toString() ?? '').voice_settings, null);
    });

    it('adds a WAV header to raw samples of ElevenLabs', async () => {
      const length = { 'content-length': String(sound.length) };
      eleven.answers(bytes(sound, { 'content-type': 'application/octet-stream', ...length }));
      const answer = await spoken({ input: 'hi', voice: 'rachel', response_format: 'wav' });
      assert.equal(eleven.seen[0]?.path, '/v1/text-to-speech/21m%2000/stream?output_format=pcm_24000');
      assert.equal(answer.headers.get('content-type'), 'audio/wav');
      assert.equal(answer.body.toString('latin1', 0, 4), 'RIFF');
      assert.ok(answer.body.subarray(44).equals(sound));
    });

    it('translates ElevenLabs’ errors for OpenAI’s clients', async () => {
      eleven.answers(json({ detail: { status: 'text_too_long', message: 'Too long.' } }, 400));
      const answer = await post(service, path, { input: 'hi', voice: 'rachel' });
      assert.equal(answer.status, 400);
      assert.deepEqual(errorOf(answer), {
        message: 'Too long.',
        type: 'invalid_request_error',
        param: null,
        code: 'text_too_long',
      });
    });

    it('gets the same WAV file from the sandbox each time', async () => {
      const body = { model: 'sandbox', input: 'three short words', voice: 'any' };
      const [one, two] = [await spoken(body), await spoken(body)];
      assert.equal(one.headers.get('content-type'), 'audio/wav');
      assert.ok(one.body.equals(two.body));
      assert.equal(one.body.readUInt32LE(40), one.body.length - 44);
      assert.equal(one.body.length, 44 + 3 * 12_000);
    });

    it('gets events and samples from the sandbox, and no unknown format', async () => {
      const body = { model: 'sandbox', input: 'three short words', voice: 'any' };
      const wav = (await spoken(body)).body;
      const streamed = await post(service, path, { ...body, stream_format: 'sse' });
      assert.match(streamed.headers.get('content-type') ?? '', /^text\/event-stream/);
      const events = streamed.text
        .split('\n\n')
        .slice(0, -1)
        .map((event) => JSON.parse(event.slice('data: '.length)) as { type: string; audio?: string });
      assert.equal(events.at(-1)?.type, 'speech.audio.done');
      assert.ok(Buffer.concat(events.map(({ audio = '' }) => Buffer.from(audio, 'base64'))).equals(wav));
      const samples = await spoken({ ...body, response_format: 'pcm' });
      assert.equal(samples.headers.get('content-type'), 'audio/pcm');
      assert.ok(samples.body.equals(wav.subarray(44)));
      const refused = await post(service, path, { ...body, response_format: 'mp4' });
      assert.equal(refused.status, 422);
      assert.equal(errorOf(refused).param, 'response_format');
    });
  });

  describe('transcription', () => {
    const path = '/v1/audio/transcriptions';
    const sound = randomBytes(3_000_000);
    const form = (fields: Record<string, string>, file: Buffer | null = sound) => {
      const data = new FormData();
      if (file !== null) data.append('file', new Blob([new Uint8Array(file)], { type: 'audio/mpeg' }), 'a.mp3');
      for (const [name, value] of Object.entries(fields)) data.append(name, value);
      return data;
    };
    const send = async (body: FormData | Buffer | string, headers: Record<string, string> = {}): Promise<Received> => {
      const answer = await fetch(service.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer sy_live_${'a'.repeat(40)}`, ...headers },
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : body,
      });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) };
    };
    const multipart = (boundary: string) => ({ 'content-type': `multipart/form-data; boundary=${boundary}` });
    const written = (first: string, second: string, file = sound) =>
      Buffer.concat([
        Buffer.from(`--b\r\nContent-Disposition: form-data; name="model"\r\nX-Odd: 1\r\n\r\n${first}\r\n--b\r\n`),
        Buffer.from('Content-Disposition: form-data; name="timestamp_granularities[]"\r\n\r\nword\r\n--b\r\n'),
        Buffer.from('content-disposition: form-data; filename="model"; name="file"\r\n\r\n'),
        file,
        Buffer.from(`\r\n--b\r\nContent-Disposition: form-data; name=model\r\n\r\n${second}\r\n--b--\r\n`),
      ]);

    beforeEach(() => {
      const heard = '{ "text":"heard", "usage":{"type":"tokens","input_tokens":3,"output_tokens":4}, "odd":1.0}';
      primary.answers(bytes(heard, { 'content-type': 'application/json' }));
      backup.answers(bytes(heard, { 'content-type': 'application/json' }));
    });

    it('replaces the model in every part of an upload that names one, and no other byte', async () => {
      const answer = await send(written('odd', 'auto'), multipart('b'));
      assert.equal(answer.status, 200);
      assert.equal(
        answer.text,
        '{ "text":"heard", "usage":{"type":"tokens","input_tokens":3,"output_tokens":4}, "odd":1.0}',
      );
      const expected = written('whisper-x', 'whisper-x');
      assert.ok(primary.seen[0]?.body.equals(expected));
      assert.equal(primary.seen[0]?.headers['content-length'], String(expected.length));
      assert.equal(primary.seen[0]?.headers['content-type'], 'multipart/form-data; boundary=b');
      assert.deepEqual(service.records[0]?.tokens, { input: 3, output: 4 });
    });

    it('bills a transcription by the minute when the provider states the length', async () => {
      const timed = configuration({});
      const { whisper, scribe } = timed.models;
      const models = { ...timed.models, whisper: { ...whisper, price: { perMinute: 3 } } };
      service.configure({ ...timed, models: { ...models, scribe: { ...scribe, price: { perMinute: 3 } } } });
      primary.answers(json({ text: 'heard', usage: { type: 'duration', seconds: 20 } }));
      eleven.answers(json({ text: 'heard', audio_duration_secs: 40.5 }));
      await send(form({ model: 'whisper' }));
      const verbose = await send(form({ model: 'scribe', response_format: 'verbose_json' }));
      assert.equal((verbose.json() as { duration: number }).duration, 40.5);
      assert.deepEqual(
        service.records.map(({ tokens, audioSeconds, cost }) => [tokens, audioSeconds, cost]),
        [
          [null, 20, 1],
          [null, 40.5, 2.025],
        ],
      );
    });

    it('sends an upload again in full after a failed attempt, with the fallback’s own model', async () => {
      primary.answers(error(500, 'x'));
      assert.equal((await send(form({ model: 'whisper' }))).status, 200);
      assert.equal(primary.seen.length, 3);
      for (const { body } of [...primary.seen, ...backup.seen]) assert.ok(body.includes(sound));
      assert.ok(primary.seen[2]?.body.equals(primary.seen[0]?.body ?? Buffer.alloc(0)));
      assert.ok(backup.seen[0]?.body.includes('whisper-long-name'));
    });

    it('calls another provider when the first one is silent or breaks the upload off', async () => {
      service.configure(configuration(short));
      primary.answers(silence);
      assert.equal(
        (await send(form({ model: 'whisper' }))).headers.get('x-switchyard-target'),
        'backup/whisper-long-name',
      );
    });

    for (const [format, type, text] of [
      ['text', 'text/plain; charset=utf-8', 'heard\n'],
      ['srt', 'text/plain', '1\n00:00:00,000 --> 00:00:01,000\nheard\n'],
      ['vtt', 'text/vtt', 'WEBVTT\n'],
    ] as const)
      it(`returns a transcription as the provider typed it: ${format}`, async () => {
        primary.answers(bytes(text, { 'content-type': type }));
        const answer = await send(form({ model: 'whisper', response_format: format }));
        assert.equal(answer.text, text);
        assert.equal(answer.headers.get('content-type'), type);
      });

    it('streams transcription events on request, and answers JSON when the provider does not stream', async () => {
      const events = [
        'data: {"type":"transcript.text.delta","delta":"h"}\n\n',
        'data: {"type":"transcript.text.done","text":"h"}\n\n',
      ];
      primary.answers(stream(events));
      assert.equal((await send(form({ model: 'whisper', stream: 'true' }))).text, events.join(''));
      primary.answers(json({ text: 'heard' }));
      assert.deepEqual((await send(form({ model: 'whisper', stream: 'true' }))).json(), { text: 'heard' });
    });

    it('refuses an invalid upload, with the place of the fault', async () => {
      const answers: ReadonlyArray<[Received, number, string | null]> = [
        [await send(form({ model: 'whisper' }, null)), 422, 'file'],
        [await send(form({})), 422, 'model'],
        [await send(form({ model: 'none' })), 404, 'model'],
        [await send('{}', { 'content-type': 'application/json' }), 415, null],
        [await send('x', { 'content-type': 'multipart/form-data' }), 415, null],
        [await send('--b\r\nnonsense', multipart('b')), 422, null],
        [
          await send('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx', multipart('b')),
          422,
          null,
        ],
        [await send(form({ model: 'scribe', response_format: 'odd' })), 422, 'response_format'],
      ];
      for (const [index, [answer, status, param]] of answers.entries()) {
        assert.equal(answer.status, status, String(index));
        assert.equal(errorOf(answer).param, param, String(index));
      }
      assert.equal(primary.seen.length, 0);
    });

    it('refuses an upload that is too large, with or without a length', async () => {
      await service.stop();
      service = await startGateway({ models: {} }, { limits: { maxAudioBytes: 1_000_000 } });
      assert.equal((await send(form({ model: 'whisper' }))).status, 413);
      const chunked = await fetch(service.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer sy_live_${'a'.repeat(40)}`, ...multipart('b') },
        body: new Blob([new Uint8Array(sound)]).stream(),
        duplex: 'half',
      } as RequestInit);
      assert.equal(chunked.status, 413);
    });

    it('does not fail when the client leaves before its upload is read', async () => {
      const key = Promise.withResolvers<void>();
      const waiting = await startGateway(configuration({}), { beforeKey: () => key.promise });
      await sendAndLeave(waiting, path, written('whisper', 'whisper', randomBytes(10_000)), multipart('b'));
      key.resolve();
      await waiting.stop();
      assert.doesNotMatch(waiting.logged(), /internal error/);
    });

    describe('by ElevenLabs', () => {
      const heard = {
        language_code: 'eng',
        text: 'two words',
        words: [
          { text: 'two', start: 0, end: 0.5, type: 'word' },
          { text: ' ', start: 0.5, end: 0.6, type: 'spacing' },
          { text: 'words', start: 0.6, end: 1, type: 'word' },
        ],
        additional_formats: [{ requested_format: 'srt', content: '1\n00:00:00,000 --> 00:00:01,000\ntwo words\n' }],
      };
      beforeEach(() => eleven.answers(json(heard)));

      it('translates a transcription request for ElevenLabs, with the file unchanged', async () => {
        const answer = await send(form({ model: 'scribe', language: 'en', prompt: 'x', diarize: 'true' }));
        assert.deepEqual(answer.json(), { text: 'two words' });
        const [seen] = eleven.seen;
        assert.equal(seen?.path, '/v1/speech-to-text');
        const parsed = await new Response(new Uint8Array(seen?.body ?? []), {
          headers: { 'content-type': String(seen?.headers['content-type']) },
        }).formData();
        const file = parsed.get('file') as File;
        assert.ok(Buffer.from(await file.arrayBuffer()).equals(sound));
        assert.equal(file.name, 'a.mp3');
        parsed.delete('file');
        assert.deepEqual(Object.fromEntries(parsed), {
          model_id: 'scribe_v1',
          language_code: 'en',
          timestamps_granularity: 'word',
          diarize: 'true',
        });
      });

      const formats: ReadonlyArray<[string, string, string]> = [
        ['text', 'text/plain; charset=utf-8', 'two words\n'],
        ['srt', 'text/plain; charset=utf-8', '1\n00:00:00,000 --> 00:00:01,000\ntwo words\n'],
        ['vtt', 'text/vtt; charset=utf-8', 'WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.000\ntwo words\n'],
        [
          'verbose_json',
          'application/json',
          '{"task":"transcribe","language":"eng","duration":1,"text":"two words","words":[{"word":"two","start":0,"end":0.5},{"word":"words","start":0.6,"end":1}]}',
        ],
      ];
      for (const [format, type, text] of formats)
        it(`returns a transcription of ElevenLabs as ${format}`, async () => {
          const answer = await send(form({ model: 'scribe', response_format: format }));
          assert.equal(answer.text, text);
          assert.equal(answer.headers.get('content-type'), type);
        });

      it('fails when ElevenLabs’ transcription cannot be read', async () => {
        eleven.answers(json({ odd: 1 }));
        const answer = await send(form({ model: 'scribe' }));
        assert.equal(answer.status, 502);
        assert.equal(errorOf(answer).code, 'provider_malformed');
      });
    });

    it('gets a transcription from the sandbox in every format', async () => {
      assert.match((await send(form({ model: 'sandbox', response_format: 'text' }))).text, /sandbox .* 3000000 bytes/);
      assert.match((await send(form({ model: 'sandbox' }))).text, /"text":"This is the Switchyard sandbox/);
      const verbose = (await send(form({ model: 'sandbox', response_format: 'verbose_json' }))).json();
      assert.equal((verbose as { segments: unknown[] }).segments.length, 1);
      assert.equal((await send(form({ model: 'sandbox', response_format: 'odd' }))).status, 422);
      assert.match((await send(form({ model: 'sandbox', stream: 'true' }))).text, /transcript\.text\.done/);
    });
  });
});
