import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider that answers every chat after a fixed number of ms under any load. Prints its port. */
const [delayMs = '200'] = process.argv.slice(2);

const answer = JSON.stringify({
  id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
  object: 'chat.completion',
  created: 1_741_570_283,
  model: 'gpt-small-2026-01-01',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'From nine to five on weekdays, from ten to two on Saturdays. '.repeat(4),
      },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 37, completion_tokens: 86, total_tokens: 123 },
});
const headers = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(answer))];

const server = createServer((req, res) => {
  req.resume();
  setTimeout(() => res.writeHead(200, headers).end(answer), Number(delayMs));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(String((server.address() as AddressInfo).port)));
