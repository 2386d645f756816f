import { Agent, request } from 'node:http';

/** The feeds to open, passed as JSON in the first argument. */
export interface Viewers {
  readonly url: string;
  readonly key: string;
  readonly count: number;
}

const { url, key, count } = JSON.parse(process.argv[2] ?? '{}') as Viewers;
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
let open = 0;
let entries = 0;

for (let index = 0; index < count; index += 1) {
  const feed = request(`${url}/v1/events`, { agent, headers: { authorization: `Bearer ${key}` } });
  feed.on('response', (response) => {
    if (response.statusCode !== 200) throw new Error(`a feed was answered with ${response.statusCode}`);
    open += 1;
    if (open === count) process.stdout.write('open\n');
    response.on('data', (bytes: Buffer) => {
      if (bytes.includes('event: ')) entries += 1;
    });
    response.on('end', () => process.exit(1));
  });
  feed.end();
}

process.on('SIGTERM', () => {
  process.stdout.write(`${entries}\n`, () => process.exit(0));
});
