import { Agent, type IncomingMessage, request } from 'node:http';
import { microseconds } from './pacing.ts';

/** What to send; handed over as JSON in the first argument. */
export interface StreamLoad {
  /** Where chats are completed. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Streams under way at once. */
  readonly lanes: number;
  /** No stream is begun later than this; each lane has one at least. */
  readonly seconds: number;
}

/** What came of it; printed as JSON. */
export interface StreamLoadResult {
  readonly streams: number;
  readonly perSecond: number;
  /**
   * The median time on the way, there and back, without the upstream's own: from the request to its arrival upstream,
   * and from the first content's departure there to its arrival here.
   */
  readonly wayMicroseconds: number;
  /** Streams that were no success or did not come to their end. */
  readonly failed: number;
  /** What the first of them was, for people. */
  readonly firstFailure: string | null;
}

const { url, headers, body, lanes, seconds } = JSON.parse(process.argv[2] ?? '{}') as StreamLoad;

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const options = {
  agent,
  method: 'POST',
  headers: { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
};
const firstContent = /"content":"(\d+) (\d+)"/;

const ways: number[] = [];
let failed = 0;
let firstFailure: string | null = null;

/** One stream, to its end. Rejects when it breaks. */
function stream(): Promise<void> {
  return new Promise((resolve, reject) => {
    const startedAt = microseconds();
    const req = request(url, options, (res) => {
      readStream(res, startedAt, resolve, reject);
    });
    req.once('error', reject);
    req.end(body);
  });
}

function readStream(
  res: IncomingMessage,
  startedAt: number,
  resolve: () => void,
  reject: (error: Error) => void,
): void {
  let beginning: string | null = '';
  let end = '';
  res.on('data', (chunk: Buffer) => {
    if (beginning !== null) {
      const arrivedAt = microseconds();
      beginning += chunk.toString();
      const [, receivedAt, sentAt] = firstContent.exec(beginning) ?? [];
      if (receivedAt !== undefined) {
        ways.push(Number(receivedAt) - startedAt + arrivedAt - Number(sentAt));
        beginning = null;
      }
    }
    end = chunk.length >= 16 ? chunk.toString('latin1', chunk.length - 16) : end + chunk.toString('latin1');
  });
  res.once('error', reject);
  res.once('end', () => {
    if (beginning === null && end.endsWith('data: [DONE]\n\n')) resolve();
    else reject(new Error(`${res.statusCode}: ${beginning ?? ''} … ${end}`));
  });
}

const started = performance.now();
const last = started + seconds * 1_000;

async function runLane(): Promise<void> {
  do {
    await stream().catch((error: unknown) => {
      failed += 1;
      firstFailure ??= String(error);
    });
  } while (performance.now() < last && failed < 100);
}

await Promise.all(Array.from({ length: lanes }, runLane));
const elapsed = (performance.now() - started) / 1_000;
agent.destroy();

const sorted = ways.toSorted((one, other) => one - other);
const outcome: StreamLoadResult = {
  streams: ways.length,
  perSecond: ways.length / elapsed,
  wayMicroseconds: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
  failed,
  firstFailure,
};
process.stdout.write(JSON.stringify(outcome));
