import { spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderBlobStore } from '#blob-store/folder/folder-blob-store.ts';
import { StoredEventDecoder } from '#cli/events/stored-event-decoder.ts';
import { openLog } from '#cli/stores/event-logs.ts';
import { DigestCheck } from '#digests/digest-check.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { createSigningKey, publicHalf } from '#digests/digest-keys.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { eventsOf, parsedPerSecond, prepareLog } from './logs/prepared-log.ts';
import { format, median, print, printResults } from './measure.ts';

const rounds = 2;
const timeoutMs = 600_000;

interface Verification {
  readonly digestSeconds: number;
  readonly verifySeconds: number;
  readonly peakMegabytes: number;
}

/**
 * Signs a first digest of a log of a million events (or of as many as the argument says), and verifies the log against
 * it, as `npm run events -- verify --digests` does, in a process of its own; against reading and parsing the same log.
 */
export default async function verify(args: ReadonlyArray<string>): Promise<void> {
  if (args[0] === 'measure') return measure(args[1] ?? '');
  const events = eventsOf(args);
  const file = await prepareLog(events);
  const readings: number[] = [];
  const verifications: Verification[] = [];
  for (let round = 0; round < rounds; round += 1) {
    readings.push(await parsedPerSecond(file));
    verifications.push(await inChild(file));
  }
  const reading = median(readings);
  const verifying = median(verifications.map(({ verifySeconds }) => events / verifySeconds));
  const signing = median(verifications.map(({ digestSeconds }) => events / digestSeconds));
  print(`A log of ${format(events)} events; medians of ${rounds} rounds`);
  print(
    `Reading and parsing: ${format(reading)} events/s; verifying: ${format(verifying)}; a first digest: ${format(signing)}.`,
  );
  print();
  const peak = Math.max(...verifications.map(({ peakMegabytes }) => peakMegabytes));
  printResults([
    { what: 'verify, of reading and parsing', figure: verifying / reading, unit: ' ×', required: 0.2, aim: 0.3 },
    { what: 'memory peak of its process', figure: peak, unit: ' MB', required: 300, aim: 200 },
  ]);
}

/** Runs `measure` in a fresh process, whose memory is its own. */
async function inChild(file: string): Promise<Verification> {
  const bench = join(import.meta.dirname, 'bench.ts');
  const child = spawn(process.execPath, [...process.execArgv, bench, 'verify', 'measure', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
  });
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  return JSON.parse(output) as Verification;
}

async function measure(file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const { log, close } = await openLog({ kind: 'sqlite', path: file });
  try {
    const key = createPrivateKey(createSigningKey());
    const outside = new DigestFolder(join(folder, 'outside'));
    const store = new DigestStore(await openFolderBlobStore(join(folder, 'blobs')));
    const { signal } = new AbortController();
    const begun = performance.now();
    await new DigestWriter({ eventLog: log, store, folder: outside, key, now: Date.now }).write(signal);
    const signed = performance.now();
    const fault = (text: string) => {
      throw new Error(text);
    };
    const digests = await DigestCheck.open(outside, [publicHalf(key)], { fault, note: fault });
    const decoder = new StoredEventDecoder();
    const check = new LogCheck(fault, (event) => decoder.faultOf(event));
    const report = () => undefined;
    await verifyLog({ log, check, report, signal, onVerified: (event) => digests.take(event, check.heads) });
    await digests.finish(check.heads);
    const result: Verification = {
      digestSeconds: (signed - begun) / 1000,
      verifySeconds: (performance.now() - signed) / 1000,
      peakMegabytes: process.resourceUsage().maxRSS / 1024,
    };
    print(JSON.stringify(result));
  } finally {
    await close();
    await rm(folder, { recursive: true });
  }
}
