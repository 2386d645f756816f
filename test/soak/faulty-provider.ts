import {
  type Behaviour,
  bytes,
  chunk,
  completion,
  done,
  error,
  FakeProvider,
  json,
  reset,
  role,
  saying,
  silence,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { pickWeighted } from './random.ts';

type Weighted = ReadonlyArray<readonly [number, Behaviour]>;

const text = Array.from({ length: 30 }, (_, index) => `word ${index} `);
const answer = saying(...text);
const middle = [role, ...words(...text.slice(0, 10))];
const audio = Buffer.alloc(200_000, 0x33);

/** Failures before an answer begins. */
const refusals: Weighted = [
  [2, error(429, 'rate_limit_exceeded', { 'retry-after-ms': '20' })],
  [1, error(429, 'rate_limit_exceeded')],
  [2, error(500, 'server_error')],
  [1, error(503, 'overloaded', { 'retry-after': '0' })],
  [1, error(400, 'context_length_exceeded')],
  [1, error(400, 'content_policy_violation')],
  [2, reset],
  [1, silence],
];

const cutAnswer: Behaviour = (res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
  res.write('{"choices":[', () => res.destroy());
};

const whole: Weighted = [
  [60, json(completion('hello '.repeat(200)))],
  [2, cutAnswer],
  [1, bytes('no JSON', {})],
  ...refusals,
];

const streamed: Weighted = [
  [40, stream(answer)],
  [20, stream(answer, { gapMs: 5 })],
  [3, stream([...answer.slice(0, 5), ': ping\n\n', ...answer.slice(5)])],
  [3, stream([role, chunk({ content: 'x'.repeat(300_000) }), stop, done])],
  [2, stream(answer.slice(0, -1))],
  [3, stream(middle, { after: 'cut' })],
  [2, stream(middle, { after: 'stall' })],
  [2, stream([...middle, 'data: {"choices":\n\n'])],
  [2, stream([...middle, 'data: {"error":{"message":"It went wrong.","code":"oops"}}\n\n'])],
  [2, stream(middle)],
  ...refusals,
];

const speech: Weighted = [[20, bytes(audio, { 'content-type': 'audio/mpeg' })], ...refusals];
const transcription: Weighted = [[20, json({ text: 'hello' })], ...refusals];

/** Starts a provider that answers most requests, and fails in every way at random. */
export async function startFaultyProvider(random: () => number): Promise<FakeProvider> {
  const provider = await FakeProvider.start();
  provider.answers((res, seen) => {
    // The recorded requests are not used.
    provider.seen.length = 0;
    return pickWeighted(answersTo(seen.path, seen.body), random)(res, seen);
  });
  return provider;
}

function answersTo(path: string, body: Buffer): Weighted {
  if (path.endsWith('/speech')) return speech;
  if (path.endsWith('/transcriptions')) return transcription;
  return body.includes('"stream":true') ? streamed : whole;
}
