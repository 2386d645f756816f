import { spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '#app/stores/open-log.ts';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import { StoredEventDecoder } from '#cli/events/stored-event-decoder.ts';
import { DigestCheck } from '#digests/digest-check.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { createSigningKey, publicHalf } from '#digests/digest-keys.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import { eventsOf, parsedPerSecond, prepareLog } from './logs/prepared-log.ts';
import { format, median, print, printResults } from './measure.ts';

const rounds = 2;
const { signal } = new AbortController();
const timeoutMs = 600_000;

/** The work that is measured in a separate process: signing a digest of a log, or checking the log against it. */
type Step = 'sign' | 'check';

/** The same options as in `npm run events`. */
const heapOptions = ['--max-semi-space-size=16'];

interface StepResult {
  readonly seconds: number;
  readonly peakMegabytes: number;
}

/**
 * Signs a first digest of a log of a million events (or the number in the argument), and verifies the log against
 * it, as `npm run events -- verify --digests` does, in a separate process, against reading and parsing the same log.
 */
export default async function verify(args: ReadonlyArray<string>): Promise<void> {
  const [step = '', path = '', folder = ''] = args;
  if (step === 'sign' || step === 'check') return measure(step, path, folder);
  const events = eventsOf(args);
  const file = await prepareLog(events);
  const readings: number[] = [];
  const signings: StepResult[] = [];
  const checks: StepResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
    readings.push(await parsedPerSecond(file));
    signings.push(await inChild('sign', file, folder));
    checks.push(await inChild('check', file, folder));
    await rm(folder, { recursive: true });
  }
  const reading = median(readings);
  const perSecond = (results: ReadonlyArray<StepResult>) => median(results.map(({ seconds }) => events / seconds));
  print(`A log of ${format(events)} events; medians of ${rounds} rounds`);
  print(
    `Reading and parsing: ${format(reading)} events/s; verifying: ${format(perSecond(checks))}; a first digest: ${format(perSecond(signings))}.`,
  );
  print();
  const peak = (results: ReadonlyArray<StepResult>) => Math.max(...results.map(({ peakMegabytes }) => peakMegabytes));
  printResults([
    {
      what: 'verify, of reading and parsing',
      figure: perSecond(checks) / reading,
      unit: ' ×',
      required: 0.2,
      aim: 0.3,
    },
    { what: 'memory peak of its process', figure: peak(checks), unit: ' MB', required: 300, aim: 200 },
    { what: 'memory peak of signing a first digest', figure: peak(signings), unit: ' MB', required: 300, aim: 200 },
  ]);
}

/** Runs `measure` in a new process with its own memory. */
async function inChild(step: Step, file: string, folder: string): Promise<StepResult> {
  const bench = join(import.meta.dirname, 'bench.ts');
  const child = spawn(process.execPath, [...heapOptions, ...process.execArgv, bench, 'verify', step, file, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
    // The same option as in the image.
    env: { ...process.env, MALLOC_ARENA_MAX: '2' },
  });
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  return JSON.parse(output) as StepResult;
}

/** @param folder the folder of the digests */
async function measure(step: Step, file: string, folder: string): Promise<void> {
  const { log, close } = await openLog({ kind: 'sqlite', path: file });
  try {
    const outside = new DigestFolder(join(folder, 'outside'));
    const begun = performance.now();
    await (step === 'sign' ? signDigest(log, outside, folder) : checkLog(log, outside, folder));
    const seconds = (performance.now() - begun) / 1000;
    const peakMegabytes = process.resourceUsage().maxRSS / 1024;
    print(JSON.stringify({ seconds, peakMegabytes } satisfies StepResult));
  } finally {
    await close();
  }
}

async function signDigest(log: RawLog, outside: DigestFolder, folder: string): Promise<void> {
  const pem = createSigningKey();
  await writeFile(keyFile(folder), pem);
  const store = new DigestStore(await openFolderBlobStore(join(folder, 'blobs')));
  const key = createPrivateKey(pem);
  await new DigestWriter({ eventLog: log, store, folder: outside, key }).write(signal);
}

async function checkLog(log: RawLog, outside: DigestFolder, folder: string): Promise<void> {
  const key = createPrivateKey(await readFile(keyFile(folder), 'utf8'));
  const fault = (text: string) => {
    throw new Error(text);
  };
  const digests = await DigestCheck.open(outside, [publicHalf(key)], { fault, note: fault });
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(fault, (event, texts) => decoder.faultOf(event, texts));
  const report = () => undefined;
  await verifyLog({ log, check, report, signal, onVerified: (event) => digests.add(event, check.heads) });
  await digests.finish(check.heads);
}

function keyFile(folder: string): string {
  return join(folder, 'key.pem');
}
