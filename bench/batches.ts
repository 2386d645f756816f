import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { idleMemory, peakMemory } from '#bench/gateway-processes/resident-memory.ts';
import { adminKey, call, type Server, startPrintingPort, startService } from '#bench/http-processes/processes.ts';
import { median, print } from '#bench/measure.ts';
import { processorMs } from './gateway-processes/processor-time.ts';

/**
 * `npm run bench -- batches [lines]`: a batch of 50,000 lines, or this many, with a provider that answers in 200 ms, at
 * 200 in flight, beside chats; compared with the arithmetic minimum and with a bare client of the same provider.
 */
const answerMs = 200;
const inFlight = 200;
const chatsBefore = 25;
const pollMs = 250;
const model = 'small';

interface BatchStatus {
  readonly id: string;
  readonly status: string;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
}

export default async function batches([wanted = '50000']: string[]): Promise<void> {
  const lines = Number(wanted);
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-batches-'));
  const provider = await startPrintingPort(
    join(import.meta.dirname, 'gateway-processes/late-provider.ts'),
    String(answerMs),
  );
  const stops: (() => Promise<unknown>)[] = [provider.stop, () => rm(folder, { recursive: true, force: true })];
  try {
    const bareMs = await bareTime(provider, lines);
    const service = await startSwitchyard(folder, provider);
    stops.unshift(service.stop);
    await measure(service, lines, bareMs);
  } finally {
    for (const stop of stops) await stop();
  }
}

async function measure(service: Server, lines: number, bareMs: number): Promise<void> {
  const inputId = await uploadInput(service, lines);
  const alone = await chatTimes(service, (chats) => chats >= chatsBefore);
  const idle = await idleMemory(service.pid);
  const processorBefore = processorMs(service.pid);
  const running = runBatch(service, inputId, lines);
  const peak = await peakMemory(service.pid, () => running);
  const { ms, statuses, beside } = await running;
  const processor = processorMs(service.pid) - processorBefore;

  const leastMs = Math.ceil(lines / inFlight) * answerMs;
  const [p50Alone, p50Beside] = [median(alone), median(beside)];
  print(`${lines} lines, ${inFlight} in flight, ${answerMs} ms each`);
  print(`least time by arithmetic   ${seconds(leastMs)}`);
  print(`a bare client              ${seconds(bareMs)}, ${(bareMs / leastMs).toFixed(2)} times the least`);
  print(`the batch                  ${seconds(ms)}, ${(ms / leastMs).toFixed(2)} times the least (limit 1.3)`);
  print(`its statuses               ${statuses}`);
  print(`processor time for a line  ${(processor / lines).toFixed(2)} ms`);
  print(`memory above idle          ${((peak - idle) / 1e6).toFixed(0)} MB at most (limit 250)`);
  print(`a live chat, p50           ${p50Alone.toFixed(0)} ms alone`);
  print(
    `the same beside the batch  ${p50Beside.toFixed(0)} ms, ${(p50Beside / p50Alone).toFixed(2)} times (limit 1.5)`,
  );
}

/** Runs a batch to its end beside chats. @returns the duration of the batch and of each chat */
async function runBatch(service: Server, inputId: string, lines: number) {
  const began = performance.now();
  const endpoint = '/v1/chat/completions';
  const body = { input_file_id: inputId, endpoint, completion_window: '24h' };
  const { id } = (await (await call(service, 'POST', '/v1/batches', body)).json()) as BatchStatus;
  let hasEnded = false;
  const chatting = chatTimes(service, () => hasEnded);
  const statuses: string[] = [];
  const done = await ended(service, id, (status) => {
    statuses.push(`${status} after ${seconds(performance.now() - began)}`);
  });
  const ms = performance.now() - began;
  hasEnded = true;
  const beside = await chatting;
  if (done.status !== 'completed' || done.request_counts.completed !== lines) throw new Error(JSON.stringify(done));
  return { ms, statuses: statuses.join(', '), beside };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function startSwitchyard(folder: string, provider: Server): Promise<Server> {
  const configuration = {
    providers: { late: { kind: 'openai-compatible', baseUrl: `${provider.url}/v1` } },
    models: { [model]: { targets: [{ provider: 'late', model: 'gpt-small' }] } },
  };
  const file = join(folder, 'gateway.json');
  return writeFile(file, JSON.stringify(configuration)).then(() =>
    startService(join(folder, 'data'), { GATEWAY_CONFIG: file, BATCH_CALLS_AT_ONCE: String(inFlight) }),
  );
}

const chat = JSON.stringify({ model, messages: [{ role: 'user', content: 'When are you open? '.repeat(10) }] });

async function uploadInput(service: Server, lines: number): Promise<string> {
  const line = (number: number) =>
    `{"custom_id":"line-${number}","method":"POST","url":"/v1/chat/completions","body":${chat}}\n`;
  const form = new FormData();
  const text = Array.from({ length: lines }, (_, number) => line(number)).join('');
  form.set('file', new File([text], 'input.jsonl'));
  form.set('purpose', 'batch');
  const headers = { authorization: `Bearer ${adminKey}` };
  const answer = await fetch(`${service.url}/v1/files`, { method: 'POST', headers, body: form });
  if (!answer.ok) throw new Error(`the input was refused: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

/** Waits for the end of a batch. @param onStatus receives each status when it is first seen */
async function ended(service: Server, id: string, onStatus: (status: string) => void): Promise<BatchStatus> {
  for (let known = ''; ; ) {
    const batch = (await (await call(service, 'GET', `/v1/batches/${id}`)).json()) as BatchStatus;
    if (batch.status !== known) onStatus(batch.status);
    known = batch.status;
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch;
    await sleep(pollMs);
  }
}

/** Sends chats one after the other until `isEnough`. @returns the duration of each in ms */
async function chatTimes(service: Server, isEnough: (chats: number) => boolean): Promise<ReadonlyArray<number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  while (!isEnough(times.length)) {
    const began = performance.now();
    await post(agent, `${service.url}/v1/chat/completions`);
    times.push(performance.now() - began);
  }
  agent.destroy();
  return times.slice(1);
}

/** Measures how long a bare client of node:http takes to send the same requests and read the answers. */
async function bareTime(provider: Server, lines: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const began = performance.now();
  let sent = 0;
  const worker = async () => {
    while (sent < lines) {
      sent += 1;
      await post(agent, `${provider.url}/v1/chat/completions`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  agent.destroy();
  return performance.now() - began;
}

function post(agent: Agent, url: string): Promise<void> {
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.once('error', reject);
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`a chat was answered with ${answer.statusCode}`)),
      );
    });
    sent.once('error', reject);
    sent.end(chat);
  });
}
