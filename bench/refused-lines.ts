import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminKey, type Server, startPrintingPort, startService } from '#bench/http-processes/processes.ts';
import { print, printTable } from '#bench/measure.ts';
import { processorMs } from './gateway-processes/processor-time.ts';
import { residentMemory } from './gateway-processes/resident-memory.ts';

/**
 * `npm run bench -- refused-lines`: the processor time and memory of a batch of 30,000 lines of 3.6 KB, six in flight.
 * The first batch is held back by the limit of its project (callsAtOnce 8, a quarter of it for live calls), so that its
 * other lines are refused for now. The second is held back by BATCH_CALLS_AT_ONCE alone, so that no line is refused.
 */
const lines = 30_000;
const answerMs = 1_000;
const settleMs = 5_000;
const measuredMs = 10_000;
const model = 'small';

interface Named {
  readonly id: string;
}

interface Measured {
  readonly processor: number;
  readonly megabytes: number;
  readonly completed: number;
}

export default async function refusedLines(): Promise<void> {
  const provider = await startPrintingPort(
    join(import.meta.dirname, 'gateway-processes/late-provider.ts'),
    String(answerMs),
  );
  try {
    const refused = await measure(provider, { limits: { callsAtOnce: 8 } }, {});
    const even = await measure(provider, {}, { BATCH_CALLS_AT_ONCE: '6' });
    const rows = [
      ['lines refused for now', refused],
      ['no line refused', even],
    ] as const;
    printTable(
      ['', `processor ms in ${measuredMs / 1_000} s`, 'resident MB', 'lines finished'],
      rows.map(([name, { processor, megabytes, completed }]) =>
        [name, processor.toFixed(0), megabytes.toFixed(0), completed].map(String),
      ),
    );
    print(`refused lines cost ${(refused.processor / even.processor).toFixed(2)} × the processor time`);
  } finally {
    await provider.stop();
  }
}

async function measure(
  provider: Server,
  configuration: object,
  environment: Record<string, string>,
): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-refused-'));
  const file = join(folder, 'gateway.json');
  const providers = { late: { kind: 'openai-compatible', baseUrl: `${provider.url}/v1` } };
  const models = { [model]: { targets: [{ provider: 'late', model: 'gpt-small' }] } };
  await writeFile(file, JSON.stringify({ providers, models, ...configuration }));
  const service = await startService(join(folder, 'data'), { GATEWAY_CONFIG: file, ...environment });
  try {
    return await measureBatch(service);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

async function measureBatch(service: Server): Promise<Measured> {
  const me = await ask<{ projectId: string }>(service, adminKey, 'GET', '/v1/me');
  const keys = `/v1/projects/${me.projectId}/keys`;
  // Limits do not apply to admin keys.
  const { key } = await ask<{ key: string }>(service, adminKey, 'POST', keys, { name: 'Bench', keyType: 'project' });
  const form = new FormData();
  form.set('file', new File([inputText()], 'input.jsonl'));
  form.set('purpose', 'batch');
  const input = await ask<Named>(service, key, 'POST', '/v1/files', form);
  const body = { input_file_id: input.id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const { id } = await ask<Named>(service, key, 'POST', '/v1/batches', body);
  await sleep(settleMs);
  const before = processorMs(service.pid);
  await sleep(measuredMs);
  const processor = processorMs(service.pid) - before;
  const megabytes = residentMemory(service.pid) / 1e6;
  const path = `/v1/batches/${id}`;
  const batch = await ask<{ request_counts: { completed: number } }>(service, key, 'GET', path);
  return { processor, megabytes, completed: batch.request_counts.completed };
}

function inputText(): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x'.repeat(3_500) }] });
  const line = (number: number) =>
    `{"custom_id":"line-${number}","method":"POST","url":"/v1/chat/completions","body":${body}}\n`;
  return Array.from({ length: lines }, (_, number) => line(number)).join('');
}

/** @throws Error on anything but success */
async function ask<Answer>(
  { url }: Server,
  key: string,
  method: string,
  path: string,
  body: FormData | object | null = null,
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== null && !isForm && { 'content-type': 'application/json' }),
  };
  const sent = body === null ? null : isForm ? body : JSON.stringify(body);
  const answer = await fetch(url + path, { method, headers, body: sent });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}
