import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbedService } from '#test/support/probe/probed-service.ts';
import type { Client, RawRequest, Reply } from '#test/support/service/client.ts';
import type { LargestCase } from './largest-cases.ts';

/** The part of a limit that the largest input must reach. */
const leastPart = 0.9;
/** The processor time of the main thread that any input may take in one turn. */
const allowedMs = 100;
/** The multiple of what JSON takes for the input that it may take. */
const timesOfJson = 3;
/** The memory above idle that any input may take. */
const allowedBytes = 16 * 1024 * 1024;
/** The multiple of the bytes that were sent or are answered that it may take. */
const timesOfBytes = 4;
/** A page of a list, as docs/security.md states it. */
const maxPageBytes = 2 * 1024 * 1024;
const maxPageItems = 1_000;
/** A busy machine or a cold function may make one run long. */
const maxRuns = 3;
/** For what follows the answer: projections and processes. */
const settleMs = 60;

/** What the largest input of an operation took. */
export interface Measured {
  readonly name: string;
  readonly sentBytes: number;
  readonly answeredBytes: number;
  readonly longestMs: number;
  /** The pauses of the garbage collector in the first run, which do not count. */
  readonly pausedMs: number;
  readonly allowedMs: number;
  readonly heldBytes: number;
  readonly allowedBytes: number;
  /** What does not hold; empty if all holds. */
  readonly faults: ReadonlyArray<string>;
}

/**
 * Measures a case until it stays within its limits, at most three times. The least time and memory count. A case that
 * fails has that as its fault, so that a long run still lists the others.
 */
export async function measureCase(probed: ProbedService, found: LargestCase): Promise<Measured> {
  try {
    return await measureUntilWithin(probed, found);
  } catch (error) {
    return { ...nothing, name: found.name, faults: [String(error)] };
  }
}

const nothing = {
  sentBytes: 0,
  answeredBytes: 0,
  longestMs: 0,
  pausedMs: 0,
  allowedMs: 0,
  heldBytes: 0,
  allowedBytes: 0,
};

async function measureUntilWithin(probed: ProbedService, found: LargestCase): Promise<Measured> {
  const runs = [await measureOnce(probed, found)];
  while (runs.length < maxRuns && !isWithinLimits(least(runs))) runs.push(await measureOnce(probed, found));
  const { reply, ...measured } = least(runs);
  return { ...measured, name: found.name, faults: faultsOf(found, measured, reply) };
}

type Run = Omit<Measured, 'name' | 'faults'> & { readonly reply: Reply<unknown> };

async function measureOnce(probed: ProbedService, { name, client, make }: LargestCase): Promise<Run> {
  const request = await make();
  const sentBytes = bytesOf(request);
  const parsing = millisecondsOfJson(request);
  const held = Math.max(allowedBytes, timesOfBytes * sentBytes);
  const { result: reply, report } = await probed.measure(held, () => sendAndSettle(client, request));
  assert.ok(reply.status < 300 && !isToolError(reply), `${name} → ${reply.status} ${reply.text.slice(0, 1_000)}`);
  const answeredBytes = Buffer.byteLength(reply.text);
  return {
    reply,
    sentBytes,
    answeredBytes,
    longestMs: report.longestMs,
    pausedMs: report.pausedMs,
    allowedMs: Math.max(allowedMs, timesOfJson * parsing),
    heldBytes: report.heldBytes,
    allowedBytes: Math.max(held, timesOfBytes * answeredBytes),
  };
}

async function sendAndSettle(client: Client, request: RawRequest): Promise<Reply<unknown>> {
  const reply = await client.send<unknown>(request);
  await sleep(settleMs);
  return reply;
}

function least(runs: ReadonlyArray<Run>): Run {
  const [first] = runs;
  assert.ok(first !== undefined);
  const longestMs = Math.min(...runs.map((run) => run.longestMs));
  const heldBytes = Math.min(...runs.map((run) => run.heldBytes));
  return { ...first, longestMs, heldBytes, allowedMs: Math.max(...runs.map((run) => run.allowedMs)) };
}

function isWithinLimits(run: Omit<Measured, 'name' | 'faults'>): boolean {
  return run.longestMs <= run.allowedMs && run.heldBytes <= run.allowedBytes;
}

function faultsOf(
  { limitBytes, page }: LargestCase,
  run: Omit<Measured, 'name' | 'faults'>,
  reply: Reply<unknown>,
): ReadonlyArray<string> {
  const { sentBytes, longestMs, heldBytes } = run;
  return [
    ...(sentBytes < leastPart * limitBytes ? [`it has ${sentBytes} of ${limitBytes} bytes`] : []),
    ...(page === undefined ? [] : faultsOfPage(page, reply)),
    ...(longestMs > run.allowedMs ? [`a turn takes ${longestMs.toFixed(0)} of ${run.allowedMs.toFixed(0)} ms`] : []),
    ...(heldBytes > run.allowedBytes ? [`${heldBytes} of ${run.allowedBytes} bytes are held`] : []),
  ];
}

/** A full page holds nearly its most bytes or its most items, or what is stored beside its many items fills it. */
function faultsOfPage(page: 'full' | 'all', { text, body }: Reply<unknown>): ReadonlyArray<string> {
  const answer = body as { readonly nextCursor?: string; readonly has_more?: boolean };
  const { length } = Object.values(answer).find((member) => Array.isArray(member)) ?? [];
  if (page === 'all') return length === 0 ? ['the list is empty'] : [];
  const bytes = Buffer.byteLength(text);
  const moreFollow = answer.nextCursor !== undefined || answer.has_more === true;
  const isFull = bytes >= leastPart * maxPageBytes || length >= leastPart * maxPageItems;
  return isFull || (moreFollow && length >= manyItems) ? [] : [`the page has ${bytes} bytes and ${length} items`];
}

/** The items after which the next one that does not fit is less than a tenth of a page. */
const manyItems = 10;

/** The bytes of a body, or of the headers without one. */
function bytesOf({ path, headers = {}, body }: RawRequest): number {
  if (body !== undefined) return Buffer.byteLength(body as string | Buffer);
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, path.length);
}

/** The processor time of parsing a JSON body and of making its text again; 0 for any other body. */
function millisecondsOfJson({ body }: RawRequest): number {
  if (typeof body !== 'string') return 0;
  const times = Array.from({ length: maxRuns }, () => {
    const before = process.threadCpuUsage();
    JSON.stringify(JSON.parse(body));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

function isToolError({ text }: Reply<unknown>): boolean {
  return text.includes('"isError":true');
}
