import { JsonMemberReader } from '#gateway/framing/json-member-reader.ts';
import { format, interleaved, print, printResults } from './measure.ts';

const rounds = 9;
const vectors = 300;
const dimensions = 1_536;
/** As a provider sends them. */
const pieceBytes = 64 * 1024;

/**
 * `npm run bench -- embeddings`: the time to read the usage of an answer with 300 vectors, in this process, against
 * parsing the answer.
 */
export default async function embeddings(): Promise<void> {
  const floats = answerOf(Array.from({ length: dimensions }, () => Math.random() * 2 - 1));
  const base64 = answerOf(Buffer.alloc(dimensions * 4, 7).toString('base64'));
  const contestants = [
    { name: 'numbers, usage read', round: () => milliseconds(() => readUsage(floats)) },
    { name: 'numbers, parsed', round: () => milliseconds(() => JSON.parse(floats.toString('utf8')).usage) },
    { name: 'Base64, usage read', round: () => milliseconds(() => readUsage(base64)) },
    { name: 'Base64, parsed', round: () => milliseconds(() => JSON.parse(base64.toString('utf8')).usage) },
  ];
  const figures = await interleaved(contestants, rounds);
  for (const [name, figure] of figures) print(`${name}: ${format(figure)} ms`);
  print();
  const ratio = (form: string) => (figures.get(`${form}, usage read`) ?? 0) / (figures.get(`${form}, parsed`) ?? 0);
  printResults(
    ['numbers', 'Base64'].map((form) => ({
      what: `usage of ${form}, of parsing`,
      figure: ratio(form),
      unit: ' ×',
      required: 0.5,
      aim: 0.2,
    })),
  );
}

function answerOf(embedding: unknown): Buffer {
  const data = Array.from({ length: vectors }, (_, index) => ({ object: 'embedding', index, embedding }));
  return Buffer.from(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 3, total_tokens: 3 } }));
}

function readUsage(answer: Buffer): unknown {
  const reader = new JsonMemberReader(['usage', 'error'], ['data']);
  for (let from = 0; from < answer.length; from += pieceBytes) reader.feed(answer.subarray(from, from + pieceBytes));
  return reader.value('usage');
}

async function milliseconds(read: () => unknown): Promise<number> {
  const begun = performance.now();
  if (read() === undefined) throw new Error('There is no usage.');
  return performance.now() - begun;
}
