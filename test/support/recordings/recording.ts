import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an official client did in one conversation, step by step. */
export type Recording = ReadonlyArray<Step>;

/** What a client sent when a test called it once, and what it made of the answers. */
export interface Step {
  readonly exchanges: ReadonlyArray<Exchange>;
  readonly result: unknown;
}

/** A request of a client, and the answer that it could read. Ids and times, which differ in each run, have names. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  /** The digest of the answer, or another summary: only the client itself shows whether it can read another answer. */
  readonly answer: string;
}

/** A body as its difference to the body before: the characters that begin alike, a text, those that end alike. */
type Difference = readonly [number, string, number];

type StoredExchange = Partial<Omit<Exchange, 'body'>> & { readonly body?: Difference };

interface StoredRecording {
  /** Conversations that differ in nothing else share a line. */
  readonly names: ReadonlyArray<string>;
  readonly steps: ReadonlyArray<{ readonly exchanges: ReadonlyArray<StoredExchange>; readonly result: unknown }>;
}

const fileOf = (suite: string) => join(import.meta.dirname, `../../fixtures/clients/${suite}.jsonl`);

/** Reads the recordings of a suite, by the names of their conversations. */
export function readRecordings(suite: string): ReadonlyMap<string, Recording> {
  const file = fileOf(suite);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const open = opener();
  return new Map(
    lines.flatMap((line) => {
      const { names, steps } = JSON.parse(line) as StoredRecording;
      const recording = open(steps);
      return names.map((name) => [name, recording] as const);
    }),
  );
}

/** Replaces the recordings of a suite. */
export function writeRecordings(suite: string, recordings: ReadonlyMap<string, Recording>): void {
  const alike = Map.groupBy(recordings, ([, recording]) => JSON.stringify(recording)).values();
  const store = storer();
  const lines = Array.from(alike, ([first, ...others]) => {
    const [name, recording] = first as readonly [string, Recording];
    return JSON.stringify({ names: [name, ...others.map(([other]) => other)], steps: store(recording) });
  });
  writeFileSync(fileOf(suite), lines.map((line) => `${line}\n`).join(''));
}

/** Says what must be the same of an answer. @param text in which ids and times have their recorded names */
export type SummaryOfAnswer = (type: string | null, text: string) => string;

export function digestOf(type: string | null, text: string): string {
  return createHash('sha256').update(`${type}\n${text}`).digest('base64url').slice(0, 12);
}

const nothing: Exchange = { method: 'POST', path: '', headers: {}, body: '', status: 200, answer: '' };

/** Leaves out what an exchange has in common with the one before, also with that of another conversation. */
function storer(): (recording: Recording) => StoredRecording['steps'] {
  let before = nothing;
  const store = (exchange: Exchange): StoredExchange => {
    const { body, ...others } = exchange;
    const changed = Object.entries(others).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Exchange]),
    );
    const difference = body === before.body ? {} : { body: differenceOf(before.body, body) };
    before = exchange;
    return { ...Object.fromEntries(changed), ...difference };
  };
  return (recording) => recording.map(({ exchanges, result }) => ({ exchanges: exchanges.map(store), result }));
}

function opener(): (steps: StoredRecording['steps']) => Recording {
  let before = nothing;
  const open = ({ body: difference, ...changed }: StoredExchange): Exchange => {
    const body = difference === undefined ? before.body : changedBy(before.body, difference);
    before = { ...before, ...changed, body };
    return before;
  };
  return (steps) => steps.map(({ exchanges, result }) => ({ exchanges: exchanges.map(open), result }));
}

function differenceOf(before: string, after: string): Difference {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [start, after.slice(start, after.length - end), end];
}

function changedBy(before: string, [start, text, end]: Difference): string {
  return before.slice(0, start) + text + before.slice(before.length - end);
}
