import { randomBytes } from 'node:crypto';
import type { RawRequest } from '#test/support/service/client.ts';
import { below, type Random, randomJson, randomText } from './random-values.ts';

/** The limit of a JSON body on the gateway, as docs/security.md states it. */
export const maxGatewayBytes = 32 * 1024 * 1024;
/** The size of uploads here. Their limits are far above it, and their bytes pass through piece by piece. */
export const fileBytes = 8 * 1024 * 1024;

const filledBytes = 0.95 * maxGatewayBytes;
const maxValues = 2_000_000;
const pieces = 64;
const boundary = 'the-boundary';

const json = (path: string, body: string): RawRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body,
});

/** One random piece of a body, and the body that repeats it: a random body of 32 MiB takes seconds to make. */
const repeated = (piece: string) => Array.from({ length: pieces }, () => piece).join(',');
const pieceBytes = Math.floor(filledBytes / pieces);

const chat = (members: string) => json('/v1/chat/completions', `{"model":"sandbox",${members}}`);
const hello = '"messages":[{"role":"user","content":"Hello"}]';

/** The largest calls of chats, by what fills them. */
export const largestChats: Readonly<Record<string, (random: Random) => RawRequest>> = {
  values: (random) => {
    const piece = JSON.stringify(randomJson(random, pieceBytes - 1, Math.floor((0.97 * maxValues) / pieces)));
    return chat(`${hello},"metadata":[${repeated(piece)}]`);
  },
  messages: (random) => {
    const message = () => JSON.stringify({ role: 'user', content: randomText(random, 20 + below(random, 400)) });
    const some = Array.from({ length: 200 }, message).join(',');
    const times = Math.floor((filledBytes - 100) / (Buffer.byteLength(some) + 1));
    return chat(`"messages":[${Array.from({ length: times }, () => some).join(',')}]`);
  },
  'one text': (random) => {
    const text = randomText(random, 3_000);
    const inText = JSON.stringify(text).slice(1, -1);
    const content = inText.repeat(Math.floor(filledBytes / Buffer.byteLength(inText)));
    return chat(`"messages":[{"role":"user","content":"${content}"}]`);
  },
};

/** The largest calls of Messages, which the sandbox gets translated, by what fills them. */
export const largestMessages = {
  'one text': (random: Random, path: string) => {
    const inText = JSON.stringify(randomText(random, 3_000)).slice(1, -1);
    const content = inText.repeat(Math.floor(filledBytes / Buffer.byteLength(inText)));
    return json(path, messageOf(`[{"role":"user","content":"${content}"}]`));
  },
  'many texts': (random: Random, path: string) => {
    const text = () => JSON.stringify({ type: 'text', text: randomText(random, 2_000) });
    const some = Array.from({ length: 200 }, text).join(',');
    const times = Math.floor((filledBytes - 200) / (Buffer.byteLength(some) + 1));
    return json(
      path,
      messageOf(`[{"role":"user","content":[${Array.from({ length: times }, () => some).join(',')}]}]`),
    );
  },
  values: (random: Random, path: string) => {
    const piece = JSON.stringify(randomJson(random, pieceBytes - 1, Math.floor((0.97 * maxValues) / pieces)));
    return json(path, messageOf(`[{"role":"user","content":"Hello"}],"metadata":[${repeated(piece)}]`));
  },
} as const;

/** The largest calls of Responses, which the sandbox gets translated, by what fills them. */
export const largestResponses = {
  'one text': (random: Random) => {
    const inText = JSON.stringify(randomText(random, 3_000)).slice(1, -1);
    return responseOf(`"${inText.repeat(Math.floor(filledBytes / Buffer.byteLength(inText)))}"`);
  },
  items: (random: Random) => {
    const item = () => JSON.stringify({ role: 'user', content: randomText(random, 2_000) });
    const some = Array.from({ length: 200 }, item).join(',');
    const times = Math.floor((filledBytes - 200) / (Buffer.byteLength(some) + 1));
    return responseOf(`[${Array.from({ length: times }, () => some).join(',')}]`);
  },
} as const;

const responseOf = (input: string) => json('/v1/responses', `{"model":"sandbox","input":${input}}`);

const messageOf = (messages: string) => `{"model":"sandbox","max_tokens":100,"messages":${messages}}`;

/** The largest call of speech: one text. */
export function largestSpeech(random: Random): RawRequest {
  const words = JSON.stringify(randomText(random, 4_000)).slice(1, -1);
  const input = words.repeat(Math.floor(filledBytes / Buffer.byteLength(words)));
  return json('/v1/audio/speech', `{"voice":"alloy","model":"sandbox","input":"${input}"}`);
}

/** The largest call of embeddings: many long texts. */
export function largestEmbeddings(random: Random): RawRequest {
  const text = JSON.stringify(randomText(random, 4_000)).slice(1, -1);
  const input = Array.from(
    { length: Math.floor(filledBytes / (Buffer.byteLength(text) + 3) / 4) },
    () => `"${text.repeat(4)}"`,
  );
  return json('/v1/embeddings', `{"model":"sandbox","input":[${input}]}`);
}

/** The largest upload of a file or of audio. */
export function largestUpload(path: string, fields: Readonly<Record<string, string>>): RawRequest {
  const field = ([name, value]: [string, string]) => part(`name="${name}"`, value);
  const head = `${Object.entries(fields).map(field).join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n`;
  return {
    method: 'POST',
    path,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), randomBytes(fileBytes), Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

function part(disposition: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
}

/** The largest call of a tool of MCP. @param callArguments a text of JSON */
export function toolCall(name: string, callArguments: string): RawRequest {
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${callArguments}}}`;
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return { method: 'POST', path: '/mcp', headers, body: message };
}
