import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The bytes to answer, passed as JSON in the first argument. */
export interface BareAnswer {
  readonly status: number;
  /** Names and values alternate. */
  readonly headers: ReadonlyArray<string>;
  readonly body: string;
}

/**
 * The yardstick: node:http alone, which answers the same bytes as the service. It first reads and parses the body of a
 * POST. Prints its port.
 */
const { status, headers, body } = JSON.parse(process.argv[2] ?? '{}') as BareAnswer;

const server = createServer((req, res) => {
  const answer = () => {
    res.writeHead(status, [...headers]);
    res.end(body);
  };
  if (req.method === 'POST') readAndParse(req, answer);
  else answer();
});

function readAndParse(req: IncomingMessage, done: () => void): void {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString('utf8'));
    done();
  });
}

server.listen(0, '127.0.0.1', () => process.stdout.write(String((server.address() as AddressInfo).port)));
