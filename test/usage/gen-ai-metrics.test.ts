import assert from 'node:assert/strict';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { createMetrics, type Metrics } from '#http/routes/metrics.ts';
import { genAiMetrics } from '#usage/call-metrics.ts';
import { callRecord } from './call-records.ts';

describe('metrics of the gateway', () => {
  let metrics: Metrics;
  let observe: (records: ReadonlyArray<CallRecord>) => void;
  const lost = { callsLost: 0, handOut: () => undefined };

  beforeEach(() => {
    metrics = createMetrics();
    observe = genAiMetrics(metrics.registry, lost);
  });
  afterEach(() => metrics.close());

  /** Returns only the lines of one instrument. */
  const lines = async (start: string) => (await metrics.text()).split('\n').filter((line) => line.startsWith(start));

  it('have the names of OpenTelemetry', async () => {
    observe([callRecord({ streamed: true, totalMs: 250, firstContentMs: 30 })]);
    const of = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-4.1"';
    const text = await metrics.text();
    for (const line of [
      `gen_ai_client_operation_duration_seconds_sum{${of},error_type=""} 0.25`,
      `gen_ai_client_operation_duration_seconds_bucket{le="0.16",${of},error_type=""} 0`,
      `gen_ai_client_operation_duration_seconds_bucket{le="0.32",${of},error_type=""} 1`,
      `gen_ai_client_operation_time_to_first_chunk_seconds_sum{${of}} 0.03`,
      `gen_ai_client_token_usage_sum{${of},gen_ai_token_type="input"} 10`,
      `gen_ai_client_token_usage_sum{${of},gen_ai_token_type="output"} 20`,
      'switchyard_usage_calls_lost_total 0',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  });

  it('hold the time to first content only of streams', async () => {
    observe([callRecord({ streamed: false, firstContentMs: 30 })]);
    assert.deepEqual(await lines('gen_ai_client_operation_time_to_first_chunk_seconds_count'), []);
  });

  it('count spoken characters and transcribed seconds', async () => {
    observe([
      callRecord({ operation: 'speech', tokens: null, characters: 40 }),
      callRecord({ operation: 'speech', tokens: null, characters: 2 }),
      callRecord({ operation: 'transcription', tokens: null, audioSeconds: 1.5 }),
    ]);
    const of = 'gen_ai_provider_name="openai",gen_ai_request_model="gpt-4.1"';
    assert.deepEqual(await lines('switchyard_speech_characters_total'), [
      `switchyard_speech_characters_total{${of}} 42`,
    ]);
    assert.deepEqual(await lines('switchyard_transcription_audio_seconds_total'), [
      `switchyard_transcription_audio_seconds_total{${of}} 1.5`,
    ]);
  });

  it('label errors by their code, or by the outcome of the call', async () => {
    observe([
      callRecord({ streamed: true, outcome: 'failed', errorCode: 'provider_timeout', tokens: null }),
      callRecord({ outcome: 'client-gone', tokens: null }),
      callRecord({ outcome: 'refused', errorCode: 'call me at +49 30 1234', tokens: null }),
    ]);
    const counts = await lines('gen_ai_client_operation_duration_seconds_count');
    assert.deepEqual(
      counts.map((line) => /error_type="([^"]*)"} (\d+)/.exec(line)?.slice(1)),
      [
        ['provider_timeout', '1'],
        ['client-gone', '1'],
        ['_OTHER', '1'],
      ],
    );
    assert.deepEqual(await lines('gen_ai_client_operation_time_to_first_chunk_seconds_count'), []);
    assert.deepEqual(await lines('gen_ai_client_token_usage_count'), []);
  });

  it('count the tokens and seconds of broken attempts for their own targets', async () => {
    const broken = {
      target: 'azure/gpt-4.1',
      provider: 'azure',
      tokens: { input: 7, output: 3 },
      audioSeconds: 2,
      cost: null,
    };
    observe([callRecord({ brokenAttempts: [broken, broken] })]);
    const of = 'gen_ai_provider_name="azure",gen_ai_request_model="gpt-4.1"';
    const text = await metrics.text();
    for (const line of [
      `gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",${of},gen_ai_token_type="input"} 14`,
      `gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",${of},gen_ai_token_type="output"} 6`,
      `switchyard_transcription_audio_seconds_total{${of}} 4`,
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
    assert.equal((await lines('gen_ai_client_operation_duration_seconds_count')).length, 1);
  });

  it('hold a bounded number of names for models and errors', async () => {
    const records = Array.from({ length: 3_000 }, (_, index) =>
      callRecord({ target: `openai/m${index}`, outcome: 'failed', errorCode: `e${index}`, tokens: null }),
    );
    observe(records);
    const counts = await lines('gen_ai_client_operation_duration_seconds_count');
    assert.equal(counts.length, 501);
    assert.equal(counts.at(-1)?.endsWith(' 2500'), true);
    assert.equal(new Set(counts.map((line) => /error_type="([^"]*)"/.exec(line)?.[1])).size, 101);
  });

  it('count a call for which no target was asked', async () => {
    observe([callRecord({ target: null, provider: null, outcome: 'failed', errorCode: 'no_provider', tokens: null })]);
    const [count] = await lines('gen_ai_client_operation_duration_seconds_count');
    assert.ok(count?.includes('gen_ai_request_model="_OTHER"'), count);
  });

  it('hold the number of calls that could not be recorded, however often they are read', async () => {
    lost.callsLost = 7;
    await metrics.text();
    assert.deepEqual(await lines('switchyard_usage_calls_lost_total'), ['switchyard_usage_calls_lost_total 7']);
  });
});
